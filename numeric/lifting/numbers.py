"""Symbolic numbers: sizes of axes, and scalars made of sizes, constants and parameters such as epsilon.

A `Size` is what `x.shape[0]` gives while a function is lifted. It computes like an integer and has no value: whatever
would need one (`int`, `range`, a table of that length) is refused with the user's line. A comparison of sizes is a
decision of the trace: the answer is an assumption, which is printed, or both answers are tried.
"""

from __future__ import annotations

import math
import operator
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from types import MappingProxyType
from typing import Any, NoReturn

from sympy import Add, Expr, Integer, Pow, Rational, cancel, cos, exp, expand, log, pi, sin, sqrt, tanh
from sympy import E as euler

from derivations.language.judge.normal_form.context import Context
from derivations.language.judge.normal_form.reading import read
from derivations.language.judge.normal_form.signs import is_positive
from numeric.lifting.refusals import Unhashable, refuse, users_line
from numeric.lifting.trace import current

__all__ = [
    "SYMBOLIC",
    "Scalar",
    "Size",
    "as_number",
    "at_least",
    "is_number",
    "number",
    "patched_math",
    "size_of",
    "whole_quotient",
]

# Constants that people write as floating-point expressions. A literal is read as one of them only if it is the double
# (or the float32) nearest to it, or a neighbour of that; the reading is printed with the verdict.
_CLOSED: tuple[tuple[Expr, str], ...] = (
    (sqrt(2 / pi), "sqrt(2/pi)"),
    (sqrt(2 * pi), "sqrt(2 pi)"),
    (1 / sqrt(2 * pi), "1/sqrt(2 pi)"),
    (1 / sqrt(2), "1/sqrt(2)"),
    (sqrt(2), "sqrt(2)"),
    (sqrt(pi), "sqrt(pi)"),
    (pi, "pi"),
    (2 * pi, "2 pi"),
    (pi / 2, "pi/2"),
    (1 / pi, "1/pi"),
    (pi / 180, "pi/180"),
    (180 / pi, "180/pi"),
    (2 / sqrt(pi), "2/sqrt(pi)"),
    (euler, "e"),
    (log(2), "log(2)"),
    (1 / log(2), "1/log(2)"),
    (log(10000), "log(10000)"),
    (-log(10000), "-log(10000)"),
    (log(10), "log(10)"),
)
_DOUBLED = (2, 4, 8)  # times a constant: a double of it is exact, and so is its half
_LARGEST_ROOT = 1 << 16  # roots of whole numbers up to here are recognised


def _known(value: float) -> tuple[Expr, str] | None:
    """Return the constant whose double is the given one or a neighbour of it: sqrt(k), 1/sqrt(k), or a listed one.

    A listed constant may be doubled or halved, up to eight times.
    """

    def near(other: float) -> bool:
        return abs(value - other) <= math.ulp(other)

    for closed, nearest, written in _closed():
        if near(nearest):
            return closed, written
    for power, written in ((Rational(1, 2), "sqrt({})"), (Rational(-1, 2), "1/sqrt({})")):
        inside = round(value ** (2 if power > 0 else -2)) if 1e-3 < abs(value) < 1e3 else 0
        if 1 < inside <= _LARGEST_ROOT and math.isqrt(inside) ** 2 != inside and near(inside ** float(power)):
            return Pow(inside, power), written.format(inside)
    for by, (closed, nearest, written) in product(_DOUBLED, _closed()):
        if near(nearest * by):
            return by * closed, f"{by} {written}"
        if near(nearest / by):
            return closed / by, f"({written})/{by}"
    return None


_LARGEST_DENOMINATOR = 1000  # of quotients that are recognised


def _quotient(value: float) -> Rational | None:
    """Return the quotient of small integers whose double is the given one, unless a short decimal has this double."""
    near = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    is_short = float(f"{value:.{_DIGITS}g}") == value
    return Rational(near.numerator, near.denominator) if float(near) == value and not is_short else None


_ROUNDED = 1e-6  # relative; a constant that was typed with six digits


def _close(value: float) -> tuple[Expr, str] | None:
    """Return the listed constant from which a decimal seems to have been rounded, else None."""
    near = ((abs(value - nearest), closed, written) for closed, nearest, written in _closed())
    gap, closed, written = min(near, key=lambda each: each[0])
    return (closed, written) if gap <= _ROUNDED * abs(value) else None


_DIGITS = 6  # of a decimal that was written down


def _narrow(value: float) -> str | None:
    """Return the short decimal whose nearest float32 a number equals, else None; constants in C++ often are such."""
    (single,) = struct.unpack("f", struct.pack("f", value)) if 1e-30 < abs(value) < 1e30 else (0.0,)
    short = f"{value:.{_DIGITS}g}"
    same = single == value and struct.pack("f", float(short)) == struct.pack("f", value)
    return short if same and float(short) != value else None


