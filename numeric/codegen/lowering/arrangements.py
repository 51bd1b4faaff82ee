"""Rules for concatenated heads and for rows of a table, and the rule that prints any other expression."""

from __future__ import annotations

from derivations.language.arrays.arrangements import Concatenate
from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.arrays.functions import Lookup
from derivations.language.arrays.shapes import total
from numeric.codegen.lowering.expressions import named, variables_of
from numeric.codegen.lowering.loop_schedule import Unsupported
from numeric.codegen.lowering.operands import result
from numeric.codegen.lowering.registers import Layout, Register
from numeric.codegen.lowering.writer import TileWriter

__all__ = ["concatenate", "lookup", "printed"]


def concatenate(writer: TileWriter, node: Concatenate, target: Register | None) -> Register:
    """Put the heads of a family side by side, unless they were written in place."""
    body, over, count = node.args
    variable = named(body)
    if variable is None or target is None or not isinstance(body, Member) or body.args[1] != over:
        raise Unsupported(node)
    written = writer.targets.get(variable) if variable in writer.schedule.concatenated else None
    # the members were written straight into their columns: nothing is left to copy
    if written is not None and written.memory is target:
        return target
    outer, writer.family = writer.family, (over, count)
    heads = writer.value(body)
    writer.family = outer
    text = f"np.copyto({{out}}.reshape(g, t, {heads.heads}, {heads.columns}), {{0}}.swapaxes(1, 2))"
    return writer.emit(text, (heads,), target)


def lookup(writer: TileWriter, node: Lookup, target: Register | None) -> Register:
    """Write the rows of a table that the tokens select."""
    table, tokens = node.args
    if writer.schedule.reads_batched(table) or len(table.shape) != 2 or node.kind != "real":
        raise Unsupported(node)
    numbers = writer.value(tokens)
    if numbers.layout is not Layout.TOKENS or writer.over is not None:
        raise Unsupported(node)
    out = result(writer, Layout.ROWS, writer.schedule.whole(total(table.shape[1])), "1", target)
    return writer.emit(f"np.take({writer.constant_whole(table)}, {{0}}, axis=0, out={{out}})", (numbers,), out)


def printed(writer: TileWriter, node: Array, target: Register | None) -> Register:
    """Print an expression over the arrays of the tile, with axes (g, heads, t, columns)."""
    schedule = writer.schedule
    # the printed text is for all heads, and a loop holds a block of them
    if writer.in_loop:
        raise Unsupported(node)
    fixed = variables_of(node) - schedule.batched
    if any(writer.phase.size in along.free_symbols for v in fixed for along in v.shape):
        raise Unsupported(node)  # a weight with one row per position: the tile has only some of these rows
    read = sorted(schedule.read_in(node), key=lambda v: v.name)
    operands = {v: _operand(writer, v) for v in read}
    texts = {v: _with_items(writer, v, register) for v, register in operands.items()}
    text = schedule.printed_in_tile(node, writer.over, texts, writer.phase.size)
    if not node.shape or node.shape[0] != writer.phase.size or len(node.shape) > 2 or node.kind != "real":
        raise Unsupported(node)
    is_wide, in_family = len(node.shape) == 2, writer.over is not None
    columns, heads = schedule.whole(total(node.shape[1])) if is_wide else "1", "1"
    shape, back = "g, t", f".reshape(count, {columns})"
    layout = Layout.ROWS if is_wide else Layout.NUMBERS
    if in_family:
        heads = writer.heads_here()
        shape, back = f"g, {heads}, t", "" if is_wide else "[..., None]"
        layout = Layout.HEADS if is_wide else Layout.HEAD_NUMBERS
    shape += f", {columns}" if is_wide else ""
    keeps = tuple(operands.values())
    register = Register(schedule.fresh("values"), layout, columns, heads, given=True, keeps=keeps)
    return writer.bind(register, f"np.broadcast_to({text}, ({shape})){back}", keeps)


def _operand(writer: TileWriter, variable: Variable) -> Register:
    """Return the tile's rows of a variable; raise Unsupported where the loop reads other rows of it too."""
    if variable not in writer.schedule.aligned(writer.phase, variable):
        raise Unsupported(variable)
    in_family = variable in writer.schedule.families and writer.over is not None
    return writer.value(Member(variable, writer.over) if in_family else variable)


def _with_items(writer: TileWriter, variable: Variable, register: Register) -> str:
    """Return the text of an array of the tile whose first axis is the batch items."""
    match register.layout:
        case Layout.ROWS:
            return f"{register.name}.reshape(g, t, {register.columns})"
        case Layout.NUMBERS | Layout.TOKENS:
            return f"{register.name}.reshape(g, t)"
        case Layout.HEADS:
            return register.name if variable in writer.schedule.families else f"{register.name}[:, 0]"
        case Layout.HEAD_NUMBERS:
            return f"{register.name}[..., 0]"
    raise Unsupported(variable)
