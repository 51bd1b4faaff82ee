"""Preparation of a layer for its gradient: the same values, with a name for every value of the backward pass.

Parts without weights are written out, so that the rules see the attention inside the heads. Every value that a rule
needs gets a separate equation, and so does every applied part and each of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sympy import Symbol

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.exponentials import RowMax
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
    Variable,
)
from derivations.language.arrays.functions import Elementwise, Hadamard, RowLogSumExp, RowSoftmax
from derivations.language.arrays.routing import RoutedOuter, RoutedProduct
from derivations.language.arrays.shapes import Axis
from derivations.language.differentiation.pullback import Pullback
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat
from derivations.language.layers.names import fresh_name

__all__ = ["prepared", "read_by"]

_KEEPS_OPERANDS = (
    Product,
    Hadamard,
    Elementwise,
    RowLogSumExp,
    RoutedProduct,
    RoutedOuter,
)  # their rules need the values of the operands
_KEEPS_VALUE = (RowSoftmax, RowMax)  # the rule of a softmax needs its value; that a maximum cancels is seen by name
_TRANSPARENT = (Transpose, Scaled, RowBroadcast, ColumnBroadcast)  # cheap to compute again from a named array


def read_by(node: Array) -> set[Variable]:
    """Return the variables that an expression reads, without those inside applied layers."""
    if isinstance(node, Variable):
        return {node}
    if isinstance(node, Apply):
        operands: tuple[Array, ...] = (*node.arguments, *node.bound.values())
    else:
        operands = tuple(part for part in node.args if isinstance(part, Array))
    return {variable for operand in operands for variable in read_by(operand)}


def prepared(layer: Layer) -> Layer:
    """Return a layer with the same values, whose equations the adjoint rules can differentiate one by one."""
    taken = set(layer.shapes)
    equations: list[Equation] = []
    for equation in layer.equations:
        equations += _written_out(equation, taken)
    named: list[Equation] = []
    for equation in equations:
        named += _Naming(equation, taken).equations()
    return Layer(layer.name, layer.inputs, layer.parameters, _maxima_once(named, layer.outputs), layer.outputs)


def _maxima_once(equations: Iterable[Equation], outputs: tuple[Variable, ...]) -> Iterator[Equation]:
    """Yield the equations with one name for equal row maxima, so that a maximum subtracted twice may cancel."""
    names: dict[Array, Variable] = {}
    other: dict[Array, Array] = {}
    for equation in equations:
        value = replace_free(equation.value, other) if other else equation.value
        if isinstance(value, RowMax) and not equation.over and equation.variable not in outputs:
            first = names.setdefault(value, equation.variable)
            if first != equation.variable:
                other[equation.variable] = first
                continue
        yield Equation(equation.target, value, *(equation.over or ()))


# --- parts without weights ------------------------------------------------------------------------------------------


def has_weights(applied: Apply) -> bool:
    """Return whether an applied layer, or one of its parts, has weights that are not bound here."""
    layer = applied.layer
    own = bool(applied.own_parameters)
    return own or any(has_weights(part) for part in layer.parts.values())


def _written_out(equation: Equation, taken: set[str]) -> list[Equation]:
    """Write out the parts of an equation that have no weights. Return their equations, then the rewritten equation."""
    before: list[Equation] = []

    def visit(node: Array) -> Array:
        if isinstance(node, Concatenate | SumOver) or not isinstance(node, Array) or not node.args:
            return node
        if isinstance(node, Apply):
            # the weights of a part belong to it: written out, they would have no owner
            inlined = not isinstance(node, Repeat) and not has_weights(node) and _fits(node.layer, equation)
            return _inline(node, equation.over, taken, before) if inlined else node
        return node.func(*(visit(part) if isinstance(part, Array) else part for part in node.args))

    value = visit(equation.value)
    if isinstance(equation.value, Apply) and before and before[-1].target == value and before[-1].over == equation.over:
        value = before.pop().value  # the output of the part takes the name of the equation's target
    return [*before, Equation(equation.target, value, *(equation.over or ()))]


def _fits(layer: Layer, equation: Equation) -> bool:
    """Return whether a layer can be written out into an equation: a family inside a family cannot be written."""
    return equation.over is None or all(inner.over is None for inner in layer.equations)


def _of_members(value: Array, over: tuple[Symbol, Axis] | None) -> tuple[Symbol, Axis] | None:
    """Return the family of a value, or None if the value is equal for all members, such as the angles of positions."""
    return over if over is not None and over[0] in value.free_symbols else None


def _inline(node: Apply, over: tuple[Symbol, Axis] | None, taken: set[str], before: list[Equation]) -> Array:
    """Append the equations of an applied layer to `before`, under fresh names; return its output."""
    layer = node.layer
    known: dict[Variable, Array] = dict(zip(layer.inputs, node.arguments, strict=True))
    # without weights of its own, every parameter of the part is bound
    known |= {p: node.bound[p.name] for p in layer.parameters}
    for inner in layer.equations:
        for equation in _written_out(inner, taken):
            own, value = equation.variable, replace_free(equation.value, known)
            family = equation.over or _of_members(value, over)
            variable = Variable(fresh_name(own.name, taken), (*([family[1]] if family else []), *value.shape), own.kind)
            target = Member(variable, family[0]) if family else variable
            before.append(Equation(target, value, *(family or ())))
            known[own] = variable if equation.over else target
    return known[layer.output]


# --- names for values -----------------------------------------------------------------------------------------------


class _Naming:
    """Names the values inside one equation that the adjoint rules need."""

    def __init__(self, equation: Equation, taken: set[str]) -> None:
        self.equation, self.taken = equation, taken
        self.before: list[Equation] = []

    def equations(self) -> list[Equation]:
        """Return the equations of the values that the equation needs, then the equation itself."""
        value = self.named_inside(self.equation.value)
        return [*self.before, Equation(self.equation.target, value, *(self.equation.over or ()))]

    def named_inside(self, node: Array) -> Array:
        """Return the node, with its operands named if its adjoint rule needs their values."""
        if isinstance(node, Concatenate | SumOver):  # its body is the general member of another family
            return node if _plain(node.args[0]) else self.family_member(node)
        if isinstance(node, Apply):
            return self.applied(node)
        if isinstance(node, Pullback):
            return node
        keep: Callable[[Array], Array] = self.saved if _keeps_operands(node) else self.inner
        return _mapped(keep, node)

    def inner(self, node: Array) -> Array:
        """Return an operand whose value its node does not need. It is named if it is a softmax, a maximum or a part."""
        node = self.named_inside(node)
        return self.name(node) if isinstance(node, (*_KEEPS_VALUE, Apply)) else node

    def saved(self, node: Array) -> Array:
        """Return an operand whose value is needed: a named array, maybe broadcast, scaled or transposed."""
        if isinstance(node, _TRANSPARENT) or (isinstance(node, Contraction) and node.is_move):
            return _mapped(self.saved, node)
        node = self.inner(node)
        return node if _plain(node) or not read_by(node) else self.name(node)

    def applied(self, node: Apply) -> Array:
        arguments = node.args[2].func(*(self.saved(a) for a in node.arguments))
        return node.func(*node.args[:2], arguments, *node.args[3:])

    def family_member(self, node: Array) -> Array:
        """Name the members of a family inside an equation; return the node over the named members."""
        body, over, size = node.args
        variable = Variable(fresh_name(f"{self.equation.variable.name}_1", self.taken), (size, *body.shape))
        self.before += _Naming(Equation(Member(variable, over), body, over, size), self.taken).equations()
        return node.func(Member(variable, over), over, size)

    def name(self, node: Array) -> Array:
        """Write an equation for a value and return its variable, or its member if the value depends on the index."""
        over = _of_members(node, self.equation.over)
        wanted = f"Y_{node.name}" if isinstance(node, Apply) else f"{self.equation.variable.name}_1"
        variable = Variable(fresh_name(wanted, self.taken), (*([over[1]] if over else []), *node.shape), node.kind)
        target = Member(variable, over[0]) if over else variable
        self.before.append(Equation(target, node, *(over or ())))
        return target


def _keeps_operands(node: Array) -> bool:
    """Return whether the rule of a node needs the values of its operands; a contraction of one operand is linear."""
    return isinstance(node, _KEEPS_OPERANDS) or (isinstance(node, Contraction) and len(node.operands) > 1)


def _plain(node: Array) -> bool:
    return isinstance(node, Variable) or (isinstance(node, Member) and _plain(node.args[0]))


def _mapped(change: Callable[[Array], Array], node: Array) -> Array:
    """Return the node with a function applied to its array operands."""
    if isinstance(node, Variable | Member) or not node.args:
        return node
    return node.func(*(change(part) if isinstance(part, Array) else part for part in node.args))
