"""Equations between two formulas of the same letters: the judge decides them, under every typing.

Definition   a link is an identity where neither side is a mere name or a function that the document defines, and both
             have the same letters. The first link of a chain may be a condition: it is wrong of nothing but the
             document's own definitions
Result       proved where the judge proves it under every typing, holds where it needs the document's definitions; wrong
             where it is refuted under every typing, and an edit of it is proved unless it is one of numbers alone
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sympy import Indexed, Sum

from derivations.documents.budget import spend
from derivations.documents.elaborate import Elaborated, NotElaborated, elaborated
from derivations.documents.elaborate.expanding import expanded, letters_in
from derivations.documents.judge.algebra.conditions import SPECIAL, is_condition
from derivations.documents.judge.algebra.proving import proved, weighed
from derivations.documents.nearest.mending import mended
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node, Power, Product
from derivations.documents.verdicts import Finding

__all__ = ["Decided", "check_identities", "decided", "verdict_of"]

CHECK = "identity"


def check_identities(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Decide an equation between two formulas of the same letters, once the document's definitions are put in."""
    if link is None or statement.chain.relations[link] not in ("=", "≡") or is_condition(statement):
        return
    left, right = statement.chain.sides[link : link + 2]
    if left == right or _has_two_logarithms(left, right) or _may_be_complex(left, right):
        return
    sides: tuple[Node, ...] | None = (left, right)
    own = statement.chain.sides[1:]
    if _is_named(left) or _is_named(right):
        return
    if letters_in(left) != letters_in(right):
        sides = expanded((left, right), scope, apart=own)
    if sides is None or not letters_in(sides[0]):
        return
    by = "" if sides == (left, right) else ", with the definitions that the document gives"
    try:
        typings = elaborated(sides, scope)
    except NotElaborated:
        return
    if not all(typing.complete for typing in typings):
        return
    found = [decided(typing) for typing in typings]
    if not by and len(typings) == 1 and found[0].level == "proved":
        left, right = typings[0].sides[:2]
        certain = proved(
            left, right, typings[0].stated(), CHECK, "both sides are equal for all values of their letters"
        )
        if certain is not None:
            yield certain
    elif statement.chain.condition is not None or SPECIAL.search(scope.words(statement)):
        return  # the equation may hold of what is meant
    elif not by and link == 0:
        return  # it may be a condition
    elif not by and is_refuted(found) and not typings[0].sides[0].has(Indexed, Sum):
        yield Finding("wrong", CHECK, f"the sides differ: {found[0].reason}")
    else:
        yield from verdict_of(found, sides, typings, scope, CHECK, "algebra", f"the other side{by}")


class Decided(NamedTuple):
    """What the judge says under one typing."""

    level: str
    reason: str


def decided(typing: Elaborated, rule: str = "algebra") -> Decided:
    """Return what the judge says of the first two sides of an elaborated statement."""
    spend(2_000)
    left, right = typing.sides[:2]
    return Decided(*weighed(left, right, typing.stated(rule), rule))


def is_refuted(found: Sequence[Decided]) -> bool:
    """Say whether an equation is refuted under every typing."""
    return all(each.level == "refuted" for each in found)


def verdict_of(
    found: Sequence[Decided],
    sides: Sequence[Node],
    typings: Sequence[Elaborated],
    scope: Scope,
    check: str,
    rule: str,
    what: str,
) -> Iterator[Finding]:
    """Yield what is said of an equation that rests on the document's definitions: wrong only with a second witness."""
    if all(each.level == "proved" for each in found):
        yield Finding("holds", check, f"this equals {what}")
    elif is_refuted(found):
        slip = mended(sides, typings[0], scope, rule)
        if slip is not None:
            yield Finding("wrong", check, f"this is not {what}: {slip[2]}; {found[0].reason}")


def _may_be_complex(*sides: Node) -> bool:
    """Say whether i or j stands as a number, which may be the imaginary unit."""
    return any(
        isinstance(factor, Name) and factor.key in ("i", "j")
        for side in sides
        for part in side.walk()
        if isinstance(part, Product)
        for factor in part.factors
    )


def _has_two_logarithms(*sides: Node) -> bool:
    """Say whether two logarithms are written, so that one of them has another base than e."""
    words = {part.function.base for side in sides for part in side.walk() if isinstance(part, Call)}
    return {"log", "ln"} <= words


def _is_named(side: Node) -> bool:
    """Say whether a side is a name, or a name at a place, a power or a call, which an equation may define."""
    match side:
        case Name():
            return True
        case Power(base=Name()):
            return True
        case Call(function=function):
            return function.base.lower() not in ("exp", "log", "ln", "tr", "sqrt", "sin", "cos", "tanh")
    return False
