"""The saved residuals of a layer, found by running it forward: each operation has a rule for the arrays it saves.

Sizes are concrete. No layer is differentiated and no equation of a backward pass is read. A product saves its factors,
an elementwise function the arguments of its slopes, a softmax its value. Views share the storage of their array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, singledispatchmethod
from math import prod

from sympy import Expr, Lambda, Max, Symbol, diff, exp, tanh

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, Explicit, PlacedBlock, SumOver, Tabulated
from derivations.language.arrays.buckets import RelativeBuckets
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Shape,
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
    RowSoftmax,
    RowSum,
)
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.routing import BatchTranspose, RoutedProduct, TopK, TopKMask
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.selection import Chosen, EveryOther, Pick, Windows
from derivations.language.arrays.shapes import total
from derivations.language.counting.memory_counts import SavedResidualCount
from derivations.language.cross_check.arrays import sizes_of
from derivations.language.cross_check.assignment import Assignment, Meaning, NotCovered, meaning, rule, whole
from derivations.language.layers.layer import Apply, Layer, Repeat

__all__ = ["run_saved"]


@rule.register
def _(node: SavedResidualCount) -> Meaning:
    batch = meaning(total(node.batch))
    return lambda assignment: run_saved(
        node.what, node.layer, whole(batch(assignment)), assignment, frozenset(node.recomputed)
    )


def run_saved(
    what: str, layer: Layer, batch: int, assignment: Assignment, recomputed: frozenset[str] = frozenset()
) -> int:
    """Return one count of the saved residuals of a layer at the sizes of an assignment."""
    run = _Forward(assignment, recomputed)
    given = {v.name: run.made(v.shape, v.kind, varies=True, has_slope=v.kind == "real") for v in layer.inputs}
    run.layer(layer, given, layer.name)
    # bytes: 16-bit reals, 8-bit booleans, 64-bit integers
    bytes_of = {"saved residual bytes": {"real": 2, "boolean": 1, "integer": 8}, "saved residual numbers": {"real": 1}}
    bytes_of |= {"saved residual masks": {"boolean": 1}, "saved residual statistics": {"statistic": 1}}
    return batch * sum(held.size * bytes_of[what].get(held.kind, 0) for held in run.saved)


@dataclass(frozen=True, eq=False)
class _Held:
    """An array in memory: its size, its kind, whether it depends on an input and whether it needs a gradient."""

    size: int
    kind: str
    varies: bool
    has_slope: bool


class _Forward:
    """One forward pass, with the set of arrays that its operations save."""

    def __init__(self, assignment: Assignment, recomputed: frozenset[str]) -> None:
        self.assignment, self.recomputed = assignment, recomputed
        self.saved: set[_Held] = set()
        self.known: Mapping[str, _Held] = {}
        self.members = 1  # the number of members of all enclosing families

    def made(self, shape: Shape, kind: str = "real", *, varies: bool, has_slope: bool) -> _Held:
        """Return a new array."""
        return _Held(self.members * prod(sizes_of(shape)(self.assignment)), kind, varies, has_slope)

    def save(self, *arrays: _Held) -> None:
        """Save the arrays that depend on an input; weights and tables stay in memory anyway."""
        self.saved.update(held for held in arrays if held.varies)

    def result(self, node: Array, *operands: _Held) -> _Held:
        """Return the new array that an operation computes from its operands."""
        varies, has_slope = any(o.varies for o in operands), any(o.has_slope for o in operands)
        return self.made(node.shape, node.kind, varies=varies, has_slope=has_slope and node.kind == "real")

    def layer(self, layer: Layer, given: dict[str, _Held], name: str) -> _Held:
        """Run the equations of a layer, unless it is recomputed or is a normalisation, which is one operation."""
        if {name, layer.name} & self.recomputed:
            self.save(*(held for held in given.values() if held.kind != "boolean"))
            return self.result(layer.outputs[0], *given.values())
        sums = [e.value for e in layer.equations if isinstance(e.value, RowSum)]
        if sums and layer.outputs[0].shape == layer.inputs[0].shape and not layer.parts:
            self.save(*(given[v.name] for v in layer.inputs))
            for each in sums:
                self.save(self.made(each.shape, "statistic", varies=True, has_slope=False))
            return self.result(layer.outputs[0], *given.values())
        outside, known = self.known, dict(given)
        for p in layer.parameters:
            known.setdefault(p.name, self.made(p.shape, varies=False, has_slope=True))
        for equation in layer.equations:
            self.known = known
            known[equation.variable.name] = self.family(equation.value, equation.over[1] if equation.over else 1)
        self.known = outside
        return known[layer.outputs[0].name]

    def family(self, body: Array, size: Expr | int) -> _Held:
        """Run all members of a family at once."""
        outside = self.members
        self.members *= whole(meaning(total(size))(self.assignment)) if size != 1 else 1
        held = self.value(body)
        self.members = outside
        return held

    def operands(self, node: Array) -> list[_Held]:
        """Run the operands of a node."""
        return [self.value(part) for part in node.args if isinstance(part, Array)]

    @singledispatchmethod
    def value(self, node: Array) -> _Held:
        """Run one node."""
        raise NotCovered(f"no rule says what {type(node).__name__} saves")

    @value.register
    def _(self, node: Variable) -> _Held:
        return self.known[node.name]

    @value.register(Transpose)
    @value.register(BatchTranspose)
    @value.register(Member)
    @value.register(RowBroadcast)
    @value.register(ColumnBroadcast)
    @value.register(ColumnBlock)
    @value.register(ColumnRange)
    @value.register(Scaled)
    @value.register(Windows)
    @value.register(PlacedRows)
    def _(self, node: Array) -> _Held:
        return self.operands(node)[0]  # the same storage; multiples and padded rows are computed again

    @value.register(RowRange)
    @value.register(EveryOther)
    def _(self, node: Array) -> _Held:
        (held,) = self.operands(node)
        whole_of = node.args[0]
        while isinstance(whole_of, Windows | PlacedRows):
            whole_of = whole_of.args[0]
        return held if isinstance(whole_of, Variable) else self.result(node, held)  # only the chosen rows are computed

    @value.register(Plus)
    @value.register(RowSum)
    @value.register(Interleave)
    @value.register(PlacedBlock)
    @value.register(Stacked)
    @value.register(TopK)
    @value.register(TopKMask)
    @value.register(MaskConjunction)
    @value.register(Tabulated)
    @value.register(Explicit)
    @value.register(BandMask)
    @value.register(RelativeBuckets)
    def _(self, node: Array) -> _Held:
        return self.result(node, *self.operands(node))  # their gradients need no values

    @value.register(Concatenate)
    @value.register(SumOver)
    def _(self, node: Array) -> _Held:
        return self.result(node, self.family(node.args[0], node.args[2]))

    @value.register(Product)
    @value.register(Hadamard)
    def _(self, node: Array) -> _Held:
        left, right = self.operands(node)
        # d(A B) = dA B + A dB: each factor is read by the gradient of the other
        self.save(*([left] if right.has_slope else []), *([right] if left.has_slope else []))
        return self.result(node, left, right)

    @value.register
    def _(self, node: Contraction) -> _Held:
        operands = self.operands(node)
        if node.is_move:
            return operands[0]  # the same storage
        for number, held in enumerate(operands):  # the gradient of one operand reads all the others
            if held.has_slope:
                self.save(*(other for at, other in enumerate(operands) if at != number))
        return self.result(node, *operands)

    @value.register
    def _(self, node: Elementwise) -> _Held:
        arguments = self.operands(node)
        held = self.result(node, *arguments)
        needs = _needs(node.args[0].formula)
        if needs is None:
            self.save(*([held] if held.has_slope else []))
            return held
        for argument, others in zip(arguments, needs, strict=True):
            if argument.has_slope:
                self.save(*(arguments[other] for other in others))
        return held

    @value.register
    def _(self, node: Recurrence) -> _Held:
        decays, added, *factors = self.operands(node)
        held = self.result(node, decays, added, *factors)
        if held.has_slope:
            self.save(decays, *factors)  # the gradient goes in the other direction
        if any(each.has_slope for each in (decays, *factors)):
            self.save(held, *([] if factors else [added]))
        return held

    @value.register
    def _(self, node: RowSoftmax) -> _Held:
        held = self.result(node, *self.operands(node))
        self.save(*([held] if held.has_slope else []))
        return held

    @value.register(RowLogSumExp)
    def _(self, node: Array) -> _Held:
        (argument,) = self.operands(node)
        self.save(*([argument] if argument.has_slope else []))
        return self.result(node, argument)

    @value.register
    def _(self, node: RoutedProduct) -> _Held:
        rows, matrices, numbers = self.operands(node)
        self.save(*([rows, numbers] if matrices.has_slope else []), *([matrices, numbers] if rows.has_slope else []))
        return self.result(node, rows, matrices, numbers)

    @value.register(Lookup)
    @value.register(Chosen)
    @value.register(Pick)
    def _(self, node: Array) -> _Held:
        table, tokens = self.operands(node)
        # the gradient of a look-up adds rows by token number and reads no row
        self.save(*([tokens] if table.has_slope else []))
        return self.result(node, table, tokens)

    @value.register
    def _(self, node: Apply) -> _Held:
        return self.layer(node.layer, self.given(node), node.name)

    @value.register
    def _(self, node: Repeat) -> _Held:
        given, first = self.given(node), node.layer.inputs[0].name
        for _ in range(whole(meaning(node.count)(self.assignment))):
            given = {**given, first: self.layer(node.layer, given, node.name)}
        return given[first]

    def given(self, node: Apply) -> dict[str, _Held]:
        """Evaluate the arguments and the bound weights of a part. Return the results by name."""
        inputs = zip(node.layer.inputs, node.arguments, strict=True)
        known = {variable.name: self.value(array) for variable, array in inputs}
        return known | {name: self.value(array) for name, array in node.bound.items()}


@lru_cache(maxsize=256)
def _needs(formula: Lambda) -> tuple[tuple[int, ...], ...] | None:
    """Return the arguments that each partial derivative depends on, or None if the value determines the derivative."""
    variables, body = formula.variables, formula.expr
    if len(variables) == 1:
        (x,) = variables
        # relu' = [y > 0], exp' = y, tanh' = 1 - y^2, sigmoid' = y (1 - y)
        if body in (Max(0, x), exp(x), tanh(x), 1 / (1 + exp(-x))):
            return None
    brackets = {Symbol(f"bracket_{k}"): part for k, part in enumerate(sorted(body.atoms(Iverson), key=str))}
    plain = body.xreplace({part: name for name, part in brackets.items()})  # a bracket has slope 0 except at its jump
    slopes = (diff(plain, x).xreplace(brackets).free_symbols for x in variables)
    return tuple(tuple(k for k, x in enumerate(variables) if x in slope) for slope in slopes)
