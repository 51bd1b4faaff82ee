r"""Chains of scalars, link by link, decided by the judge of equality.

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

from collections.abc import Iterator

from sympy import Expr

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.algebra.dot_products import check_bounds, with_sums
from derivations.documents.judge.algebra.equal_moments import equal_moments, is_centred
from derivations.documents.judge.algebra.free_letters import free_letters, letters_of
from derivations.documents.judge.algebra.impossible_sizes import is_impossible
from derivations.documents.judge.algebra.mixed_widths import mixed_width
from derivations.documents.judge.algebra.moment_slips import moment_slip
from derivations.documents.judge.algebra.moments import check_moments, says_unit_variance, shown
from derivations.documents.judge.algebra.near_identities import mended, slip_between
from derivations.documents.judge.algebra.normalisations import is_normalisation
from derivations.documents.judge.algebra.proving import Sides, are_equal, decided
from derivations.documents.judge.algebra.scalar_letters import in_one_alphabet, is_moment, is_of_a_group
from derivations.documents.judge.algebra.scalar_links import CHECK, by_algebra, is_rounded, ratio_of
from derivations.documents.judge.algebra.scalars import in_one_order, scalar
from derivations.documents.judge.algebra.strayed_sides import strayed
from derivations.documents.judge.algebra.told_moments import with_told
from derivations.documents.judge.algebra.told_readings import told_slip
from derivations.documents.judge.numbers.letters import ambiguous, bare, put
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name, Node, Number, Product
from derivations.documents.verdicts import Finding
from derivations.language.arrays.scalars import Expectation, Variance

__all__ = ["check_chains"]


def check_chains(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what is found of a link between two scalars, or of one that follows from a definition."""
    if link is None or statement.chain.relations[link] not in ("=", "≡"):
        return
    left, right = statement.chain.sides[link : link + 2]
    if is_of_a_group(left, right, statement, scope) or _is_step(left, right):
        return
    stray = strayed(statement, link, scope)
    if stray is not None:
        reason = f"a side differs from the others of the chain, and is equal to them if mended: {stray.slip}"
        yield Finding("wrong", CHECK, reason, right=formula_text(stray.side))
        return
    replaced = tuple(_by_definition(statement, left, right, scope))
    if replaced:
        yield from replaced
        return
    yield from check_bounds(left, right, scope)
    left, right = with_sums(left, right, scope=scope)
    if isinstance(left, Name) or (isinstance(right, Name) and link == 0 and not _occurs(right, left)):
        return  # a letter that is defined
    both = all(map(_has_moment, (left, right))) and not is_condition(statement)
    both = both and not any(map(_has_a_zero, (left, right)))  # in which a moment was put that is known to be 0
    slip = moment_slip(left, right, *_others(statement, link), centred=is_centred(statement, scope)) if both else None
    if slip is not None:
        yield Finding(
            "wrong", CHECK, f"the two sides differ, and are equal if mended: {slip[1]}", right=formula_text(slip[0])
        )
        return
    told_of = told_slip(statement, left, right, scope) if _has_moment(left) or _has_moment(right) else None
    if told_of is not None:
        reason = f"with {', '.join(told_of.told)} the two sides differ, and are equal if mended: {told_of.slip}"
        yield Finding("wrong", CHECK, reason, right=formula_text(told_of.side))
        return
    told = with_told(statement, left, right, scope) if _has_moment(left) or _has_moment(right) else None
    said = tuple(_with_moments(statement, *told, scope)) if told is not None else ()
    if said:
        yield from said
        return
    both_sides = Sides(left, right, scope, statement.text(statement.chain.start, statement.chain.end))
    in_order = in_one_order(left, right, scope=scope)
    first, second = (scalar(side, scope) if in_order else None for side in (left, right))
    if first is None or second is None:
        yield from _of_moments(left, right, statement, scope) or _mended(statement, left, right, scope)
        return
    if first.has(Variance, Expectation) or second.has(Variance, Expectation):
        sides = in_one_alphabet(first, second)
        found = tuple(check_moments(*sides, unit=says_unit_variance(statement, scope)))
        yield from found or _of_moments(left, right, statement, scope)
    elif not (first.free_symbols or second.free_symbols):  # other numbers are a matter of arithmetic
        if any(True for side in (left, right) for _ in letters_of(side)):
            if first == second and not _has_idle_index(left, right):
                yield decided(both_sides, "equal by algebra, whatever the letters are")
        elif first.is_Rational is not True and are_equal(first, second):
            yield decided(both_sides, "both sides are one number by algebra")
    elif first.free_symbols and second.free_symbols:
        found = tuple(by_algebra(both_sides, first, second, goes_on=link > 0))
        mixed = mixed_width(left, right, scope) if _may_mix(statement, found) else None
        if mixed is not None:
            yield Finding("wrong", CHECK, f"a width stands for another: {mixed[1]}", right=formula_text(mixed[0]))
            return
        if any(each.verdict == "wrong" for each in found) and is_rounded(left, right, ratio_of(first, second)):
            reason = "the two sides are equal within the digits printed"
            yield Finding("conditional", CHECK, reason, assumptions=("the printed numbers were rounded",))
            return
        if found:
            yield from (each for each in found if each.verdict != "wrong" or not ambiguous(left, right))
        else:
            yield from tuple(_mended(statement, left, right, scope)) or _of_sizes(first, second, statement)
    elif are_equal(first, second) or ratio_of(first, second) == 1:
        if not _has_idle_index(left, right):
            yield decided(both_sides, "equal by algebra, whatever the letters are")
    else:
        vanishes = not any(isinstance(bare(side), Number) for side in (left, right))  # by a slip
        found = tuple(_mended(statement, left, right, scope)) if vanishes or is_normalisation(left, right) else ()
        yield from found or _of_sizes(first, second, statement)


