"""Gradients of parts that are repeated or in a family: each gets an equation, and its layer's gradient is optimised.

Definition   a pullback inside an expression gets an equation of its own, of a family where it depends on its index;
             inside a family the arrays that it reads get names too, so that all of their members exist as arrays
Result       the pullbacks of one application, through one gradient of its output, are the results of one call of the
             gradient of its layer
Assumes      a pullback that reads the indices of two families stays in its expression: it gets no name
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Symbol
from sympy import Tuple as Sequence

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.arrays.shapes import Axis
from derivations.language.differentiation.pullback import Pullback
from derivations.language.layers.layer import Equation, Gradient, Layer
from derivations.language.layers.names import fresh_name, is_name

__all__ = ["pulled_layers", "with_named_pullbacks"]

Family = tuple[Symbol, Axis]


def pulled_layers(layer: Layer) -> Iterator[Layer]:
    """Yield the layers that a layer pulls gradients back through, each once."""
    pullbacks = (node for e in layer.equations for node in sorted(e.value.atoms(Pullback), key=str))
    yield from dict.fromkeys(node.applied.layer for node in pullbacks)


def with_named_pullbacks(layer: Gradient) -> Gradient:
    """Return a gradient with the same values in which every pullback is the right-hand side of an equation."""
    if not any(e.value.has(Pullback) for e in layer.equations):
        return layer
    writer = _Writer(layer)
    for equation in layer.equations:
        writer.write(equation)
    return Gradient(layer.name, layer.inputs, layer.parameters, writer.equations, layer.outputs)


class _Writer:
    """Collects the equations of a gradient and, before each of them, those of the pullbacks in it."""

    def __init__(self, layer: Layer) -> None:
        self.equations: list[Equation] = []
        self.taken = set(layer.shapes)
        self.known: dict[tuple[Array, Family | None], Array] = {}

    def write(self, equation: Equation) -> None:
        value, over = equation.value, equation.over
        # it is the whole right-hand side, so it has a name already
        if isinstance(value, Pullback) and _of_members(value, over) == over:
            value = self._of_names(value, over)
        else:
            value = self._written(value, over)
        self.equations.append(Equation(equation.target, value, *(over or ())))

    def _written(self, node: Array, over: Family | None) -> Array:
        """Return an expression in which variables replace the pullbacks."""
        if not isinstance(node, Array) or not node.has(Pullback):
            return node
        if isinstance(node, Pullback):
            return self._named(self._of_names(node, _of_members(node, over)), over, f"{node.applied.name}.d{node.name}")
        inner = over
        if isinstance(node, Concatenate | SumOver):
            inner = node.args[1:]
            # the pullback reads the indices of two families, and no variable has both
            if over is not None and any(over[0] in each.free_symbols for each in node.atoms(Pullback)):
                return node
        written: Array = node.func(*(self._written(a, inner) if isinstance(a, Array) else a for a in node.args))
        return written

    def _of_names(self, node: Pullback, over: Family | None) -> Pullback:
        """Return the pullback with names for the arguments that differ from member to member."""
        if over is None:
            return node
        applied = node.applied

        def name(each: Array, wanted: str) -> Array:
            is_member = is_name(each) and isinstance(each, Member) and each.args[1] == over[0]
            return each if is_member or over[0] not in each.free_symbols else self._named(each, over, wanted)

        pairs = zip(applied.layer.inputs, applied.arguments, strict=True)
        arguments = Sequence(*(name(each, f"{applied.name}.{v.name}") for v, each in pairs))
        bound = Sequence(*(Sequence(key, name(each, f"{applied.name}.{key}")) for key, each in applied.args[3]))
        cotangent = name(node.cotangent, f"{applied.name}.d{applied.layer.output.name}")
        return Pullback(applied.func(*applied.args[:2], arguments, bound, *applied.args[4:]), cotangent, node.args[2])

    def _named(self, value: Array, over: Family | None, wanted: str) -> Array:
        over = _of_members(value, over)
        # equal pullbacks get one name, and are computed once
        if (value, over) not in self.known:
            shape = (over[1], *value.shape) if over else value.shape
            variable = Variable(fresh_name(wanted, self.taken), shape)
            target = Member(variable, over[0]) if over else variable
            self.equations.append(Equation(target, value, *(over or ())))
            self.known[value, over] = target
        return self.known[value, over]


def _of_members(value: Array, over: Family | None) -> Family | None:
    """Return the family of a value, or None where all members have the same value."""
    return over if over is not None and over[0] in value.free_symbols else None