_LONG = 1e10  # against the gap: so near to a decimal of few digits is no other number that somebody wrote


def _rounded(value: float) -> tuple[Expr, str] | None:
    """Return the short decimal that a number differs from by rounding only: 0.1 for 1 - 0.9 = 0.09999999999999998.

    Python computes with literals before an array sees them. Whoever writes a number down writes fewer digits.
    """
    short = f"{value:.{_DIGITS}g}"
    gap = abs(value - float(short))
    near = 0 < gap <= math.ulp(max(1.0, abs(value))) and gap * _LONG <= abs(value)
    return (Rational(short), short) if near else None


@cache
def _closed() -> tuple[tuple[Expr, float, str], ...]:
    return tuple((closed, float(closed), written) for closed, written in _CLOSED)


def number(value: Any) -> Expr:
    """Return a number of Python or NumPy as an exact one: an integer, the decimal as written, or a known constant."""
    if isinstance(value, bool):
        return Integer(int(value))
    if isinstance(value, int):
        return Integer(value)
    if isinstance(value, Fraction):
        return Rational(value.numerator, value.denominator)
    if hasattr(value, "item") and getattr(value, "shape", ()) == ():
        return number(value.item())
    if not isinstance(value, float):
        raise refuse(f"{value!r} of type {type(value).__name__} is not a number that can be followed")
    if not math.isfinite(value):
        raise refuse(f"{value} is not a real number")
    if value == int(value) and abs(value) < 2**53:
        return Integer(int(value))
    for size, stands_for in current().known_sizes.items():
        for exponent in (Rational(-1, 2), Rational(1, 2)):
            if abs(value - size ** float(exponent)) <= math.ulp(value):
                current().read(f"{value!r} as {stands_for**exponent}")
                return stands_for**exponent
    known = _known(value)
    if known is not None:
        current().read(f"{value!r} as {known[1]}")
        return known[0]
    narrow = _narrow(value)
    if narrow is not None:
        current().read(f"{value!r} as {narrow}, whose float32 it is")
        return Rational(narrow)
    quotient = _quotient(value)
    if quotient is not None:
        current().read(f"{value!r} as {quotient}")
        return quotient
    close = _rounded(value) or _close(value)
    if close is not None:
        closed, written = close
        current().near[f"{value!r} for {written}, which differs by {abs(value - float(closed)):.1e}"] = None
        if current().generous:
            return closed
    current().literals.append(Rational(repr(value)))
    return Rational(repr(value))


