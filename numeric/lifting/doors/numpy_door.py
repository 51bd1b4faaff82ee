"""NumPy's functions and ufuncs on symbolic arrays: two tables, one row for each function.

A function without a row is followed by NumPy's own code, where that is written in Python; else it is refused by name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import pairwise
from math import isinf
from typing import Any

import numpy as np
from sympy import (
    Abs,
    Eq,
    Expr,
    Ge,
    Gt,
    Integer,
    Le,
    Lt,
    Ne,
    chebyshevt,
    chebyshevu,
    exp,
    expand,
    hermite,
    laguerre,
    legendre,
    log,
    oo,
    pi,
    sqrt,
)

from derivations.language.arrays.shapes import axis
from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.numpy_references import own_code_followed
from numeric.lifting.guards import Question
from numeric.lifting.numbers import SYMBOLIC, Scalar, as_number, is_number
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again, unwritten

__all__ = [
    "FUNCTIONS",
    "UFUNCS",
    "Table",
    "contracted",
    "function_called",
    "order_of",
    "repeated",
    "scipy_functions",
    "small_table",
    "ufunc_called",
]

Table = dict[Any, Callable[..., Any]]


def small_table(value: Any) -> Any:
    """Return a number, a symbolic array, or a small table of numbers of another library as a symbolic array."""
    if isinstance(value, Tensor) or is_number(value):
        return value
    if value is None or isinstance(value, str):
        raise refuse(f"{value!r} where an array is expected")
    numbers = np.asarray(value)
    if numbers.size == 1:
        only = as_number(numbers.reshape(()).item())
        return op.constant(only, [Integer(1)] * numbers.ndim) if numbers.ndim else only
    return places.tabulated(numbers)


def plain(given: dict[str, Any], *harmless: str) -> None:
    """Refuse options that would change the result."""
    for name, value in given.items():
        usual = (
            value is None or value is np._NoValue or name in harmless or (name == "order" and value in ("C", "K", "A"))
        )
        if not usual:
            raise refuse(f"the option {name}={value!r}")


# --- ufuncs ---------------------------------------------------------------------------------------------------------

UFUNCS: Table = {
    np.add: op.add,
    np.subtract: op.subtract,
    np.multiply: op.multiply,
    np.true_divide: op.divide,
    np.power: op.power,
    np.float_power: op.power,
    np.matmul: op.matmul,
    getattr(np, "vecdot", "vecdot"): lambda a, b: op.einsum("...i,...i->...", a, b),
    np.maximum: lambda a, b: op.extremum(a, b, True),
    np.minimum: lambda a, b: op.extremum(a, b, False),
    np.fmax: lambda a, b: op.extremum(a, b, True),
    np.logaddexp: op.log_add_exp,
    np.logaddexp2: op.log_add_exp_2,
    np.sign: op.UNARY["sign"],
    np.hypot: op.hypotenuse,
    np.fmin: lambda a, b: op.extremum(a, b, False),
    np.fabs: op.UNARY["absolute"],
    np.heaviside: lambda a, b: op.where(op.compare(a, 0, Eq), b, op.real(op.compare(a, 0, Gt))),
    **dict.fromkeys((np.deg2rad, np.radians), lambda a: op.multiply(a, pi / 180)),
    **dict.fromkeys((np.rad2deg, np.degrees), lambda a: op.multiply(a, 180 / pi)),
    np.arcsin: op.UNARY["asin"],
    np.arccos: op.UNARY["acos"],
    np.arctan: op.UNARY["atan"],
    np.positive: lambda a: again(a),
    np.abs: op.UNARY["absolute"],
    np.greater: lambda a, b: op.compare(a, b, Gt),
    np.greater_equal: lambda a, b: op.compare(a, b, Ge),
    np.less: lambda a, b: op.compare(a, b, Lt),
    np.less_equal: lambda a, b: op.compare(a, b, Le),
    np.equal: lambda a, b: op.compare(a, b, Eq),
    np.not_equal: lambda a, b: op.compare(a, b, Ne),
    np.isfinite: op.is_finite,
    np.isinf: lambda a: op.logical_not(op.is_finite(a)),
    np.isnan: lambda a: op.constant(Integer(0), a.axes, "boolean"),
    np.logical_not: op.logical_not,
    np.invert: op.bits_not,
    np.logical_and: op.logical_and,
    np.bitwise_and: op.bits_and,
    np.logical_or: op.logical_or,
    np.bitwise_or: op.bits_or,
}
for _name in (
    "exp",
    "cbrt",
    "exp2",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sqrt",
    "square",
    "reciprocal",
    "tanh",
    "cosh",
    "sinh",
    "sin",
    "cos",
    "tan",
):
    UFUNCS[getattr(np, _name)] = op.UNARY[_name]
UFUNCS[np.negative] = op.negate

_SCALAR_UFUNCS: Table = {
    np.sqrt: lambda a: Scalar(as_number(a)).sqrt(),
    np.true_divide: lambda a, b: a / b,
    np.multiply: lambda a, b: a * b,
    np.add: lambda a, b: a + b,
    np.subtract: lambda a, b: a - b,
    np.power: lambda a, b: a**b,
    np.float_power: lambda a, b: a**b,
    np.negative: lambda a: -a,
}


def ufunc_called(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what a ufunc gives for symbolic arrays and numbers."""
    out = options.pop("out", (None,))[0]
    if options.pop("where", True) is not True:
        raise refuse(f"{ufunc.__name__} with where=")
    for harmless in ("dtype", "casting", "order", "subok"):
        _float_only(harmless, options.pop(harmless, None))
    if method == "reduce":
        found = _reduced(ufunc, inputs, options)
    elif method != "__call__" or options:
        raise refuse(f"{ufunc.__name__}.{method} with {', '.join(options) or 'these arguments'}")
    else:
        found = _applied(ufunc, inputs)
    if out is None:
        return found
    if not isinstance(out, Tensor):
        raise refuse(f"{ufunc.__name__} writes into an array of numbers")
    return out.overwrite(
        found if inputs and inputs[0] is out and found.axes == out.axes else op.broadcast_to(found, out.axes)
    )


