"""The text of equations evaluated whole, outside of all loops, over arrays whose first axis is the batch items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import shape_text
from derivations.language.differentiation.pullback import Pullback
from derivations.language.layers.layer import Equation, Layer, Repeat
from numeric.codegen.line_wrapping import wrapped_statement
from numeric.codegen.lowering.expressions import applied_to_members, index_of, members_of
from numeric.codegen.lowering.loop_schedule import LoopSchedule
from numeric.codegen.lowering.pullbacks import PullbackText, member_text, sizes_and_scalars
from numeric.codegen.lowering.registers import Layout
from numeric.runtime.structure import identifier

__all__ = ["WholeText"]


class WholeText:
    """Writes the lines of equations evaluated whole; `named` holds the variables assigned so far, batch items first."""

    def __init__(self, schedule: LoopSchedule, blocks: Mapping[Layer, Any], slopes: Mapping[Layer, Layer]):
        self.schedule, self.blocks = schedule, blocks
        self.named: set[Variable] = set()
        self.pullbacks = PullbackText(schedule, blocks, slopes)

    def lines(self, equation: Equation) -> list[str]:
        """Return the lines of one equation, after those that name the views that it reads."""
        schedule, variable = self.schedule, equation.variable
        read = sorted(schedule.read(equation), key=lambda v: v.name)
        lines = [line for each in read if self._is_unnamed_view(each) for line in self.lines(schedule.equation[each])]
        arrays = {each: self._with_items(each) for each in read}
        if isinstance(equation.value, Pullback):
            lines += self.pullbacks.lines(equation, arrays)
        elif isinstance(equation.value, Repeat):
            lines += self._repeated(equation, arrays)
        elif applied_to_members(equation) is not None:
            lines += self._each_member(equation, arrays)
        else:
            text = schedule.printer.whole_equation(equation, arrays, summed=variable in schedule.by_parameters)
            lines.append(_commented(f"{schedule.name(variable)} = {text}", equation))
        self.named.add(variable)
        if variable in schedule.stored and self._is_read_in_tiles(variable):
            lines.append(self._spread(variable))
        return lines

    def _repeated(self, equation: Equation, arrays: Mapping[Variable, str]) -> list[str]:
        """Return a loop over the layers of a repetition; the inputs that a backward pass reads are saved."""
        node, schedule, block = equation.value, self.schedule, self.blocks[equation.value.layer]
        target = schedule.name(equation.variable)
        first, *others = (schedule.printer.in_family(a, None, arrays) for a in node.arguments)
        weights = ["*weights"] if block.parameters else []
        each = f"weights in {identifier(node.name)}" if weights else f"_ in range({schedule.whole(node.count)})"
        given = ", ".join([target, *others, *weights, *sizes_and_scalars(schedule, block)])
        saved = self.pullbacks.tape_of(node)  # inputs only: the backward pass recomputes each layer from its input
        return [
            _commented(f"{target} = {first}", equation),
            *([f"    {saved} = []"] if saved else []),
            f"    for {each}:",
            *([f"        {saved}.append({target})"] if saved else []),
            f"        {target} = {block.name}({given})",
        ]

    def _each_member(self, equation: Equation, arrays: Mapping[Variable, str]) -> list[str]:
        """Return a loop that applies a layer to each member of a family, through views without copies."""
        schedule, node = self.schedule, equation.value
        target, block, number = schedule.name(equation.variable), self.blocks[node.layer], schedule.fresh("member")
        given = [
            member_text(schedule, each, index_of(equation), number, arrays)
            for each in (*node.arguments, *(node.bound[p.name] for p in node.layer.parameters))
        ]
        arguments = [*given, *sizes_and_scalars(schedule, block)]
        shape = ", ".join(schedule.whole(along) for along in equation.variable.shape)
        return [
            _commented(f"{target} = np.empty((items, {shape}), dtype)", equation),
            f"    for {number} in range({schedule.whole(members_of(equation))}):",
            f"        {target}[:, {number}] = {block.name}({', '.join(arguments)})",
        ]

    def _is_unnamed_view(self, variable: Variable) -> bool:
        equation = self.schedule.equation.get(variable)
        return equation is not None and variable not in self.named and self.schedule.is_view(equation)

    def _is_read_in_tiles(self, variable: Variable) -> bool:
        schedule = self.schedule
        loops = (phase for phase in schedule.phases if phase.size is not None)
        read = (each for phase in loops for equation in phase.equations for each in schedule.read(equation))
        return schedule.row_size(variable) is not None and any(schedule.root(each) == variable for each in read)

    def _spread(self, variable: Variable) -> str:
        """Return the line that brings an array that was evaluated whole into the layout that tiles read."""
        schedule = self.schedule
        layout, columns, heads = schedule.layout(variable)
        axes = ["items", heads if variable in schedule.families else "", schedule.whole(schedule.row_size(variable))]
        full = ", ".join(filter(None, (*axes, columns if layout.is_wide else "")))
        text = f"np.broadcast_to({schedule.name(variable)}, ({full})).reshape({schedule.whole_shape(variable)})"
        return wrapped_statement(f"    {schedule.whole_name(variable)} = {text}")

    def _with_items(self, variable: Variable) -> str:
        """Return the text of an array whose first axis is the batch items."""
        schedule = self.schedule
        if variable in self.named:
            return schedule.name(variable)
        whole, size = schedule.whole_name(variable), schedule.row_size(variable)
        if size is None or schedule.is_mask(variable):
            return whole
        layout, columns, _ = schedule.layout(variable)
        match layout:
            case Layout.ROWS:
                return f"{whole}.reshape(items, {schedule.whole(size)}, {columns})"
            case Layout.NUMBERS | Layout.TOKENS:
                return f"{whole}.reshape(items, {schedule.whole(size)})"
            case Layout.HEADS:
                return whole if variable in schedule.families else f"{whole}[:, 0]"
            case _:
                return f"{whole}[..., 0]"


def _commented(text: str, equation: Equation) -> str:
    return f"{wrapped_statement(f'    {text}')}  # {shape_text(equation.variable.shape)}"
