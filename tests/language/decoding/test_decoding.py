"""Decoding with a cache as a rewriting: what is kept, what is proved, and layers that look ahead, which are refused."""

from dataclasses import replace

import pytest
from sympy import Integer, KroneckerDelta, Lambda

from derivations.architectures.composition import build
from derivations.architectures.models import named_model
from derivations.catalogue import get
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import CausalMask, WindowMask, row_softmax
from derivations.language.arrays.operand_axes import NotCausal
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.decoding.claims import Stated, claims
from derivations.language.decoding.decoding import THEOREM, next_positions
from derivations.language.decoding.text_situations import first_positions, last_position
from derivations.language.layers.layer import Equation, Equations, Layer
from derivations.linear.convolution import convolution_layer
from derivations.normalisation.batch_norm import batch_norm
from derivations.positions.position_bias import alibi_attention, learned_positions
from derivations.symbols import d_k, d_model, d_v, i, j, k, n, size
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.transformer import transformer
from tests.tiers import few

Q, K, V, X = array("Q", n, d_k), array("K", n, d_k), array("V", n, d_v), array("X", n, d_model)


def attention(mask=None, name="attended"):
    let = Equations()
    S = let("S")(Q @ K.T)
    O = let("O")(let("A")(row_softmax(S, mask)) @ V)
    return Layer(name, (Q, K, V), (), let, O)


def of_one_equation(value, *parameters):
    let = Equations()
    Y = let("Y")(value)
    return Layer("one_equation", (X,), parameters, let, Y)


# --- what is kept ---------------------------------------------------------------------------------------------------


def test_the_keys_and_the_values_of_causal_attention_are_kept():
    decoding = next_positions(attention(CausalMask(n)))
    (link,) = decoding.links
    t = decoding.all
    assert {cache.past.name: cache.past.shape for cache in link.caches} == {
        "K_cache": (t - n, d_k),
        "V_cache": (t - n, d_v),
    }
    equations = {e.variable.name: e.value for e in link.layer.equations}
    K_all, V_all = array("K_all", t, d_k), array("V_all", t, d_v)
    assert equations["K_all"] == Stacked(array("K_cache", t - n, d_k), K)
    assert equations["S"] == Q @ K_all.T
    assert equations["A"] == row_softmax(array("S", n, t), RowRange(CausalMask(t), t - n, n))
    assert equations["O"] == array("A", n, t) @ V_all
    assert [v.name for v in decoding.layer.outputs] == ["O", *(cache.new.name for cache in link.caches)]


def test_a_bias_by_distance_is_that_of_the_new_rows():
    decoding = next_positions(alibi_attention())
    (bias,) = (e.value for e in decoding.links[0].layer.equations if e.variable.name == "B")
    formula, *shape = bias.args
    assert shape == [n, decoding.all]
    old = alibi_attention().equation("B").value.args[0]
    row, column = formula.variables
    assert formula.expr == old(row + decoding.all - n, column)


def test_a_model_is_links_and_its_rows_of_a_table_move_on():
    model = named_model("gpt2")
    decoding = next_positions(build(model.architecture).until("logits"))
    assert [link.path for link in decoding.links] == ["", "decoder.layers", ""]
    assert [len(link.caches) for link in decoding.links] == [0, 2, 0]
    (X_value,) = (e.value for e in decoding.links[0].layer.equations)
    assert X_value.args[1].args[1:] == (decoding.all - n, n, 1)


def test_what_does_not_depend_on_the_text_is_no_cache():
    decoding = next_positions(transformer().until("logits"))
    kept = {link.path: [cache.new.name for cache in link.caches] for link in decoding.links if link.path}
    assert kept["encoder.layers"] == []
    assert sorted(kept["decoder.layers"]) == ["self_attention.K", "self_attention.V"]


def test_repetitions_of_a_number_of_layers_are_written_out():
    N = next(link.count for link in next_positions(transformer().until("logits")).links if link.count is not None)
    layer = next_positions(transformer().until("logits").xreplace({N: Integer(2)})).layer
    assert "decoder.layers.1.self_attention.V_cache" in {v.name for v in layer.inputs}
    assert len(layer.outputs) == 1 + 2 * 2


def test_a_size_called_t_leaves_its_name():
    layer = of_one_equation(RowRange(array("P", size("t"), d_model), 0, n), array("P", size("t"), d_model))
    assert next_positions(layer).all.name == "t_2"


# --- what is known of a text ----------------------------------------------------------------------------------------


def weights(mask):
    """The attention weights of the next positions."""
    decoding = next_positions(attention(mask))
    A = decoding.links[0].layer.equation("A")
    return Layer("weights", (array("S", n, decoding.all),), (), [A], A.variable), decoding.all


def test_one_position_sees_every_key_and_the_first_ones_have_the_whole_mask():
    layer, t = weights(CausalMask(n))
    assert last_position(layer, n, t).equation("A").value == row_softmax(array("S", 1, t))
    assert first_positions(layer, n, t).equation("A").value == row_softmax(array("S", n, n), CausalMask(n))


def test_a_window_may_hide_keys_from_one_position_too():
    layer, t = weights(WindowMask(n, size("w")))
    assert last_position(layer, n, t).equation("A").has(WindowMask)


