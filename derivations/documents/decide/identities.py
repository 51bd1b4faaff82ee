"""Equations between two formulas of the same letters: the judge decides them, under every typing.

Definition   a link is an identity where neither side is a mere name or a function that the document defines, and both
             have the same letters. The first link of a chain may be a condition: it is wrong of nothing but the
             document's own definitions, or of arrays whose shapes it declares
Result       proved where the judge proves it under every typing, holds where it needs the document's definitions; wrong
             where it is refuted under every typing, and an edit of it is proved unless it is one of numbers alone
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sympy import Add, Expr, Indexed, Pow, Sum, expand, log, preorder_traversal
from sympy.core.function import AppliedUndef

from derivations.documents.budget import spend
from derivations.documents.conditions import SPECIAL, is_condition
from derivations.documents.elaborate import Elaborated, NotElaborated, elaborated
from derivations.documents.elaborate.expanding import expanded, letters_in
from derivations.documents.judge.algebra.free_letters import may_be_complex, may_be_whole
from derivations.documents.judge.algebra.scalar_letters import in_one_order
from derivations.documents.nearest.mending import mended
from derivations.documents.proving import are_equal, proved, provisos, weighed, work_of
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Fence, Name, Node, Number, Power, Quotient, Root, Transpose
from derivations.documents.verdicts import Finding
from derivations.symbols import scalar

__all__ = [
    "Decided",
    "check_identities",
    "decided",
    "decisions_of",
    "has_two_logarithms",
    "is_equation",
    "is_refuted",
    "verdict_of",
]

CHECK = "identity"
_OF_MANY = (Indexed, Sum, AppliedUndef)  # entries that may add up to 1, and functions that may have laws of their own


def check_identities(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Decide an equation between two formulas of the same letters, once the document's definitions are put in."""
    if link is None or not is_equation(statement, link):
        return
    left, right = statement.chain.sides[link : link + 2]
    if left == right or has_two_logarithms(left, right):
        return
    if may_be_complex(left, right) or may_be_whole(left, right):
        return
    sides: tuple[Node, ...] | None = (left, right)
    own = statement.chain.sides[1:]
    if _is_named(left) or _is_named(right):
        return
    same = letters_in(left) == letters_in(right)
    cancel = letters_in(left) > letters_in(right) and not letters_in(right)
    if not same and not cancel:
        sides = expanded((left, right), scope, apart=own)
    if sides is None or not letters_in(sides[0]):
        return
    by = "" if sides == (left, right) else ", with the definitions that the document gives"
    typings, found = decisions_of(sides, scope)
    if not found:
        return
    is_refuted_once = any(each.level == "refuted" for each in found)
    if is_refuted_once and any(map(_is_equal_for_positive, typings)):
        reason = "both sides are equal for positive letters"
        yield Finding("conditional", CHECK, reason, assumptions=("the letters are positive",))
        return
    if is_refuted_once and _has_bars(left) != _has_bars(right):
        return  # which of two letters is larger, their names may say
    if any(each.level == "proved" for each in found) and _turns_numbers(sides, typings, scope):
        return
    if not by and len(found) == 1 and found[0].level == "proved":
        if _partial(left) + _partial(right) <= sum(map(_partial_in, typings[0].sides[:2])):
            yield from _certain(typings[0])
        else:  # something that may not be defined was cancelled
            where: tuple[str, ...] = ("both sides are defined",)
            yield Finding("conditional", CHECK, "both sides are equal wherever both are defined", assumptions=where)
    elif not by and not _has_a_value(left, scope) and (where := _defined_where(typings)):
        yield Finding("conditional", CHECK, "both sides are equal wherever both are defined", assumptions=where)
    elif cancel:
        return  # it may be solved for its letters
    elif statement.chain.condition is not None or SPECIAL.search(scope.words(statement)):
        return  # the equation may hold of what is meant
    elif is_refuted_once and scope.is_told(SPECIAL):
        return
    elif not by and link and is_refuted(found) and not any(s.has(*_OF_MANY) for s in typings[0].sides[:2]):
        yield Finding("wrong", CHECK, f"the sides differ: {found[0].reason}")
    elif not by and is_refuted(found) and (missing := _missing_terms(typings)):
        yield Finding(
            "wrong", CHECK, f"the left side has more terms: {missing} is missing on the right; {found[0].reason}"
        )
    elif by or link or _are_declared((left, right), scope):  # a first link of other letters may be a condition
        yield from verdict_of(found, sides, typings, scope, CHECK, "algebra", f"the other side{by}")


def _is_equal_for_positive(typing: Elaborated) -> bool:
    """Return whether the two sides have roots and are equal for positive letters: sqrt(a^2) = a."""
    left, right = typing.sides[:2]
    roots = [part for side in (left, right) for part in side.atoms(Pow) if not part.exp.is_integer]
    letters = {each for side in (left, right) for each in side.free_symbols if each.is_real and not each.is_integer}
    if not roots or not letters:
        return False
    positive = {each: scalar(each.name, positive=True) for each in letters}
    spend(2_000 + work_of(left, right))
    return are_equal(left.xreplace(positive), right.xreplace(positive))


def _are_declared(sides: Sequence[Node], scope: Scope) -> bool:
    """Return whether every letter is known to be an array, because it has a declared shape or is transposed."""
    parts = [part for side in sides for part in side.walk()]
    turned = {id(each) for part in parts if isinstance(part, Transpose) for each in part.walk()}
    arrays = {part.key for part in parts if isinstance(part, Name) and id(part) in turned}
    names = [part for part in parts if isinstance(part, Name) and part.key not in arrays]
    return all(scope.shape_candidates(name) for name in names)


