"""Which weight of a module is which of a layer, in which layout: a search that names and sizes direct.

Result       assignments, the likeliest first; a run of both decides, and then the judge
Assumes      the module was made with sizes that differ from one another, so that a number stands for one size
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from sympy import Expr, Integer, Symbol, divisors, expand

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import total
from numeric.lifting.reading.layouts import STYLES, Layout, Piece, layouts_of
from numeric.lifting.reading.weight_names import alike, stands_first

__all__ = ["Numbers", "SearchEnded", "solutions", "told_parts"]

Numbers = Mapping[str, Sequence[int]]  # of a module: all under "", those that names give to a size under the size
_DEAD_ENDS = 5_000  # of one cutting of the weights into pieces


class SearchEnded(Exception):
    """The search was given up before all assignments of weights were tried, so that nothing is refuted by it."""


def _cut(layout: Layout, piece: Piece, done: Sequence[tuple[Variable, Piece, Layout]]) -> list[Layout]:
    """Return a layout with the two orders of the parts of a weight; all parts of one part of a module have the same."""
    if piece.parts == 1 or piece.lengths or len(layout.groups[piece.axis % len(layout.groups)]) == 1:
        return [layout]
    known = [held.interleaved for _, other, held in done if other.parts > 1 and _root(other) == _root(piece)]
    return [Layout(layout.groups, interleaved) for interleaved in (known[:1] or (False, True))]


def solutions(
    parameters: Sequence[Variable], pieces: Sequence[Piece], numbers: Numbers, names: Mapping[str, str]
) -> Iterator[tuple[dict[Symbol, int], tuple[tuple[Variable, Piece, Layout], ...]]]:
    """Yield which piece each weight (of those in `parameters`) is, in which layout, with the values of the sizes.

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
    ends = 0
    while turns:
        if ends >= _DEAD_ENDS:
            raise SearchEnded
        for turn in list(turns):
            try:
                found = next(turn)
            except StopIteration:
                turns.remove(turn)
                continue
            if found is None:
                ends += 1
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
        if names.get(piece.path, weight.name) != weight.name or _parted(weight, piece, done, pieces):
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
    weight: Variable, piece: Piece, done: Sequence[tuple[Variable, Piece, Layout]], pieces: Sequence[Piece]
) -> bool:
    """Return whether a bias would come from another part of the module than the weight that it belongs to.

    A module holds both under one path, such as `c_attn.weight` and `c_attn.bias`: the search need not try the others.
    """
    head, dot, last = weight.name.rpartition(".")
    owner = {"beta": "gamma"}.get(last, f"W_{last[2:]}" if last.startswith("b_") else "")
    if not owner:
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
    """Yield values of sizes for which expressions have given values; a free factor is one of the module's numbers."""
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
        if expand(left - factor * free[0]) == 0 and factor and value % int(factor) == 0:
            yield from _unified(rest, {**sizes, free[0]: value // int(factor)}, numbers)
        return
    free.reverse()  # h before d_k: modules name it
    likely = sorted(free, key=lambda s: s.name not in numbers)
    chosen = [(symbol, n) for symbol in likely for n in (*numbers.get(symbol.name, ()), *numbers[""])]
    if likely[0].name not in numbers:  # the number may stand in the code alone
        chosen += [(likely[0], n) for n in divisors(value)[1:-1]]
    for symbol, number in dict.fromkeys(chosen):
        if value % number == 0:
            yield from _unified(equations, {**sizes, symbol: number}, numbers)


def told_parts(one: Variable, other: Variable, held: Piece, piece: Piece) -> bool:
    """Return whether two weights are parts of one whose order nothing tells, so that a verdict has to say it."""
    return held.path == piece.path and stands_first(one.name, other.name, piece.path) is None


def _against_names(
    weight: Variable, piece: Piece, done: Sequence[tuple[Variable, Piece, Layout]], names: Mapping[str, str]
) -> bool:
    """Return whether the names of the module's weights say that this one and one before are the other way round.

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
