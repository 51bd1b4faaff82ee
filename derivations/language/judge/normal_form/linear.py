"""Linear arithmetic: what follows from inequalities by adding nonnegative multiples of them.

Definition   facts f_i >= 0 or f_i > 0 over monomials, each monomial taken as an unknown of its own
Result       they contradict one another when numbers c_i >= 0 make sum_i c_i f_i vanish identically, one c_i of a
             strict fact not being 0 (Farkas; the fact 1 > 0 is always among them)
             p >= 0 follows when the facts and -p > 0 contradict one another; p > 0 when they and -p >= 0 do
Assumes      every fact is real where it is stated; a monomial of no fact but one is dropped with it

The numbers c_i are found by the simplex method over exact fractions, with Bland's rule, so it comes to an end. Finding
none says nothing.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from derivations.language.judge.normal_form.context import Context
from derivations.language.judge.normal_form.terms import ONE, Mono, Poly, negate

__all__ = ["Fact", "contradictory", "follows"]

_MOST_PIVOTS = 400


class Fact(NamedTuple):
    """A polynomial that is >= 0, or > 0 when strict."""

    value: Poly
    strict: bool = False


def follows(p: Poly, strict: bool, facts: Iterable[Fact], context: Context) -> bool:
    """Say whether p >= 0, or p > 0, follows from the facts by a nonnegative combination."""
    return contradictory([*facts, Fact(negate(p), not strict)], context)


def contradictory(facts: Iterable[Fact], context: Context) -> bool:
    """Say whether a nonnegative combination of facts, a strict one among them, is 0."""
    every = list(dict.fromkeys([*facts, Fact(ONE, True)]))
    kept = _balanced([fact for fact in every if fact.value or fact.strict], context)
    if any(fact.strict and not fact.value for fact in kept):
        return True
    if not any(fact.strict for fact in kept):
        return False
    monos = sorted({mono for fact in kept for mono, _ in fact.value})
    rows: list[dict[int, Fraction]] = [{} for _ in monos]
    where = {mono: row for row, mono in enumerate(monos)}
    for column, fact in enumerate(kept):
        for mono, c in fact.value:
            rows[where[mono]][column] = Fraction(c)
    rows.append({column: Fraction(1) for column, fact in enumerate(kept) if fact.strict})
    return _solvable(rows, len(kept), context)


def _balanced(facts: list[Fact], context: Context) -> list[Fact]:
    """Drop every fact with a monomial that no other fact can cancel, until none is left."""
    while True:
        context.spend(sum(len(fact.value) for fact in facts))
        signs: dict[Mono, set[bool]] = {}
        for fact in facts:
            for mono, c in fact.value:
                signs.setdefault(mono, set()).add(c > 0)
        kept = [fact for fact in facts if all(len(signs[mono]) == 2 for mono, _ in fact.value)]
        if len(kept) == len(facts):
            return facts
        facts = kept


def _solvable(rows: list[dict[int, Fraction]], columns: int, context: Context) -> bool:
    """Say whether A c = (0, ..., 0, 1) has a solution c >= 0: the simplex method, its first phase alone.

    Row r begins with an artificial unknown of its own in the basis; the sum of these is to become 0.
    """
    right = [Fraction(0)] * (len(rows) - 1) + [Fraction(1)]
    basis = [columns + row for row in range(len(rows))]
    for _ in range(_MOST_PIVOTS):
        if all(not value for value, own in zip(right, basis, strict=True) if own >= columns):
            return True
        gain: dict[int, Fraction] = {}
        for row, own in zip(rows, basis, strict=True):
            if own >= columns:
                for column, c in row.items():
                    gain[column] = gain.get(column, Fraction(0)) + c
        entering = min((column for column, c in gain.items() if c > 0), default=None)
        if entering is None:
            return False
        ratios = [(right[r] / row[entering], basis[r], r) for r, row in enumerate(rows) if row.get(entering, 0) > 0]
        _, _, leaving = min(ratios)
        _pivot(rows, right, leaving, entering, context)
        basis[leaving] = entering
    return False


def _pivot(
    rows: list[dict[int, Fraction]], right: list[Fraction], leaving: int, entering: int, context: Context
) -> None:
    factor = rows[leaving][entering]
    own = rows[leaving] = {column: c / factor for column, c in rows[leaving].items()}
    right[leaving] /= factor
    for r, row in enumerate(rows):
        times = row.get(entering)
        if r == leaving or not times:
            continue
        context.spend(len(own))
        for column, c in own.items():
            value = row.get(column, Fraction(0)) - times * c
            if value:
                row[column] = value
            else:
                row.pop(column, None)
        right[r] -= times * right[leaving]
