r"""One width for another in an equation between sizes: `m d_v + m d_v = m d_k + m d_v`.

Definition   the widths of a layer are d_k, d_v, d_model, d_ff; the first two may be alike, the others are wider where
             there are heads
Result       `mixed_width(left, right, scope)`: the side that is mended, and the slip, where one width in the place of
             another makes the sides equal: of two terms that are the same, where the other side tells d_k and d_v
             apart; or one of the wider ones, beside both d_k and d_v, which are taken for alike
Assumes      the section sets them to what is usual, or not at all; single heads have d_k = d_model: d_model is left
             alone where no number of heads stands beside it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from derivations.documents.canon.edits import Edit
from derivations.documents.canon.places import places
from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.free_letters import letters_of
from derivations.documents.judge.algebra.near_identities import USUAL
from derivations.documents.judge.algebra.telling_apart import agree
from derivations.documents.judge.numbers.letters import bare, put
from derivations.documents.scope import Scope
from derivations.documents.syntax import Name, Node, Product, Sum

__all__ = ["mixed_width"]

MOST_NODES = 120
D_K, D_V, D_FF, D_MODEL = (Name("d", (Name(label),)) for label in ("k", "v", "ff", "model"))
HEADS = Name("h")


def mixed_width(left: Node, right: Node, scope: Scope) -> Edit | None:
    """Return the side that is mended, and the slip; None where no width, or more than one, is another one's."""
    if sum(1 for side in (left, right) for _ in side.walk()) > MOST_NODES or isinstance(bare(left), Name):
        return None
    letters = [{name.key for name in letters_of(side)} for side in (left, right)]
    widths = {D_K.key, D_V.key, D_FF.key, D_MODEL.key}
    used = (letters[0] | letters[1]) & widths
    if not {D_K.key, D_V.key} <= used or not _are_as_usual(scope):
        return None
    apart = not any(scope.definitions(name) for name in (D_K, D_V))
    wider = [D_FF, *([D_MODEL] if HEADS.key in letters[0] | letters[1] else [])]
    for side, other in ((left, right), (right, left)):
        for edit, slip in _replaced(side, wider, (D_K, D_V)):
            if agree(*(put(each, {D_V.key: D_K}) for each in (edit, other))):
                return edit, slip
        for edit, slip in _replaced(side, (D_K, D_V), (D_K, D_V)) if apart and _repeats(side, other) else ():
            if agree(edit, other):
                return edit, slip
    return None


def _are_as_usual(scope: Scope) -> bool:
    """Say whether the section sets the widths to what is usual, if it sets them."""
    said = ((name, found) for name in (D_K, D_V, D_FF) for found in scope.definitions(name))
    return all(agree(put(found, USUAL), USUAL[name.key]) for name, found in said)


def _replaced(side: Node, old: Sequence[Name], new: Sequence[Name]) -> Iterator[Edit]:
    """Yield a side with one name in the place of another, once each."""
    for node, placed in places(side):
        if isinstance(node, Name) and node.key in {name.key for name in old}:
            for name in new:
                if name.key != node.key:
                    yield placed(name), f"{name.key} belongs where {node.key} stands"


def _repeats(side: Node, other: Node) -> bool:
    """Say whether a sum has a term with a width twice, and the other side none."""
    return _has_twins(side) and not _has_twins(other)


def _has_twins(side: Node) -> bool:
    for part in side.walk():
        terms = [sorted(term, key=formula_text) for term in _multiplied_out(part)] if isinstance(part, Sum) else []
        twins = [term for at, term in enumerate(terms) if term in terms[:at]]
        if any(name.key in (D_K.key, D_V.key) for term in twins for each in term for name in letters_of(each)):
            return True
    return False


def _multiplied_out(node: Node) -> Iterator[list[Node]]:
    """Yield the factors of the terms of a formula, a bracket of summands multiplied by what stands beside it."""
    node = bare(node)
    if isinstance(node, Sum):
        for term in node.terms:
            yield from _multiplied_out(term)
    elif isinstance(node, Product):
        for factors in islice(product(*map(_multiplied_out, node.factors)), MOST_NODES):
            yield [each for some in factors for each in some]
    else:
        yield [node]
