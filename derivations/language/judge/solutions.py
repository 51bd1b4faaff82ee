"""Solutions of relations between real unknowns, found by elimination, draws and repairs.

elimination  equations are solved for unknowns (`elimination`)
draws        the remaining unknowns get numbers: all 1, all 0, a unit matrix, then small fractions
repairs      while a relation fails, one of its unknowns moves to a number for which it holds; if only an equation
             fails, to a root between two numbers at which the difference of its sides has opposite signs

Every solution found is rigorous. A search without result proves nothing.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import lcm
from typing import Any

from sympy import Expr, Integer, Rational, Symbol

from derivations.language.judge.constraints import Constraint, fitting, holds, holds_for, sign, unknowns
from derivations.language.judge.elimination import Replaced, isolated, systems
from derivations.language.judge.enclosure import enclose, interval
from derivations.language.judge.evaluate import NotEvaluable
from derivations.language.judge.normal_form.context import Context, Undecided
from derivations.language.judge.normal_form.linear import Fact, point
from derivations.language.judge.normal_form.terms import Mono, from_terms, negate

__all__ = ["Budget", "Draws", "solutions"]

_ATTEMPTS = 6  # draws for one system
_MOST_REPAIRS = 24
_MOST_RETURNS = 3  # visits of the same numbers
_MOST_CHECKS = 2_000  # relations decided for one system
_POOL = [Fraction(c, q) for c in (0, 1, 2, 3, 5, 10, 100) for q in (1, 2, 10) if c or q == 1]
_GRID = sorted({*_POOL, *(-c for c in _POOL)})
_HALVES = 40
_BESIDE = (1, -1, Fraction(1, 10), Fraction(-1, 10))
Draws = tuple[int | Fraction, ...]  # the first draws for an unknown, in order


@dataclass
class Budget:
    """The number of relations that may still be decided, which bounds a search."""

    left: int = 10_000


def solutions(
    constraints: Iterable[Constraint], starts: Mapping[Symbol, Draws], budget: Budget
) -> Iterator[dict[Symbol, Expr]]:
    """Yield numbers for all unknowns that satisfy all constraints.

    `starts` holds the first draws for an unknown, by default 1 and 0. Random numbers follow them.
    """
    every = list(dict.fromkeys(constraints))
    # the plain draw may fit before any equation is solved
    values = _drawn(unknowns(every), starts, 0)
    if all(holds(c, c.gap.xreplace(values)) for c in every):
        yield values
    searches = []
    for left, replaced in systems(every):
        near = _by_linear_arithmetic([*left, *(Constraint("declared", s, s) for s in unknowns(left))])
        if near is None:
            return
        draws = {s: (near.get(s, 1), *starts.get(s, (1, 0))) for s in {*unknowns(left), *starts}}
        searches.append(_Search(left, replaced, draws, budget))
    # all draws without repairs come first: they are cheap, and most assumptions ask for nothing more
    for repairs, search, attempt in product((0, _MOST_REPAIRS), searches, range(_ATTEMPTS)):
        found = search.repaired(repairs, attempt)
        if found is not None:
            yield found


def _by_linear_arithmetic(constraints: list[Constraint]) -> dict[Symbol, Fraction] | None:
    """Return numbers that satisfy the linear relations, if these do not contradict one another.

    Nonlinear terms count as unknowns of their own, so a contradiction here is one for the relations themselves.
    """
    names: dict[Expr, Mono] = {Integer(1): ()}
    facts = []
    for constraint in constraints:
        terms = constraint.gap.as_coefficients_dict()
        if not all(c.is_Rational for c in terms.values()):
            continue
        monos = [names.setdefault(part, ((("t", len(names)), 1),)) for part in terms]
        row = from_terms((mono, Fraction(int(c.p), int(c.q))) for mono, c in zip(monos, terms.values(), strict=True))
        # gap != 0 is not convex, so linear arithmetic cannot use it
        facts += [Fact(row if sign > 0 else negate(row), strict) for sign, strict in _signs(constraint)]
    try:
        found = point(facts, Context())
    except Undecided:
        return {}
    return None if found is None else {e: found[mono] for e, mono in names.items() if e.is_Symbol and mono in found}


def _signs(constraint: Constraint) -> list[tuple[int, bool]]:
    """Return the inequalities sign * gap >= 0 that a relation implies, each with whether it is strict."""
    if constraint.of is not None:
        known = constraint.of.assumptions0
        own = (("nonnegative", 1), ("nonpositive", -1))
        return [(sign, bool(known.get("nonzero"))) for fact, sign in own if known.get(fact)]
    return {"=": [(1, False), (-1, False)], ">": [(1, True)], ">=": [(1, False)], "!=": []}[constraint.kind]


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
    return next((Rational(c.numerator, c.denominator) for c in numbers if fitting(c, unknown)), None)


class _Search:
    """The search for numbers that satisfy some relations: it draws numbers and then repairs them."""

    def __init__(
        self, constraints: list[Constraint], replaced: Replaced, starts: Mapping[Symbol, Draws], budget: Budget
    ) -> None:
        self.constraints, self.replaced, self.starts = constraints, replaced, starts
        self.budget, self.checks = budget, _MOST_CHECKS
        self.known: dict[tuple[Any, ...], bool] = {}
        self.named = {c: tuple(c.gap.free_symbols) for c in constraints}
        free = set(unknowns(constraints)) | {s for _, value in replaced for s in value.free_symbols}
        free -= {unknown for unknown, _ in replaced}
        self.about = {s: [c for c in constraints if s in c.gap.free_symbols] for s in sorted(free, key=str)}

    @property
    def spent(self) -> bool:
        """Return whether the budget is used up."""
        return min(self.budget.left, self.checks) <= 0

    def repaired(self, repairs: int, seed: int) -> dict[Symbol, Expr] | None:
        """Return numbers that satisfy all relations, found by repairing drawn numbers, or None."""
        values, source = _drawn(self.about, self.starts, seed), random.Random(f"repair {seed}")
        if len(values) < len(self.about):
            return None
        seen: Counter[tuple[Any, ...]] = Counter()
        for left in range(repairs, -1, -1):
            wrong = [c for c in self.constraints if not self.holds(c, values)]
            seen[tuple(values.values())] += 1
            last = not left or self.spent or max(seen.values()) > _MOST_RETURNS
            if last and repairs and len(wrong) == 1 and wrong[0].kind == "=" and self.has_root(wrong[0], values):
                wrong = []
            if not wrong:
                # the root found first may hold unknowns that were solved for later
                for unknown, expression in reversed(self.replaced):
                    values[unknown] = expression.xreplace(values)
                return values
            if last:
                break
            self.move(source.choice(wrong), values, source)
        return None

    def move(self, wrong: Constraint, values: dict[Symbol, Expr], source: random.Random) -> None:
        """Move an unknown to a number for which a relation holds and the fewest others fail."""
        unknown = source.choice(sorted(wrong.gap.free_symbols, key=str))
        others = {s: v for s, v in values.items() if s != unknown}
        edges, numbers = {Fraction(0)}, [Fraction(0), *_POOL]
        for constraint in self.about[unknown]:
            gap = constraint.gap.xreplace(others)
            edge = isolated(gap, unknown) if constraint.kind != "declared" else None
            if edge is not None and edge.value.is_Rational:
                edges.add(Fraction(int(edge.value.p), int(edge.value.q)))
            # n / 4 is an integer only at multiples of 4
            whole = lcm(*(int(number.q) for number in gap.atoms(Rational)))
            numbers += [Fraction(whole), Fraction(2 * whole)] if whole > 1 else []
        # at an edge one relation turns false: beside it or between two edges all may hold
        ends = sorted(edges)
        between = [(low + high) / 2 for low, high in pairwise(ends)]
        numbers[1:1] = [*ends, *between, *(end + by for end in ends for by in _BESIDE)]
        best = None
        for value in dict.fromkeys(each for c in numbers for each in (c, -c)):
            if not fitting(value, unknown):
                continue
            tried = {**others, unknown: Rational(value.numerator, value.denominator)}
            failing = sum(not self.holds(c, tried) for c in self.about[unknown])
            # the relation to repair weighs more than all others together
            failing += len(self.constraints) * (failing > 0 and not self.holds(wrong, tried))
            if best is None or failing < best:
                best, values[unknown] = failing, tried[unknown]
            if not failing or self.spent:
                return

    def has_root(self, equation: Constraint, values: dict[Symbol, Expr]) -> bool:
        """Return whether a change of sign proves a root of an equation, near which the other relations hold.

        Functions that `enclose` encloses are continuous, so the intermediate value theorem applies. The unknown gets a
        number near the root.
        """
        for unknown in unknowns([equation]):
            others = {s: v for s, v in values.items() if s != unknown}
            about = [Constraint("declared", unknown, unknown), *self.about[unknown]]
            for ends in () if unknown.is_integer else _brackets(equation.gap.xreplace(others), unknown):
                try:
                    found = [(c, enclose(c.gap.xreplace(others), unknown, interval(*ends)).value) for c in about]
                except (NotEvaluable, ZeroDivisionError, ValueError, TypeError):
                    continue
                if all(c is equation or holds_for(c, 1 if over > 0 else -1 if over < 0 else None) for c, over in found):
                    values[unknown] = Rational(ends[0].numerator, ends[0].denominator)
                    return True
        return False

    def holds(self, constraint: Constraint, values: Mapping[Symbol, Expr]) -> bool:
        """Return whether a relation is proved to hold at the given numbers."""
        self.budget.left -= 1
        self.checks -= 1
        key = (constraint, *(values[s] for s in self.named[constraint]))
        if key not in self.known:
            self.known[key] = holds(constraint, constraint.gap.xreplace(values))
        return self.known[key]


def _brackets(gap: Expr, unknown: Symbol) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield pairs of close numbers between which the gap changes its sign."""

    def at(value: Fraction) -> int | None:
        return sign(gap.xreplace({unknown: Rational(value.numerator, value.denominator)}))

    signs = [(value, at(value)) for value in _GRID]
    for (low, below), (high, above) in pairwise(signs):
        if below and above and below != above:
            for _ in range(_HALVES):
                middle = (low + high) / 2
                # the change of sign stays between the ends
                low, high = (middle, high) if at(middle) == below else (low, middle)
            yield low, high
