r"""Edits that may correct an equation: the edits of canonical forms, exponentials, numbers, and terms left out.

Result       `tried(side, names, indices, most)`: sides with the slip, as many as the budget pays for; first
             those with the exponential of a factor, where other parts are exponentials
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from derivations.documents.budget import current_budget, spend
from derivations.documents.canon.edits import Edit, edits
from derivations.documents.canon.places import places
from derivations.documents.canon.slips import SlipKind
from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.normalisations import is_exponential
from derivations.documents.judge.algebra.opaque_terms import opaque_letters
from derivations.documents.syntax import Aggregate, Call, Fence, Name, Node, Number, Product, Sum

__all__ = ["MOST_EDITS", "tried"]

MOST_EDITS = 6_000


def tried(side: Node, names: Sequence[Name], indices: Sequence[str], most: int = MOST_EDITS) -> Iterator[Edit]:
    """Yield the edits of a side, until half of the budget of the formula is spent.

    Each keeps the terms that algebra does not look into: what they are may make good that one is missing.
    """
    budget, terms = current_budget(), opaque_letters(side)
    is_plain = not any(map(opaque_letters, names))
    for each in islice(chain(_exponentials(side), edits(side, names, indices), _more_edits(side)), most):
        if budget.spent > budget.steps / 2:
            return
        spend(5)
        if is_plain or opaque_letters(each[0]) == terms:
            yield each


def _exponentials(side: Node) -> Iterator[Edit]:
    """Yield edits that apply exp to one factor of a product, if other parts of the side are exponentials."""
    if not any(map(is_exponential, side.walk())):
        return
    for node, placed in places(side):
        if not isinstance(node, Product):
            continue
        for at, factor in enumerate(node.factors):
            if isinstance(factor, Fence | Name | Aggregate) and not is_exponential(factor):
                raised = Call(Name("exp"), (factor,))
                factors = (*node.factors[:at], raised, *node.factors[at + 1 :])
                yield placed(replace(node, factors=factors)), SlipKind.EXPONENTIAL()


def _more_edits(side: Node) -> Iterator[Edit]:
    """Yield edits that leave out a term of a sum, or make a number ten times as large or as small."""
    for node, placed in places(side):
        if isinstance(node, Number) and node.value:
            for value in (node.value * 10, node.value / 10):
                new = Number(str(value), value)
                yield placed(new), SlipKind.NUMBER(new.text, node.text)
        if not isinstance(node, Sum) or 0 in node.signs:
            continue
        for at, (term, sign) in enumerate(zip(node.terms, node.signs, strict=True)):
            fewer = Sum(node.terms[:at] + node.terms[at + 1 :], node.signs[:at] + node.signs[at + 1 :])
            kept = fewer.terms[0] if fewer.signs == (1,) else fewer
            kind = SlipKind.NOT_ADDED if sign > 0 else SlipKind.NOT_SUBTRACTED
            yield placed(Fence("(", kept)), kind(formula_text(term))
