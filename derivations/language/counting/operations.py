"""The operations of one node and of one formula, under a stated convention.

A sum or product of k terms takes k - 1 operations, a function one, x^p takes p - 1; signs and constants are free; all
branches of a choice count, and a condition counts its comparison. If the operands of an operation vary only along some
axes of an array (repeated rows, repeated columns), it is done once for each place along those axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import singledispatch
from itertools import chain
from math import prod

from sympy import Add, Expr, Function, Integer, KroneckerDelta, Lambda, Max, Min, Mul, Piecewise, Pow, Rational, expand
from sympy.core.relational import Relational
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.logic.boolalg import BooleanFunction

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, Explicit, PlacedBlock, SumOver, Tabulated
from derivations.language.arrays.buckets import RelativeBuckets
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.exponentials import Normalised, RowExponentials, RowMax
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
)
from derivations.language.arrays.functions import (
    BandMask,
    Elementwise,
    Hadamard,
    Interleave,
    Lookup,
    MaskConjunction,
    RowLogSumExp,
    RowMean,
    RowSoftmax,
    RowSum,
)
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.routing import BatchTranspose, RoutedOuter, RoutedProduct, TopK, TopKMask
from derivations.language.arrays.row_major import placed
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.arrays.scalars import Iverson
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
from derivations.language.arrays.shapes import Axis, total
from derivations.language.counting.convention import CONVENTION, Convention

__all__ = [
    "CONVENTION",
    "Flops",
    "count_operations",
    "entries",
    "is_outer_product",
    "node_operations",
    "product_flops",
    "summed_entries",
    "visible_operations",
]

Axes = frozenset[int]  # the axes of an array along which the values of an expression differ


@dataclass(frozen=True)
class Flops:
    """Operations of a layer, by kind.

    `matmul`: products of matrices and vectors; `bias`: additions of one vector to every row; `softmax`: of rows;
    `norm`: all except products in layers that normalise; `activation`: elementwise functions of values that depend on
    an input; `reduction`: sums and means of rows; `elementwise`: the rest, such as residual sums, scaling and gates.

    Units        FLOPs, or multiply-adds, under the convention that `convention` states
    """

    matmul: Expr = Integer(0)
    bias: Expr = Integer(0)
    softmax: Expr = Integer(0)
    norm: Expr = Integer(0)
    activation: Expr = Integer(0)
    reduction: Expr = Integer(0)
    elementwise: Expr = Integer(0)
    convention: Convention = CONVENTION

    @property
    def by_kind(self) -> dict[str, Expr]:
        """The counts by the names of their kinds."""
        return {kind: getattr(self, kind) for kind in _KINDS}

    @property
    def total(self) -> Expr:
        """The sum of all kinds."""
        return expand(sum(self.by_kind.values()))

    def times(self, factor: Expr) -> Flops:
        """Return the counts multiplied by a factor."""
        return self if factor == 1 else self._mapped(lambda count: count if count == 0 else expand(factor * count))

    def xreplace(self, rule: Mapping[Expr, Expr]) -> Flops:
        """Return the counts with sizes replaced by numbers or other expressions."""
        return self._mapped(lambda count: count.xreplace(rule))

    def __add__(self, other: Flops) -> Flops:
        """Return the sum of both counts, kind by kind."""
        # most kinds of most nodes are 0, and to add 0 takes SymPy as long as to add a number
        added = other.by_kind
        return replace(self, **{k: n + added[k] if n and added[k] else n or added[k] for k, n in self.by_kind.items()})

    def __sub__(self, other: Flops) -> Flops:
        """Return the difference of the counts, kind by kind."""
        return replace(self, **{kind: expand(count - getattr(other, kind)) for kind, count in self.by_kind.items()})

    def _mapped(self, change: Callable[[Expr], Expr]) -> Flops:
        return replace(self, **{kind: change(count) for kind, count in self.by_kind.items()})


_KINDS = tuple(f.name for f in fields(Flops) if f.name != "convention")


def entries(shape: Iterable[Axis]) -> Expr:
    """Return the number of entries of an array of the given shape."""
    return prod(map(total, shape), start=Integer(1))


# --- nodes ----------------------------------------------------------------------------------------------------------


@singledispatch
def node_operations(node: Array) -> Flops:
    """Return the operations of one node, without those of its operands.

    Units        FLOPs, 2 for one multiply-add
    Raises       TypeError for a node or a formula that no rule counts
    """
    kind = type(node).__name__
    raise TypeError(f"operations of {node}: no rule counts a {kind}; register one with `node_operations`")


_REPEATED = (RowBroadcast, ColumnBroadcast)
_MOVED = (
    Variable,
    Explicit,
    Member,
    Transpose,
    Concatenate,
    ColumnBlock,
    Interleave,
    Lookup,
    ColumnConcatenation,
    ColumnRange,
)
_CHOSEN = (BandMask, MaskConjunction, OneHot, Pick, EveryOther, Windows, PlacedBlock)
_ROWS = (RowRange, PlacedRows, Stacked, Chosen, RelativeBuckets)
_ROUTED = (TopK, TopKMask, BatchTranspose)
for _free in (*_REPEATED, *_MOVED, *_CHOSEN, *_ROUTED, *_ROWS):
    node_operations.register(_free, lambda node: Flops())


@node_operations.register
def _(node: Product) -> Flops:
    left, right = node.args
    return Flops(matmul=2 * entries(left.shape) * entries(right.shape[1:]))


@node_operations.register(RoutedProduct)
@node_operations.register(RoutedOuter)
def _(node: RoutedProduct | RoutedOuter) -> Flops:
    return Flops(matmul=2 * entries(node.args[0].shape) * total(node.shape[-1]))  # one matrix for each row


def summed_entries(node: Array) -> Expr:
    """Return the number of entries of a product whose first term needs no addition.

    Definition   all entries; none for a `RoutedOuter`, whose products are all added into a table, row by row
    """
    return Integer(0) if isinstance(node, RoutedOuter) else entries(node.shape)


def is_outer_product(node: Array) -> bool:
    """Return whether a node is an outer product v w^T, written as a repeated column times a repeated row.

    The gradient of a matrix-vector product by the matrix has this form; it counts as a matrix product.
    """
    return isinstance(node, Hadamard) and {type(operand) for operand in node.args} == {ColumnBroadcast, RowBroadcast}


@node_operations.register
def _(node: Hadamard) -> Flops:
    if is_outer_product(node):
        return Flops(matmul=2 * entries(node.shape))
    return Flops(elementwise=_count(node, _axes(node)))


@node_operations.register(Plus)
@node_operations.register(Scaled)
@node_operations.register(Elementwise)
@node_operations.register(Tabulated)
def _(node: Array) -> Flops:
    kind, operations = _entrywise(node)
    return Flops(**{kind: sum((_count(node, along) for along in operations), Integer(0))})


def visible_operations(node: Array, pairs: Expr) -> Flops | None:
    """Return the operations of a node at the given number of pairs of positions, or None for a node without pairs.

    Definition   an elementwise operation counts once for each pair, a softmax 5, the sums of rows one addition
    """
    if isinstance(node, RowSoftmax):
        return Flops(softmax=5 * pairs)
    if isinstance(node, RowSum):
        return Flops(reduction=pairs + (entries(node.shape) if isinstance(node, RowMean) else 0))
    if isinstance(node, Contraction):
        return _at_pairs(node, pairs)
    if not isinstance(node, Plus | Scaled | Hadamard | Elementwise | Tabulated) or len(node.shape) != 2:
        return None
    if is_outer_product(node):
        return None  # a product; `flop_passes` counts its pairs
    kind, operations = _entrywise(node)
    counts = (pairs if along == {0, 1} else _count(node, along) for along in operations)
    return Flops(**{kind: sum(counts, Integer(0))})


def _at_pairs(node: Contraction, pairs: Expr) -> Flops | None:
    """Return the operations of a contraction at `pairs` of its entries, or None if they are not separate sums."""
    along, _ = placed(node)
    read = {s for _, places in node.operands for place in places for s in place.free_symbols}
    if along or len(node.shape) != 2 or not read.issuperset(node.indices):
        return None
    return node_operations(node).times(pairs / entries(node.shape))


def product_flops(multiply_adds: Expr, sums: Expr, convention: Convention) -> Flops:
    """Return the operations of products with the given numbers of multiply-adds and of sums (entries of the result).

    Definition   2 for each multiply-add; under "2k-1" 1 less for each sum, because its first term needs no addition
    """
    if convention.unit == "mac":
        return Flops(matmul=multiply_adds)
    return Flops(matmul=2 * multiply_adds - (sums if convention.products == "2k-1" else 0))


def _entrywise(node: Array) -> tuple[str, Iterator[Axes]]:
    """Return the kind of an elementwise node, and for each of its operations the axes that the operands vary along."""
    if isinstance(node, Elementwise):
        function, *arrays = node.args
        return "activation", _formula(function.formula, map(_axes, arrays))
    if isinstance(node, Tabulated):
        return "elementwise", _formula(node.args[0], (frozenset({k}) for k in range(len(node.shape))))
    if isinstance(node, Plus):
        # - 1 b^T subtracts a vector from every row: a bias as well
        unsigned = (a.args[1] if isinstance(a, Scaled) and a.args[0] == -1 else a for a in node.args)
        return "bias" if any(isinstance(a, RowBroadcast) for a in unsigned) else "elementwise", iter([_axes(node)])
    free = isinstance(node, Scaled) and node.args[0] in (1, -1)
    return "elementwise", iter([] if free else [_axes(node)])


def _formula(formula: Lambda, axes: Iterable[Axes]) -> Iterator[Axes]:
    """Yield the axes that each operation of a formula varies along, from the axes of the formula's variables."""
    return _operations(formula.expr, dict(zip(formula.variables, axes, strict=True)))


