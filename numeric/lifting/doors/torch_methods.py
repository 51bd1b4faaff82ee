"""The methods of PyTorch's tensors, as operations: a table from names to rules."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from sympy import Eq, Ge, Gt, Integer, Lambda, Le, Lt, Ne, Symbol, log

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import axis
from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.axes import is_one
from numeric.lifting.doors.numpy_arguments import axes_of, order_of, shape_of
from numeric.lifting.doors.shared_functions import outer, repeated, swapped
from numeric.lifting.doors.torch_operands import Table, as_operand, cast, in_type, plain_operand
from numeric.lifting.guards import Question
from numeric.lifting.numbers import as_number
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again, empty, tensor

__all__ = ["IDENTITIES", "METHODS", "chosen", "chunks", "clamped", "filled", "norm", "triangle"]


def softmax(x: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return the softmax along an axis; a call without `dim` is refused."""
    if dim is None:
        raise refuse("softmax without a dim")
    return op.softmax(in_type(x, dtype), dim)


def _reduction(rule: Callable[..., Any]) -> Callable[..., Any]:
    def called_(
        x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None, **more: Any
    ) -> Any:
        if more:
            raise refuse(f"a reduction with {', '.join(more)}")
        return rule(in_type(x, dtype), axes_of(dim if axis is None else axis), keepdim)

    return called_


