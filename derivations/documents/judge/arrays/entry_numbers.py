"""Values of formulas of array entries, computed from the syntax: a fast filter before expressions are built.

Definition   letters have the numbers that `sampling` gives to what they mean, entries those of their places; sums run
             along the axis that their index stands on
Result       `EntryNumbers.number(node)`: the number that the expression of this formula has; nan where it has none
Raises       NotEntries where a formula holds a whole array, or what is not read here: its expression must be built
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from sympy import Symbol

from derivations.documents import syntax
from derivations.documents.canon.forms import Value
from derivations.documents.canon.scalar_sampling import (
    drawn_entry,
    drawn_symbol,
    drawn_unknown,
    power_of,
    scalar_number,
    size_number,
)
from derivations.documents.judge.arrays.array_functions import FUNCTIONS
from derivations.documents.judge.arrays.array_reading import NotRead, function_word, indices_of
from derivations.documents.judge.arrays.array_sums import shortage
from derivations.documents.judge.numbers.float_functions import CONSTANTS
from derivations.documents.syntax import Call, Name, Node, Number
from derivations.language.arrays.expression import Array, Variable

__all__ = ["EntryNumbers", "NotEntries"]

_PLAIN: dict[str, Callable[[float], float]] = {
    "exp": math.exp, "log": lambda x: math.log(abs(x)), "ln": lambda x: math.log(abs(x)), "sin": math.sin,
    "cos": math.cos, "tanh": math.tanh, "erf": math.erf, "relu": lambda x: max(0.0, x),
}  # fmt: skip
_APART = frozenset({"softmax", "diag", "mean", "avg", "attention", "attn", "concat", "concatenate", "cat"})


class NotEntries(Exception):
    """Raised for a formula that cannot be evaluated from single entries."""


class EntryNumbers:
    """Computes values of formulas in which letters have the same meaning. Shared parts are computed once."""

    def __init__(self, meaning: Mapping[str, Value], indices: frozenset[str]) -> None:
        """Take the meaning of each letter, and the letters that are indices."""
        self.meaning, self.indices = meaning, indices
        self.with_arrays = any(isinstance(value, Array) for value in meaning.values())
        self.bound: dict[str, int] = {}
        self.known: dict[tuple[int, tuple[int, ...]], tuple[Node, float]] = {}

    def number(self, node: Node) -> float:
        """Return the value of a formula, or nan if it is undefined. Raises `NotEntries`."""
        try:
            return self._number(node)
        except (ArithmeticError, ValueError, RecursionError):
            return math.nan

    def _number(self, node: Node) -> float:
        rule = _RULES.get(type(node))
        if rule is None:
            raise NotEntries(type(node).__name__)
        key = id(node), tuple(self.bound.values())
        if key not in self.known:
            self.known[key] = node, rule(self, node)  # the node is kept, so that no other gets its number
        return self.known[key][1]

    def _name(self, node: Name) -> float:
        if node.key in self.bound:
            return self.bound[node.key]
        value: Value | None = self.meaning.get(node.key)
        places: tuple[Node, ...] = ()
        if value is None:
            head, places = indices_of(node, self.indices)
            value = self.meaning.get(head.key) if places else None
        if value is None:
            if node.base in CONSTANTS and not node.subscripts:
                return CONSTANTS[node.base]
            if node.base in ("δ", "delta") and len(places) == 2:
                return float(self._place(places[0]) == self._place(places[1]))
            raise NotEntries(node.key)
        return self._entry(value, places)

    def _entry(self, value: Value, places: tuple[Node, ...]) -> float:
        if isinstance(value, Symbol) and not (places and self.with_arrays):
            return drawn_symbol(value)
        if isinstance(value, Variable) and len(value.shape) == len(places):
            return drawn_entry(value.name, [self._place(each) for each in places])
        raise NotEntries("a whole array")

    def _place(self, node: Node) -> int:
        return int(node.value) - 1 if isinstance(node, Number) else int(self._number(node))

    def _sum(self, node: syntax.Sum) -> float:
        if 0 in node.signs:
            raise NotEntries("plus or minus")
        return sum(sign * self._number(term) for sign, term in zip(node.signs, node.terms, strict=True))

    def _product(self, node: syntax.Product) -> float:
        for at, factor in enumerate(node.factors[:-1]):  # the letter of a function in front of brackets
            behind = node.factors[at + 1]
            if isinstance(factor, Name) and isinstance(behind, syntax.Fence) and function_word(factor) in FUNCTIONS:
                raise NotEntries("a function or a factor")
        return math.prod(self._number(factor) for factor in node.factors)

    def _power(self, node: syntax.Power) -> float:
        return float(power_of(self._number(node.base), self._number(node.exponent)))

    def _root(self, node: syntax.Root) -> float:
        degree = self._number(node.degree) if node.degree is not None else 2.0
        return float(power_of(self._number(node.radicand), 1 / degree))

    def _fence(self, node: syntax.Fence) -> float:
        if node.bracket not in ("(", "[", "{"):
            raise NotEntries(node.bracket)
        return self._number(node.inside)

    def _call(self, node: Call) -> float:
        word = function_word(node.function)
        if word in _APART or any(isinstance(each, syntax.Chain | syntax.List) for each in node.arguments):
            raise NotEntries(word)
        values = [self._number(each) for each in node.arguments]
        if word in ("max", "min") and len(values) > 1:
            return max(values) if word == "max" else min(values)
        if len(values) != 1 or word in ("max", "min"):
            raise NotEntries(word)
        if word in _PLAIN:
            return _PLAIN[word](values[0])
        formula = FUNCTIONS.get(word)
        if formula is None:
            return drawn_unknown(values[0])
        return scalar_number(formula.expr, {formula.variables[0]: values[0]})

    def _aggregate(self, node: syntax.Aggregate) -> float:
        if node.kind != "sum" or len(node.index) != 1 or node.over is not None or node.index[0].key in self.bound:
            raise NotEntries(node.kind)
        key = node.index[0].key
        size = self._range(node.body, key)
        try:
            terms = range(size - shortage(node))
        except NotRead as error:
            raise NotEntries(str(error)) from error
        total = 0.0
        try:
            for place in terms:
                self.bound[key] = place
                total += self._number(node.body)
        finally:
            self.bound.pop(key, None)
        return total

    def _range(self, body: Node, key: str) -> int:
        """Return the size of the axis that an index runs along."""
        for part in body.walk():
            if isinstance(part, Name) and part.subscripts:
                head, places = indices_of(part, self.indices)
                value = self.meaning.get(head.key)
                if isinstance(value, Variable) and len(value.shape) == len(places):
                    for size, place in zip(value.shape, places, strict=True):
                        if isinstance(place, Name) and place.key == key:
                            return size_number(size)
        raise NotEntries("a sum whose index has no axis")


_RULES: dict[type[Node], Callable[[EntryNumbers, Any], float]] = {
    Number: lambda numbers, node: float(node.value),
    Name: EntryNumbers._name, syntax.Sum: EntryNumbers._sum, syntax.Product: EntryNumbers._product,
    syntax.Negative: lambda numbers, node: -numbers._number(node.operand),
    syntax.Quotient: lambda numbers, node: numbers._number(node.numerator) / numbers._number(node.denominator),
    syntax.Power: EntryNumbers._power, syntax.Root: EntryNumbers._root, syntax.Fence: EntryNumbers._fence,
    Call: EntryNumbers._call, syntax.Aggregate: EntryNumbers._aggregate,
    syntax.Annotated: lambda numbers, node: numbers._number(node.of),
}  # fmt: skip
