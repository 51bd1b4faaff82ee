"""Arithmetic and functions of entries, also for arrays that may contain minus infinity: exp turns it into 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sympy import (
    Abs,
    Expr,
    Ge,
    Gt,
    Integer,
    Lambda,
    Lt,
    Max,
    Min,
    Rational,
    Symbol,
    acos,
    asin,
    atan,
    atan2,
    cos,
    erf,
    exp,
    floor,
    log,
    sin,
    sqrt,
    tanh,
)

from derivations.language.arrays.arrangements import Numbers, Tabulated
from derivations.language.arrays.expression import Plus, Scaled
from derivations.language.arrays.functions import (
    Elementwise,
    Hadamard,
    gelu,
    named,
    relu,
)
from derivations.language.arrays.scalars import Iverson
from numeric.lifting.axes import Factors
from numeric.lifting.fillers import affine
from numeric.lifting.numbers import as_number
from numeric.lifting.operations.broadcasting import Operand, full, stretched, table, together
from numeric.lifting.operations.entries import FIRST, SECOND, apply, entry_function, finite, formula, real
from numeric.lifting.operations.masks import (
    alive_together,
    compare,
    hidden,
    integer_table,
    logical_and,
    logical_not,
    logical_or,
)
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again, tensor
from numeric.lifting.trace import current

__all__ = [
    "UNARY",
    "add",
    "angle",
    "at_least_0",
    "cross_entropy_of_logits",
    "cube_root",
    "divergence",
    "divide",
    "exponential",
    "extremum",
    "hypotenuse",
    "log_add_exp",
    "log_add_exp_2",
    "logarithm",
    "multiply",
    "negate",
    "power",
    "quotient_rounded",
    "remainder",
    "rounded",
    "sigmoid",
    "subtract",
    "x_log_y",
]

_SELU = (Rational("1.0507009873554805"), Rational("1.6732632423543772"))  # scale and alpha of Klambauer et al. (2017)


def add(one: Operand, other: Operand) -> Tensor:
    """Return the sum; minus infinity plus a finite number is minus infinity."""
    if not isinstance(one, Tensor):
        one, other = other, one
    if not isinstance(other, Tensor):
        value = as_number(other)
        if value == 0:
            return again(real(one))
        if value.is_integer and (counted := _of_positions(lambda a: a + value, one)) is not None:
            return counted
        one = real(one)
        return tensor(Plus(one.node, table(value, one.axes)), one.alive, axes=one.axes)
    if one.kind == other.kind == "boolean":
        return logical_or(one, other)  # the sum of truth values is one
    for scores, added in ((one, other), (other, one)):
        visible = _shown_by(added, 1)
        if visible is not None:
            return hidden(scores, visible)
    counted = _of_positions(lambda a, b: a + b, one, other)
    if counted is not None:
        return counted
    alive = alive_together(one, other)
    one, other = real(one), real(other)
    shape, nodes = together(one, other)
    return tensor(Plus(*(full(node, shape) for node in nodes)), alive, axes=shape)


def _of_positions(combine: Callable[..., Expr], *arrays: Tensor) -> Tensor | None:
    """Return a combination of integer tables as one formula of the index, or None. A mask can be read off a formula."""
    if any(each.alive is not None or each.kind == "boolean" for each in arrays):
        return None
    shape, nodes = together(*arrays)
    tables = [integer_table(node) for node in nodes]
    if any(each is None for each in tables) or any(isinstance(along, Factors) for along in shape):
        return None
    places = tuple(Symbol(f"i_{number}", integer=True) for number in range(len(shape)))
    formula = Lambda(places, combine(*(table(*places) for table in tables)))
    return tensor((Numbers if len(shape) == 1 else Tabulated)(formula, *shape), axes=shape)


def _shown_by(added: Tensor, sign: int) -> Tensor | None:
    """Return the mask of the entries that stay visible when a finite filler such as (1 - M) * (-1e9) is added."""
    found = None if added.alive is not None or added.kind == "boolean" else affine(added.node)
    if found is None or found.mask is None:
        return None
    signed = replace(found, unset=sign * found.unset, shown=sign * found.shown)
    if not (signed.hides or signed.shows):
        return None
    current().read(f"{float(min(signed.unset, signed.shown)):g} as minus infinity")
    mask = tensor(found.mask, kind="boolean", axes=added.axes)
    return mask if signed.hides else logical_not(mask)


def negate(one: Operand) -> Tensor:
    """Return the negative."""
    finite("the negative", one)
    if (counted := _of_positions(lambda a: -a, one)) is not None:
        return counted
    return tensor(Scaled(Integer(-1), real(one).node), axes=one.axes)


def subtract(one: Operand, other: Operand) -> Tensor:
    """Return the difference."""
    if not isinstance(other, Tensor):
        return add(one, -as_number(other))
    finite("a subtracted array", other)
    if not isinstance(one, Tensor):
        return add(negate(other), one)
    if one.kind == other.kind == "boolean":
        raise TypeError("truth values are not subtracted: use the exclusive or")
    visible = _shown_by(other, -1)
    if visible is not None:
        return hidden(one, visible)
    counted = _of_positions(lambda a, b: a - b, one, other)
    if counted is not None:
        return counted
    one, other = real(one), real(other)
    shape, nodes = together(one, other)
    left, right = (full(node, shape) for node in nodes)
    alive = None if one.alive is None else stretched(one.alive, one.axes, shape)
    return tensor(Plus(left, Scaled(Integer(-1), right)), alive, axes=shape)


def multiply(one: Operand, other: Operand) -> Tensor:
    """Return the product; minus infinity times a positive number is minus infinity."""
    if not isinstance(one, Tensor):
        one, other = other, one
    if not isinstance(other, Tensor):
        value = as_number(other)
        if one.alive is not None and not value.is_positive:
            raise refuse(f"minus infinity times {value}")
        one = real(one)
        return tensor(one.node if value == 1 else Scaled(value, one.node), one.alive, axes=one.axes)
    finite("a product", one, other)
    if one.kind == other.kind == "boolean":
        return logical_and(one, other)
    one, other = real(one), real(other)
    if not one.axes or not other.axes:
        return apply(entry_function("times", FIRST * SECOND, FIRST, SECOND), one, other)
    shape, nodes = together(one, other)
    return tensor(Hadamard(*nodes), axes=shape)


def divide(one: Operand, other: Operand) -> Operand:
    """Return the quotient."""
    if not isinstance(other, Tensor):
        value = as_number(other)
        if value == 0:
            raise refuse("a division by 0")
        return multiply(one, 1 / value) if isinstance(one, Tensor) else one / other
    if not isinstance(one, Tensor):
        return formula("quotient", as_number(one) / FIRST, other)
    return formula("quotient", FIRST / SECOND, one, other)


def power(one: Operand, other: Operand) -> Tensor:
    """Return the power: an array to a number or to a table of integers, or a positive number to an array."""
    if not isinstance(other, Tensor):
        exponent = as_number(other)
        if exponent == 1:
            return again(real(one))
        if exponent == Integer(1) / 2:
            return formula("sqrt", sqrt(FIRST), one)
        return formula("square" if exponent == 2 else "power", FIRST**exponent, one)
    if not isinstance(one, Tensor):
        base = as_number(one)
        if not base.is_positive:
            raise refuse(f"a power of {base}, which is not known to be positive")
        return formula("power", base**FIRST, other)
    if integer_table(other.node) is not None:
        return formula("power", FIRST**SECOND, one, other)
    raise refuse("a power of an array to an array: its base may be negative")


def exponential(one: Tensor) -> Tensor:
    """Return exp; exp of minus infinity is 0."""
    alive = one.alive
    node = current().define(Elementwise(named("exp", exp(FIRST), FIRST), real(one).node))
    if alive is None:
        return tensor(node, axes=one.axes)
    return tensor(Hadamard(alive, node), axes=one.axes)


def sigmoid(one: Tensor) -> Tensor:
    """Return 1/(1 + exp(-x))."""
    return formula("sigmoid", 1 / (1 + exp(-FIRST)), one)


def logarithm(one: Tensor) -> Tensor:
    """Return the natural logarithm."""
    return formula("log", log(FIRST), one)


def cube_root(x: Expr) -> Expr:
    """Return the real cube root, which has the sign of its argument: powers are taken of non-negative numbers only."""
    third = Rational(1, 3)
    return Max(x, 0) ** third - Max(-x, 0) ** third


UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "cbrt": lambda x: formula("cbrt", cube_root(FIRST), x),
    "exp": exponential,
    "log": logarithm,
    "log2": lambda x: formula("log2", log(FIRST) / log(2), x),
    "log10": lambda x: formula("log10", log(FIRST) / log(10), x),
    "log1p": lambda x: formula("log1p", log(1 + FIRST), x),
    "exp2": lambda x: formula("exp2", Integer(2) ** FIRST, x),
    "expm1": lambda x: formula("expm1", exp(FIRST) - 1, x),
    "sqrt": lambda x: formula("sqrt", sqrt(FIRST), x),
    "rsqrt": lambda x: formula("rsqrt", 1 / sqrt(FIRST), x),
    "square": lambda x: formula("square", FIRST**2, x),
    "reciprocal": lambda x: formula("reciprocal", 1 / FIRST, x),
    "tanh": lambda x: formula("tanh", tanh(FIRST), x),
    "cosh": lambda x: formula("cosh", (exp(FIRST) + exp(-FIRST)) / 2, x),
    "sinh": lambda x: formula("sinh", (exp(FIRST) - exp(-FIRST)) / 2, x),
    "sin": lambda x: formula("sin", sin(FIRST), x),
    "cos": lambda x: formula("cos", cos(FIRST), x),
    "tan": lambda x: formula("tan", sin(FIRST) / cos(FIRST), x),
    "asin": lambda x: formula("asin", asin(FIRST), x),
    "acos": lambda x: formula("acos", acos(FIRST), x),
    "atan": lambda x: formula("atan", atan(FIRST), x),
    "asinh": lambda x: formula("asinh", log(FIRST + sqrt(FIRST**2 + 1)), x),
    "acosh": lambda x: formula("acosh", log(FIRST + sqrt(FIRST**2 - 1)), x),
    "atanh": lambda x: formula("atanh", (log(1 + FIRST) - log(1 - FIRST)) / 2, x),
    "floor": lambda x: formula("floor", floor(FIRST), x),
    "ceil": lambda x: formula("ceil", -floor(-FIRST), x),
    "round": lambda x: formula("round", _rounded(FIRST), x),
    "round_away": lambda x: formula("round", _truncated(FIRST, Rational(1, 2)), x),
    "trunc": lambda x: formula("trunc", _truncated(FIRST), x),
    "entr": lambda x: negate(x_log_y(at_least_0(x), x)),
    "erf": lambda x: formula("erf", erf(FIRST), x),
    "erfc": lambda x: formula("erfc", 1 - erf(FIRST), x),
    "ndtr": lambda x: formula("ndtr", (1 + erf(FIRST / sqrt(2))) / 2, x),
    "tanhshrink": lambda x: formula("tanhshrink", FIRST - tanh(FIRST), x),
    "selu": lambda x: formula("selu", _SELU[0] * (Max(0, FIRST) + _SELU[1] * (exp(Min(0, FIRST)) - 1)), x),
    "sign": lambda x: formula("sign", Iverson(Gt(FIRST, 0)) - Iverson(Lt(FIRST, 0)), x),
    "absolute": lambda x: formula("abs", Abs(FIRST), x),
    "sigmoid": sigmoid,
    "negative": negate,
    "relu": lambda x: apply(relu, x),
    "gelu": lambda x: apply(gelu, x),
    "silu": lambda x: formula("silu", FIRST / (1 + exp(-FIRST)), x),
    "softplus": lambda x: formula("softplus", log(1 + exp(FIRST)), x),
    "log_sigmoid": lambda x: formula("log_sigmoid", -log(1 + exp(-FIRST)), x),
}


def extremum(one: Operand, other: Operand, larger: bool) -> Tensor:
    """Return the larger or the smaller of two numbers, entry by entry."""
    choose = Max if larger else Min
    name = "maximum" if larger else "minimum"
    if not isinstance(one, Tensor):
        one, other = other, one
    if isinstance(other, Tensor):
        return formula(name, choose(FIRST, SECOND), one, other)
    value = as_number(other)
    if larger and value == 0:
        return apply(relu, one)
    return formula(name, choose(value, FIRST), one)


def cross_entropy_of_logits(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the binary cross-entropy of probabilities sigmoid(x) and targets y: log(1 + exp(x)) - x y."""
    return formula("bce_with_logits", log(1 + exp(FIRST)) - FIRST * SECOND, logits, targets)


