"""What is counted as kept: storage by storage, against a forward pass that says what each operation saves."""

import pickle
from dataclasses import replace

import pytest
from sympy import Integer, Symbol

from derivations.activations.sigmoid import sigmoid, silu
from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.grouped_query import g, grouped_query_attention, r
from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import LAYERS
from derivations.catalogue import layer as layer_called
from derivations.costs.memory import pre_norm_layer
from derivations.feed_forward.feed_forward import feed_forward
from derivations.feed_forward.gated import gated_feed_forward
from derivations.language.arrays.expression import ColumnBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowSum, gelu, relu
from derivations.language.counting.memory_counts import (
    SavedResidualCount,
    SavedResiduals,
    attention_layers,
    is_normalisation,
    partitioned_state_bytes,
    saved_residuals,
    training_state_bytes,
)
from derivations.language.cross_check.assignment import Assignment
from derivations.language.cross_check.saved_residuals import run_saved
from derivations.language.layers.layer import Equations, Layer, part
from derivations.linear.linear import linear
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.positions.rotary import rotary_embedding
from derivations.symbols import N, d, d_ff, d_k, d_model, d_out, d_v, h, m, n
from derivations.transformer.decoder import decoder
from derivations.transformer.encoder import encoder

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)
X = array("X", n, d)


def names(saved: SavedResiduals) -> list[str]:
    return [storage.name for storage in saved.storages]


def shapes(saved: SavedResiduals) -> dict[str, tuple[object, ...]]:
    return {storage.name: storage.shape for storage in saved.storages}


def layer_of(value: object, *inputs: object) -> Layer:
    let = Equations()
    return Layer("layer", inputs or (X,), (), let, let("Y")(value))


# --- storages -------------------------------------------------------------------------------------------------------


def test_attention_keeps_what_it_is_given_and_its_weights() -> None:
    saved = saved_residuals(scaled_dot_product_attention())
    assert shapes(saved) == {"Q": (n, d_k), "K": (m, d_k), "V": (m, d_v), "A": (n, m)}
    assert [s.role for s in saved.storages] == ["input", "input", "input", "activation"]
    assert saved.inputs == n * d_k + m * d_k + m * d_v
    assert saved.elements == saved.inputs + n * m


def test_what_is_given_three_times_is_kept_once() -> None:
    let = Equations()
    inside = array("X", n, d_model)
    Y = let("Y")(part("attention", multi_head_attention())(inside, inside, inside))
    saved = saved_residuals(Layer("self_attention", (inside,), (), let, Y))
    assert names(saved) == [
        "X",
        "attention.Q",
        "attention.K",
        "attention.V",
        "attention.attention.A",
        "attention.Z",
    ]


def test_what_is_kept_inside_and_outside_is_kept_once() -> None:
    W, U = array("W", d, d_out), array("U", d_out, d_out)
    let = Equations()
    H = let("H")(part("activation", layer_of(relu(X), X))(X @ W))
    Y = let("Y")(H @ U)
    assert names(saved_residuals(Layer("layer", (X,), (W, U), let, Y))) == ["X", "H"]


def test_an_unnamed_argument_is_a_storage_of_its_own() -> None:
    Z = array("Z", n, d)
    let = Equations()
    Y = let("Y")(part("norm", rms_norm())(X + Z))
    saved = saved_residuals(Layer("layer", (X, Z), (), let, Y))
    assert [(s.name, s.shape, s.role) for s in saved.storages] == [
        ("Y_1", (n, d), "activation"),
        ("norm.ms", (n,), "statistic"),
    ]


def test_a_transpose_is_no_storage_of_its_own() -> None:
    Z = array("Z", n, d)
    let = Equations()
    turned = let("T")(Z.T)
    Y = let("Y")(X @ turned)
    assert names(saved_residuals(Layer("layer", (X, Z), (), let, Y))) == ["X", "Z"]


def test_members_of_a_family_are_counted_all() -> None:
    saved = saved_residuals(grouped_query_attention())
    assert shapes(saved)["group.attention.A"] == (g, r, n, m)
    assert shapes(saved)["K"] == (g, m, d_k)


def test_a_repetition_keeps_as_often_as_it_runs() -> None:
    saved = saved_residuals(encoder())
    copies = {s.name: s.copies for s in saved.storages}
    assert copies["X"] == 1
    assert copies["layers.X"] == N - 1
    assert copies["layers.feed_forward.G"] == N
    one = saved_residuals(encoder().at(N=1))
    assert "layers.X" not in names(one)
    assert saved.elements.xreplace({N: Integer(1)}) == one.elements


