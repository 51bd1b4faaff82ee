r"""What a formula of matrices and lists of numbers comes to: `Q K^\top / \sqrt{2}`, `\text{softmax}(S) V`, `\|x\|`.

Definition   letters are the arrays that `arrays` says, and the numbers that `letters` says; what holds no array is
             enclosed as a number
Result       `ArrayReader.value(node)`: an array of numbers, or a number
Assumes      the softmax runs along rows, or along `columns`; norms are Euclidean where nothing else is written; a
             standard deviation has the divisor n - `fewer`
Raises       NoNumber, for what is not made of numbers, does not fit, or has more than one reading
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from derivations.documents.budget import spend
from derivations.documents.judge.numbers.intervals import IV, NoNumber, Value, divided, exponential, interval
from derivations.documents.judge.numbers.number_array_functions import applied, bounded
from derivations.documents.judge.numbers.number_array_products import (
    Result,
    are_lists,
    negated,
    plus,
    power_of,
    times,
    times_list,
)
from derivations.documents.judge.numbers.number_arrays import (
    NumberArray,
    determinant,
    dot_product,
    each_entry,
    euclidean_norm,
    total,
    transposed,
)
from derivations.documents.judge.numbers.values import Letters, enclose
from derivations.documents.scope.functions import folded
from derivations.documents.syntax import (
    Annotated,
    Call,
    Entry,
    Fence,
    List,
    MatrixLiteral,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Transpose,
)

__all__ = ["ArrayReader"]

_DEPTH = 60
_BITS = 128


@dataclass
class ArrayReader:
    """Reads formulas in which letters mean arrays and numbers."""

    arrays: Callable[[Name], Node | None]
    letters: Letters
    spread: bool = False
    fewer: int = 0
    columns: bool = False
    depth: int = 0

    def value(self, node: Node) -> Result:
        """Return what a formula comes to; raises NoNumber."""
        spend()
        self.depth += 1
        try:
            if self.depth > _DEPTH:
                raise NoNumber
            rule = _RULES.get(type(node))
            return rule(self, node) if rule is not None else self.number(node)
        finally:
            self.depth -= 1

    def array(self, node: Node) -> NumberArray:
        """Return what a formula comes to, where it is an array."""
        value = self.value(node)
        if not isinstance(value, NumberArray):
            raise NoNumber
        return value

    def number(self, node: Node) -> Value:
        """Return what a formula without arrays comes to."""
        found = enclose(node, self.letters, bits=_BITS, spread=self.spread)
        if found is None:
            raise NoNumber
        return found.low if found.exact else IV.mpf([interval(found.low).a, interval(found.high).b])

    def scalar(self, node: Node) -> Value:
        """Return what a formula comes to, where it is a number."""
        value = self.value(node)
        if isinstance(value, NumberArray):
            raise NoNumber
        return value

    def _name(self, node: Name) -> Result:
        defined = self.arrays(node)
        return self.value(defined) if defined is not None else self.number(node)

    def _list(self, node: List) -> Result:
        if node.bracket == "{":
            raise NoNumber  # a set
        if node.bracket == "⟨" and len(node.items) == 2:
            first, second = map(self.array, node.items)
            if not (first.is_vector and second.is_vector):
                raise NoNumber
            return dot_product(first.entries, second.entries)
        values = [self.value(each) for each in node.items]
        rows = [each.rows[0] for each in values if isinstance(each, NumberArray) and each.axes == 1]
        if rows:
            if len(rows) != len(values):
                raise NoNumber
            return NumberArray(tuple(rows), 2)
        return NumberArray((tuple(each for each in values if not isinstance(each, NumberArray)),), 1)

    def _matrix(self, node: MatrixLiteral) -> NumberArray:
        if all(len(row) == 1 for row in node.rows) and len(node.rows) > 1:  # a column, or lists below each other
            stacked = [self.value(row[0]) for row in node.rows]
            rows = [each.rows[0] for each in stacked if isinstance(each, NumberArray) and each.axes == 1]
            if len(rows) == len(stacked):
                return NumberArray(tuple(rows), 2)
        return NumberArray(tuple(tuple(map(self.scalar, row)) for row in node.rows), 2)

    def _fence(self, node: Fence) -> Result:
        if node.bracket in ("(", "[", "{", ""):
            return self.value(node.inside)
        if node.bracket == "|" and isinstance(node.inside, MatrixLiteral) and len(node.inside.rows) > 1:
            return determinant(self.array(node.inside))
        value = self.value(node.inside) if node.bracket == "||" else None
        if not isinstance(value, NumberArray):
            return self.number(node)
        if not value.is_vector:
            raise NoNumber  # of Frobenius, or the largest singular value
        return euclidean_norm(value.entries)

    def _entry(self, node: Entry) -> Value:
        """Return a norm whose kind is written: 1, 2, F."""
        kind = node.indices[0] if len(node.indices) == 1 else None
        if not isinstance(node.of, Fence) or node.of.bracket != "||":
            raise NoNumber
        value = self.array(node.of.inside)
        if isinstance(kind, Number) and kind.value == 1 and value.is_vector:
            return total([abs(each) for each in value.entries])
        of_vectors = isinstance(kind, Number) and kind.value == 2 and value.is_vector
        if not of_vectors and not (isinstance(kind, Name) and kind.key == "F"):
            raise NoNumber
        return euclidean_norm(value.entries)

    def _transpose(self, node: Transpose) -> NumberArray:
        value = self.array(node.operand)
        if isinstance(node.operand, List) and value.axes == 1:  # a column that is written in the line
            value = NumberArray(value.rows, 2)
        return transposed(value)

    def _negative(self, node: Negative) -> Result:
        return negated(self.value(node.operand))

    def _annotated(self, node: Annotated) -> Result:
        return self.value(node.of)

    def _sum(self, node: Sum) -> Result:
        if 0 in node.signs:
            raise NoNumber
        values = [self.value(term) for term in node.terms]
        signed = [value if sign > 0 else negated(value) for value, sign in zip(values, node.signs, strict=True)]
        result = signed[0]
        for value in signed[1:]:
            result = plus(result, value)
        return result

    def _product(self, node: Product) -> Result:
        first_turned = isinstance(node.factors[0], Transpose)
        result = self._factor(node.factors[0])
        for operator, factor in zip(node.operators, node.factors[1:], strict=True):
            value, turned = self._factor(factor), isinstance(factor, Transpose)
            if are_lists(result, value):
                result = times_list(result, value, operator, one_turned=turned != first_turned)
            elif turned and are_lists(value):
                raise NoNumber  # a row behind a matrix
            else:
                result = times(result, value, operator)
        return result

    def _factor(self, node: Node) -> Result:
        """Return a factor; a letter for a list that is transposed is the list, of which the product makes a row."""
        if isinstance(node, Transpose) and isinstance(node.operand, Name):
            value = self.value(node.operand)
            if are_lists(value):
                return value
        return self.value(node)

    def _quotient(self, node: Quotient) -> Result:
        above, below = self.value(node.numerator), self.value(node.denominator)
        if isinstance(below, NumberArray):
            raise NoNumber
        if isinstance(above, NumberArray):
            return each_entry(lambda entry: divided(entry, below), above)
        return divided(above, below)

    def _power(self, node: Power) -> Result:
        if isinstance(node.base, Name) and node.base.key == "e" and self.letters(node.base) is None:
            exponents = self.value(node.exponent)
            return each_entry(exponential, exponents) if isinstance(exponents, NumberArray) else self.number(node)
        base = self.value(node.base)
        if isinstance(base, NumberArray) or not isinstance(node.base, Number):
            return power_of(base, self.scalar(node.exponent))
        return self.number(node)

    def _call(self, node: Call) -> Result:
        word = folded(node.function)
        if word in ("max", "min") and len(node.arguments) == 2:
            return self._extreme(node, word)
        if node.function.subscripts or node.function.superscripts or len(node.arguments) != 1:
            return self.number(node)
        value = self.value(node.arguments[0])
        if not isinstance(value, NumberArray):
            return self.number(node)
        return applied(node.function, value, columns=self.columns, fewer=self.fewer)

    def _extreme(self, node: Call, word: str) -> Result:
        """Return the larger or smaller of a number and every entry of an array, `max(0, x W_1)`."""
        first, second = map(self.value, node.arguments)
        if isinstance(first, NumberArray):
            first, second = second, first
        if isinstance(first, NumberArray) or not isinstance(second, NumberArray):
            return self.number(node)
        return bounded(word, first, second)


_RULES: Mapping[type[Node], Callable[[ArrayReader, Any], Result]] = {
    Name: ArrayReader._name, List: ArrayReader._list, MatrixLiteral: ArrayReader._matrix, Fence: ArrayReader._fence,
    Entry: ArrayReader._entry, Transpose: ArrayReader._transpose, Negative: ArrayReader._negative,
    Annotated: ArrayReader._annotated, Sum: ArrayReader._sum, Product: ArrayReader._product,
    Quotient: ArrayReader._quotient, Power: ArrayReader._power, Call: ArrayReader._call,
}  # fmt: skip
