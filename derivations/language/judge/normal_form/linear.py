"""Linear arithmetic: what follows from inequalities by adding nonnegative multiples of them.

Definition   facts f_i >= 0 or f_i > 0 over monomials, each monomial taken as an unknown of its own
Result       they contradict one another when numbers c_i >= 0 make sum_i c_i f_i vanish identically, one c_i of a
             strict fact not being 0 (Farkas; the fact 1 > 0 is always among them)
             p >= 0 follows when the facts and -p > 0 contradict one another; p > 0 when they and -p >= 0 do
Assumes      every fact is real where it is stated; a monomial of no fact but one is dropped with it

The numbers c_i are found by the simplex method over exact fractions, with Bland's rule, so it comes to an end. Finding
none says nothing of the facts; but then its prices are numbers for the monomials with which all of them hold, as long
as each monomial is a number of its own.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from derivations.language.judge.normal_form.context import Context
from derivations.language.judge.normal_form.terms import ONE, Mono, Poly, negate

__all__ = ["Fact", "contradictory", "follows", "point"]

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
    rows, _ = _rows(kept)
    solved, _ = _simplex(rows, len(kept), context)
    return solved


def point(facts: Iterable[Fact], context: Context) -> dict[Mono, Fraction] | None:
    """Return numbers for the monomials with which all facts hold; None where the facts contradict one another.

    By Farkas it is always one of both: the numbers are the prices of the simplex method, read off one further column
    for each row. Where the pivots run out, the table is empty.
    """
    every = list(dict.fromkeys([*facts, Fact(ONE, True)]))
    rows, monos = _rows(every)
    for number, row in enumerate(rows):
        row[len(every) + number] = Fraction(1)
    solved, prices = _simplex(rows, len(every), context)
    if solved or prices is None:
        return None if solved else {}
    values = {mono: prices.get(len(every) + number, Fraction(0)) for number, mono in enumerate(monos)}
    return {mono: value / values[()] for mono, value in values.items() if mono}


def _rows(facts: list[Fact]) -> tuple[list[dict[int, Fraction]], list[Mono]]:
    """Return a row of coefficients for each monomial, one that counts the strict facts, and the monomials."""
    monos = sorted({mono for fact in facts for mono, _ in fact.value})
    rows: list[dict[int, Fraction]] = [{} for _ in monos]
    where = {mono: row for row, mono in enumerate(monos)}
    for column, fact in enumerate(facts):
        for mono, c in fact.value:
            rows[where[mono]][column] = Fraction(c)
    return [*rows, {column: Fraction(1) for column, fact in enumerate(facts) if fact.strict}], monos


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


def _simplex(
    rows: list[dict[int, Fraction]], columns: int, context: Context
) -> tuple[bool, dict[int, Fraction] | None]:
    """Say whether A c = (0, ..., 0, 1) has a solution c >= 0, and return the prices where it has none.

    The first phase alone: row r begins with an artificial unknown of its own in the basis, and their sum is to become
    0. Columns behind the first ones never enter; they only show what became of the rows.
    """
    right = [Fraction(0)] * (len(rows) - 1) + [Fraction(1)]
    basis = [columns + row for row in range(len(rows))]
    for _ in range(_MOST_PIVOTS):
        if all(not value for value, own in zip(right, basis, strict=True) if own >= columns):
            return True, None
        gain: dict[int, Fraction] = {}
        for row, own in zip(rows, basis, strict=True):
            if own >= columns:
                for column, c in row.items():
                    gain[column] = gain.get(column, Fraction(0)) + c
        entering = min((column for column, c in gain.items() if c > 0 and column < columns), default=None)
        if entering is None:
            return False, gain
        ratios = [(right[r] / row[entering], basis[r], r) for r, row in enumerate(rows) if row.get(entering, 0) > 0]
        _, _, leaving = min(ratios)
        _pivot(rows, right, leaving, entering, context)
        basis[leaving] = entering
    return False, None


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
