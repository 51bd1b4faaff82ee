"""Counts of a layer, found by running it at concrete sizes on labels (tokens) instead of numbers.

Every entry of every array is a label. An operation is counted once for the same operand labels in a node, so that work
on repeated rows and columns counts once, as the convention of `operations` says. The rules that count symbolically are
not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import singledispatchmethod
from itertools import count
from math import prod
from typing import Any

from sympy import Basic, Expr, Symbol

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
from derivations.language.arrays.routing import RoutedProduct, TopK, TopKMask
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.arrays.selection import Chosen, EveryOther, OneHot, Pick, Windows
from derivations.language.arrays.shapes import total
from derivations.language.counting.costs import Count
from derivations.language.cross_check.arrays import bound_to, places_of, sizes_of
from derivations.language.cross_check.assignment import Assignment, Meaning, NotCovered, meaning, rule, whole
from derivations.language.cross_check.contractions import moved, spent_by
from derivations.language.cross_check.formulas import Formula
from derivations.language.layers.layer import Apply, Layer, Repeat

__all__ = ["run_count"]

_LARGEST = 20_000  # entries of arrays in one run
Tokens = dict[tuple[int, ...], int]  # the token of every entry of an array


@rule.register
def _(node: Count) -> Meaning:
    batch = meaning(total(node.batch))
    return lambda assignment: run_count(node.what, node.layer, whole(batch(assignment)), assignment)


def run_count(what: str, layer: Layer, batch: int, assignment: Assignment) -> Any:
    """Return one count of a layer at the sizes of an assignment."""
    if what == "parameters":
        return sum(prod(sizes) for sizes in _weights(layer, "", assignment).values())
    run = _Run(assignment, batch)
    run.layer(layer, {variable.name: (run.fresh(variable), True) for variable in layer.inputs})
    if what == "FLOPs":
        return sum(run.spent.values())
    if what == "multiply-adds":
        # a multiply-add was counted as 2
        return run.spent["matmul"] // 2
    kind = what.removesuffix(" FLOPs")
    return run.spent[kind] + (run.spent["activation"] if kind == "elementwise" else 0)


def _weights(layer: Layer, path: str, assignment: Assignment) -> dict[str, tuple[int, ...]]:
    """Return the sizes of every weight by its full name, so that a part applied twice has its weights once."""
    found = {path + p.name: sizes_of(p.shape)(assignment) for p in layer.parameters}
    for equation in layer.equations:
        for part in _applied(equation.value):
            copies = (
                [f"{k}." for k in range(whole(meaning(part.count)(assignment)))] if isinstance(part, Repeat) else [""]
            )
            for copy in copies:
                inside = _weights(part.layer, f"{path}{part.name}.{copy}", assignment)
                bound = {f"{path}{part.name}.{copy}{name}" for name in part.bound}
                found |= {name: sizes for name, sizes in inside.items() if name not in bound}
    return found


def _applied(node: Basic) -> Iterator[Apply]:
    if isinstance(node, Apply):
        yield node
        inside: tuple[Basic, ...] = (*node.arguments, *node.bound.values())
    else:
        inside = node.args
    for part in inside:
        yield from _applied(part)


def _normalises(layer: Layer) -> bool:
    """Return whether a layer normalises: its own equations take a mean, and output and input have one shape."""
    means = any(_takes_mean(equation.value) for equation in layer.equations)
    shapes = [[total(along) for along in v.shape] for v in (*layer.inputs[:1], layer.output)]
    return means and len(shapes) == 2 and shapes[0] == shapes[1]


def _takes_mean(node: Basic) -> bool:
    inside = (*node.arguments, *node.bound.values()) if isinstance(node, Apply) else node.args
    return isinstance(node, RowMean) or any(map(_takes_mean, inside))


class _Run:
    """One run, which counts operations by kind. An array is a pair: its labels, and whether it depends on an input."""

    def __init__(self, assignment: Assignment, batch: int) -> None:
        self.assignment, self.batch = assignment, batch
        self.spent: Counter[str] = Counter()
        self.names = count()
        self.known: dict[str, tuple[Tokens, bool]] = {}
        self.done = 0

    def fresh(self, node: Array) -> Tokens:
        """Return a new label for every entry of an array of this node's shape."""
        sizes = sizes_of(node.shape)(self.assignment)
        self.done += prod(sizes)
        if self.done > _LARGEST:
            raise NotCovered("a count at sizes too large to run")
        return {place: next(self.names) for place in places_of(sizes)}

    def layer(self, layer: Layer, given: dict[str, tuple[Tokens, bool]]) -> tuple[Tokens, bool]:
        """Run the equations of a layer; in a normalising layer, all operations but products count as "norm"."""
        outside, self.known = self.known, dict(given)
        before = self.spent.copy()
        for p in layer.parameters:
            self.known.setdefault(p.name, (self.fresh(p), False))
        for equation in layer.equations:
            self.known[equation.variable.name] = (
                self.value(equation.value) if equation.over is None else self.family(equation.value, *equation.over)
            )
        result, self.known = self.known[layer.output.name], outside
        if _normalises(layer):
            kinds = self.spent.keys() - {"matmul", "norm"}
            # products keep their kind in a normalising layer
            before["matmul"] = self.spent["matmul"]
            before["norm"] = self.spent["norm"] + sum(self.spent[kind] - before[kind] for kind in kinds)
            self.spent = before
        return result

    def family(self, body: Array, index: Symbol, size: Any) -> tuple[Tokens, bool]:
        """Run the members of a family one after the other; the index is the leading axis."""
        tokens: Tokens = {}
        varies = False
        with bound_to(self.assignment, (index,)) as values:
            for member in range(whole(meaning(total(size))(self.assignment))):
                values[index] = member
                inside, depends = self.value(body)
                varies |= depends
                tokens |= {(member, *place): token for place, token in inside.items()}
        return tokens, varies

    def spend(self, kind: str, number: int, varies: bool) -> None:
        """Count operations, once for each example of the batch when they depend on an input."""
        self.spent[kind] += number * (self.batch if varies else 1)

    def run_parts(self, node: Array) -> bool:
        """Run all operands, and return whether any of them depends on an input."""
        return True in [self.value(part)[1] for part in node.args if isinstance(part, Array)]

    @singledispatchmethod
    def value(self, node: Array) -> tuple[Tokens, bool]:
        """Run one node."""
        raise NotCovered(f"no rule counts {type(node).__name__} by running it")

    @value.register
    def _(self, node: Variable) -> tuple[Tokens, bool]:
        return self.known[node.name]

    @value.register
    def _(self, node: Apply) -> tuple[Tokens, bool]:
        return self.layer(node.layer, self.given(node))

    @value.register
    def _(self, node: Repeat) -> tuple[Tokens, bool]:
        given, first = self.given(node), node.layer.inputs[0].name
        inputs = {variable.name for variable in node.layer.inputs}
        depends = any(varies for name, (_, varies) in given.items() if name in inputs)
        for _ in range(whole(meaning(node.count)(self.assignment))):
            # from the second copy on, the first input is an output: it varies if any input does
            given = {**given, first: (given[first][0], depends)}
            given[first] = self.layer(node.layer, given)
        return given[first]

    def given(self, node: Apply) -> dict[str, tuple[Tokens, bool]]:
        """Run the arguments of a part."""
        inputs = zip(node.layer.inputs, node.arguments, strict=True)
        known = {variable.name: self.value(array) for variable, array in inputs}
        return known | {name: self.value(array) for name, array in node.bound.items()}

    # --- moving entries is free ---

    @value.register(Transpose)
    def _(self, node: Transpose) -> tuple[Tokens, bool]:
        tokens, varies = self.value(node.args[0])
        return {(c, r): token for (r, c), token in tokens.items()}, varies

    @value.register(RowBroadcast)
    def _(self, node: RowBroadcast) -> tuple[Tokens, bool]:
        tokens, varies = self.value(node.args[0])
        rows = range(whole(meaning(total(node.args[1]))(self.assignment)))
        return {(row, *place): token for row in rows for place, token in tokens.items()}, varies

    @value.register(ColumnBroadcast)
    def _(self, node: ColumnBroadcast) -> tuple[Tokens, bool]:
        tokens, varies = self.value(node.args[0])
        columns = range(whole(meaning(total(node.args[1]))(self.assignment)))
        return {(*place, column): token for column in columns for place, token in tokens.items()}, varies

    @value.register(Member)
    def _(self, node: Member) -> tuple[Tokens, bool]:
        tokens, varies = self.value(node.args[0])
        at = whole(meaning(node.args[1])(self.assignment))
        return {place[1:]: token for place, token in tokens.items() if place[0] == at}, varies

    @value.register(Concatenate)
    def _(self, node: Concatenate) -> tuple[Tokens, bool]:
        tokens, varies = self.family(*node.args)
        width = whole(meaning(total(node.args[0].shape[-1]))(self.assignment))
        return {(*rest, block * width + column): t for (block, *rest, column), t in tokens.items()}, varies

    @value.register(Interleave)
    def _(self, node: Interleave) -> tuple[Tokens, bool]:
        (even, first), (odd, second) = map(self.value, node.args)
        tokens = {(*rest, 2 * column): token for (*rest, column), token in even.items()}
        return tokens | {(*rest, 2 * column + 1): token for (*rest, column), token in odd.items()}, first or second

    @value.register(RowRange)
    def _(self, node: RowRange) -> tuple[Tokens, bool]:
        tokens, varies = self.value(node.args[0])
        sizes_of(node.shape)(self.assignment)  # raises if the number of rows is not an integer
        start, number, step = (whole(meaning(total(part))(self.assignment)) for part in node.args[1:])
        rows = {start + step * row: row for row in range(number)}
        return {(rows[row], *rest): token for (row, *rest), token in tokens.items() if row in rows}, varies

    @value.register(Stacked)
    def _(self, node: Stacked) -> tuple[Tokens, bool]:
        (above, first), (below, second) = map(self.value, node.args)
        last = sizes_of(node.args[0].shape)(self.assignment)[0]
        return above | {(last + row, *rest): token for (row, *rest), token in below.items()}, first or second

    @value.register(PlacedRows)
    def _(self, node: PlacedRows) -> tuple[Tokens, bool]:
        tokens, varies = self.value(node.args[0])
        start, step = (whole(meaning(number)(self.assignment)) for number in (node.args[1], node.args[3]))
        placed: Tokens = {(start + step * r, c): token for (r, c), token in tokens.items()}
        # fresh tokens for the rows of zeros
        return {**self.fresh(node), **placed}, varies

    @value.register(Chosen)
    @value.register(EveryOther)
    @value.register(OneHot)
    @value.register(Lookup)
    @value.register(Pick)
    @value.register(TopK)
    @value.register(TopKMask)
    @value.register(ColumnBlock)
    @value.register(PlacedBlock)
    @value.register(MaskConjunction)
    @value.register(ColumnConcatenation)
    @value.register(ColumnRange)
    def _(self, node: Array) -> tuple[Tokens, bool]:
        varies = self.run_parts(node)
        return self.fresh(node), varies

    @value.register(Windows)
    def _(self, node: Windows) -> tuple[Tokens, bool]:
        tokens, varies = self.value(node.args[0])
        starts, columns = sizes_of(node.shape)(self.assignment)
        width = len({place[1] for place in tokens})
        places = places_of((starts, columns))
        return {(s, c): tokens[s + c // width, c % width] for s, c in places}, varies

    @value.register(Recurrence)
    def _(self, node: Recurrence) -> tuple[Tokens, bool]:
        decays, adds, *factors = (self.value(part) for part in (*node.args[:2], *node.factors))
        varies = decays[1] or adds[1] or any(each for _, each in factors)
        for place in adds[0]:
            if place[0] > 0:  # all positions but one have a state before them
                self.spend("elementwise", 2 + len(factors), varies)  # decayed and added; written and added
                self.spend("matmul", len(factors), varies)  # one term of what is read: multiplied and added
        self.spend("activation", sum(place[0] > 0 for place in decays[0]), varies)
        return self.fresh(node), varies

    @value.register(SumOver)
    def _(self, node: SumOver) -> tuple[Tokens, bool]:
        tokens, varies = self.family(*node.args)
        self.spend("reduction", len(tokens), varies)  # one addition for each entry of each member
        return self.fresh(node), varies

    @value.register(BandMask)
    @value.register(RelativeBuckets)
    @value.register(Explicit)
    def _(self, node: Array) -> tuple[Tokens, bool]:
        return self.fresh(node), False

    # --- work ---

    @value.register(Product)
    def _(self, node: Product) -> tuple[Tokens, bool]:
        (left, first), (_, second) = map(self.value, node.args)
        result = self.fresh(node)
        inner = len(left) if len(node.args[0].shape) == 1 else len({place[1] for place in left})
        for _ in result:
            self.spend("matmul", 2 * inner, first or second)  # as many multiplications as additions
        return result, first or second

    @value.register(RoutedProduct)
    def _(self, node: RoutedProduct) -> tuple[Tokens, bool]:
        varies = self.run_parts(node)
        result, inner = self.fresh(node), sizes_of(node.args[0].shape)(self.assignment)[1]
        for _ in result:
            self.spend("matmul", 2 * inner, varies)  # each row meets one matrix
        return result, varies

    @value.register(RowSoftmax)
    def _(self, node: RowSoftmax) -> tuple[Tokens, bool]:
        varies = self.run_parts(node)
        result = self.fresh(node)
        self.spend("softmax", 5 * len(result), varies)
        return result, varies

    @value.register(RowLogSumExp)
    def _(self, node: RowLogSumExp) -> tuple[Tokens, bool]:
        tokens, varies = self.value(node.args[0])
        result = self.fresh(node)
        self.spend("softmax", 4 * len(tokens) + 2 * len(result), varies)  # largest, difference, exp, sum; log and sum
        return result, varies

    @value.register(RowExponentials)
    @value.register(Normalised)
    def _(self, node: Array) -> tuple[Tokens, bool]:
        varies = self.run_parts(node)
        result = self.fresh(node)
        each = 3 if isinstance(node, RowExponentials) else 1  # largest, difference, power; or the quotient
        self.spend("softmax", each * len(result), varies)
        return result, varies

    @value.register(RowMax)
    def _(self, node: RowMax) -> tuple[Tokens, bool]:
        tokens, varies = self.value(node.args[0])
        varies |= any(self.value(mask)[1] for mask in node.args[1:])
        self.spend("reduction", len(tokens), varies)
        return self.fresh(node), varies

    @value.register(Contraction)
    def _(self, node: Contraction) -> tuple[Tokens, bool]:
        if node.is_move:
            tokens, varies = self.value(node.args[5])
            return moved(node, tokens, self.assignment), varies
        varies = self.run_parts(node)
        kind, number = spent_by(node, self.assignment)
        self.spend(kind, number, varies)
        return self.fresh(node), varies

    @value.register(RowSum)
    @value.register(RowMean)
    def _(self, node: RowSum) -> tuple[Tokens, bool]:
        tokens, varies = self.value(node.args[0])
        result = self.fresh(node)
        self.spend("reduction", len(tokens) + (len(result) if isinstance(node, RowMean) else 0), varies)
        return result, varies

    @value.register(Plus)
    def _(self, node: Plus) -> tuple[Tokens, bool]:
        a, b = map(self.value, node.args)
        unsigned = [part.args[1] if isinstance(part, Scaled) and part.args[0] == -1 else part for part in node.args]
        kind = "bias" if any(isinstance(part, RowBroadcast) for part in unsigned) else "elementwise"
        return self.joined(kind, a, b)

    @value.register(Hadamard)
    def _(self, node: Hadamard) -> tuple[Tokens, bool]:
        a, b = map(self.value, node.args)
        return self.joined("elementwise", a, b)

    def joined(self, kind: str, a: tuple[Tokens, bool], b: tuple[Tokens, bool]) -> tuple[Tokens, bool]:
        """Combine two arrays entry by entry. Each new pair of labels counts as one operation."""
        (first, _), (second, _), varies = a, b, a[1] or b[1]
        places = first if len(first) >= len(second) else second
        # () is the one place of a scalar, which is broadcast
        pairs = {place: (first.get(place, first.get(())), second.get(place, second.get(()))) for place in places}
        # equal operand tokens mean equal results: repeated rows are computed once
        new = {pair: next(self.names) for pair in set(pairs.values())}
        self.spend(kind, len(new), varies)
        return {place: new[pair] for place, pair in pairs.items()}, varies

    @value.register(Scaled)
    def _(self, node: Scaled) -> tuple[Tokens, bool]:
        tokens, varies = self.value(node.args[1])
        if node.args[0] in (1, -1):
            return tokens, varies
        new = {token: next(self.names) for token in set(tokens.values())}
        self.spend("elementwise", len(new), varies)
        return {place: new[token] for place, token in tokens.items()}, varies

    @value.register(Elementwise)
    def _(self, node: Elementwise) -> tuple[Tokens, bool]:
        function, *arrays = node.args
        values = [self.value(array) for array in arrays]
        varies = any(v for _, v in values)
        sizes = sizes_of(node.shape)(self.assignment)
        columns = {
            symbol: [tokens.get(place, tokens.get(())) for place in places_of(sizes)]
            for symbol, (tokens, _) in zip(function.formula.variables, values, strict=True)
        }
        kind = "activation" if varies else "elementwise"  # a function of positions activates nothing
        return self.formula(kind, function.formula.expr, columns, sizes, varies), varies

    @value.register(Tabulated)
    def _(self, node: Tabulated) -> tuple[Tokens, bool]:
        sizes = sizes_of(node.shape)(self.assignment)
        symbols = node.args[0].variables
        columns = {symbol: [place[axis] for place in places_of(sizes)] for axis, symbol in enumerate(symbols)}
        return self.formula("elementwise", node.args[0].expr, columns, sizes, False), False

    def formula(
        self, kind: str, formula: Expr, columns: dict[Symbol, list[Any]], sizes: tuple[int, ...], varies: bool
    ) -> Tokens:
        """Run a formula over all entries. Each of its variables is a column of labels."""
        result = Formula(columns, self.names).column(formula)
        self.spend(kind, result[1], varies)
        places = list(places_of(sizes))
        return dict(zip(places, result[0] if result[0] is not None else [next(self.names)] * len(places), strict=True))
