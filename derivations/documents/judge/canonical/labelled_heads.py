r"""Matrices of one head, and one query, with a label: `O_i = \text{softmax}(Q_i K_i^T / \sqrt{d_k}) V_i`.

Definition   Q, K and V in capitals that all have one and the same letter or number below are the matrices of a head,
             since the product of row i of the queries with row i of the keys is one number, and its softmax is 1;
             the query of `o_t = \text{softmax}(q_t K^T / \sqrt{d_k}) V` has the label of its output
Result       `without_labels(left, right)`: both sides without the labels, and how to put them back; None for all else.
             `mixes_heads(left, right)`: matrices of several heads stand together, Q_1 with K_2, or under another number
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from derivations.documents.canon.letter_slips import renamed
from derivations.documents.syntax import Call, Name, Node, Number

__all__ = ["Unlabelled", "mixes_heads", "without_labels"]

MATRICES = frozenset("QKV")
QUERY = "q"


@dataclass(frozen=True)
class Unlabelled:
    """The two sides without the labels of a head, and a map from unlabelled to labelled matrices."""

    left: Node
    right: Node
    labelled: dict[Name, Name]

    def labelled_again(self, node: Node) -> Node:
        """Return a formula with the labels put back."""
        whole: Node = renamed(node, self.labelled)
        return whole


def without_labels(left: Node, right: Node) -> Unlabelled | None:
    """Return both sides without the label that all matrices of the right side share, or that a query alone has."""
    matrices = {part for part in right.walk() if isinstance(part, Name) and part.base in MATRICES}
    labels = {part.subscripts for part in matrices}
    if labels == {()}:
        return _of_one_query(left, right)
    if not {"Q", "K"} <= {part.base for part in matrices} or len(labels) != 1:
        return None
    (label,) = labels
    if len(label) != 1 or not (isinstance(label[0], Number) or (isinstance(label[0], Name) and len(label[0].key) == 1)):
        return None
    plain = {part: replace(part, subscripts=()) for part in matrices}
    named = replace(left, subscripts=()) if isinstance(left, Name) and left.subscripts == label else left
    return Unlabelled(renamed(named, plain), renamed(right, plain), {short: whole for whole, short in plain.items()})


def _of_one_query(left: Node, right: Node) -> Unlabelled | None:
    """Return both sides without the label of the one query of the right side, which the left side has too."""
    queries = {part for part in right.walk() if isinstance(part, Name) and part.base == QUERY}
    if len(queries) != 1 or not isinstance(left, Name) or not left.base[:1].islower():
        return None
    (query,) = queries
    if len(query.subscripts) != 1 or left.subscripts != query.subscripts:
        return None
    plain = replace(query, subscripts=())
    return Unlabelled(replace(left, subscripts=()), renamed(right, {query: plain}), {plain: query})


def mixes_heads(left: Node, right: Node) -> bool:
    """Return whether the matrices on the right have several number labels, or not that of the left side.

    Matrices that the left side lists as arguments may differ.
    """
    matrices = {part for part in right.walk() if isinstance(part, Name) and part.base in MATRICES}
    if isinstance(left, Call) and matrices <= {*left.arguments}:
        return False
    labels = {part.subscripts for part in matrices if all(isinstance(each, Number) for each in part.subscripts)}
    own = left.subscripts if isinstance(left, Name) else ()
    numbered = bool(own) and all(isinstance(each, Number) for each in own)
    return len(labels) > 1 or (numbered and bool(labels - {()}) and labels != {own})
