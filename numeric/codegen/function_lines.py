"""The lines of a function: the equations of a layer in order, and the calls of backward passes between them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sympy import Basic

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import shape_text
from derivations.language.differentiation.tape import Pulled, Tape, pulled
from derivations.language.layers.layer import Equation, Gradient, Layer
from numeric.codegen.formula_printer import CompileError
from numeric.codegen.printer import NumPyLayerPrinter
from numeric.runtime.structure import WeightTree, identifier, weight_tree

__all__ = ["Line", "lines_of"]


@dataclass(frozen=True)
class Line:
    """One assignment, with the shapes of its targets as a comment; the last line holds the returned values."""

    left: str
    right: str
    comment: str = ""
    left_is_tape: bool = False


def lines_of(
    of: Layer,
    role: str,
    layer: Layer,
    saved: tuple[Variable, ...],
    names: Mapping[Basic, str],
    printer: NumPyLayerPrinter,
) -> Iterator[Line]:
    """Yield the lines of the function for a layer, or for the forward or backward pass of its gradient.

    Raises       CompileError where a part has no gradient although its gradient is needed
    """
    tape = _tuple([names[v] for v in saved])
    if role == "backward" and saved:
        yield Line(tape, "tape", left_is_tape=True)
    writer = _Writer(layer, names, printer)
    yield from writer.lines()
    returned = [names[v] for v in layer.outputs]
    if role == "forward":
        returned = [*returned, f"({tape})" if saved else "()"]
    elif isinstance(layer, Gradient):
        gradients = writer.weight_gradients(weight_tree(of))
        of_inputs = returned[: len(returned) - len(layer.parameters)]
        of_parameters = returned[len(of_inputs) :]
        if role == "backward":
            keys = [*(identifier(p.name) for p in layer.parameters), *gradients]
            pairs = zip(keys, [*of_parameters, *gradients.values()], strict=True)
            returned = [*of_inputs, "{" + ", ".join(f'"{key}": {value}' for key, value in pairs) + "}"]
        else:
            real = [names[v] for v in layer.inputs if v.kind == "real"]
            if len(layer.inputs) > 2:  # with a single input, its gradient has all batch axes already
                # an input that is broadcast along the batch axes of another has the sum over them as gradient
                of_inputs = [f"like({value}, {x})" for value, x in zip(of_inputs, real, strict=False)]
            returned = [*of_inputs, *of_parameters, *gradients.values()]
    yield Line("", ", ".join(returned))


def _tuple(names: list[str]) -> str:
    return ", ".join(names) + ("," if len(names) == 1 else "")


@dataclass
class _Writer:
    """Writes the equations of one layer, and before each of them the calls whose results it reads."""

    layer: Layer
    names: Mapping[Basic, str]
    printer: NumPyLayerPrinter
    called: dict[tuple[Any, ...], tuple[Pulled, str]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.taken = {*self.names.values(), *weight_tree(self.layer).parts, "tape"}
        self.own = {e.value: self.names[e.variable] for e in self.layer.equations if isinstance(e.value, Pulled)}
        gradient = isinstance(self.layer, Gradient)
        self.of_parameters = self.layer.outputs[-len(self.layer.parameters) or None :] if gradient else ()
        self.of_parameters = self.of_parameters if self.layer.parameters else ()
        self.read = {node for e in self.layer.equations for node, _ in pulled(e.value)}

    def lines(self) -> Iterator[Line]:
        """Yield the lines of all equations."""
        tapes = {e.value.applied: e for e in self.layer.equations if isinstance(e.value, Tape)}
        for equation in self.layer.equations:
            if isinstance(equation.value, Tape):
                continue
            yield from self._backward_calls(equation)
            name, shape = self.names[equation.variable], f"  # {shape_text(equation.variable.shape)}"
            if equation.value in tapes:
                tape = self.names[tapes.pop(equation.value).variable]
                yield Line(f"{name}, {tape}", self.printer.forward_call(equation), shape)
            elif equation.variable in self.of_parameters:
                yield Line(name, self.printer.summed_over_batch(equation), shape)
            elif self.printer.results.get(equation.value) != name:
                yield Line(name, self.printer.doprint(equation), shape)

    def _backward_calls(self, equation: Equation) -> Iterator[Line]:
        for node, over in pulled(equation.value, equation.over[0] if equation.over else None):
            # one call of a backward pass gives the gradients with respect to all inputs
            if (*node.call, over) in self.called:
                continue
            gradient = self._fresh(f"{identifier(node.part)}_gradient")
            self.called[*node.call, over] = node, gradient
            places, shapes = [], []
            for variable in node.layer.inputs:
                if variable.kind == "real":
                    place, shape = self._result(node, variable)
                    places.append(place)
                    shapes += shape
            for name in node.bound:
                self.printer.results[node.sibling(name)] = f'{gradient}["{identifier(name)}"]'
            comment = f"  # {', '.join(shapes)}" if shapes else ""
            asked = bool(weight_tree(node.layer))
            text = self.printer.backward_call(node, over)
            yield Line(", ".join([*places, gradient if asked else "_"]), text, comment)

    def _result(self, node: Pulled, variable: Variable) -> tuple[str, list[str]]:
        """Return the target of one gradient of a call: the variable of its equation, a new name, or `_` if unread."""
        result = node.sibling(variable.name)
        if result not in self.read:
            return "_", []
        place = self.own.pop(result, None) or self._fresh(f"{identifier(node.part)}_d{identifier(variable.name)}")
        self.printer.results[result] = place
        return place, [shape_text(result.shape)]

    def _fresh(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.taken.add(name)
        return name

    def weight_gradients(self, tree: WeightTree) -> dict[str, str]:
        """Return the text of the gradient for the weights of each part: the sum over all calls of the part."""
        found: dict[str, str] = {}
        if not isinstance(self.layer, Gradient):
            return found
        for part, below in tree.parts.items():
            texts = []
            for node, name in self.called.values():
                if identifier(node.part) == part:
                    own = [*below.parameters, *below.parts]
                    entries = ", ".join(f'"{each}": {name}["{each}"]' for each in own)
                    texts.append(f"{{{entries}}}" if node.bound else name)
            # a missing gradient must not look like a gradient of 0
            if not texts:
                raise CompileError(f"layer {self.layer.name}: no gradient reaches the weights of {part}")
            # the chain rule: weights used twice have the sum of the gradients of both uses
            while len(texts) > 1:
                texts[:2] = [f"add_weights({texts[0]}, {texts[1]})"]
            found[part] = texts[0]
        return found
