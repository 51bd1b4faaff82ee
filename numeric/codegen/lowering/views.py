"""Rules for values that need no computation: a variable, a member of a family, columns of an array.

Result       blocks of columns are heads: (count, h d) as (g, h, t, d)
"""

from __future__ import annotations

from sympy import Expr

from derivations.language.arrays.arrangements import ColumnBlock
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Equation
from numeric.codegen.lowering.loop_schedule import LoopSchedule, Unsupported
from numeric.codegen.lowering.registers import Layout, Register
from numeric.codegen.lowering.writer import TileWriter

__all__ = ["column_block", "column_range", "heads_of_view", "member", "variable", "view_text", "viewed"]


def variable(writer: TileWriter, node: Variable, target: Register | None) -> Register:
    """Return the tile's rows of a variable."""
    equation = writer.schedule.equation.get(node)
    if equation is not None and writer.schedule.is_view(equation) and node not in writer.at:
        return heads_of_view(writer, node, equation) if equation.over else writer.value(equation.value)
    return writer.variable(node)


def member(writer: TileWriter, node: Member, target: Register | None) -> Register:
    """Return the tile's rows of all members of a family, or of the block of heads in the current round of a loop."""
    family, place = node.args
    if not isinstance(family, Variable) or place != writer.over:
        return writer.printed(node)
    equation = writer.schedule.equation.get(family)
    if equation is not None and writer.schedule.is_view(equation):
        return heads_of_view(writer, family, equation)
    return writer.variable(family)


def heads_of_view(writer: TileWriter, family: Variable, equation: Equation) -> Register:
    """Return the heads of a family whose members are columns of one array."""
    if family not in writer.at:
        register = writer.variable(viewed(writer.schedule, equation.value))
        if writer.in_loop:
            raise Unsupported(family)
        layout, columns, heads = writer.schedule.layout(family)
        form = {"layout": layout, "columns": columns, "heads": heads, "of": family}
        text = view_text(writer.schedule, equation.value, "t")
        writer.at[family] = writer.view(register, writer.schedule.name(family), text=text, **form)
    return writer.block(writer.at[family])


def column_block(writer: TileWriter, node: ColumnBlock, target: Register | None) -> Register:
    """Return a block of columns, or all blocks as heads if the number of the block is the index of the family."""
    wide, block = node.args
    columns = wide.shape[-1]
    if block == writer.over:
        register = writer.variable(viewed(writer.schedule, node))
        count, size = writer.schedule.whole(columns.count), writer.schedule.whole(columns.size)
        form = {"layout": Layout.HEADS, "columns": size, "heads": count}
        text = view_text(writer.schedule, node, "t")
        return writer.block(writer.view(register, writer.schedule.fresh("block"), text=text, **form))
    if writer.over is not None and writer.over in block.free_symbols:
        raise Unsupported(node)
    return _columns(writer, wide, block * columns.size, columns.size)


def column_range(writer: TileWriter, node: ColumnRange, target: Register | None) -> Register:
    """Return a range of columns."""
    wide, start, along = node.args
    return _columns(writer, wide, start, total(along))


def _columns(writer: TileWriter, wide: Array, start: Expr, size: Expr) -> Register:
    schedule, register = writer.schedule, writer.value(wide)
    text = f"[..., {schedule.whole(start)}:{schedule.whole(start + size)}]"
    return writer.view(register, schedule.fresh("columns"), columns=schedule.whole(size), text=text)


def viewed(schedule: LoopSchedule, node: Array) -> Variable:
    """Return the variable whose columns a view selects."""
    while isinstance(node, ColumnBlock | ColumnRange):
        node = node.args[0]
    if not isinstance(node, Variable):
        raise Unsupported(node)
    return schedule.root(node)


def view_text(schedule: LoopSchedule, node: Array, rows: str, places: str = ":") -> str:
    """Return the index that follows the name of an array in a view of it.

    `rows` is the number of rows of each item in the view, `places` the range of rows that is selected first.
    """
    match node:
        case ColumnBlock():
            columns = node.args[0].shape[-1]
            count, size = schedule.whole(columns.count), schedule.whole(columns.size)
            outer = view_text(schedule, node.args[0], rows, places)
            return f"{outer}.reshape(g, {rows}, {count}, {size}).swapaxes(1, 2)"
        case ColumnRange():
            wide, start, along = node.args
            end = schedule.whole(start + total(along))
            outer = view_text(schedule, wide, rows, places)
            if outer in ("", f"[{places}]"):
                return f"[{places}, {schedule.whole(start)}:{end}]"
            return f"{outer}[:, {schedule.whole(start)}:{end}]"
    equation = schedule.equation.get(node)
    if equation is not None and schedule.is_view(equation):
        return view_text(schedule, equation.value, rows, places)
    return "" if places == ":" else f"[{places}]"
