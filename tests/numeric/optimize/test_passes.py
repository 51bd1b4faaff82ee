"""Where each pass does something, by what theorem, and where it must not."""

from collections import Counter

import pytest
from sympy import Integer, Rational, log, sqrt

from derivations.catalogue import layer, names
from derivations.costs.memory import pre_norm_layer
from derivations.language import gradient
from derivations.language.arrays.arrangements import SumOver
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.exponentials import Normalised, RowExponentials
from derivations.language.arrays.expression import Array, Product, array, mask_array
from derivations.language.arrays.functions import CausalMask, MaskConjunction, RowSoftmax, WindowMask, relu
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Apply, Equation, Equations, Layer, part
from derivations.language.layers.names import subexpressions
from derivations.symbols import d_ff, d_k, d_model, index, m, n, scalar, size
from derivations.transformer.decoder import decoder_layer
from derivations.transformer.encoder import encoder, encoder_layer
from numeric.optimize import PASSES, Rewrite, optimize
from tests.numeric.optimize.layers import attention, chain, made, model, refused
from tests.tiers import few

M, w = mask_array("M", n, n), size("w")
BIASED = encoder_layer(biases=True)


def nodes(of: Layer, kind: type[Array]) -> list[Array]:
    """All expressions of a kind in the equations of a layer."""
    return [node for equation in of.equations for node in subexpressions(equation.value) if isinstance(node, kind)]


# --- where they do something ----------------------------------------------------------------------------------------


def test_an_encoder_layer_gets_one_product_for_queries_keys_and_values() -> None:
    found = optimize(BIASED)
    assert made(found) == Counter(
        second_centring=2,
        bias_and_residual=1,
        key_bias=1,
        value_bias=1,
        deferred_normalisation=1,
        base_two=1,
        scaled_queries=1,
        wide_projections=1,
    )
    assert refused(found) == []
    products = nodes(found.layer, Product)
    assert len(products) == 6  # Q K V at once, scores, values, output, two of the network
    assert len(nodes(found.layer, ColumnRange)) == 3
    assert not nodes(found.layer, RowSoftmax)
    (exponentials,) = nodes(found.layer, RowExponentials)
    assert exponentials.base == 2
    (scores,) = [e.value for e in found.layer.equations if e.target == exponentials.args[0]]
    assert isinstance(scores, Product)  # the factor is in the weights
    assert any(e.value.has(1 / (sqrt(d_k) * log(2))) for e in found.packing.equations)


def test_the_queries_of_all_groups_are_one_product_and_so_is_the_output() -> None:
    found = optimize(layer("grouped_query_attention"))
    (applied,), (group,) = nodes(found.layer, Apply), found.parts.values()
    assert applied.bound == {} and not applied.layer.parameters, "no weight is left in the group"
    assert not nodes(applied.layer, SumOver) and not nodes(found.layer, SumOver)
    assert not group.packing.outputs
    assert {p.name for p in found.layer.parameters} == {"W_O_wide", "W_Q_wide_2", "W_K_wide", "W_V_wide"}
    products = [e for e in found.layer.equations if isinstance(e.value, Product)]
    assert len(products) == 4 and all(e.over is None for e in products)
    (packed,) = [e for e in found.packing.equations if e.variable.name == "W_Q_wide"]
    assert any(e.value.has(1 / sqrt(d_k)) for e in packed.value.layer.equations)  # the factor of the scores


def test_with_one_set_of_rows_all_projections_of_the_groups_are_one_product() -> None:
    grouped, X, let = layer("grouped_query_attention"), array("X", n, d_model), Equations()
    found = optimize(Layer("around", (X,), (), let, let("Y")(part("attention", grouped.xreplace({m: n}))(X, X, X))))
    assert len([e for e in found.layer.equations if isinstance(e.value, Product)]) == 2