def _truncated(x: Expr, more: Expr = Integer(0)) -> Expr:
    """Return x rounded towards 0, after `more` has been added to |x|."""
    return floor(Max(x, 0) + more) - floor(Max(-x, 0) + more)


def _rounded(x: Expr) -> Expr:
    """Return the nearest integer; ties go to the even one: where x + 1/2 is an odd integer, 1 is subtracted from it."""
    up = floor(x + Rational(1, 2))
    return up - Iverson(Ge(up, x + Rational(1, 2))) * (up - 2 * floor(up / 2))


def rounded(one: Tensor, digits: int = 0) -> Tensor:
    """Return the nearest multiples of 10^-digits; ties go to the even multiple."""
    unit = Integer(10) ** -digits
    return multiply(UNARY["round"](multiply(one, 1 / unit)), unit)


def quotient_rounded(one: Operand, other: Operand, towards_0: bool = False) -> Tensor:
    """Return x/y rounded down, or towards 0."""
    return UNARY["trunc" if towards_0 else "floor"](_array(divide(one, other)))


def remainder(one: Operand, other: Operand, towards_0: bool = False) -> Tensor:
    """Return x - y q, with the quotient q rounded down or towards 0."""
    return subtract(one, multiply(other, quotient_rounded(one, other, towards_0)))


