"""Rules for functions of rows: sums and means, exponentials, and the softmax."""

from __future__ import annotations

from sympy import E, Expr, Integer

from derivations.language.arrays.exponentials import Normalised, RowExponentials
from derivations.language.arrays.expression import Array, Transpose
from derivations.language.arrays.functions import Elementwise, Hadamard, RowMean, RowSoftmax, RowSum
from derivations.language.arrays.shapes import total
from numeric.codegen.lowering.expressions import named
from numeric.codegen.lowering.hidden_keys import hidden, mask_of
from numeric.codegen.lowering.loop_schedule import Unsupported
from numeric.codegen.lowering.operands import is_of_all_keys, numbers, of_keys_at_hand, ufunc
from numeric.codegen.lowering.registers import Register
from numeric.codegen.lowering.writer import TileWriter

__all__ = ["normalised", "power_of", "row_exponentials", "row_mean", "row_softmax", "row_sum"]


def row_sum(writer: TileWriter, node: RowSum, target: Register | None) -> Register:
    """Write the sums of rows: inner products if the entries are products of two arrays, else a product with ones."""
    array = node.args[0]
    if len(array.shape) != 2 or isinstance(array, Transpose):
        raise Unsupported(node)
    factors = _factors(array)
    if factors is not None and all(writer.schedule.reads_batched(f) for f in factors):
        first, second = (writer.value(f) for f in factors)
        if not all(is_of_all_keys(r, f) for r, f in zip((first, second), factors, strict=True)):
            raise Unsupported(node)
        # sum_j a_ij b_ij is an inner product for each row: the entrywise product is never stored
        if first.layout.is_wide and (first.layout, first.heads) == (second.layout, second.heads):
            out = numbers(writer, first, target)
            return writer.emit("np.vecdot({0}, {1}, axis=-1, keepdims=True, out={out})", (first, second), out)
    register = writer.value(array)
    if not register.layout.is_wide or not is_of_all_keys(register, array):
        raise Unsupported(node)
    out = numbers(writer, register, target)
    if register.columns != writer.schedule.whole(total(array.shape[-1])) or _adds_powers(writer, node):
        return _added(writer, register, out)
    ones = writer.schedule.ones(register.columns)  # fast, but less accurate than `_added`, which softmax weights need
    return writer.emit("np.matmul({0}, " + ones + ", out={out})", (register,), out)


def row_mean(writer: TileWriter, node: RowMean, target: Register | None) -> Register:
    """Write the means of rows."""
    sums = row_sum(writer, node, target)
    return ufunc(writer, "np.divide", (sums, writer.schedule.whole(total(node.args[0].shape[-1]))), target)


def row_softmax(writer: TileWriter, node: RowSoftmax, target: Register | None) -> Register:
    """Write the exponentials of rows divided by their sums; a row without a visible key becomes zeros."""
    powers = _powers(writer, node.args[0], mask_of(node), E, target)
    return _divided(writer, powers, _added(writer, powers, numbers(writer, powers)), target)


def row_exponentials(writer: TileWriter, node: RowExponentials, target: Register | None) -> Register:
    """Write base^(s - r), where r is the largest visible score of the row."""
    return _powers(writer, node.args[0], node.mask, node.base, target)


def normalised(writer: TileWriter, node: Normalised, target: Register | None) -> Register:
    """Write rows divided by sums of exponentials."""
    rows, sums = (writer.value(a) for a in node.args)
    variable = named(node.args[1])
    equation = writer.schedule.equation.get(variable) if variable is not None else None
    if equation is None or not isinstance(equation.value, RowSum) or not _adds_powers(writer, equation.value):
        raise Unsupported(node)
    return _divided(writer, rows, sums, target)


def power_of(base: Expr) -> str:
    """Return the name of the ufunc that computes powers of a base."""
    if base not in (E, Integer(2)):
        raise Unsupported(base)
    return "np.exp2" if base == 2 else "np.exp"


def _powers(writer: TileWriter, scores: Array, mask: Array | None, base: Expr, target: Register | None) -> Register:
    power = power_of(base)
    if len(scores.shape) != 2:
        raise Unsupported(scores)
    register = writer.value(scores)
    if register.layout.is_constant:
        raise Unsupported(scores)
    register = of_keys_at_hand(writer, register, scores.shape[-1])
    if mask is not None:
        register = hidden(writer, register, mask, target)
    largest = numbers(writer, register)
    # softmax(s) = softmax(s - max s): the largest exponent is 0, so that no power overflows
    writer.emit("np.maximum.reduce({0}, axis=-1, keepdims=True, initial=lowest, out={out})", (register,), largest)
    return ufunc(writer, power, (ufunc(writer, "np.subtract", (register, largest), target),), target)


def _added(writer: TileWriter, register: Register, out: Register) -> Register:
    """Write the sums of rows, as accurate as pairwise sums: softmax weights must add up to 1."""
    ones = "row_of(1, {0}.shape[-1], dtype)"
    return writer.emit("np.vecdot({0}, " + ones + ", axis=-1, keepdims=True, out={out})", (register,), out)


def _divided(writer: TileWriter, rows: Register, sums: Register, target: Register | None) -> Register:
    """Write the division by sums of exponentials; such a sum is at least 1 in a row with a visible key, else 0."""
    # max(sum, 1) changes no row with a visible key, and turns 0/0 into 0 in the others
    return ufunc(writer, "np.divide", (rows, ufunc(writer, "np.maximum", (sums, "1"))), target)


def _adds_powers(writer: TileWriter, value: RowSum) -> bool:
    """Return whether the rows that are summed are exponentials."""
    variable = named(value.args[0])
    equation = writer.schedule.equation.get(variable) if variable is not None else None
    return equation is not None and isinstance(equation.value, RowExponentials)


def _factors(node: Array) -> tuple[Array, Array] | None:
    """Return the two factors of an entrywise product or square."""
    if isinstance(node, Hadamard):
        return node.args[0], node.args[1]
    if isinstance(node, Elementwise):
        function = node.args[0].formula
        if len(function.variables) == 1 and function.expr == function.variables[0] ** 2:
            return node.args[1], node.args[1]
    return None
