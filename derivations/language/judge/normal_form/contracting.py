"""Contraction: assumed matrix equations, used inside larger sums.

part         sum_k A_ik B_kj = C_ij gives sum_{k, ...} A_ik B_kj f = sum_{...} C_ij f where f is free of k
square       for square matrices A B = I gives B A = I
symmetry     A_ij = s A_ji with s = 1 or -1 gives A_ij = (A_ij + s A_ji) / 2, so both index orders have one form
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from derivations.language.judge.normal_form.context import Context
from derivations.language.judge.normal_form.integers import fits
from derivations.language.judge.normal_form.matching import Binding, Free, match
from derivations.language.judge.normal_form.sums import close, open_sum, substitute, times
from derivations.language.judge.normal_form.terms import Atom, Mono, Poly, add, contains, monomial, scale, single

__all__ = ["averaged", "contracted", "flipped", "permutes"]

Limits = tuple[tuple[Atom, tuple[Poly, Poly]], ...]


def contracted(pattern: Atom, value: Poly, limits: Limits, atom: Atom, context: Context) -> Poly | None:
    """Return a sum with the pattern's factors replaced by the pattern's value, or None if the sum lacks them."""
    names = {factor[:2] for factor, _ in pattern[2] if factor[0] == "x"}
    if not names <= {factor[:2] for factor, _ in atom[2]} or len(names) == 0:
        return None
    ((wanted, _),), summed = open_sum(pattern, context)
    ((mono, coefficient),), indices = open_sum(atom, context)
    free: Free = {**dict(limits), **{index: context.ranges[index] for index in summed}}
    for binding, rest in _parts(wanted, mono, free, {}):
        images = [binding.get(index, ()) for index in summed]
        used = [next((i for i in indices if single(i) == image), None) for image in images]
        others = [index for index in indices if index not in used]
        bound = {index: place for index, place in binding.items() if index not in summed}
        left = (rest, tuple(bound.values()), tuple(context.ranges[other] for other in others))
        # sum_k may be replaced only if k occurs nowhere but in the pattern's factors.
        apart = None not in used and len(set(used)) == len(used) and not any(i and contains(left, i) for i in used)
        same = all(i is not None and context.ranges[i] == context.ranges[s] for i, s in zip(used, summed, strict=True))
        if apart and same and fits(bound, dict(limits), context):
            body = times(monomial(rest, coefficient), substitute(value, bound, context), context)
            return close(body, others, context) if others else body
    return None


def _parts(pattern: Mono, mono: Mono, free: Free, binding: Binding) -> Iterator[tuple[Binding, Mono]]:
    """Yield every way to find the pattern's factors in a monomial, as a binding and the remaining factors."""
    if not pattern:
        yield binding, mono
        return
    (atom, exponent), *rest = pattern
    for number, (other, power) in enumerate(mono):
        # (A B)^2 holds A B once and leaves A B over, but no part of a root is a factor
        left = power - exponent
        if not isinstance(left, int) or left < 0 or not isinstance(exponent, int):
            continue
        kept = (*mono[:number], *(((other, left),) if left else ()), *mono[number + 1 :])
        for extended in match(atom, other, free, binding):
            yield from _parts(tuple(rest), kept, free, extended)


def flipped(pattern: Atom, value: Poly, limits: Limits, context: Context) -> tuple[Atom, Poly] | None:
    """Return the equation B A = I for an equation A B = I of square matrices."""
    # Three equal ranges mean square matrices: only there is a right inverse also a left inverse.
    if pattern[0] != "sum" or len(pattern[1]) != 1 or len(limits) != 2 or any(e != pattern[1][0] for _, e in limits):
        return None
    (i, _), (j, _) = limits
    ((mono, _),), (k,) = open_sum(pattern, context)
    factors = [atom for atom, e in mono for _ in range(int(e) if e in (1, 2) else 0)]
    if (
        len(factors) != 2
        or len(value) != 1
        or value[0][1] != 1
        or value
        not in (
            single(("delta", sign))
            for sign in (add(single(i), scale(single(j), -1)), add(single(j), scale(single(i), -1)))
        )
    ):
        return None
    first = next((f for f in factors if _places(f) == {i, k}), None)
    second = next((f for f in factors if f is not first and _places(f) == {k, j}), None)
    if first is None or second is None:
        return None
    s = context.open_index(*pattern[1][0])
    left = substitute(single(second), {k: single(i), j: single(s)}, context)
    right = substitute(single(first), {i: single(s), k: single(j)}, context)
    found = close(times(left, right, context), [s], context)
    return (found[0][0][0][0], value) if len(found) == 1 and len(found[0][0]) == 1 else None


def _places(atom: Atom) -> set[Atom]:
    """Return the two indices of a matrix entry A_ij, or the empty set for any other atom."""
    if atom[0] != "x" or len(atom[2]) != 2:
        return set()
    alone = [p[0][0][0][0] for p in atom[2] if len(p) == 1 and p[0][1] == 1 and len(p[0][0]) == 1]
    return set(alone) if len(alone) == 2 else set()


def permutes(pattern: Atom, value: Poly, limits: Limits) -> bool:
    """Return whether an equation exchanges two indices of an array, up to a sign."""
    if pattern[0] != "x" or len(value) != 1 or value[0][1] not in (1, -1) or len(value[0][0]) != 1:
        return False
    ((other, exponent),) = value[0][0]
    free = [single(index) for index, _ in limits]
    moved = [n for n, (p, q) in enumerate(zip(pattern[2], other[2], strict=True)) if p != q] if other[0] == "x" else []
    return (
        exponent == 1
        and other[:2] == pattern[:2]
        and len(moved) == 2
        and all(pattern[2][n] in free for n in moved)
        and pattern[2][moved[0]] == other[2][moved[1]]
        and pattern[2][moved[1]] == other[2][moved[0]]
    )


def averaged(pattern: Atom, value: Poly, limits: Limits, atom: Atom, context: Context) -> Poly | None:
    """Return (A_ij + s A_ji) / 2 for an entry A_ij, where A_ij = s A_ji is assumed."""
    for binding in match(pattern, atom, dict(limits), {}):
        if fits(binding, dict(limits), context):
            return scale(add(single(atom), substitute(value, binding, context)), Fraction(1, 2))
    return None
