"""Tapes: the residuals that a forward pass saves for the backward pass, for gradients that a program can run.

The equations of a gradient define the computed values; a program must also know which values are saved. `with_tapes`
adds a tape for every applied layer that is pulled back: the saved values of its forward pass, which the backward pass
then need not compute again. `forward_pass` and `backward_pass` are the two halves of the gradient of an applied layer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sympy import Basic, Expr, Integer, Symbol
from sympy.core.symbol import Str

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.expression import Array, Shape, Variable
from derivations.language.differentiation.preparation import prepared, read_by
from derivations.language.differentiation.pullback import Pullback
from derivations.language.differentiation.reverse import passes
from derivations.language.layers.layer import Apply, Equation, Gradient, Layer, Repeat
from derivations.language.layers.names import fresh_name

__all__ = ["Pulled", "Tape", "backward_pass", "forward_pass", "is_gradient", "pulled", "with_tapes"]


class Tape(Array):
    """The residuals that the forward pass of an applied layer saves."""

    def _infer(self) -> Shape:
        return ()

    @property
    def kind(self) -> str:
        """The kind "tape": a tape is not an array of numbers."""
        return "tape"

    @property
    def applied(self) -> Apply:
        """The applied layer."""
        return self.args[0]


class Pulled(Array):
    """A pullback that reads a tape. Its arguments are the tape, the output gradient, a name and the layer's data."""

    holds_arguments = True

    def _infer(self) -> Shape:
        layer = self.layer
        return next(v.shape for v in (*layer.inputs, *layer.parameters) if v.name == self.name)

    @property
    def call(self) -> tuple[Any, ...]:
        """All arguments except the name. They are equal for all results of one call of the backward pass."""
        return (*self.args[:2], *self.args[3:])

    def sibling(self, name: str) -> Pulled:
        """Return the result of the same call for the input or parameter `name`."""
        return self.func(*self.args[:2], Str(name), *self.args[3:])

    @property
    def name(self) -> str:
        """The name of the input or parameter whose gradient this is."""
        return self.args[2].name

    @property
    def part(self) -> str:
        """The name of the applied part, which is the prefix of the names of its weights."""
        return self.args[3].name

    @property
    def layer(self) -> Layer:
        """The layer that was applied."""
        return self.args[4]

    @property
    def bound(self) -> dict[str, Array]:
        """The parameters that were bound to arrays."""
        return {name.name: value for name, value in self.args[5]}

    @property
    def count(self) -> Expr:
        """The number of layers of a repetition, 0 for one layer."""
        return self.args[6]


def pulled(node: Basic, over: Symbol | None = None) -> list[tuple[Pulled, Symbol | None]]:
    """Return the pullbacks with tapes in an expression, left to right, each with the index of its family."""
    if not isinstance(node, Array):
        return []
    if isinstance(node, Pulled):
        # the cotangent first: it may itself be the result of another pullback
        return [*pulled(node.args[1], over), (node, over)]
    inner = node.args[1] if isinstance(node, Concatenate | SumOver) else over
    return [found for part in node.args for found in pulled(part, inner)]


def is_gradient(layer: Layer) -> bool:
    """Return whether a layer pulls gradients back through other layers."""
    return any(equation.value.has(Pullback) for equation in layer.equations)


@lru_cache(maxsize=256)
def with_tapes(layer: Layer) -> Layer:
    """Return a layer with a tape for every applied layer that is pulled back."""
    equations = _taped(layer.equations, set(layer.shapes))
    return layer.func(layer.name, layer.inputs, layer.parameters, equations, layer.outputs)


def _taped(equations: Any, taken: set[str], needed: set[Apply] | None = None) -> list[Equation]:
    run = {node.applied for e in equations for node in e.nodes(Pullback)} if needed is None else needed
    tapes: dict[Apply, Variable] = {}
    result: list[Equation] = []
    for equation in equations:
        changed = {node: _reading(tapes[node.applied], node) for node in equation.nodes(Pullback)}
        value = equation.value.xreplace(changed) if changed else equation.value
        result.append(Equation(equation.target, value, *(equation.over or ())))
        # equal applications have equal values, so one tape serves all their pullbacks
        if equation.value in run and equation.value not in tapes:
            tape = Variable(fresh_name(f"{equation.value.name}_tape", taken), (), "tape")
            tapes[equation.value] = tape
            result.append(Equation(tape, Tape(equation.value)))
    return result


def _reading(tape: Variable, node: Pullback) -> Pulled:
    """Return a pullback in the form that reads a tape."""
    applied = node.applied
    count = applied.count if isinstance(applied, Repeat) else Integer(0)
    return Pulled(tape, node.cotangent, node.args[2], applied.args[0], applied.layer, applied.args[3], count)


@lru_cache(maxsize=256)
def _halves(layer: Layer) -> tuple[list[Equation], list[Equation], tuple[Variable, ...]]:
    """Return the forward and the backward equations with tapes, and the variables that the forward pass saves."""
    both = passes(layer)
    taken = {*layer.shapes, *(e.variable.name for e in (*both.forward, *both.backward)), *(v.name for v in both.given)}
    run = {node.applied for e in both.backward for node in e.nodes(Pullback)}
    whole = _taped((*_until_output(layer, both.forward), *both.backward), taken, run)
    backward_variables = {e.variable for e in both.backward}
    forward = [e for e in whole if e.variable not in backward_variables]
    backward = [e for e in whole if e.variable in backward_variables]
    read = set().union(*(read_by(e.value) for e in backward)) if backward else set()
    # gradients given from outside are read too, but they are not saved by the forward pass
    kept = {*layer.inputs, *(e.variable for e in forward)}
    ordered = (*layer.inputs, *(e.variable for e in forward))
    return forward, backward, tuple(v for v in dict.fromkeys(ordered) if v in read & kept)


def _until_output(layer: Layer, forward: tuple[Equation, ...]) -> tuple[Equation, ...]:
    """Return the forward equations, including those that only the output needs and the backward pass does not."""
    wanted = {*layer.outputs, *(e.variable for e in forward)}
    kept = []
    for equation in reversed(prepared(layer).equations):
        if equation.variable in wanted:
            kept.append(equation)
            wanted |= read_by(equation.value)
    return tuple(kept[::-1])


def forward_pass(layer: Layer) -> tuple[Layer, tuple[Variable, ...]]:
    """Return the forward pass of a layer as a layer, and the variables that it saves for the backward pass."""
    forward, _, saved = _halves(layer)
    return Layer(f"{layer.name}_forward", layer.inputs, layer.parameters, forward, layer.outputs), saved


def backward_pass(layer: Layer) -> tuple[Gradient, tuple[Variable, ...]]:
    """Return the backward pass as a layer, which takes the gradient for the output and the saved variables."""
    _, backward, saved = _halves(layer)
    both = passes(layer)
    return Gradient(f"{layer.name}_backward", (*both.given, *saved), layer.parameters, backward, both.outputs), saved
