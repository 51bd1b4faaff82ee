"""Numbers that satisfy some relations between real unknowns, found by elimination, draws and repairs.

elimination  an equation is solved for one unknown by inverse functions, which is put into everything else; what the
             inverse asks for (an argument of log > 0, a divisor that is not 0) becomes a relation of its own
draws        the unknowns left get numbers: all 1, all 0, a unit matrix, then small fractions
repairs      while a relation fails, one of its unknowns moves to where it holds

A solution is rigorous: every relation left is decided by exact arithmetic or by intervals. Not finding one says
nothing of itself.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import lcm
from typing import Any, NamedTuple

from sympy import (
    Abs,
    Expr,
    Integer,
    Max,
    Mod,
    Pow,
    Rational,
    Symbol,
    acos,
    asin,
    cos,
    exp,
    expand,
    log,
    nan,
    sin,
    tanh,
    zoo,
)

from derivations.language.declared_numbers import fits
from derivations.language.evaluate import NotEvaluable, Sample, evaluate
from derivations.language.internal import Internal

__all__ = ["Budget", "Constraint", "Draws", "solutions"]

_ATTEMPTS = 6  # draws for one system
_MOST_REPAIRS = 24
_MOST_RETURNS = 3  # to the same numbers
_MOST_CHECKS = 2_500  # relations that are decided for one system
_LARGEST = 120  # operations in what an unknown is replaced by
_POOL = [Fraction(c, q) for c in (0, 1, 2, 3, 5, 10, 100) for q in (1, 2, 10) if c or q == 1]
_BESIDE = (1, -1, Fraction(1, 10), Fraction(-1, 10))
Draws = tuple[int | Fraction, ...]  # what is drawn for an unknown first, and so on
Replaced = list[tuple[Symbol, Expr]]  # unknowns that equations were solved for, and what they equal


class Constraint(NamedTuple):
    """gap = 0, != 0, >= 0 or > 0; or, of kind "declared", the gap has every property declared of a symbol."""

    kind: str
    gap: Expr
    of: Symbol | None = None


@dataclass
class Budget:
    """How many relations may still be decided, so that a search comes to an end."""

    left: int = 12_000


def solutions(
    constraints: Iterable[Constraint], starts: Mapping[Symbol, Draws], budget: Budget
) -> Iterator[dict[Symbol, Expr]]:
    """Yield numbers for all unknowns that satisfy all constraints, none where no draw is seen to.

    `starts` holds what is drawn first for an unknown, 1 and 0 where nothing is said; random numbers come after it.
    """
    every = list(dict.fromkeys(constraints))
    values = _drawn(_unknowns(every), starts, 0)
    if all(_holds(c.kind, c.gap.xreplace(values), c.of) for c in every):
        yield values
    searches = [_Search(*system, starts, budget) for system in _systems(every)]
    for repairs, search, attempt in product((0, _MOST_REPAIRS), searches, range(_ATTEMPTS)):
        found = search.repaired(repairs, attempt)
        if found is not None:
            yield found


def _systems(constraints: list[Constraint]) -> Iterator[tuple[list[Constraint], Replaced]]:
    """Yield what is left when equations are solved: those with one root alone, and then the others."""
    found = _eliminated(constraints, [], several=False)
    if found is not None:
        yield found
        if any(c.kind == "=" for c in found[0]):
            further = _eliminated(*found, several=True)
            yield from () if further is None else (further,)


def _unknowns(constraints: list[Constraint]) -> list[Symbol]:
    return sorted({symbol for c in constraints for symbol in c.gap.free_symbols}, key=str)


def _drawn(free: Iterable[Symbol], starts: Mapping[Symbol, Draws], attempt: int) -> dict[Symbol, Expr]:
    source = random.Random(f"draw {attempt}")
    values = {}
    for unknown in free:
        own = starts.get(unknown, (1, 0))
        if attempt < len(own):
            first = Fraction(own[attempt])
        else:
            first = Fraction(source.randint(-9, 9), source.choice((1, 1, 2, 3)))
        values[unknown] = _fitting((first, -first, *_POOL), unknown)
    return {unknown: value for unknown, value in values.items() if value is not None}


def _fitting(numbers: Iterable[Fraction], unknown: Symbol) -> Rational | None:
    return next((Rational(c.numerator, c.denominator) for c in numbers if _fits(c, unknown)), None)


def _fits(value: Fraction, unknown: Symbol) -> bool:
    return (unknown.is_real is True and len(unknown.assumptions0) == _REAL) or fits(value, unknown)


_REAL = len(Symbol("x", real=True).assumptions0)


class _Search:
    """Relations whose unknowns are given numbers, one after the other."""

    def __init__(
        self, constraints: list[Constraint], replaced: Replaced, starts: Mapping[Symbol, Draws], budget: Budget
    ) -> None:
        self.constraints, self.replaced, self.starts = constraints, replaced, starts
        self.budget, self.checks = budget, _MOST_CHECKS
        free = set(_unknowns(constraints)) | {s for _, value in replaced for s in value.free_symbols}
        free -= {unknown for unknown, _ in replaced}
        self.about = {s: [c for c in constraints if s in c.gap.free_symbols] for s in sorted(free, key=str)}

    @property
    def spent(self) -> bool:
        """Say whether nothing more may be decided."""
        return min(self.budget.left, self.checks) <= 0

    def repaired(self, repairs: int, seed: int) -> dict[Symbol, Expr] | None:
        """Return numbers near some draws that satisfy everything, None where no repair leads there."""
        values, source = _drawn(self.about, self.starts, seed), random.Random(f"repair {seed}")
        if len(values) < len(self.about):
            return None
        seen: Counter[tuple[Any, ...]] = Counter()
        for left in range(repairs, -1, -1):
            wrong = [c for c in self.constraints if not self.holds(c, values)]
            if not wrong:
                for unknown, expression in reversed(self.replaced):
                    values[unknown] = expression.xreplace(values)
                return values
            seen[tuple(values.values())] += 1
            if not left or self.spent or max(seen.values()) > _MOST_RETURNS:
                break
            self.move(source.choice(wrong), values, source)
        return None

    def move(self, wrong: Constraint, values: dict[Symbol, Expr], source: random.Random) -> None:
        """Give an unknown a number with which a relation holds, and the fewest others fail."""
        unknown = source.choice(sorted(wrong.gap.free_symbols, key=str))
        others = {s: v for s, v in values.items() if s != unknown}
        edges, numbers = set(), [Fraction(0), *_POOL]
        for constraint in self.about[unknown]:
            gap = constraint.gap.xreplace(others)
            edge = _isolated(gap, unknown) if constraint.kind != "declared" else None
            if edge is not None and edge.value.is_Rational:
                edges.add(Fraction(int(edge.value.p), int(edge.value.q)))
            whole = lcm(*(int(number.q) for number in gap.atoms(Rational)))
            numbers += [Fraction(whole), Fraction(2 * whole)] if whole > 1 else []
        ends = sorted(edges)
        between = [(low + high) / 2 for low, high in pairwise(ends)]
        numbers[1:1] = [*ends, *between, *(end + by for end in ends for by in _BESIDE)]
        best = None
        for value in dict.fromkeys(each for c in numbers for each in (c, -c)):
            if not _fits(value, unknown):
                continue
            tried = {**others, unknown: Rational(value.numerator, value.denominator)}
            failing = sum(not self.holds(c, tried) for c in self.about[unknown])
            failing += len(self.constraints) * (failing > 0 and not self.holds(wrong, tried))
            if best is None or failing < best:
                best, values[unknown] = failing, tried[unknown]
            if not failing or self.spent:
                return

    def holds(self, constraint: Constraint, values: Mapping[Symbol, Expr]) -> bool:
        """Say whether a relation is seen to hold at numbers."""
        self.budget.left -= 1
        self.checks -= 1
        return _holds(constraint.kind, constraint.gap.xreplace(values), constraint.of)


def _holds(kind: str, number: Expr, of: Symbol | None) -> bool:
    if kind == "declared" and of is not None:
        if number.is_Rational:
            return _fits(Fraction(int(number.p), int(number.q)), of)
        sign = _sign(number)
        stated = [signs for fact, signs in _SIGNS.items() if of.assumptions0.get(fact)]
        free = of.is_rational is None and of.is_algebraic is None
        return sign is not None and free and all(sign in signs for signs in stated)
    sign = _sign(number)
    return {"=": sign == 0, "!=": sign in (1, -1), ">": sign == 1, ">=": sign in (0, 1)}[kind]


_SIGNS = {"positive": (1,), "negative": (-1,), "nonnegative": (0, 1), "nonpositive": (-1, 0), "nonzero": (-1, 1)}


@lru_cache(maxsize=1 << 12)
def _sign(number: Expr) -> int | None:
    """Return 1, 0 or -1, None where neither exact arithmetic nor an interval tells."""
    if number.is_Rational:
        return (number.p > 0) - (number.p < 0)
    if number.has(zoo, nan) or number.free_symbols:
        return None
    try:
        interval = evaluate(number, Sample({}, closed=True))
    except (NotEvaluable, TypeError, ValueError, AttributeError, OverflowError):
        return 0 if expand(number) == 0 else None
    if interval > 0 or interval < 0:
        return 1 if interval > 0 else -1
    return 0 if expand(number) == 0 else None


def _eliminated(
    constraints: list[Constraint], replaced: Replaced, *, several: bool
) -> tuple[list[Constraint], Replaced] | None:
    """Return what is left when equations are solved, and what unknowns equal; None where a number is wrong."""
    while True:
        if not all(_holds(*c) for c in constraints if not c.gap.free_symbols):
            return None
        constraints = [c for c in constraints if c.gap.free_symbols]
        equations = [c for c in constraints if c.kind == "="]
        equations.sort(key=lambda c: (len(c.gap.free_symbols), len(c.gap.args)))
        for equation in equations:
            found = _solved(equation.gap, several=several)
            if found is not None:
                break
        else:
            return constraints, replaced
        unknown, root = found
        put = {unknown: root.value}
        replaced = [*replaced, (unknown, root.value)]
        constraints = [_put(c, put) for c in (*constraints, *root.conditions) if c is not equation]
        constraints.append(Constraint("declared", root.value, unknown))


def _put(constraint: Constraint, put: dict[Symbol, Expr]) -> Constraint:
    gap = constraint.gap.xreplace(put)
    if gap is constraint.gap or gap == constraint.gap:
        return constraint
    return constraint._replace(gap=expand(gap) if constraint.kind == "=" else gap)


class Root(NamedTuple):
    """What an unknown equals where an equation holds, under which relations it does, and whether it always does."""

    value: Expr
    conditions: tuple[Constraint, ...] = ()
    only: bool = True


def _solved(gap: Expr, *, several: bool) -> tuple[Symbol, Root] | None:
    """Return the unknown that is easiest to isolate in gap = 0, with what it equals."""
    best: tuple[Any, Symbol, Root] | None = None
    for unknown in sorted(gap.free_symbols, key=str):
        root = _isolated(gap, unknown)
        if root is None or not (root.only or several) or root.value.count_ops() > _LARGEST:
            continue
        parts = [*root.value.atoms(Rational), *(power.exp for power in root.value.atoms(Pow))]
        whole = unknown.is_integer and not all(symbol.is_integer for symbol in root.value.free_symbols)
        fraction = unknown.is_integer and any(c.is_Rational and (c.q != 1 or c < 0) for c in parts)
        rank = (bool(whole), bool(fraction), len(root.conditions))
        if best is None or rank < best[0]:
            best = (rank, unknown, root)
            if rank == (False, False, 0):
                break
    return None if best is None else best[1:]


def _isolated(gap: Expr, unknown: Symbol) -> Root | None:
    """Return a root of gap = 0 in an unknown, None where none is seen."""
    rest, part = gap.as_independent(unknown, as_Add=True)
    if part.is_Add:
        return _by_degree(gap, unknown)
    factor, part = part.as_independent(unknown, as_Add=False)
    divides = () if factor.is_number else (Constraint("!=", factor),)
    value = -rest / factor
    if part == unknown:
        return Root(value, divides, not divides)
    inner = next((each for each in part.args if each.has(unknown)), None)
    outer = None if inner is None else _inverse(part, inner, value)
    if outer is None:
        return _by_degree(gap, unknown)
    root = _isolated(inner - outer.value, unknown)
    if root is None:
        return None
    only = root.only and outer.only and not divides
    return Root(root.value, (*divides, *outer.conditions, *root.conditions), only)


def _by_degree(gap: Expr, unknown: Symbol) -> Root | None:
    """Solve what is linear or quadratic in the unknown."""
    if not gap.is_polynomial(unknown):
        return None
    slope = expand(gap.diff(unknown))
    bend = expand(slope.diff(unknown)) / 2
    if bend.has(unknown):
        return None
    zero = {unknown: Integer(0)}
    rest, first = gap.xreplace(zero), slope.xreplace(zero)
    if bend == 0:
        return Root(-rest / first, (Constraint("!=", first),), bool(first.is_number))
    inside = expand(first**2 - 4 * bend * rest)
    value = (inside ** Rational(1, 2) - first) / (2 * bend)
    return Root(value, (Constraint("!=", bend), Constraint(">=", inside)), only=False)


def _inverse(part: Expr, inner: Expr, y: Expr) -> Root | None:
    """Return what an argument of a function equals where the function equals y."""
    if part.is_Pow and inner is part.base and part.exp.is_Rational:
        kind = "!=" if part.exp == -1 else ">" if part.exp < 0 else ">="
        return Root(y ** (1 / part.exp), (Constraint(kind, y),), part.exp == -1 or not part.exp.is_Integer)
    if isinstance(part, exp):
        return Root(log(y), (Constraint(">", y),))
    if isinstance(part, log):
        return Root(exp(y))
    if isinstance(part, tanh):
        return Root(log((1 + y) / (1 - y)) / 2, (Constraint(">", 1 - y), Constraint(">", 1 + y)))
    if isinstance(part, sin | cos):
        turned = (asin if isinstance(part, sin) else acos)(y)
        return Root(turned, (Constraint(">=", 1 - y), Constraint(">=", 1 + y)), only=False)
    if isinstance(part, Abs):
        return Root(y, (Constraint(">=", y),), only=False)
    if isinstance(part, Max):
        return Root(y, tuple(Constraint(">=", y - each) for each in part.args if each is not inner), only=False)
    if isinstance(part, Mod) and part.args[1].is_Integer:
        times = Internal(f"quotient {part}", integer=True, nonnegative=True)
        return Root(part.args[1] * times + y, (Constraint(">=", y), Constraint(">", part.args[1] - y)))
    return None
