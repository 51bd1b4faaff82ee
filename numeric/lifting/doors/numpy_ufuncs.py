"""NumPy's ufuncs on symbolic arrays: a table of their rules, with reductions and `out=`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Eq, Ge, Gt, Integer, Le, Lt, Ne, pi

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.numpy_arguments import (
    Table,
    array_operand,
    axes_of,
    float_only,
    plain,
    python_number,
    small_table,
)
from numeric.lifting.doors.scipy_special import rule_of_scipy
from numeric.lifting.numbers import SYMBOLIC, Scalar, as_number
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again

__all__ = ["UFUNCS", "ufunc_called"]


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
    np.arctan2: op.angle,
    np.arcsinh: op.UNARY["asinh"],
    np.arccosh: op.UNARY["acosh"],
    np.arctanh: op.UNARY["atanh"],
    np.floor_divide: op.quotient_rounded,
    np.remainder: op.remainder,
    np.fmod: lambda a, b: op.remainder(a, b, True),
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
    np.logical_xor: op.logical_xor,
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
    "floor",
    "ceil",
    "trunc",
):
    UFUNCS[getattr(np, _name)] = op.UNARY[_name]


UFUNCS[np.negative] = op.negate


UFUNCS[np.rint] = op.UNARY["round"]
UFUNCS[np.modf] = lambda a: (op.remainder(a, 1, True), op.UNARY["trunc"](a))


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
        float_only(harmless, options.pop(harmless, None))
    if method == "accumulate" and ufunc in _RUNNING:
        axis = options.pop("axis", 0)
        plain(options)
        found = _RUNNING[ufunc](inputs[0], axis)
    elif method == "reduce":
        found = _reduced(ufunc, inputs, options)
    elif method == "outer" and not options:
        first, second = map(array_operand, inputs)
        found = _applied(ufunc, (op.inserted(first, range(first.ndim, first.ndim + second.ndim)), second))
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
        return rule(*(each if isinstance(each, Scalar) else python_number(each) for each in given))
    found = UFUNCS.get(ufunc) or rule_of_scipy(ufunc)
    if found is None:
        raise refuse(f"numpy.{ufunc.__name__} has no rule")
    return found(*given)


_RUNNING: Table = {np.add: places.running_sums, np.multiply: places.running_products}
_REDUCTIONS: Table = {
    np.add: op.summed,
    np.multiply: places.product_along,
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
