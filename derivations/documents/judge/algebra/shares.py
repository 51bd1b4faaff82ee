r"""Sums of shares: where `a_{ij} = e^{s_{ij}} / \sum_k e^{s_{ik}}`, `\sum_j a_{ij} = 1`.

Definition   shares are parts of their own sum: the denominator is the sum of the numerator over one of its places
Result       holds where the sum over that place is said to be 1; wrong where it is said to be another number, or where
             the sum over the other place is said to be 1, or that of the diagonal, or one without the last place
Assumes      the section defines the letter once, but for a number; another sum over a part of the places is left alone
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.algebra.normalisations import is_exponential
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.scope import Scope
from derivations.documents.scope.filing import family_of
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name, Node, Number, Product, Quotient, Sum, rebuilt
from derivations.documents.verdicts import Finding

__all__ = ["check_sums_of_shares", "is_share"]

CHECK = "chain"
EQUALS = ("=", "≡")
MOST_PLACES = 2


def check_sums_of_shares(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield whether entries that were defined as shares of their sum add up to what is said."""
    if link is None or statement.chain.relations[link] not in EQUALS:
        return
    whole, total = statement.chain.sides[link], _said_at_last(statement, link)
    if not isinstance(whole, Aggregate) or whole.kind != "sum" or len(whole.index) != 1 or whole.over is not None:
        return
    entry, place = whole.body, whole.index[0]
    if not isinstance(entry, Name) or total is None:
        return
    if len(entry.subscripts) == MOST_PLACES and entry.subscripts[0] == entry.subscripts[1]:
        yield from _of_a_diagonal(statement, whole, entry, total, scope)
    elif place in entry.subscripts:
        over = _one_share(entry, scope)
        if over is not None:
            is_next = isinstance(statement.chain.sides[link + 1], Number)
            found = tuple(_of_shares(statement, whole, entry, total, *over))
            yield from (each for each in found if is_next or each.verdict == "wrong")


def _said_at_last(statement: Statement, link: int) -> Number | None:
    """Return the number to which a chain of equations comes behind a side."""
    sides, relations = statement.chain.sides[link + 1 :], statement.chain.relations[link + 1 :]
    for side, relation in zip(sides, (*relations, None), strict=True):
        if isinstance(side, Number):
            return side
        if relation not in EQUALS:
            return None
    return None


def _one_share(entry: Name, scope: Scope) -> tuple[Name, Aggregate] | None:
    """Return the place over which an entry is a share, and the sum, by the one definition that is no plain number."""
    defined = [each for each in scope.definitions(entry) if not _is_even(each)]
    return _shared(defined[0]) if len(defined) == 1 else None


def is_share(entry: Name, scope: Scope) -> bool:
    """Say whether the section defines an entry as a share of the sum of all."""
    over = _one_share(entry, scope)
    return over is not None and over[0] in entry.subscripts


def _is_even(defined: Node) -> bool:
    """Say whether a value has no entries: 1 / m, as all shares are if they are alike."""
    return not any(isinstance(part, Name) and part.subscripts for part in defined.walk())


def _of_shares(
    statement: Statement, whole: Aggregate, entry: Name, total: Number, shared: Name, below: Aggregate
) -> Iterator[Finding]:
    """Yield what is found of a sum over one of the places of entries, which are shares over `shared`."""
    place = whole.index[0]
    if not _has_all(whole, below):
        lacking = shared == place and total.value == 1 and _leaves_one_out(whole, below)
        if lacking and _is_never_none(below, entry) and not is_condition(statement):
            reason = f"{entry.key} is a share of the sum over all {place.key}, and the last share is left out"
            yield Finding("wrong", CHECK, reason, f"{formula_text(replace(whole, upper=below.upper))} = 1")
        return
    if shared == place and total.value == 1:
        yield Finding("holds", CHECK, f"{entry.key} is a share of the sum over {place.key}, and all shares are 1")
    elif shared == place and not is_condition(statement):
        yield Finding("wrong", CHECK, f"{entry.key} is a share of the sum over {place.key}: all shares are 1", "1")
    elif total.value == 1 and shared in entry.subscripts and len(entry.subscripts) <= MOST_PLACES:
        reason = f"{entry.key} is a share of the sum over {shared.key}: that is 1, and the sum over {place.key} is not"
        if not is_condition(statement):
            yield Finding("wrong", CHECK, reason, _over(whole, shared))


def _is_never_none(below: Aggregate, entry: Name) -> bool:
    """Say whether the last share is none for all entries: exponentials are positive, and a mask spares some."""
    body = bare(below.body)
    if isinstance(body, Product):
        return any(map(is_exponential, body.factors)) and below.upper not in entry.subscripts
    return is_exponential(body)


def _of_a_diagonal(
    statement: Statement, whole: Aggregate, entry: Name, total: Number, scope: Scope
) -> Iterator[Finding]:
    """Say no to a sum of entries with one index twice, where those with two are shares over one of them."""
    named = scope.document.defined_families.get(family_of(entry))
    over = _one_share(named, scope) if named is not None and len(set(named.subscripts)) == MOST_PLACES else None
    if named is None or over is None or total.value != 1 or is_condition(statement):
        return
    shared, below = over
    if shared not in named.subscripts or (whole.upper is not None and whole.upper != below.upper):
        return
    reason = f"{named.key} is a share of the sum over {shared.key}, and {entry.key} is one of the diagonal"
    yield Finding("wrong", CHECK, reason, _over(replace(whole, body=named), shared))


def _shared(defined: Node) -> tuple[Name, Aggregate] | None:
    """Return the place over which a quotient is a share of a sum, and that sum."""
    share = bare(defined)
    below = bare(share.denominator) if isinstance(share, Quotient) else None
    if not isinstance(below, Aggregate) or below.kind != "sum" or len(below.index) != 1:
        return None
    above = bare(share.numerator)
    letters = {place for part in above.walk() if isinstance(part, Name) for place in part.subscripts}
    for place in sorted((each for each in letters if isinstance(each, Name)), key=lambda each: each.key):
        if bare(_moved(below.body, below.index[0], place)) == above:
            return place, below
    return None


def _has_all(whole: Aggregate, below: Aggregate) -> bool:
    """Say whether a sum runs over all that the sum of a denominator does, as far as both say it."""
    pairs = ((whole.lower, below.lower), (whole.upper, below.upper))
    return below.over is None and all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)


def _leaves_one_out(whole: Aggregate, below: Aggregate) -> bool:
    """Say whether a sum goes one place less far than the sum of a denominator."""
    match whole.upper:
        case Sum(terms=(last, Number(value=one)), signs=(1, -1)):
            return one == 1 and last == below.upper and whole.lower == below.lower
    return False


def _over(whole: Aggregate, place: Name) -> str:
    turned = replace(whole, index=(place,), lower=None, upper=None)
    return f"{formula_text(turned)} = 1"


def _moved(node: Any, old: Name, new: Name) -> Any:
    """Return a formula with one place for another in its subscripts."""
    if isinstance(node, Name):
        return replace(node, subscripts=tuple(new if each == old else each for each in node.subscripts))
    return rebuilt(node, lambda each: _moved(each, old, new))