def test_products_of_rows_that_differ_between_the_members_stay_inside() -> None:
    X, W, U, V = array("X", n, d_k), array("W", d_k, d_k), array("U", d_k, d_k), array("V", 2, d_k, d_k)
    let, i = Equations(), index("i")
    H = let("H")(X @ W)
    P = let("P", over=(i, Integer(2)))(relu(H @ V[i]))
    S = let("S")(SumOver(P[i], i, Integer(2)))
    inner = Layer("inner", (X, W, U, V), (), let, let("Y")(S @ U))
    let, a, g = Equations(), index("a"), size("g")
    rows, W_all = array("R", g, n, d_k), array("W_all", g, d_k, d_k)
    U_all, V_all = array("U_all", g, d_k, d_k), array("V_all", g, 2, d_k, d_k)
    Z = let("Z", over=(a, g))(part("inner", inner)(rows[a], W_all[a], U_all[a], V_all[a]))
    found = optimize(Layer("outer", (rows,), (W_all, U_all, V_all), let, let("S")(SumOver(Z[a], a, g))))
    (applied,) = nodes(found.layer, Apply)
    assert rows[a] in applied.arguments and applied.bound["W"] == W_all[a], "the first product stays"
    assert "U" not in applied.bound and nodes(found.layer, Product), "the last one leaves"


def test_a_part_with_weights_of_its_own_keeps_those_that_it_is_given() -> None:
    """Its packing would need both: they are packed at different places."""
    X, W, U, i, r = array("X", n, d_k), array("W", d_k, d_k), array("U", 3, d_k, d_k), index("i"), size("r")
    let = Equations()
    H = let("H", over=(i, Integer(3)))(X @ W @ U[i])
    inner = Layer("inner", (X, W), (U,), let, let("Y")(SumOver(H[i], i, Integer(3))))
    weights = array("W_all", r, d_k, d_k)
    let, j = Equations(), index("j")
    Z = let("Z", over=(j, r))(part("inner", inner)(X, weights[j]))
    found = optimize(Layer("outer", (X,), (weights,), let, let("S")(SumOver(Z[j], j, r))))
    (applied,) = nodes(found.layer, Apply)
    assert applied.bound == {}
    assert weights in found.layer.parameters


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (encoder_layer(biases=True, masked=True), {"key_bias": 1, "deferred_normalisation": 1, "wide_projections": 1}),
        (decoder_layer(), {"deferred_normalisation": 2, "base_two": 2, "scaled_queries": 2, "wide_projections": 3}),
        (layer("gated_feed_forward_with_biases"), {"wide_projections": 1}),
        (
            layer("grouped_query_attention"),
            {
                "deferred_normalisation": 1,
                "scaled_queries": 1,
                "opened_parts": 1,
                "summed_products": 1,
                "wide_projections": 4,
            },
        ),
        (layer("alibi_attention"), {"deferred_normalisation": 1, "scaled_queries": 1, "base_two": 0}),
        (pre_norm_layer(dropping=False), {"folded_norm": 2, "value_bias": 1, "wide_projections": 1}),
        (model("gpt2"), {"folded_norm": 2, "key_bias": 1, "value_bias": 1, "base_two": 1, "wide_projections": 1}),
        (model("llama-2-7b"), {"folded_norm": 3, "scaled_queries": 1, "common_subexpressions": 1}),
        (model("gpt-j-6b"), {"folded_norm": 2, "scaled_queries": 1, "common_subexpressions": 3}),
        (model("t5-small"), {"deferred_normalisation": 3, "wide_projections": 4}),
    ],
    ids=lambda value: value.name if isinstance(value, Layer) else "",
)
def test_layers_of_every_kind_are_rewritten(subject: Layer, expected: dict[str, int]) -> None:
    found = optimize(subject)
    assert {name: made(found)[name] for name in expected} == expected
    assert refused(found) == []


@pytest.mark.slow
def test_every_rewriting_of_the_layers_of_the_catalogue_is_proved() -> None:
    for name in ("transformer", "encoder", "decoder", "transformer_loss", "mixture_with_shared_experts"):
        assert refused(optimize(layer(name))) == []


def test_the_scale_goes_through_rotary_positions() -> None:
    (block,) = optimize(model("llama-2-7b")).parts.values()
    (rewrite,) = [r for r in block.rewrites if r.name == "scaled_queries"]
    assert [e.variable.name.rpartition(".")[2] for e in rewrite.after][:2] == ["Q_scaled", "U_scaled"]
    assert [e.variable.name.rpartition(".")[2] for e in rewrite.packed] == ["W_Q_gained_scaled"]


