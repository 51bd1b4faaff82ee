"""Numbers, expressions and tables of a page, in exact arithmetic: no intermediate value is a float."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from sympy import Expr, Rational, floor

from derivations.language.printing.latex import latex_of

__all__ = ["fixed", "math", "percent", "relative", "short", "table", "times"]


def relative(published: Rational, derived: Rational) -> str:
    """Return the difference of a published number from a derived one, in percent of the derived one."""
    if published == derived:
        return "0"
    return "from 0" if derived == 0 else percent(published / derived - 1)


def percent(value: Rational, digits: int = 2) -> str:
    """Return a share in percent, with a sign, rounded to `digits` decimals, or to the first nonzero digit."""
    while value != 0 and abs(value) * 100 * 10**digits < Rational(1, 2):
        digits += 1
    return ("+" if value > 0 else "") + fixed(value * 100, digits) + "%"


def fixed(value: Rational, digits: int) -> str:
    """Return a number with `digits` decimals; halves are rounded away from 0."""
    scaled = int(floor(abs(value) * 10**digits + Rational(1, 2)))
    whole, part = divmod(scaled, 10**digits)
    return ("-" if value < 0 and scaled else "") + f"{whole}" + (f".{part:0{digits}}" if digits else "")


def short(value: Rational) -> str:
    """Return a number with four digits, or a small whole number with all its digits."""
    if value == floor(value) and abs(value) < 10**7:
        return f"{int(value):,}"
    power = len(str(int(floor(abs(value))))) - 1
    digits = fixed(value / 10**power, 3)
    # rounding may carry 9.9996 to 10.000, which has one digit too many
    return f"{digits}e{power}" if abs(Rational(digits)) < 10 else f"{fixed(value / 10 ** (power + 1), 3)}e{power + 1}"


def times(factor: Rational) -> str:
    """Return a factor with its sign."""
    return ("+" if factor > 0 else "") + str(factor)


def math(expression: Expr) -> str:
    r"""Return an expression as inline LaTeX, in the delimiters with which GitHub keeps `\,` and underscores."""
    return f"$`{latex_of(expression)}`$"


def table(head: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    columns = tuple(head)
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in chain(lines)) + "\n"
