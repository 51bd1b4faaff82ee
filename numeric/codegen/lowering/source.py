"""The text of a function for a flat layer: its arguments, the equations evaluated whole, its loops over tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import count, groupby
from types import MappingProxyType
from typing import Any

from sympy import Basic, Integer

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import shape_text, total
from derivations.language.layers.layer import Layer, Repeat
from derivations.language.layers.names import fresh_name, subexpressions
from numeric.codegen.line_wrapping import WIDTH, wrapped_items, wrapped_statement
from numeric.codegen.lowering.batches import Batches
from numeric.codegen.lowering.choices import Choice
from numeric.codegen.lowering.locality import Phase
from numeric.codegen.lowering.loop_schedule import LoopSchedule
from numeric.codegen.lowering.loop_text import LoopText
from numeric.codegen.lowering.loops import Written, written
from numeric.codegen.lowering.memory import assign
from numeric.codegen.lowering.pullbacks import pulled_stacks
from numeric.codegen.lowering.registers import Layout
from numeric.codegen.lowering.whole_text import WholeText
from numeric.codegen.printer import AxisLength, Call
from numeric.codegen.syntax import names_in
from numeric.runtime.structure import identifier

__all__ = ["FunctionSource"]

DEFAULTS = {"epsilon": "1e-5"}
KEPT = 4  # sizes whose tables of positions are kept


class FunctionSource:
    """The text of the function that evaluates a flat layer; `blocks` has the functions of the layers that it applies.

    Result       `text`, and the arguments: arrays by name, then sizes, then scalars, then the number of threads
    """

    def __init__(
        self,
        name: str,
        layer: Layer,
        blocks: dict[Layer, FunctionSource],
        call: Callable[[Any], Call],
        taken: frozenset[str],
        without: frozenset[str] = frozenset(),
        slopes: Mapping[Layer, Layer] = MappingProxyType({}),
    ):
        self.name, self.layer, self.blocks, self.slopes = name, layer, blocks, slopes
        self.batches = Batches(layer)
        self.schedule, bodies = written(layer, call, taken, without)
        names = self.schedule.names
        self.inputs = [names[v] for v in layer.inputs]
        self.parameters = [names[v] for v in layer.parameters]
        repeated = (node for e in layer.equations for node in subexpressions(e.value) if isinstance(node, Repeat))
        self.stacks = {identifier(node.name): node for node in repeated}
        self.pulled_stacks = pulled_stacks(layer)
        self.scalars = sorted((names[s] for s in layer.scalars), key=lambda each: (each in DEFAULTS, each))
        self.tables = fresh_name(f"{name}_tables", {*taken, *names.values()})  # the function that makes them
        self.made = ""  # its text, if there are tables of positions
        lines = self._lines(bodies)
        used = names_in("\n".join(["def f():", *lines]))
        lengths = _lengths(self.schedule)
        self.sizes = {names[s]: s for s in layer.sizes if names[s] in used and s not in lengths}
        measured = [f"    {names[s]} = {text}" for s, text in lengths.items() if names[s] in used]
        arguments = [*self.inputs, *self.parameters, *self.stacks, *self.sizes]
        arguments += [f"{each}={DEFAULTS[each]}" if each in DEFAULTS else each for each in self.scalars]
        self.arguments = [*arguments, "threads=1"]
        head = f"def {name}({', '.join(self.arguments)}):"
        if len(head) > WIDTH:
            head = f"def {name}(\n{wrapped_items(self.arguments, ' ' * 4)}\n):"
        doc = f'    """Return {", ".join(f"{v.name} {shape_text(v.shape)}" for v in layer.outputs)}."""'
        self.text = self.made + "\n".join([head, doc, *self._given(used), *measured, *lines]) + "\n"

    @property
    def factors(self) -> frozenset[str]:
        """The names of the parameters that appear unchanged as right factors of products with rows."""
        return frozenset(self.parameters) & self.schedule.factors

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices that the equations leave to the code, with the theorems that permit them."""
        rows = []
        for phase in self.schedule.phases:
            names = [e.variable.name for e in phase.equations]
            if phase.size is not None:
                where = f"{len(names)} equations, {names[0]} to {names[-1]}, in tiles of rows of {phase.size}"
                rows.append(Choice("row_tiles", "linear.row", where))
        return (*rows, *self.schedule.choices)

    def _given(self, used: Set[str]) -> list[str]:
        """Return the lines that define the batch shape and the number type, and reshape the inputs for tiles."""
        schedule, lines = self.schedule, []
        lines.append(f"    batch = {self._batch_of(self.batches.read)}")
        lines.append("    items = math.prod(batch)")
        if "dtype" in used and schedule.printer.dtype_of:
            lines.append(f"    dtype = {schedule.printer.dtype_of}.dtype")
        if "lowest" in used:
            lines.append("    lowest = np.finfo(dtype).min  # where all keys are hidden, -inf less this is -inf")
        for variable in self.layer.inputs:
            name, whole = schedule.name(variable), schedule.whole_name(variable)
            if whole not in used:
                continue
            lines.append(f"    {whole} = {_in_form(schedule, variable, name)}")
        return lines

    def _lines(self, bodies: dict[int, Written]) -> list[str]:
        """Return the lines of the equations: those that read no input, tables and ones, then phase by phase."""
        schedule = self.schedule
        whole = WholeText(schedule, self.blocks, self.slopes)
        constants = [e for e in self.layer.equations if e.variable not in schedule.batched]
        first = {schedule.name(e.variable): "\n".join(whole.lines(e)) for e in constants}
        last, numbers = list[str](), count(1)
        for size, phases in groupby(enumerate(schedule.phases), key=lambda each: each[1].size):
            if size is None:
                batched = (e for _, phase in phases for e in phase.equations if e.variable in schedule.batched)
                last += [line for equation in batched for line in whole.lines(equation)]
            else:
                filled = ((phase, bodies[index]) for index, phase in phases if bodies[index][0])
                loops = {f"loop_{next(numbers)}": loop for loop in filled}
                last += [line for name, loop in loops.items() for line in self._loop(name, *loop)]
                tiles = f"    each_tile([{', '.join(loops)}], items, {schedule.whole(size)}, threads)"
                last += [tiles] if loops else []
        first |= {
            name: f"    {name} = {schedule.printer.in_family(node, over)}"
            for (node, over), name in schedule.tables.items()
        }
        ones = [f"    {name} = column_of_ones({length}, dtype)" for length, name in schedule.columns_of_ones.items()]
        returned = [self._returned(v, is_named=v in whole.named) for v in self.layer.outputs]
        returned += [whole.pullbacks.by_weights[name] for name in self.pulled_stacks]
        rest = [*ones, *last, f"    return {', '.join(returned)}"]
        return [*self._constants(first, rest), *rest]

    def _constants(self, lines: Mapping[str, str], rest: Sequence[str]) -> list[str]:
        """Return the lines that read no input.

        Tables of positions move to a cached function, which is evaluated once for each size.
        """
        schedule = self.schedule
        varying = {*self.inputs, *self.parameters, *self.stacks, *self.scalars}
        varying |= {schedule.name(e.variable) for e in self.layer.equations if not self._is_narrow(e.variable)}
        kept: dict[str, str] = {}
        for name, line in lines.items():
            if name not in varying and varying.isdisjoint(names_in(f"def f():\n{line}")):
                kept[name] = line
            else:
                varying.add(name)
        own = [line for name, line in lines.items() if name not in kept]
        read = names_in("\n".join(["def f():", *own, *rest]))
        made = [name for name in kept if name in read]
        if not made:
            return own
        text = "\n".join(kept.values())
        inside = names_in(f"def f():\n{text}")
        given = [
            *sorted({schedule.names[s] for s in self.layer.sizes} & inside),
            *(["dtype"] if "dtype" in inside else []),
        ]
        call, results = f"{self.tables}({', '.join(given)})", ", ".join(made)
        doc = '    """Return the tables of positions, which are the same in every call with these sizes."""'
        head = f"@lru_cache(maxsize={KEPT})\ndef {call}:\n{doc}"
        self.made = f"{head}\n{text}\n    return {results}\n\n\n"
        return [f"    {results} = {call}", *own]

    def _is_narrow(self, variable: Variable) -> bool:
        """Return whether at most one axis of a variable counts positions and it is no output: its array may be kept."""
        axes = variable.shape[1:] if variable in self.schedule.families else variable.shape
        return sum(total(along) in self.schedule.positions for along in axes) < 2 and variable not in self.layer.outputs

    def _loop(self, name: str, phase: Phase, written: Written) -> list[str]:
        """Return the lines of one loop over tiles: the arrays that it fills, then its body."""
        schedule, (body, visible) = self.schedule, written
        stored = [e for e in phase.equations if e.variable in schedule.stored and not schedule.is_view(e)]
        arrays = [f"{schedule.whole_name(e.variable)} = {self._memory(e.variable)}" for e in stored]
        lines = LoopText(schedule, phase, assign(body), visible).lines(body)
        return [
            *(wrapped_statement(f"    {array}") for array in arrays),
            "",
            f"    def {name}(tile):",
            *(f"        {line}" for line in lines),
            "",
        ]

    def _memory(self, variable: Variable) -> str:
        """Return the text that allocates the array of all rows of a variable; an output has no gaps between rows."""
        shape, layout = self.schedule.whole_shape(variable), self.schedule.layout(variable)[0]
        # rows a power of two apart would compete for the same cache sets; an output has to be contiguous
        has_distance = layout is Layout.ROWS and variable not in self.layer.outputs
        return f"empty_rows({shape}, dtype)" if has_distance else f"np.empty(({shape}), dtype)"

    def _batch_of(self, inputs: tuple[Variable, ...]) -> str:
        """Return the text of the broadcast of the batch axes of some inputs."""
        names = {v: self.schedule.name(v) for v in inputs}
        batches = [f"{names[v]}.shape[:{-len(v.shape)}]" if v.shape else f"{names[v]}.shape" for v in inputs]
        return f"np.broadcast_shapes({', '.join(batches)})" if len(batches) > 1 else "".join(batches) or "()"

    def _returned(self, variable: Variable, *, is_named: bool) -> str:
        """Return the text of an output with its own batch axes."""
        schedule = self.schedule
        if variable in schedule.by_parameters:
            return schedule.name(variable)
        text = schedule.name(variable)
        if variable in schedule.batched:
            shape = ", ".join(schedule.whole(total(along)) for along in variable.shape)
            source = text if is_named else schedule.whole_name(variable)
            text = f"{source}.reshape(*batch, {shape})" if shape else f"{source}.reshape(batch)"
        if variable in self.batches.by_inputs:
            return f"like({text}, {schedule.name(self.batches.by_inputs[variable])})"
        own = self.batches.of_output(variable)
        return text if own in ((), self.batches.read) else f"of_batch({text}, batch, {self._batch_of(own)})"


def _in_form(schedule: LoopSchedule, variable: Variable, name: str) -> str:
    """Return the text of an input in the layout in which tiles read it."""
    rank = len(variable.shape)
    if schedule.row_size(variable) is None or variable in schedule.families or schedule.is_mask(variable):
        return f"items_of({name}, batch, {rank})"
    if schedule.layout(variable)[0].is_of_heads:
        return f"items_of({name}, batch, {rank})[:, None]"
    return f"flat_rows({name}, batch, {rank})"


def _lengths(schedule: LoopSchedule) -> dict[Basic, str]:
    """Return how to read each size off the shape of an input or a parameter."""
    layer = schedule.layer
    given = sorted((*layer.inputs, *layer.parameters), key=lambda variable: variable.kind == "boolean")
    lengths: dict[Basic, str] = {}
    for variable in given:
        for number, along in enumerate(variable.shape):
            if getattr(along, "is_Symbol", False) and along not in lengths:
                place = number - len(variable.shape)
                lengths[along] = schedule.printer.doprint(AxisLength(variable, Integer(place)))
    return lengths
