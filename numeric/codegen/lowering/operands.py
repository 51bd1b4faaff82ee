"""One operation between registers of different layouts: where its result is stored, how its operands broadcast.

Result       rows and numbers broadcast to heads as one head; one head becomes rows by a reshape that copies nothing
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import RowSoftmax
from derivations.language.arrays.shapes import Axis
from numeric.codegen.lowering.expressions import named
from numeric.codegen.lowering.loop_schedule import Unsupported
from numeric.codegen.lowering.registers import KEYS_AT_HAND, Layout, Register
from numeric.codegen.lowering.writer import TileWriter

__all__ = [
    "InDouble",
    "Operand",
    "as_heads",
    "is_of_all_keys",
    "like",
    "moved",
    "numbers",
    "of_keys_at_hand",
    "result",
    "ufunc",
]

OF_ROWS = ("np.maximum", "np.minimum")  # ufuncs that are twice as fast with a row of equal numbers as with one number


@dataclass(frozen=True, eq=False)
class InDouble:
    """An operation on one number per row that has no register: the text that reads it evaluates it in float64."""

    ufunc: str
    operands: tuple[Operand, ...]


Operand = Register | InDouble | str


def result(writer: TileWriter, layout: Layout, columns: str, heads: str, target: Register | None) -> Register:
    """Return where to store a result: the target if it has that layout, else a new register."""
    if target is not None and (target.layout, target.columns, target.heads) == (layout, columns, heads):
        return target
    return Register(writer.schedule.fresh("part"), layout, columns, heads)


def numbers(writer: TileWriter, register: Register, target: Register | None = None) -> Register:
    """Return where to store one number for each row of a register."""
    layout = Layout.HEAD_NUMBERS if register.layout.is_of_heads else Layout.NUMBERS
    return result(writer, layout, "1", register.heads, target)


def like(writer: TileWriter, register: Register, target: Register | None) -> Register:
    """Return where to store a result with the layout, columns and heads of a register."""
    return result(writer, register.layout, register.columns, register.heads, target)


def ufunc(writer: TileWriter, name: str, operands: tuple[Operand, ...], target: Register | None = None) -> Register:
    """Write one ufunc; its result is as wide as its widest operand."""
    operands = tuple(_of_keys_at_hand(writer, operands))
    registers = list(_registers(operands))
    moving = [r for r in registers if not r.layout.is_constant]
    if not moving:
        raise Unsupported(name)
    out = result(writer, *_form(writer, registers, target), target)
    has_table = not out.layout.is_of_heads and any(r.layout is Layout.TABLE for r in registers)
    places = iter(range(len(moving)))

    def text(operand: Operand) -> str:
        if isinstance(operand, str):
            is_wide = name in OF_ROWS and out.layout.is_wide and _is_number(operand)
            return f"row_of({operand}, {out.columns}, dtype)" if is_wide else operand
        if isinstance(operand, InDouble):
            return f"{operand.ufunc}({', '.join(map(text, operand.operands))}, dtype=np.float64)"
        form = _broadcast(operand, out.layout)
        if has_table and operand.layout in (Layout.ROWS, Layout.NUMBERS):
            form += ".reshape(g, t, -1)"
        return form.replace(operand.name, f"{{{next(places)}}}", 1) if operand in moving else form

    texts = ", ".join(map(text, operands))
    place = "{out}.reshape(g, t, -1)" if has_table else "{out}"
    form_of_out = out.layout, out.columns, out.heads
    same = tuple(r for r in moving if (r.layout, r.columns, r.heads) == form_of_out)
    return writer.emit(f"{name}({texts}, out={place})", tuple(moving), out, overwrites=same)


def _registers(operands: tuple[Operand, ...]) -> Iterator[Register]:
    """Yield the registers that operands read, in the order of the text."""
    for operand in operands:
        if isinstance(operand, InDouble):
            yield from _registers(operand.operands)
        elif isinstance(operand, Register):
            yield operand


def _form(writer: TileWriter, registers: list[Register], target: Register | None) -> tuple[Layout, str, str]:
    """Return the layout, columns and heads to which some operands broadcast."""
    moving = [r for r in registers if not r.layout.is_constant]
    wide = [r for r in moving if r.layout.is_wide]
    columns = wide[0].columns if wide else "1"
    is_wide = bool(wide)
    if not wide and any(r.layout is Layout.TABLE or _has_columns(r) for r in registers if r.layout.is_constant):
        if target is None:
            raise Unsupported(registers[0].name)
        is_wide, columns = True, target.columns
    heads = next((r.heads for r in moving if r.layout.is_of_heads and r.heads != "1"), "1")
    varies = writer.over is not None and any(r.layout.is_constant and r.heads != "1" for r in registers)
    if not varies and not any(r.layout.is_of_heads for r in moving):
        return (Layout.ROWS if is_wide else Layout.NUMBERS), columns, heads
    if heads == "1" and writer.over is not None:
        heads = writer.heads_here()
    return (Layout.HEADS if is_wide else Layout.HEAD_NUMBERS), columns, heads


def _of_keys_at_hand(writer: TileWriter, operands: tuple[Operand, ...]) -> Iterator[Operand]:
    """Yield the operands, cut to the current keys if another operand has columns for those keys only."""
    widths = {r.columns for r in operands if isinstance(r, Register) and r.layout is Layout.HEADS}
    width = next((each for each in KEYS_AT_HAND if each in widths), None)
    for operand in operands:
        is_of_heads = isinstance(operand, Register) and operand.layout is Layout.HEADS
        if width is None or isinstance(operand, str | InDouble) or not is_of_heads or operand.columns == width:
            yield operand
        else:
            begin, end = KEYS_AT_HAND[width]
            # an array that is cut already has its first column at key `low`
            places = f"{begin} - low:{end} - low" if operand.columns in KEYS_AT_HAND else f"{begin}:{end}"
            yield writer.view(operand, writer.schedule.fresh("columns"), columns=width, text=f"[..., {places}]")


def of_keys_at_hand(writer: TileWriter, register: Register, along: Axis) -> Register:
    """Return scores cut to the columns of the current keys, if they still have columns for all keys."""
    columns = writer.key_columns(along)
    if not columns or register.layout is not Layout.HEADS or register.columns in KEYS_AT_HAND:
        return register
    name = writer.schedule.fresh("columns")
    return writer.view(register, name, columns=columns, text=f"[..., {writer.key_slice(along)}]")


def is_of_all_keys(register: Register, node: Array) -> bool:
    """Return whether a sum over the columns of a register is complete.

    Columns of hidden keys may be missing if they would be zeros.

    An array with a name was checked for this before its columns were cut.
    """
    return register.columns not in KEYS_AT_HAND or named(node) is not None or isinstance(node, RowSoftmax)


def _has_columns(register: Register) -> bool:
    """Return whether a constant operand has columns, so that it is not a plain number."""
    return not _is_number(register.name)


def _is_number(text: str) -> bool:
    """Return whether a text is a plain number."""
    try:
        return isinstance(ast.literal_eval(text), int | float)
    except (ValueError, SyntaxError):
        return False


def _broadcast(register: Register, layout: Layout) -> str:
    """Return the text of an operand, reshaped so that it broadcasts to a layout."""
    if register.layout is Layout.TOKENS:  # a mask of rows, or integers that become real numbers
        return f"{register.name}.reshape({'g, 1, t, 1' if layout.is_of_heads else 'count, 1'})"
    if layout.is_of_heads and register.layout is Layout.ROWS:
        return f"{register.name}.reshape(g, 1, t, {register.columns})"
    if layout.is_of_heads and register.layout is Layout.NUMBERS:
        return f"{register.name}.reshape(g, 1, t, 1)"
    if not layout.is_of_heads and register.layout.is_of_heads:
        if register.heads != "1":
            raise Unsupported(register.name)
        return f"{register.name}.reshape(count, {register.columns})"
    return register.name


def as_heads(writer: TileWriter, register: Register) -> Register:
    """Return rows as those of one head."""
    if register.layout.is_of_heads:
        return register
    if register.layout is not Layout.ROWS:
        raise Unsupported(register.name)
    name = writer.schedule.fresh(f"{register.name}_head")
    text = f".reshape(g, 1, t, {register.columns})"
    return writer.view(register, name, layout=Layout.HEADS, heads="1", text=text)


def moved(writer: TileWriter, register: Register, target: Register) -> Register:
    """Bring a value into the layout and the memory of its target."""
    is_one_head = register.heads == "1"
    if register.layout is Layout.HEADS and target.layout is Layout.ROWS and is_one_head:
        if not target.given and not register.root.given:
            text = f".reshape(count, {register.columns})"
            return writer.view(register, target.name, layout=Layout.ROWS, of=target.of, text=text)
        text = f"np.copyto({{out}}.reshape(g, 1, t, {register.columns}), {{0}})"
    elif register.layout is Layout.HEAD_NUMBERS and target.layout is Layout.NUMBERS and is_one_head:
        text = "np.copyto({out}.reshape(g, 1, t, 1), {0})"
    elif register.layout.is_constant or register.layout is not target.layout:
        has_rows = register.layout is Layout.TABLE and target.layout in (Layout.ROWS, Layout.NUMBERS)
        place = "{out}.reshape(g, t, -1)" if has_rows else "{out}"
        text = f"np.copyto({place}, {_broadcast(register, target.layout)})"
    elif target.given or target.memory is not None:
        text = "np.copyto({out}, {0})"
    else:
        return writer.view(register, target.name, of=target.of, text="")
    return writer.emit(text, (register,), target)
