"""Matching: find the values of a pattern's free indices for which the pattern equals a given term.

A pattern binds an index only where the index alone is a subscript; all other parts must be equal as written.
"""

from collections.abc import Iterator

from derivations.language.judge.normal_form.terms import Atom, Mono, Poly, contains, is_random

__all__ = ["Binding", "Free", "match", "match_terms"]

Binding = dict[Atom, Poly]
Free = dict[Atom, tuple[Poly, Poly]]


def match(pattern: Atom, atom: Atom, free: Free, binding: Binding) -> Iterator[Binding]:
    """Yield every binding of the free indices under which the pattern equals the atom."""
    if pattern == atom and not free:
        yield binding
    elif pattern[0] != atom[0]:
        return
    elif pattern[0] in ("x", "true") and pattern[1] == atom[1]:
        yield from _match_places(pattern[2], atom[2], free, binding)
    elif pattern[0] == "exp":
        yield from _match_factors(pattern[1], atom[1], free, binding)
    elif pattern[0] == "E":
        for found in _match_factors(pattern[1], atom[1], free, binding):
            if not any(is_random(place) and contains(pattern, index) for index, place in found.items()):
                yield found  # an index inside an expectation is a constant, so it is not bound to a random value
    elif pattern[0] == "sum" and pattern[1] == atom[1]:
        yield from _match_factors(pattern[2], atom[2], free, binding)
    elif pattern[0] in ("relu", "step", "log", "erf", "tanh", "poly"):
        yield from match_terms(pattern[1], atom[1], free, binding)
    elif pattern == atom:
        yield binding


def match_terms(pattern: Poly, p: Poly, free: Free, binding: Binding) -> Iterator[Binding]:
    """Yield every binding under which two polynomials have the same terms."""
    if not pattern:
        if not p:
            yield binding
        return
    (mono, coefficient), *rest = pattern
    for number, (other, c) in enumerate(p):
        if c == coefficient:
            for extended in _match_factors(mono, other, free, binding):
                yield from match_terms(tuple(rest), p[:number] + p[number + 1 :], free, extended)


def _match_places(
    pattern: tuple[Poly, ...], places: tuple[Poly, ...], free: Free, binding: Binding
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


def _match_factors(pattern: Mono, mono: Mono, free: Free, binding: Binding) -> Iterator[Binding]:
    if not pattern:
        if not mono:
            yield binding
        return
    (atom, exponent), *rest = pattern
    for number, (other, power) in enumerate(mono):
        if power == exponent:
            for extended in match(atom, other, free, binding):
                yield from _match_factors(tuple(rest), mono[:number] + mono[number + 1 :], free, extended)
