r"""Chains of equations between scalars, decided link by link by the judge of equality.

Definition   a link `a = b` in a chain says that two expressions are equal for all values of their letters
Result       proved       by algebra: the judge proves the two sides equal as they stand
             holds        one side is the other with a letter replaced by what defined it
             conditional  where both sides are defined, with the conditions that are open; with sizes related as is
                          usual (d_k = d_model / h, d_ff = 4 d_model), or as expectation and
                          variance of a product of independent components: the assumptions are named
             wrong        refuted by a counterexample, where no values could be meant for which it holds: the two sides
                          are in a constant ratio, or the link goes on with a chain in the same letters, or one slip
                          makes an equation of what is an identity without it, or a side strays from others that agree
             nothing      elsewhere: an equation may be a definition, a setting or a condition
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from derivations.documents.budget import TooCostly, budget_of
from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.dot_products import with_sums
from derivations.documents.judge.algebra.free_letters import (
    has_differentials,
    letters_of,
    may_be_complex,
    may_be_whole,
)
from derivations.documents.judge.algebra.moments import check_moments, says_unit_variance
from derivations.documents.judge.algebra.near_identities import mended, slip_between
from derivations.documents.judge.algebra.normalisations import is_normalisation
from derivations.documents.judge.algebra.opaque_terms import with_letters
from derivations.documents.judge.algebra.proving import Sides, decided
from derivations.documents.judge.algebra.scalar_letters import in_one_alphabet, is_of_a_group
from derivations.documents.judge.algebra.scalar_links import CHECK, by_algebra, is_rounded, ratio_of
from derivations.documents.judge.algebra.scalars import in_one_order, scalar
from derivations.documents.judge.algebra.strayed_sides import strayed
from derivations.documents.judge.numbers.letters import ambiguous, bare, put
from derivations.documents.proving import are_equal
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name, Node, Number, Power, Product, rebuilt
from derivations.documents.verdicts import ALONE, Finding, Unproved
from derivations.language.arrays.scalars import Expectation, Variance

__all__ = ["check_chains"]

STEPS = 50_000  # of a link with letters in place of its terms
Shown = Callable[[Node], str]


def check_chains(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield findings about a link between two scalars, or about one that follows from a definition."""
    if link is None or statement.chain.relations[link] not in ("=", "≡"):
        return
    sides = statement.chain.sides[link : link + 2]
    for finding in tuple(_compared(statement, link, scope)) or _with_letters(statement, link, scope):
        if finding.verdict != "wrong" or not any(may_be(*sides) for may_be in OTHERWISE):
            yield finding


def _with_letters(statement: Statement, link: int, scope: Scope) -> Iterator[Finding]:
    """Yield findings about two sides with letters in place of the terms that algebra does not look into."""
    lettered = with_letters(statement.chain)
    if lettered is None:
        return

    def shown(side: Node) -> str:
        return formula_text(lettered.restored(side))

    found: tuple[Finding, ...] = ()
    with suppress(TooCostly), budget_of(STEPS):  # what this costs takes nothing from the other links
        found = tuple(_compared(replace(statement, chain=lettered.chain), link, scope, shown))
    for each in found:
        if each.verdict == "wrong":
            yield each
        elif each.verdict != "unknown":
            assumptions = (*each.assumptions, *lettered.assumed)
            said: Unproved = "conditional" if assumptions else "holds"
            yield Finding(said, CHECK, f"{each.reason}, whatever its terms are", assumptions=assumptions)


def _compared(statement: Statement, link: int, scope: Scope, shown: Shown = formula_text) -> Iterator[Finding]:
    """Yield findings about two sides whose letters are taken for numbers. `shown` prints a corrected side."""
    left, right = statement.chain.sides[link : link + 2]
    if is_of_a_group(left, right, statement, scope) or _is_step(left, right):
        return
    stray = strayed(statement, link, scope)
    if stray is not None:
        reason = f"a side differs from the others of the chain, and is equal to them if mended: {stray.slip}"
        yield Finding("wrong", CHECK, reason, right=shown(stray.side))
        return
    replaced = tuple(_by_definition(statement, left, right, scope))
    if replaced:
        yield from replaced
        return
    left, right = with_sums(left, right, scope)
    if isinstance(left, Name) or (isinstance(right, Name) and link == 0 and not _occurs(right, left)):
        return  # a letter that is defined
    both_sides = Sides(left, right, scope, statement.text(statement.chain.start, statement.chain.end))
    in_order = in_one_order(left, right, scope=scope)
    first, second = (scalar(side, scope) if in_order else None for side in (left, right))
    if first is None or second is None:
        yield from _mended(statement, left, right, scope, shown)
        return
    if first.has(Variance, Expectation) or second.has(Variance, Expectation):
        sides = in_one_alphabet(first, second)
        yield from check_moments(*sides, unit=says_unit_variance(statement, scope))
    elif not (first.free_symbols or second.free_symbols):  # other numbers are a matter of arithmetic
        if any(True for side in (left, right) for _ in letters_of(side)):
            if first == second and not _has_idle_index(left, right):
                yield decided(both_sides, "equal by algebra, whatever the letters are")
        elif first.is_Rational is not True and are_equal(first, second):
            yield decided(both_sides, "both sides are one number by algebra")
    elif first.free_symbols and second.free_symbols:
        found = tuple(by_algebra(both_sides, first, second, goes_on=link > 0 and shown is formula_text))
        if any(each.verdict == "wrong" for each in found) and is_rounded(left, right, ratio_of(first, second)):
            reason = "the two sides are equal within the digits printed"
            yield Finding("conditional", CHECK, reason, assumptions=("the printed numbers were rounded",))
            return
        if found:
            yield from (each for each in found if each.verdict != "wrong" or not ambiguous(left, right))
        else:
            yield from _mended(statement, left, right, scope, shown)
    elif are_equal(first, second) or ratio_of(first, second) == 1:
        if not _has_idle_index(left, right):
            yield decided(both_sides, "equal by algebra, whatever the letters are")
    else:
        vanishes = not any(isinstance(bare(side), Number) for side in (left, right))  # by a slip
        if vanishes or is_normalisation(left, right):
            yield from _mended(statement, left, right, scope, shown)


