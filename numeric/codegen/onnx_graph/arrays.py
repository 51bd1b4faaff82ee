"""The functions that compiled source calls as `np` and `special` on traced arrays: each adds ONNX operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import mod
from typing import Any

import numpy as np
from sympy import Expr, expand

from numeric.codegen.onnx_graph.graph import current, dim
from numeric.codegen.onnx_graph.numbers import value_of, vector_of
from numeric.codegen.onnx_graph.operators import BINARY, COMPARISONS, ENTRYWISE, REDUCTIONS
from numeric.codegen.onnx_graph.shapes import broadcast
from numeric.codegen.onnx_graph.tensor import Tensor, node, tensor, type_named

inf, nan, pi, e = np.inf, np.nan, np.pi, np.e


def _entrywise(name: str) -> Callable[[Any], Any]:
    return lambda x: x.apply(name) if isinstance(x, Tensor) else getattr(np, name)(x)


def _binary(name: str) -> Callable[[Any, Any], Any]:
    def apply(one: Any, other: Any) -> Any:
        if isinstance(one, Tensor):
            return one.binary(name, other)
        return other.binary(name, one, swapped=True) if isinstance(other, Tensor) else getattr(np, name)(one, other)

    return apply


def _reduction(name: str) -> Callable[..., Any]:
    return lambda x, axis=None, keepdims=False: x.reduced(name, axis, keepdims)


_TABLE: dict[str, Callable[..., Any]] = {
    **{name: _entrywise(name) for name in ENTRYWISE},
    **{name: _binary(name) for name in (*BINARY, *COMPARISONS)},
    **{name: _reduction(name) for name in REDUCTIONS},
    "amax": _reduction("max"),
    "abs": abs,
    "mod": mod,
}
globals().update(_TABLE)  # compiled source calls them as `np.exp`, `special.erf`


def __getattr__(name: str) -> Any:
    """Raise AttributeError for a function without an operator; the graph names the equation in its error."""
    raise AttributeError(f"no operator of ONNX computes {name}")


exp, log, maximum, multiply = (_TABLE[name] for name in ("exp", "log", "maximum", "multiply"))


# Compositions


def exp2(x: Any) -> Any:
    """Return 2^x."""
    return 2.0**x


def log1p(x: Any) -> Any:
    """Return log(1 + x)."""
    return log(x + 1)


def logaddexp(one: Any, other: Any) -> Any:
    """Return log(e^a + e^b) = max(a, b) + log(1 + e^-|a - b|)."""
    return maximum(one, other) + log1p(exp(-abs(one - other)))


def where(condition: Tensor, one: Any, other: Any) -> Tensor:
    """Return the entries of one array where a condition holds, elsewhere those of the other."""
    typed = [x for x in (one, other) if isinstance(x, Tensor)]
    dtype = typed[0].dtype if typed else "float64"
    a, b = tensor(one, dtype).astype(dtype), tensor(other, dtype).astype(dtype)
    return node("Where", [condition, a, b], dtype, broadcast(condition.shape, a.shape, b.shape))


# New arrays


def arange(count: Any) -> Tensor:
    """Return 0, 1, ..., count - 1, as real numbers if the count is a float, else as integers."""
    dtype = "float64" if isinstance(count, float) else "int64"
    bounds = [Tensor(value_of(number, dtype)) for number in (0, count, 1)]
    return node("Range", bounds, dtype, (dim(int(count) if isinstance(count, float) else count),))


def full(shape: Any, value: Any, dtype: Any = None) -> Tensor:
    """Return an array filled with one value."""
    of = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float64"
    return tensor(value, type_named(dtype) if dtype is not None else of).expanded(_lengths(shape))


def zeros(shape: Any, dtype: Any = float) -> Tensor:
    """Return zeros."""
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any = float) -> Tensor:
    """Return ones."""
    return full(shape, 1, dtype)


def full_like(x: Tensor, value: Any) -> Tensor:
    """Return an array filled with one value, in the shape and number type of another array."""
    return tensor(value, x.dtype).expanded(x.shape)


def zeros_like(x: Tensor) -> Tensor:
    """Return zeros in the shape of another array."""
    return full_like(x, 0)


def ones_like(x: Tensor) -> Tensor:
    """Return ones in the shape of another array."""
    return full_like(x, 1)


def array(rows: Any, dtype: Any = float) -> Tensor:
    """Return a matrix from the given rows of entries."""
    if not any(isinstance(each, Expr | Tensor) for row in rows for each in row):
        return Tensor(current().constant(np.array(rows, type_named(dtype))))
    kind = type_named(dtype)
    return stack([stack([tensor(each, kind).astype(kind) for each in row], 0) for row in rows], 0)


def tri(rows: Any, columns: Any = None, k: Any = 0, dtype: Any = float) -> Tensor:
    """Return the matrix whose entries with j <= i + k are 1."""
    across = rows if columns is None else columns
    return (arange(across)[None, :] <= arange(rows)[:, None] + k).astype(dtype)


def _lengths(shape: Any) -> Sequence[Any]:
    return shape if isinstance(shape, tuple | list) else (shape,)


# Axes


def broadcast_shapes(*shapes: Any) -> Any:
    """Return the shape of arrays that are broadcast together."""
    return broadcast(*shapes)


def broadcast_to(x: Tensor, shape: Any) -> Tensor:
    """Return an array broadcast to a shape."""
    return x.expanded(shape)


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """Return arrays broadcast together."""
    shape = broadcast(*(x.shape for x in arrays))
    return [x.expanded(shape) for x in arrays]


def swapaxes(x: Tensor, one: int, other: int) -> Tensor:
    """Return an array with two axes exchanged."""
    return x.swapaxes(one, other)


def moveaxis(x: Tensor, source: int, target: int) -> Tensor:
    """Return an array with an axis moved to another position."""
    order = [k for k in range(x.ndim) if k != source % x.ndim]
    order.insert(target % x.ndim, source % x.ndim)
    return x.permuted(order)


def concatenate(parts: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return arrays joined along an axis."""
    shape = list(parts[0].shape)
    shape[axis] = dim(expand(reduce(lambda one, other: one + other, [x.shape[axis] for x in parts])))
    return node("Concat", parts, parts[0].dtype, shape, axis=axis % len(shape))