@node_operations.register
def _(node: RowSoftmax) -> Flops:
    return Flops(softmax=5 * entries(node.shape))  # maximum, difference, exp, sum, quotient


@node_operations.register
def _(node: RowExponentials) -> Flops:
    return Flops(softmax=3 * entries(node.shape))  # maximum, difference, power


@node_operations.register
def _(node: Normalised) -> Flops:
    # one quotient for each entry; the sum of the row is a node of its own
    return Flops(softmax=entries(node.shape))


@node_operations.register
def _(node: RowLogSumExp) -> Flops:
    # m + log sum exp(x - m): maximum, difference, exp and sum for each entry, log and + m for each row.
    return Flops(softmax=4 * entries(node.args[0].shape) + 2 * entries(node.shape))


@node_operations.register
def _(node: RowMax) -> Flops:
    return Flops(reduction=entries(node.args[0].shape))


@node_operations.register
def _(node: Contraction) -> Flops:
    """Count the products and the addition of each term of a contraction. One that only moves entries is free."""
    along, table = placed(node)
    read = {s for _, places in node.operands for place in places for s in place.free_symbols} | table.free_symbols
    kept = {s for each in along.values() for s in each.symbols}  # sums with one term for each place
    terms = prod((count for s, count in node.counts.items() if s in read and s not in along), start=Integer(1))
    factors = [f for f in Mul.make_args(table) if f not in (1, -1) and not isinstance(f, KroneckerDelta)]
    products = max(len(node.operands) - 1, 0) + (1 if factors else 0)
    if not any(s in read and s not in kept for s, _ in node.sums):
        return Flops(elementwise=products * terms)
    # a term is its products and one addition
    return Flops(matmul=(products + 1) * terms) if products else Flops(reduction=terms)