def _applied(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    given = [small_table(each) for each in inputs]
    if not any(isinstance(each, Tensor) for each in given):
        rule = _SCALAR_UFUNCS.get(ufunc)
        if rule is None:
            named = SYMBOLIC.get(ufunc.__name__)
            if named is None or len(given) != 1:
                raise refuse(f"numpy.{ufunc.__name__} of a size")
            return Scalar(named(as_number(given[0])))
        return rule(*(each if isinstance(each, Scalar) else _python(each) for each in given))
    found = UFUNCS.get(ufunc) or _of_scipy(ufunc)
    if found is None:
        raise refuse(f"numpy.{ufunc.__name__} has no rule")
    return found(*given)


def _of_scipy(ufunc: Any) -> Callable[..., Any] | None:
    """Return the rule of a function of scipy.special, if the ufunc is that function."""
    special = sys.modules.get("scipy.special")
    name = str(ufunc.__name__)
    return _SPECIAL.get(name) if getattr(special, name, None) is ufunc else None


def _python(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _float_only(name: str, given: Any) -> None:
    """Refuse a number type that rounds to whole numbers; wider and narrower reals are read as the reals."""
    if name == "dtype" and given is not None and np.dtype(given).kind != "f":
        raise refuse(f"a cast to {np.dtype(given).name}")


_POLYNOMIALS: dict[str, Callable[..., Expr]] = {  # of a known degree, in SciPy's words
    "eval_chebyt": chebyshevt,
    "eval_chebyu": chebyshevu,
    "eval_chebyc": lambda n, x: 2 * chebyshevt(n, x / 2),
    "eval_chebys": lambda n, x: chebyshevu(n, x / 2),
    "eval_sh_chebyt": lambda n, x: chebyshevt(n, 2 * x - 1),
    "eval_sh_chebyu": lambda n, x: chebyshevu(n, 2 * x - 1),
    "eval_legendre": legendre,
    "eval_sh_legendre": lambda n, x: legendre(n, 2 * x - 1),
    "eval_hermite": hermite,
    "eval_laguerre": laguerre,
}
_MOST_TERMS = 32


def _polynomial(name: str) -> Callable[..., Any]:
    def rule(degree: Any, x: Any) -> Any:
        known = as_number(degree) if is_number(degree) else None
        if known is None or not known.is_Integer or not 0 <= known <= _MOST_TERMS:
            raise refuse(f"scipy.special.{name} of a degree that is no small whole number")
        return op.formula(name, expand(_POLYNOMIALS[name](known, op.FIRST)), x)

    return rule


_SPECIAL: Table = {
    "erf": op.UNARY["erf"],
    "erfc": op.UNARY["erfc"],
    "ndtr": op.UNARY["ndtr"],
    "expit": op.sigmoid,
    "log_expit": op.UNARY["log_sigmoid"],
    "log1p": op.UNARY["log1p"],
    "xlogy": op.x_log_y,
    "xlog1py": lambda x, y: op.x_log_y(x, op.add(y, 1)),
    "entr": op.UNARY["entr"],
    "logit": lambda x: op.formula("logit", log(op.FIRST) - log(1 - op.FIRST), x),
    "pseudo_huber": lambda by, x: op.formula(
        "pseudo_huber", as_number(by) ** 2 * (sqrt(1 + (op.FIRST / as_number(by)) ** 2) - 1), x
    ),
    "rel_entr": lambda x, y: _relative_entropy(x, y),
    "kl_div": lambda x, y: op.add(op.subtract(_relative_entropy(x, y), x), y),
    "huber": lambda by, x: op.where(
        op.compare(op.UNARY["absolute"](x), by, Le),
        op.formula("near", op.FIRST**2 / 2, x),
        op.formula("far", as_number(by) * (Abs(op.FIRST) - as_number(by) / 2), x),
    ),
    **{name: _polynomial(name) for name in _POLYNOMIALS},
    "exprel": lambda x: op.formula("exprel", (exp(op.FIRST) - 1) / op.FIRST, x),
    "exp10": lambda x: op.formula("exp10", Integer(10) ** op.FIRST, x),
    "boxcox": lambda x, by: _box_cox(x, as_number(by)),
    "inv_boxcox": lambda x, by: _from_box_cox(x, as_number(by)),
}


def _relative_entropy(x: Any, y: Any) -> Any:
    x, y = (op.at_least_0(each) if isinstance(each, Tensor) else each for each in (x, y))
    return op.subtract(op.x_log_y(x, x), op.x_log_y(x, y))


def _box_cox(x: Any, power: Expr) -> Any:
    x = op.at_least_0(x)
    return op.UNARY["log"](x) if power == 0 else op.formula("box_cox", (op.FIRST**power - 1) / power, x)


def _from_box_cox(x: Any, power: Expr) -> Any:
    if power != 0 and not (1 / power).is_integer:
        raise refuse(f"the inverse of Box and Cox's transformation for the power {power}")
    return op.UNARY["exp"](x) if power == 0 else op.formula("from_box_cox", (1 + power * op.FIRST) ** (1 / power), x)


_REDUCTIONS: Table = {
    np.add: op.summed,
    np.maximum: op.maximum_along,
    np.minimum: op.minimum_along,
}


def _reduced(ufunc: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    rule = _REDUCTIONS.get(ufunc)
    if rule is None:
        raise refuse(f"numpy.{ufunc.__name__}.reduce has no rule")
    axes = options.pop("axis", 0)
    keeps = bool(options.pop("keepdims", False))
    plain(options)
    return rule(inputs[0], axes_of(axes), keeps)


def axes_of(given: Any) -> list[int] | None:
    return None if given is None else [int(each) for each in (given if isinstance(given, tuple | list) else (given,))]


# --- functions ------------------------------------------------------------------------------------------------------


def _reduction(rule: Callable[..., Any]) -> Callable[..., Any]:
    def called(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **more: Any) -> Any:
        if out is not None or any(value is not np._NoValue for value in more.values()):
            raise refuse(f"a reduction with {', '.join(more) or 'out'}=")
        _float_only("dtype", dtype)
        return rule(a, axes_of(axis), _kept(keepdims))

    return called


def _average(a: Any, axis: Any, weights: Any, more: dict[str, Any]) -> Any:
    if weights is not None or more:
        return own_code_followed(np.average, (a, axis, weights), more, FACTORIES)
    return op.mean(a, axes_of(axis))


def _padded(a: Any, width: Any, mode: str, more: dict[str, Any]) -> Any:
    plain(more, "constant_values")
    widths = width if isinstance(width, tuple | list) else (width, width)
    pairs = list(widths) if isinstance(widths[0], tuple | list) else [tuple(widths)] * a.ndim
    for along, (before, behind) in enumerate(pairs):
        if mode == "constant":
            value = as_number(more.get("constant_values", 0))
            a = places.padded(a, along, as_number(before), as_number(behind), value)
        elif isinstance(before, int) and isinstance(behind, int):
            a = places.padded_by_own(a, along, before, behind, mode)
        else:
            raise refuse(f"padding by the mode {mode!r} and a symbolic number of places")
    return a


def _kept(keepdims: Any) -> bool:
    """Return whether axes are kept; NumPy says with a value of its own that nothing was asked for."""
    return keepdims is not np._NoValue and bool(keepdims)


def _max(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **more: Any) -> Any:
    if out is not None or any(value is not np._NoValue for value in more.values()):
        raise refuse("a maximum with out=, initial= or where=")
    return op.maximum_along(a, axes_of(axis), _kept(keepdims))


def _min(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **more: Any) -> Any:
    if out is not None or any(value is not np._NoValue for value in more.values()):
        raise refuse("a minimum with out=, initial= or where=")
    return op.minimum_along(a, axes_of(axis), _kept(keepdims))


def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    if out is not None or (axis is None and a.ndim > 1):
        raise refuse("a running sum with out=, or over all axes")
    _float_only("dtype", dtype)
    return places.running_sums(a, 0 if axis is None else axis)


def _var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, **more: Any
) -> Any:
    if out is not None:
        raise refuse("a variance with out=")
    correction = more.pop("correction", np._NoValue)
    if any(value is not np._NoValue for value in more.values()):
        raise refuse(f"a variance with {', '.join(more)}=")
    return op.variance(a, axes_of(axis), _kept(keepdims), as_number(ddof if correction is np._NoValue else correction))


def _std(*given: Any, **options: Any) -> Any:
    return op.UNARY["sqrt"](_var(*given, **options))


def _transpose(a: Any, axes: Any = None) -> Any:
    return op.permute(a, list(range(a.ndim))[::-1] if axes is None else list(axes))


def swapped(a: Any, one: int, other: int) -> Any:
    order = list(range(a.ndim))
    order[one], order[other] = order[other], order[one]
    return op.permute(a, order)


def _moveaxis(a: Any, source: int, destination: int) -> Any:
    order = [number for number in range(a.ndim) if number != source % a.ndim]
    order.insert(destination % a.ndim, source % a.ndim)
    return op.permute(a, order)


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None:
        raise refuse("where() without two values")
    return op.where(_array(condition), small_table(x), small_table(y))


def _split(a: Any, parts: Any, axis: int = 0) -> list[Any]:
    number = op.axis_number(axis, a.ndim)
    if isinstance(parts, list | tuple | np.ndarray):
        bounds = [0, *parts, a.shape[number]]
    else:
        count = int(parts)
        if a.shape[number] % count:
            raise refuse(f"{count} parts of unequal sizes")
        size = a.shape[number] // count
        bounds = [size * place for place in range(count)] + [a.shape[number]]
    return [places.item(a, (*[slice(None)] * number, slice(start, stop))) for start, stop in pairwise(bounds)]


def _tri(lower: bool) -> Callable[..., Any]:
    return lambda m, k=0: places.triangle(m, k, lower)


def _like(value: Any) -> Callable[..., Any]:
    def called(a: Any, *given: Any, dtype: Any = None, shape: Any = None, **more: Any) -> Any:
        plain(more, "subok", "device")
        number = as_number(given[0] if value is None else value)
        kind = _kind_of(a.dtype if dtype is None else dtype, number)
        return op.constant(number, a.axes if shape is None else [axis(as_number(s)) for s in shape], kind)

    return called


def _full(value: Any) -> Callable[..., Any]:
    def called(shape: Any, *given: Any, dtype: Any = None, **more: Any) -> Any:
        sizes = shape if isinstance(shape, tuple | list) else (shape,)
        if value is None:
            fill, *given = given  # type: ignore[assignment]
        else:
            fill = value
        plain(more, "device")
        whole = given[0] if given else dtype
        if whole is None:
            whole = bool if isinstance(fill, bool) else float
        kind = _kind_of(whole, as_number(fill))
        return op.constant(as_number(fill), [axis(as_number(s)) for s in sizes], kind)

    return called


def _kind_of(dtype: Any, number: Any) -> str:
    """Return the kind of a table of a number; a number type that cannot hold it is refused."""
    kind = np.dtype(dtype).kind
    if kind == "f" or (kind in "iu" and number.is_integer) or (kind == "b" and number in (0, 1)):
        return "boolean" if kind == "b" else ""
    raise refuse(f"{number} in an array of the type {np.dtype(dtype).name}")


def _arange(*bounds: Any, dtype: Any = None, **more: Any) -> Any:
    plain(more, "device")
    if dtype is not None and np.dtype(dtype).kind not in "iuf":
        raise refuse(f"positions as {np.dtype(dtype).name}")
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return places.positions(start, stop, step)


def _pair_product(a: Any, b: Any) -> Any:
    if a.ndim <= 2 and b.ndim <= 2:
        return op.matmul(a, b)
    raise refuse("numpy.dot of arrays with more than two axes")


def outer(a: Any, b: Any) -> Any:
    return op.contract(["i", "j"], (a, ["i"]), (b, ["j"]))


def _reshaped(a: Any, shape: tuple[Any, ...], order: Any = "C", **options: Any) -> Any:
    if order != "C":
        raise refuse(f"a reshape in the order {order!r}")
    plain(options, "copy")
    return places.reshape(a, shape_of(shape))


def _einsum(text: Any, arrays: Any, more: dict[str, Any]) -> Any:
    plain(more, "optimize")
    return op.einsum(text, *map(_array, arrays))


def _take(a: Any, indices: Any, axis: Any, more: dict[str, Any]) -> Any:
    plain(more)
    if axis is None:
        raise refuse("take without an axis")
    return places.gathered(_array(a), _array(indices), int(axis))


def _joined(rule: Callable[..., Any], arrays: Any, axis: Any, more: dict[str, Any]) -> Any:
    plain(more)
    return rule([_array(a) for a in arrays], axis)


def _argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    if order is not None or not (kind == "stable" or stable) or axis is None:
        raise refuse("argsort of more than the rows, or without a rule for equal entries: kind='stable' has one")
    if a.ndim != 2 or op.axis_number(axis, 2) != 1:
        raise refuse("argsort of an array that is no matrix, or along its columns")
    return places.sorted_places(a)


def contracted(a: Any, b: Any, axes: Any = 2) -> Any:
    """Return the sum of products along pairs of axes, as `tensordot` does."""
    if isinstance(axes, int):
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        left, right = ([x] if isinstance(x, int) else list(x) for x in axes)
    first = [f"a{number}" for number in range(a.ndim)]
    second = [f"b{number}" for number in range(b.ndim)]
    for one, other in zip(left, right, strict=True):
        second[other % b.ndim] = first[one % a.ndim]
    both = set(first) & set(second)
    return op.contract([x for x in (*first, *second) if x not in both], (a, first), (b, second))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord is not None and not ((axis is None and x.ndim == 1) or isinstance(axis, int)):
        raise refuse(f"a norm of order {ord} of a matrix")
    return op.norm(x, order_of(2 if ord is None else ord), axes_of(axis), keepdims)


def order_of(given: Any) -> Expr:
    """Return the order of a norm, which may be infinite."""
    return (oo if given > 0 else -oo) if isinstance(given, float) and isinf(given) else as_number(given)


def _clip(a: Any, low: Any = None, high: Any = None, **more: Any) -> Any:
    plain(more)
    a = a if low is None else op.extremum(a, low, True)
    return a if high is None else op.extremum(a, high, False)


def repeated(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Return an array whose entries along an axis stand several times, one after another."""
    if axis is None:
        raise refuse("repeat without an axis")
    number = op.axis_number(axis, a.ndim)
    wide = op.inserted(a, [number + 1])
    times = list(wide.axes)
    times[number + 1] = as_number(repeats)
    spread = op.broadcast_to(wide, times)
    shape = list(a.shape)
    shape[number] = shape[number] * repeats
    return places.reshape(spread, shape)


FUNCTIONS: Table = {
    np.result_type: lambda *given: np.dtype(np.float64),
    np.sum: _reduction(op.summed),
    np.mean: _reduction(op.mean),
    np.max: _max,
    np.amax: _max,
    np.min: _min,
    np.amin: _min,
    np.cumsum: _cumsum,
    np.var: _var,
    np.std: _std,
    np.transpose: _transpose,
    np.permute_dims: _transpose,
    np.matrix_transpose: lambda x: swapped(x, -1, -2),
    np.swapaxes: swapped,
    np.moveaxis: _moveaxis,
    np.expand_dims: lambda a, axis: op.inserted(a, axes_of(axis) or []),
    np.squeeze: lambda a, axis=None: _squeeze(a, axis),
    np.reshape: lambda a, shape=None, order="C", newshape=None, **options: _reshaped(
        a, (shape if shape is not None else newshape,), order=order, **options
    ),
    np.ravel: lambda a, order="C": _reshaped(a, (-1,), order=order),
    np.broadcast_to: lambda a, shape, subok=False: op.broadcast_to(a, [axis(as_number(s)) for s in shape]),
    np.concatenate: lambda arrays, axis=0, **more: _joined(places.concatenate, arrays, axis, more),
    np.stack: lambda arrays, axis=0, **more: _joined(places.stack, arrays, axis, more),
    np.hstack: lambda arrays, **more: _joined(places.concatenate, arrays, 0 if arrays[0].ndim == 1 else 1, more),
    np.vstack: lambda arrays, **more: _joined(
        places.stack if _array(arrays[0]).ndim == 1 else places.concatenate, arrays, 0, more
    ),
    np.split: _split,
    np.array_split: _split,
    np.where: _where,
    np.tril: _tri(True),
    np.triu: _tri(False),
    np.empty_like: lambda a, *given, **more: unwritten(_like(0)(a, *given, **more)),
    np.zeros_like: _like(0),
    np.ones_like: _like(1),
    np.full_like: _like(None),
    np.dot: _pair_product,
    np.inner: lambda a, b: contracted(a, b, ((-1,), (-1,))),
    np.outer: outer,
    np.tensordot: contracted,
    np.einsum: lambda text, *arrays, **more: _einsum(text, arrays, more),
    np.trace: lambda a, offset=0, axis1=0, axis2=1, **more: op.summed(op.diagonal(a, offset, axis1, axis2), [-1]),
    np.average: lambda a, axis=None, weights=None, **more: _average(a, axis, weights, more),
    np.pad: lambda a, width, mode="constant", **more: _padded(a, width, mode, more),
    np.nanvar: _var,
    np.tile: lambda a, reps: again(places.tiled(a, reps if isinstance(reps, tuple | list) else (reps,))),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: op.diagonal(a, offset, axis1, axis2),
    np.vdot: lambda a, b: op.summed(op.multiply(a, b)),
    # without the entries that are not numbers: real numbers are
    np.nansum: _reduction(op.summed),
    np.nanmean: _reduction(op.mean),
    np.nanmax: _reduction(op.maximum_along),
    np.nanmin: _reduction(op.minimum_along),
    np.linalg.norm: _norm,
    np.clip: _clip,
    np.repeat: repeated,
    np.take: lambda a, indices, axis=None, **more: _take(a, indices, axis, more),
    np.argsort: _argsort,
    np.take_along_axis: lambda arr, indices, axis: places.picked(_array(arr), _array(indices), int(axis)),
    np.any: lambda a, axis=None, **more: _question(a, axis, more, False),
    np.all: lambda a, axis=None, **more: _question(a, axis, more, True),
    np.linalg.multi_dot: lambda arrays, **more: _chained(arrays, more),
    np.roll: lambda a, shift, axis=None: places.rolled(a, shift, axis),
    np.nan_to_num: lambda a, copy=True, **more: _real_numbers(a),
    np.copy: lambda a, **more: again(a),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.linalg.matmul: op.matmul,
    np.linalg.vecdot if hasattr(np.linalg, "vecdot") else "vecdot": lambda a, b: op.einsum("...i,...i->...", a, b),
}

FACTORIES: Table = {  # replaced in the namespace while a function is lifted: they take sizes, and no array calls them
    "arange": _arange,
    "ones": _full(1),
    "zeros": _full(0),
    "full": _full(None),
    "empty": lambda *given, **more: unwritten(_full(0)(*given, **more)),
    "tri": lambda n, m=None, k=0, dtype=float: places.band(
        axis(as_number(n)), axis(as_number(n if m is None else m)), k, True, _kind_of(dtype, Integer(1)) or "real"
    ),
    "eye": lambda N, M=None, k=0, dtype=float, **more: _identity(N, M, k, dtype),
    "identity": lambda n, dtype=float, **more: _identity(n, None, 0, dtype),
    **dict.fromkeys(
        ("asarray", "asanyarray", "ascontiguousarray"), lambda a, *given, **more: _as_array(a, *given, **more)
    ),
    "array": lambda a, *given, copy=True, **more: _copied(_as_array(a, *given, **more), copy is True),
}


def _identity(rows: Any, columns: Any, diagonal: Any, dtype: Any) -> Any:
    _kind_of(dtype, Integer(1))
    if np.dtype(float if dtype is None else dtype).kind != "f":
        raise refuse("an identity matrix of other than real numbers")
    return places.identity(as_number(rows), as_number(rows if columns is None else columns), diagonal)


def _as_array(a: Any, dtype: Any = None, **more: Any) -> Any:
    """Return a symbolic array as it is; a list of such arrays, or a cast to whole numbers, is refused."""
    if not isinstance(a, Tensor):
        raise refuse("an array made of a list of symbolic ones: use stack")
    more.pop("subok", None)  # there are no kinds of arrays beside this one
    least = more.pop("ndmin", 0)
    if any(value not in (None, False, 0, "K", "C", "c") for value in more.values()):
        raise refuse(f"an array with {', '.join(more)}=")
    a = op.inserted(a, list(range(least - a.ndim))) if a.ndim < least else a
    return a if dtype is None else a.astype(dtype)


def _copied(a: Any, copy: Any) -> Any:
    return again(a) if copy else a


def _real_numbers(a: Any) -> Any:
    op.finite("nan_to_num", a)
    return again(a)


def _refused(what: str) -> Any:
    raise refuse(what)


def _array(value: Any) -> Tensor:
    found = value if isinstance(value, Tensor) else small_table(value)
    if not isinstance(found, Tensor):
        raise refuse("a number where an array is expected")
    return found


def _question(a: Any, axis: Any, more: dict[str, Any], of_all: bool) -> Question:
    plain(more, "keepdims")
    if axis is not None:
        return places.set_along(op.truth(a), int(axis), of_all, _kept(more.get("keepdims", False)))
    return Question(op.truth(a), of_all)


def _chained(arrays: Any, more: dict[str, Any]) -> Any:
    """Return a product of several matrices, whose order matters for rounding alone."""
    plain(more)
    return reduce(op.matmul, arrays)


def _squeeze(a: Tensor, axis: Any) -> Tensor:
    if axis is None:
        raise refuse("squeeze() without an axis: which axes it removes depends on the sizes")
    return op.removed(a, axes_of(axis) or [])


def shape_of(given: tuple[Any, ...]) -> list[Any]:
    """Return a shape that was given as one tuple, or as several arguments."""
    one = given[0] if len(given) == 1 else given
    return list(one) if isinstance(one, tuple | list | np.ndarray) and not isinstance(one, Tensor) else list(given)


def scipy_functions() -> Iterator[tuple[Any, Any]]:
    """Yield functions that SciPy writes in Python with checks that symbolic sizes do not pass, and their rules."""
    special = sys.modules.get("scipy.special")
    if special is not None:
        plain_one = special.logsumexp

        def log_sum_exp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, **more: Any) -> Any:
            if not isinstance(a, Tensor):
                return plain_one(a, axis, b, keepdims, **more)
            if b is not None or more or (axis is None and a.ndim != 1):
                raise refuse("scipy.special.logsumexp with factors, with signs, or of all entries")
            return op.log_sum_exp(a, 0 if axis is None else axis, keepdims)

        yield plain_one, log_sum_exp


def function_called(function: Any, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what a function of NumPy gives for symbolic arrays."""
    rule = FUNCTIONS.get(function)
    return own_code_followed(function, given, options, FACTORIES) if rule is None else rule(*given, **options)
