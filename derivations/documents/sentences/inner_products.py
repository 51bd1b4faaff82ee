r"""Entries of a product in words: "each entry of $QK^T$ is a dot product of two $d_k$-dimensional vectors".

Definition   a product of two matrices whose shapes the section tells, a word for its entries, and the number of
             components of the vectors whose dot product each is said to be
Result       holds where that is the size over which the product sums, wrong where it is surely another one
Assumes      a sentence that supposes or tells of another order claims nothing that is wrong
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sympy import Expr, Integer

from derivations.documents.judge.wording import size_text
from derivations.documents.scope import Scope
from derivations.documents.scope.sizes import size_of
from derivations.documents.sentences.copulas import is_doubted
from derivations.documents.sentences.joined import FORMULAS, Sentence
from derivations.documents.sentences.places import ARRAY, VECTOR
from derivations.documents.sentences.statistics_words import DOT
from derivations.documents.syntax import Fence, Name, Node, Product, Transpose
from derivations.documents.verdicts import Finding

__all__ = ["check_inner_products"]

CHECK = "shape"
FARTHEST = 30  # characters between the entries and what they are
_SIZE = rf"(?:{FORMULAS}|\d{{1,6}})"
_ENTRIES = re.compile(
    rf"\b(?:each|every|an?|the|all)\s+(?:entr(?:y|ies)|elements?|components?)\s+(?:of|in)\s+(?:the\s+)?(?:matrix\s+)?"
    rf"(?P<behind>{FORMULAS})"
    rf"|(?P<before>{FORMULAS})\s?{ARRAY}?\s?(?:中|裡|里)?\s?[的の]?\s?(?:每一?[個个]?|各|任一)\s?(?:元素|分量|項|项|要素|成分)",
    re.IGNORECASE,
)
_VECTORS = re.compile(
    rf"\b(?:dot|inner)[\s-]products?\s+(?:of|between)\s+(?:two\s+)?(?P<a>{_SIZE})[\s-]{{0,2}}dimensional\s+vectors\b"
    rf"|\b(?:dot|inner)[\s-]products?\s+(?:of|between)\s+two\s+vectors\s+(?:of|with)\s+(?:dimension\s+|length\s+)?"
    rf"(?P<b>{_SIZE})(?:\s+(?:components|entries|dimensions))?"
    rf"|(?P<c>{_SIZE})\s?(?:[維维]|次元)[的の]?\s?{VECTOR}(?:之間|之间|同士)?[的の]?\s?{DOT}",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|never|rather|instead|neither|no)\b|n['’]t\b|[不非未]|ない|なく", re.IGNORECASE)


def check_inner_products(sentence: Sentence, scope: Scope) -> Iterator[tuple[int, int, Finding]]:
    """Yield what is found of the entries of a product in a sentence."""
    for entries in _ENTRIES.finditer(sentence.text):
        vectors = _VECTORS.search(sentence.text, entries.end())
        between = sentence.text[entries.end() : vectors.start()] if vectors is not None else ""
        if vectors is None or re.search(f"{FORMULAS}|[,;]", between) or _DENIED.search(sentence.text):
            continue
        summed = _summed_size(sentence.nodes.get(entries.start(entries.lastgroup or 0)), scope)
        said = _size(sentence, *vectors.span(vectors.lastgroup or 0))
        if summed is None or said is None or len(between) > FARTHEST:
            continue
        relation = scope.compare(summed, said).relation
        if relation in ("equal", "given"):
            yield *vectors.span(), Finding("holds", CHECK, f"the product sums over {size_text(summed)}")
        elif relation == "different" and not is_doubted(sentence.text):
            reason = f"the product sums over {size_text(summed)}, not over {size_text(said)}"
            yield *vectors.span(), Finding("wrong", CHECK, reason, right=size_text(summed))


def _size(sentence: Sentence, start: int, end: int) -> Expr | None:
    text = sentence.text[start:end]
    if text.isdecimal():
        return Integer(int(text))
    return size_of(sentence.nodes[start]) if start in sentence.nodes else None


def _summed_size(node: Node | None, scope: Scope) -> Expr | None:
    """Return the size over which a product of two matrices sums; None where their shapes do not tell it."""
    match node:
        case Fence(inside=inside, bracket="("):
            return _summed_size(inside, scope)
        case Product(factors=(first, second)):
            left, right = _shape(first, scope), _shape(second, scope)
            if left is not None and right is not None and scope.compare(left[1], right[0]).relation == "equal":
                return left[1]
    return None


def _shape(node: Node, scope: Scope) -> tuple[Expr, Expr] | None:
    turned = isinstance(node, Transpose)
    name = node.operand if isinstance(node, Transpose) else node
    shape = scope.shape(name) if isinstance(name, Name) else None
    if shape is None or len(shape) != 2:
        return None
    return (shape[1], shape[0]) if turned else (shape[0], shape[1])