def test_queries_that_are_given_are_scaled_themselves() -> None:
    found = optimize(layer("scaled_dot_product_attention")).layer
    assert str(found.equations[0]) == "Q_scaled = (1/(sqrt(d_k)*log(2))) * Q"


@pytest.mark.parametrize("mask", [None, CausalMask(n), WindowMask(n, w)], ids=str)
def test_biases_of_values_move_where_every_query_sees_a_key(mask: Array | None) -> None:
    assert made(optimize(attention(mask=mask)))["value_bias"] == 1


def test_cross_attention_makes_keys_and_values_at_once() -> None:
    found = optimize(attention(cross=True))
    wide = [r for r in found.rewrites if r.name == "wide_projections"]
    assert sorted(len(r.before) for r in wide) == [1, 2]


def test_a_wide_product_has_its_columns_in_the_order_of_the_equations() -> None:
    packed = {e.variable.name: str(e.value) for e in optimize(BIASED).packing.equations}
    queries, keys, values = (f"Concat(i < h: attention.W_{name}[i])" for name in ("Q_scaled", "K", "V"))
    assert packed["attention.W_QKV"] == f"ColumnConcat({queries}, {keys}, {values})"
    assert packed["attention.QKV_bias"] == "ColumnConcat(Concat(i < h: attention.b_Q_scaled[i]), [0], [0])"
    assert "feed_forward.W_gate_up" in {r.packed[0].variable.name for r in _wide(model("llama-2-7b"))}


def _wide(subject: Layer) -> list[Rewrite]:
    return [r for r in optimize(subject).every_rewrite() if r.name == "wide_projections"]


def test_a_norm_that_is_computed_twice_is_computed_once() -> None:
    (block,) = optimize(model("pythia-70m")).parts.values()
    assert len([e for e in block.layer.equations if "X_hat" in e.variable.name]) == 1


@pytest.mark.parametrize("bias", [True, False])
def test_products_of_weights_are_made_once_where_that_saves_work_at_all_sizes(bias: bool) -> None:
    found = optimize(chain(d_k, bias=bias))  # d d_k + d_k^2 multiply-adds a row against d d_k
    assert made(found) == Counter(product_order=1)
    assert [str(e) for e in found.layer.equations] == [f"Y = X @ Y_weight + {'Y_bias' if bias else 'b'}"]
    assert made(optimize(chain(d_ff, bias=bias)))["product_order"] == 0  # it depends on the sizes
    narrow = chain(d_ff, bias=bias).at(d=11, d_k=2, d_ff=13)
    assert made(optimize(narrow))["product_order"] == 0
    assert made(optimize(chain(d_ff, bias=bias).at(d=3, d_k=11, d_ff=2)))["product_order"] == 1
    assert made(optimize(chain(d_k, bias=bias, read_twice=True)))["product_order"] == 0


def test_low_rank_changes_merge_into_the_weights_where_their_factor_is_known() -> None:
    adapted = layer("low_rank_adaptation")
    assert made(optimize(adapted))["product_order"] == 0  # alpha is given with each call
    (alpha,) = adapted.scalars
    known = Layer(
        adapted.name,
        adapted.inputs,
        adapted.parameters,
        [Equation(e.target, replace_free(e.value, {alpha: Integer(3)})) for e in adapted.equations],
        adapted.output,
    )
    found = optimize(known)
    assert [str(e) for e in found.layer.equations] == ["Y = X @ Y_weight + b"]
    assert [str(e) for e in found.packing.equations] == ["Y_weight = W + (3/r) * (A @ B)"]


def test_factors_that_a_caller_gives_are_not_packed() -> None:
    slope = scalar("slope", positive=True)
    given = attention()
    equations = [
        Equation(e.target, replace_free(e.value, {Rational(1, 3): slope}), *(e.over or ())) for e in given.equations
    ]
    found = optimize(Layer("sloped", given.inputs, given.parameters, equations, given.output))
    assert made(found)["scaled_queries"] == 1
    assert not any(equation.value.has(slope) for equation in found.packing.equations)


# --- where they must not --------------------------------------------------------------------------------------------


def test_biases_of_values_stay_under_a_mask_that_may_hide_all_keys() -> None:
    assert made(optimize(attention(mask=M)))["value_bias"] == 0
    assert made(optimize(attention(mask=MaskConjunction(M, CausalMask(n)))))["value_bias"] == 0


