"""What the letters of gradients may be: matrices, rows, columns or numbers.

Definition   a capital is a matrix, but for one that counts or is a constant as often; small letters of which nothing is
             known are all rows, all columns or all numbers. What is added is a row beside x W, a column beside W x
Result       `Known.readings(names, sure, formulas)` yields what the letters may be, all together
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain

from sympy import Symbol

from derivations.documents.judge.algebra.scalar_letters import is_size
from derivations.documents.judge.matrices.gradient_letters import is_gradient
from derivations.documents.judge.matrices.matrix_functions import SIZE
from derivations.documents.judge.matrices.matrix_letters import letters_in_order, options
from derivations.documents.judge.matrices.matrix_numbers import Kind, Kinds, matrix_value
from derivations.documents.judge.matrices.matrix_values import Value
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import is_ones, is_weight
from derivations.documents.syntax import Call, Name, Node, Product, Quotient, Root, Sum, Transpose

__all__ = ["Known"]

MOST_DOUBTFUL, DRAWS = 4, 2
_SMALL: tuple[Kind, ...] = ("row", "column", "number")
_CONSTANTS = frozenset("CNTHLDE")  # capitals that may be numbers
_OF_NORMS = frozenset({"gamma", "beta"})  # gain and shift
_BESIDE: Mapping[tuple[bool, bool], Kind] = {(False, True): "row", (True, False): "column"}
_ONES = ((1.0,),) * SIZE


@dataclass(frozen=True)
class Known:
    """What the document says of the letters of a formula."""

    scope: Scope
    turned: frozenset[str]  # letters that are transposed in the section
    numbers: Mapping[str, float]  # what sizes are set to
    scaled: frozenset[Name]  # letters that are multiplied by numbers in formulas around

    def is_other_width(self, name: Name, among: Sequence[Name]) -> bool:
        """Say whether a letter is a width, and surely another one than those among others."""
        sizes = [Symbol(each.key) for each in among if is_size(each, self.scope)]
        return (
            name.base == "d"
            and bool(name.subscripts)
            and all(self.scope.compare(Symbol(name.key), size).relation == "different" for size in sizes)
        )

    def readings(self, names: Sequence[Name], sure: Sequence[Name], formulas: Sequence[Node]) -> Iterator[Kinds]:
        """Yield what letters may be in formulas; those that are `sure` have gradients."""
        parts = [part for formula in formulas for part in formula.walk()]
        divisors = {name.key for part in parts for name in _divisors(part)}
        beside: Kind | None = {"rows": "row", "columns": "column", None: None}[self.scope.convention]
        sides = dict(chain.from_iterable(_sides(part, beside) for part in parts))
        found: list[dict[str, Kind | Value]] = []
        for small in _SMALL:
            kinds = {name.key: self._kind(name, small, divisors, sides, sure) for name in names}
            open_letters = [name for name in names if name not in sure and not is_gradient(name)]
            doubtful = [name.key for name in open_letters if name.base in _CONSTANTS]
            undeclared = [key for key in doubtful if kinds[key] == "matrix" and key not in self.turned]
            single: dict[str, Kind | Value] = {
                key: "number" for key in sides if kinds.get(key) in ("row", "column")
            }  # b of w^T x + b
            found += [kinds, {**kinds, **single}, *({**kinds, key: "number"} for key in undeclared[:MOST_DOUBTFUL])]
        for number, kinds in enumerate(found):
            for draw in range(DRAWS) if kinds not in found[:number] else ():
                yield {key: _drawn(key, kind, draw) for key, kind in kinds.items()}

    def _kind(
        self, name: Name, small: Kind, divisors: Set[str], sides: Mapping[str, Kind | None], sure: Sequence[Name]
    ) -> Kind | Value:
        may_be = options(name, turned=name.key in self.turned, spoken=False, scope=self.scope)
        if is_ones(name):
            return _ONES
        if name.key in self.numbers:
            return self.numbers[name.key]
        if name.key in sides and name.base[:1].islower() and not self.scope.shape(name):
            return sides[name.key] or small
        if name.base in _OF_NORMS:
            return "row" if any(each.base[:1].isupper() for each in sure) else small
        if name in sure and name.base[:1].islower() and self.scope.shape(name) is None:
            return small
        if may_be == ("number",) or name.key in divisors:
            return "number"
        if name.base[:1].isupper() and "row" not in may_be:
            return "matrix"
        return small if small in may_be or not may_be else may_be[0]


def _sides(part: Node, usual: Kind | None) -> Iterator[tuple[str, Kind | None]]:
    """Yield the letters that are added to a product: rows beside x W, columns beside W x.

    Beside a product of matrices of which none is a weight they are what is `usual` here, and None beside others.
    """
    terms = part.terms if isinstance(part, Sum) else ()
    ends = [(term.factors[0], term.factors[-1]) for term in terms if isinstance(term, Product)][:1]
    kind = next((_BESIDE.get((is_weight(first), is_weight(last))) for first, last in ends), None)
    if kind is None and ends and all(map(_is_matrix, ends[0])):
        kind = usual
    yield from ((term.key, kind) for term in terms if isinstance(term, Name))


def _is_matrix(node: Node) -> bool:
    """Say whether a factor is a matrix by its form: a capital, a transpose, a function."""
    return node.base[:1].isupper() if isinstance(node, Name) else isinstance(node, Transpose | Call)


def _drawn(key: str, kind: Kind | Value, draw: int) -> Kind | Value:
    """Return random entries for a letter that is a matrix, a row or a column, others for every draw."""
    if kind == "number" or not isinstance(kind, str):
        return kind
    label = Name(f"{key} {draw}")
    return matrix_value(label, {label.key: kind}) or kind


def _divisors(part: Node) -> Iterator[Name]:
    """Yield the letters by which a part divides, and those under a root."""
    match part:
        case Quotient(denominator=below) | Root(radicand=below):
            if not any(isinstance(each, Call) for each in below.walk()):
                yield from letters_in_order(below)