class Scalar:
    """A real number that is known as a formula only."""

    def __init__(self, expression: Expr) -> None:
        self.expression = expression

    __array_priority__ = 1000

    def __repr__(self) -> str:
        """Return the formula."""
        return str(self.expression)

    def __str__(self) -> str:
        """Refuse: code that uses the text of a symbolic number would behave differently with a known number."""
        self._no_value("the text")

    def __format__(self, how: str) -> str:
        """Refuse, as for `str`."""
        self._no_value("the text")

    def __hash__(self) -> int:
        """Refuse: a dictionary with numbers as keys has no entry for a symbolic number.

        What catches a `TypeError` of its own knows that sizes may be symbolic, as einops does.
        """
        raise Unhashable(f"a look-up of {self.expression} needs its value, and it is symbolic", users_line())

    def _no_value(self, what: str) -> NoReturn:
        raise refuse(f"{what} of {self.expression} needs its value, and it is symbolic")

    def __bool__(self) -> bool:
        """Refuse: whether a symbolic number differs from 0 is known for a `Size` only."""
        self._no_value("a branch on the truth value")

    def __int__(self) -> int:
        """Refuse: a symbolic number has no integer value."""
        self._no_value("int()")

    __index__ = __trunc__ = __round__ = __floor__ = __ceil__ = __int__

    def _no_rule(self, *others: Any) -> NoReturn:
        raise refuse(f"an operator on {self.expression} that has no rule")

    __abs__ = __divmod__ = __rdivmod__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __complex__ = _no_rule
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = _no_rule
    __rrshift__ = __invert__ = _no_rule

    def __getattr__(self, name: str) -> Any:
        """Refuse an attribute that Python's numbers have and this class lacks; for other names raise AttributeError."""
        if hasattr(0, name) or hasattr(0.0, name):
            raise refuse(f"{name} of {self.expression} has no rule")
        raise AttributeError(f"'int' object has no attribute {name!r}")

    def __float__(self) -> float:
        """Refuse: a symbolic number has no floating-point value."""
        self._no_value("float()")

    def _compared(self, other: Any, relation: Callable[[Any, Any], Any]) -> Any:
        if not is_number(other):
            return NotImplemented
        gap = expand(self.expression - as_number(other))
        if gap.is_number:
            return bool(relation(gap, 0))
        self._no_value("a comparison")

    def __lt__(self, other: Any) -> Any:
        """Return whether this number is smaller, if the answer is the same for all values of its symbols."""
        return self._compared(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        """Return whether this number is smaller or equal, if the answer is the same for all values of its symbols."""
        return self._compared(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        """Return whether this number is larger, if the answer is the same for all values of its symbols."""
        return self._compared(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        """Return whether this number is larger or equal, if the answer is the same for all values of its symbols."""
        return self._compared(other, operator.ge)

    def __eq__(self, other: object) -> Any:
        """Return whether two numbers are equal, if the answer is the same for all values of their symbols."""
        return self._compared(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        """Decide whether two numbers differ."""
        answer = self._compared(other, operator.eq)
        return answer if answer is NotImplemented else not answer

    def _with(self, other: Any, compute: Callable[[Expr, Expr], Expr]) -> Any:
        if not is_number(other):
            return NotImplemented
        return scalar(compute(self.expression, as_number(other)), self, other)

    def __add__(self, other: Any) -> Any:
        """Return the sum."""
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> Any:
        """Return the difference."""
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        """Return the difference."""
        return self._with(other, lambda own, given: given - own)

    def __mul__(self, other: Any) -> Any:
        """Return the product; a sequence repeated a symbolic number of times is refused."""
        return self._with(other, operator.mul)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Any:
        """Return the quotient, a real number."""
        return self._with(other, lambda own, given: own / _nonzero(given)) if is_number(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        """Return the quotient, a real number."""
        return self._with(other, lambda own, given: given / _nonzero(own))

    def __pow__(self, other: Any) -> Any:
        """Return the power."""
        return self._with(other, lambda own, given: _power(own, given))

    def __rpow__(self, other: Any) -> Any:
        """Return the power of a number, such as 10000 ** (2 i / d)."""
        return self._with(other, lambda own, given: _power(given, own))

    def __neg__(self) -> Any:
        """Return the negative."""
        return Scalar(-self.expression)

    def __pos__(self) -> Any:
        """Return the number itself."""
        return self

    def sqrt(self) -> Scalar:
        """Return the square root; NumPy calls this method to compute the root of an object."""
        return Scalar(_power(self.expression, Rational(1, 2)))


class Size(Scalar):
    """The size of an axis: a polynomial in size symbols, at least 1 where it is an axis."""

    def __bool__(self) -> bool:
        """Return whether the size differs from 0, which is true if it is the size of an axis, at least 1."""
        return True if at_least(self.expression, 1) else self != 0

    def __floordiv__(self, other: Any) -> Any:
        """Return the quotient where it is exact for all sizes."""
        return self._divided(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        """Return the quotient where it is exact for all sizes."""
        return self._divided(other, self)

    def _divided(self, one: Any, other: Any) -> Any:
        top, bottom = as_number(one), as_number(other)
        found = whole_quotient(top, bottom)
        if found is None:
            raise refuse(f"{top} // {bottom} is not exact for all sizes: declare {top} as a multiple of {bottom}")
        return size_of(found)

    def __mod__(self, other: Any) -> Any:
        """Return the remainder if it is known for all sizes: 0, or the size itself if it is below the divisor."""
        top, bottom = self.expression, as_number(other)
        if at_least(top, 0) and at_least(expand(bottom - top), 1):
            return size_of(top)
        if whole_quotient(top, bottom) is None:
            raise refuse(f"{top} % {bottom} is not known for all sizes: declare {top} as a multiple of {bottom}")
        return 0

    def __rmod__(self, other: Any) -> Any:
        """Return the remainder of a number that is smaller than the size."""
        if isinstance(other, int) and other >= 0 and self > other:
            return other
        raise refuse(f"{other} % {self.expression} is not known for all sizes")

    def _compared(self, other: Any, relation: Callable[[Any, Any], Any]) -> Any:
        if not is_number(other):
            return NotImplemented
        gap = expand(self.expression - as_number(other))
        if gap.is_number:
            return bool(relation(gap, 0))
        for sign, value in ((1, 1), (-1, -1)):  # certainly positive, certainly negative
            if at_least(sign * gap, 1):
                return bool(relation(value, 0))
        if relation in (operator.ge, operator.lt) and at_least(gap, 0):
            return relation is operator.ge
        if relation in (operator.le, operator.gt) and at_least(-gap, 0):
            return relation is operator.le
        return current().decided(self.expression, as_number(other), relation)

    __hash__ = Scalar.__hash__


@lru_cache(maxsize=1 << 12)
def at_least(expression: Expr, least: int) -> bool:
    """Return whether a polynomial in sizes is at least a number: with n = 1 + n', no coefficient is negative."""
    shifted = expand(expression.xreplace({s: s + 1 for s in expression.free_symbols}) - least)
    return all(term.as_coeff_Mul()[0] >= 0 for term in Add.make_args(shifted))


@lru_cache(maxsize=1 << 12)
def whole_quotient(top: Expr, bottom: Expr) -> Expr | None:
    """Return the quotient of two polynomials in sizes if it is one with whole coefficients, else None."""
    if bottom == 0:
        return None
    found = expand(cancel(top / bottom))
    _, denominator = found.as_numer_denom()
    return found if denominator == 1 else None


def _nonzero(value: Expr) -> Expr:
    if value == 0:
        raise ZeroDivisionError("division by zero")
    return value


def _power(base: Expr, exponent: Expr) -> Expr:
    if not (_positive(base) or (exponent.is_integer and (exponent.is_nonnegative or base.is_nonzero))):
        raise refuse(f"({base}) ** ({exponent}): the base is not known to be positive")
    return base**exponent


def _positive(base: Expr) -> bool:
    """Return whether a number is known to be positive: by SymPy, or by a proof of the judge, as for 1 - 0.9^t."""
    return base.is_positive is True or (not base.is_number and is_positive(read(base, Context()), Context()))


def scalar(value: Expr, *operands: Any) -> Scalar | int:
    """Return a number as a size if its operands were whole and it is a polynomial in sizes, else as a scalar."""
    whole = all(isinstance(each, Size | int) and not isinstance(each, bool) for each in operands)
    if whole and value.is_polynomial() and whole_quotient(value, Integer(1)) is not None:
        return size_of(value)
    return Scalar(value)


def size_of(value: Expr) -> Size | int:
    """Return an expression of sizes as an int if it is a known number, else as a `Size`."""
    value = expand(value)
    return int(value) if value.is_Integer else Size(value)


def is_number(value: Any) -> bool:
    """Return whether a value is one number: of Python, of NumPy, or symbolic."""
    if isinstance(value, Scalar | Expr | int | float):
        return True
    kind = getattr(getattr(value, "dtype", None), "kind", "") if getattr(value, "shape", None) == () else ""
    return kind in tuple("fiub")


def as_number(value: Any) -> Expr:
    """Return a number as an exact SymPy expression."""
    if isinstance(value, Expr):
        return value
    return value.expression if isinstance(value, Scalar) else number(value)


SYMBOLIC = {"sqrt": sqrt, "exp": exp, "log": log, "tanh": tanh, "sin": sin, "cos": cos}


@contextmanager
def patched_math(*modules: Any, own: Mapping[Any, Any] = MappingProxyType({})) -> Any:
    """Let `math.sqrt` and similar functions take symbolic numbers inside the block; `float` still refuses them.

    `modules` are the namespaces of the function under study, where the functions may stand under names of their own;
    `own` are functions of other libraries with their rules.
    """
    replaced: dict[Any, Any] = dict(own)
    for name, symbolic in SYMBOLIC.items():
        replaced[getattr(math, name)] = _either(getattr(math, name), symbolic)
    replaced[math.pow] = lambda a, b: a**b if isinstance(a, Scalar) or isinstance(b, Scalar) else _POW(a, b)
    places = []
    of_own = (vars(sys.modules[name]) for name in {each.__module__.rpartition(".")[0] for each in own})
    for space in (vars(math), *modules, *of_own):
        for name, value in list(space.items()):
            try:
                new = replaced.get(value)
            except TypeError:  # an unhashable value
                continue
            if new is not None:
                places.append((space, name, value))
                space[name] = new
    try:
        yield
    finally:
        for space, name, value in places:
            space[name] = value


_POW = math.pow


def _either(concrete: Callable[..., Any], symbolic: Callable[[Expr], Expr]) -> Callable[..., Any]:
    def called(value: Any, *more: Any) -> Any:
        if isinstance(value, Scalar):
            if concrete is _LOG and (more or not value.expression.is_positive):
                raise refuse(f"log of {value.expression}: it is not known to be positive")
            return value.sqrt() if symbolic is sqrt else Scalar(symbolic(value.expression))
        if not more and hasattr(value, "__jax_array__"):
            return getattr(value, concrete.__name__)()  # a size of JAX, as NumPy applies functions to objects
        return concrete(value, *more)

    return called


_LOG = math.log
