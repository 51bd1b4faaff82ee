"""Entries that do not exist: every read of an entry of every node keeps that each place lies on its axis."""

from collections.abc import Callable
from typing import Any

import pytest
from sympy import Basic, Eq, Ge, Indexed, Integer, KroneckerDelta, Lambda, Symbol, log

from derivations.language.arrays.arrangements import Concatenate, Explicit, PlacedBlock, Tabulated, column_block
from derivations.language.arrays.buckets import RelativeBuckets
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, Scaled, array, token_array
from derivations.language.arrays.functions import (
    CausalMask,
    Hadamard,
    Interleave,
    Lookup,
    RowLogSumExp,
    RowMean,
    RowSum,
    WindowMask,
    named,
    row_softmax,
)
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.arrays.scalars import Within, without_conditions
from derivations.language.arrays.selection import AddedEntries, Chosen, EveryOther, OneHot, ScatterRows, Windows
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import d, h, i, j, k, l, m, n, scalar

a = scalar("a")
x, b, tokens = array("x", n), array("b", d), token_array("t", n)
ones: Array = Tabulated(Lambda((i,), Integer(1)), n)
matrix: Array = Tabulated(Lambda((i, j), Integer(1)), n, m)
three = named("three", Integer(3), a)
numbers = token_array("numbers", n, n)
buckets = RelativeBuckets(n, n, 8, 16, False)


def equal(left: Any, right: Any, **setting: Any) -> str:
    """Return what the judge says of an equality."""
    return str(judge(derivation("", claim(left, step("algebra", right)), **setting)).level)


def test_a_place_that_is_forgotten_is_kept_with_the_entry() -> None:
    """A mask of ones says nothing of its place, so the entry does; a variable keeps its own."""
    assert ones[i] == Within(1, i, n)
    assert (matrix @ array("Y", m, d))[i, k].atoms(Indexed)
    assert not array("Y", n, m)[i, j].has(Within)
    assert Explicit([[2, 3]])[0, 1] == 3


NOWHERE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "a number behind a symbolic end": lambda: (ones[5], 1),
    "an index without a range": lambda: (ones[k], 1),
    "a size is the first place behind its axis": lambda: (ones[n], 1),
    "a half place": lambda: (ones[n / 2], 1),
    "a place before the first": lambda: (ones[-i], 1),
    "the wrong axis": lambda: (matrix[0, i], 1),
    "a causal mask": lambda: (CausalMask(n)[5, 2], 1),
    "a window": lambda: (WindowMask(n, 2)[7, 7], 1),
    "rows of one vector": lambda: (RowBroadcast(b, n)[7, 0], b[0]),
    "columns of one vector": lambda: (ColumnBroadcast(x, d)[0, 9], x[0]),
    "a row of a row": lambda: (CausalMask(n)[3][2], 1),
    "a row that is no row": lambda: (matrix[5], Tabulated(Lambda((j,), 1), m)),
    "a difference that is 0 everywhere": lambda: ((x - x)[5], 0),
    "nothing times an array": lambda: (Scaled(Integer(0), x)[5], 0),
    "a constant function": lambda: (three(x)[5], 3),
    "a product of ones": lambda: (Hadamard(ones, ones)[5], 1),
    "a matrix product": lambda: ((matrix @ matrix.T)[0, 5], m),
    "a transpose": lambda: (matrix.T[5, 0], 1),
    "a softmax of ones": lambda: (row_softmax(ones)[7], 1 / n),
    "a sum of a row": lambda: (RowSum(matrix)[4], m),
    "a mean of a row": lambda: (RowMean(matrix)[4], 1),
    "a log-sum-exp of a row": lambda: (RowLogSumExp(matrix)[4], 1 + log(m)),
    "a block behind the last": lambda: (Concatenate(matrix, i, h)[0, (h, 0)], 1),
    "a place behind the end of its block": lambda: (Concatenate(matrix, i, h)[0, (0, m)], 1),
    "a column block behind the last": lambda: (column_block(Concatenate(matrix, i, h), h), matrix),
    "a block placed behind the last": lambda: (PlacedBlock(matrix, h, h)[0, (0, 0)], 0),
    "a column of a matrix written out": lambda: (Explicit([[1, 1]])[0, k], 1),
    "an interleaved column": lambda: (Interleave(matrix, matrix)[0, 2 * m], 1),
    "every other column": lambda: (EveryOther(Interleave(matrix, matrix), 0)[0, m], 1),
    "a row of windows": lambda: (Windows(matrix, 2)[n, (0, 0)], 1),
    "a row of a stretch": lambda: (RowRange(matrix, 0, n)[n, 0], 1),
    "a stretch behind the end": lambda: (RowRange(matrix, 5, 1)[0, 0], 1),
    "a row among zeros": lambda: (PlacedRows(matrix, 0, n)[n, 0], 0),
    "a row of two stacks": lambda: (Stacked(matrix, matrix)[2 * n, 0], 1),
    "a column of two side by side": lambda: (ColumnConcatenation(matrix, matrix)[0, 2 * m], 1),
    "a column of some columns": lambda: (ColumnRange(matrix, 1, 1)[0, 0], 1),
    "a row added to a table": lambda: (ScatterRows(matrix, tokens, d)[d, 0], 0),
    "a one-hot column": lambda: (OneHot(tokens, m)[0, 5], KroneckerDelta(tokens[0], 5)),
    "a token that is in no table": lambda: (Chosen(matrix, numbers)[0, 0, 0], 1),
    "an entry added to a table": lambda: (AddedEntries(array("G", m, n, n), buckets, 8)[d, 0], 0),
    "a look-up": lambda: (Lookup(array("T", m, d), tokens)[0, 0], array("T", m, d)[tokens[0], 0]),
}


