"""Adjoint rules, one for each kind of node: from the gradient of its value to the gradients of its operands.

Let g be the gradient of a scalar by the value of a node; `adjoints(node, g, value)` gives the gradient by each operand.
The rules print as in a textbook: the transpose of a product is written as the product of the transposes, and scalars
come before products. Every rule is a result of the catalogue, proved entry by entry (`gradient.product`, ...).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

from sympy import (
    Abs,
    Basic,
    Expr,
    Gt,
    Indexed,
    Integer,
    KroneckerDelta,
    Lambda,
    Lt,
    Max,
    Min,
    Mul,
    Symbol,
    diff,
    exp,
    expand,
    sign,
)
from sympy.core.symbol import Str

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, Explicit, PlacedBlock, SumOver, Tabulated
from derivations.language.arrays.buckets import RelativeBuckets
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.contraction import Contraction, contraction, indices_of, operand_of
from derivations.language.arrays.exponentials import RowMax
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Shape,
    Transpose,
)
from derivations.language.arrays.functions import (
    BandMask,
    Elementwise,
    Hadamard,
    Interleave,
    Lookup,
    Named,
    RowLogSumExp,
    RowMean,
    RowSoftmax,
    RowSum,
    exponential,
)
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.routing import BatchTranspose, RoutedOuter, RoutedProduct, TopK, TopKMask
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.selection import (
    AddedEntries,
    AddedPicks,
    AddedWindows,
    Chosen,
    EveryOther,
    OneHot,
    Pick,
    ScatterRows,
    Windows,
)
from derivations.language.arrays.shapes import Blocks, Sized, total
from derivations.language.differentiation.contractions import operand_gradient
from derivations.language.differentiation.pullback import Pullback

__all__ = ["GradientError", "adjoints", "derivative_of", "in_columns", "ones", "require_constant"]


class GradientError(TypeError):
    """No rule differentiates a node or a function; the message names it and says what to do."""


# --- building blocks, written as a textbook would -------------------------------------------------------------------


def scaled(scalar: Expr, array: Array) -> Array:
    """Return a multiple of an array, with all scalars joined into one factor in front."""
    if isinstance(array, Scaled):
        scalar, array = scalar * array.args[0], array.args[1]
    return array if scalar == 1 else Scaled(scalar, array)


def transpose(array: Array) -> Array:
    """Return the transpose: (A B)^T = B^T A^T, (A^T)^T = A, (c A)^T = c A^T."""
    if isinstance(array, Transpose):
        return array.args[0]
    if isinstance(array, Scaled):
        return scaled(array.args[0], transpose(array.args[1]))
    # a vector has no transpose here: it is a row on the left and a column on the right
    if isinstance(array, Product) and all(len(a.shape) == 2 for a in array.args):
        return Product(transpose(array.args[1]), transpose(array.args[0]))
    if isinstance(array, RowBroadcast):
        return ColumnBroadcast(*array.args)
    if isinstance(array, ColumnBroadcast):
        return RowBroadcast(*array.args)
    return Transpose(array)


def product(left: Array, right: Array) -> Array:
    """Return the product of two arrays, with scalars in front."""
    scalar = Integer(1)
    if isinstance(left, Scaled):
        scalar, left = scalar * left.args[0], left.args[1]
    if isinstance(right, Scaled):
        scalar, right = scalar * right.args[0], right.args[1]
    return scaled(scalar, Product(left, right))


def hadamard(left: Array, right: Array) -> Array:
    """Return the entrywise product of two arrays, with scalars in front."""
    scalar = Integer(1)
    if isinstance(left, Scaled):
        scalar, left = scalar * left.args[0], left.args[1]
    if isinstance(right, Scaled):
        scalar, right = scalar * right.args[0], right.args[1]
    return scaled(scalar, Hadamard(left, right))


def ones(*shape: Sized) -> Array:
    """Return the array whose entries are all 1."""
    places = tuple(Symbol(letter, integer=True) for letter, _ in zip("ijk", shape, strict=False))
    return Tabulated(Lambda(places, Integer(1)), *shape)


def _sum_of_all(array: Array) -> Array:
    for _ in array.shape:
        array = RowSum(array)
    return array


def _fitted(gradient: Array, operand: Array) -> Array:
    """Return the gradient of an operand. For an operand of rank 0, which is broadcast, sum over all entries."""
    # one number that is used at every place collects the gradient of every place
    return gradient if operand.shape else _sum_of_all(gradient)


# --- the rules ------------------------------------------------------------------------------------------------------


@singledispatch
def adjoints(node: Array, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Yield each operand of a node that may be differentiated, with the gradient with respect to it.

    `g` is the gradient with respect to the node, `value` is an array that contains the node's value.

    Raises       GradientError for a node without a rule
    """
    kind = type(node).__name__
    raise GradientError(f"the gradient of {node}: no rule differentiates a {kind}; register one with `adjoints`")


