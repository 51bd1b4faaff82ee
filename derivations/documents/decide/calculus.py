r"""Statements of calculus: the core language differentiates, and the judge compares.

Definition   a derivative is read as one of the core language, of what the document says the differentiated letter is:
             `\frac{d}{dx} x^3 = 3 x^2`, `\nabla_w \|X w - y\|^2`, `f'(x)` beside `f(x) = ...`. That of a number has the
             shape of what it is taken by, that of a vector by a vector is the Jacobian matrix, either way up
Result       proved where the judge proves it under every typing, of a formula as it stands; holds with the document's
             own definitions; conditional where it is one of the two layouts of vectors; wrong where it is refuted under
             every typing. With sums that are written out or definitions of the document an edit must be proved as well:
             the weights of such a sum may add up to 1
Assumes      letters that no equation connects with what is differentiated by are constants
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from sympy import Expr, Sum, Symbol
from sympy.core.function import AppliedUndef

from derivations.documents.budget import TooCostly, budget_of
from derivations.documents.canon.edits import edits_among
from derivations.documents.canon.slips import Slip
from derivations.documents.conditions import SPECIAL
from derivations.documents.decide.identities import (
    Decided,
    decisions_of,
    has_two_logarithms,
    is_equation,
    is_refuted,
)
from derivations.documents.elaborate import Elaborated
from derivations.documents.elaborate.expanding import differentiable
from derivations.documents.judge.wording import link_text
from derivations.documents.nearest.mending import mended
from derivations.documents.proving import are_equal, proved, provisos
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Derivative, Name, Node, Product
from derivations.documents.verdicts import ALONE, Finding

__all__ = ["check_calculus"]

CHECK, RULE = "derivative", "derivative"
STEPS = 20_000  # of the search for a slip


def check_calculus(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Decide an equation in which something is differentiated."""
    if link is None or not is_equation(statement, link):
        return
    stated = statement.chain.sides[link : link + 2]
    if not any(map(_differentiates, stated)):
        return
    sides = differentiable(stated, scope)
    if sides is None or sides[0] == sides[1] or any(map(_may_go_on, sides)):
        return  # what may go on is read in two ways, of which one would be decided
    typings, found = decisions_of(sides, scope, RULE)
    if found:
        yield from _said(statement, stated, sides, typings, found, scope)


def _said(
    statement: Statement,
    stated: Sequence[Node],
    sides: Sequence[Node],
    typings: Sequence[Elaborated],
    found: Sequence[Decided],
    scope: Scope,
) -> Iterator[Finding]:
    as_it_stands = sides == stated
    levels = [each.level for each in found]
    if set(levels) == {"proved"}:
        left, right = typings[0].sides[:2]
        known = typings[0].stated(RULE)
        certain = proved(left, right, known, CHECK, "this is the derivative", RULE) if as_it_stands else None
        yield certain or Finding("holds", CHECK, "this is the derivative")
    elif where := _defined_where(typings):
        yield Finding("conditional", CHECK, "this is the derivative wherever both sides are defined", assumptions=where)
    elif "proved" in levels and {typing.turned for typing in typings} == {False, True}:
        layout = "a gradient is a row" if typings[levels.index("proved")].turned else "a gradient is a column"
        yield Finding("conditional", CHECK, "this is the derivative in one of two layouts", assumptions=(layout,))
    elif is_refuted(found) and statement.chain.condition is None and not SPECIAL.search(scope.words(statement)):
        left, right = typings[0].sides[:2]
        if _letters(right) <= _letters(left) and not has_two_logarithms(*sides):
            slip = _mended(sides, typings[0], scope)
            free = any(isinstance(part, Aggregate) for side in sides for part in side.walk())
            free = free or left.has(AppliedUndef) or right.has(AppliedUndef)
            if slip or (as_it_stands and not free):
                better = _without(slip, stated, scope)
                shown = None if better is None else link_text(stated[0], better, statement)
                told, check = (f"{slip}; ", CHECK) if slip else ("", CHECK + ALONE)
                yield Finding("wrong", check, f"this is not the derivative: {told}{found[0].reason}", shown)


def _defined_where(typings: Sequence[Elaborated]) -> tuple[str, ...]:
    """Return the conditions under which both sides are defined and equal in every typing, or none."""
    where: dict[str, None] = {}
    for typing in typings:
        left, right = typing.sides[:2]
        open_ = provisos(left, right)
        if not open_ or not are_equal(left, right, typing.stated(RULE, open_), RULE):
            return ()
        where |= dict.fromkeys(each.text for each in open_)
    return tuple(where)


def _mended(sides: Sequence[Node], typing: Elaborated, scope: Scope) -> Slip | None:
    """Return the mistake in a refuted equation, or None if none is found in time."""
    with suppress(TooCostly), budget_of(STEPS):
        _, _, slip = mended(sides, typing, scope, RULE) or (0, None, None)
        return slip
    return None


def _without(slip: Slip | None, stated: Sequence[Node], scope: Scope) -> Node | None:
    """Return the right side with a mistake corrected, if it is then the derivative under every typing, or None."""
    with suppress(TooCostly), budget_of(STEPS):
        for new, found in edits_among(stated[1], stated) if slip and not _differentiates(stated[1]) else ():
            sides = differentiable((stated[0], new), scope) if found == slip else None
            levels = [] if sides is None else [each.level for each in decisions_of(sides, scope, RULE)[1]]
            if set(levels) == {"proved"}:
                return new
    return None


def _differentiates(side: Node) -> bool:
    return any(map(_is_differentiated, side.walk()))


def _letters(side: Expr) -> set[Symbol]:
    """Return the symbols that no sum binds, including the variables of derivatives."""
    return side.atoms(Symbol) - {place for whole in side.atoms(Sum) for place in whole.bound_symbols}


def _may_go_on(side: Node) -> bool:
    """Return whether the factors after a derivative may belong to its operand: `d/dx x^2 sin x`."""
    for part in (part for part in side.walk() if isinstance(part, Product)):
        for at, factor in enumerate(part.factors):
            by = {each.key for each in factor.by if isinstance(each, Name)} if isinstance(factor, Derivative) else set()
            if by & {each.key for other in part.factors[at + 1 :] for each in other.walk() if isinstance(each, Name)}:
                return True
    return False


def _is_differentiated(part: Node) -> bool:
    match part:
        case Derivative():
            return True
        case Call(function=Name(primes=primes)):
            return primes == 1
    return False