def _turns_numbers(sides: Sequence[Node], typings: Sequence[Elaborated], scope: Scope) -> bool:
    """Return whether factors change order and an undeclared capital is read as a number, as in W x = x W."""
    numbers = any(
        not kind and not letter.places and letter.name.base.isupper() and not scope.shape_candidates(letter.name)
        for typing in typings
        for letter, kind in typing.kinds
    )
    return numbers and not in_one_order(*sides, scope=scope)


def _certain(typing: Elaborated) -> Iterator[Finding]:
    """Yield a finding for an equation that the judge proves as it is written."""
    reason = "both sides are equal for all values of their letters"
    left, right = typing.sides[:2]
    certain = proved(left, right, typing.stated(), CHECK, reason)
    if certain is not None:
        yield certain


def _missing_terms(typings: Sequence[Elaborated]) -> str:
    """Return the terms of a power of a sum that are missing on the other side: a^2 + b^2 beside (a + b)^2.

    Such an equation is no condition: what stands on the right was expanded from the left, and lost its mixed terms.
    """
    left, right = typings[0].sides[:2]
    if not (isinstance(left, Pow) and left.exp.is_Integer and left.exp > 1 and isinstance(left.base, Add)):
        return ""
    stated = set(Add.make_args(right))
    if stated != {Pow(each, left.exp) for each in Add.make_args(left.base)}:
        return ""
    return str(Add(*(term for term in Add.make_args(expand(left)) if term not in stated)))


def _has_a_value(side: Node, scope: Scope) -> bool:
    """Return whether the section gives a number to a letter of a side. The side may be undefined at that number."""
    names = (part for part in side.walk() if isinstance(part, Name))
    return any(scope.value(name) is not None or scope.numbers_in_reach(name.key) for name in names)


def _partial(side: Node) -> int:
    """Count the operations of a side that are not always defined: divisions, roots and logarithms of letters."""
    return sum(
        1
        for part in side.walk()
        if (isinstance(part, Quotient) and letters_in(part.denominator))
        or (isinstance(part, Power) and letters_in(part.base) - {"e"} and not _is_natural(part.exponent))
        or (isinstance(part, Root) and letters_in(part.radicand))
        or (isinstance(part, Call) and part.function.base in ("log", "ln"))
    )


def _is_natural(exponent: Node) -> bool:
    return isinstance(exponent, Number) and exponent.value >= 1 and exponent.value.denominator == 1


def _partial_in(expression: Expr) -> int:
    """Count the logarithms in an expression, and the powers whose exponent is not a positive integer."""
    return sum(
        1
        for part in preorder_traversal(expression)
        if isinstance(part, log) or (isinstance(part, Pow) and not (part.exp.is_Integer and part.exp.is_positive))
    )


def _defined_where(typings: Sequence[Elaborated]) -> tuple[str, ...]:
    """Return the conditions under which both sides are defined and equal, with all letters read as numbers, or none."""
    for typing in typings:
        if not any(kind for _, kind in typing.kinds):
            left, right = typing.sides[:2]
            open_ = provisos(left, right)
            if open_ and are_equal(left, right, typing.stated(assuming=open_)):
                return tuple(each.text for each in open_)
    return ()


class Decided(NamedTuple):
    """The level and the reason that the judge gives under one typing."""

    level: str
    reason: str


def decided(typing: Elaborated, rule: str = "algebra") -> Decided:
    """Return the judge's decision about the first two sides of an elaborated statement."""
    left, right = typing.sides[:2]
    spend(2_000 + work_of(left, right))
    return Decided(*weighed(left, right, typing.stated(rule), rule))


def is_equation(statement: Statement, link: int) -> bool:
    """Return whether a link is an equation that the author asserts, and not a condition."""
    return statement.chain.relations[link] in ("=", "≡") and not is_condition(statement)


def decisions_of(
    sides: Sequence[Node], scope: Scope, rule: str = "algebra"
) -> tuple[Sequence[Elaborated], Sequence[Decided]]:
    """Return the typings of an equation and the judge's decisions, or nothing if the typings are incomplete.

    The decisions end at the first one that is undecided or differs from the others.
    """
    try:
        typings = elaborated(sides, scope)
    except NotElaborated:
        return (), ()
    if not all(typing.complete for typing in typings):
        return (), ()
    found: list[Decided] = []
    for typing in typings:
        found.append(decided(typing, rule))
        if found[-1].level not in ("proved", "refuted") or found[-1].level != found[0].level:
            break  # nothing is said where typings do not agree
    return typings, found


def is_refuted(found: Sequence[Decided]) -> bool:
    """Return whether an equation is refuted under every typing."""
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
    """Yield a finding for an equation that uses definitions. A refuted one is wrong only if an edit corrects it."""
    if all(each.level == "proved" for each in found):
        yield Finding("holds", check, f"this equals {what}")
    elif is_refuted(found):
        slip = mended(sides, typings[0], scope, rule)
        if slip is not None:
            yield Finding("wrong", check, f"this is not {what}: {slip[2]}; {found[0].reason}")


def _has_bars(side: Node) -> bool:
    return any(isinstance(part, Fence) and part.bracket == "|" for part in side.walk())


def has_two_logarithms(*sides: Node) -> bool:
    """Return whether both log and ln occur, so that log may have another base than e."""
    words = {part.function.base for side in sides for part in side.walk() if isinstance(part, Call)}
    return {"log", "ln"} <= words


def _is_named(side: Node) -> bool:
    """Return whether an equation may define a side: a name, a power of a name, or a function that is not elementary."""
    match side:
        case Name():
            return True
        case Power(base=Name()):
            return True
        case Call(function=function):
            return function.base.lower() not in ("exp", "log", "ln", "tr", "sqrt", "sin", "cos", "tanh")
    return False