@pytest.mark.parametrize("name", NOWHERE)
def test_an_entry_that_may_not_exist_is_not_proved(name: str) -> None:
    """There are sizes or values at which the left side is no entry."""
    assert equal(*NOWHERE[name](), ranges={i: n}) not in ("proved", "definition")


def test_an_assumption_makes_no_entry_exist() -> None:
    """What is assumed of a sixth entry is assumed of nothing where there are fewer."""
    sixth = Assumption(Eq(a, ones[5], evaluate=False))
    for least, level in ((5, "unknown"), (6, "proved")):
        given = (sixth, Assumption(Ge(n, least)))
        stated = derivation("", claim(a, step("assumption", 1), given=given))
        assert judge(stated).level == level


def test_a_condition_is_not_printed() -> None:
    """What only a proof asks for is left out in print, in source and in JSON, and a sum keeps its brackets."""
    above, below, k_only = array("A", n, d), array("B", m, d), Symbol("k", integer=True)
    product = a * Stacked(above, below)[i, k_only]
    assert product.has(Within) and not without_conditions(product).has(Within)
    printed = derivation("", claim(product, step("algebra", product)))
    assert "Within" not in str(printed.json()) and "Within" not in printed.text()
    assert "a (sum" in printed.text()


def test_nor_inside_a_definition() -> None:
    """The name of an array stands for its entries alone."""
    y = array("y", n)
    assert equal(y[5], 1, about=[Equation(y, ones)]) == "unknown"
    assert equal(y[i], 1, about=[Equation(y, ones)], ranges={i: n}) == "proved"


TRUE: dict[str, tuple[Any, Any, dict[Symbol, Basic]]] = {
    "the first entry of a mask": (CausalMask(n)[0, 0], 1, {}),
    "its diagonal": (CausalMask(n)[i, i], 1, {i: n}),
    "one more in a longer one": (CausalMask(n + 1)[i + 1, i], 1, {i: n}),
    "a general entry of ones": (matrix[i, j], 1, {i: n, j: m}),
    "a row of ones": (matrix[i], Tabulated(Lambda((j,), 1), m), {i: n}),
    "a general block": (Concatenate(matrix, i, h)[i, (k, j)], 1, {i: n, k: h, j: m}),
    "the same as one number": (Concatenate(matrix, i, h)[i, k * m + j], 1, {i: n, k: h, j: m}),
    "a block of columns": (column_block(Concatenate(matrix, i, h), k), matrix, {k: h}),
    "rows of one vector": (RowBroadcast(b, n)[i, k], b[k], {i: n, k: d}),
    "an interleaved column": (Interleave(matrix, matrix)[i, 2 * j + 1], 1, {i: n, j: m}),
    "a row of windows": (Windows(array("X", n + 1, d), 2)[i, (1, k)], array("X", n + 1, d)[i + 1, k], {i: n, k: d}),
    "an entry of a sum": (RowSum(matrix)[i], m, {i: n}),
    "an array without that axis": (Tabulated(Lambda((), a)).entry(), a, {}),
    "the last place": (ones[n - 1], 1, {}),
    "an entry that cancels": ((x - x)[l], 0, {l: n}),
}


@pytest.mark.parametrize("name", TRUE)
def test_an_entry_that_exists_is_still_proved(name: str) -> None:
    """What lies beside the false statements holds."""
    left, right, ranges = TRUE[name]
    assert equal(left, right, ranges=ranges) == "proved"


def test_an_assumed_size_lets_a_numbered_place_exist() -> None:
    """A numbered place exists where enough of them are assumed, and no sooner."""
    for least, level in ((5, "unknown"), (6, "proved")):
        assert equal(CausalMask(n)[5, 2], 1, assuming=[Assumption(Ge(n, least))]) == level
