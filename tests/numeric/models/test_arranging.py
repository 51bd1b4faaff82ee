"""Stored tensors put into the shape of the equations: entry by entry, at distinct prime sizes."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from derivations.architectures.hugging_face import FAMILIES
from numeric.models.checkpoints.arranging import Stored, arranged, stored_shape

D, H, G, R, K, ROTARY, PASS = 7, 3, 2, 5, 11, 2, 13  # model, heads, groups, heads of a group, columns
Shapes = Mapping[str, tuple[int, ...]]
NAMES = {kind: each.names for kind, each in FAMILIES.items() if each.names is not None and each.runs}


def run(stored: Stored, weight: str, shapes: Shapes) -> tuple[Any, Any]:
    """Return a tensor of distinct entries, and the weight made of it."""
    shape = stored_shape(stored, weight, shapes)
    tensor = np.arange(np.prod(shape), dtype=float).reshape(shape)
    return tensor, arranged(stored, weight, shapes, lambda name: tensor)


def places(value: Any) -> Iterator[tuple[int, ...]]:
    return product(*map(range, value.shape))


def test_a_linear_map_is_stored_transposed() -> None:
    tensor, W = run(Stored("w"), "W_1", {"W_1": (D, K)})
    assert tensor.shape == (K, D)
    assert all(W[i, j] == tensor[j, i] for i, j in places(W))
    table, E = run(Stored("w", as_written=True), "E", {"E": (K, D)})
    np.testing.assert_array_equal(E, table)


def test_a_matrix_of_one_column_is_a_vector() -> None:
    tensor, w = run(Stored("w"), "W_shared_gate", {"W_shared_gate": (D,)})
    assert tensor.shape == (1, D)
    assert w.tolist() == tensor[0].tolist()


def test_heads_lie_in_the_columns() -> None:
    tensor, W = run(Stored("w"), "W_Q", {"W_Q": (H, D, K)})
    assert all(W[h, i, j] == tensor[h * K + j, i] for h, i, j in places(W))
    tensor, W = run(Stored("w"), "W_Q", {"W_Q": (G, R, D, K)})
    assert all(W[g, r, i, j] == tensor[(g * R + r) * K + j, i] for g, r, i, j in places(W))
    tensor, b = run(Stored("b"), "b_Q", {"b_Q": (G, R, K)})
    assert all(b[g, r, j] == tensor[(g * R + r) * K + j] for g, r, j in places(b))


def test_heads_lie_in_the_rows_of_what_leads_out() -> None:
    tensor, W = run(Stored("w"), "W_O", {"W_O": (G, R * K, D)})
    assert all(W[g, i, j] == tensor[j, g * R * K + i] for g, i, j in places(W))


QKV = {"W_Q": (G, R, D, K), "W_K": (G, D, K), "W_V": (G, D, K)}
SIDE_BY_SIDE = ("W_Q", "W_K", "W_V")


@pytest.mark.parametrize("as_written", [False, True])
def test_three_matrices_side_by_side(as_written: bool) -> None:
    """All queries, then all keys, then all values."""
    starts = {"W_Q": 0, "W_K": G * R * K, "W_V": G * R * K + G * K}
    for weight, start in starts.items():
        tensor, W = run(Stored("w", as_written, SIDE_BY_SIDE), weight, QKV)
        matrix = tensor if as_written else tensor.T
        assert matrix.shape == (D, G * R * K + 2 * G * K)
        for *heads, i, j in places(W):
            head = heads[0] * R + heads[1] if weight == "W_Q" else heads[0]
            assert W[*heads, i, j] == matrix[i, start + head * K + j]


def test_three_matrices_within_each_group() -> None:
    """The queries of the heads of a group, its keys, its values; then the next group."""
    width = (R + 2) * K
    for weight, start in {"W_Q": 0, "W_K": R * K, "W_V": (R + 1) * K}.items():
        tensor, W = run(Stored("w", False, SIDE_BY_SIDE, by_head=True), weight, QKV)
        for *heads, i, j in places(W):
            within = heads[1] * K if weight == "W_Q" else 0
            assert W[*heads, i, j] == tensor[heads[0] * width + start + within + j, i]


def test_columns_that_are_not_turned_follow_within_each_head() -> None:
    shapes = {"W_Q": (G, R, D, ROTARY), "W_Q_pass": (G, R, D, PASS)}
    for weight, start in {"W_Q": 0, "W_Q_pass": ROTARY}.items():
        tensor, W = run(Stored("w", False, ("W_Q", "W_Q_pass"), by_head=True), weight, shapes)
        for g, r, i, j in places(W):
            assert W[g, r, i, j] == tensor[(g * R + r) * (ROTARY + PASS) + start + j, i]


def test_biases_are_cut_as_their_matrices() -> None:
    biases = ("b_Q", "b_Q_pass", "b_V")
    shapes = {"b_Q": (H, ROTARY), "b_V": (H, K)}  # none of b_Q_pass: all columns are turned
    for weight, start in {"b_Q": 0, "b_V": ROTARY}.items():
        tensor, b = run(Stored("b", False, biases, by_head=True), weight, shapes)
        assert all(b[h, j] == tensor[h * (ROTARY + K) + start + j] for h, j in places(b))


def test_experts_are_stored_one_by_one() -> None:
    shapes, rng = {"W_gate": (5, D, K), "W_router": (D, 5)}, np.random.default_rng(3)
    tensors = {f"experts.{e}.w": rng.normal(size=(K, D)) for e in range(5)}
    stored = Stored("experts.{e}.w")
    assert stored_shape(stored, "W_gate", shapes) == (K, D)
    W = arranged(stored, "W_gate", shapes, tensors.__getitem__)
    assert all(W[e, i, j] == tensors[f"experts.{e}.w"][j, i] for e, i, j in places(W))


def test_a_scale_may_be_stored_without_the_one_that_it_is_added_to() -> None:
    for dtype in (np.float32, np.float64):
        tensors = {"w": np.array([-0.5, 0, 0.25], dtype)}
        gamma = arranged(Stored("w", added=1), "gamma", {"gamma": (3,)}, tensors.__getitem__)
        assert gamma.dtype == dtype
        assert gamma.tolist() == [0.5, 1, 1.25]


def test_a_flat_tensor_is_a_vector_whatever_its_axes() -> None:
    stored, shapes = Stored("w", axes="flat"), {"A": (K,)}
    assert stored_shape(stored, "A", shapes) == (K,)
    numbers = np.arange(K, dtype=float)
    np.testing.assert_array_equal(arranged(stored, "A", shapes, lambda name: numbers), numbers)
    assert stored_shape(Stored("w"), "A", shapes) == (1, K)  # else it is a matrix of one column


def test_the_columns_of_two_matrices_alternate() -> None:
    """As in gpt-oss: all experts in one tensor, with a column of the gate before each of the linear half."""
    halves, shifts = ("W_gate", "W_up"), ("b_gate", "b_up")
    for number, (weight, shift) in enumerate(zip(halves, shifts, strict=True)):
        stored = Stored("w", True, halves, stacked=True, by_column=True)
        tensor, W = run(stored, weight, dict.fromkeys(halves, (5, D, K)))
        assert tensor.shape == (5, D, 2 * K)
        assert all(W[e, i, j] == tensor[e, i, 2 * j + number] for e, i, j in places(W))
        stored = Stored("b", False, shifts, stacked=True, by_column=True)
        tensor, b = run(stored, shift, dict.fromkeys(shifts, (5, K)))
        assert all(b[e, j] == tensor[e, 2 * j + number] for e, j in places(b))


def test_every_part_has_its_share_of_the_heads() -> None:
    """As in CodeGen: in each of several parts the queries of its heads, their values, their keys."""
    sections, heads = (("W_Q", "W_Q_pass"), ("W_V",), ("W_K",)), 6
    beside = tuple(name for section in sections for name in section)
    widths = {"W_Q": ROTARY, "W_Q_pass": PASS, "W_V": ROTARY + PASS, "W_K": ROTARY + PASS}
    shapes = {name: (heads, D, width) for name, width in widths.items()}
    each = (heads // 2) * (ROTARY + PASS)  # columns of a section in one of 2 parts
    for weight, (section, start) in {"W_Q": (0, 0), "W_Q_pass": (0, ROTARY), "W_V": (1, 0), "W_K": (2, 0)}.items():
        tensor, W = run(Stored("w", False, beside, sections=sections, parts=2), weight, shapes)
        assert tensor.shape == (2 * 3 * each, D)
        for h, i, j in places(W):
            part, inside = divmod(h, heads // 2)
            assert W[h, i, j] == tensor[(3 * part + section) * each + inside * (ROTARY + PASS) + start + j, i]


def test_the_sinks_of_grouped_heads_are_one_vector() -> None:
    tensor, sinks = run(Stored("sinks"), "sinks", {"sinks": (G, R, 1)})
    assert tensor.shape == (G * R,)
    assert all(sinks[g, r, j] == tensor[g * R + r] for g, r, j in places(sinks))


# --- the tables of names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", NAMES)
def test_every_name_of_a_table_can_be_told_apart(family: str) -> None:
    """A layer's weight names its layer, no other one does; weights in one tensor are those beside each other in it."""
    table = NAMES[family].weights
    by_name: dict[str, set[str]] = {}
    for weight, stored in table.items():
        of_stack = "final_norm|relative_position_bias|R$|distance_norm|gamma_E|(new|joined)_streams"
        of_layer = re.match(rf"(en|de)coder\.(?!{of_stack})", weight) is not None
        shared = "albert_layer_groups.0." in stored.name or stored.of_layers  # of all layers
        assert of_layer == ("{n}" in stored.name or shared), weight
        assert "{e}" not in stored.name or re.match(r"decoder\.(experts\.W_|(new|joined)_streams\.W$)", weight)
        assert not stored.beside or weight.rpartition(".")[2] in stored.beside
        by_name.setdefault(stored.name, set()).add(weight)
    for name, weights in by_name.items():
        together = {each for weight in weights for each in table[weight].beside} or {
            w.rpartition(".")[2] for w in weights
        }
        assert {weight.rpartition(".")[2] for weight in weights} == together, name


@pytest.mark.parametrize("family", NAMES)
def test_no_weight_is_passed_over(family: str) -> None:
    """What a family passes over matches none of its own names, apart from those of heads and their biases.

    Of layers that take keys and values of earlier ones the maps are stored, too, and not read.
    """
    told = NAMES[family]
    taken = r"layers\.0\.self_attn\.[kv]_(proj|norm)\.(weight|bias)" if family.startswith("gemma") else "nothing"
    names = {stored.name.replace("{n}", "0").replace("{e}", "0") for stored in told.weights.values()}
    passed = {name for name in names if any(re.fullmatch(pattern, name) for pattern in told.ignored)}
    passed = {name for name in passed if not re.fullmatch(taken, name)}
    assert all(re.match(r"pooler|cls|lm_head|vocab_|predictions|sop_classifier", name) for name in passed)
    assert not passed or {"encoder.self_attention.W_Q"} <= {*told.weights}
    assert {name.replace("{n}", "0") for name in told.same.values()} <= names
