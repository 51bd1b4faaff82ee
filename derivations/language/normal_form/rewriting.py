"""Assumed equations, used from left to right: one atom, for all values of its indices, is another expression."""

from collections.abc import Iterator
from dataclasses import dataclass

from derivations.language.normal_form.context import Context, Undecided
from derivations.language.normal_form.integers import always_nonnegative
from derivations.language.normal_form.sums import substitute, transform
from derivations.language.normal_form.terms import Atom, Mono, Poly, subtract

__all__ = ["Rewrite", "rewrite", "rewrite_rule"]

_ROUNDS = 20
Binding = dict[Atom, Poly]


@dataclass(frozen=True)
class Rewrite:
    """`pattern = value` for all values of the indices in `limits`."""

    pattern: Atom
    value: Poly
    limits: tuple[tuple[Atom, tuple[Poly, Poly]], ...]


def rewrite_rule(left: Poly, right: Poly, limits: dict[Atom, tuple[Poly, Poly]]) -> Rewrite:
    """Return the rule for an assumed equation; its left-hand side must be a single atom."""
    if len(left) == 1 and left[0][1] == 1 and len(left[0][0]) == 1 and left[0][0][0][1] == 1:
        return Rewrite(left[0][0][0][0], right, tuple(limits.items()))
    raise Undecided("the left-hand side of an assumed equation must be one entry, expectation or sum")


def rewrite(p: Poly, rules: list[Rewrite], context: Context) -> Poly:
    """Return p with the rules used until none applies."""
    for _ in range(_ROUNDS):
        changed = transform(p, lambda atom: _apply(atom, rules, context), context)
        if changed == p:
            return p
        p = changed
    raise Undecided("the assumed equations do not come to an end")


def _apply(atom: Atom, rules: list[Rewrite], context: Context) -> Poly | None:
    for rule in rules:
        free = dict(rule.limits)
        for binding in _match(rule.pattern, atom, free, {}):
            if set(binding) == set(free) and all(_in_range(binding[i], free[i], context) for i in free):
                return substitute(rule.value, binding, context)
    return None


def _in_range(value: Poly, limits: tuple[Poly, Poly], context: Context) -> bool:
    low, high = limits
    return always_nonnegative(subtract(value, low), context) and always_nonnegative(subtract(high, value), context)


def _match(pattern: Atom, atom: Atom, free: dict[Atom, tuple[Poly, Poly]], binding: Binding) -> Iterator[Binding]:
    if pattern == atom and not free:
        yield binding
    elif pattern[0] != atom[0]:
        return
    elif pattern[0] in ("x", "true") and pattern[1] == atom[1]:
        yield from _match_places(pattern[2], atom[2], free, binding)
    elif pattern[0] == "E":
        yield from _match_factors(pattern[1], atom[1], free, binding)
    elif pattern[0] == "sum" and pattern[1] == atom[1]:
        yield from _match_factors(pattern[2], atom[2], free, binding)
    elif pattern == atom:
        yield binding


def _match_places(
    pattern: tuple[Poly, ...], places: tuple[Poly, ...], free: dict[Atom, tuple[Poly, Poly]], binding: Binding
) -> Iterator[Binding]:
    bound = dict(binding)
    for wanted, given in zip(pattern, places, strict=True):
        index = next((i for i in free if wanted == ((((i, 1),), 1),)), None)
        if index is None:
            if wanted != given:
                return
        elif bound.setdefault(index, given) != given:
            return
    yield bound


def _match_factors(
    pattern: Mono, mono: Mono, free: dict[Atom, tuple[Poly, Poly]], binding: Binding
) -> Iterator[Binding]:
    if not pattern:
        if not mono:
            yield binding
        return
    (atom, exponent), *rest = pattern
    for number, (other, power) in enumerate(mono):
        if power == exponent:
            for extended in _match(atom, other, free, binding):
                yield from _match_factors(tuple(rest), mono[:number] + mono[number + 1 :], free, extended)
