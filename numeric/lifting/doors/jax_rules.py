"""Rules for primitives of JAX that work entry by entry: arithmetic, functions, number types.

A rule takes the equation and the values of its operands. Two tables give a table, whose formula is exact; otherwise
the operation of symbolic arrays is done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sympy import (
    Abs,
    And,
    Eq,
    Expr,
    Ge,
    Gt,
    Integer,
    Le,
    Lt,
    Max,
    Min,
    Mod,
    Ne,
    Not,
    Or,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    ceiling,
    cos,
    cosh,
    erf,
    exp,
    false,
    floor,
    log,
    nan,
    oo,
    sin,
    sinh,
    sqrt,
    tanh,
    true,
)

from derivations.language.arrays.contraction import Contraction
from derivations.language.arrays.exponentials import RowMax
from numeric.lifting import operations as op
from numeric.lifting.doors.jax_masks import chosen, compared, is_finite, logical, switch_of
from numeric.lifting.doors.jax_tables import PLACES, Table, operand_of, shared_axes
from numeric.lifting.fillers import FILLER
from numeric.lifting.numbers import number, whole_quotient
from numeric.lifting.places import table_of
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, made
from numeric.lifting.trace import current

__all__ = ["ENTRYWISE", "literal"]

Rule = Callable[..., Any]


def literal(value: Any) -> Table:
    """Return a constant number or array as a table, whose formula gives its entries."""
    found = np.asarray(value)
    axes = tuple(map(Integer, found.shape))
    if found.dtype.kind == "V" or found.dtype.kind not in "fiub" or not found.size:
        raise refuse(f"a constant of the type {found.dtype}")
    if found.size > 1 and not (found == found.flat[0]).all():
        kind = "integer" if found.dtype.kind in "iu" else "real"
        formula = table_of(found, PLACES)
        return Table(
            Gt(formula, 0) if found.dtype.kind == "b" else formula, axes, "boolean" if found.dtype.kind == "b" else kind
        )
    one = found.flat[0].item()
    if found.dtype.kind == "b":
        return Table(true if one else false, axes, "boolean")
    if isinstance(one, float) and (one != one or one in (np.inf, -np.inf)):
        return Table(nan if one != one else oo if one > 0 else -oo, axes)
    if isinstance(one, float) and found.dtype.itemsize < 8:
        one = float(str(found.flat[0]))  # the shortest decimal that this number is
    if isinstance(one, float) and one <= FILLER:
        return Table(Integer(int(one)), axes)  # fills hidden scores, or is a whole number
    return Table(number(one), axes, "integer" if found.dtype.kind in "iu" else "real")


def _kind(one: Table, other: Table) -> str:
    return "integer" if one.kind == other.kind == "integer" else "real"


def _binary(of_arrays: Rule, of_formulas: Callable[[Expr, Expr], Expr]) -> Rule:
    def applied(equation: Any, one: Any, other: Any) -> Any:
        if isinstance(one, Table) and isinstance(other, Table):
            if (one.formula + other.formula).has(oo, -oo, nan):
                raise refuse("arithmetic with an infinite number")
            return Table(of_formulas(one.formula, other.formula), shared_axes(one, other), _kind(one, other))
        return of_arrays(operand_of(one), operand_of(other))

    return applied


def _divided(equation: Any, one: Any, other: Any) -> Any:
    if equation.outvars[0].aval.dtype.kind not in "iu":
        return _binary(op.divide, lambda a, b: a / b)(equation, one, other)
    return _whole(one, other, lambda a, b: whole_quotient(a, b) if not a.is_Integer else Integer(int(a / b)))


def _remainder(equation: Any, one: Any, other: Any) -> Any:
    if equation.outvars[0].aval.dtype.kind not in "iu":
        return op.remainder(operand_of(one), operand_of(other), True)
    return _whole(one, other, lambda a, b: Mod(a, b) if a.is_nonnegative else None)


def _whole(one: Any, other: Any, of_formulas: Callable[[Expr, Expr], Expr | None]) -> Table:
    """Return the quotient or the remainder of two integer formulas; other operands are refused."""
    if not (isinstance(one, Table) and isinstance(other, Table)) or one.kind != "integer" or other.kind != "integer":
        raise refuse("a division of whole numbers with a remainder")
    found = of_formulas(one.formula, other.formula)
    if found is None:
        raise refuse(f"a division of {one.formula} by {other.formula} with a remainder")
    return Table(found, shared_axes(one, other), "integer")


def _extremum(larger: bool) -> Rule:
    neutral = -oo if larger else oo

    def applied(equation: Any, one: Any, other: Any) -> Any:
        for own, rest in ((one, other), (other, one)):
            if isinstance(own, Table) and own.formula == neutral:
                return rest
        return _binary(lambda a, b: op.extremum(a, b, larger), Max if larger else Min)(equation, one, other)

    return applied


def _unary(of_arrays: Rule, of_formula: Callable[[Expr], Expr]) -> Rule:
    def applied(equation: Any, one: Any) -> Any:
        if isinstance(one, Tensor):
            return of_arrays(one)
        if one.formula.has(oo, -oo, nan):
            raise refuse("arithmetic with an infinite number")
        found = of_formula(one.formula)
        return Table(found, one.axes, "integer" if one.kind == "integer" and found.is_integer else "real")

    return applied


def _named(name: str, formula: Callable[[Expr], Expr]) -> Rule:
    """Return the rule of a function that the operations know by name, or by its formula."""
    return _unary(op.UNARY.get(name) or (lambda x: op.formula(name, formula(op.FIRST), x)), formula)


def _power_of(equation: Any, one: Any) -> Any:
    exponent = Integer(equation.params["y"])
    return _unary(lambda x: op.power(x, exponent), lambda x: x**exponent)(equation, one)


def _refused_sign() -> Expr:
    """Refuse the sign of a number that is not known to be positive."""
    raise refuse("the sign of a number")


def _nearest(equation: Any, one: Any) -> Any:
    """Return the nearest integers; ties go away from 0 or to the even integer, as JAX's rounding method requires."""
    if not isinstance(one, Tensor):
        raise refuse("a constant that is rounded")
    return op.UNARY["round_away" if int(equation.params["rounding_method"]) == 0 else "round"](one)


