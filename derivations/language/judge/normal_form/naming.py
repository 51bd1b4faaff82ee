"""Canonical names of bound indices: two sums that differ only in the names of their indices become equal.

Colour refinement tells indices apart by where they occur. Indices that remain tied are tried in every order, and the
least term is kept. If the search grows too large, the answer is "undecided".
"""

from collections.abc import Iterable

from derivations.language.judge.normal_form.context import Context, Undecided
from derivations.language.judge.normal_form.terms import (
    Atom,
    Mono,
    Number,
    Poly,
    contains,
    level_of,
    rename_mono,
    rename_poly,
)

__all__ = ["named_sum"]

_LARGEST_SEARCH = 2_000


def named_sum(indices: list[Atom], mono: Mono, context: Context) -> Atom:
    """Return the sum of a monomial over indices that its factors link, with canonical names and order."""
    if any(level_of(end) > 0 for i in indices for end in context.ranges[i]):
        raise Undecided("a range that holds a sum: the levels of bound indices count those of the terms alone")
    level = 1 + level_of(mono)
    best: tuple[tuple[tuple[Poly, Poly], ...], Mono] | None = None
    for number, order in enumerate(_orders(indices, mono, context)):
        if number > _LARGEST_SEARCH:
            raise Undecided(f"a sum over {len(indices)} indices is too symmetric to name")
        names = {index: ("b", level, place) for place, index in enumerate(order)}
        ranges = tuple(
            (rename_poly(context.ranges[i][0], names), rename_poly(context.ranges[i][1], names)) for i in order
        )
        candidate = (ranges, rename_mono(mono, names))
        best = candidate if best is None or candidate < best else best
    if best is None:
        raise Undecided("a sum without an order of its indices")
    return ("sum", *best)


def _orders(indices: list[Atom], mono: Mono, context: Context) -> Iterable[list[Atom]]:
    """Yield the orders of the indices that colour refinement cannot tell apart."""
    if len(indices) == 1:
        yield indices
        return
    start: dict[Atom, int] = dict.fromkeys(indices, 0)
    stack = [_refined(start, mono, context)]
    while stack:
        colours = stack.pop()
        classes: dict[int, list[Atom]] = {}
        for index in indices:
            classes.setdefault(colours[index], []).append(index)
        tied = next((classes[colour] for colour in sorted(classes) if len(classes[colour]) > 1), None)
        if tied is None:
            yield _outermost_first(sorted(indices, key=lambda i: colours[i]), context)
            continue
        for index in tied:  # individualise one index: it gets a colour of its own before those it was tied with
            stack.append(_refined({i: 2 * c + (i != index) for i, c in colours.items()}, mono, context))


def _refined(colours: dict[Atom, int], mono: Mono, context: Context) -> dict[Atom, int]:
    while True:
        context.spend(len(colours) * len(mono))
        names = {index: ("c", colour) for index, colour in colours.items()}
        marks = {}
        for index in colours:
            own = {**names, index: ("c", -1)}
            seen = tuple(sorted((*_pair(rename_mono((p,), own)),) for p in mono if contains(p[0], index)))
            low, high = context.ranges[index]
            marks[index] = (colours[index], rename_poly(low, own), rename_poly(high, own), seen)
        ranks = {mark: rank for rank, mark in enumerate(sorted(set(marks.values())))}
        finer = {index: ranks[marks[index]] for index in colours}
        if len(set(finer.values())) == len(set(colours.values())):  # a round only splits classes: none was split
            return finer
        colours = finer


def _pair(mono: Mono) -> tuple[Atom, Number]:
    return mono[0]


def _outermost_first(order: list[Atom], context: Context) -> list[Atom]:
    done: list[Atom] = []
    while len(done) < len(order):
        waiting = [i for i in order if i not in done]
        free = [i for i in waiting if not any(contains(context.ranges[i], other) for other in waiting if other != i)]
        if not free:
            raise Undecided("ranges of indices that depend on one another")
        done.append(free[0])
    return done