def learned_queries() -> Layer:
    """A stack whose first layer reads an array that is learned, and every layer an input."""
    Q, memory = array("Q", n, d), array("memory", n, d)
    let = Equations()
    inner = let("Y")(gelu(let("H")(Hadamard(X, memory))))
    each = Layer("each", (X, memory), (), list(let), inner)
    let = Equations()
    Y = let("Z")(part("layers", each, count=N)(Q, memory))
    return Layer("learned_queries", (memory,), (Q,), let, Y)


def test_the_first_input_of_a_repetition_may_be_learned() -> None:
    saved = saved_residuals(learned_queries())
    assert {s.name: s.copies for s in saved.storages} == {"memory": 1, "layers.H": N, "layers.X": N - 1}


def test_constants_are_listed_and_not_counted() -> None:
    saved = saved_residuals(rotary_embedding())
    assert {s.role for s in saved.storages} == {"constant"}
    assert saved.bytes() == 0


def test_every_example_of_a_batch_keeps_its_own() -> None:
    assert saved_residuals(feed_forward(), batch=7).bytes() == 7 * saved_residuals(feed_forward()).bytes()


# --- one operation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("norm", "statistics"), [(layer_norm(), ["mu", "sigma2"]), (rms_norm(), ["ms"])])
def test_a_norm_keeps_its_input_and_numbers_of_rows(norm: Layer, statistics: list[str]) -> None:
    saved = saved_residuals(norm)
    assert names(saved) == ["X", *statistics]
    assert saved.elements == n * d
    assert saved.statistics == n * len(statistics)
    assert saved.bytes(4, bytes_per_statistic=4) == 4 * n * d + 4 * n * len(statistics)


def test_a_norm_that_is_not_one_operation_keeps_more() -> None:
    saved = saved_residuals(layer_norm(), fused=lambda _: False)
    assert set(names(saved)) == {"X_c", "sigma2", "X_hat"}
    assert saved.statistics == 0


def test_a_norm_without_weights_of_its_own_stays_one_operation() -> None:
    gamma, beta = array("gamma", d), array("beta", d)
    let = Equations()
    Y = let("Y")(part("norm", layer_norm())(X, gamma=gamma, beta=beta))
    assert names(saved_residuals(Layer("layer", (X,), (gamma, beta), let, Y))) == ["X", "norm.mu", "norm.sigma2"]


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "batch_norm"])
def test_norms_are_recognised(name: str) -> None:
    assert is_normalisation(layer_called(name))


@pytest.mark.parametrize("name", ["softmax", "dropout", "feed_forward", "linear", "cross_entropy", "encoder_layer"])
def test_other_layers_are_no_norms(name: str) -> None:
    assert not is_normalisation(layer_called(name))


def test_a_layer_of_row_sums_alone_is_no_norm() -> None:
    assert not is_normalisation(layer_of(RowSum(X)))
    assert is_normalisation(_by_its_sum())


def _by_its_sum() -> Layer:
    let = Equations()
    s = let("s")(RowSum(X))
    return Layer("layer", (X,), (), let, let("Y")(Hadamard(X, ColumnBroadcast(s, d))))


@pytest.mark.parametrize(("function", "inside"), [(relu, ["G"]), (sigmoid, ["G"]), (gelu, ["H", "G"])])
def test_a_function_keeps_its_value_or_its_argument(function: object, inside: list[str]) -> None:
    assert names(saved_residuals(feed_forward(function))) == ["X", *inside]


def test_a_gate_keeps_both_factors() -> None:
    saved = saved_residuals(gated_feed_forward(silu))
    assert saved.elements == n * d_model + 4 * n * d_ff
    assert saved_residuals(gated_feed_forward(sigmoid)).elements == n * d_model + 3 * n * d_ff


# --- recomputation --------------------------------------------------------------------------------------------------


def test_a_recomputed_part_keeps_its_inputs() -> None:
    saved = saved_residuals(multi_head_attention(), recomputed=["attention"])
    assert names(saved) == ["X_Q", "X_K", "X_V", "Q", "K", "V", "Z"]


def test_a_recomputed_layer_keeps_its_input() -> None:
    assert names(saved_residuals(feed_forward(), recomputed=["feed_forward"])) == ["X"]


def test_masks_of_what_is_recomputed_are_drawn_again() -> None:
    assert saved_residuals(pre_norm_layer()).masks == h * n**2 + 2 * n * d_model
    assert saved_residuals(pre_norm_layer(), recomputed=["attention"]).masks == 2 * n * d_model


