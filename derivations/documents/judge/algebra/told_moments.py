r"""Moments that the section states, put where they stand: `\sum_k E[x_k^2] = n v` where `E[x_i^2] = v` is said.

Definition   a moment is told by an equation of a mean or a variance with a letter, a number, or a product of such; its
             index stands for any other one
Result       `with_told(statement, left, right, scope)`: the two sides without means and variances, and the equations
             that were used; None where one is not told, or told to be two things, or nothing is left to put
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.free_letters import PLACE, indices_below
from derivations.documents.judge.algebra.scalar_letters import is_moment
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node, Number, Power, Product, rebuilt

__all__ = ["statements_near", "with_told"]

FARTHEST = 40  # statements between a moment and what is said of it


class _NotTold(Exception):
    """A moment of which the section says nothing, or two things."""


def with_told(statement: Statement, left: Node, right: Node, scope: Scope) -> tuple[Node, Node, tuple[str, ...]] | None:
    """Return both sides with their moments replaced, and what the section says of these."""
    if (is_moment(left) and _is_plain(right)) or (is_moment(right) and _is_plain(left)):
        return None  # this tells one
    told: dict[Node, set[Node]] = {}
    for moment, value in _told(statement, scope):
        told.setdefault(moment, set()).add(value)
    used: dict[str, None] = {}
    try:
        sides = [_replaced(side, told, used) for side in (left, right)] if told else []
    except _NotTold:
        return None
    return (sides[0], sides[1], tuple(used)) if used else None


def _told(statement: Statement, scope: Scope) -> Iterator[tuple[Node, Node]]:
    """Yield the moments of the section and what they are, indices taken off."""
    for other in statements_near(statement, scope):
        moment, *values = other.chain.sides
        if other.chain.relations == ("=",) and is_moment(moment) and _is_plain(values[0]):
            pattern = _pattern(moment)
            if pattern is not None and not indices_below(values[0]):
                yield pattern, bare(values[0])


def statements_near(statement: Statement, scope: Scope) -> Iterator[Statement]:
    """Yield the statements of the section around one, so far as they are near."""
    document = scope.document
    for other in document.around(statement, FARTHEST, FARTHEST):
        if document.sections.of_block[document.blocks.get(id(other.passage), 0)] == scope.section:
            yield other


def _replaced(node: Any, told: dict[Node, set[Node]], used: dict[str, None]) -> Any:
    if isinstance(node, Node) and is_moment(node):
        values = told.get(_pattern(node) or node, set())
        if len(values) != 1:
            raise _NotTold
        (value,) = values
        used[f"{formula_text(node)} = {formula_text(value)}"] = None
        return value
    return rebuilt(node, lambda each: _replaced(each, told, used))


def _is_plain(node: Node) -> bool:
    """Say whether a value is a letter, a number, or a product of powers of such."""
    node = bare(node)
    if isinstance(node, Power):
        return isinstance(node.base, Name) and isinstance(node.exponent, Number)
    return isinstance(node, Name | Number) or (isinstance(node, Product) and all(map(_is_plain, node.factors)))


def _pattern(moment: Node) -> Node | None:
    """Return a moment without its one index; None where there are more, which may be the same or not."""
    found = indices_below(moment)
    return _without(bare(moment), found) if len(found) < 2 else None


def _without(node: Any, indices: set[Name]) -> Any:
    if isinstance(node, Name):
        return replace(node, subscripts=tuple(PLACE if each in indices else each for each in node.subscripts))
    return rebuilt(node, lambda each: _without(each, indices))
