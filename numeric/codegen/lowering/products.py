"""Products: rows of all batch items times weights, and rows of a head times all rows of an array of the same item."""

from __future__ import annotations

from derivations.language.arrays.expression import Array, Member, Product, Transpose, Variable
from derivations.language.arrays.shapes import total
from numeric.codegen.lowering.expressions import named
from numeric.codegen.lowering.loop_schedule import Unsupported
from numeric.codegen.lowering.operands import as_heads, is_of_all_keys, result
from numeric.codegen.lowering.registers import Layout, Register
from numeric.codegen.lowering.views import view_text
from numeric.codegen.lowering.writer import TileWriter

__all__ = ["all_rows", "bind_all_rows", "product"]


def product(writer: TileWriter, node: Product, target: Register | None) -> Register:
    """Write one product."""
    left, right = node.args
    if len(left.shape) == 1:
        return writer.printed(node)
    rows = writer.value(left)
    if not is_of_all_keys(rows, left) or not rows.layout.is_wide:
        raise Unsupported(node)
    if not writer.schedule.reads_batched(right):
        return _by_weights(writer, rows, right, target)
    of_items = all_rows(writer, right)
    heads = as_heads(writer, rows)
    count = _count(writer, heads, right)
    if len(right.shape) == 1:
        return _matmul(writer, heads, f"{of_items}[..., None]", result(writer, _form(False, True), "1", count, target))
    columns = writer.key_columns(right.shape[1]) or writer.schedule.whole(total(right.shape[1]))
    return _matmul(writer, heads, of_items, result(writer, _form(True, True), columns, count, target))


def _by_weights(writer: TileWriter, rows: Register, right: Array, target: Register | None) -> Register:
    text, is_matrix = _constant_rows(writer, right), len(right.shape) == 2
    columns = "1"
    if is_matrix:
        columns = writer.key_columns(right.shape[1]) or writer.schedule.whole(total(right.shape[1]))
    text = text if is_matrix else f"{text}[..., None]"
    if not _is_of_family(writer, right) and rows.layout is not Layout.HEADS:
        # the rows of all items are one matrix: one large product instead of a product for each item
        writer.schedule.factors.add(text)
        out = result(writer, _form(is_matrix, False), columns, "1", target)
        return _matmul(writer, rows, text, out, "rows_times" if is_matrix else "np.matmul")
    heads = as_heads(writer, rows)
    out = result(writer, _form(is_matrix, True), columns, _count(writer, heads, right), target)
    return _matmul(writer, heads, text, out)


def _is_of_family(writer: TileWriter, node: Array) -> bool:
    """Return whether an operand differs between the members of the family."""
    return writer.over is not None and writer.over in node.free_symbols


def _count(writer: TileWriter, heads: Register, right: Array) -> str:
    """Return the number of heads of a product: that of the rows, or of the right operand if the rows have one head."""
    return writer.heads_here() if heads.heads == "1" and _is_of_family(writer, right) else heads.heads


def _form(is_matrix: bool, is_of_heads: bool) -> Layout:
    if is_of_heads:
        return Layout.HEADS if is_matrix else Layout.HEAD_NUMBERS
    return Layout.ROWS if is_matrix else Layout.NUMBERS


def _matmul(writer: TileWriter, left: Register, right: str, out: Register, function: str = "np.matmul") -> Register:
    return writer.emit(function + "({0}, " + right + ", out={out})", (left,), out)


# --- all rows of the items of a tile --------------------------------------------------------------------------------


def _constant_rows(writer: TileWriter, node: Array) -> str:
    """Return the text of a right operand that reads no input, cut to the current keys if an axis counts keys."""
    places = [writer.key_slice(along) for along in node.shape]
    text = writer.constant_whole(node)
    return f"({text})[..., {', '.join(each or ':' for each in places)}]" if any(places) else text


def all_rows(writer: TileWriter, node: Array) -> str:
    """Return the text of an array with all rows of the tile's items, as the right operand of a product."""
    if not writer.schedule.reads_batched(node):
        return _constant_rows(writer, node)
    if isinstance(node, Transpose):
        return f"{all_rows(writer, node.args[0])}.mT"
    variable = named(node)
    if variable is None or (isinstance(node, Member) and node.args[1] != writer.over):
        raise Unsupported(node)
    # inside a loop over heads the names of all rows would be bound again in every round
    if writer.in_loop and variable not in writer.across:
        raise Unsupported(node)
    text = bind_all_rows(writer, variable).name
    heads = "a:b" if isinstance(node, Member) and writer.in_loop else ""
    keys = writer.schedule.row_size(variable)
    places = writer.key_slice(keys) if keys is not None else ""
    if places:
        return f"{text}[:, {heads or ':'}, {places}]"
    return f"{text}[:, {heads}]" if heads else text


def bind_all_rows(writer: TileWriter, variable: Variable) -> Register:
    """Give a name to all rows of an array for the batch items of the tile: (g, heads, n, columns)."""
    if variable not in writer.across:
        schedule = writer.schedule
        _, columns, heads = schedule.layout(variable)
        register = Register(schedule.all_rows_name(variable), Layout.HEADS, columns, heads, given=True)
        writer.across[variable] = writer.bind(register, _all_rows_text(writer, variable))
    return writer.across[variable]


def _all_rows_text(writer: TileWriter, variable: Variable) -> str:
    schedule = writer.schedule
    layout, columns, _ = schedule.layout(variable)
    size = schedule.row_size(variable)
    if size is None:
        one_head = "" if variable in schedule.families else ", None"
        return f"{schedule.standard_name(variable)}[first:last{one_head}]"
    whole, n = schedule.whole_name(schedule.root(variable)), schedule.name(size)
    if variable != schedule.root(variable):
        text = whole + view_text(schedule, variable, n, f"first * {n}:last * {n}")
        return f"{text}.reshape(g, 1, {n}, {columns})" if layout is Layout.ROWS else text
    if layout.is_of_heads:
        return f"{whole}[first:last]"
    if layout is Layout.ROWS:
        return f"{whole}[first * {n}:last * {n}].reshape(g, 1, {n}, {columns})"
    raise Unsupported(variable)
