r"""Whether the indices written in a formula and on its left side match those of a form.

Definition   a form of single numbers says where each of its arrays has its entry: \hat X_{ij} is made of X_{ij}, \mu_i
             and \gamma_j. A document may leave places out, \mu for \mu_i, and put further ones in front of all
Result       `same_places(right, form, assignment)`: one choice of letters for i and j gives every place that is there,
             and entries of one array, or of arrays of one kind, are all at one place
Assumes      letters that stand in the formula themselves are no places where they are subscripts: \mu_x belongs to x
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from derivations.documents.canon.forms import Form
from derivations.documents.judge.arrays.array_reading import indices_of
from derivations.documents.judge.arrays.formula_letters import names_in
from derivations.documents.judge.canonical.assigning import Assignment
from derivations.documents.syntax import Name, Node

__all__ = ["same_places"]

MOST_LETTERS = 4
UNWRITTEN = Name("")
Places = tuple[Node, ...]
Pattern = tuple[str, ...]


def same_places(right: Node, form: Form, assignment: Assignment) -> bool:
    """Return whether the indices written in a formula and on its left side match those of a form."""
    patterns = dict(form.places)
    if not patterns:
        return True
    whole = max(patterns.values(), key=len)
    written = [(whole, _apart(assignment.places, right)), *_written(right, patterns, assignment)]
    letters = tuple(dict.fromkeys(each for _, places in written for each in places))
    if len(letters) > MOST_LETTERS or not _are_alike(written):
        return False
    more = tuple(f"{number}" for number in range(max(len(places) - len(whole) for _, places in written)))
    longer = [((*more, *each) if each[0] == whole[0] else each, places) for each, places in written]
    if assignment.columns:
        longer = [(each[::-1], places) for each, places in longer]
    indices = (*more, *whole)
    return any(
        all(_stands_in(places, [chosen[indices.index(each)] for each in pattern]) for pattern, places in longer)
        for chosen in product((*letters, UNWRITTEN), repeat=len(indices))
    )


def _written(right: Node, patterns: dict[str, Pattern], assignment: Assignment) -> Iterator[tuple[Pattern, Places]]:
    """Yield the indices of the role of every letter, and the indices written at that letter."""
    meaning = dict(assignment.meaning)
    for name in names_in(right):
        head, places = (name, ()) if name.key in meaning else indices_of(name, assignment.indices)
        pattern = patterns.get(getattr(meaning.get(head.key), "name", ""))
        if pattern is not None:
            yield pattern, _apart(places, right)


def _apart(places: Places, right: Node) -> Places:
    """Return indices without those that are also letters of the formula."""
    letters = {name.base for name in names_in(right)}
    return tuple(each for each in places if not (isinstance(each, Name) and each.base in letters))


def _are_alike(written: Sequence[tuple[Pattern, Places]]) -> bool:
    """Return whether entries of arrays of one kind have the same indices, as far as these are written."""
    for kind in {pattern for pattern, _ in written}:
        ordered = sorted((places for pattern, places in written if pattern == kind), key=len)
        if not all(_stands_in(less, more) for less, more in pairwise(ordered)):
            return False
    return True


def _stands_in(places: Sequence[Node], whole: Sequence[Node]) -> bool:
    """Return whether `places` occur in `whole` in the same order."""
    remaining = iter(whole)
    return all(each in remaining for each in places)
