"""A search that assigns the weights of a module, in some layout, to those of a layer, guided by names and sizes.

Result       assignments, the likeliest first; a run of both decides, and then the judge
Assumes      the module was made with sizes that differ from one another, so that a number stands for one size
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from sympy import Expr, Integer, Symbol, divisors, expand

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import total
from numeric.lifting.reading.layouts import STYLES, Layout, Piece, layouts_of
from numeric.lifting.reading.weight_names import alike, size_word, stands_first

__all__ = ["Allowance", "Numbers", "SearchEnded", "as_likely", "solutions", "told_parts"]

Numbers = Mapping[str, Sequence[int]]  # of a module: all under "", those that names give to a size under the size
_AS_LIKELY = 24  # readings that are as likely as one of them
_UNITS = 5  # of one shape whose orders are compared


class SearchEnded(Exception):
    """The search was given up before all assignments of weights were tried."""


@dataclass
class Allowance:
    """How many dead ends a search may still meet."""

    left: int

    def spend(self) -> None:
        """Count one dead end. Raise `SearchEnded` if no more are allowed."""
        self.left -= 1
        if self.left < 0:
            raise SearchEnded


def _cut(layout: Layout, piece: Piece, done: Sequence[tuple[Variable, Piece, Layout]]) -> list[Layout]:
    """Return a layout with both orders of the parts of a weight, or with the order that a related part already has."""
    if piece.parts == 1 or piece.lengths or len(layout.groups[piece.axis % len(layout.groups)]) == 1:
        return [layout]
    known = [held.interleaved for _, other, held in done if other.parts > 1 and _root(other) == _root(piece)]
    return [Layout(layout.groups, interleaved) for interleaved in (known[:1] or (False, True))]


def solutions(
    parameters: Sequence[Variable],
    pieces: Sequence[Piece],
    numbers: Numbers,
    names: Mapping[str, str],
    allowance: Allowance,
) -> Iterator[tuple[dict[Symbol, int], tuple[tuple[Variable, Piece, Layout], ...]]]:
    """Yield assignments: values of the sizes, and for each weight in `parameters` the module's piece and its layout.

    The styles take turns, also at dead ends: each begins with the weights that names and order tell. A module keeps
    to one style, so that the others have no solution, which takes long to find out.

    Raises       SearchEnded after many dead ends: the weights may be assigned in a way that was not tried
    """
    gains = any(v.name.rpartition(".")[2] == "gamma" for v in parameters)
    turns = [
        _matched(tuple(parameters), tuple(pieces), {}, (), numbers, style, names, less)
        for less in ((0, 1) if gains else (0,))  # some models store the gains of norms less 1
        for style in STYLES
    ]
    while turns:
        for turn in list(turns):
            try:
                found = next(turn)
            except StopIteration:
                turns.remove(turn)
                continue
            if found is None:
                allowance.spend()
            else:
                yield found


def _matched(
    weights: tuple[Variable, ...],
    pieces: tuple[Piece, ...],
    sizes: dict[Symbol, int],
    done: tuple[tuple[Variable, Piece, Layout], ...],
    numbers: Numbers,
    style: str,
    names: Mapping[str, str],
    less: int,
) -> Iterator[tuple[dict[Symbol, int], tuple[tuple[Variable, Piece, Layout], ...]] | None]:
    """Yield assignments of the remaining pieces to the remaining weights, the likeliest first; None at a dead end."""
    if not weights:
        yield sizes, done
        return
    weight, *others = weights
    fits = False
    likely = sorted(range(len(pieces)), key=lambda number: -alike(pieces[number].path, weight.name))
    for number in likely:
        piece = pieces[number]
        if names.get(piece.path, weight.name) != weight.name or _parted(weight, piece, done, pieces, weights):
            continue
        if _against_names(weight, piece, done, names):
            continue
        stored = list(piece.shape)
        if piece.parts > 1:
            stored[piece.axis] = piece.length
        parts = [total(along) for along in weight.shape]
        layouts = layouts_of(len(parts), len(stored), style)
        if less and weight.name.rpartition(".")[2] == "gamma":
            layouts = [replace(each, less=less) for each in layouts]
        for layout in itertools.chain.from_iterable(_cut(each, piece, done) for each in layouts):
            products = [prod((parts[axis] for axis in group), start=Integer(1)) for group in layout.groups]
            left = (*pieces[:number], *pieces[number + 1 :])
            for found in _unified(list(zip(products, stored, strict=True)), sizes, numbers):
                fits = True
                more = (*done, (weight, piece, layout))
                yield from _matched(tuple(others), left, found, more, numbers, style, names, less)
    if not fits:
        yield None


def _parted(
    weight: Variable,
    piece: Piece,
    done: Sequence[tuple[Variable, Piece, Layout]],
    pieces: Sequence[Piece],
    left: Sequence[Variable],
) -> bool:
    """Return whether a bias would come from another part of the module than the weight that it belongs to.

    A module holds both under one path, such as `c_attn.weight` and `c_attn.bias`: the search need not try the others.
    """
    head, dot, last = weight.name.rpartition(".")
    owner = {"beta": "gamma"}.get(last, f"W_{last[2:]}" if last.startswith("b_") else "")
    known = {other.name for other in (*(other for other, _, _ in done), *left)}
    if not owner or f"{head}{dot}{owner}" not in known:
        return False
    for other, held, _ in done:
        of_held = (_root(piece), piece.part) == (_root(held), held.part)
        if other.name == f"{head}{dot}{owner}":
            return not of_held and any(_root(each) == _root(held) for each in pieces)
        if of_held:
            return True
    return False


def _root(piece: Piece) -> str:
    return piece.path.removesuffix("weight").removesuffix("bias")


def _unified(
    equations: list[tuple[Expr, int]], sizes: dict[Symbol, int], numbers: Numbers
) -> Iterator[dict[Symbol, int]]:
    """Yield values of the sizes that solve the equations. An undetermined factor is tried with the module's numbers."""
    if not equations:
        yield sizes
        return
    (expression, value), *rest = equations
    left = expression.xreplace({s: Integer(v) for s, v in sizes.items()})
    free = sorted(left.free_symbols, key=str)
    if not free:
        if left == value:
            yield from _unified(rest, sizes, numbers)
        return
    if len(free) == 1:
        factor = left.coeff(free[0])
        divides = expand(left - factor * free[0]) == 0 and factor and value % int(factor) == 0
        if divides and not (value == factor and size_word(free[0]) in numbers):  # the module says that it is not 1
            yield from _unified(rest, {**sizes, free[0]: value // int(factor)}, numbers)
        return
    free.reverse()  # h before d_k: modules name it
    likely = sorted(free, key=lambda s: size_word(s) not in numbers)
    chosen = [(symbol, n) for symbol in likely for n in (*numbers.get(size_word(symbol), ()), *numbers[""])]
    if size_word(likely[0]) not in numbers:  # the number may stand in the code alone
        chosen += [(likely[0], n) for n in divisors(value)[1:-1]]
    for symbol, number in dict.fromkeys(chosen):
        if value % number == 0:
            yield from _unified(equations, {**sizes, symbol: number}, numbers)


def as_likely(
    assigned: tuple[tuple[Variable, Piece, Layout], ...], names: Mapping[str, str]
) -> list[tuple[tuple[Variable, Piece, Layout], ...]] | None:
    """Return the other assignments that are as likely as this one by names and order, or None if there are too many.

    Two parts of a module with weights of the same shapes may be exchanged where that does not read their paths worse,
    and what is stored as parts of one weight may alternate inside each head or not.
    """
    orders = [_orders(group, assigned) for group in _of_one_shape(assigned, names)]
    cut = sorted({_root(piece) for _, piece, layout in assigned if len(_cut(layout, piece, ())) > 1})
    turned = [frozenset(chosen) for n in range(len(cut) + 1) for chosen in itertools.combinations(cut, n)]
    if prod(map(len, orders)) * len(turned) > _AS_LIKELY:
        return None
    found = []
    for chosen, turns in itertools.product(itertools.product(*orders), turned):
        moved: dict[int, int] = {}
        for order in chosen:
            moved |= order
        pieces = [assigned[moved.get(place, place)][1] for place in range(len(assigned))]
        found.append(
            tuple(
                (variable, piece, replace(layout, interleaved=layout.interleaved != (_root(piece) in turns)))
                for (variable, _, layout), piece in zip(assigned, pieces, strict=True)
            )
        )
    return [each for each in found if each != assigned]


def _of_one_shape(
    assigned: Sequence[tuple[Variable, Piece, Layout]], names: Mapping[str, str]
) -> Iterator[list[list[int]]]:
    """Yield groups of units with equal shapes. A unit is the indices of weights stored together, as in a norm."""
    units: dict[Any, list[int]] = {}
    for place, (_, piece, _) in enumerate(assigned):
        units.setdefault((_root(piece), piece.part), []).append(place)
    groups: dict[Any, list[list[int]]] = {}
    for places in units.values():
        held = [assigned[place] for place in places]
        if not {piece.path for _, piece, _ in held} & names.keys():
            key = tuple((v.shape, piece.shape, piece.part, piece.parts) for v, piece, _ in held)
            groups.setdefault(key, []).append(places)
    yield from groups.values()


def _orders(units: Sequence[list[int]], assigned: Sequence[tuple[Variable, Piece, Layout]]) -> list[Mapping[int, int]]:
    """Return the permutations of units for which paths match names best. Each maps a weight's index to its piece's."""
    if len(units) > _UNITS:
        return [{}] * (_AS_LIKELY + 1)
    scores: dict[int, list[Mapping[int, int]]] = {}
    for order in itertools.permutations(units):
        moved = {at: of for one, other in zip(units, order, strict=True) for at, of in zip(one, other, strict=True)}
        score = sum(alike(assigned[of][1].path, assigned[at][0].name) for at, of in moved.items())
        scores.setdefault(score, []).append(moved)
    return scores[max(scores)]


def told_parts(one: Variable, other: Variable, held: Piece, piece: Piece) -> bool:
    """Return whether two weights are parts of one stored weight, in an order that the verdict must state."""
    return held.path == piece.path and stands_first(one.name, other.name, piece.path) is None


def _against_names(
    weight: Variable, piece: Piece, done: Sequence[tuple[Variable, Piece, Layout]], names: Mapping[str, str]
) -> bool:
    """Return whether the module's names suggest that this weight and an earlier one are swapped.

    A module that uses `k_proj` for its queries may be the layer under that reading, and is a defect all the same: with
    the weights of another implementation it computes something else. The parts of one weight stand in the layer's
    order, except where implementations differ. Who means another reading says so by `names`.
    """
    for other, held, _ in done:
        if (piece.shape, piece.parts) != (held.shape, held.parts) or {piece.path, held.path} & names.keys():
            continue
        if piece.path == held.path:
            if (piece.part < held.part) == stands_first(other.name, weight.name, piece.path):
                return True
            continue
        as_read = alike(piece.path, weight.name) + alike(held.path, other.name)
        if alike(piece.path, other.name) + alike(held.path, weight.name) > as_read:
            return True
    return False