@pytest.mark.parametrize(
    ("read", "absent"),
    [
        ("A", ("deferred_normalisation", "base_two")),  # the weights themselves are asked for
        ("S", ("key_bias", "base_two")),
        ("K", ("key_bias",)),
        ("V", ("value_bias",)),
        ("O", ("value_bias",)),
    ],
)
def test_what_is_read_elsewhere_is_left_as_it_is(read: str, absent: tuple[str, ...]) -> None:
    found = optimize(attention(read_twice=read))
    assert [name for name in absent if made(found)[name]] == []
    assert refused(found) == []


def test_queries_that_are_read_elsewhere_keep_their_weights() -> None:
    found = optimize(attention(read_twice="Q"))
    (rewrite,) = [r for r in found.rewrites if r.name == "scaled_queries"]
    assert rewrite.packed == ()


def test_biases_of_keys_stay_where_keys_are_changed_before_the_product() -> None:
    assert made(optimize(attention(change="keys")))["key_bias"] == 0
    assert made(optimize(attention(change="scores")))["key_bias"] == 0
    assert made(optimize(model("qwen3-0.6b")))["key_bias"] == 0


def test_a_norm_that_the_residual_reads_keeps_its_gain() -> None:
    assert made(optimize(encoder(biases=True)))["folded_norm"] == 0  # norms behind the sums


def test_weights_that_are_inputs_are_not_packed() -> None:
    W = array("W", n, n)
    X = array("X", n, n)
    let = Equations()
    P, U = let("P")(X @ W), let("U")(X @ array("V", n, n))
    Y = let("Y")(P @ U)
    found = optimize(Layer("given", (X, W), (array("V", n, n),), let, Y))
    assert made(found)["wide_projections"] == 0


def test_gradients_keep_their_weights_and_their_class() -> None:
    flat = gradient(inlined(BIASED))
    found = optimize(flat)
    assert type(found.layer) is type(flat)
    assert (found.layer.parameters, found.layer.outputs) == (flat.parameters, flat.outputs)
    assert found.packing.equations == ()
    assert made(found)["summed_products"] == 3 and not made(found)["wide_projections"]


def test_the_gradients_of_all_heads_meet_in_one_product() -> None:
    found = optimize(gradient(inlined(BIASED))).layer.equation("dX").value
    assert not any(isinstance(node, SumOver) for node in subexpressions(found))
    assert "dattention.V_wide @ attention.W_V_wide.T" in str(found)


# --- switches and views ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", few(list(PASSES)))
def test_every_pass_may_be_left_out(name: str) -> None:
    assert made(optimize(BIASED, without=(name,)))[name] == 0
    assert made(optimize(BIASED, without=name))[name] == 0


def test_with_no_pass_the_layer_is_only_written_out() -> None:
    found = optimize(BIASED, without=PASSES)
    assert (found.layer, found.rewrites) == (inlined(BIASED), ())
    assert found.packing.equations == ()


def test_an_unknown_pass_is_refused_with_the_list() -> None:
    with pytest.raises(ValueError, match="there is no pass called 'fusion'; the passes are dead_equations, "):
        optimize(BIASED, without=("fusion",))


def test_every_theorem_that_is_cited_is_in_the_catalogue() -> None:
    known = {*names(), "definition"}
    subjects = [BIASED, pre_norm_layer(dropping=False), model("llama-2-7b"), layer("gated_feed_forward")]
    cited = {rewrite.theorem for subject in subjects for rewrite in optimize(subject).every_rewrite()}
    assert cited <= known
    assert len(cited) >= 8


def test_rewritings_explain_themselves() -> None:
    found = optimize(BIASED)
    text = found.explain()
    assert "deferred_normalisation, by attention.deferred_normalisation: proved" in text
    assert " -> attention.head_plain[i] = attention.attention.U[i] / attention.attention.l[i]  for i < h" in text
    assert "attention.b_O_all = Concat(i < h: attention.b_V[i]) @ attention.W_O + attention.b_O" in text
    (late,) = [r for r in found.rewrites if r.name == "deferred_normalisation"]
    assert late.derivation is not None
    assert r"\mathrm{diag}" in late.derivation.latex()
    assert isinstance(late.after[-1].value, Normalised)
