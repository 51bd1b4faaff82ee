"""The document's own definitions, put in the place of the names that they define.

Definition   a name is expanded by the one formula that its section equates it with; of `q_j = W x_j` every q with a
             place is expanded, with that place
Assumes      a name that is equated with different formulas, or with one that it stands in, is left as it is
Result       `expanded(sides, scope, apart)`: sides of the same letters, or None
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from derivations.documents.budget import spend
from derivations.documents.elaborate.letters import Letters, letters_of
from derivations.documents.scope import Scope
from derivations.documents.syntax import Call, Fence, Name, Node, rebuilt

__all__ = ["definition_of", "expanded", "expanded_to", "letters_in"]

ROUNDS = 3
MOST_NODES = 300


def letters_in(side: Node) -> frozenset[str]:
    """Return the names that stand in a side, those in scripts as well, without functions."""
    functions = {id(part.function) for part in side.walk() if isinstance(part, Call)}
    return frozenset(part.key for part in side.walk() if isinstance(part, Name) and id(part) not in functions)


def expanded(sides: Sequence[Node], scope: Scope, apart: Sequence[Node] = ()) -> tuple[Node, ...] | None:
    """Return two sides in which names that stand in one alone are expanded; no definition is one of those `apart`."""
    left, right = sides
    for _ in range(ROUNDS):
        if letters_in(left) == letters_in(right):
            return left, right
        letters = letters_of((left, right))
        new = tuple(
            _expanded(one, letters_in(one) - letters_in(other), letters, scope, apart)
            for one, other in ((left, right), (right, left))
        )
        if new == (left, right) or any(sum(1 for _ in each.walk()) > MOST_NODES for each in new):
            return None
        left, right = new
    return (left, right) if letters_in(left) == letters_in(right) else None


def expanded_to(side: Node, known: frozenset[str], scope: Scope) -> Node | None:
    """Return a side in which every name that is not known is expanded; None where one is not defined."""
    for _ in range(ROUNDS):
        others = letters_in(side) - known
        if not others:
            return side
        side = _expanded(side, others, letters_of((side,)), scope, ())
    return None if letters_in(side) - known else side


def _expanded(side: Node, names: frozenset[str], letters: Letters, scope: Scope, apart: Sequence[Node]) -> Node:
    def of(node: Any) -> Any:
        spend()
        if isinstance(node, Name):
            if node.key not in names:
                return node
            found = definition_of(node, letters, scope, apart)
            return node if found is None else Fence("(", found)
        return rebuilt(node, of)

    found: Node = of(side)
    return found


def definition_of(name: Name, letters: Letters, scope: Scope, apart: Sequence[Node] = ()) -> Node | None:
    """Return the one formula that a name stands for, at its places."""
    letter, places = letters.split(name)
    found: dict[Node, None] = {}
    for defined, formula in _definitions(scope):
        other, own = letters.split(defined)
        if other.key != letter.key or len(own) != len(places) or formula in apart:
            continue
        if other.name.key in {letters.split(n)[0].name.key for n in formula.walk() if isinstance(n, Name)}:
            return None
        if own == places:
            found[formula] = None
        elif all(isinstance(each, Name) for each in own) and len(
            {each.key for each in own if isinstance(each, Name)}
        ) == len(own):
            found[
                _at(
                    formula,
                    {each.key: place for each, place in zip(own, places, strict=True) if isinstance(each, Name)},
                )
            ] = None
    return next(iter(found)) if len(found) == 1 else None


def _definitions(scope: Scope) -> Iterator[tuple[Name, Node]]:
    filed = scope.document.definitions
    for (_, section), entries in filed.by_section.items():
        if section in scope.reach.sections:
            for _, number in entries:
                said = filed.declarations[number]
                if said.name is not None and said.definition is not None:
                    yield said.name, said.definition


def _at(node: Any, put: dict[str, Node]) -> Any:
    """Return a formula with other indices."""
    if isinstance(node, Name) and node.key in put:
        return put[node.key]
    return rebuilt(node, lambda each: _at(each, put))
