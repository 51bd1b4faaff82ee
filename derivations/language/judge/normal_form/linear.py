"""Linear arithmetic: consequences of inequalities by adding nonnegative multiples of them (Farkas' lemma).

Definition   facts f_i >= 0 or f_i > 0 over monomials, where each monomial is an independent unknown
Result       they contradict one another when numbers c_i >= 0 make sum_i c_i f_i vanish identically, one c_i of a
             strict fact not being 0 (Farkas; the fact 1 > 0 is always among them)
             p >= 0 follows when the facts and -p > 0 contradict one another; p > 0 when they and -p >= 0 do
Assumes      every fact is real where it is stated

The numbers c_i are found by the simplex method over exact fractions, which terminates by Bland's rule. If there are
none, the facts may still contradict one another, because monomials are not independent. The prices of the simplex
method are then values of the monomials, taken as independent unknowns, for which all facts hold.
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
    """Return whether p >= 0, or p > 0, follows from the facts by a nonnegative combination."""
    return contradictory([*facts, Fact(negate(p), not strict)], context)


def contradictory(facts: Iterable[Fact], context: Context) -> bool:
    """Return whether a nonnegative combination of facts, with a strict fact among them, is 0."""
    # with 1 > 0 among the facts, a combination that is a negative constant becomes 0 with a strict fact in it
    every = list(dict.fromkeys([*facts, Fact(ONE, True)]))
    # dropping facts is sound: it can only lose a proof
    kept = _balanced([fact for fact in every if fact.value or fact.strict], context)
    if any(fact.strict and not fact.value for fact in kept):
        return True
    if not any(fact.strict for fact in kept):
        return False
    rows, _ = _rows(kept)
    solved, _ = _simplex(rows, len(kept), context)
    return solved


def point(facts: Iterable[Fact], context: Context) -> dict[Mono, Fraction] | None:
    """Return values of the monomials for which all facts hold, unless the facts contradict one another.

    By Farkas' lemma exactly one of the two is possible. The values are the prices of the simplex method, read from one
    additional column for each row. The table is empty when the number of pivots reaches its bound.
    """
    every = list(dict.fromkeys([*facts, Fact(ONE, True)]))
    rows, monos = _rows(every)
    for number, row in enumerate(rows):
        row[len(every) + number] = Fraction(1)
    solved, prices = _simplex(rows, len(every), context)
    if solved or prices is None:
        return None if solved else {}
    values = {mono: prices.get(len(every) + number, Fraction(0)) for number, mono in enumerate(monos)}
    # A fact has a price <= 0, the strict fact 1 > 0 a price < 0: division by the price of 1 turns the signs around.
    return {mono: value / values[()] for mono, value in values.items() if mono}


def _rows(facts: list[Fact]) -> tuple[list[dict[int, Fraction]], list[Mono]]:
    """Return a row of coefficients for each monomial, a last row that counts the strict facts, and the monomials."""
    monos = sorted({mono for fact in facts for mono, _ in fact.value})
    rows: list[dict[int, Fraction]] = [{} for _ in monos]
    where = {mono: row for row, mono in enumerate(monos)}
    for column, fact in enumerate(facts):
        for mono, c in fact.value:
            rows[where[mono]][column] = Fraction(c)
    return [*rows, {column: Fraction(1) for column, fact in enumerate(facts) if fact.strict}], monos


def _balanced(facts: list[Fact], context: Context) -> list[Fact]:
    """Drop facts with a monomial that no other fact can cancel, until no such fact remains."""
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
    """Return whether A c = (0, ..., 0, 1) has a solution c >= 0, and the prices if it has no solution.

    This is phase one of the simplex method: row r starts with an artificial unknown in the basis, and the sum of these
    unknowns is minimised to 0. Columns after the first `columns` never enter the basis; they record the row operations.
    """
    # the multipliers of strict facts sum to 1: this excludes c = 0 and fixes the scale
    right = [Fraction(0)] * (len(rows) - 1) + [Fraction(1)]
    basis = [columns + row for row in range(len(rows))]
    for _ in range(_MOST_PIVOTS):
        if all(not value for value, own in zip(right, basis, strict=True) if own >= columns):
            return True, None
        # how fast the sum of the artificial unknowns falls when a column enters
        gain: dict[int, Fraction] = {}
        for row, own in zip(rows, basis, strict=True):
            if own >= columns:
                for column, c in row.items():
                    gain[column] = gain.get(column, Fraction(0)) + c
        # Bland's rule excludes cycles: the least column that gains, and the least basis column among equal ratios.
        entering = min((column for column, c in gain.items() if c > 0 and column < columns), default=None)
        if entering is None:
            return False, gain
        # the least ratio keeps every unknown of the basis >= 0
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
