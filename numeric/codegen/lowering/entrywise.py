"""Rules for entrywise operations: sums, multiples, products of entries, functions of entries."""

from __future__ import annotations

from collections.abc import Sequence

from derivations.language.arrays.arrangements import PlacedBlock
from derivations.language.arrays.expression import Array, ColumnBroadcast, Plus, Scaled
from derivations.language.arrays.functions import Elementwise, Hadamard
from numeric.codegen.formula_printer import quotient
from numeric.codegen.lowering.formulas import FormulaWriter
from numeric.codegen.lowering.loop_schedule import Unsupported
from numeric.codegen.lowering.operands import Operand, moved, ufunc
from numeric.codegen.lowering.registers import Layout, Register
from numeric.codegen.lowering.writer import TileWriter

__all__ = ["column_broadcast", "elementwise", "hadamard", "plus", "scaled"]


def plus(writer: TileWriter, node: Plus, target: Register | None) -> Register:
    """Write a sum, or a difference if the second term has a minus sign.

    Blocks of columns that together fill a matrix are written side by side instead of being added.
    """
    blocks = _side_by_side(node)
    if blocks and target is not None:
        return _placed(writer, blocks, target)
    left, right = node.args
    name = "np.add"
    if isinstance(right, Scaled) and right.args[0].could_extract_minus_sign():
        scalar, array = -right.args[0], right.args[1]
        name, right = "np.subtract", array if scalar == 1 else Scaled(scalar, array)
    first = writer.value(left, target)
    # both operands in one target: the second would overwrite the first
    second = writer.value(right, None if first is target else target)
    return ufunc(writer, name, (first, second), target)


def _side_by_side(node: Plus) -> list[Array]:
    """Return the blocks of columns of a matrix in order if every term of the sum is one block, else an empty list."""
    terms = _terms(node)
    if not all(isinstance(term, PlacedBlock) for term in terms):
        return []
    blocks = {block: body for body, block, _ in (term.args for term in terms)}
    is_full = all(term.shape == terms[0].shape for term in terms) and terms[0].args[2] == len(terms)
    return [blocks[number] for number in range(len(terms))] if is_full and blocks.keys() == {*range(len(terms))} else []


def _terms(node: Array) -> list[Array]:
    return [term for each in node.args for term in _terms(each)] if isinstance(node, Plus) else [node]


def _placed(writer: TileWriter, blocks: Sequence[Array], target: Register) -> Register:
    """Write each block into its columns of the target; no addition is needed, since no two blocks share a column."""
    schedule = writer.schedule
    if not target.given:
        writer.emit("{out}", (), target)  # its memory, before there are views of it
    size = blocks[0].shape[-1]
    for number, block in enumerate(blocks):
        text = f"[..., {schedule.whole(number * size)}:{schedule.whole((number + 1) * size)}]"
        columns = writer.view(target, schedule.fresh("columns"), columns=schedule.whole(size), text=text)
        register = writer.value(block, columns)
        if register is not columns:
            moved(writer, register, columns)
    return target


def scaled(writer: TileWriter, node: Scaled, target: Register | None) -> Register:
    """Write the product of a scalar and an array."""
    scalar, array = node.args
    if writer.over is not None and writer.over in scalar.free_symbols:
        return writer.printed(node)  # another factor for each head is an array
    numerator, denominator = quotient(scalar)
    register = writer.value(array, target)
    if scalar == -1:
        return ufunc(writer, "np.negative", (register,), target)
    if numerator == 1:
        return ufunc(writer, "np.divide", (register, writer.schedule.scalar(denominator)), target)
    return ufunc(writer, "np.multiply", (register, writer.schedule.scalar(scalar)), target)


def hadamard(writer: TileWriter, node: Hadamard, target: Register | None) -> Register:
    """Write an entrywise product."""
    if any(not a.shape and writer.schedule.reads_batched(a) for a in node.args):
        return writer.printed(node)
    return ufunc(writer, "np.multiply", tuple(writer.value(a) for a in node.args), target)


def elementwise(writer: TileWriter, node: Elementwise, target: Register | None) -> Register:
    """Write a function of entries, operation by operation."""
    function, *arrays = node.args
    used = set(function.formula.variables) & function.formula.expr.free_symbols
    if not used or node.kind != "real" or any(not a.shape and writer.schedule.reads_batched(a) for a in arrays):
        return writer.printed(node)
    operands = {f"operand_{number}": writer.value(a) for number, a in enumerate(arrays)}
    text = writer.schedule.formula(function.formula, list(operands))
    for name, register in operands.items():
        if register.layout is Layout.FIXED:
            text = text.replace(name, f"({register.name})")
    for name in operands:
        text = text.replace(f"{name}.dtype", "dtype")
    moving = {name: register for name, register in operands.items() if register.layout is not Layout.FIXED}

    def emit(name: str, parts: tuple[Operand, ...], last: bool = False) -> Register:
        return ufunc(writer, name, parts, target if last else None)

    def uninterpreted(text: str, read: list[Register]) -> Register:
        widest = max(read, key=lambda r: (r.layout.is_of_heads, r.layout.is_wide, r.columns != "1"))
        if not all(_lies_like(register, widest) for register in operands.values()):
            raise Unsupported(node)
        form = widest.layout, widest.columns, widest.heads
        register = Register(writer.schedule.fresh("values"), *form, given=True, keeps=tuple(read))
        return writer.bind(register, text, tuple(read))

    result = FormulaWriter(moving, emit, uninterpreted).write(text)
    return writer.printed(node) if isinstance(result, str) else result


def _lies_like(register: Register, widest: Register) -> bool:
    """Return whether a register broadcasts to another without a reshape; rows do not to heads, nor tables to rows."""
    if register.layout.is_constant:
        return widest.layout.is_of_heads or (register.layout is Layout.FIXED and register.heads == "1")
    return register.layout.is_of_heads == widest.layout.is_of_heads


def column_broadcast(writer: TileWriter, node: ColumnBroadcast, target: Register | None) -> Register:
    """Return the vector itself, one number for each row: NumPy broadcasts it to all columns."""
    return writer.value(node.args[0])
