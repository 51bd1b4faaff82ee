"""Telescoping: sum_{j=a}^{b} f_j = F_{b+1} - F_a for an antidifference, F_{j+1} - F_j = f_j, and b >= a - 1.

Form         f_j = j^k e_j with e_{j+1} = r e_j, r free of j: powers and exponentials whose exponent is linear in j
Result       F_j = (q_0 + q_1 j + ... + q_k j^k) e_j, where (r - 1) q_k = 1 and, for i < k,
             (r - 1) q_i = -r sum_{m > i} C(m, i) q_m: the coefficients of j^i in r q(j + 1) - q(j) = j^k
Assumes      r is not 1, which is a side condition
"""

from collections.abc import Iterator
from math import comb

from derivations.language.judge.normal_form.algebra import factored, multiply, power, require
from derivations.language.judge.normal_form.context import Context
from derivations.language.judge.normal_form.sums import close, open_sum, substitute, times, transform
from derivations.language.judge.normal_form.terms import (
    ONE,
    Atom,
    Mono,
    Poly,
    add,
    atoms_of,
    constant_value,
    contains,
    monomial,
    scale,
    single,
    subtract,
)

__all__ = ["telescoped"]

_LARGEST_POWER = 6


def telescoped(p: Poly, context: Context) -> Iterator[Poly]:
    """Yield p with every sum replaced by its closed form where its term has an antidifference."""

    def visit(atom: Atom) -> Poly | None:
        return _sum_of(atom, context) if atom[0] == "sum" else None

    if any(_geometric(atom) for atom in atoms_of(p, "sum")):
        yield transform(p, visit, context)


def _geometric(atom: Atom) -> bool:
    return any(factor[0] in ("exp", "ipow") for factor, _ in atom[2])


def _sum_of(atom: Atom, context: Context) -> Poly | None:
    if not _geometric(atom):
        return None
    body, indices = open_sum(atom, context)
    ((mono, coefficient),) = body
    for index in indices:
        others = [other for other in indices if other != index]
        # independent ranges only: closing one sum must not move the ends of another
        if any(contains(context.ranges[a], b) for a in indices for b in indices if a != b):
            continue
        value = _antidifference(mono, index, context)
        if value is None:
            continue
        low, high = context.ranges[index]
        ends = (substitute(value, {index: place}, context) for place in (add(high, ONE), low))
        summed = scale(subtract(*ends), coefficient)
        return close(summed, others, context) if others else summed
    return None


def _antidifference(mono: Mono, index: Atom, context: Context) -> Poly | None:
    """Return the antidifference F times the factors without the index, or None if the term has none."""
    own = tuple((atom, e) for atom, e in mono if contains(atom, index) and atom != index)
    degree = dict(mono).get(index, 0)
    if not own or not isinstance(degree, int) or not 0 <= degree <= _LARGEST_POWER:
        return None
    if not all(atom[0] in ("exp", "ipow") and _linear(atom, index) for atom, _ in own):
        return None
    # r = e_{j+1} / e_j
    moved = substitute(monomial(own), {index: add(single(index), ONE)}, context)
    ratio = multiply(moved, monomial(tuple((atom, -e) for atom, e in own)), context)
    less = subtract(ratio, ONE)
    if contains(ratio, index) or constant_value(less) == 0:
        return None  # (r - 1) q_k = 1 has no solution for r = 1
    with context.generically():
        inverse = power(less, -1, context)
        if len(less) > 1:
            require("nonzero", factored(less, context)[2], context)
    coefficients: dict[int, Poly] = {degree: inverse}
    for i in range(degree - 1, -1, -1):
        rest = add(*(scale(q, -comb(m, i)) for m, q in coefficients.items()))
        coefficients[i] = times(times(inverse, ratio, context), rest, context)
    steps = add(*(times(q, single(index, i) if i else ONE, context) for i, q in coefficients.items()))
    outside = tuple(pair for pair in mono if pair not in own and pair[0] != index)
    return times(times(steps, monomial(own), context), monomial(outside), context)


def _linear(atom: Atom, index: Atom) -> bool:
    """Return whether the exponent is linear in the index, which occurs there once."""
    inner = dict(atom[-1])
    return inner.pop(index, 0) == 1 and not contains((tuple(inner), atom[1] if atom[0] == "ipow" else ()), index)