@node_operations.register(ScatterRows)
@node_operations.register(AddedWindows)
@node_operations.register(AddedEntries)
@node_operations.register(AddedPicks)
def _(node: Array) -> Flops:
    return Flops(reduction=entries(node.args[0].shape))


@node_operations.register
def _(node: Recurrence) -> Flops:
    """Count an exponential for every decay, and a product and a sum for every entry of a state but the first.

    A matrix of rank one adds a product of a row and a state, and as many products and sums again.
    """
    logarithms, added = node.args[:2]
    later = 1 - 1 / total(node.shape[0])  # the first position takes over what it adds
    work = expand(2 * entries(added.shape) * later)
    return Flops(
        matmul=work if node.factors else Integer(0),
        activation=expand(entries(logarithms.shape) * later),
        elementwise=2 * work if node.factors else work,
    )


@node_operations.register
def _(node: SumOver) -> Flops:
    return Flops(reduction=entries(node.shape) * total(node.args[2]))


@node_operations.register
def _(node: RowSum) -> Flops:
    return Flops(reduction=entries(node.args[0].shape))


@node_operations.register
def _(node: RowMean) -> Flops:
    return Flops(reduction=entries(node.args[0].shape) + entries(node.shape))


def _axes(node: Array) -> Axes:
    """Return the axes along which the entries of a node differ; repeated rows or columns are equal along one axis."""
    if isinstance(node, RowBroadcast):
        # the rows are repeated along a new first axis, so the axes of the operand move by one
        return frozenset(k + 1 for k in _axes(node.args[0]))
    if isinstance(node, ColumnBroadcast):
        return _axes(node.args[0])
    if isinstance(node, Tabulated) and len(node.args[0].variables) == len(node.shape):
        formula = node.args[0]
        return frozenset(k for k, place in enumerate(formula.variables) if place in formula.expr.free_symbols)
    if isinstance(node, Contraction) and node.is_move:
        array, places = node.operands[0]
        read = [places[k].free_symbols for k in _axes(array)]
        return frozenset(k for k, index in enumerate(node.indices) if any(index.free_symbols & own for own in read))
    if isinstance(node, Plus | Scaled | Hadamard | Elementwise | MaskConjunction):
        return frozenset().union(*(_axes(operand) for operand in node.args if isinstance(operand, Array)))
    return frozenset(range(len(node.shape)))