def test_the_layers_of_selective_recomputation_are_found() -> None:
    inside = ("masked_scaled_dot_product_attention", "scaled_dot_product_attention")
    assert attention_layers(decoder()) == inside
    assert attention_layers(grouped_query_attention()) == inside[1:]
    assert attention_layers(pre_norm_layer()) == ("scaled_dot_product_attention_with_dropout",)
    for name in ("softmax", "cross_entropy", "feed_forward", "layer_norm"):
        assert attention_layers(layer_called(name)) == ()
    quadratic = saved_residuals(encoder()).elements.coeff(n, 2)
    assert quadratic == N * h
    assert saved_residuals(encoder(), recomputed=attention_layers(encoder())).elements.coeff(n, 2) == 0


def test_a_name_that_nothing_has_is_refused() -> None:
    with pytest.raises(ValueError, match=r"nothing in it is called 'atention'.* attention, multi_head_attention"):
        saved_residuals(multi_head_attention(), recomputed=["atention"])


# --- the same by running --------------------------------------------------------------------------------------------


def sizes_of(layer: Layer) -> dict[Symbol, int]:
    sizes: dict[Symbol, int] = dict(zip(sorted(layer.sizes, key=str), PRIMES, strict=False))
    even = ("d_model", "d_k", "d_r", "frames")
    fixed = {"w": 2, "K": 2, "E": 5, "buckets": 7}
    return {s: fixed.get(s.name, 2 * size if s.name in even else size) for s, size in sizes.items()}


SUBJECTS = {name: layer_called(name) for name in LAYERS}
SUBJECTS |= {"learned_queries": learned_queries()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "what", ["saved residual bytes", "saved residual numbers", "saved residual masks", "saved residual statistics"]
)
@pytest.mark.parametrize("name", SUBJECTS)
def test_what_the_backward_pass_reads_is_what_the_forward_pass_saves(name: str, what: str) -> None:
    layer = SUBJECTS[name]
    sizes = sizes_of(layer)
    assignment = Assignment(sizes, {}, "")
    inner = sorted({applied.layer.name for applied in layer.parts.values()})
    for recomputed in ([], [layer.name], *([one] for one in inner)):
        counted = SavedResidualCount(what, layer, 3, recomputed).value().xreplace(sizes)
        assert counted == run_saved(what, layer, 3, assignment, frozenset(recomputed)), recomputed


def test_a_wrong_count_is_told_from_the_right_one() -> None:
    layer, assignment = feed_forward(gelu), Assignment({n: 2, d_model: 3, d_ff: 5}, {}, "")
    right = run_saved("saved residual bytes", layer, 1, assignment)
    assert right == 2 * (2 * 3 + 2 * 2 * 5)
    saved = saved_residuals(layer)
    fewer = SavedResiduals(saved.storages[:-1])
    twice = SavedResiduals(tuple(replace(s, copies=Integer(2)) for s in saved.storages))
    for wrong in (fewer, twice):
        assert wrong.bytes().xreplace(assignment.base) != right


# --- the count as a term --------------------------------------------------------------------------------------------


def test_a_count_stays_as_written() -> None:
    term = SavedResidualCount("saved residual bytes", feed_forward(), 3, ["feed_forward"])
    assert str(term) == "saved residual bytes(feed_forward, batch = 3, recomputed = feed_forward)"
    assert term.func(*term.args) == term
    assert pickle.loads(pickle.dumps(term)) == term
    assert term.value() == 6 * n * d_model
    assert term.free_symbols == {n, d_model, d_ff}
    assert term != SavedResidualCount("saved residual bytes", feed_forward(), 3)
    assert term.is_positive


def test_a_count_of_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no count called 'bytes'"):
        SavedResidualCount("bytes", linear())


# --- the state of training ------------------------------------------------------------------------------------------


def test_the_state_of_training_is_that_of_the_papers() -> None:
    assert training_state_bytes(7) == 16 * 7
    assert training_state_bytes(7, gradients=4) == 18 * 7
    assert training_state_bytes(7, mixed=False) == 16 * 7
    assert training_state_bytes(N) == 16 * N


def test_the_state_is_divided_among_devices() -> None:
    assert [partitioned_state_bytes(16, 8, stage=stage) for stage in range(4)] == [256, 88, 60, 32]
    assert partitioned_state_bytes(8, 4, stage=1, gradients=4) == (6 + 3) * 8
    assert partitioned_state_bytes(5, 1, stage=3) == training_state_bytes(5)


@pytest.mark.parametrize(("mixed", "gradients"), [(True, 3), (True, 8), (False, 2)])
def test_gradients_of_another_size_are_refused(mixed: bool, gradients: int) -> None:
    with pytest.raises(ValueError, match=f"not {gradients}"):
        training_state_bytes(7, mixed=mixed, gradients=gradients)


def test_another_stage_is_refused() -> None:
    with pytest.raises(ValueError, match="the stages are 0, 1, 2 and 3, not 4"):
        partitioned_state_bytes(7, 2, stage=4)
