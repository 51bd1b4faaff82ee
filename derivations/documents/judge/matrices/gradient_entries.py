r"""Formulas of entries at one place: `\sum_j dH_{ji}` at i = 2, its sums written out, its entries as numbers.

Definition   an index runs over the rows or columns of what it stands on: from 1 to a letter, from 0 to one less than a
             letter, or without bounds; from 1 to one less than a letter it leaves out the last
Result       `entries(node, indices, ...)`: the array that a formula gives entry by entry, None where a sum has other
             bounds, or an entry no value; `whole_letters` puts whole letters in the place of their entries
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

from derivations.documents.budget import spend
from derivations.documents.judge.arrays.array_reading import indices_of
from derivations.documents.judge.matrices.matrix_functions import SIZE, NoValue
from derivations.documents.judge.matrices.matrix_numbers import Kinds, matrix_value
from derivations.documents.judge.matrices.matrix_values import Value, entries_of, resized, size_of
from derivations.documents.syntax import Aggregate, Call, Fence, Name, Node, Number, Sum, rebuilt

__all__ = ["bound_indices", "entries", "entries_like", "is_over_all", "whole_letters"]

Places = Mapping[str, int]


def bound_indices(node: Node) -> frozenset[str]:
    """Return the indices of the sums of a formula."""
    return frozenset(index.key for part in node.walk() if isinstance(part, Aggregate) for index in part.index)


def whole_letters(node: Node, indices: Sequence[str]) -> Node:
    """Return a formula with whole letters in the place of their entries, and without the bounds of sums.

    It is for its letters alone. Without indices it is the formula as it is.
    """
    return _heads(node, frozenset(indices) | bound_indices(node)) if indices else node


def _heads(node: Any, indices: frozenset[str]) -> Any:
    if isinstance(node, Name):
        return indices_of(node, indices)[0]
    if isinstance(node, Aggregate):
        return Fence("(", _heads(node.body, indices))
    return rebuilt(node, lambda each: _heads(each, indices))


def entries_like(node: Node, letters: Sequence[Name], indices: Sequence[str]) -> Iterator[Name]:
    """Yield entries of letters at the places at which a formula has entries."""
    names = (part for part in node.walk() if isinstance(part, Name))
    places = dict.fromkeys(indices_of(name, frozenset(indices))[1] for name in names if name.key not in indices)
    for letter in letters:
        yield from (replace(letter, subscripts=(*letter.subscripts, *each)) for each in places if each)


def entries(
    node: Node, indices: Sequence[str], like: Value, kinds: Kinds, value: Callable[[Name], Value | None]
) -> Value | None:
    """Return the values of a formula at all places of `indices`, in an array of the size of another one.

    `value` gives what whole letters are, `kinds` what the letters without a place are.
    """
    found = []
    try:
        for places in product(range(SIZE), repeat=len(indices)):
            made = _at_place(node, dict(zip(indices, places, strict=True)), value)
            found.append(matrix_value(made, kinds))
    except (NoValue, ValueError, ArithmeticError):  # no number, or none that is finite
        return None
    numbers = [each for each in found if each is not None and not isinstance(each, tuple)]
    return resized(like, numbers) if len(numbers) == len(found) == len(entries_of(like)) else None


def _at_place(node: Any, places: Places, value: Callable[[Name], Value | None]) -> Any:
    """Return a formula at one place, its sums written out."""
    if isinstance(node, Aggregate):
        return _written_out(node, places, value)
    if isinstance(node, Name):
        return _entry(node, places, value)
    if isinstance(node, Call):
        return Call(node.function, _at_place(node.arguments, places, value))
    return rebuilt(node, lambda each: _at_place(each, places, value))


def _written_out(node: Aggregate, places: Places, value: Callable[[Name], Value | None]) -> Node:
    if node.kind != "sum" or len(node.index) != 1 or node.over is not None:
        raise NoValue
    index = node.index[0].key
    terms = tuple(_at_place(node.body, {**places, index: place}, value) for place in _range(node))
    return Fence("(", Sum(terms, (1,) * len(terms)))


def is_over_all(node: Aggregate) -> bool:
    """Say whether this is a sum over all places of one index."""
    try:
        return node.kind == "sum" and len(node.index) == 1 and node.over is None and len(_range(node)) == SIZE
    except NoValue:
        return False


def _range(node: Aggregate) -> range:
    """Return the places of a sum, counted from zero."""
    match node.lower, node.upper:
        case None, None:
            return range(SIZE)
        case Number(value=first), Name() if first == 1:
            return range(SIZE)
        case Number(value=first), Sum(terms=(Name(), Number(value=one)), signs=(1, -1)) if one == 1 and first in (0, 1):
            return range(SIZE - int(first))
    raise NoValue


def _entry(name: Name, places: Places, value: Callable[[Name], Value | None]) -> Node:
    """Return the entry of a letter as a number, or the letter where it has no place."""
    spend()
    head, at = indices_of(name, frozenset(places))
    if not at:
        return name
    whole = value(head)
    keys = [each.key if isinstance(each, Name) else "" for each in at]
    if whole is None or any(key not in places for key in keys):
        raise NoValue
    if sum(size > 1 for size in size_of(whole)) != len(keys) or (len(keys) > 1 and head.base[:1].islower()):
        raise NoValue  # a small letter with two places is a row of a batch, whichever place is that
    number = Fraction(entries_of(whole)[_place_of([places[key] for key in keys])])
    return Number(str(number), number)


def _place_of(places: Sequence[int]) -> int:
    """Return where an entry stands among all, row by row."""
    return reduce(lambda place, following: place * SIZE + following, places, 0)
