r"""The arrays of numbers that a section shows for its letters, up to a statement.

Definition   `Q = \begin{bmatrix} ... \end{bmatrix}` shows an array for Q, `S = Q K^\top = [...]` both a formula and an
             array for S; what was written last counts
Result       `literal_first(name)` prefers what was written in numbers, `formula_first(name)` what it was computed from
Assumes      a letter that two different arrays are shown for in reach is certain of neither, nor one that only another
             section shows
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from derivations.documents.judge.numbers.given_numbers import Given
from derivations.documents.judge.numbers.letters import letters_of
from derivations.documents.judge.numbers.printed import printed
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Fence, List, MatrixLiteral, Name, Node, Transpose

__all__ = ["ArraysShown"]

SETS = ("=", ":=", "≡", "≈", "←")


@dataclass
class ArraysShown:
    """The arrays that letters stand for at a statement; `used` are those that were asked for."""

    statement: Statement
    scope: Scope
    given: Given = field(default_factory=dict)
    used: dict[str, Node] = field(default_factory=dict)
    uncertain: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    known: dict[str, tuple[list[Node], list[Node]]] = field(default_factory=dict)

    def literal_first(self, name: Name) -> Node | None:
        """Return what a letter was written as in numbers, else the formula that defines it."""
        literals, formulas = self._said(name)
        return self._chosen(name, [*literals[:1], *formulas[:1]])

    def formula_first(self, name: Name) -> Node | None:
        """Return the formula that defines a letter, else what it was written as in numbers."""
        literals, formulas = self._said(name)
        return self._chosen(name, [*formulas[:1], *literals[:1]])

    def formula(self, name: Name) -> Node | None:
        """Return the one formula that defined a letter before."""
        formulas = self._said(name)[1]
        return formulas[0] if len(set(formulas)) == 1 else None

    def is_certain(self, source: Node) -> bool:
        """Say whether every letter that was used has one array."""
        return not self.uncertain & (self.used.keys() | {each.key for each in source.walk() if isinstance(each, Name)})

    def _chosen(self, name: Name, said: list[Node]) -> Node | None:
        if not said or letters_of(self.scope, self.given)(name) is not None:
            return None
        self.used[name.key] = said[0]
        return said[0]

    def _said(self, name: Name) -> tuple[list[Node], list[Node]]:
        """Return the arrays and the formulas of a letter, those written last first."""
        if name.key not in self.known:
            here = [*self._in_section(name)]
            said = here or [*self._elsewhere(name)]
            literals = [each for each in said if is_array_of_numbers(each)]
            formulas = [each for each in said if not is_array_of_numbers(each)]
            if len(set(literals)) > 1 or len(set(formulas)) > 1 or not here:
                self.uncertain.add(name.key)
            self.known[name.key] = literals, formulas
        return self.known[name.key]

    def _in_section(self, name: Name) -> Iterator[Node]:
        for earlier in self.scope.earlier(self.statement):
            sides = earlier.chain.sides
            if is_array_of_numbers(sides[0]):  # it may be what became of any array before it
                self.uncertain.add(name.key)
            if sides[0] == name:
                for relation, side in zip(earlier.chain.relations, sides[1:], strict=True):
                    if relation not in SETS:
                        break
                    if not any(each == name for each in side.walk()):
                        yield side

    def _elsewhere(self, name: Name) -> Iterator[Node]:
        """Yield what sections in reach define a letter as."""
        yield from (each for each in self.scope.definitions(name) if not any(part == name for part in each.walk()))


def is_array_of_numbers(node: Node) -> bool:
    """Say whether a side is a list or a matrix of numbers."""
    while isinstance(node, Fence | Transpose):
        node = node.inside if isinstance(node, Fence) else node.operand
    match node:
        case MatrixLiteral(rows=rows):
            return any(printed(entry) is not None for row in rows for entry in row)
        case List(items=items, bracket=bracket) if bracket != "{":
            return all(printed(entry) is not None or isinstance(entry, List) for entry in items)
    return False