@adjoints.register(BandMask)
@adjoints.register(RelativeBuckets)
@adjoints.register(OneHot)
@adjoints.register(TopK)
@adjoints.register(TopKMask)
@adjoints.register(Explicit)
def _(node: Array, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """A constant has no operands to differentiate."""
    yield from ()


@adjoints.register
def _(node: Tabulated, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """A table of constants has no operands. A formula that reads entries of arrays is refused."""
    require_constant(node)
    yield from ()


def require_constant(node: Tabulated) -> None:
    """Raise `GradientError` for a table whose formula reads arrays."""
    # treated as a constant, such a table would give a gradient without the term of the array
    if node.args[0].expr.has(Indexed):
        raise GradientError(f"the gradient of {node}: the formula of its entries reads arrays; write it with nodes")


@adjoints.register
def _(node: Pullback, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """A gradient through a part with weights is not differentiated again."""
    raise GradientError(f"the gradient of {node}: write the equations of {node.applied.layer.name} where it is applied")


@adjoints.register
def _(node: Transpose, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Y = A^T: dA = dY^T."""
    yield node.args[0], transpose(g)


@adjoints.register
def _(node: Scaled, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Y = c A: dA = c dY."""
    yield node.args[1], scaled(node.args[0], g)


@adjoints.register
def _(node: Plus, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Y = A + B: dA = dY, dB = dY."""
    yield node.args[0], g
    yield node.args[1], g


@adjoints.register
def _(node: RowBroadcast, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Y = 1 b^T: db is the sum of the rows of dY."""
    # `RowSum` sums along each row, so the sum of the rows is the row sums of the transpose.
    yield node.args[0], _scalars_out(RowSum, transpose(g))


@adjoints.register
def _(node: ColumnBroadcast, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Y = v 1^T: dv is the sum of the columns of dY."""
    yield node.args[0], _scalars_out(RowSum, g)


def _scalars_out(function: type[Array], array: Array) -> Array:
    """Return f(A) for a linear function f, with the scalar of A in front: f(c A) = c f(A)."""
    if isinstance(array, Scaled):
        return scaled(array.args[0], function(array.args[1]))
    return function(array)


@adjoints.register
def _(node: Product, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Y = A B: dA = dY B^T, dB = A^T dY; a vector is a row on the left and a column on the right."""
    left, right = node.args
    match len(left.shape), len(right.shape):
        case 2, 2:
            yield left, product(g, transpose(right))
            yield right, product(transpose(left), g)
        case 1, 2:  # y = x B: dB is the outer product x^T dy
            yield left, product(right, g)
            yield right, hadamard(ColumnBroadcast(left, right.shape[1]), RowBroadcast(g, left.shape[0]))
        case 2, 1:  # y = A x: dA is the outer product dy x^T
            yield left, hadamard(ColumnBroadcast(g, right.shape[0]), RowBroadcast(right, left.shape[0]))
            yield right, product(g, left)
        case _:  # the inner product of two vectors: g is a scalar
            yield left, hadamard(g, right)
            yield right, hadamard(g, left)


@adjoints.register
def _(node: Hadamard, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Y = A o B: dA = dY o B, dB = dY o A."""
    left, right = node.args
    yield left, _fitted(hadamard(g, right), left)
    yield right, _fitted(hadamard(g, left), right)


@adjoints.register
def _(node: Elementwise, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Y = f(A, B, ...) entry by entry: dA = dY o f_1(A, B, ...), with f_1 the partial derivative in A.

    Where f_1 is a function of the value alone, it takes Y: of the sigmoid, dA = dY o Y o (1 - Y).
    """
    function, *arrays = node.args
    by_value = _slope_by_value(function)
    if by_value is not None:
        yield arrays[0], hadamard(g, Elementwise(by_value, value))
        return
    for number, array in enumerate(arrays):
        slope = derivative_of(function, number)
        # a slope 0 adds nothing, and without its term the backward pass need not read the operands
        if slope.formula.expr != 0:
            yield array, _fitted(hadamard(g, Elementwise(slope, *arrays)), array)


@adjoints.register
def _(node: RowSoftmax, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """A = softmax of the rows of S: dS = A o (dA - rowsum(dA o A)); hidden entries have A = 0, so dS = 0."""
    # The Jacobian of a row is Diag(a) - a a^T, so ds = a o da - a (a . da).
    mean = RowSum(hadamard(g, value))
    yield node.args[0], Hadamard(value, g - _along_rows(mean, value))


@adjoints.register
def _(node: RowLogSumExp, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Z = log-sum-exp of the rows of X: dX = Diag(dz) softmax(X)."""
    array = node.args[0]
    yield array, hadamard(_along_rows(g, array), RowSoftmax(array))


@adjoints.register
def _(node: RowSum, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """S = sums of the rows of X: dX = ds 1^T."""
    yield node.args[0], _along_rows(g, node.args[0])


@adjoints.register
def _(node: RowMean, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """M = means of the rows of X, which has d columns: dX = dm 1^T / d."""
    array = node.args[0]
    yield array, scaled(1 / total(array.shape[-1]), _along_rows(g, array))


def _along_rows(g: Array, array: Array) -> Array:
    """Return g, which has one number for each row, repeated along the rows of an array."""
    if isinstance(g, Scaled):
        return scaled(g.args[0], _along_rows(g.args[1], array))
    if len(array.shape) == 1:
        return Hadamard(g, ones(*array.shape))
    places = indices_of(array.shape)
    return contraction(places, array.shape, (), 1, operand_of(g, places[:-1]))


@adjoints.register
def _(node: Interleave, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Interleaved columns: the first array gets the even columns of dY, the second array the odd ones."""
    for place, array in enumerate(node.args):
        yield array, EveryOther(g, Integer(place))


@adjoints.register
def _(node: EveryOther, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Every other column: the other columns have gradient 0."""
    array, place = node.args
    # 0 * g has the shape of g, so the two halves interleave
    nothing = scaled(Integer(0), g)
    yield array, Interleave(g, nothing) if place == 0 else Interleave(nothing, g)


@adjoints.register
def _(node: Windows, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Windows of rows: dX sums, for each row, the gradients of its copies in all windows."""
    yield node.args[0], AddedWindows(g, node.args[0].shape[0])


@adjoints.register
def _(node: AddedWindows, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Windows added up: the gradient of each window is its rows of dY."""
    yield node.args[0], Windows(g, node.args[0].shape[1].count)


@adjoints.register
def _(node: Recurrence, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """H_t = a_t o H_{t-1} + B_t with a = exp(L): dB is the recurrence of dH in the other direction.

    H_t reads L in G_t = sum_{r <= t} L_r, with dG_t = dH_t o H_t - dB_t o B_t, so dL_t = sum_{r >= t} dG_r; backwards
    the sign is the other. The sums over r are a recurrence without decay; the axes after those of L are summed.
    """
    logarithms, added = node.args[:2]
    carried = node.transposed(g)
    yield added, carried
    if node.factors:
        yield from _of_steps(node, carried, value)
        return
    read, written = hadamard(g, value), hadamard(carried, added)
    each = written - read if node.backwards else read - written
    # exp(0) = 1: nothing decays
    still = Tabulated(Lambda((Symbol("i", integer=True),), Integer(0)), added.shape[0])
    yield logarithms, Recurrence(still, _summed_behind(each, len(logarithms.shape)), 1)


def _of_steps(node: Recurrence, carried: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the gradients with respect to the parts of the matrices A_t, as derivatives of <dB_t, A_t H_{t-1}>.

    Definition   dL_t = exp(L_t) o dB_t o H_{t-1}, dw_t = dB_t (r_t^T H_{t-1})^T, dr_t = H_{t-1} (w_t^T dB_t)^T
    """
    logarithms, _, _, written, read = node.args
    t, *rest = indices_of(node.shape)
    s, axis = Symbol("s", integer=True), len(written.shape) - 1
    inner = Symbol("p", integer=True)
    steps, later = total(node.shape[0]) - 1, KroneckerDelta(t, s + 1)  # the matrix of position s + 1 joins s and s + 1
    before, after = (s + 1, s) if node.backwards else (s, s + 1)
    behind = [*zip(rest, node.shape[1:], strict=True)]

    def joined(shape: Shape, sums: list[Any], *operands: Any) -> Array:
        places = (t, *rest[: len(shape) - 1])
        return contraction(places, shape, [(s, steps), *sums], later, *operands)

    state, slope = operand_of(value, (before, *rest)), operand_of(carried, (after, *rest))
    own = len(logarithms.shape)
    at_own = operand_of(exponential(logarithms), (s + 1, *rest[: own - 1]))
    yield logarithms, joined(logarithms.shape, behind[own - 1 :], at_own, state, slope)
    said_axes = (*rest[: axis - 1], *rest[axis:])
    said_shape = (*node.shape[1:axis], *node.shape[axis + 1 :])
    for of, factor, array, other in ((written, read, value, slope), (read, written, carried, state)):
        place = before if array is value else after
        from_array = operand_of(array, (place, *rest[: axis - 1], inner, *rest[axis:]))
        by = operand_of(factor, (s + 1, *rest[: axis - 1], inner))
        said = contraction((s, *said_axes), (steps, *said_shape), [(inner, node.shape[axis])], 1, by, from_array)
        yield of, joined(of.shape, behind[axis:], operand_of(said, (s, *said_axes)), other)


def _summed_behind(array: Array, rank: int) -> Array:
    """Return an array summed over all axes after the first `rank`."""
    if rank == len(array.shape):
        return array
    places = indices_of(array.shape)
    sums = [*zip(places[rank:], array.shape[rank:], strict=True)]
    return contraction(places[:rank], array.shape[:rank], sums, 1, operand_of(array, places))


@adjoints.register
def _(node: Lookup, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Rows of a table: row v of dE is the sum of the rows of dY that were looked up in row v of E."""
    table, tokens = node.args
    # a token that occurs twice collects both gradients, so rows are added, not written
    yield table, _scattered(g, tokens, table.shape[0])


def _scattered(g: Array, tokens: Array, size: Sized) -> Array:
    """Return the rows of g added into the rows of a table, with scalars in front."""
    if isinstance(g, Scaled):
        return scaled(g.args[0], ScatterRows(g.args[1], tokens, size))
    return ScatterRows(g, tokens, size)


@adjoints.register
def _(node: ScatterRows, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Rows added by number: the gradient of a row is the row of dY that it was added to."""
    rows, tokens, _ = node.args
    yield rows, Lookup(g, tokens)


@adjoints.register
def _(node: Pick, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Picked entries of rows: dX has their gradients at these entries and 0 elsewhere. Repeated picks are added up."""
    matrix, tokens = node.args
    size = matrix.shape[1]
    one = len(tokens.shape) == 1
    yield matrix, hadamard(_along_rows(g, matrix), OneHot(tokens, size)) if one else AddedPicks(g, tokens, size)


@adjoints.register
def _(node: AddedPicks, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Entries added in their rows: the gradient of an entry is that of the sum it was added to."""
    picked, numbers, _ = node.args
    yield picked, Pick(g, numbers)


@adjoints.register
def _(node: Chosen, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Entries of a table by number: the gradient of an entry is the sum over all indices that selected it."""
    table, numbers = node.args
    yield table, AddedEntries(g, numbers, table.shape[0])


@adjoints.register
def _(node: AddedEntries, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Entries added by number: the gradient of an entry is that of the sum it was added to."""
    matrices, numbers, _ = node.args
    yield matrices, Chosen(g, numbers)


@adjoints.register
def _(node: RowRange, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """A range of rows: all other rows have gradient 0."""
    matrix, start, _, step = node.args
    yield matrix, PlacedRows(g, start, matrix.shape[0], step)


@adjoints.register
def _(node: ColumnRange, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """A range of columns: all other columns have gradient 0."""
    matrix, start, _ = node.args
    yield matrix, in_columns(g, start, matrix.shape[-1])


def in_columns(g: Array, start: Expr, along: Sized) -> Array:
    """Return g in the columns from `start` on and zeros elsewhere. The two column axes may have different blocks."""
    own = g.shape[-1]
    if start != 0 or expand(total(own) - total(along)) != 0:
        plain = in_columns(g, Integer(0), total(own)) if isinstance(own, Blocks) else g
        placed = PlacedRows(_turned(plain), start, total(along), Integer(1))
        g = _turned(placed)
    return g if g.shape[-1] == along else ColumnRange(g, 0, along)


def _turned(array: Array) -> Array:
    """Return the columns of a matrix as rows, and a vector as it is."""
    return Transpose(array) if len(array.shape) == 2 else array


@adjoints.register
def _(node: PlacedRows, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Rows placed among rows of zeros: their gradients are the same rows of dY."""
    body, start, _, step = node.args
    yield body, RowRange(g, start, body.shape[0], step)


@adjoints.register
def _(node: Stacked, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Stacked matrices: the gradient of each matrix is its rows of dY."""
    above, below = node.args
    yield above, RowRange(g, 0, above.shape[0])
    yield below, RowRange(g, total(above.shape[0]), below.shape[0])


@adjoints.register
def _(node: ColumnConcatenation, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Matrices side by side: the gradient of each matrix is its columns of dY."""
    start = Integer(0)
    for part in node.args:
        yield part, ColumnRange(g, start, part.shape[-1])
        start = expand(start + total(part.shape[-1]))


@adjoints.register
def _(node: RoutedProduct, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Row i is x_i W_e for its number e: dx_i = dy_i W_e^T, dW_e = sum of x_i^T dy_i over the rows with number e."""
    rows, matrices, numbers = node.args
    scalar, given = (g.args[0], g.args[1]) if isinstance(g, Scaled) else (Integer(1), g)
    yield rows, scaled(scalar, RoutedProduct(given, _each_transposed(matrices), numbers))
    yield matrices, scaled(scalar, RoutedOuter(rows, given, numbers, matrices.shape[0]))


@adjoints.register
def _(node: RoutedOuter, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Matrix e is the sum of x_i^T h_i over the rows with number e: dx_i = h_i dY_e^T, dh_i = x_i dY_e."""
    left, right, numbers, _ = node.args
    yield left, RoutedProduct(right, _each_transposed(g), numbers)
    yield right, RoutedProduct(left, g, numbers)


@adjoints.register
def _(node: BatchTranspose, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Every matrix transposed: the gradient of every matrix is transposed too."""
    yield node.args[0], _each_transposed(g)


def _each_transposed(family: Array) -> Array:
    """Return every matrix of a family transposed; two transposes cancel."""
    return family.args[0] if isinstance(family, BatchTranspose) else BatchTranspose(family)


@adjoints.register
def _(node: Concatenate, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Concatenated blocks: dB_i is block i of dY, for every i of the family."""
    body, over, _ = node.args
    yield body, _block(g, over)


def _block(g: Array, over: Symbol) -> Array:
    if isinstance(g, Scaled):
        return scaled(g.args[0], _block(g.args[1], over))
    return ColumnBlock(g, over)


@adjoints.register
def _(node: PlacedBlock, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """One block of columns among zeros: its gradient is that block of dY."""
    yield node.args[0], ColumnBlock(g, node.args[1])


@adjoints.register
def _(node: SumOver, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Y = B_1 + ... + B_h: dB_i = dY, for every i of the family."""
    yield node.args[0], g


@adjoints.register
def _(node: RowMax, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """A row maximum has no adjoint rule. If it cancels (`cancelling`), it is a constant and never gets here."""
    raise GradientError(
        f"the gradient of {node}: an output depends on the largest entry, and its slope has no rule; "
        "a maximum that is only subtracted before exponentials are divided by their sum needs none"
    )
    # never reached: it only makes this function a generator, as the other rules are
    yield


@adjoints.register
def _(node: Contraction, g: Array, value: Array) -> Iterator[tuple[Array, Array]]:
    """Sums of products of entries: the gradient for each operand is a contraction of dY with the other operands."""
    scalar, given = (g.args[0], g.args[1]) if isinstance(g, Scaled) else (Integer(1), g)
    for number, (operand, _) in enumerate(node.operands):
        yield operand, scaled(scalar, operand_gradient(node, number, given))


# --- slopes of elementwise functions --------------------------------------------------------------------------------


def derivative_of(function: Named, argument: int = 0) -> Named:
    """Return the derivative of an elementwise function in one of its arguments, as a new named function.

    Definition   the derivative off the kinks; if arguments of a maximum are equal, that of the first: numbers come
                 first, then the order is by name; ReLU'(0) = 0, and max(a, b) has the slopes 1 and 0 at a = b; the
                 slope of |u| is 0 at u = 0
    Raises       GradientError for a formula that SymPy does not differentiate in closed form
    """
    formula, variables = function.formula.expr, function.formula.variables
    slope = _slope(formula, variables[argument], frozenset(variables))
    suffix = "_prime" if len(variables) == 1 else f"_prime_{argument + 1}"
    return Named(Str(f"{function.name}{suffix}"), Lambda(variables, slope))


def _slope_by_value(function: Named) -> Named | None:
    """Return the derivative of a function of one argument as a function of its value, such as 1 - y^2, or None.

    The formula is replaced by y wherever it occurs in its derivative, so that equals stand for equals.
    """
    if len(function.formula.variables) > 1:
        return None
    formula, (variable,) = function.formula.expr, function.formula.variables
    value = Symbol("y" if variable.name != "y" else "z", real=True)
    # sigmoid' = s (1 - s) holds s as written, so s can be replaced by y
    slope = derivative_of(function).formula.expr.xreplace({formula: value})
    if variable in slope.atoms(Symbol) or value not in slope.free_symbols:  # d/dx of an unknown function keeps its x
        return None
    return Named(Str(f"{function.name}_prime_by_value"), Lambda(value, slope))


def _slope(formula: Expr, variable: Symbol, variables: frozenset[Basic]) -> Expr:
    """Return the derivative of a formula; SymPy differentiates all of it except the parts with a rule here."""
    # Chain rule for f(x, u(x)): f_x + f_u u', where each part u is hidden behind a symbol while SymPy differentiates.
    hidden = {part: Symbol(f"hidden_{k}", real=True) for k, part in enumerate(_outermost(formula))}
    plain = formula.xreplace(hidden)
    # f_x: the hidden parts count as constants here
    slope = diff(plain, variable)
    for part, name in hidden.items():
        if not isinstance(part, Iverson | sign):  # both are constant off their jumps
            slope += diff(plain, name) * _slope_of_part(part, variable, variables)
    return slope.xreplace({name: part for part, name in hidden.items()})


def _outermost(formula: Expr) -> list[Expr]:
    """Return the outermost maxima, minima, absolute values, signs, brackets and logistic functions of a formula."""
    if isinstance(formula, Max | Min | Abs | sign | Iverson) or _is_logistic(formula):
        return [formula]
    return sorted({part for inner in formula.args if isinstance(inner, Expr) for part in _outermost(inner)}, key=str)


def _is_logistic(part: Expr) -> bool:
    """Return whether a formula is s = 1/(1 + exp(u)), whose slope -s (1 - s) u' cannot overflow."""
    if not (part.is_Pow and part.exp == -1 and part.base.is_Add and len(part.base.args) == 2):
        return False
    return Integer(1) in part.base.args and any(isinstance(term, exp) for term in part.base.args)


def _slope_of_part(part: Expr, variable: Symbol, variables: frozenset[Basic]) -> Expr:
    if isinstance(part, Max | Min):
        return _slope_of_choice(part, variable, variables)
    if isinstance(part, Abs):
        inner = part.args[0]
        direction = Iverson(Gt(inner, 0, evaluate=False)) - Iverson(Lt(inner, 0, evaluate=False))
        return direction * _slope(inner, variable, variables)
    (power,) = (term for term in part.base.args if isinstance(term, exp))
    # s = 1/(1 + exp(u)) has s' = -s (1 - s) u'
    return -part * (1 - part) * _slope(power.args[0], variable, variables)


def _slope_of_choice(choice: Expr, variable: Symbol, variables: frozenset[Basic]) -> Expr:
    """Return the slope of the argument that a maximum or minimum takes. Of equal arguments, it is the first one.

    The order is the same whichever variable is differentiated by, so that the slopes by all of them sum to 1 at a tie.
    """
    # Numbers first: the slope of max(0, x) is [x > 0], which is 0 at x = 0.
    parts = sorted(choice.args, key=lambda part: (bool(part.free_symbols & variables), str(part)))
    order = Gt if isinstance(choice, Max) else Lt
    slope: Expr = Integer(0)
    for k, part in enumerate(parts):
        # strictly above the parts before it, and not below those after it: at a tie the first one is chosen
        before = [Iverson(order(part, other, evaluate=False)) for other in parts[:k]]
        behind = [1 - Iverson(order(other, part, evaluate=False)) for other in parts[k + 1 :]]
        slope += Mul(_slope(part, variable, variables), *before, *behind)
    return slope