def _array(value: Operand) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError("an operation of arrays on numbers alone")
    return value


def angle(y: Operand, x: Operand) -> Tensor:
    """Return the angle of the point (x, y), in (-pi, pi]."""
    sides, left = [], iter((FIRST, SECOND))
    for each in (y, x):
        sides.append(next(left) if isinstance(each, Tensor) else as_number(each))
    return formula("atan2", atan2(*sides), *(each for each in (y, x) if isinstance(each, Tensor)))


def hypotenuse(one: Operand, other: Operand) -> Tensor:
    """Return sqrt(x^2 + y^2)."""
    if not isinstance(one, Tensor):
        one, other = other, one
    if not isinstance(other, Tensor):
        return formula("hypot", sqrt(FIRST**2 + as_number(other) ** 2), one)
    return formula("hypot", sqrt(FIRST**2 + SECOND**2), one, other)


def log_add_exp(one: Operand, other: Operand) -> Tensor:
    """Return log(exp(x) + exp(y))."""
    if not isinstance(one, Tensor):
        one, other = other, one
    if not isinstance(other, Tensor):
        return formula("logaddexp", log(exp(as_number(other)) + exp(FIRST)), one)
    return formula("logaddexp", log(exp(FIRST) + exp(SECOND)), one, other)


def log_add_exp_2(one: Operand, other: Operand) -> Tensor:
    """Return log2(2^x + 2^y)."""
    if not isinstance(one, Tensor):
        one, other = other, one
    left = Integer(2) ** FIRST
    right = Integer(2) ** (SECOND if isinstance(other, Tensor) else as_number(other))
    return formula("logaddexp2", log(left + right) / log(2), *(x for x in (one, other) if isinstance(x, Tensor)))


def at_least_0(one: Tensor) -> Tensor:
    """Return an array, and record the condition that no entry is negative: negative entries have no formula."""
    current().guarded[compare(one, Integer(0), Lt).node, False] = None
    return one


def x_log_y(one: Operand, other: Operand) -> Tensor:
    """Return x log(y); at x = y = 0, libraries give 0 and the formula has no value."""
    current().read("x log(y) as the product, also where x is 0")
    logarithm_of_y = UNARY["log"](other) if isinstance(other, Tensor) else log(as_number(other))
    return multiply(one, logarithm_of_y)


def divergence(log_given: Tensor, target: Tensor, log_target: bool) -> Tensor:
    """Return the terms t (log t - x) of the Kullback-Leibler divergence; x is a logarithm, the target is t or log t."""
    if log_target:
        return multiply(UNARY["exp"](target), subtract(target, log_given))
    return subtract(x_log_y(target, target), multiply(target, log_given))
