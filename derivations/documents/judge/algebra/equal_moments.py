r"""Means and variances that are equal whatever the moments: `Var(x) = E[x^2] - E[x]^2`.

Definition   letters inside of means and variances are independent random variables, as `moment_numbers` draws their
             moments; letters that stand outside as well are numbers
Result       holds        one random variable, equal in every draw of its moments
             conditional  several, for which independence is assumed; or variables of mean 0, where the words around
                          say so
             nothing      where they differ in a draw, where a side is no polynomial in variables, or where a moment of
                          one letter is set to a number
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from derivations.documents.judge.algebra.dot_products import in_components, vectors_of
from derivations.documents.judge.algebra.moment_numbers import Reading, differ, values
from derivations.documents.judge.algebra.moments import LENGTH, UNIT_VARIANCE, VARIANCE_WORD
from derivations.documents.judge.algebra.scalar_letters import is_moment, is_size
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Name, Node, Number, rebuilt
from derivations.documents.verdicts import Finding

__all__ = ["equal_moments", "is_centred"]

CHECK = "chain"
MOST_NODES = 100
MEAN_WORD = r"(?:mean|expectation|expected value|均值|平均值|平均値|平均|期望值|期望|期待値)"
BETWEEN = r"\W*(?:of|is|equal to|都是|都為|都为|為|为|是|が|は)?\W*"
ZERO_MEAN = re.compile(
    rf"zero[- ]mean|mean[- ]zero|cent(?:re|er)ed|零均值|{MEAN_WORD}{BETWEEN}(?:zero|0(?!\.?\d)|零|ゼロ)"
)
EQUAL = "equal in every draw of the means and variances"
ONE = Number("1", Fraction(1))


def equal_moments(left: Node, right: Node, statement: Statement, scope: Scope) -> Iterator[Finding]:
    """Yield that two sides are equal for all moments of their random variables, or for those of mean 0."""
    left, right = _bounded(left), _bounded(right)
    left, right = _written_out(left, right), _written_out(right, left)
    sides = (left, right)
    if sum(1 for side in sides for _ in side.walk()) > MOST_NODES or bare(left) == bare(right) or _is_set(left, right):
        return
    inside = {name.base: None for side in sides for part in side.walk() if is_moment(part) for name in _letters(part)}
    outside = {name.key for side in sides for name in _outside(side)}
    variables = [base for base in inside if len(base) == 1 and base.isascii() and base not in outside]
    if not variables:
        return
    fixed = frozenset(outside)
    independent = _independence(variables, *sides)
    if differ(left, right, Reading(twins=False, fixed=fixed)) is False:
        yield Finding("conditional" if independent else "holds", CHECK, EQUAL, assumptions=independent)
    elif is_centred(statement, scope):
        spread, of_spread = _spread(right, statement, scope)
        given = (*independent, f"the mean of {' and '.join(variables)} is 0")
        centred = Reading(centred=True, twins=False, fixed=fixed)
        if _vanishes(left, right, centred):
            return
        if differ(left, right, centred) is False:
            yield Finding("conditional", CHECK, EQUAL, assumptions=given)
        elif spread and differ(left, right, replace(centred, spread=spread)) is False:
            yield Finding("conditional", CHECK, EQUAL, assumptions=(*given, of_spread))


def is_centred(statement: Statement, scope: Scope) -> bool:
    """Say whether the words of the section say of something that its mean is 0."""
    return bool(ZERO_MEAN.search(scope.section_words(statement).lower()))


def _vanishes(left: Node, right: Node, reading: Reading) -> bool:
    """Say whether both sides are 0 as their means are, and neither says so: any other means would do as well."""
    zero = not any(map(any, values(left, right, reading) or ()))
    return zero and not any(isinstance(bare(side), Number) for side in (left, right))


def _spread(right: Node, statement: Statement, scope: Scope) -> tuple[Literal["", "1", "sigma"], str]:
    """Return the standard deviation that the section gives to components, and how to say so."""
    words = scope.section_words(statement).lower()
    if UNIT_VARIANCE.search(words):
        return "1", "the variance is 1"
    if any(isinstance(part, Name) and part.key == "sigma" for part in right.walk()) and re.search(VARIANCE_WORD, words):
        return "sigma", "the variance is sigma^2"
    return "", ""


def _bounded(node: Any) -> Any:
    """Return a formula whose sums without bounds go over all components."""
    inner = rebuilt(node, _bounded)
    if isinstance(inner, Aggregate) and inner.kind == "sum" and not (inner.lower or inner.upper or inner.over):
        return replace(inner, lower=ONE, upper=LENGTH)
    return inner


def _written_out(side: Node, other: Node) -> Node:
    """Return a side with the dot product of two vectors written as a sum, where the other side has one to a size."""
    sums = [part for part in other.walk() if isinstance(part, Aggregate)]
    ends = {each.upper for each in sums if each.kind == "sum" and isinstance(each.upper, Name)}
    vectors = [each for part in side.walk() for each in vectors_of(part) or ()]
    if len(ends) != 1 or not vectors or any(each.subscripts for each in vectors):
        return side
    written: Node = in_components(side, *ends)
    return written


def _is_set(left: Node, right: Node) -> bool:
    """Say whether a moment of a letter is set to a number, or a letter stands for a moment."""
    plain = [bare(side) for side in (left, right)]
    if any(isinstance(side, Name) for side in plain):
        return True
    single = any(is_moment(side) and len({*map(_base, _letters(side))}) == 1 for side in plain)
    return single and any(isinstance(side, Number) for side in plain)


def _independence(variables: list[str], *sides: Node) -> tuple[str, ...]:
    """Return what is assumed of several letters, or of several entries of one."""
    if len(variables) > 1:
        return (f"{' and '.join(variables)} are independent",)
    parts = [part for side in sides for part in side.walk()]
    entries = {part for part in parts if isinstance(part, Name) and part.base in variables}
    several = len(entries) > 1 or any(isinstance(part, Aggregate) for part in parts)
    return (f"the entries of {variables[0]} are independent",) if several else ()


def _base(name: Name) -> str:
    return name.base


def _letters(node: Node) -> Iterator[Name]:
    """Yield the letters of the argument of a moment, without sizes, subscripts and functions."""
    pending = [*node.arguments] if isinstance(node, Call) else []
    while pending:
        part = pending.pop()
        if isinstance(part, Name):
            yield from () if is_size(part) else (part,)
        else:
            pending.extend(part.arguments if isinstance(part, Call) else part.children)


def _outside(node: Node) -> Iterator[Name]:
    """Yield the letters that stand outside of means and variances."""
    pending = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, Name):
            yield part
        elif not is_moment(part):
            pending.extend(part.children)