def _count(node: Array, axes: Axes) -> Expr:
    return entries(node.shape[k] for k in axes)


# --- formulas -------------------------------------------------------------------------------------------------------


def count_operations(formula: Expr) -> int:
    """Return the number of operations of a formula in its symbols, by `CONVENTION`.

    Units        FLOPs for one evaluation
    Raises       TypeError for a formula with a part that has no rule
    """
    return sum(1 for _ in _operations(formula, dict.fromkeys(formula.free_symbols, frozenset())))


def _operations(formula: Expr, axes: Mapping[Expr, Axes]) -> Iterator[Axes]:
    """Yield the axes that the operands of each operation vary along; symbols without axes are constants."""
    if not formula.free_symbols & axes.keys() or formula in axes:
        return
    if isinstance(formula, Mul | Pow):
        yield from _product(Mul.make_args(formula), axes)
        return
    if isinstance(formula, Add | Max | Min):
        variable = [term for term in formula.args if term.free_symbols & axes.keys()]
        yield from _joined(variable, len(variable) < len(formula.args), axes)
    elif isinstance(formula, Iverson | Piecewise | ExprCondPair | BooleanFunction):
        pass  # the choice is free; its comparisons and branches are counted below
    elif isinstance(formula, Function | Relational):
        yield _along(formula, axes)
    else:
        kind = type(formula).__name__
        raise TypeError(f"operations of {formula}: no rule counts {kind}; write it with sums, products and functions")
    for part in formula.args:
        yield from _operations(part, axes)


def _product(factors: Iterable[Expr], axes: Mapping[Expr, Axes]) -> Iterator[Axes]:
    """Yield the operations of a product: the multiplications and divisions, then the powers and their arguments."""
    variable = [factor for factor in factors if factor.free_symbols & axes.keys()]
    constant = Mul(*(factor for factor in factors if factor not in variable))
    inverted = all(isinstance(f, Pow) and f.exp.could_extract_minus_sign() for f in variable)  # 1/x: one division
    yield from _joined(variable, inverted or constant not in (1, -1), axes)
    for factor in variable:
        if not isinstance(factor, Pow):
            yield from _operations(factor, axes)
            continue
        base, power = factor.args
        yield from [_along(factor, axes)] * _power(power)
        yield from chain(_operations(base, axes), _operations(power, axes))


def _power(power: Expr) -> int:
    """Return the number of operations of a power: |p| - 1 for x^p, |p| for x^(p/2) with odd p, else 1."""
    # The sign is free here: `_product` counts the division for a negative power.
    if isinstance(power, Rational) and power.q in (1, 2):
        return abs(power.p) - 1 + (power.q - 1)
    return 1


def _joined(operands: Iterable[Expr], with_constant: bool, axes: Mapping[Expr, Axes]) -> Iterator[Axes]:
    """Yield the operations that combine operands two by two, those that vary along the fewest axes first."""
    extents = sorted((_along(operand, axes) for operand in operands), key=lambda extent: (len(extent), sorted(extent)))
    # This order is the cheapest: a scalar times a row vector is done once, not once for each row.
    joined = extents[0]
    if with_constant:
        yield joined
    for extent in extents[1:]:
        joined |= extent
        yield joined


def _along(formula: Expr, axes: Mapping[Expr, Axes]) -> Axes:
    return frozenset().union(*(axes[s] for s in formula.free_symbols if s in axes))