def _var(x: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    less = correction if correction is not None else (1 if unbiased is None or unbiased else 0)
    return op.variance(x, axes_of(dim), keepdim, as_number(less))


class _Extremum(tuple[Any, ...]):
    """The pair (values, indices) of a maximum along an axis; only the values are followed."""

    values = property(operator.itemgetter(0))

    @property
    def indices(self) -> Any:
        raise refuse("the places of the largest entries")


def _extremes(largest: bool) -> Callable[..., Any]:
    """Return the rule for the largest or the smallest entries: of two arrays, of one array, or along an axis."""
    along = op.maximum_along if largest else op.minimum_along

    def extreme(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if isinstance(dim, Tensor):
            return op.extremum(x, dim, largest)
        return along(x, None) if dim is None else _Extremum((along(x, [dim], keepdim), None))

    return extreme


_min, _max = _extremes(False), _extremes(True)


def clamped(x: Any, min: Any = None, max: Any = None) -> Any:
    """Return the entries clipped to the given bounds."""
    x = x if min is None else op.extremum(x, as_operand(min), True)
    return x if max is None else op.extremum(x, as_operand(max), False)


def _masked_fill(x: Any, mask: Any, value: Any) -> Any:
    return op.where(mask, value if not isinstance(value, torch.Tensor) else value.item(), x)


def chosen(mask: Any, one: Any = None, other: Any = None) -> Any:
    """Return the entries of one array where a mask is set, and of another elsewhere."""
    if one is None:
        raise refuse("where() without values")
    return op.where(mask, plain_operand(one), plain_operand(other))


def _split(x: Any, size: Any, dim: int = 0) -> tuple[Any, ...]:
    number = op.axis_number(dim, x.ndim)
    whole = x.shape[number]
    if isinstance(size, tuple | list):
        sizes = list(size)
    else:
        sizes = [size] * int(whole // size)
    bounds = [0]
    for each in sizes:
        bounds.append(bounds[-1] + each)
    return tuple(places.item(x, (*[slice(None)] * number, slice(a, b))) for a, b in pairwise(bounds))


def chunks(x: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """Return equal parts along an axis."""
    return _split(x, x.shape[op.axis_number(dim, x.ndim)] // chunks, dim)


def _expand(x: Any, *sizes: Any) -> Any:
    wanted = shape_of(sizes)
    shape = list(x.axes)
    new = len(wanted) - len(shape)
    target = [
        shape[number - new] if number >= new and isinstance(size, int) and size == -1 else axis(as_number(size))
        for number, size in enumerate(wanted)
    ]
    return op.broadcast_to(x, target)


def _repeat_interleave(x: Any, repeats: Any, dim: Any = None, **more: Any) -> Any:
    return repeated(x, repeats, dim)


def _flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    first, last = op.axis_number(start_dim, x.ndim), op.axis_number(end_dim, x.ndim)
    sizes = list(x.shape)
    return places.reshape(x, [*sizes[:first], -1, *sizes[last + 1 :]])


def _unflatten(x: Any, dim: int, sizes: Any) -> Any:
    number = op.axis_number(dim, x.ndim)
    return places.reshape(x, [*x.shape[:number], *sizes, *x.shape[number + 1 :]])


def filled(value: Any) -> Callable[..., Any]:
    """Return the rule of a function that fills an array with `value` or, if that is None, with a given number."""

    def made_(*given: Any, size: Any = None, fill_value: Any = None, dtype: Any = None, **options: Any) -> Any:
        shape = shape_of(given) if size is None else list(size)
        fill = value
        if value is None:
            shape, fill = (list(given[0]), given[1]) if len(given) > 1 else (list(given[0]), fill_value)
        kind = "boolean" if dtype is torch.bool or isinstance(fill, bool) else ""
        if any(isinstance(each, int) and each == 0 for each in shape):
            return empty(op.constant(Integer(0), [Integer(1)] * len(shape)), [Integer(0)] * len(shape))
        if op.is_filler(fill):
            mask = op.constant(Integer(0), [axis(as_number(s)) for s in shape], "")
            return _all_hidden(mask)
        return op.constant(as_number(fill), [axis(as_number(s)) for s in shape], kind)

    return made_


def _all_hidden(zeros: Any) -> Any:
    places_ = tuple(Symbol(letter, integer=True) for letter, _ in zip("ijklm", zeros.axes, strict=False))
    nothing = Tabulated(Lambda(places_, Iverson(Lt(places_[0], 0, evaluate=False))), *zeros.axes)
    return tensor(zeros.node, nothing, axes=zeros.axes)


def triangle(lower: bool) -> Callable[..., Any]:
    """Return the rule that keeps the entries on one side of a diagonal."""

    def made_(x: Any, diagonal: Any = 0) -> Any:
        if x.alive is not None:  # torch.triu(full(-inf), 1): zeros elsewhere, minus infinity on the triangle
            rows, columns = x.axes[-2:]
            mask = places.band(rows, columns, diagonal, lower)
            zeros = op.constant(Integer(0), x.axes)
            return op.hidden(zeros, op.logical_not(mask))
        return places.triangle(x, diagonal, lower)

    return made_


def norm(x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, **more: Any) -> Any:
    """Return a norm of the entries along axes."""
    if more.get("dtype") is not None or (isinstance(p, str) and p != "fro"):
        raise refuse(f"a norm of order {p}, or in a number type")
    return op.norm(x, order_of(2 if p in (None, "fro") else p), axes_of(dim), keepdim)


def _logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Any:
    for number in sorted((op.axis_number(each, x.ndim) for each in axes_of(dim) or [0]), reverse=True):
        x = op.log_sum_exp(x, number, keepdim)
    return x


def _product(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return places.product_along(in_type(x, dtype), axes_of(dim), keepdim)


def _binary(rule: Callable[..., Any]) -> Callable[..., Any]:
    def called_(one: Any, other: Any, *, alpha: Any = 1, out: Any = None, rounding_mode: Any = None) -> Any:
        if out is not None:
            raise refuse("an operation with out=")
        if rounding_mode is not None:
            return op.quotient_rounded(as_operand(one), as_operand(other), rounding_mode == "trunc")
        other = as_operand(other)
        return rule(as_operand(one), other if alpha == 1 else op.multiply(other, alpha))

    return called_


def _logit(x: Any, eps: Any = None) -> Any:
    x = x if eps is None else clamped(x, eps, 1 - eps)
    return op.formula("logit", log(op.FIRST / (1 - op.FIRST)), x)


def _question(of_all: bool) -> Callable[..., Any]:
    def asked(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is not None:
            return places.set_along(op.truth(x), int(dim), of_all, keepdim)
        return Question(op.truth(x), of_all)

    return asked


def _relation(kind: Any) -> Callable[..., Any]:
    return lambda one, other: op.compare(as_operand(one), as_operand(other), kind)


METHODS: Table = {
    "add": _binary(op.add),
    "sub": _binary(op.subtract),
    "rsub": _binary(lambda one, other: op.subtract(other, one)),
    "mul": _binary(op.multiply),
    "div": _binary(op.divide),
    "true_divide": _binary(op.divide),
    "pow": lambda x, exponent: op.power(x, as_operand(exponent)),
    "matmul": op.matmul,
    "mm": op.matmul,
    "bmm": op.matmul,
    "mv": op.matmul,
    "dot": op.matmul,
    "maximum": lambda a, b: op.extremum(a, b, True),
    "minimum": lambda a, b: op.extremum(a, b, False),
    "softmax": softmax,
    "log_softmax": lambda x, dim=None, _stacklevel=3, dtype=None: op.log_softmax(in_type(x, dtype), dim),
    "logsumexp": _logsumexp,
    "sum": _reduction(op.summed),
    "mean": _reduction(op.mean),
    "amax": lambda x, dim=(), keepdim=False: op.maximum_along(x, axes_of(dim), keepdim),
    "amin": lambda x, dim=(), keepdim=False: op.minimum_along(x, axes_of(dim), keepdim),
    "max": _max,
    "min": _min,
    "var": _var,
    "std": lambda *given, **options: op.UNARY["sqrt"](_var(*given, **options)),
    "norm": norm,
    "transpose": swapped,
    "swapaxes": swapped,
    "swapdims": swapped,
    "t": lambda x: op.permute(x, list(range(x.ndim))[::-1]),
    "permute": lambda x, *order: op.permute(x, shape_of(order)),
    "reshape": lambda x, *shape: places.reshape(x, shape_of(shape)),
    "flatten": _flatten,
    "unflatten": lambda x, dim, sizes: _unflatten(x, dim, sizes),
    "unsqueeze": lambda x, dim: op.inserted(x, [dim]),
    "squeeze": lambda x, dim=None: _squeeze(x, dim),
    "expand": _expand,
    "broadcast_to": lambda x, shape: op.broadcast_to(x, [axis(as_number(s)) for s in shape]),
    "repeat_interleave": _repeat_interleave,
    "split": _split,
    "chunk": chunks,
    "unbind": lambda x, dim=0: tuple(_select(x, dim, k) for k in range(len(_moved_front(x, dim)))),
    "select": lambda x, dim, index: _select(x, dim, index),
    "narrow": lambda x, dim, start, length: places.item(
        x, (*[slice(None)] * op.axis_number(dim, x.ndim), slice(start, start + length))
    ),
    "gather": lambda x, dim, index, **more: places.picked(x, index, dim),
    "take_along_dim": lambda x, index, dim=None: places.picked(x, index, dim),
    "index_select": lambda x, dim, index: places.gathered(x, index, dim),
    "hypot": op.hypotenuse,
    **dict.fromkeys(("atan2", "arctan2"), lambda y, x: op.angle(as_operand(y), as_operand(x))),
    "floor_divide": _binary(op.quotient_rounded),
    "remainder": _binary(op.remainder),
    "fmod": _binary(lambda one, other: op.remainder(one, other, True)),
    "prod": _product,
    "cumprod": lambda x, dim, dtype=None: places.running_products(in_type(x, dtype), dim),
    "fill_": lambda x, value: x.overwrite(op.constant(as_number(plain_operand(value)), x.axes)),
    "zero_": lambda x: x.overwrite(op.constant(Integer(0), x.axes)),
    "copy_": lambda x, other, non_blocking=False: x.overwrite(op.broadcast_to(other, x.axes)),
    "logit": _logit,
    "flip": lambda x, *dims: again(places.flipped(x, shape_of(dims))),
    "repeat": lambda x, *times: again(places.tiled(x, shape_of(times))),
    "tile": lambda x, *times: again(places.tiled(x, shape_of(times))),
    "diagonal": lambda x, offset=0, dim1=0, dim2=1: op.diagonal(x, offset, dim1, dim2),
    "vdot": lambda x, y: op.summed(op.multiply(x, y)),
    "round": lambda x, *, decimals=0: op.rounded(x, decimals),
    "det": places.determinant,
    "inverse": places.inverse,
    "roll": lambda x, shifts, dims=None: places.rolled(x, shifts, dims),
    "cumsum": lambda x, dim, dtype=None: places.running_sums(in_type(x, dtype), dim),
    "logcumsumexp": lambda x, dim: op.UNARY["log"](places.running_sums(op.UNARY["exp"](x), dim)),
    "logaddexp2": op.log_add_exp_2,
    "masked_fill": _masked_fill,
    "where": lambda x, mask, other: chosen(mask, x, other),
    "tril": triangle(True),
    "triu": triangle(False),
    "clamp": clamped,
    "clip": clamped,
    "isfinite": op.is_finite,
    "isinf": lambda x: op.logical_not(op.is_finite(x)),
    "isnan": lambda x: op.constant(Integer(0), x.axes, "boolean"),
    "any": _question(False),
    "all": _question(True),
    "bitwise_not": op.bits_not,
    "bitwise_and": op.bits_and,
    "bitwise_or": op.bits_or,
    "logical_not": op.logical_not,
    "logical_and": op.logical_and,
    "logical_or": op.logical_or,
    "logical_xor": op.logical_xor,
    "gt": _relation(Gt),
    "ge": _relation(Ge),
    "lt": _relation(Lt),
    "le": _relation(Le),
    "eq": _relation(Eq),
    "ne": _relation(Ne),
    "to": cast,
    "type": cast,
    "new_zeros": lambda x, *shape, **more: filled(0)(*shape),
    "new_ones": lambda x, *shape, **more: filled(1)(*shape),
    "new_full": lambda x, shape, value, **more: filled(None)(shape, value),
    "outer": outer,
    "clone": lambda x, **options: again(x),
    "dim": lambda x: x.ndim,
    "numel": lambda x: Tensor.size.fget(x),  # type: ignore[attr-defined]
}


for _name, _own in {
    **{
        name: name
        for name in ("exp", "exp2", "log", "log2", "log10", "log1p", "expm1", "sqrt", "rsqrt", "square", "reciprocal")
    },
    **{name: name for name in ("tanh", "cosh", "sinh", "sin", "cos", "tan", "erf", "erfc", "sigmoid", "relu")},
    **{name: name for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "floor", "ceil", "trunc")},
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "fix": "trunc",
    "abs": "absolute",
    "sign": "sign",
    "neg": "negative",
    "negative": "negative",
}.items():
    METHODS[_name] = op.UNARY[_own]


METHODS["real"] = lambda x: again(x).view_of(x)


IDENTITIES = (
    "contiguous",
    "float",
    "double",
    "half",
    "bfloat16",
    "type_as",
    "detach",
    "cpu",
    "cuda",
    "requires_grad_",
)


def _select(x: Any, dim: int, index: Any) -> Any:
    return places.item(x, (*[slice(None)] * op.axis_number(dim, x.ndim), index))


def _moved_front(x: Any, dim: int) -> Any:
    number = op.axis_number(dim, x.ndim)
    return op.permute(x, [number, *(n for n in range(x.ndim) if n != number)])


def _squeeze(x: Any, dim: Any) -> Any:
    if dim is None:
        raise refuse("squeeze() without a dim: which axes it removes depends on the sizes")
    numbers = [op.axis_number(each, x.ndim) for each in axes_of(dim) or []]
    ones = [number for number in numbers if is_one(x.axes[number])]  # PyTorch keeps an axis of another size
    return op.removed(x, ones) if ones else x
