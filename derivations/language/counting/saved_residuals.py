"""Saved residuals: the values of the forward pass of a layer that the equations of its backward pass read.

Three rules bring this into line with automatic differentiation. A normalisation is one operation: it saves its input
and its row statistics, and recomputes the rest. A function whose slope is a function of its value saves the value. A
recomputed layer saves only its inputs, and a mask among them is built or drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from sympy import Expr, Integer, Max, Symbol, exp, expand, tanh

from derivations.language.arrays.arrangements import ColumnBlock
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    RowBroadcast,
    Scaled,
    Shape,
    Transpose,
    Variable,
)
from derivations.language.arrays.functions import Elementwise, Hadamard, Named, RowLogSumExp, RowMean, RowSum
from derivations.language.arrays.routing import BatchTranspose
from derivations.language.arrays.rows import PlacedRows, RowRange
from derivations.language.arrays.selection import EveryOther, Windows
from derivations.language.counting.operations import entries
from derivations.language.differentiation.adjoints import derivative_of
from derivations.language.differentiation.preparation import has_weights, prepared, read_by
from derivations.language.differentiation.pullback import Pullback
from derivations.language.differentiation.reverse import passes
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat
from derivations.language.layers.names import fresh_name

__all__ = ["Storage", "Treatment", "is_normalisation", "storages"]

_STATISTICS = (RowMean, RowSum, RowLogSumExp)  # one number for each row
_ENTRY_BY_ENTRY = (Plus, Scaled, Hadamard, Elementwise, RowBroadcast, ColumnBroadcast, Transpose)
_VIEWS = (  # nodes that share the storage of their operand; a convolution reads `Windows` without storing them
    *(Transpose, BatchTranspose, Member, RowBroadcast, ColumnBroadcast, ColumnBlock, ColumnRange),
    *(RowRange, EveryOther, Windows, PlacedRows),
)
_x = Symbol("x", real=True)
_KEEP_THEIR_VALUE = (Max(0, _x), exp(_x), tanh(_x), 1 / (1 + exp(-_x)))  # slopes [y > 0], y, 1 - y^2, y (1 - y)


@dataclass(frozen=True)
class Storage:
    """Saved arrays of one name: the shape of one array, the kind of its entries, its role, and the number of copies.

    `kind` is "real", "boolean" or "integer". `role` is "input" for an input of the layer, "statistic" for a number that
    a normalisation saves for each row, "constant" for an array that depends on no input, else "activation". The axes of
    families come first in `shape`.
    """

    name: str
    shape: Shape
    kind: str
    role: str
    copies: Expr = Integer(1)

    @property
    def elements(self) -> Expr:
        """The number of entries of all copies."""
        return expand(self.copies * entries(self.shape))


def is_normalisation(layer: Layer) -> bool:
    """Return whether every equation of a layer is a row statistic or elementwise, and both occur."""
    values = [equation.value for equation in layer.equations]
    of_rows = [value.args[0] for value in values if isinstance(value, _STATISTICS)]
    rest = [value for value in values if not isinstance(value, _STATISTICS)]
    return bool(of_rows and rest) and all(map(_is_entry_by_entry, (*of_rows, *rest)))


def _is_entry_by_entry(node: Array) -> bool:
    operands = (part for part in node.args if isinstance(part, Array))
    kept = isinstance(node, _ENTRY_BY_ENTRY) or _is_move(node)
    return isinstance(node, Variable) or (kept and all(map(_is_entry_by_entry, operands)))


def _is_move(node: Array) -> bool:
    return isinstance(node, Contraction) and node.is_move


def _is_view(node: Array) -> bool:
    """Return whether a node shares the storage of its operand."""
    return isinstance(node, _VIEWS) or _is_move(node)


@dataclass(frozen=True)
class Treatment:
    """The choice of layers that are recomputed (by their name or the part's name) or fused into one operation."""

    recomputed: frozenset[str] = frozenset()
    fused: Callable[[Layer], bool] = is_normalisation

    def is_recomputed(self, name: str, layer: Layer) -> bool:
        """Return whether a layer, applied as a part of the given name, is recomputed."""
        return name in self.recomputed or layer.name in self.recomputed


def storages(layer: Layer, treatment: Treatment) -> tuple[Storage, ...]:
    """Return the arrays that the forward pass of a layer saves, in order of evaluation, every storage once.

    Assumes      every real input and every parameter of the layer, and of its parts, has a gradient
    Raises       GradientError for a node without a rule
    """
    inside = _inside(layer, treatment.is_recomputed(layer.name, layer), frozenset(layer.inputs), treatment)
    inputs = [Storage(v.name, v.shape, v.kind, "input") for v in layer.inputs if v in inside.read]
    output = [Storage(v.name, v.shape, v.kind, "activation") for v in layer.outputs if inside.output]
    taken: set[str] = set()
    return tuple(replace(s, name=fresh_name(s.name, taken)) for s in (*inputs, *inside.made, *output))


# --- one layer ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Inside:
    """The saved arrays of a layer: `made` inside it, `read` among its inputs and parameters, and maybe its `output`."""

    made: tuple[Storage, ...]
    read: frozenset[Variable]
    output: bool = False


@lru_cache(maxsize=512)
def _inside(layer: Layer, recomputed: bool, varying: frozenset[Variable], treatment: Treatment) -> _Inside:
    if recomputed:
        # a mask is not saved: the recomputation builds or draws it again
        return _Inside((), frozenset(v for v in (*layer.inputs, *layer.parameters) if v.kind != "boolean"))
    sealed = _sealed(layer, treatment)
    walk = _Walk(prepared(sealed).equations, passes(sealed).backward, set(varying), treatment, treatment.fused(layer))
    walk.run()
    given = frozenset((*layer.inputs, *layer.parameters))
    output = walk.storage_of(layer.outputs[0]) if len(layer.outputs) == 1 else None  # a part has exactly one
    # the output is an array of the caller, who lists it
    made = tuple(storage for variable, storage in walk.made() if variable is None or variable != output)
    return _Inside(made, given & walk.saved, output in walk.saved - given)


@dataclass
class _Walk:
    """Finds the variables of a prepared layer that its backward pass reads, and the arrays that its parts save."""

    forward: tuple[Equation, ...]
    backward: tuple[Equation, ...]
    varying: set[Variable]
    treatment: Treatment
    fused: bool
    saved: set[Variable] = field(default_factory=set)
    parts: dict[Variable, list[Storage]] = field(default_factory=dict)  # by the target of the equation

    def __post_init__(self) -> None:
        self.equations = {e.variable: e for e in self.forward}
        self.slopes = {_slope(e.value): e.variable for e in self.forward if _keeps_its_value(e.value)}
        for equation in self.forward:
            if read_by(equation.value) & self.varying:
                self.varying.add(equation.variable)

    def run(self) -> None:
        """Find the variables that the backward pass reads, and record for each the variable that stores it."""
        read = {v for e in self.backward for v in self.values(e.value)}
        pulled = {node.applied for e in self.backward for node in e.nodes(Pullback)}
        for equation in self.forward:
            if equation.value in pulled:
                pulled.remove(equation.value)  # equal applications share one run
                read |= self.of_part(equation)
        if self.fused:
            read = {source for v in read for source in self.sources(v)}
        self.saved = {self.storage_of(v) for v in read}

    def values(self, node: Array) -> Iterator[Variable]:
        """Yield the variables whose values an expression of the backward pass needs."""
        if isinstance(node, Variable):
            yield node
        elif isinstance(node, Elementwise):
            if node in self.slopes:
                yield self.slopes[node]
                return
            function, *arrays = node.args
            for symbol, array in zip(function.formula.variables, arrays, strict=True):
                # an argument that the slope does not mention is not read
                if symbol in function.formula.expr.free_symbols:
                    yield from self.values(array)
        else:
            operands = (node.cotangent,) if isinstance(node, Pullback) else node.args
            for part in operands:
                if isinstance(part, Array):
                    yield from self.values(part)

    def of_part(self, equation: Equation) -> set[Variable]:
        """Record the arrays that an applied layer saves; return the outer variables that are saved for it."""
        applied, layer = equation.value, equation.value.layer
        given = dict(zip(layer.inputs, applied.arguments, strict=True))
        given |= {p: applied.bound[p.name] for p in layer.parameters if p.name in applied.bound}
        varying = frozenset(v for v, value in given.items() if read_by(value) & self.varying)
        if isinstance(applied, Repeat) and varying:
            # the first layer may get a constant, but its output is the first input of the next
            varying |= {layer.inputs[0]}
        inside = _inside(layer, self.treatment.is_recomputed(applied.name, layer), varying, self.treatment)
        made = list(inside.made)
        if isinstance(applied, Repeat):
            made = [replace(s, copies=s.copies * applied.count) for s in made]
            carried = layer.inputs[0] if layer.inputs[0] in inside.read else layer.output if inside.output else None
            if carried is not None and applied.count != 1:  # the output of each layer is the first input of the next
                made.append(Storage(carried.name, carried.shape, carried.kind, "activation", applied.count - 1))
        around = (equation.over[1],) if equation.over else ()
        constant = {} if equation.variable in self.varying else {"role": "constant"}
        self.parts[equation.variable] = [
            replace(s, name=f"{applied.name}.{s.name}", shape=(*around, *s.shape), **constant) for s in made
        ]
        read = {v for variable, value in given.items() if variable in inside.read for v in read_by(value)}
        return read | {equation.variable} if inside.output else read

    def storage_of(self, variable: Variable) -> Variable:
        """Return the variable that stores the entries of a variable: the operand of a transpose or column block."""
        while variable in self.equations and (
            isinstance(node := self.equations[variable].value, Variable) or _is_view(node)
        ):
            while _is_view(node):
                node = next(part for part in node.args if isinstance(part, Array))
            if not isinstance(node, Variable):
                break
            variable = node
        return variable

    def sources(self, variable: Variable) -> set[Variable]:
        """Return the row statistics and inputs from which an elementwise value is recomputed."""
        equation = self.equations.get(variable)
        if equation is None or isinstance(equation.value, _STATISTICS):
            return {variable}
        return {source for read in read_by(equation.value) for source in self.sources(read)}

    def made(self) -> Iterator[tuple[Variable | None, Storage]]:
        """Yield the saved arrays in order of evaluation, each with its variable, or with None if a part saves it."""
        for equation in self.forward:
            variable = equation.variable
            yield from ((None, storage) for storage in self.parts.get(variable, ()))
            if variable in self.saved:
                role = "statistic" if self.fused and isinstance(equation.value, _STATISTICS) else "activation"
                role = role if variable in self.varying else "constant"
                yield variable, Storage(variable.name, variable.shape, variable.kind, role)


def _keeps_its_value(node: Array) -> bool:
    """Return whether a node is a function whose slope is a function of its value."""
    if not isinstance(node, Elementwise) or len(node.args) != 2:
        return False
    (variable,) = node.args[0].formula.variables
    return node.args[0].formula.expr.xreplace({variable: _x}) in _KEEP_THEIR_VALUE


def _slope(node: Array) -> Array:
    function: Named = node.args[0]
    return derivative_of(function)(*node.args[1:])


# --- parts ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def _sealed(layer: Layer, treatment: Treatment) -> Layer:
    """Return a layer whose parts will not be written out.

    `prepared` writes out parts without weights. To prevent that, such a part gets a weight that no equation reads,
    unless the part is neither recomputed nor fused and has a real argument that depends on no real input or parameter.
    """
    active = {v for v in (*layer.inputs, *layer.parameters) if v.kind == "real"}

    def seal(node: Array) -> Array:
        if isinstance(node, Apply):
            arguments = node.args[2].func(*map(seal, node.arguments))
            real = [a for a in arguments if a.kind == "real"]
            whole = all(read_by(a) & active for a in real)
            chosen = treatment.is_recomputed(node.name, node.layer) or treatment.fused(node.layer)
            inner = node.layer if has_weights(node) or not (whole or chosen) else _with_a_weight(node.layer)
            return node.func(node.args[0], inner, arguments, *node.args[3:])
        if isinstance(node, Variable) or not isinstance(node, Array):
            return node
        return node.func(*map(seal, node.args))

    equations = []
    for equation in layer.equations:
        value = seal(equation.value)
        equations.append(Equation(equation.target, value, *(equation.over or ())))
        if read_by(value) & active or value.has(Apply):
            active.add(equation.variable)
    return Layer(layer.name, layer.inputs, layer.parameters, equations, layer.outputs)


def _with_a_weight(layer: Layer) -> Layer:
    weight = Variable(fresh_name("weight", set(layer.shapes)), (Integer(1),))
    return Layer(layer.name, layer.inputs, (*layer.parameters, weight), layer.equations, layer.outputs)
