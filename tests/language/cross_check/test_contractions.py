"""The numerical cross-check and the recounts know contractions, largest entries and columns side by side.

Values are compared with loops in NumPy; counts with the symbolic rules, which share no code with the recount.
"""

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from sympy import Integer, KroneckerDelta, Sum

from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.exponentials import Normalised, RowMax, row_exponentials
from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import RowSoftmax, RowSum, exponential
from derivations.language.counting.costs import Count, count_flops
from derivations.language.counting.memory_counts import saved_residuals
from derivations.language.cross_check import cross_check
from derivations.language.cross_check.assignment import CONTEXT, Assignment, NotCovered, Undefined, Unfit, meaning
from derivations.language.cross_check.counting import run_count
from derivations.language.cross_check.saved_residuals import run_saved
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import claim, derivation, step
from derivations.symbols import d, h, m, n
from tests.contractions import CASES, SIZES, A, X, by_loops, drawn, i, j, layer_of, p

V, M = array("V", 2, 3), mask_array("M", 2, 3)
ROWS, MASK = [[Decimal(4), Decimal(9), Decimal(-1)], [Decimal(-3), Decimal(-2), Decimal(-8)]], [[1, 0, 1], [1, 0, 0]]


def given(**arrays: Any) -> Assignment:
    made = Assignment(SIZES, {}, "by hand")
    made.arrays |= arrays
    made.local = dict(arrays)  # for arrays without axes, which are symbols otherwise
    return made


def value(node: Any, **arrays: Any) -> Any:
    with localcontext(CONTEXT):
        return meaning(node)(given(**arrays))


def outcome(left: object, right: object) -> str:
    return cross_check(derivation("", claim(left, step("algebra", right)))).outcome


@pytest.mark.parametrize("name", CASES)
def test_a_contraction_is_evaluated_by_its_definition(name: str) -> None:
    inputs = drawn(layer_of(name), np.random.default_rng(2))
    exact = {key: np.vectorize(Decimal)(entries).tolist() for key, entries in inputs.items()}
    indices, shape, sums, factor, *operands = CASES[name]
    node = Contraction(indices, shape, sums, factor, [each[1:] for each in operands], *(each[0] for each in operands))
    np.testing.assert_allclose(np.array(value(node, **exact), float), by_loops(name, inputs), rtol=1e-12, atol=1e-12)


def test_a_place_outside_an_array_has_no_value() -> None:
    outside = contraction((i,), (n,), [], 1, operand_of(array("z", m), (i,)))  # n = 5 entries of an axis of m = 3
    with pytest.raises(Undefined, match="no place 3"):
        value(outside, z=[Decimal(1)] * 3)


def test_largest_entries_and_what_a_softmax_makes_of_them() -> None:
    assert value(RowMax(V), V=ROWS) == [9, -2]
    assert value(RowMax(V, M), V=ROWS, M=MASK) == [4, -3]
    powers = value(row_exponentials(V, M, Integer(2)), V=ROWS, M=MASK)
    assert powers == [[1, 0, Decimal(2) ** -5], [1, 0, 0]]
    assert value(Normalised(V, array("l", 2)), V=ROWS, l=[Decimal(2), 0]) == [
        [2, Decimal("4.5"), Decimal("-0.5")],
        [0] * 3,
    ]
    assert value(ColumnRange(ColumnConcatenation(V, V), 2, 2), V=ROWS) == [[-1, 4], [-8, -3]]


def test_a_row_without_a_visible_entry_has_no_largest_one() -> None:
    with pytest.raises(Undefined, match="visible"):
        value(RowMax(V, M)[1], V=ROWS, M=[[1, 0, 1], [0, 0, 0]])
    assert value(row_exponentials(V, M), V=ROWS, M=[[1, 0, 1], [0, 0, 0]])[1] == [0, 0, 0]


def test_the_scalar_form_of_a_largest_entry_has_the_value_of_the_array() -> None:
    assert value(RowMax(V, M)[0], V=ROWS, M=MASK) == value(RowMax(V, M), V=ROWS, M=MASK)[0]


def test_statements_about_them_are_tried() -> None:
    S = array("S", n, m)
    squares = contraction((), (), [(i, n), (p, m)], 1, operand_of(S, (i, p)), operand_of(S, (i, p))).entry()
    assert outcome(squares, Sum(S[i, p] ** 2, (i, 0, n - 1), (p, 0, m - 1))) == "agrees"
    assert outcome(squares, Sum(S[i, p] * S[i, 0], (i, 0, n - 1), (p, 0, m - 1))) == "disagrees"
    assert outcome(Normalised(row_exponentials(S), RowSum(row_exponentials(S))), RowSoftmax(S)) == "agrees"
    assert outcome(Normalised(row_exponentials(S), RowSum(exponential(S))), RowSoftmax(S)) == "disagrees"
    assert outcome(RowMax(2 * S), 2 * RowMax(S)) == "agrees"
    assert outcome(RowMax(-S), -RowMax(S)) == "disagrees"


@pytest.mark.parametrize("name", CASES)
def test_the_operations_of_a_contraction_are_found_by_listing_its_terms(name: str) -> None:
    layer, sizes = layer_of(name), {size: Integer(number) for size, number in SIZES.items()}
    counted = {f"{kind} FLOPs": of.xreplace(sizes) for kind, of in count_flops(layer, 3).by_kind.items()}
    counted["elementwise FLOPs"] += counted["activation FLOPs"]
    assert {kind: run_count(kind, layer, 3, given()) for kind in counted} == counted


def test_a_wrong_count_of_a_contraction_is_seen() -> None:
    count = Count("FLOPs", layer_of("batched product"))
    assert outcome(count, count.value()) == "agrees"
    assert outcome(count, count.value() - h * n * m) == "disagrees"  # the scaling is left out


def test_largest_entries_are_counted() -> None:
    let = Equations()
    layer = Layer("tried", (A,), (), let, let("Y")(RowMax(A)))
    assert run_count("reduction FLOPs", layer, 1, given()) == 7 * 5 * 2


@pytest.mark.parametrize(
    ("factor", "word"),
    [(KroneckerDelta(i, j), "leaves out products"), (KroneckerDelta(p + i, j), "leaves out products")],
)
def test_a_delta_that_is_no_placing_is_not_counted(factor: Any, word: str) -> None:
    node = Contraction((i, j), (n, n), [(p, d)], factor, [(i, p), (p, j)], X, array("Y", d, n))
    let = Equations()
    with pytest.raises(NotCovered, match=word):
        run_count("FLOPs", Layer("tried", (X, array("Y", d, n)), (), let, let("C")(node)), 1, given())


def test_one_term_does_not_tell_a_placing_from_a_sum() -> None:
    layer = layer_of("placed among zeros")
    with pytest.raises(Unfit, match="one term"):
        run_count("FLOPs", layer, 1, Assignment({**SIZES, d: 1}, {}, "one"))


def saved(layer: Layer) -> int:
    return run_saved("saved residual numbers", layer, 1, given())


@pytest.mark.parametrize("name", ["batched product", "permuted", "three operands", "twice", "diagonal"])
def test_what_a_contraction_saves_is_found_by_running_it(name: str) -> None:
    layer = layer_of(name)
    stored = sum(each.elements for each in saved_residuals(layer).storages)
    assert saved(layer) == Integer(stored).xreplace(SIZES) if stored == 0 else stored.xreplace(SIZES)


def test_a_contraction_of_one_array_saves_nothing_and_a_product_does() -> None:
    assert saved(layer_of("permuted")) == 0
    assert saved(layer_of("batched product")) == 7 * 5 * 2 + 7 * 3 * 2
