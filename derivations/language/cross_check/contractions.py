"""Values of contractions and column concatenations, and operation counts of contractions, by plain loops.

A contraction is evaluated from its definition, term by term. Its operations are counted by listing the terms that are
not hidden by a Kronecker delta: neither the compiled code nor the rules of `operations` are used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sympy import Expr, KroneckerDelta, Mul, Symbol
from sympy import Tuple as Pair

from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.shapes import Axis, Blocks, total
from derivations.language.cross_check.arrays import bound_to, deep, sizes_of
from derivations.language.cross_check.assignment import (
    Assignment,
    Meaning,
    NotCovered,
    Undefined,
    Unfit,
    meaning,
    rule,
    whole,
)

__all__ = ["moved", "spent_by"]

_MOST = 200_000  # terms in one contraction
Places = tuple[int, ...]


# --- terms -----------------------------------------------------------------------------------------------------------


class Term(NamedTuple):
    """One term: its index in the result, the indices that it reads, its factor, and the values of summed indices."""

    target: Places
    reads: tuple[Places, ...]
    scale: Any
    summed: Places


class Terms(NamedTuple):
    """The terms in which every delta is 1, and the number of different products when deltas are ignored."""

    seen: list[Term]
    possible: int


def terms_of(node: Contraction) -> Callable[[Assignment], Terms]:
    """Return the function that lists the terms of a contraction under an assignment."""
    own, sizes = _places_of_result(node)
    counts = [meaning(total(count)) for _, count in node.sums]
    symbols = tuple(symbol for symbol, _ in node.sums)
    reads = [[_flat(place, along) for place, along in zip(places, a.shape, strict=True)] for a, places in node.operands]
    deltas = [meaning(factor) for factor in Mul.make_args(node.factor) if isinstance(factor, KroneckerDelta)]
    scale = meaning(Mul(*(factor for factor in Mul.make_args(node.factor) if not isinstance(factor, KroneckerDelta))))

    def listed(assignment: Assignment) -> Terms:
        lengths, ranges = sizes(assignment), [whole(count(assignment)) for count in counts]
        seen: list[Term] = []
        products: set[Any] = set()
        with bound_to(assignment, (*own.symbols, *symbols)) as values:
            for at in _all(own.lengths(assignment)):
                values.update(zip(own.symbols, at, strict=True))
                target = own.flat(at, lengths, assignment)
                for summed in _all(ranges):
                    if len(seen) > _MOST:
                        raise NotCovered("a contraction of too many terms")
                    values.update(zip(symbols, summed, strict=True))
                    read = tuple(tuple(whole(place(assignment)) for place in places) for places in reads)
                    # counted before the deltas, to see whether they hide any product
                    products.add((read, summed))
                    if all(delta(assignment) for delta in deltas):
                        seen.append(Term(target, read, scale(assignment), summed))
        return Terms(seen, len(products))

    return listed


class _Own(NamedTuple):
    """The indices of a result: their symbols, their numbers of values, and the block size of each axis of blocks."""

    symbols: tuple[Symbol, ...]
    counts: tuple[Meaning, ...]
    blocks: tuple[Meaning | None, ...]  # for each axis the size of its blocks

    def lengths(self, assignment: Assignment) -> list[int]:
        return [whole(count(assignment)) for count in self.counts]

    def flat(self, at: Places, lengths: Places, assignment: Assignment) -> Places:
        numbers = iter(at)
        found = tuple(
            next(numbers) if size is None else next(numbers) * whole(size(assignment)) + next(numbers)
            for size in self.blocks
        )
        if any(not 0 <= place < length for place, length in zip(found, lengths, strict=True)):
            raise Undefined(f"place {found} of {lengths}")
        return found


def _places_of_result(node: Contraction) -> tuple[_Own, Callable[[Assignment], Places]]:
    symbols: list[Symbol] = []
    counts: list[Expr] = []
    blocks: list[Meaning | None] = []
    for index, along in zip(node.indices, node.shape, strict=True):
        paired = isinstance(index, Pair)
        symbols += index if paired else [index]
        counts += [along.count, along.size] if paired else [total(along)]
        blocks.append(meaning(along.size) if paired else None)
    return _Own(tuple(symbols), tuple(map(meaning, counts)), tuple(blocks)), sizes_of(node.shape)


def _flat(place: Any, along: Axis) -> Meaning:
    """Return the function that evaluates an index as one number. A pair becomes block * size + rest."""
    if not isinstance(place, Pair):
        return meaning(place)
    assert isinstance(along, Blocks)
    block, rest, count, size = map(meaning, (*place, along.count, along.size))

    def value(assignment: Assignment) -> int:
        parts = [whole(part(assignment)) for part in (block, rest, count, size)]
        if not (0 <= parts[0] < parts[2] and 0 <= parts[1] < parts[3]):
            raise Undefined(f"there is no place {parts[1]} in block {parts[0]}")
        return parts[0] * parts[3] + parts[1]

    return value


def _all(lengths: list[int]) -> Iterator[Places]:
    """Yield every tuple of indices, with the last index varying fastest."""
    if not lengths:
        yield ()
        return
    for first in range(lengths[0]):
        for rest in _all(lengths[1:]):
            yield (first, *rest)


# --- values ----------------------------------------------------------------------------------------------------------


@rule.register
def _(node: Contraction) -> Meaning:
    terms, arrays, sizes = terms_of(node), [meaning(array) for array, _ in node.operands], sizes_of(node.shape)

    def value(assignment: Assignment) -> Any:
        operands = [array(assignment) for array in arrays]
        # a place without a term holds 0
        entries: dict[Places, Any] = defaultdict(int)
        for term in terms(assignment).seen:
            product = term.scale
            for operand, at in zip(operands, term.reads, strict=True):
                product = product * _entry_at(operand, at)
            entries[term.target] += product
        return _nested(entries, sizes(assignment), ())

    return value


def _entry_at(array: Any, at: Places) -> Any:
    for place in at:
        if not 0 <= place < len(array):
            raise Undefined(f"there is no place {place} on an axis of {len(array)}")
        array = array[place]
    return array


def _nested(entries: dict[Places, Any], sizes: Places, at: Places) -> Any:
    if not sizes:
        return entries[at]
    return [_nested(entries, sizes[1:], (*at, place)) for place in range(sizes[0])]


# --- operations ------------------------------------------------------------------------------------------------------


def spent_by(node: Contraction, assignment: Assignment) -> tuple[str, int]:
    """Return the kind and the number of the operations of a contraction, found by listing its terms.

    Definition   a term takes a product for each operand but the first, one for a number in front of it, and, in a sum,
                 an addition; terms that read the same places are formed once
    Raises       NotCovered where a delta does more than to place the entries of a sum among zeros
    """
    seen, possible = terms_of(node)(assignment)
    deltas = [factor for factor in Mul.make_args(node.factor) if isinstance(factor, KroneckerDelta)]
    adds = bool(node.sums)
    if deltas:
        adds = _is_sum_behind(node, deltas, seen, possible)
    rest = [f for f in Mul.make_args(node.factor) if f not in (1, -1) and not isinstance(f, KroneckerDelta)]
    by_entry: dict[Places, list[Any]] = defaultdict(list)
    for term in seen:
        by_entry[term.target].append((term.reads, term.scale if rest else 1))
    formed = {tuple(terms) for terms in by_entry.values()}  # entries of the same terms are computed once
    if any(len(set(terms)) < len(terms) for terms in formed):
        raise NotCovered("a sum of equal terms")
    number_of_terms = sum(map(len, formed))
    products = max(len(node.operands) - 1, 0) + bool(rest)
    if not adds:
        return "elementwise", products * number_of_terms
    return ("matmul", (products + 1) * number_of_terms) if products else ("reduction", number_of_terms)


def moved(node: Contraction, tokens: dict[Places, int], assignment: Assignment) -> dict[Places, int]:
    """Return the labels of one array, rearranged by a contraction that only moves entries."""
    return {term.target: tokens[term.reads[0]] for term in terms_of(node)(assignment).seen}


def _is_sum_behind(node: Contraction, deltas: list[Expr], seen: list[Term], possible: int) -> bool:
    """Return whether a summed index occurs in no delta, where the deltas only place products among zeros."""
    if len({(term.reads, term.summed) for term in seen}) < possible:
        raise NotCovered("a delta that leaves out products")
    named = frozenset().union(*(delta.free_symbols for delta in deltas))
    placing = [number for number, (symbol, _) in enumerate(node.sums) if symbol in named]
    at_place: dict[Places, set[Places]] = defaultdict(set)
    for term in seen:
        at_place[term.target].add(tuple(term.summed[number] for number in placing))
    if any(len(values) > 1 for values in at_place.values()):
        raise NotCovered("a delta that adds several products at one place")
    lengths = [{term.summed[number] for term in seen} for number in placing]
    if any(len(values) == 1 for values in lengths):
        raise Unfit("a sum of one term does not tell a placed entry from a sum")
    return len(placing) < len(node.sums)


# --- columns side by side --------------------------------------------------------------------------------------------


@rule.register
def _(node: ColumnConcatenation) -> Meaning:
    parts, rank = list(map(meaning, node.args)), len(node.shape)

    def value(assignment: Assignment) -> Any:
        rows = [part(assignment) for part in parts]
        return deep(rank - 1, lambda *pieces: [entry for piece in pieces for entry in piece], *rows)

    return value


@rule.register
def _(node: ColumnRange) -> Meaning:
    inner, start = meaning(node.args[0]), meaning(node.args[1])
    count, rank = meaning(total(node.args[2])), len(node.shape)

    def value(assignment: Assignment) -> Any:
        first, width = whole(start(assignment)), whole(count(assignment))

        def cut(row: list[Any]) -> list[Any]:
            if first < 0 or first + width > len(row):
                raise Undefined(f"there are no columns {first} to {first + width - 1} of {len(row)}")
            return row[first : first + width]

        return deep(rank - 1, cut, inner(assignment))

    return value
