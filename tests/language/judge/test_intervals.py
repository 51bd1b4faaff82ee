"""Elementary functions over intervals against Arb: the true value never lies outside."""

import math
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import pytest
from mpmath import iv
from mpmath.ctx_iv import MPIntervalContext

import derivations
from derivations.language.judge import intervals

_POINTS = 500  # of each function in the fast tier
_MANY = 30_000
_ORACLE_BITS = 420

FUNCTIONS = ("exp", "log", "sin", "cos", "tanh", "erf", "sqrt")


def _context(digits: int) -> Any:
    context = MPIntervalContext()
    context.dps = digits
    return context


def _ball(end: Any) -> flint.arb:
    """Return an end of an interval, exactly."""
    sign, mantissa, exponent, _ = end
    return flint.arb(int(-mantissa if sign else mantissa)) * flint.arb(2) ** int(exponent)


def _holds(interval: Any, value: flint.arb) -> bool:
    """Say whether an interval holds a value that Arb encloses, and is not far too wide."""
    low, high = (_ball(end) for end in interval._mpi_)
    return bool(low <= value.upper()) and bool(value.lower() <= high) and not (value < low or value > high)


def _points(name: str, source: random.Random, count: int) -> Iterator[Fraction]:
    """Yield exact arguments: dyadic and not, tiny, huge, near multiples of pi, near 1."""
    pi = Fraction(math.pi)
    kinds: list[Callable[[], Fraction]] = [
        lambda: Fraction(source.randint(-(2**12), 2**12), 2 ** source.randint(0, 12)),
        lambda: Fraction(source.randint(-(2**60), 2**60), 2**56),
        lambda: Fraction(source.randint(-999, 999), 10 ** source.randint(1, 40)),
        lambda: Fraction(source.choice((-1, 1)) * source.randint(1, 9), 2 ** source.randint(100, 900)),
        lambda: Fraction(source.choice((-1, 1)) * source.randint(1, 10 ** source.randint(1, 15))),
        lambda: pi * source.randint(-2000, 2000) / 2 + Fraction(source.randint(-9, 9), 2 ** source.randint(40, 160)),
        lambda: 1 + Fraction(source.randint(-9, 9), 2 ** source.randint(4, 300)),
        lambda: Fraction(source.uniform(-12, 12)),
    ]
    found = 0
    while found < count:
        value = source.choice(kinds)()
        value = abs(value) if name in ("log", "sqrt") else value
        if not (name == "log" and value == 0) and not (name == "exp" and abs(value) > 10**6):
            found += 1
            yield value


def _violations(name: str, seed: str, count: int) -> list[tuple[Fraction, int]]:
    source, wrong = random.Random(f"{name} {seed}"), []
    contexts = [_context(digits) for digits in (15, 40, 60)]
    flint.ctx.prec = _ORACLE_BITS
    for value in _points(name, source, count):
        context = source.choice(contexts)
        x = intervals.fraction(value, context)
        width = Fraction(source.choice((0, 0, 1, 1)) * source.randint(1, 99), 10 ** source.randint(1, 12))
        ends = (x.a, intervals.fraction(value + width, context).b)
        over = context.mpf([ends[0], ends[1]])
        found = getattr(intervals, name)(over)
        inside = [_ball(over._mpi_[0]), _ball(over._mpi_[1]), flint.arb(value.numerator) / value.denominator]
        inside += [inside[2] + flint.arb(width.numerator * part) / (width.denominator * 8) for part in (1, 3, 5, 7, 8)]
        for place in inside:
            true = getattr(place, name)()
            if true.is_finite() and not _holds(found, true):
                wrong.append((value, context.dps))
                break
    return wrong


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arb_finds_no_value_outside(name: str) -> None:
    assert _violations(name, "fast", _POINTS) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_arb_finds_no_value_outside_at_many_points(name: str) -> None:
    assert _violations(name, "many", _MANY) == []


