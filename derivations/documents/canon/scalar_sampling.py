"""Fast numerical values of scalars. The value of a size, an index, a letter or an entry depends on its name alone.

Raises       NoNumber where an expression has none here; errors of arithmetic as Python has them
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from zlib import crc32

from sympy import (
    Add,
    Derivative,
    E,
    Indexed,
    Integer,
    KroneckerDelta,
    Max,
    Min,
    Mul,
    Pow,
    Rational,
    Sum,
    Symbol,
    cos,
    erf,
    exp,
    log,
    pi,
    sin,
    tanh,
)
from sympy.core.function import AppliedUndef

from derivations.documents.canon import rounded
from derivations.language.arrays.shapes import total

__all__ = [
    "FUNCTIONS",
    "SIZES",
    "NoNumber",
    "differ",
    "drawn",
    "drawn_entry",
    "drawn_symbol",
    "drawn_unknown",
    "power_of",
    "scalar_number",
    "size_number",
]

SIZES = {"n": 3, "m": 4, "d_k": 2, "d_v": 5, "d_model": 6, "d_ff": 7, "d": 4, "d_in": 3, "d_out": 5, "h": 2, "vocab": 5,
         "r": 3}  # fmt: skip
ANY_SIZE = 3  # of a size that has no name of its own
STEP = 2.0**-8  # of the numbers by which a slope is found
PLACES = {"i": 1, "k": 0, "j": 2, "l": 1, "c": 1, "pos": 3, "u": 2}


class NoNumber(Exception):
    """Raised for an expression that cannot be evaluated here."""


def drawn(name: str, *, signed: bool = False) -> float:
    """Return a number from 1/4 to 7/4 that depends on the name alone. With `signed`, it is from -1.6 to 1.4."""
    share = (crc32(name.encode()) % 100_003) / 100_003
    return 3 * share - 1.6 if signed else 0.25 + 1.5 * share


def size_number(expression: Any, bound: Mapping[Any, float] = MappingProxyType({})) -> int:
    """Return the integer value of a size."""
    value = scalar_number(total(expression), bound)
    if value != int(value) or not 0 <= value < 100:
        raise NoNumber(f"a size of {value}")
    return int(value)


def scalar_number(node: Any, bound: Mapping[Any, float]) -> float:
    """Return the value of a scalar. `bound` gives the values of some symbols."""
    if node in bound:
        return bound[node]
    for kind, rule in _SCALARS:
        if isinstance(node, kind):
            return float(rule(node, bound))
    raise NoNumber(type(node).__name__)


def _symbol(node: Any, bound: Mapping[Any, float]) -> float:
    known = SIZES if node.is_positive else PLACES if node.is_integer else {}
    if node.is_positive and node.is_integer and node.name not in known:
        return ANY_SIZE
    return known[node.name] if node.name in known else drawn(node.name, signed=not node.is_positive)


def _entry(node: Any, bound: Mapping[Any, float]) -> float:
    if not isinstance(node.base.label, Symbol):
        raise NoNumber("an entry of what is no array")
    key = f"{node.base.label.name}{[int(scalar_number(place, bound)) for place in node.indices]}"
    return bound[key] if key in bound else drawn(key, signed=True)


def _slope(node: Any, bound: Mapping[Any, float]) -> float:
    """Return a derivative, approximated by a difference of four values. The error is in about the tenth digit."""
    by, *rest = node.variables
    if rest:
        raise NoNumber("a derivative by several letters")
    key: Any = by
    if isinstance(by, Indexed):
        key = f"{by.base.label.name}{[int(scalar_number(place, bound)) for place in by.indices]}"
    here = scalar_number(by, bound)
    far2, far1, near1, near2 = (scalar_number(node.expr, {**bound, key: here + each * STEP}) for each in (-2, -1, 1, 2))
    return (far2 - 8 * far1 + 8 * near1 - near2) / (12 * STEP)


def _sum(node: Any, bound: Mapping[Any, float]) -> float:
    *inner, (place, first, last) = node.limits  # the last one is the outermost
    low, high = int(scalar_number(first, bound)), int(scalar_number(last, bound))
    if (high - low + 1) ** len(node.limits) > 200:
        raise NoNumber("a long sum")
    terms = node.func(node.function, *inner) if inner else node.function
    return math.fsum(scalar_number(terms, {**bound, place: at}) for at in range(low, high + 1))


def power_of(base: float, exponent: float) -> float:
    """Return a power. A fractional or very large exponent is applied to the absolute value of the base."""
    if base == 0 and exponent < 0:
        raise ZeroDivisionError("a power of 0")
    if exponent == int(exponent) and abs(exponent) < 100:
        return float(base) ** int(exponent) if abs(exponent) <= 2 else rounded.power(base, exponent)
    return rounded.power(abs(base) if base < 0 else base, exponent)


def drawn_unknown(value: float) -> float:
    """Return the value of the fixed function that replaces an unknown one. It is neither even nor linear."""
    return rounded.sin(1.3 * value + 0.4)


def differ(left: Any, right: Any) -> bool:
    """Return whether two expressions have different values. This is only a filter before the judge."""
    try:
        return not math.isclose(scalar_number(left, {}), scalar_number(right, {}), rel_tol=1e-7, abs_tol=1e-9)
    except (NoNumber, ArithmeticError, ValueError, TypeError):
        return False


# --- what formulas of entries need ---


def drawn_symbol(symbol: Symbol) -> float:
    """Return the value drawn for a size, an index or a scalar."""
    return _symbol(symbol, {})


def drawn_entry(name: str, places: Sequence[int]) -> float:
    """Return the value drawn for an entry of an array."""
    return drawn(f"{name}{list(places)}", signed=True)


FUNCTIONS: tuple[tuple[Any, Callable[[Sequence[float]], float]], ...] = (
    (Add, math.fsum),
    (Mul, math.prod),
    (exp, lambda parts: rounded.exp(parts[0])),
    (Pow, lambda parts: power_of(parts[0], parts[1])),
    (KroneckerDelta, lambda parts: float(len(set(parts)) == 1)),
    (log, lambda parts: rounded.log(abs(parts[0]))),
    (sin, lambda parts: rounded.sin(parts[0])),
    (cos, lambda parts: rounded.cos(parts[0])),
    (tanh, lambda parts: rounded.tanh(parts[0])),
    (erf, lambda parts: rounded.erf(parts[0])),
    (Max, max),
    (Min, min),
    (type(pi), lambda parts: math.pi),
    (type(E), lambda parts: math.e),
)


def _of_numbers(function: Callable[[Sequence[float]], float]) -> Callable[[Any, Mapping[Any, float]], float]:
    return lambda node, bound: function([scalar_number(part, bound) for part in node.args])


_SCALARS: tuple[tuple[Any, Callable[[Any, Mapping[Any, float]], float]], ...] = (
    (Symbol, _symbol),
    ((Rational, Integer), lambda node, bound: int(node.p) / int(node.q)),
    (Indexed, _entry),
    (Derivative, _slope),
    (Sum, _sum),
    *((kind, _of_numbers(function)) for kind, function in FUNCTIONS),
    (AppliedUndef, lambda node, bound: drawn_unknown(scalar_number(node.args[0], bound))),
)
