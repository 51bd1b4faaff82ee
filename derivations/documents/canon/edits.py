"""Small edits of a formula, each with a description of the mistake that it corrects.

Definition   an edit changes one place of a formula; what is canonical after one edit was canonical before one slip
Result       `edits(node, letters)` yields formulas with the slip; `letters` may be put in the place of others
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from derivations.documents.canon.letter_slips import (
    exchanged,
    indices_changed,
    letters_changed,
    orders,
    ranges,
    signs,
    summands,
    transposes,
)
from derivations.documents.canon.operation_slips import factors_changed, functions, groups, numbers, powers
from derivations.documents.canon.places import Edit, places
from derivations.documents.syntax import Name, Node

__all__ = ["Edit", "edits", "edits_among"]

Rule = Callable[[Node, Sequence[Name]], Iterator[Edit]]
RULES: tuple[Rule, ...] = (
    transposes, orders, signs, letters_changed, indices_changed, ranges, functions, numbers, powers, groups,
    factors_changed,
)  # fmt: skip


def edits(root: Node, letters: Sequence[Name], indices: Sequence[str] = ()) -> Iterator[Edit]:
    """Yield all edits of a formula, the simplest mistakes first. They may insert any of `letters` and `indices`."""
    letters = (*letters, *(Name("", (Name(key),)) for key in indices))
    for rule in RULES[:2]:
        for node, put in places(root):
            for new, slip in rule(node, letters):
                yield put(new), slip
    yield from exchanged(root, letters)
    for rule in RULES[2:]:
        for node, put in places(root):
            for new, slip in rule(node, letters):
                yield put(new), slip
    present = {part for part, _ in places(root)}
    lacking = [letter for letter in letters if letter.base and letter not in present]
    for node, put in places(root):
        for new, slip in summands(node, lacking):
            yield put(new), slip


def edits_among(root: Node, formulas: Sequence[Node]) -> Iterator[Edit]:
    """Yield all edits of a formula that insert only letters and indices from `formulas`."""
    letters = list(dict.fromkeys(p for each in formulas for p in each.walk() if isinstance(p, Name) and p.base))
    below = (part for letter in letters for script in letter.subscripts for part in script.walk())
    return edits(root, letters, list(dict.fromkeys(part.key for part in below if isinstance(part, Name))))
