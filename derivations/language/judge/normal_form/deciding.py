"""Decisions about signs and zeros, by cases and by linear arithmetic, where no single rule is enough.

cases        max(0, q) and [q > 0] inside p, q free of bound indices: where q > 0 they are q and 1, where q <= 0 both
             are 0; p has a sign, or is 0, if this holds in each case that does not contradict the known facts
quotient     p / m has the sign of p for m > 0: positive factors are taken out and positive denominators cleared
logarithm    sum_i c_i log(q_i) + r >= 0 when prod_{c_i > 0} q_i^c_i exp(r) >= prod_{c_i < 0} q_i^-c_i
sums         sum_j f_j - sum_j g_j >= 0 when f_j >= g_j for every j; > 0 when f_j > g_j and the range is not empty
combination  a nonnegative combination of facts is nonnegative (`linear`, `facts`)
zero         p = 0 when p >= 0 and p <= 0; sum_j f_j - sum_j g_j = 0 when f_j = g_j for every j

The number of cases is bounded, and every step spends from the budget of the decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any

from derivations.language.judge.normal_form.algebra import exponential, multiply, over, power
from derivations.language.judge.normal_form.context import Condition, Context
from derivations.language.judge.normal_form.facts import add_all, facts_about, hypotheses
from derivations.language.judge.normal_form.integers import always_nonnegative
from derivations.language.judge.normal_form.linear import Fact, contradictory, follows
from derivations.language.judge.normal_form.signs import is_nonnegative, is_positive, term_sign
from derivations.language.judge.normal_form.sums import open_sum, settle, substitute, transform
from derivations.language.judge.normal_form.terms import (
    ONE,
    Atom,
    Poly,
    add,
    atoms_of,
    contains,
    monomial,
    negate,
    own_level,
    scale,
    single,
    subtract,
    walk,
)
from derivations.language.judge.normal_form.zero import vanishes

__all__ = ["consult", "has_sign", "is_zero", "settles"]

_MOST_CASES = 7  # depth of nested case distinctions
_MOST_PLACES = 4  # the same, for what is summed
_DEPTH = 2


def consult(p: Poly, strict: bool, context: Context) -> bool:
    """Return whether the sign of p follows from the assumptions by linear arithmetic alone."""
    assumed = hypotheses(p, context)
    monos = {mono for mono, _ in p if mono}
    if not any(mono in monos for fact in assumed for mono, _ in fact.value):
        return False  # no assumption can cancel a term of p
    with _silent(context):
        mentioned = add_all([p, *(fact.value for fact in assumed)])
        signs = ((monomial(mono), term_sign(mono, 1, context)) for mono, _ in mentioned)
        known = [Fact(value, sign == "positive") for value, sign in signs if sign]
        return follows(p, strict, [*assumed, *known], context)


@contextmanager
def _silent(context: Context) -> Iterator[None]:
    """Switch `consult` off inside the block: linear arithmetic would otherwise call itself without end."""
    before, context.consult = context.consult, None
    try:
        yield
    finally:
        context.consult = before


@contextmanager
def _supposing(fact: Condition, context: Context) -> Iterator[None]:
    """Assume a fact inside the block; facts derived with its help are dropped at the end."""
    stated, derived = list(context.facts), list(context.derived)
    context.facts.append(fact)
    try:
        yield
    finally:
        context.facts[:], context.derived[:] = stated, derived


def is_zero(p: Poly, context: Context, cases: int = _MOST_CASES) -> bool:
    """Return whether p is proved to be 0 in every case of its Iverson brackets and maxima."""
    p = settle(p, context)
    if not p:
        return True
    atom = _undecided_part(p, context)
    if atom is not None and cases:
        return _in_cases(p, atom, context, lambda other: is_zero(other, context, cases - 1))
    if vanishes(p, context) or _zero_by_places(p, context):
        return True
    if not hypotheses(p, context):
        return False
    # p >= 0 and p <= 0
    return all(has_sign(q, False, context, 0) for q in (p, negate(p)))


def has_sign(p: Poly, strict: bool, context: Context, cases: int = _MOST_CASES) -> bool:
    """Return whether p >= 0, or p > 0, is proved in every case of its Iverson brackets and maxima."""
    p = _without_positive_factors(settle(p, context), context)
    if (is_positive if strict else is_nonnegative)(p, context):
        return True
    atom = _undecided_part(p, context)
    # cases double the work, so one cheap attempt comes first
    if atom is not None and cases and not _by_combination(p, strict, context, 0):
        return _in_cases(p, atom, context, lambda other: has_sign(other, strict, context, cases - 1))
    if any(_by_combination(p, strict, context, depth) for depth in range(_DEPTH)):
        return True
    raised = _exponentiated(p, context)
    if raised is not None and has_sign(raised, strict, context, cases):
        return True
    return _by_places(p, strict, context)


def settles(condition: Condition, context: Context) -> bool:
    """Return whether a side condition holds, without using logarithms whose argument is not proved to be positive."""
    p = condition.of
    if condition.kind in ("positive", "nonnegative"):
        return has_sign(p, condition.kind == "positive", context)
    return condition.kind == "nonzero" and (has_sign(p, True, context) or has_sign(negate(p), True, context))


def _by_combination(p: Poly, strict: bool, context: Context, depth: int) -> bool:
    with _silent(context):
        return follows(p, strict, facts_about(p, context, depth), context)


def _undecided_part(p: Poly, context: Context) -> Atom | None:
    """Return an innermost max(0, q) or [q > 0] whose q is free of bound indices."""
    found = sorted(
        (atom for atom in walk(p) if atom[0] in ("relu", "step") and not unbound(atom) and not atoms_of(atom, "E")),
        key=lambda atom: (len(atoms_of(atom[1], "relu")) + len(atoms_of(atom[1], "step")), len(walk(atom)), atom),
    )
    return next((atom for atom in found if not _is_random(atom, p)), None)


@lru_cache(maxsize=1 << 12)
def unbound(part: tuple[Any, ...]) -> frozenset[Atom]:
    """Return the indices in a term that are bound by a sum or product outside it."""
    if part and part[0] in ("sum", "prod"):
        _, ranges, mono = part
        own = {("b", own_level(mono), number) for number in range(len(ranges))}
        return (unbound(ranges) | unbound(mono)) - own
    if part[:1] == ("b",):
        return frozenset({part})
    return frozenset().union(*(unbound(inner) for inner in part if isinstance(inner, tuple)))


def _is_random(atom: Atom, p: Poly) -> bool:
    """Return whether an atom occurs inside an expectation: its value then differs between outcomes."""
    return any(contains(outer, atom) for outer in atoms_of(p, "E"))


def _in_cases(p: Poly, atom: Atom, context: Context, holds: Callable[[Poly], bool]) -> bool:
    """Return whether a property of p holds both where q > 0 and where q <= 0, for the argument q of the atom.

    A case that contradicts the known facts needs no proof.
    """
    q = atom[1]
    # q = 0 belongs to the second case: max(0, 0) = 0 and [0 > 0] = 0
    for sign, fact in (("positive", q), ("nonnegative", negate(q))):
        value = {"relu": q, "step": ONE}[atom[0]] if sign == "positive" else ()
        with _supposing(Condition(sign, fact), context):
            if not _impossible(add(p, q), context) and not holds(transform(p, {atom: value}.get, context)):
                return False
    return True


def _impossible(p: Poly, context: Context) -> bool:
    assumed = hypotheses(p, context)
    with _silent(context):
        known = facts_about(add_all([fact.value for fact in assumed]), context, 0)
        return contradictory([*assumed, *known], context)


def _without_positive_factors(p: Poly, context: Context) -> Poly:
    """Return p divided by the positive atoms that all its terms share, with positive denominators cleared."""
    for _ in range(4):
        powers = [dict(mono) for mono, _ in p]
        atoms = sorted({atom for own in powers for atom in own})
        least = {atom: min(own.get(atom, 0) for own in powers) for atom in atoms}
        moved = {atom: e for atom, e in least.items() if e and (term_sign(((atom, 1),), 1, context) == "positive")}
        if not moved:
            return p
        # a cleared denominator may multiply out, and then show further common factors
        p = settle(over(p, moved, context), context)
    return p


def _exponentiated(p: Poly, context: Context) -> Poly | None:
    """Return prod q_i^c_i exp(r) - prod q_i^-c_i for p = sum_i c_i log(q_i) + r, if p has this form."""
    logs = [(mono, Fraction(c)) for mono, c in p if len(mono) == 1 and mono[0][0][0] == "log" and mono[0][1] == 1]
    rest = tuple((mono, c) for mono, c in p if not any(mono == own for own, _ in logs))
    if not (context.deriving or all(is_positive(mono[0][0][1], context) for mono, _ in logs)):
        return None
    if not logs or atoms_of(rest, "log"):
        return None
    factor = lcm(*(c.denominator for _, c in logs))  # a positive multiple has the same sign, and integer exponents
    above, below = exponential(scale(rest, factor), context), ONE
    for mono, c in logs:
        for _ in range(min(abs(int(c * factor)), 9)):
            if c > 0:
                above = multiply(above, mono[0][0][1], context)
            else:
                below = multiply(below, mono[0][0][1], context)
        if abs(int(c * factor)) > 8:
            return None
    return settle(add(above, negate(below)), context)


_Summed = list[tuple[Poly, Atom | None]]  # factors with the sums that they multiply, if any


def _by_range(p: Poly) -> dict[tuple[Poly, Poly] | None, _Summed]:
    """Return the terms of p grouped by the range of their sum; terms without such a sum are under None."""
    found: dict[tuple[Poly, Poly] | None, _Summed] = {}
    for mono, c in p:
        sums = [atom for atom, e in mono if atom[0] == "sum" and e == 1 and len(atom[1]) == 1]
        one = sums[0] if len(sums) == 1 and all(atom in sums for atom, _ in mono if atom[0] == "sum") else None
        outside = monomial(tuple(pair for pair in mono if pair[0] != one), c)
        found.setdefault(one[1][0] if one else None, []).append((outside, one))
    return found


def _opened(summed: _Summed, limits: tuple[Poly, Poly] | None, context: Context) -> Poly:
    """Return the terms of sums over one range at a new index, with the factors outside the sums moved inside."""
    if limits is None:
        return add(*(outside for outside, _ in summed))
    index = context.open_index(*limits)
    terms = []
    for outside, atom in summed:
        body = outside
        if atom is not None:
            inner, (own,) = open_sum(atom, context)
            body = multiply(outside, substitute(inner, {own: single(index)}, context), context)
        terms.append(body)
    return settle(add(*terms), context)


def _zero_by_places(p: Poly, context: Context) -> bool:
    """Return whether p is proved to be 0 by joining the sums over each range and deciding their terms by cases."""
    if not any(atom[0] in ("relu", "step") for atom in walk(p)):
        return False  # without cases it is what `vanishes` has decided
    found = _by_range(p)
    rest = add(*(outside for outside, _ in found.pop(None, [])))
    if not found:
        return False
    (limits, summed), *others = found.items()
    if rest and not others and limits and always_nonnegative(subtract(*limits[::-1]), context):
        # n / 2 = sum_{j=0}^{n-1} 1/2 was counted when it was read; the length is not 0
        length = add(subtract(*limits[::-1]), ONE)
        summed.append((multiply(rest, power(length, -1, context), context), None))
        rest = ()
    return not rest and all(
        is_zero(_opened(terms, limits, context), context, _MOST_PLACES) for limits, terms in found.items()
    )


def _by_places(p: Poly, strict: bool, context: Context) -> bool:
    """Return whether p >= 0, or p > 0, is proved by joining the sums over each range and deciding their terms."""
    found = _by_range(p)
    if set(found) <= {None}:
        return False
    seen = False
    for limits, terms in found.items():
        body, cases = _opened(terms, limits, context), _MOST_PLACES if limits else 0
        if not has_sign(body, False, context, cases):
            return False
        # an empty sum is 0, not > 0
        filled = limits is None or always_nonnegative(subtract(*limits[::-1]), context)
        seen |= strict and filled and has_sign(body, True, context, cases)
    return seen or not strict