def _with_moments(
    statement: Statement, left: Node, right: Node, told: tuple[str, ...], scope: Scope
) -> Iterator[Finding]:
    """Compare two sides of the same letters whose moments are what the section says."""
    first, second = scalar(left, scope), scalar(right, scope)
    if first is not None and second is not None and are_equal(first, second):
        sides = Sides(left, right, scope, statement.text(statement.chain.start, statement.chain.end))
        yield decided(sides, f"equal by algebra with {', '.join(told)}", assumptions=told)
    elif {name.base for name in free_letters(left)} == {name.base for name in free_letters(right)}:
        yield from _mended(statement, left, right, scope)


def _may_mix(statement: Statement, found: tuple[Finding, ...]) -> bool:
    """Say whether an equation, and not one in a longer chain, holds with the usual sizes at the most."""
    alone = len(statement.chain.sides) == 2 and not is_condition(statement)
    return alone and statement.chain.condition is None and all(each.verdict == "conditional" for each in found)


def _others(statement: Statement, link: int) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Return the parts of a chain before the two sides of a link, and those behind them."""
    sides, condition = statement.chain.sides, statement.chain.condition
    return sides[:link], (*sides[link + 2 :], *((condition,) if condition is not None else ()))


def _is_step(left: Node, right: Node) -> bool:
    r"""Say whether a letter is set to itself times a number, `lr = lr \times 0.1`, as a program does."""
    own = left.factors if isinstance(left, Product) and not any(left.operators) else (left,)
    rest = [each for each in right.factors if each not in own] if isinstance(right, Product) else []
    return all(isinstance(each, Name) for each in own) and len(rest) == 1 and isinstance(rest[0], Number)


def _has_a_zero(side: Node) -> bool:
    products = (part for part in side.walk() if isinstance(part, Product))
    zeros = (each for product in products for each in map(bare, product.factors) if isinstance(each, Number))
    return any(each.value == 0 for each in zeros)


def _has_moment(side: Node) -> bool:
    return any(map(is_moment, side.walk()))


def _of_moments(left: Node, right: Node, statement: Statement, scope: Scope) -> tuple[Finding, ...]:
    """Return whether two sides are equal for all means and variances; nothing of a condition."""
    may_be = (_has_moment(left) or _has_moment(right)) and not is_condition(statement)
    return tuple(equal_moments(left, right, statement, scope)) if may_be else ()


def _has_idle_index(*sides: Node) -> bool:
    r"""Say whether the terms of a sum lack its index: `\sum_k e^{x_j}` is equal to something, and hardly meant."""
    sums = (part for side in sides for part in side.walk() if isinstance(part, Aggregate))
    return any(not _occurs(index, part.body) for part in sums for index in part.index)


def _occurs(name: Name, node: Node) -> bool:
    return any(isinstance(part, Name) and part.key == name.key for part in node.walk())


# --- by definition ---


def _by_definition(statement: Statement, left: Node, right: Node, scope: Scope) -> Iterator[Finding]:
    """Compare one side with the other where a letter is replaced by what defined it."""
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
    """Yield a letter of one side that the other lacks, the side with the letter replaced, and the other."""
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


def _of_sizes(first: Expr, second: Expr, statement: Statement) -> Iterator[Finding]:
    """Say no to an equation between sizes that none satisfy."""
    if statement.passage.syntax != "code" and not is_condition(statement) and is_impossible(first, second):
        yield Finding("wrong", CHECK, "the two sides differ for all sizes", right=shown(first))


def _mended(statement: Statement, left: Node, right: Node, scope: Scope) -> Iterator[Finding]:
    """Tell what makes an identity of an equation that is one but for a slip."""
    found = mended(statement, left, right, scope) if not ambiguous(left, right) else None
    if found is not None:
        reason = f"the two sides differ, and are equal by algebra if mended: {found.slip}"
        yield Finding("wrong", CHECK, reason, right=formula_text(found.side))
