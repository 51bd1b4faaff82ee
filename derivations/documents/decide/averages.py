r"""Averages: a sum that is divided by the number of its terms.

Definition   `\frac{1}{n} \sum_{i=1}^{n} f(i)` divides n terms by n
Result       wrong where a sum up to n that begins with 0 or with 2, and so has one term more or less, is divided by n
Assumes      where the index is shifted inside of the sum, as in f(t - 1), its ends may be another matter
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name, Negative, Node, Number, Product, Quotient, Sum
from derivations.documents.verdicts import Finding

__all__ = ["check_averages"]

CHECK = "average"


def check_averages(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Count the terms of a sum that is divided by its upper end."""
    if link is None or statement.chain.relations[link] not in ("=", ":=") or is_condition(statement):
        return
    found = _divided(statement.chain.sides[link + 1])
    if found is None:
        return
    count, whole = found
    lower = whole.lower.value if isinstance(whole.lower, Number) else None
    if whole.upper == count and lower in (0, 2) and not _is_shifted(whole):
        terms = f"{count.key} {'+' if lower == 0 else '-'} 1"
        yield Finding("wrong", CHECK, f"{terms} terms are added, and divided by {count.key}")


def _divided(node: Node) -> tuple[Name, Aggregate] | None:
    """Return a sum with the letter that it is divided by."""
    match node:
        case Negative(operand=inside):
            return _divided(inside)
        case Product(factors=(Quotient(numerator=Number(value=one), denominator=Name() as count), inside)) if one == 1:
            whole = inside
        case Quotient(numerator=inside, denominator=Name() as count):
            whole = inside
        case _:
            return None
    return (count, whole) if isinstance(whole, Aggregate) and whole.kind == "sum" and len(whole.index) == 1 else None


def _is_shifted(whole: Aggregate) -> bool:
    """Say whether the index is added to, or left out of the terms."""
    keys = {part.key for part in whole.body.walk() if isinstance(part, Name)}
    sums = (part for part in whole.body.walk() if isinstance(part, Sum))
    return whole.index[0].key not in keys or any(whole.index[0] in each.terms for each in sums)
