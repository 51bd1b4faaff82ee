"""Grouped heads as one family over pairs (group, head), so that every intermediate of a head has its own name.

Definition   a family a = 1..g of parts that hold families b = 1..r, such as query heads that share keys and values, is
             written as families over the pairs (a, b); what all heads of a group share is repeated for each of them
Result       a layer with the same values whose intermediates can be compared one by one; a layer in another form is
             returned as it is
Assumes      nothing: both layers are run, and where they differ the given one is returned
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Basic, Symbol
from sympy import Tuple as Places

from derivations.language.arrays.arrangements import Concatenate
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.arrays.shapes import Blocks, ShapeError, total
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Apply, Equation, Layer
from derivations.language.layers.names import fresh_name
from numeric.lifting.axes import Index
from numeric.lifting.differential import Run, compiled_value

__all__ = ["heads_together"]

_NEAR = 1e-9  # of two values that are one, in double precision
_SIZES = (3, 5, 2, 7, 4, 6, 9, 8, 11, 10)


class _OtherForm(Exception):
    """The families of a layer are not of the form that is rewritten."""


@lru_cache(maxsize=64)
def heads_together(layer: Layer) -> Layer:
    """Return a layer, written out, with the heads of all groups as one family."""
    if not any(_is_group(equation) for equation in layer.equations):
        return layer
    writer = _Writer(layer)
    try:
        for equation in layer.equations:
            if _is_group(equation):
                writer.group(equation)
            else:
                writer.equations.append(equation)
    except (_OtherForm, ShapeError):  # such as a head that reads the halves of what it shares
        return layer
    found = Layer(layer.name, layer.inputs, layer.parameters, writer.equations, layer.output)
    return found if _same_values(layer, found) else layer


def _is_group(equation: Equation) -> bool:
    return equation.over is not None and isinstance(equation.value, Apply)


class _Writer:
    """Collects the equations of a layer."""

    def __init__(self, layer: Layer) -> None:
        self.equations: list[Equation] = []
        self.taken = {v.name for v in (*layer.inputs, *layer.parameters)} | {e.variable.name for e in layer.equations}

    def group(self, equation: Equation) -> None:
        """Write a family of parts; the last equation defines the variable of the family."""
        assert equation.over is not None
        _Group(self, equation).write()


class _Group:
    """One family of parts, which hold families of one length."""

    def __init__(self, writer: _Writer, equation: Equation) -> None:
        assert equation.over is not None
        self.writer, self.equation = writer, equation
        self.a, self.g = equation.over[0], total(equation.over[1])
        self.inner = inlined(equation.value.layer)
        self.put = dict(zip(self.inner.inputs, equation.value.arguments, strict=True))
        lengths = {total(e.over[1]) for e in self.inner.equations if e.over}
        if len(lengths) != 1 or any(isinstance(e.value, Apply) for e in self.inner.equations):
            raise _OtherForm
        (self.r,) = lengths
        self.pairs = Blocks(self.g, self.r)
        self.i = Symbol(f"{self.a}_pair", integer=True)
        self.families: dict[Variable, Variable] = {}
        self.repeated: dict[Array, Variable] = {}

    def write(self) -> None:
        """Write the equations of the parts."""
        for equation in self.inner.equations:
            last = equation.variable == self.inner.output
            if equation.over is None:
                value = self.of_group(equation.value)
                if not last and not value.has(self.a):  # a table, which is the same for all groups
                    self.put[equation.variable] = self._defined(equation.variable.name, value)
                    continue
                target = self.equation.variable if last else self.named(equation.variable.name, (self.g, *value.shape))
                self.writer.equations.append(Equation(Member(target, self.a), value, self.a, self.g))
                self.put[equation.variable] = Member(target, self.a)
            else:
                value = self.of_head(equation.value, equation.over[0])
                target = self.named(equation.variable.name, (self.pairs, *value.shape))
                self.writer.equations.append(Equation(Member(target, self.i), value, self.i, self.pairs))
                self.families[equation.variable] = target

    def named(self, name: str, shape: Sequence[Any], kind: str = "real") -> Variable:
        """Return a variable with a new name that begins with the name of the family."""
        return Variable(fresh_name(f"{self.equation.variable.name}.{name}", self.writer.taken), shape, kind)

    def of_head(self, value: Array, b: Symbol) -> Array:
        """Return the value of one head: arrays of the head and of its group are replaced by members at a pair."""
        found: Array = self._rewritten(value, lambda node: self._read_by_head(node, b), {b, self.a})
        return found

    def _read_by_head(self, node: Array, b: Symbol) -> Array | None:
        inside = node.args[0] if isinstance(node, Member) and node.args[1] == b else None
        if inside in self.families:
            return Member(self.families[inside], self.i)
        if isinstance(inside, Variable):
            return self._repeat(Member(self.put.get(inside, inside), b), b)
        if isinstance(node, Variable):
            given = self.put.get(node, node)
            return self._repeat(given, b) if given.has(self.a) else given
        return None

    def of_group(self, value: Array) -> Array:
        """Return the value of a group: concatenated heads are replaced by the heads of its pairs side by side."""
        found: Array = self._rewritten(value, self._read_by_group, set())
        return found

    def _read_by_group(self, node: Array) -> Array | None:
        if isinstance(node, Concatenate) and isinstance(node.args[0], Member):
            family, b = node.args[0].args
            if family in self.families and b == node.args[1]:
                return Member(self._side_by_side(self.families[family]), self.a)
        return self.put.get(node, node) if isinstance(node, Variable) else None

    def _rewritten(self, node: Any, read: Any, bound: set[Symbol]) -> Any:
        """Return a tree with the replacements that `read` makes; raise _OtherForm if a bound index remains."""
        if not isinstance(node, Array):
            if isinstance(node, Basic) and node.free_symbols & bound:
                raise _OtherForm
            return node
        found = read(node)
        if found is not None:
            if isinstance(node, Variable) and node in self.families:
                raise _OtherForm
            return found
        return node.func(*(self._rewritten(each, read, bound) for each in node.args))

    def _repeat(self, member: Array, b: Symbol) -> Array:
        """Return a member of a group or of a head as member i of a new array over all pairs (group, head)."""
        if member not in self.repeated:
            base = member
            places: list[Any] = []
            while isinstance(base, Member):
                places.insert(0, base.args[1])
                base = base.args[0]
            if not isinstance(base, Variable) or not set(places) <= {self.a, b}:
                raise _OtherForm
            own = [Symbol(letter, integer=True) for letter, _ in zip("xyzuv", member.shape, strict=False)]
            shape = [self.pairs, *map(total, member.shape)]
            value = contraction([Places(self.a, b), *own], shape, (), 1, operand_of(base, [*places, *own]))
            self.repeated[member] = self._defined(f"{base.name.rpartition('.')[2]}_of_heads", value)
        return Member(self.repeated[member], self.i)

    def _side_by_side(self, family: Variable) -> Variable:
        """Return the heads of every group side by side, as columns."""
        _, rows, columns = family.shape
        b, x, k = (Symbol(letter, integer=True) for letter in "bxk")
        place = Index((self.a, b), (self.g, self.r)).flat
        own, shape = [self.a, x, Places(b, k)], [self.g, total(rows), Blocks(self.r, total(columns))]
        return self._defined(
            f"{family.name.rpartition('.')[2]}_of_groups",
            contraction(own, shape, (), 1, operand_of(family, [place, x, k])),
        )

    def _defined(self, name: str, value: Array) -> Variable:
        variable = self.named(name, value.shape, value.kind)
        self.writer.equations.append(Equation(variable, value))
        return variable


def _same_values(one: Layer, other: Layer) -> bool:
    """Return whether two layers have the same value for random arrays; sizes that are halved are even."""
    arrays = (*one.inputs, *one.parameters)
    symbols = sorted({s for v in arrays for along in v.shape for s in total(along).free_symbols}, key=str)
    sizes = {s: 2 * value if one.has(s / 2) else value for s, value in zip(symbols, _SIZES, strict=False)}
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {}
    for variable in arrays:
        shape = [int(total(along).xreplace(sizes)) for along in variable.shape]
        drawn = rng.standard_normal(shape)
        given[variable.name] = (drawn > -1) if variable.kind == "boolean" else drawn
        if variable.kind == "integer":
            given[variable.name] = rng.integers(0, 2, shape)
    named, scalars = {s.name: value for s, value in sizes.items()}, {s.name: 0.01 for s in one.scalars}
    values = [compiled_value(layer, Run(named, scalars, given)) for layer in (one, other)]
    return bool(np.max(np.abs(values[0] - values[1])) <= _NEAR * max(1.0, float(np.max(np.abs(values[0])))))
