"""Every kind of array has each view: counts, text, LaTeX, NumPy and a gradient, or a refusal that names it."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from sympy import Integer, Lambda

from derivations.language import arrays, count_flops, gradient
from derivations.language.arrays.arrangements import (
    ColumnBlock,
    Concatenate,
    Explicit,
    Numbers,
    PlacedBlock,
    SumOver,
    Tabulated,
)
from derivations.language.arrays.buckets import RelativeBuckets, SignedBuckets
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.exponentials import Normalised, RowExponentials, RowMax, row_exponentials
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
    Variable,
    array,
    mask_array,
    token_array,
)
from derivations.language.arrays.functions import (
    Hadamard,
    Interleave,
    Lookup,
    MaskConjunction,
    RowLogSumExp,
    RowMean,
    RowSoftmax,
    RowSum,
    exponential,
)
from derivations.language.arrays.masks import BandMask, CausalMask, WindowMask
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.routing import BatchTranspose, RoutedOuter, RoutedProduct, TopK, TopKMask
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.arrays.selection import (
    AddedEntries,
    AddedPicks,
    AddedWindows,
    Chosen,
    EveryOther,
    OneHot,
    Pick,
    ScatterRows,
    Windows,
)
from derivations.language.arrays.shapes import Blocks
from derivations.language.differentiation.adjoints import GradientError
from derivations.language.layers.layer import Equations, Layer
from derivations.language.printing.latex import LatexPrinter, latex_of
from derivations.symbols import d, h, m, n
from numeric import compile_layer
from tests.contractions import i, j, k, p

X, Y, W, v = array("X", n, d), array("Y", n, d), array("W", d, m), array("v", n)
WIDE, HEADS, EXPERTS = array("Z", n, Blocks(h, d)), array("H", h, n, d), array("E", h, d, m)
M, L = mask_array("M", n, d), mask_array("L", n, d)
TOKENS, NUMBERS = token_array("t", n), token_array("s", n, m)

EXAMPLES: tuple[Array, ...] = (
    X,
    ColumnBlock(WIDE, Integer(0)),
    Concatenate(Member(HEADS, i), i, h),
    SumOver(Member(HEADS, i), i, h),
    PlacedBlock(X, Integer(0), h),
    Tabulated(Lambda((i, j), Integer(1) + i), n, d),
    Numbers(Lambda((i,), 2 * i), n),
    Explicit([[1, 2], [3, 4]]),
    ColumnConcatenation(X, Y),
    ColumnRange(array("Q", n, 7), 2, 3),
    Contraction((i, j, k), (h, n, m), [(p, d)], 1, [(i, j, p), (p, k)], HEADS, W),
    Normalised(X, v),
    row_exponentials(X, M),
    RowMax(X, M),
    ColumnBroadcast(v, m),
    RowBroadcast(v, m),
    Member(X, Integer(0)),
    Plus(X, Y),
    Product(X, W),
    Scaled(Integer(2), X),
    Transpose(X),
    exponential(X),
    Hadamard(X, Y),
    Interleave(X, Y),
    Lookup(W, TOKENS),
    MaskConjunction(M, L),
    RowLogSumExp(X),
    RowMean(X),
    RowSoftmax(X, M),
    RowSum(X),
    BandMask(n, m, -1, 1),
    CausalMask(n),
    WindowMask(n, 3),
    BatchTranspose(HEADS),
    RoutedOuter(X, array("U", n, m), TOKENS, h),
    RoutedProduct(X, EXPERTS, TOKENS),
    TopK(X, 1),
    TopKMask(array("S", n, m), mask_array("M", n, m), 2),
    Recurrence(X, array("B", n, d, m)),
    Recurrence(v, array("B", n, d, m), 1, X, Y),
    PlacedRows(array("P", 3, d), 1, 5),
    RowRange(array("P", 5, d), 1, 3),
    Stacked(X, Y),
    AddedEntries(array("A", d, n, m), NUMBERS, h),
    AddedPicks(array("U", n, m), NUMBERS, h),
    AddedWindows(array("A", 3, Blocks(Integer(2), d)), 4),
    Chosen(array("T", h, d), NUMBERS),
    EveryOther(array("Q", n, Blocks(d, Integer(2))), Integer(1)),
    OneHot(TOKENS, m),
    Pick(X, TOKENS),
    Pick(X, NUMBERS),
    RelativeBuckets(n, m, 5, 7, 1),
    ScatterRows(X, TOKENS, h),
    SignedBuckets(n, m, 5, 7),
    Windows(array("P", 5, d), 2),
)
# What has no gradient, with a word of the refusal: it is an internal form of the optimiser, or its slope has no rule.
NO_GRADIENT = {
    Normalised: "Normalised",
    RowExponentials: "RowExponentials",
    RowMax: "depends on the largest entry",
    Member: "members of a family",
}


def kinds() -> Iterator[type[Array]]:
    """Yield the kinds of arrays of the language, without bases."""
    for module in pkgutil.iter_modules(arrays.__path__):
        for each in vars(importlib.import_module(f"{arrays.__name__}.{module.name}")).values():
            if isinstance(each, type) and issubclass(each, Array) and each is not Array and each.__name__[0] != "_":
                yield each


def layer_of(value: Array) -> Layer:
    read = sorted(value.atoms(Variable), key=lambda each: each.name)
    learned = tuple(each for each in read if each == EXPERTS)  # rows are sent to weights
    let = Equations()
    return Layer("tried", tuple(each for each in read if each not in learned), learned, let, let("R")(value))


def test_every_kind_of_array_has_an_example() -> None:
    assert {type(value) for value in EXAMPLES} == set(kinds())


@pytest.mark.parametrize("value", EXAMPLES, ids=lambda value: type(value).__name__)
def test_every_kind_of_array_has_each_view(value: Array) -> None:
    kind = type(value).__name__
    layer = layer_of(value)
    assert count_flops(layer).total.is_nonnegative is not False
    assert all((str(value), latex_of(value), layer.latex(), layer.text()))
    method = getattr(LatexPrinter, f"_print_{kind}")  # else a formula would show the name of a class
    assert method.__module__.startswith("derivations")
    assert "def tried(" in compile_layer(layer).source


@pytest.mark.parametrize("value", EXAMPLES, ids=lambda value: type(value).__name__)
def test_every_kind_of_array_has_a_gradient_or_is_refused_by_name(value: Array) -> None:
    layer = layer_of(value)
    if type(value) in NO_GRADIENT:
        with pytest.raises(GradientError, match=NO_GRADIENT[type(value)]):
            gradient(layer)
        return
    backward = gradient(layer)
    read = {each for equation in backward.equations for each in equation.value.atoms(Variable)}
    if value.kind == "real" and any(each.kind == "real" for each in layer.inputs):
        assert set(backward.inputs) - set(layer.inputs) <= read  # no gradient is 0 that nothing computed