# --- what is proved -------------------------------------------------------------------------------------------------


def test_the_theorem_is_in_the_catalogue():
    assert get(THEOREM).evidence.level == "proved"


@pytest.mark.parametrize(
    "name", few(["gpt2", "llama-2-7b", "bloom-560m", "bart-base", "transformer-base", "qwen3-0.6b"], fast=2)
)
def test_every_equation_of_a_model_is_proved(name):
    decoding = next_positions(build(named_model(name).architecture).until("logits"))
    levels = [(str(each.change.old), each.level) for each in claims(decoding)]
    assert {level for _, level in levels} <= {"proved", "definition"}, levels
    softmax = [equation for equation, level in levels if "softmax" in equation and level == "proved"]
    assert softmax


def test_what_the_judge_has_no_language_for_is_not_called_proved():
    decoding = next_positions(build(named_model("t5-small").architecture).until("logits"))
    unknown = {str(each.change.old) for each in claims(decoding) if each.level == "unknown"}
    assert unknown == {"decoder.relative_position_bias.N = buckets(n, n)"}


def changed(stated, equation):
    """State the same claims with another equation at the next positions."""
    decoding = next_positions(attention(CausalMask(n)))
    (link,) = decoding.links
    wrong = replace(stated.change, new=equation)
    return list(claims(replace(decoding, links=(replace(link, changes=(wrong,)),))))


@pytest.mark.slow
def test_a_wrong_rewriting_is_not_proved():
    decoding = next_positions(attention(CausalMask(n)))
    t = decoding.all
    stated = {each.change.old.variable.name: each for each in claims(decoding)}
    A, S = array("A", n, t), array("S", n, t)
    assert isinstance(stated["A"], Stated) and stated["A"].level == "proved"
    for mask in (RowRange(CausalMask(t), 0, n), RowRange(WindowMask(t, 2), t - n, n)):
        (wrong,) = changed(stated["A"], Equation(A, row_softmax(S, mask)))
        assert wrong.level in ("unknown", "refuted")
    (unmasked,) = changed(stated["A"], Equation(A, row_softmax(S)))
    assert unmasked.level in ("unknown", "refuted")


def of_pairs(factor):
    """Sums over k of numbers of a position and of pairs, S_ij = sum_k c w_ik R_kij, below a causal softmax."""
    w, R, let = array("w", n, d_k), array("R", d_k, n, n), Equations()
    S = let("S")(Contraction((i, j), (n, n), [(k, d_k)], factor, [(i, k), (k, i, j)], w, R))
    return Layer("of_pairs", (w, R), (), let, let("A")(row_softmax(S, CausalMask(n))))


def test_a_contraction_reads_its_operands_at_its_own_positions():
    decoding = next_positions(of_pairs(1))
    t, equations = decoding.all, decoding.links[0].layer.equations
    w, R = array("w", n, d_k), array("R", d_k, n, t)
    found = {e.variable.name: e.value for e in equations}
    assert found["S"] == Contraction((i, j), (n, t), [(k, d_k)], 1, [(i, k), (k, i, j)], w, R)


# --- what is refused ------------------------------------------------------------------------------------------------

LATER = "reads all positions, later ones too: it needs a mask that looks back only"
MEAN = X - Tabulated(Lambda((i, j), 1 / n), n, d_model)
CLASS = array("c", 1, d_model)
REFUSED = {
    "softmax without a mask": (attention(), f"layer attended, equation O: A @ V {LATER}"),
    "an encoder layer": (encoder_layer(), LATER),
    "a stack of them": (encoder(), LATER),
    "a mask that is given": (encoder_layer(masked=True), LATER),
    "rows of a mask": (attention(RowRange(CausalMask(n), 0, n)), LATER),
    "statistics of columns": (batch_norm(), "later ones too"),
    "a mean over positions": (of_one_equation(MEAN), "depends on the number n of positions, which grows"),
    "products of positions": (of_one_equation(X @ (X.T @ X)), LATER),
    "placed rows": (of_one_equation(PlacedRows(X, 0, n)), "no rule says which positions"),
    "a convolution": (convolution_layer(padding=1), "an axis of n - w .* shifts or mixes the n positions"),
    "parameters for each position": (learned_positions(), "the parameter P has a row for each position"),
    "a contraction with a mask of its own": (of_pairs(KroneckerDelta(i, j)), "depends on the numbers of its positions"),
    "positions in reverse": (of_one_equation(Contraction((i, j), (n, d_model), (), 1, [(n - 1 - i, j)], X)), LATER),
    "a contraction over positions": (
        of_one_equation(Contraction((i, j), (n, d_model), [(k, n)], 1, [(k, j)], X)),
        LATER,
    ),
    "a class token": (of_one_equation(RowRange(Stacked(CLASS, X), 0, n), CLASS), "depends on the number n"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_layers_that_look_ahead_are_refused_in_a_sentence(name):
    layer, message = REFUSED[name]
    with pytest.raises(NotCausal, match=message) as error:
        next_positions(layer)
    assert str(error.value).startswith("layer ") and "\n" not in str(error.value)