def _cast(equation: Any, one: Any) -> Any:
    """Return an array in another number type; fewer digits are read as no change."""
    new = np.dtype(equation.params["new_dtype"]) if not _is_narrow(equation.params["new_dtype"]) else None
    if new is None or (new.kind == "f" and new.itemsize < 8):
        current().rounded = True
    if new is None or new.kind == "f":
        if isinstance(one, Tensor):
            return made(one.node, one.alive, axes=one.axes).view_of(one) if one.node.kind == "real" else op.real(one)
        return Table(switch_of(one.formula) if one.kind == "boolean" else one.formula, one.axes)
    if new.kind == "b":
        return one if one.kind == "boolean" else compared(Ne)(equation, one, Table(Integer(0)))
    if isinstance(one, Table):
        if one.kind == "boolean":
            return Table(switch_of(one.formula), one.axes, "integer")
        return Table(one.formula if one.kind == "integer" else _truncated(one.formula), one.axes, "integer")
    if one.kind == "boolean":
        return op.real(one)
    if one.node.kind == "integer":
        return one
    raise refuse(f"a cast of real numbers to {new.name}")


def _is_narrow(kind: Any) -> bool:
    """Return whether a type is a floating-point type that NumPy does not have, such as bfloat16."""
    return np.dtype(kind).kind == "V" and "float" in np.dtype(kind).name


def _truncated(formula: Expr) -> Expr:
    if formula.is_integer:
        return formula
    if formula.is_number:
        return Integer(int(formula))
    raise refuse(f"{formula} rounded to a whole number")


