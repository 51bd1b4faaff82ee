r"""Vectors and matrices that are written out in numbers, and what is computed with them, entry by entry.

Definition   a list is a vector, a `pmatrix` a matrix; a letter is the array that its section writes out for it
Result       `entry_pairs(left, right, scope)`: the entries of two sides at the same places, each a formula of
             numbers, and whether nothing else may be meant; None where a side has no array, or more than one
Assumes      what is multiplied without a sign, or by a dot, is a matrix product, and of two vectors the inner product;
             a softmax is taken along the rows
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias

from derivations.documents.budget import spend
from derivations.documents.scope import Scope
from derivations.documents.syntax import (
    Annotated,
    Call,
    Fence,
    List,
    MatrixLiteral,
    Name,
    Negative,
    Node,
    Number,
    Product,
    Quotient,
    Root,
    Sum,
    Transpose,
)

__all__ = ["EntryPairs", "entry_pairs"]

Entries: TypeAlias = tuple[tuple[Node, ...], ...]
BY_ENTRY = frozenset(
    {"exp", "log", "ln", "sqrt", "tanh", "sigmoid", "relu", "sin", "cos", "silu", "swish", "softplus", "erf"}
)
ARITHMETIC = (Negative, Sum, Product, Quotient)
DEPTH = 4  # letters that stand for letters
MOST = 400  # entries, and terms of one


class _Unwritten(Exception):
    """Raised where a formula is not an array of numbers, or may be several."""


@dataclass(frozen=True)
class _Value:
    """A number, a vector or a matrix: its rows, and how many axes it has; a vector is one row."""

    rows: Entries
    axes: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])


@dataclass(frozen=True)
class EntryPairs:
    """Pairs of entries of two sides, by their indices, which start at 1."""

    pairs: Mapping[tuple[int, ...], tuple[Node, Node]]
    is_certain: bool  # no arrays are multiplied, which is done in more ways than one, and no letter stands for one


def entry_pairs(left: Node, right: Node, scope: Scope) -> EntryPairs | None:
    """Return the pairs of entries of two sides, or None if neither has an array or their shapes differ."""
    for one in _meanings(left, right, scope):
        reader = _Reader(scope)
        try:
            first, second = reader.value(one, 0), reader.value(right, 0)
        except _Unwritten:
            continue
        is_computed = first.rows != ((one,),) or second.rows != ((right,),)
        if not is_computed or not _are_alike(first, second):
            continue
        width = first.shape[1]
        flat: list[list[Node]] = [[entry for row in value.rows for entry in row] for value in (first, second)]
        is_matrix = first.axes == 2 and 1 not in first.shape
        pairs: dict[tuple[int, ...], tuple[Node, Node]] = {
            (at // width + 1, at % width + 1) if is_matrix else (at + 1,): (mine, other)
            for at, (mine, other) in enumerate(zip(*flat, strict=True))
        }
        return EntryPairs(pairs, one is left and reader.is_certain)
    return None


def _meanings(left: Node, right: Node, scope: Scope) -> Iterator[Node]:
    """Yield the left side, or for a letter the expressions that define it elsewhere in the section."""
    if not isinstance(left, Name):
        yield left
    elif isinstance(right, List | MatrixLiteral):
        yield from (each for each in scope.definitions(left) if not isinstance(each, List | MatrixLiteral))


def _are_alike(one: _Value, other: _Value) -> bool:
    """Return whether two values have the same shape. A vector may stand for a row or a column."""
    if one.axes == other.axes == 2:
        return one.shape == other.shape
    return sorted(one.shape) == sorted(other.shape) and 1 in one.shape


def _is_at_a_place(array: _Value, behind: Node) -> bool:
    """Return whether brackets behind an array have one number, V(5), which is an entry and no product."""
    return bool(array.axes) and isinstance(behind, Fence) and isinstance(behind.inside, Number)


def _number(node: Node) -> _Value:
    return _Value(((node,),), 0)


@dataclass
class _Reader:
    """Evaluates formulas to arrays whose entries are formulas of numbers."""

    scope: Scope
    is_certain: bool = True
    letters: dict[Name, _Value] = field(default_factory=dict)  # that were looked up

    def value(self, node: Node, depth: int) -> _Value:
        """Return the value of a formula. A formula without arrays is a number, kept as it is written."""
        spend()
        parts = [self.value(each, depth) for each in node.children] if isinstance(node, ARITHMETIC) else []
        if parts and all(part.rows[0][0] is each for part, each in zip(parts, node.children, strict=True)):
            return _number(node)
        match node:
            case List(items=items, bracket="[" | "(") if len(items) > 1:
                return self._list([self.value(each, depth) for each in items])
            case MatrixLiteral(rows=rows) if len(set(map(len, rows))) == 1:
                if any(self.value(entry, depth).axes for row in rows for entry in row):
                    raise _Unwritten
                return _Value(rows, 2)
            case Name():
                if node not in self.letters:
                    self.letters[node] = self._name(node, depth)
                self.is_certain &= not self.letters[node].axes
                return self.letters[node]
            case Annotated(of=inside) | Fence(bracket="(" | "[" | "", inside=inside):
                found = self.value(inside, depth)
                return found if found.axes else _number(node)
            case Fence(bracket="|" | "||" | "‖" | "∥", inside=inside):
                return self._norm(node, self.value(inside, depth))
            case Transpose(operand=operand):
                found = self.value(operand, depth)
                return self._transposed(found) if found.axes else _number(node)  # of a letter that nothing writes out
            case Negative():
                return _by_entry(parts[0], Negative)
            case Sum(signs=signs) if 0 not in signs:
                return self._sum(parts, signs)
            case Product(factors=factors, operators=operators):
                if any(map(_is_at_a_place, parts, factors[1:])):
                    raise _Unwritten
                self.is_certain &= sum(1 for part in parts if part.axes) < 2
                return reduce(
                    lambda total, each: _product(total, *each), zip(parts[1:], operators, strict=True), parts[0]
                )
            case Quotient() if not parts[1].axes:
                return _by_entry(parts[0], lambda entry: Quotient(entry, parts[1].rows[0][0]))
            case Call():
                return self._call(node, depth)
        if parts or any(isinstance(part, List | MatrixLiteral) for part in node.walk()):
            raise _Unwritten
        return _number(node)

    def _name(self, name: Name, depth: int) -> _Value:
        """Return the value of a letter: the only array that its section writes out for it, or a number."""
        found: dict[Entries, _Value] = {}
        for each in self.scope.definitions(name) if depth < DEPTH else ():
            try:
                value = self.value(each, depth + 1)
            except _Unwritten:
                continue
            if value.axes:
                found.setdefault(value.rows, value)
        if len(found) > 1 or depth >= DEPTH:
            raise _Unwritten
        return next(iter(found.values()), _number(name))

    def _list(self, items: list[_Value]) -> _Value:
        axes, shapes = {each.axes for each in items}, {each.shape for each in items}
        if len(axes) > 1 or len(shapes) > 1 or axes == {2}:
            raise _Unwritten
        if axes == {0}:
            return _Value((tuple(each.rows[0][0] for each in items),), 1)
        return _Value(tuple(each.rows[0] for each in items), 2)

    def _transposed(self, of: _Value) -> _Value:
        entries = (part for row in of.rows for entry in row for part in entry.walk())
        if any(isinstance(part, Name) and part.base[:1].isupper() for part in entries):
            raise _Unwritten  # blocks, which are transposed as well
        return _Value(of.rows, 2) if of.axes == 1 else _turned(of)  # a vector is a column, which a transpose lays down

    def _norm(self, node: Node, of: _Value) -> _Value:
        if of.axes == 0:
            return _number(node)
        if 1 not in of.shape:
            raise _Unwritten
        return _number(Root(_added([_times(entry, entry) for row in of.rows for entry in row])))

    def _sum(self, terms: list[_Value], signs: tuple[int, ...]) -> _Value:
        if len({each.shape for each in terms}) > 1:
            raise _Unwritten
        rows, columns = terms[0].shape
        return _Value(
            tuple(
                tuple(Sum(tuple(each.rows[row][column] for each in terms), signs) for column in range(columns))
                for row in range(rows)
            ),
            max(each.axes for each in terms),
        )

    def _call(self, node: Call, depth: int) -> _Value:
        word = node.function.base.lower()
        if len(node.arguments) != 1 or word not in BY_ENTRY | {"softmax"}:
            if any(self.value(each, depth).axes for each in node.arguments):
                raise _Unwritten
            return _number(node)
        of = self.value(node.arguments[0], depth)
        if of.axes == 0:
            return _number(node)
        if word != "softmax":
            return _by_entry(of, lambda entry: Call(node.function, (entry,)))
        if of.shape[1] == 1:
            return self._transposed(_Value(tuple(map(_softmax, self._transposed(of).rows)), 2))
        return _Value(tuple(map(_softmax, of.rows)), of.axes)


def _softmax(row: tuple[Node, ...]) -> tuple[Node, ...]:
    powers = [Call(Name("exp"), (entry,)) for entry in row]
    return tuple(Quotient(power, _added(powers)) for power in powers)


def _by_entry(of: _Value, function: Callable[[Node], Node]) -> _Value:
    return _Value(tuple(tuple(map(function, row)) for row in of.rows), of.axes)


def _turned(of: _Value) -> _Value:
    return _Value(tuple(zip(*of.rows, strict=True)), 2)


def _added(terms: Sequence[Node]) -> Node:
    return Sum(tuple(terms), (1,) * len(terms)) if len(terms) > 1 else terms[0]


def _times(one: Node, other: Node) -> Node:
    return Product((one, other), ("times",))


def _product(one: _Value, other: _Value, operator: str) -> _Value:
    if one.axes == 0:
        return _by_entry(other, lambda entry: _times(one.rows[0][0], entry))
    if other.axes == 0:
        return _by_entry(one, lambda entry: _times(entry, other.rows[0][0]))
    if operator == "odot" and one.shape == other.shape:
        pairs = zip(one.rows, other.rows, strict=True)
        return _Value(tuple(tuple(map(_times, *rows)) for rows in pairs), max(one.axes, other.axes))
    vectors = sum(each.axes == 1 for each in (one, other))
    if operator in ("dot", "at") or (operator == "" and vectors < 2) or (operator == "times" and not vectors):
        return _matrix_product(one, other)
    raise _Unwritten  # two lists side by side, or a cross


def _matrix_product(one: _Value, other: _Value) -> _Value:
    """Return the matrix product of two values.

    A vector on the right is a column. A vector on the left is a row, or a column if a matrix of one row follows.
    """
    first = _turned(one) if one.axes == 1 and other.axes == 2 and other.shape[0] == 1 else one
    second = _turned(other) if other.axes == 1 else other
    (rows, inner), (below, columns) = first.shape, second.shape
    if inner != below or rows * inner * columns > MOST:
        raise _Unwritten
    entries = [
        [_added([_times(*pair) for pair in zip(row, column, strict=True)]) for column in zip(*second.rows, strict=True)]
        for row in first.rows
    ]
    if rows == columns == 1:
        return _number(entries[0][0])
    if 1 in (one.axes, other.axes) and first is one:
        return _Value((tuple(entry for row in entries for entry in row),), 1)
    return _Value(tuple(map(tuple, entries)), 2)