def _is_step(left: Node, right: Node) -> bool:
    r"""Return whether a letter is set to itself times a number, `lr = lr \times 0.1`, as a program does."""
    own = left.factors if isinstance(left, Product) and not any(left.operators) else (left,)
    rest = [each for each in right.factors if each not in own] if isinstance(right, Product) else []
    return all(isinstance(each, Name) for each in own) and len(rest) == 1 and isinstance(rest[0], Number)


def _are_steps(left: Node, right: Node) -> bool:
    """Return whether two sides are alike but for the steps that letters are at: x^{k+1} = x^k, f^n(x) = f^{n+1}(x)."""
    return any(isinstance(part, Power) for part in left.walk()) and _without_steps(left) == _without_steps(right)


def _without_steps(node: Any) -> Any:
    match node:
        case Power(base=Name(base=letter) as base, exponent=exponent) if letter != "e" and not isinstance(
            exponent, Number
        ):
            return base
    return rebuilt(node, _without_steps)


def _have_an_identity(*sides: Node) -> bool:
    """Return whether a letter is I, which may be the identity: I I = I, (I + A) B = B + A B."""
    return any(name.key == "I" for side in sides for name in letters_of(side))


def _has_idle_index(*sides: Node) -> bool:
    r"""Return whether the terms of a sum lack its index, as in `\sum_k e^{x_j}`, which is hardly meant."""
    sums = (part for side in sides for part in side.walk() if isinstance(part, Aggregate))
    return any(not _occurs(index, part.body) for part in sums for index in part.index)


def _occurs(name: Name, node: Node) -> bool:
    return any(isinstance(part, Name) and part.key == name.key for part in node.walk())


OTHERWISE: tuple[Callable[..., bool], ...] = (  # what makes good that two sides differ
    lambda *sides: any(map(has_differentials, sides)),
    may_be_complex,
    may_be_whole,
    _are_steps,
    _have_an_identity,
)


# --- by definition ---


def _by_definition(statement: Statement, left: Node, right: Node, scope: Scope) -> Iterator[Finding]:
    """Compare both sides after a letter of one side is replaced by its definition."""
    unfolded = list(_unfolded(left, right, scope))
    for key, whole, other in unfolded:
        if bare(whole) == bare(other):
            yield Finding("holds", CHECK, f"both sides are one formula with {key} replaced by what defines it")
            return
    if isinstance(left, Name) or isinstance(right, Name) or statement.passage.syntax == "code":
        return  # a letter is set, perhaps anew
    for key, whole, other in unfolded:
        slip = slip_between(statement, whole, other) if len(scope.definitions(Name(key))) < 2 else None
        if slip is not None:
            reason = f"{key} is defined otherwise in this section: {slip}"
            yield Finding("wrong", CHECK, reason, right=formula_text(whole))
            return


def _unfolded(left: Node, right: Node, scope: Scope) -> Iterator[tuple[str, Node, Node]]:
    """Yield each defined letter that only one side has, that side with the letter replaced, and the other side."""
    for whole, other in ((left, right), (right, left)):
        names = {part.key: part for part in whole.walk() if isinstance(part, Name)}
        present = {part.key for part in other.walk() if isinstance(part, Name)}
        if isinstance(whole, Name):
            continue  # this is the definition itself, or another one of it
        for key, name in names.items():
            found = scope.definition(name) if key not in present else None
            if found is not None:
                yield key, put(whole, {key: found}), other


# --- by a slip ---


def _mended(statement: Statement, left: Node, right: Node, scope: Scope, shown: Shown) -> Iterator[Finding]:
    """Yield a finding for an equation that one edit turns into an identity."""
    found = mended(statement, left, right, scope) if not ambiguous(left, right) else None
    if found is not None:
        reason = f"the two sides differ, and are equal by algebra if mended: {found.slip}"
        yield Finding("wrong", CHECK + ALONE if found.drops else CHECK, reason, right=shown(found.side))