def stack(parts: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return arrays joined along a new axis."""
    rank = parts[0].ndim + 1
    at = axis % rank
    shape = [*parts[0].shape[:at], 1, *parts[0].shape[at:]]
    return concatenate([x.inserted([at], shape) for x in parts], at)


def repeated(member: Tensor, count: Any, rank: int) -> Tensor:
    """Return a family whose members are all the same array of a given rank."""
    at = member.ndim - rank
    shape = [*member.shape[:at], 1, *member.shape[at:]]
    return member.inserted([at], shape).expanded([*shape[:at], count, *shape[at + 1 :]])


# Look-ups and contractions


def take_along_axis(x: Tensor, places: Tensor, axis: int) -> Tensor:
    """Return the entries at the given indices along an axis; the other axes are broadcast."""
    at = axis % x.ndim
    others = broadcast((*x.shape[:at], 1, *x.shape[at + 1 :]), (*places.shape[:at], 1, *places.shape[at + 1 :]))
    table, numbers = (
        each.expanded((*others[:at], each.shape[at], *others[at + 1 :])) for each in (x, places.astype("int64"))
    )
    return node("GatherElements", [table, numbers], x.dtype, numbers.shape, axis=at)


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Return the sum of products that a string in NumPy's `einsum` notation describes; `...` stands for batch axes."""
    read, written = equation.split("->")
    lengths: dict[str, Any] = {}
    batches = []
    for letters, x in zip(read.split(","), operands, strict=True):
        own = letters.replace("...", "")
        lengths |= dict(zip(own, x.shape[x.ndim - len(own) :], strict=True))
        batches.append(x.shape[: x.ndim - len(own)])
    shape = (*broadcast(*batches), *(lengths[letter] for letter in written.replace("...", "")))
    # ONNX wants as many axes for the dots of every operand that has them
    terms = [each if batch else each.replace("...", "") for each, batch in zip(read.split(","), batches, strict=True)]
    equation = f"{','.join(terms)}->{written if any(batches) else written.replace('...', '')}"
    made = node("Einsum", operands, operands[0].dtype, shape, equation=equation)
    return Tensor(made.value)


def softmax(x: Tensor) -> Tensor:
    """Return the softmax of every row; it has no value for a row of -inf alone."""
    return node("Softmax", [x], x.dtype, x.shape, axis=-1)


def largest_places(x: Tensor, k: Any) -> Tensor:
    """Return the indices of the k largest entries of every row; ties go to the earlier entry."""
    shape = (*x.shape[:-1], dim(k))
    return Tensor(current().node("TopK", [x.value, vector_of([k])], "int64", shape, axis=-1, output=1))


def add_at(table: Tensor, places: Tensor, rows: Tensor) -> Tensor:
    """Return a table after adding rows to it at the given row indices."""
    numbers = places.astype("int64").reshape(-1, 1)
    return node("ScatterND", [table, numbers, rows], table.dtype, table.shape, reduction="add")


def pad(x: Tensor, axis: int, before: Any, after: Any) -> Tensor:
    """Return an array with zeros before and after it along an axis.

    All axes are told, though one would do: onnxruntime 1.32 moves transposes over a `Pad` and reads all of them.
    """
    shape = list(x.shape)
    shape[axis] = dim(expand(shape[axis] + before + after))
    widths = [[count if k == axis % x.ndim else 0 for k in range(x.ndim)] for count in (before, after)]
    given = [Tensor(vector_of([*widths[0], *widths[1]])), tensor(0, x.dtype)]
    return node("Pad", [x, *given], x.dtype, shape)


def finfo(dtype: str) -> Any:
    """Return the limits of a number type."""
    return np.finfo(dtype)