def test_the_interval_of_mpmath_itself_fails() -> None:
    """The oracle can say no: exp(-121/128) at 40 digits lies outside what mpmath.iv returns."""
    context = _context(40)
    flint.ctx.prec = _ORACLE_BITS
    x = context.mpf(-121) / 128
    true = flint.arb(-121) / 128
    assert not _holds(context.exp(x), true.exp())
    assert _holds(intervals.exp(x), true.exp())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_enclosures_are_tight(name: str) -> None:
    """An interval that is right and useless would pass the oracle: the width is a few units of the last place."""
    context = _context(40)
    for value in (Fraction(3, 7), Fraction(5, 3), Fraction(11, 4)):
        found = getattr(intervals, name)(intervals.fraction(value, context))
        assert found.delta < context.mpf(10) ** -37


def test_exact_values_stay_exact() -> None:
    zero, one, four = iv.mpf(0), iv.mpf(1), iv.mpf(4)
    for found, exact in (
        (intervals.exp(zero), 1),
        (intervals.log(one), 0),
        (intervals.sin(zero), 0),
        (intervals.cos(zero), 1),
        (intervals.tanh(zero), 0),
        (intervals.erf(zero), 0),
        (intervals.sqrt(four), 2),
    ):
        assert found.delta == 0
        assert found == exact


def test_intervals_without_end() -> None:
    everything = iv.mpf(["-inf", "inf"])
    assert intervals.exp(everything)._mpi_[0] == iv.mpf(0)._mpi_[0]
    for function in (intervals.sin, intervals.cos, intervals.tanh, intervals.erf):
        found = function(everything)
        assert (found.a, found.b) == (-1, 1)


def test_extrema_inside_an_interval_are_held() -> None:
    assert intervals.sin(iv.mpf([1, 2])).b == 1
    assert intervals.sin(iv.mpf([4, 5])).a == -1
    assert intervals.cos(iv.mpf([3, 4])).a == -1
    assert intervals.cos(iv.mpf([6, 7])).b == 1
    assert intervals.cos(iv.mpf([1, 2])).b < 1


def test_what_is_not_defined_is_refused() -> None:
    with pytest.raises(ValueError, match="not positive"):
        intervals.log(iv.mpf([0, 1]))
    with pytest.raises(ValueError, match="negative"):
        intervals.sqrt(iv.mpf([-1, 1]))


@pytest.mark.parametrize("operator", ["/", "*", "+", "**"])
def test_operators_hold_exact_fractions(operator: str) -> None:
    """Quotients, products, sums and integer powers are left to mpmath: the exact fraction lies inside."""
    source, context = random.Random(operator), _context(40)
    for _ in range(_POINTS):
        a, b = (Fraction(source.randint(-(10**50), 10**50), source.randint(1, 10**45)) for _ in "ab")
        if operator == "**":
            number = source.randint(2, 7)
            exact, found = a**number, intervals.fraction(a, context) ** number
        else:
            exact, found = _exact(operator, a, b), _exact(operator, *(intervals.fraction(v, context) for v in (a, b)))
        low, high = (Fraction((-1) ** s * int(m)) * Fraction(2) ** e for s, m, e, _ in found._mpi_)
        assert low <= exact <= high


def _exact(operator: str, a: Any, b: Any) -> Any:
    return a / b if operator == "/" else a * b if operator == "*" else a + b


def test_nobody_else_evaluates_functions_of_intervals() -> None:
    """One module rounds outwards; `iv.exp` and its kin elsewhere would not."""
    call = re.compile(r"\b(?:iv|IV|context|ctx)\.(?:exp|log|ln|sin|cos|tan|sqrt|pi|e|erf|tanh|gamma|cospi|sinpi)\b")
    root = Path(derivations.__file__).parent
    sources = (path for path in root.rglob("*.py") if path.name != "intervals.py" or "documents" in path.parts)
    offenders = [str(p.relative_to(root)) for p in sources if call.search(p.read_text(encoding="utf-8"))]
    assert offenders == []
