"""Translation of a formula into an array expression, given the meaning of every letter.

Definition   letters mean arrays, scalars or indices (`meaning`); products, sums, fractions, functions and sums over an
             index are read as what they are in the language, with its shapes; one letter may mean an expression, such
             as the transpose of an array
Raises       NotRead where the formula has something that is no array and no number, `ShapeError` where shapes do not
             fit
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sympy import E, Expr, KroneckerDelta, Rational, Symbol, pi

from derivations.documents import syntax
from derivations.documents.budget import spend
from derivations.documents.judge.arrays.array_functions import call
from derivations.documents.judge.arrays.array_operations import OPERATIONS
from derivations.documents.judge.arrays.array_reading import NotRead, Value, function_word, indices_of
from derivations.documents.judge.arrays.array_sums import aggregate
from derivations.documents.syntax import Call, Name, Node, Number
from derivations.language.arrays.expression import Array
from derivations.language.arrays.shapes import ShapeError

__all__ = ["NotRead", "Reader", "Value", "function_word", "indices_of"]

CONSTANTS: dict[str, Expr] = {"e": E, "pi": pi, "π": pi}


@dataclass
class Reader:
    """Reads formulas in which letters have the same meaning. Parts that several formulas share are read once."""

    meaning: Mapping[str, Value]
    indices: frozenset[str]
    columns: bool
    bound: dict[str, Symbol] = field(default_factory=dict)
    depth: int = 0
    work: int = 0  # parts that were read and not merely looked up
    known: dict[tuple[int, tuple[Symbol, ...]], tuple[Node, Value | Exception]] = field(default_factory=dict)

    def value(self, node: Node) -> Value:
        """Return the value of a formula. Raises `NotRead` or `ShapeError`."""
        rule = _RULES.get(type(node))
        if rule is None or self.depth > 60:
            raise NotRead(f"{type(node).__name__} is no array and no number")
        key = id(node), tuple(self.bound.values())
        if key not in self.known:
            self.depth += 1
            self.work += 1
            spend()
            try:
                self.known[key] = node, rule(self, node)  # the node is kept, so that no other gets its number
            except (NotRead, ShapeError) as error:
                self.known[key] = node, error
            finally:
                self.depth -= 1
        found = self.known[key][1]
        if isinstance(found, Exception):
            raise found
        return found

    def scalar(self, node: Node) -> Expr:
        """Return the value of a formula, which must be a number."""
        value = self.value(node)
        if isinstance(value, Array):
            if value.shape:
                raise NotRead("a number is needed where an array stands")
            return value.entry()
        return value

    # --- leaves ---

    def _number(self, node: Number) -> Expr:
        return Rational(node.value.numerator, node.value.denominator)

    def _name(self, node: Name) -> Value:
        if node.key in self.bound:
            return self.bound[node.key]
        if node.key in self.meaning:
            return self.meaning[node.key]
        head, places = indices_of(node, self.indices)
        if places and head.key in self.meaning:
            return self._member(self.meaning[head.key], places)
        if node.base in CONSTANTS and not node.subscripts:
            return CONSTANTS[node.base]
        if node.base in ("δ", "delta") and len(places) == 2:
            return KroneckerDelta(*(self._place(each) for each in places))
        raise NotRead(f"{node.key} has no meaning")

    def _member(self, of: Value, places: tuple[Node, ...]) -> Value:
        if not isinstance(of, Array):
            if any(isinstance(value, Array) for value in self.meaning.values()):
                raise NotRead("an entry of a number")
            return of  # all letters are numbers: one entry stands for all of them
        for number, place in enumerate(places):
            if not isinstance(of, Array) or not of.shape:
                raise NotRead(f"{len(places)} places are too many")
            if len(of.shape) == 2 and len(places) - number == 2:
                return of.entry(self._place(place), self._place(places[number + 1]))
            of = of.entry(self._place(place)) if len(of.shape) == 1 else of[self._place(place)]
        return of

    def _place(self, node: Node) -> Expr:
        if isinstance(node, Number):
            return self._number(node) - 1  # printed places count from 1
        return self.scalar(node)

    def _entry(self, node: syntax.Entry) -> Value:
        return self._member(self.value(node.of), node.indices)


_RULES: Mapping[type[Node], Callable[[Reader, Any], Value]] = {
    Number: Reader._number,
    Name: Reader._name,
    syntax.Entry: Reader._entry,
    Call: call,
    syntax.Aggregate: aggregate,
    **OPERATIONS,
}