def _same(equation: Any, one: Any, *more: Any) -> Any:
    return one


def _stopped(equation: Any, one: Any) -> Any:
    """Return the values unchanged; unless they are maxima of rows, a reading notes that gradients would change."""
    if not isinstance(one, Tensor):
        return one
    value = op.defined_by(one.node)
    while isinstance(value, Contraction) and value.is_move:
        value = op.defined_by(value.operands[0][0])
    if not isinstance(value, RowMax):
        current().read("stop_gradient as no change, which it is for values and not for gradients")
    return one


def _clamped(equation: Any, low: Any, one: Any, high: Any) -> Any:
    return _extremum(False)(equation, _extremum(True)(equation, one, low), high)


def _of_whole(of_arrays: Rule, function: Callable[[Expr], Expr]) -> Rule:
    def applied(equation: Any, one: Any) -> Any:
        if not isinstance(one, Table):
            return of_arrays(one)
        return Table(function(one.formula), one.axes, one.kind)

    return applied


ENTRYWISE: dict[str, Rule] = {
    "add": _binary(op.add, lambda a, b: a + b),
    "add_any": _binary(op.add, lambda a, b: a + b),
    "sub": _binary(op.subtract, lambda a, b: a - b),
    "mul": _binary(op.multiply, lambda a, b: a * b),
    "div": _divided,
    "rem": _remainder,
    "pow": _binary(op.power, lambda a, b: a**b),
    "max": _extremum(True),
    "min": _extremum(False),
    "clamp": _clamped,
    "integer_pow": _power_of,
    "exp": _named("exp", exp),
    "exp2": _unary(lambda x: op.power(Integer(2), x), lambda x: Integer(2) ** x),
    "log": _named("log", log),
    "log1p": _named("log1p", lambda x: log(1 + x)),
    "expm1": _named("expm1", lambda x: exp(x) - 1),
    "sqrt": _named("sqrt", sqrt),
    "rsqrt": _named("rsqrt", lambda x: 1 / sqrt(x)),
    "cbrt": _unary(op.UNARY["cbrt"], op.cube_root),
    "square": _named("square", lambda x: x**2),
    "tanh": _named("tanh", tanh),
    "sin": _named("sin", sin),
    "cos": _named("cos", cos),
    "tan": _named("tan", lambda x: sin(x) / cos(x)),
    "sinh": _named("sinh", sinh),
    "cosh": _named("cosh", cosh),
    "asin": _named("asin", asin),
    "acos": _named("acos", acos),
    "atan": _named("atan", atan),
    "atan2": _binary(op.angle, atan2),
    "asinh": _named("asinh", asinh),
    "acosh": _named("acosh", acosh),
    "atanh": _named("atanh", atanh),
    "erf": _named("erf", erf),
    "erfc": _named("erfc", lambda x: 1 - erf(x)),
    "abs": _named("absolute", Abs),
    "logistic": _named("sigmoid", lambda x: 1 / (1 + exp(-x))),
    "neg": _unary(op.negate, lambda x: -x),
    "floor": _of_whole(op.UNARY["floor"], floor),
    "ceil": _of_whole(op.UNARY["ceil"], ceiling),
    "round": _nearest,
    "sign": _named("sign", lambda x: Integer(1) if x.is_positive else _refused_sign()),
    "eq": compared(Eq),
    "ne": compared(Ne),
    "lt": compared(Lt),
    "le": compared(Le),
    "gt": compared(Gt),
    "ge": compared(Ge),
    "and": logical(op.logical_and, And),
    "or": logical(op.logical_or, Or),
    "not": logical(op.logical_not, Not),
    "select_n": chosen,
    "is_finite": is_finite,
    "convert_element_type": _cast,
    "stop_gradient": _stopped,
    "copy": _same,
    "name": _same,
    "device_put": _same,
    "sharding_constraint": _same,
    "optimization_barrier": _same,
    "reduce_precision": _same,
}
