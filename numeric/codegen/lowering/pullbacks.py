"""The text of gradients of parts that are not inlined: calls of the gradient of their layer, which recompute the layer.

Definition   for a family, one call for each member; for a repetition, one for each layer from the last to the first,
             with the input of that layer that the forward pass saved
Result       all pullbacks of one application through one gradient come from the same calls
Assumes      the values inside a layer are recomputed, so that only its inputs are saved
Source       Chen et al. (2016), "Training deep nets with sublinear memory cost"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sympy import Symbol

from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.shapes import shape_text
from derivations.language.differentiation.pullback import Pullback
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat
from derivations.language.layers.names import subexpressions
from numeric.codegen.formula_printer import CompileError
from numeric.codegen.line_wrapping import wrapped_items, wrapped_statement
from numeric.codegen.lowering.expressions import index_of, members_of, named
from numeric.codegen.lowering.loop_schedule import LoopSchedule
from numeric.runtime.structure import identifier, weight_tree

__all__ = ["PullbackText", "member_text", "pullbacks_of", "pulled_stacks", "sizes_and_scalars"]

ANY = Symbol("any_member", integer=True)


def pullbacks_of(layer: Layer) -> list[Pullback]:
    """Return the pullbacks of a layer, each the right-hand side of an equation.

    Raises       CompileError for a pullback that has no form in code
    """
    found = [node for e in layer.equations for node in subexpressions(e.value) if isinstance(node, Pullback)]
    values = {e.value for e in layer.equations}
    for node in found:
        if reason := _without_form(node, node in values):
            raise CompileError(f"layer {layer.name}: the gradient of {node.applied.layer.name} {reason}")
    return found


def _without_form(node: Pullback, is_value: bool) -> str:
    """Return why a pullback cannot be written as code, or an empty text if it can."""
    applied = node.applied
    if not is_value:
        return "is asked for by the indices of two families, and no array holds those; use compile_layer"
    if isinstance(applied, Repeat):
        return "binds weights that all layers of a repetition share; use compile_layer" if applied.bound else ""
    if weight_tree(applied.layer, frozenset(applied.bound)):
        return "asks for weights that belong to a part; take the gradient of inlined(layer)"
    return ""


def pulled_stacks(layer: Layer) -> list[str]:
    """Return the Python names of the repetitions whose weight gradients a layer returns.

    They are in the order of the forward pass; the backward pass runs in the opposite order.
    """
    applied = [node.applied for node in reversed(pullbacks_of(layer))]
    return list(dict.fromkeys(identifier(a.name) for a in applied if isinstance(a, Repeat) and weight_tree(a.layer)))


def sizes_and_scalars(schedule: LoopSchedule, block: Any) -> list[str]:
    """Return the arguments that the function of a layer takes after the arrays."""
    sizes = [f"{each}={schedule.whole(size)}" for each, size in block.sizes.items()]
    return [*sizes, *(f"{each}={each}" for each in block.scalars), "threads=threads"]


def member_text(
    schedule: LoopSchedule, argument: Array, index: Symbol | None, number: str, arrays: Mapping[Variable, str]
) -> str:
    """Return the text of an argument for one member of a family: a view of that member, or an array that all share."""
    variable = named(argument)
    if variable is None or index not in argument.free_symbols:
        return schedule.printer.in_family(argument, None, arrays)
    return f"{arrays[variable]}[:, {number}]" if variable in arrays else f"{schedule.name(variable)}[{number}]"


class PullbackText:
    """Writes the lines of equations that define a pullback; `by_weights` names the weight gradients of stacks."""

    def __init__(self, schedule: LoopSchedule, blocks: Mapping[Layer, Any], slopes: Mapping[Layer, Layer]):
        self.schedule, self.blocks, self.slopes = schedule, blocks, slopes
        self.equations = [e for e in schedule.layer.equations if isinstance(e.value, Pullback)]
        self.by_weights: dict[str, str] = {}
        self.written: set[Variable] = set()
        self.tapes: dict[Apply, str] = {}

    def tape_of(self, node: Apply) -> str:
        """Return the name of the list of inputs that the forward pass of a repetition saves, or an empty text."""
        if any(e.value.applied == node for e in self.equations):
            self.tapes[node] = self.schedule.fresh(f"{identifier(node.name)}_inputs")
        return self.tapes.get(node, "")

    def lines(self, equation: Equation, arrays: Mapping[Variable, str]) -> list[str]:
        """Return the lines that compute a pullback and all others from the same calls; none if already written."""
        if equation.variable in self.written:
            return []
        node, call = equation.value, _call_of(equation)
        together = {e.value.name: e for e in self.equations if _call_of(e) == call}
        self.written |= {e.variable for e in together.values()}
        if isinstance(node.applied, Repeat):
            return list(self._through_layers(node, together, arrays))
        return list(self._through_members(equation, together, arrays))

    def _results(self, layer: Layer) -> list[str]:
        """Return the names of the inputs and parameters of a layer for which its gradient returns gradients."""
        return [v.name for v in (*layer.inputs, *layer.parameters) if v.kind == "real"]

    def _given(self, argument: Array, text: str, asked: Equation | None) -> str:
        """Return the text of an argument, broadcast over the batch items if its gradient has an axis for them."""
        schedule = self.schedule
        if asked is None or asked.variable in schedule.by_parameters or schedule.reads_batched(argument):
            return text
        shape = "".join(f", {schedule.whole(along)}" for along in argument.shape)
        return f"np.broadcast_to({text}, (items{shape}))"

    def _through_members(
        self, equation: Equation, together: Mapping[str, Equation], arrays: Mapping[Variable, str]
    ) -> Iterator[str]:
        """Yield the calls of the gradient for the members of a family, or one call outside of families."""
        schedule, node, index = self.schedule, equation.value, index_of(equation)
        block, layer = self.blocks[self.slopes[node.applied.layer]], node.applied.layer
        number = schedule.fresh("member") if index else ""
        values = {v.name: a for v, a in zip(layer.inputs, node.applied.arguments, strict=True)} | node.applied.bound
        texts = {name: member_text(schedule, each, index, number, arrays) for name, each in values.items()}
        texts = {name: self._given(values[name], text, together.get(name)) for name, text in texts.items()}
        slope = member_text(schedule, node.cotangent, index, number, arrays)
        inputs = [texts[v.name] for v in layer.inputs]
        weights = [texts[v.name] for v in layer.parameters]
        given = ", ".join([*inputs, slope, *weights, *sizes_and_scalars(schedule, block)])
        indent = "    "
        if index is not None:
            yield from (self._memory(e) for e in together.values())
            yield f"    for {number} in range({schedule.whole(members_of(equation))}):"
            indent = "        "
        targets = [self._target(together.get(name), number) for name in self._results(layer)]
        yield from _assigned(indent, targets, f"{block.name}({given})")

    def _memory(self, equation: Equation) -> str:
        """Return the line that allocates the array of a family of gradients."""
        schedule, variable = self.schedule, equation.variable
        axes = ["items"] * (variable not in schedule.by_parameters)
        shape = ", ".join([*axes, *(schedule.whole(along) for along in variable.shape)])
        made = wrapped_statement(f"    {schedule.name(variable)} = np.empty(({shape}), dtype)")
        return f"{made}  # {shape_text(variable.shape)}"

    def _target(self, equation: Equation | None, number: str) -> str:
        if equation is None:
            return "_"
        name = self.schedule.name(equation.variable)
        if not number:
            return name
        return f"{name}[{number}]" if equation.variable in self.schedule.by_parameters else f"{name}[:, {number}]"

    def _through_layers(
        self, node: Pullback, together: Mapping[str, Equation], arrays: Mapping[Variable, str]
    ) -> Iterator[str]:
        """Yield the calls of the gradient for the layers of a repetition, from the last to the first."""
        schedule, applied, layer = self.schedule, node.applied, node.applied.layer
        block, stack = self.blocks[self.slopes[layer]], identifier(applied.name)
        first, *others = layer.inputs
        texts = [schedule.printer.in_family(a, None, arrays) for a in applied.arguments]
        pairs = zip((first, *others), applied.arguments, texts, strict=True)
        start, *shared = [self._given(a, text, together.get(v.name)) for v, a, text in pairs]
        slope = self._target(together.get(first.name), "")
        slope = schedule.fresh(f"{stack}_slope") if slope == "_" else slope
        one, weights = schedule.fresh(f"{stack}_input"), ["*weights"] if layer.parameters else []
        if applied not in self.tapes:
            yield from self._forward(applied, start, shared, weights)
        tape = self.tapes[applied]
        sums = {v.name: schedule.name(together[v.name].variable) for v in others if v.name in together}
        yield f"    {slope} = {schedule.printer.in_family(node.cotangent, None, arrays)}"
        # an input that all layers share has the sum of their gradients
        yield from (f"    {name} = 0" for name in sums.values())
        parts = {name: schedule.fresh(f"{stack}_{name}") for name in sums.values()}
        targets = [slope, *(parts.get(sums.get(v.name, ""), "_") for v in others if v.kind == "real")]
        names = [identifier(p.name) for p in layer.parameters] + block.pulled_stacks
        if names:
            self.by_weights[stack] = schedule.fresh(f"{stack}_gradient")
            targets.append(f"*{schedule.fresh('of_weights')}")
            yield f"    {self.by_weights[stack]} = []"
        each = f"weights, {one}" if weights else one
        both = f"zip(reversed({stack}), reversed({tape}))" if weights else f"reversed({tape})"
        yield f"    for {each} in {both}:"
        given = ", ".join([one, *shared, slope, *weights, *sizes_and_scalars(schedule, block)])
        yield from _assigned("        ", targets, f"{block.name}({given})")
        yield from (f"        {name} = {name} + {part}" for name, part in parts.items())
        if names:
            listed = wrapped_items([f'"{name}"' for name in names], " " * 12)
            yield f"        names = [\n{listed}\n        ]"
            yield f"        {self.by_weights[stack]}.append(dict(zip(names, {targets[-1][1:]}, strict=True)))"
            yield f"    {self.by_weights[stack]}.reverse()"

    def _forward(self, applied: Apply, start: str, shared: list[str], weights: list[str]) -> Iterator[str]:
        """Yield the forward pass of a repetition whose value is not read, up to the input of its last layer."""
        schedule, block, stack = self.schedule, self.blocks[applied.layer], identifier(applied.name)
        tape = self.tapes[applied] = schedule.fresh(f"{stack}_inputs")
        each = f"weights in {stack}[:-1]" if weights else f"_ in range({schedule.whole(applied.count)} - 1)"
        given = ", ".join([f"{tape}[-1]", *shared, *weights, *sizes_and_scalars(schedule, block)])
        yield f"    {tape} = [{start}]"
        yield f"    for {each}:"
        yield f"        {tape}.append({block.name}({given}))"


def _call_of(equation: Equation) -> tuple[Any, ...]:
    """Return a key for the pullbacks of one call: application, cotangent and axis of the family, whatever its index."""
    node, over = equation.value, equation.over
    applied, cotangent = (
        (each.xreplace({over[0]: ANY}) for each in node.args[:2]) if over is not None else node.args[:2]
    )
    return applied, cotangent, over and over[1]


def _assigned(indent: str, targets: list[str], call: str) -> Iterator[str]:
    """Yield the line that assigns the results of a call."""
    yield wrapped_statement(f"{indent}{', '.join(targets)} = {call}")
