"""The value of each kind of part of a formula: its shape and its entries.

Definition   every value is a matrix: a number is 1 x 1, a vector one column or one row, as the document has it. Its
             entries are read when all sizes are known; nothing is cancelled in them
Raises       NotElaborated where a part has no meaning here, Clash where its operands do not fit
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from operator import mul
from typing import Literal, TypeAlias

from sympy import Expr, Integer, Symbol

from derivations.documents import syntax
from derivations.documents.budget import spend
from derivations.documents.elaborate.algebra import SYMBOLIC, Algebra
from derivations.documents.elaborate.functions import BY_ENTRY, EXPECTED, GATES, SIGMA, SOFTMAX, base_of, word_of
from derivations.documents.elaborate.letters import Letter, Letters, is_kronecker
from derivations.documents.elaborate.sizes import ONE, Clash, Size, Sizes
from derivations.documents.scope.letters import flat
from derivations.documents.scope.sizes import size_of
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Entry,
    Fence,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Quotient,
    Root,
    Transpose,
)
from derivations.symbols import size

__all__ = ["Entries", "NotElaborated", "Reader", "Value"]

Entries: TypeAlias = Callable[[Expr, Expr], Expr]
Convention = Literal["rows", "columns"]
ZERO = Integer(0)
LARGEST_EXPONENT, LARGEST_NUMBER = 64, 10**30
NORM = ("||", "‖")


class NotElaborated(Exception):
    """Raised for a part of a formula that has no meaning here."""

    def __init__(self, node: Node, why: str) -> None:
        """Store the part that has no meaning."""
        super().__init__(why)
        self.node = node


@dataclass(frozen=True)
class Value:
    """A matrix, given by its sizes and its entries. `bare` marks a number without letters, which fits every shape."""

    rows: Size
    columns: Size
    entry: Entries
    bare: bool = False


@dataclass(frozen=True)
class Bound:
    """An index: its symbol, counted from 0, its value as the document counts, and the size of its axis."""

    place: Expr
    number: Expr
    size: Size


@dataclass
class Reader:
    """Gives values to the parts of a statement under one typing of its letters."""

    letters: Letters
    kinds: Mapping[Letter, int]
    convention: Convention
    base: int  # the number of the first place
    counts: frozenset[str]  # the letters that are sizes
    upright: bool = False  # softmax of a matrix is taken down its columns
    turned: bool = False  # the derivative by a vector stands the other way
    delta: bool = True  # delta with two indices is Kronecker's
    sigmoid: bool = False  # sigma of something is the sigmoid
    uninterpreted: bool = False  # a sum over a set is one over all entries
    algebra: Algebra = SYMBOLIC  # what entries are made of
    sizes: Sizes = field(default_factory=Sizes)
    axes: dict[tuple[Letter, int], Size] = field(default_factory=dict)
    declared: Mapping[tuple[Letter, int], Expr] = field(default_factory=dict)  # sizes that the section gives
    bound: dict[str, Bound] = field(default_factory=dict)
    free: dict[str, Bound] = field(default_factory=dict)
    fresh: int = 0
    asked: set[Letter] = field(default_factory=set)  # the letters that were met

    # --- types ---

    def is_number(self, value: Value) -> bool:
        """Return whether a value has one entry."""
        return self.sizes.is_one(value.rows) and self.sizes.is_one(value.columns)

    def number(self, entry: Expr, bare: bool = False) -> Value:
        """Return a 1 x 1 value with the given entry."""
        return Value(ONE, ONE, lambda i, j: entry, bare)

    def new_index(self) -> Symbol:
        """Return an index symbol that is not used elsewhere."""
        self.fresh += 1
        return self.algebra.index(f"k_{self.fresh}")

    def sum_over(self, of: Callable[[Expr], Expr], along: Size) -> Expr:
        """Return the sum of entries along an axis."""
        if self.sizes.is_one(along):
            return of(ZERO)
        place = self.new_index()
        return self.algebra.total(of(place), place, ZERO, self.sizes.resolved(along) - 1)

    # --- parts ---

    def value(self, node: Node) -> Value:
        """Return the value of a part."""
        spend()
        match node:
            case Number(value=value, unit="") if max(abs(value.numerator), value.denominator) < LARGEST_NUMBER:
                return self.number(self.algebra.number(value.numerator, value.denominator), bare=True)
            case Name():
                return self.of_name(node)
            case Fence():
                return self.fenced(node)
            case Negative(operand=inner):
                return self.mapped(lambda x: -x, self.value(inner))
            case syntax.Sum(terms=terms, signs=signs) if 0 not in signs:
                return self.added([self.signed(s, self.value(t)) for t, s in zip(terms, signs, strict=True)])
            case syntax.Product():
                return self.product(node)
            case Quotient(numerator=above, denominator=below):
                return self.quotient(self.value(above), self.value(below))
            case Power():
                return self.power(node)
            case Root(radicand=inner, degree=degree):
                if degree is not None and not isinstance(degree, Number):
                    raise NotElaborated(node, "a root of a degree in letters")
                root = self.algebra.number(*(Fraction(1, 2) if degree is None else 1 / degree.value).as_integer_ratio())
                return self.mapped(lambda x: self.algebra.power(x, root), self.value(inner))
            case Transpose(operand=inner):
                found = self.value(inner)
                if isinstance(inner, Name) and self.is_number(found):
                    raise Clash("a number is not transposed")
                return Value(found.columns, found.rows, lambda i, j: found.entry(j, i), found.bare)
            case Call():
                return self.call(node)
            case Entry():
                return self.entry_of(node)
            case Aggregate():
                return self.aggregate(node)
            case syntax.Annotated(of=of):
                return self.value(of)
            case syntax.Derivative(of=of, by=by):
                found = self.value(of)
                for each in by:
                    if not isinstance(each, Name):
                        raise NotElaborated(node, "the derivative by what is no letter")
                    found = self.derivative(found, self.value(each))
                return found
        raise NotElaborated(node, f"no meaning is known for a {type(node).__name__}")

    def mapped(self, function: Callable[[Expr], Expr], value: Value) -> Value:
        """Apply a function to every entry of a value."""
        return Value(value.rows, value.columns, lambda i, j: function(value.entry(i, j)), value.bare)

    def signed(self, sign: int, value: Value) -> Value:
        """Return a value or its negative."""
        return self.mapped(lambda x: sign * x, value)

    # --- letters ---

    def of_name(self, name: Name) -> Value:
        """Return the value of a name: an index, a constant, a size, or a letter at its indices."""
        if name.key in self.bound:
            return self.number(self.bound[name.key].number)
        if name.base in ("π", "pi") and name.key in ("π", "pi"):
            return self.number(self.algebra.pi, bare=True)
        if name.key in self.counts:
            return self.number(self.algebra.size(name.key))
        if name.key == "e" and self._is_constant_e():
            return self.number(self.algebra.function("exp")(self.algebra.number(1, 1)), bare=True)
        if name.base in ("∞", "infty"):
            raise NotElaborated(name, "infinity")
        if name.key in self.letters.indices and not name.subscripts:
            return self.number(self._free(name.key).number)
        if self.delta and is_kronecker(name):
            first, second = (self._free_place(part) for each in name.subscripts for part in flat((each,)))
            self.sizes.unify(first.size, second.size)
            return self.number(self.algebra.delta(first.place, second.place))
        letter, places = self.letters.split(name)
        if any(
            part.key in self.bound for each in letter.name.subscripts for part in each.walk() if isinstance(part, Name)
        ):
            raise NotElaborated(name, "its label changes within a sum")  # v_{w_i}
        return self._of_letter(letter, tuple(self.place(node, (letter, at)) for at, node in enumerate(places)))

    def _free_place(self, node: Node) -> Bound:
        """Return an index by its letter, bound or free."""
        key = node.key if isinstance(node, Name) else ""
        return self.bound.get(key) or self._free(key)

    def _is_constant_e(self) -> bool:
        return not any(each.name.key == "e" for each in self.kinds)

    def _of_letter(self, letter: Letter, places: tuple[Expr, ...]) -> Value:
        self.asked.add(letter)
        kind = self.kinds.get(letter)
        if kind is None or not letter.key:
            raise NotElaborated(letter.name, f"what {letter.key} is, is not known")
        outer = [self.axis(letter, at) for at in range(letter.places)]
        inner = [self.axis(letter, letter.places + at) for at in range(kind)]
        name = letter.key

        def entry(*at: Expr) -> Expr:
            found = tuple(at[axis] for axis in range(kind))
            if not places and not found:
                return self.algebra.scalar(name)
            shape = tuple(self.sizes.resolved(each) for each in (*outer, *inner))
            return self.algebra.entry(name, shape, (*places, *found))

        if kind == 0:
            return Value(ONE, ONE, lambda i, j: entry())
        if kind == 1:
            if self.convention == "rows":
                return Value(ONE, inner[0], lambda i, j: entry(j))
            return Value(inner[0], ONE, lambda i, j: entry(i))
        return Value(inner[0], inner[1], entry)

    def axis(self, letter: Letter, at: int) -> Size:
        """Return the size of an axis of a letter."""
        if (letter, at) not in self.axes:
            self.axes[letter, at] = Size(self.declared.get((letter, at)))
        return self.axes[letter, at]

    def place(self, node: Node, axis: tuple[Letter, int]) -> Expr:
        """Return an index expression, counted from 0. A bare index gets the range of its axis."""
        return self._at(node, self.axis(*axis))

    def _free(self, key: str) -> Bound:
        """Return the free index with a given key."""
        if key not in self.free:
            symbol = self.algebra.index(key)
            self.free[key] = Bound(symbol, symbol + self.base, Size())
        return self.free[key]

    # --- operations ---

    def added(self, values: list[Value]) -> Value:
        """Return a sum with broadcasting: a number is added to every entry, a vector to every row or column."""
        return self.together(values, self.algebra.added)

    def together(self, values: list[Value], function: Callable[..., Expr]) -> Value:
        """Apply a function to the corresponding entries of several values, with broadcasting."""
        rows = self._common([value.rows for value in values])
        columns = self._common([value.columns for value in values])
        alone = {id(v): (self.sizes.is_one(v.rows), self.sizes.is_one(v.columns)) for v in values}

        def entry(i: Expr, j: Expr) -> Expr:
            at = ((ZERO if alone[id(v)][0] else i, ZERO if alone[id(v)][1] else j) for v in values)
            return function(*(v.entry(*place) for v, place in zip(values, at, strict=True)))

        return Value(rows, columns, entry, all(value.bare for value in values))

    def _common(self, sizes: list[Size]) -> Size:
        several = [each for each in sizes if not self.sizes.is_one(each)]
        for other in several[1:]:
            self.sizes.unify(several[0], other)
        return several[0] if several else ONE

    def product(self, node: syntax.Product) -> Value:
        """Return a product, computed from left to right. Entrywise products are formed last.

        They are written as a dot in a circle, or beside a gate also as a cross in a circle.
        """
        by_entry = ("odot", "otimes") if any(map(_is_gate, node.factors)) else ("odot",)
        parts = node.between(by_entry)
        if len(parts) > 1:
            return self.together([self.value(part) for part in parts], self.algebra.times)
        for operator, first, second in zip(node.operators, node.factors, node.factors[1:], strict=False):
            if not operator and isinstance(first, Name) and isinstance(second, Number):
                raise NotElaborated(node, "a number after a letter, which may belong to its name")
            if not operator and isinstance(first, Name) and _is_one_number(second):
                raise NotElaborated(node, "a letter before a number in brackets, which may be a function")
        found = self.value(node.factors[0])
        for operator, factor in zip(node.operators, node.factors[1:], strict=True):
            found = self.times(found, self.value(factor), operator, node)
        return found

    def times(self, left: Value, right: Value, operator: str, node: Node) -> Value:
        """Return a product of two values."""
        if self.is_number(left) or self.is_number(right):
            if operator in ("otimes", "at"):
                raise Clash("a product of arrays with a number")
            return self.together([left, right], self.algebra.times)
        match operator:
            case "dot" | "" | "at":
                vectors = [self.sizes.is_one(v.rows) or self.sizes.is_one(v.columns) for v in (left, right)]
                alike = self.sizes.is_one(left.columns) == self.sizes.is_one(right.columns)
                if operator == "dot" and all(vectors) and alike:
                    whole = self.together([left, right], lambda x, y: x * y)
                    return self.total(whole)
                self.sizes.unify(left.columns, right.rows)
                along = left.columns
                return Value(
                    left.rows,
                    right.columns,
                    lambda i, j: self.sum_over(lambda k: left.entry(i, k) * right.entry(k, j), along),
                )
        raise NotElaborated(node, f"a product of arrays written {operator}")

    def total(self, value: Value) -> Value:
        """Return the sum of all entries."""

        def row(r: Expr) -> Expr:
            return self.sum_over(lambda c: value.entry(r, c), value.columns)

        return Value(ONE, ONE, lambda i, j: self.sum_over(row, value.rows))

    def quotient(self, above: Value, below: Value) -> Value:
        """Return an entrywise quotient. Raises Clash for a matrix divisor, and for a number divided by a vector."""
        several = not self.sizes.is_one(below.rows), not self.sizes.is_one(below.columns)
        if all(several) or (any(several) and self.is_number(above)):
            raise Clash("an array below")
        return self.together([above, below], self.algebra.quotient)

    def power(self, node: Power) -> Value:
        """Return a power: of a number, of e, or of every entry of a vector."""
        short = _number(node.exponent)
        exponent = (
            self.value(node.exponent)
            if short is None
            else self.number(self.algebra.number(*short.as_integer_ratio()), True)
        )
        inside = _normed(node.base)
        if inside is not None and isinstance(node.exponent, Number) and node.exponent.value == 2:
            return self.squared(self.value(inside))  # without the root, which has no slope at 0
        if exponent.bare and not (short is not None and _is_short(short)):
            raise NotElaborated(node, "a large power")  # SymPy works out powers of numbers
        if isinstance(node.base, Name) and node.base.key == "e" and self._is_constant_e():
            return self.mapped(self.algebra.function("exp"), exponent)
        base = self.value(node.base)
        if not self.is_number(exponent):
            raise NotElaborated(node, "a power with an array above")
        both = self.sizes.is_one(base.rows), self.sizes.is_one(base.columns)
        if not any(both):
            if isinstance(node.base, Name) and self.letters.split(node.base)[1]:
                raise Clash("a power of a matrix among others")
            raise NotElaborated(node, "a power of a matrix")
        if not all(both) and short is None:
            raise NotElaborated(node, "a power of a vector")
        return self.together([base, exponent], self.algebra.power)

    def fenced(self, node: Fence) -> Value:
        """Return the value of brackets: their content, an absolute value, a norm, a floor or a dot product."""
        match node:
            case Fence(bracket="⟨", inside=syntax.List(items=(left, right))):
                return self.total(self.together([self.value(left), self.value(right)], lambda x, y: x * y))
            case Fence(bracket="(" | "[" | "{"):
                return self.value(node.inside)
            case Fence(bracket=bracket) if bracket in NORM:
                return self.norm(self.value(node.inside))
            case Fence(bracket="⌊"):
                return self.mapped(self.algebra.function("floor"), self.value(node.inside))
            case Fence(bracket="|") if not isinstance(node.inside, Name) or node.inside.base.islower():
                found = self.value(node.inside)  # that of a capital may be a count, or a determinant
                if self.is_number(found):
                    return self.mapped(self.algebra.function("abs"), found)
        raise NotElaborated(node, f"brackets {node.bracket}")

    def norm(self, value: Value) -> Value:
        """Return the Euclidean norm."""
        return self.mapped(lambda x: self.algebra.power(x, self.algebra.number(1, 2)), self.squared(value))

    def squared(self, value: Value) -> Value:
        """Return the sum of the squares of all entries."""
        return self.total(self.mapped(lambda x: x**2, value))

    def entry_of(self, node: Entry) -> Value:
        """Return an entry, or a row of a matrix."""
        places = flat(node.indices)
        inside = _normed(node)
        if inside is not None:
            return self.norm(self.value(inside))
        if isinstance(node.of, Fence) and node.of.bracket in NORM:
            raise NotElaborated(node, "another norm")
        found = self.value(node.of)
        sizes = [each for each in (found.rows, found.columns) if not self.sizes.is_one(each)]
        if len(places) != len(sizes):
            raise NotElaborated(node, "not as many places as axes")
        at = iter([self._at(place, along) for place, along in zip(places, sizes, strict=True)])
        row = ZERO if self.sizes.is_one(found.rows) else next(at)
        column = ZERO if self.sizes.is_one(found.columns) else next(at)
        return Value(ONE, ONE, lambda i, j: found.entry(row, column))

    def _at(self, node: Node, along: Size) -> Expr:
        if isinstance(node, Name) and not node.subscripts:
            found = self._free_place(node)
            self.sizes.unify(along, found.size)
            return found.place
        return self.value(node).entry(ZERO, ZERO) - self.base

    # --- functions ---

    def call(self, node: Call) -> Value:
        """Return the value of a function."""
        word = word_of(node.function)
        base = base_of(node.function)
        if base is not None and len(node.arguments) == 1:
            log = self.algebra.function("log")
            below = log(self.algebra.number(base, 1))
            return self.mapped(lambda x: self.algebra.quotient(log(x), below), self.value(node.arguments[0]))
        if (node.function.subscripts or node.function.superscripts) and word not in SOFTMAX:
            raise NotElaborated(node, "a function with an index")
        if word in SIGMA:
            word = "sigmoid" if self.sigmoid else "activation"
        if node.function.primes:
            raise NotElaborated(node, "the slope of a function, which is no function of its own")
        if self.uninterpreted and word == EXPECTED and len(node.arguments) == 1:
            return self.mapped(self.algebra.expectation, self.value(node.arguments[0]))
        if word in BY_ENTRY and len(node.arguments) == 1:
            return self.mapped(self.algebra.function(word), self.value(node.arguments[0]))
        if word in SOFTMAX and len(node.arguments) == 1:
            return self.softmax(self.value(node.arguments[0]), node)
        if word in ("max", "min") and len(node.arguments) == 2:
            kind = self.algebra.largest if word == "max" else self.algebra.least
            return self.together([self.value(each) for each in node.arguments], kind)
        if word in ("tr", "trace") and len(node.arguments) == 1:
            return self.trace(self.value(node.arguments[0]))
        if word == "inner" and len(node.arguments) == 2:
            return self.inner(*map(self.value, node.arguments))
        if word == "diag" and len(node.arguments) == 1:
            return self.diagonal(self.value(node.arguments[0]), node)
        raise NotElaborated(node, f"the function {node.function.key}")

    def softmax(self, value: Value, node: Node) -> Value:
        """Return the softmax of a vector, or of the rows of a matrix. With `upright`, it is taken of the columns."""
        vertical = self.sizes.is_one(value.columns) or (self.upright and not self.sizes.is_one(value.rows))
        if self.is_number(value):
            raise NotElaborated(node, "softmax of one number")
        powers = self.mapped(self.algebra.function("exp"), value)

        def entry(i: Expr, j: Expr) -> Expr:
            if vertical:
                return powers.entry(i, j) / self.sum_over(lambda k: powers.entry(k, j), value.rows)
            return powers.entry(i, j) / self.sum_over(lambda k: powers.entry(i, k), value.columns)

        return Value(value.rows, value.columns, entry)

    def trace(self, value: Value) -> Value:
        """Return the sum of the diagonal."""
        self.sizes.unify(value.rows, value.columns)
        return Value(ONE, ONE, lambda i, j: self.sum_over(lambda k: value.entry(k, k), value.rows))

    def inner(self, one: Value, other: Value) -> Value:
        """Return the inner product of two arrays of one shape: the sum of all products of corresponding entries."""
        self.sizes.unify(one.rows, other.rows)
        self.sizes.unify(one.columns, other.columns)

        def row(i: Expr) -> Expr:
            return self.sum_over(lambda j: one.entry(i, j) * other.entry(i, j), one.columns)

        return Value(ONE, ONE, lambda i, j: self.sum_over(row, one.rows))

    def diagonal(self, value: Value, node: Node) -> Value:
        """Return the matrix with a vector on its diagonal."""
        if self.sizes.is_one(value.columns):
            return Value(value.rows, value.rows, lambda i, j: self.algebra.delta(i, j) * value.entry(i, ZERO))
        if self.sizes.is_one(value.rows):
            return Value(value.columns, value.columns, lambda i, j: self.algebra.delta(i, j) * value.entry(ZERO, i))
        raise NotElaborated(node, "the diagonal of a matrix")

    def derivative(self, of: Value, by: Value) -> Value:
        """Return a derivative, in which one of the two operands is a number or both are vectors.

        The derivative of a number has the shape of what it is taken by, that of a vector y by a vector x is the
        matrix of dy_i / dx_k; `turned`, both are transposed.
        """
        found = self._derivative(of, by)
        plain = self.is_number(by) or not (self.sizes.is_one(by.rows) or self.sizes.is_one(by.columns))
        if plain or not self.turned:
            return found
        return Value(found.columns, found.rows, lambda i, j: found.entry(j, i))

    def _derivative(self, of: Value, by: Value) -> Value:
        derivative = self.algebra.derivative
        if self.is_number(of):
            return Value(by.rows, by.columns, lambda i, j: derivative(of.entry(ZERO, ZERO), by.entry(i, j)))
        if self.is_number(by):
            return Value(of.rows, of.columns, lambda i, j: derivative(of.entry(i, j), by.entry(ZERO, ZERO)))
        long, along = self._long(of), self._long(by)
        if long is None or along is None:
            raise Clash("the derivative of a matrix by an array has more axes than anything else here")

        def entry(i: Expr, j: Expr) -> Expr:
            return derivative(self._entry_of(of, i), self._entry_of(by, j))

        return Value(long, along, entry)

    def _long(self, vector: Value) -> Size | None:
        """Return the length of a vector, or None for any other value."""
        several = [each for each in (vector.rows, vector.columns) if not self.sizes.is_one(each)]
        return several[0] if len(several) == 1 else None

    def _entry_of(self, vector: Value, at: Expr) -> Expr:
        return vector.entry(ZERO, at) if self.sizes.is_one(vector.rows) else vector.entry(at, ZERO)

    # --- sums ---

    def aggregate(self, node: Aggregate) -> Value:
        """Return a sum over one or several indices. With `uninterpreted`, also a product or an expectation."""
        if self.uninterpreted and node.kind == "expectation":
            return self.mapped(self.algebra.expectation, self.value(node.body))
        if self.uninterpreted and node.kind == "product" and node.index:
            logarithms = replace(node, kind="sum", body=Call(Name("log"), (node.body,)))
            return self.mapped(self.algebra.function("exp"), self.aggregate(logarithms))
        if node.kind != "sum" or not node.index:
            raise NotElaborated(node, f"a {node.kind}")
        if len(node.index) > 1:
            if node.lower is not None or node.upper is not None or node.over is not None:
                raise NotElaborated(node, "a sum over several indices with bounds")
            first, *rest = node.index
            return self.aggregate(replace(node, index=(first,), body=replace(node, index=tuple(rest))))
        with self._binding(node) as (found, low, high, apart):
            inner = self.value(node.body)

        def entry(i: Expr, j: Expr) -> Expr:
            last = high if high is not None else self.sizes.resolved(found.size) - 1
            whole = inner.entry(i, j)
            if apart is not None:
                whole = whole * (1 - self.algebra.delta(found.place, apart))
            return self.algebra.total(whole, found.place, low, last)

        return Value(inner.rows, inner.columns, entry)

    @contextmanager
    def _binding(self, node: Aggregate) -> Iterator[tuple[Bound, Expr, Expr | None, Expr | None]]:
        """Bind the index of a sum, and yield it with its first value, its last value, and a value to leave out."""
        (name,) = node.index
        place = self.new_index()
        low, high, apart, along = ZERO, None, None, Size()
        if node.lower is not None:
            low = self.value(node.lower).entry(ZERO, ZERO) - self.base
        if node.upper is not None:
            bound = size_of(node.upper)
            names = {part.key for part in node.upper.walk() if isinstance(part, Name)}
            if low == 0 and bound is not None and names <= self.counts:
                last = bound.xreplace({each: size(str(each)) for each in bound.free_symbols})
                along = Size(last if node.lower is None else last + 1 - self.base)  # a sum to n alone has n terms
            else:
                high = self.value(node.upper).entry(ZERO, ZERO) - self.base
        match node.over:
            case None:
                pass
            case syntax.Chain(sides=(Name() as first, other), relations=(relation,)) if first.key == name.key:
                limit = (
                    self._at(other, along)
                    if isinstance(other, Name)
                    else self.value(other).entry(ZERO, ZERO) - self.base
                )
                if relation == "≠":
                    apart = limit
                elif relation in ("≤", "<"):
                    high = limit - (relation == "<")
                else:
                    raise NotElaborated(node, "a sum under another condition")
            case _ if not self.uninterpreted:
                raise NotElaborated(node, "a sum over a set")
        before = self.bound.get(name.key)
        found = Bound(place, place + self.base, along)
        self.bound[name.key] = found
        try:
            yield found, low, high, apart
        finally:
            if before is None:
                del self.bound[name.key]
            else:
                self.bound[name.key] = before


def _number(node: Node) -> Fraction | None:
    """Return the rational number that a part denotes, such as 2 or -1/2, or None."""
    match node:
        case Number(value=value, unit="") if max(abs(value.numerator), value.denominator) < LARGEST_NUMBER:
            return Fraction(value)
        case Negative(operand=inner):
            below = _number(inner)
            return None if below is None else -below
        case Quotient(numerator=above, denominator=below):
            one, other = _number(above), _number(below)
            return None if one is None or not other else one / other
        case syntax.Sum(terms=terms, signs=signs) if 0 not in signs:
            added = [each for term in terms if (each := _number(term)) is not None]
            return sum(map(mul, signs, added), Fraction(0)) if len(added) == len(terms) else None
        case syntax.Product(factors=factors):
            multiplied = [each for factor in factors if (each := _number(factor)) is not None]
            return prod(multiplied, start=Fraction(1)) if len(multiplied) == len(factors) else None
        case Fence(bracket="(" | "{" | "[", inside=inner):
            return _number(inner)
    return None


def _normed(node: Node) -> Node | None:
    """Return the operand of a Euclidean norm, `||x||`, `||x||_2` or `||X||_F`, or None."""
    match node:
        case Fence(bracket=bracket, inside=inside) if bracket in NORM:
            return inside
        case Entry(of=Fence(bracket=bracket, inside=inside), indices=indices) if bracket in NORM:
            known = ((isinstance(p, Number) and p.value == 2) or p == Name("F") for p in flat(indices))
            return inside if all(known) else None
    return None


def _is_gate(node: Node) -> bool:
    return isinstance(node, Call) and word_of(node.function) in GATES


def _is_one_number(node: Node) -> bool:
    return isinstance(node, Fence) and isinstance(node.inside, Number)


def _is_short(exponent: Fraction) -> bool:
    """Return whether the numerator and the denominator of an exponent are small."""
    return max(abs(exponent.numerator), exponent.denominator) <= LARGEST_EXPONENT
