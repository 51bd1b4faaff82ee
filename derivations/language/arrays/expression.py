"""Array expressions with symbolic shapes: variables and the linear algebra of matrices.

Nodes are subclasses of `sympy.Basic`, so hashing, equality, pickling and `xreplace` come from SymPy; building a node
simplifies nothing. Only `@`, `+`, `-`, `*` and `/` by a scalar, `.T` and `[i]` are overloaded. Every node defines its
operands, its shape (checked whenever it is built, also on a rebuild) and its entry, an ordinary SymPy expression.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from sympy import (
    Basic,
    Expr,
    Indexed,
    IndexedBase,
    Integer,
    Mul,
    Ne,
    Pow,
    Symbol,
    SympifyError,
    sympify,
)
from sympy import Tuple as Sequence
from sympy.core.symbol import Str
from sympy.printing.str import StrPrinter

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.deferred import Deferred, is_deferring
from derivations.language.arrays.refusals import (
    refuse_argument,
    refuse_function,
    refuse_power,
    refuse_product,
    refuse_quotient,
    refuse_sum,
)
from derivations.language.arrays.scalars import MASK, Iverson, Within
from derivations.language.arrays.shapes import (
    Axis,
    Blocks,
    Pair,
    Place,
    ShapeError,
    Sized,
    axis,
    flat,
    join,
    lying,
    on_axis,
    same_size,
    shape_text,
    split,
    sum_along,
    total,
)
from derivations.language.arrays.shown import Displayed

__all__ = [
    "Array",
    "ColumnBroadcast",
    "Member",
    "OnlyEntry",
    "Plus",
    "Product",
    "RowBroadcast",
    "Scaled",
    "Shape",
    "Transpose",
    "Variable",
    "array",
    "avoiding",
    "broadcast_hint",
    "guarded",
    "mask_array",
    "require",
    "token_array",
]

Shape = tuple[Axis, ...]
_NUMBERS = (Expr, int, float)


def require(condition: bool, message: Callable[[], str]) -> None:
    """Raise `ShapeError` with the message unless the condition holds."""
    if not condition:
        raise ShapeError(message())


def _new_node(kind: type[Array], *args: Any) -> Array:
    node = Basic.__new__(kind, *args)
    # Rules walk over the operands of a node: a gradient would not see an array that stands inside another argument.
    hidden = [part for part in args if isinstance(part, Basic) and not isinstance(part, Array) and part.has(Array)]
    if hidden and not kind.holds_arguments:
        raise ShapeError(f"{kind.__name__}: the arrays in {hidden[0]} must be arguments of the node")
    node._shape = node._infer()
    return node


# Equal parts give the same object, so most comparisons of equal nodes end at an identity check.
_node: Callable[..., Array] = lru_cache(maxsize=1 << 15, typed=True)(_new_node)


class Array(Displayed, Basic):
    """An expression for an array of rank 0, 1 or 2 (or more, for families) with a symbolic shape."""

    def __new__(cls, *args: Any) -> Array:
        """Build the node and check its shape; the same parts give the same object."""
        try:
            try:
                return _node(cls, *args)
            except TypeError:  # an unhashable part, such as a list
                return _new_node(cls, *args)
        except AttributeError as error:  # a part that is not an array has no shape
            given = ", ".join(f"{part} of type {type(part).__name__}" for part in args)
            raise ShapeError(f"{cls.__name__} is built from arrays and expressions, not from {given}") from error

    @property
    def shape(self) -> Shape:
        """The sizes of the axes."""
        return self._shape

    @cached_property
    def free_symbols(self) -> frozenset[Basic]:
        """The symbols in the node; cached, because a node never changes."""
        return frozenset(super().free_symbols)

    @property
    def kind(self) -> str:
        """The kind of the entries: "real", "boolean" or "integer"."""
        return "real"

    @property
    def bound_symbols(self) -> list[Symbol]:
        """The indices that are local to the node."""
        return []

    def _xreplace(self, rule: dict[Basic, Basic]) -> tuple[Basic, bool]:
        """Replace everything except the indices that are local to the node."""
        if bound := self.bound_symbols:
            rule = {key: value for key, value in rule.items() if key not in bound}
            if any(symbol in getattr(value, "free_symbols", ()) for value in rule.values() for symbol in bound):
                return replace_free(self, rule), True  # else the index captures a symbol of the value
        replaced: tuple[Basic, bool] = super()._xreplace(rule)
        return replaced

    holds_arguments: ClassVar[bool] = False  # an application holds its arguments in a tuple, and its layer in another
    binding: ClassVar[int] = 3  # precedence of the text form: 1 sum, 2 product, 3 atom (needs no parentheses)

    @property
    def is_mask(self) -> bool:
        """Whether the kind is "boolean": every entry is 0 or 1."""
        return self.kind == "boolean"

    def _infer(self) -> Shape:
        raise NotImplementedError

    def _text(self, part: int, binding: int) -> str:
        operand = self.args[part]
        text = str(operand)
        return text if getattr(operand, "binding", 3) >= binding else f"({text})"

    def _entry(self, *places: Place) -> Expr:
        raise NotImplementedError

    def entry(self, *places: Any) -> Expr:
        """Return one entry as an ordinary SymPy expression.

        Indices count from 0. An index on an axis of blocks may be a pair (block, index in the block).
        """
        require(
            len(places) == len(self.shape),
            lambda: (
                f"{self} has shape {shape_text(self.shape)}: an entry takes {len(self.shape)} places, not {len(places)}"
            ),
        )
        given = [_place(p, a) for p, a in zip(places, self.shape, strict=True)]
        if isinstance(self, Variable):  # its `IndexedBase` has the shape, so that no condition need be attached
            return self.entry_at(given)
        pairs = [_split(p, a) for p, a in zip(given, self.shape, strict=True)]
        return Deferred(self, *pairs) if is_deferring() else self._within(pairs)

    def entry_at(self, given: list[Place]) -> Expr:
        """Return the entry at indices that were already checked."""
        return self._entry(*given)

    def _within(self, given: list[Place]) -> Expr:
        """Return the entry, with the side condition that each index lies on its axis.

        The formula of an entry may not contain an index: a mask of ones is 1 everywhere. So a condition is attached to
        the entry unless something else implies it: a sum over that index, or a variable that is read at it.
        """
        wanted = [own for place, along in zip(given, self.shape, strict=True) for own in on_axis(place, along)]
        # what is known here is known for the operands: an index of this node need not be checked again inside
        with lying(wanted) as new:
            value = self._entry(*given)
        entries = value.atoms(Indexed) if new else set()
        # the entry of a variable checks its own places when it is read
        held = {own for e in entries for own in zip(e.indices, e.base.shape or (), strict=False)}
        for place, size in (own for own in new if own not in held):
            value = Within(value, place, size)
        return value

    def __getitem__(self, places: Any) -> Any:
        """Return an entry if every axis gets an index. One leading index alone gives a member (row i is `X[i]`)."""
        places = places if isinstance(places, tuple) else (places,)
        if len(places) == len(self.shape):
            return self.entry(*places)
        require(
            len(places) == 1, lambda: f"{self}[{places}]: give one place (a member) or {len(self.shape)} (an entry)"
        )
        return Member(self, flat(_place(places[0], self.shape[0])) if self.shape else Integer(0))

    __iter__ = None  # sizes are symbolic, so Python must not iterate by calling [0], [1], ... without end

    @property
    def T(self) -> Array:
        """The transpose."""
        return Transpose(self)

    def __matmul__(self, other: Array) -> Array:
        """Return the product of matrices or vectors."""
        refuse_function(other)
        return Product(self, other) if isinstance(other, Array) else NotImplemented

    def __rmatmul__(self, other: Any) -> Array:
        """Refuse a product whose left operand is not an array."""
        refuse_function(other)
        return NotImplemented

    def __add__(self, other: Array) -> Array:
        """Return the sum; a vector is added to every row of a matrix."""
        if isinstance(other, _NUMBERS):
            refuse_sum(self, "+", other)
        if not isinstance(other, Array):
            return NotImplemented
        if len(other.shape) == 1 and len(self.shape) == 2:
            require(
                same_size(other.shape[0], self.shape[1]),
                lambda: (
                    f"sum of {self} and {other}: shapes {shape_text(self.shape)} and {shape_text(other.shape)} differ"
                    f"{broadcast_hint(self, other)}"
                ),
            )
            other = RowBroadcast(other, self.shape[0])
        return Plus(self, other)

    def __radd__(self, other: Any) -> Array:
        """Refuse to add a number."""
        return refuse_sum(other, "+", self) if isinstance(other, _NUMBERS) else NotImplemented

    def __sub__(self, other: Array) -> Array:
        """Return the difference; a vector is subtracted from every row of a matrix."""
        if isinstance(other, _NUMBERS):
            refuse_sum(self, "-", other)
        return self + Scaled(Integer(-1), other) if isinstance(other, Array) else NotImplemented

    def __rsub__(self, other: Any) -> Array:
        """Refuse to subtract from a number."""
        return refuse_sum(other, "-", self) if isinstance(other, _NUMBERS) else NotImplemented

    def __mul__(self, scalar: Any) -> Array:
        """Return the array multiplied by a scalar."""
        if isinstance(scalar, Array):
            refuse_product(self, scalar)
        refuse_function(scalar)
        return Scaled(sympify(scalar, strict=True), self)

    __rmul__ = __mul__

    def __truediv__(self, scalar: Any) -> Array:
        """Return the array divided by a scalar."""
        if isinstance(scalar, Array):
            refuse_quotient(self, scalar)
        refuse_function(scalar)
        return Scaled(1 / sympify(scalar, strict=True), self)

    def __rtruediv__(self, other: Any) -> Array:
        """Refuse to divide a number by an array."""
        return refuse_quotient(other, self) if isinstance(other, _NUMBERS) else NotImplemented

    def __pow__(self, exponent: Any) -> Array:
        """Refuse a power, because it could mean the power of every entry or the power of the matrix."""
        refuse_power(self, exponent)

    _eval_power = __pow__  # SymPy's `sqrt` and `Pow` ask for this

    def as_coefficient(self, _: Any) -> Any:
        """Refuse to be an argument of SymPy's `cos`, `tanh` and similar functions, which call this method."""
        refuse_argument(self)

    def __neg__(self) -> Array:
        """Return the negative."""
        return Scaled(Integer(-1), self)


def _place(given: Any, along: Axis) -> Place:
    place = given
    if isinstance(place, tuple) and not isinstance(place, Pair):
        require(isinstance(along, Blocks), lambda: f"the pair {given} needs an axis of blocks, not one of size {along}")
        require(len(given) == 2, lambda: f"a place on an axis of blocks is a pair (block, place), not {given}")
        place = Pair(sympify(place[0], strict=True), sympify(place[1], strict=True), along.size)
    if isinstance(place, Pair):
        return place
    try:
        place = sympify(place, strict=True)
    except SympifyError:
        place = None
    if not isinstance(place, Expr):
        raise ShapeError(f"a place is an integer expression, or a pair of them on an axis of blocks, not {given!r}")
    size = total(along)
    if isinstance(place, Integer) and (place < 0 or (isinstance(size, Integer) and place >= size)):
        raise ShapeError(f"place {place} lies outside an axis of size {size} (places count from 0)")
    return place


def _split(place: Place, along: Axis) -> Place:
    """Return an index such as 2 k + j on an axis of blocks as a pair. The caller must check its range."""
    if not isinstance(along, Blocks) or isinstance(place, Pair | Integer):
        return place
    block, rest = split(place, along.size)
    # a plain index has no block to show: it stays one number
    return place if block == 0 else Pair(block, rest, along.size)


class OnlyEntry(Symbol):
    """The entry of an array of rank 0: a symbol that may be random, unlike other symbols."""

    __slots__ = ()

    def _sympyrepr(self, printer: Any) -> str:
        return str(printer._print(Symbol(self.name, real=True)))


class Variable(Array):
    """A named array: an input, a parameter, or the result of an equation."""

    def __new__(cls, name: str | Str, shape: Any, kind: str | Str = "real") -> Array:
        """Build the variable `name` of the given shape and kind."""
        if not isinstance(name, Str) and not (isinstance(name, str) and name):
            raise ShapeError(f"the name of an array is text, such as 'X', not {name!r}")
        name, kind = (part if isinstance(part, Str) else Str(part) for part in (name, kind))
        return super().__new__(cls, name, Sequence(*map(axis, shape)), kind)

    @property
    def name(self) -> str:
        """The name: a Python identifier, or several joined by dots for an array of a part of a layer."""
        return self.args[0].name

    @property
    def kind(self) -> str:
        """The kind of the entries: real, integer or boolean."""
        return self.args[2].name

    @property
    def base(self) -> IndexedBase:
        """The SymPy `IndexedBase` of the entries."""
        return _base(self.name, self.kind, tuple(map(total, self.shape)))

    def _infer(self) -> Shape:
        return tuple(self.args[1])

    def _sympystr(self, printer: StrPrinter) -> str:
        return self.name

    def _entry(self, *places: Place) -> Expr:
        if not places and self.kind == "real":
            return OnlyEntry(self.name, real=True)
        entry = _indexed(self.base, *map(flat, places)) if places else self.base.label
        # a mask is read through [M != 0], so that its entries are 0 or 1 whatever numbers are given
        return Iverson(Ne(entry, 0, evaluate=False)) if self.kind == "boolean" else entry


@lru_cache(maxsize=4096)
def _base(name: str, kind: str, sizes: tuple[Expr, ...]) -> IndexedBase:
    declared = {"real": {"real": True}, "integer": {"integer": True}, "boolean": MASK}[kind]
    return IndexedBase(Symbol(name, **declared), shape=sizes)


@lru_cache(maxsize=1 << 14)
def _indexed(base: IndexedBase, *places: Expr) -> Indexed:
    """Return the entry of a base, cached: SymPy derives its assumptions anew each time, and entries recur often."""
    return Indexed(base, *places)


def array(name: str, *shape: Sized) -> Variable:
    """Return a real array variable, such as `array("Q", n, d_k)`."""
    return Variable(name, shape)


def mask_array(name: str, *shape: Sized) -> Variable:
    """Return a boolean array variable that is True at visible keys."""
    return Variable(name, shape, "boolean")


def token_array(name: str, *shape: Sized) -> Variable:
    """Return an integer array variable of token numbers, which count from 0."""
    return Variable(name, shape, "integer")


class Member(Array):
    """The member at one index of the leading axis, such as row i of a matrix or the weights of head i."""

    def _infer(self) -> Shape:
        require(len(self.args[0].shape) >= 1, lambda: f"{self.args[0]} is a scalar: it has no rows")
        return self.args[0].shape[1:]

    @property
    def kind(self) -> str:
        """The kind of the entries, which is that of the operand."""
        return self.args[0].kind

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 3)}[{self.args[1]}]"

    def _entry(self, *places: Place) -> Expr:
        return self.args[0].entry(self.args[1], *places)


class Product(Array):
    """The product of two matrices or vectors: (A B)_ij = sum_p A_ip B_pj."""

    binding = 2

    def _infer(self) -> Shape:
        left, right = (a.shape for a in self.args)

        def text() -> str:
            return f"product of {self.args[0]} and {self.args[1]}: shapes {shape_text(left)} and {shape_text(right)}"

        require(0 < len(left) <= 2 and 0 < len(right) <= 2, lambda: f"{text()}; a product takes matrices or vectors")
        require(
            same_size(left[-1], right[0]),
            lambda: f"{text()}; the inner sizes {total(left[-1])} and {total(right[0])} must be equal",
        )
        return left[:-1] + right[1:]

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 2)} @ {self._text(1, 3)}"

    def _entry(self, *places: Place) -> Expr:
        left, right = self.args
        split = len(left.shape) - 1
        return sum_along(
            join(left.shape[-1], right.shape[0]),
            lambda p: left.entry(*places[:split], p) * right.entry(p, *places[split:]),
            avoiding(self, places),
        )


class Plus(Array):
    """The sum of two arrays of the same shape."""

    binding = 1

    def _infer(self) -> Shape:
        left, right = (a.shape for a in self.args)
        require(
            len(left) == len(right) and all(map(same_size, left, right)),
            lambda: (
                f"sum of {self.args[0]} and {self.args[1]}: shapes {shape_text(left)} and {shape_text(right)} differ"
                f"{broadcast_hint(*self.args)}"
            ),
        )
        return tuple(map(join, left, right))

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self.args[0]} + {self._text(1, 2)}"

    def _entry(self, *places: Place) -> Expr:
        return self.args[0].entry(*places) + self.args[1].entry(*places)


class Scaled(Array):
    """A scalar times an array."""

    binding = 2

    def _infer(self) -> Shape:
        require(
            isinstance(self.args[0], Expr), lambda: f"{self.args[0]} is not a scalar; use @ for a product of arrays"
        )
        return self.args[1].shape

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{StrPrinter().parenthesize(self.args[0], 50)} * {self._text(1, 3)}"

    def _entry(self, *places: Place) -> Expr:
        factor, entry = self.args[0], self.args[1].entry(*places)
        return guarded(factor * entry, [factor])


class Transpose(Array):
    """The transpose of a matrix."""

    def _infer(self) -> Shape:
        shape = self.args[0].shape
        require(
            len(shape) == 2,
            lambda: f"transpose of {self.args[0]}: a matrix is needed, the shape is {shape_text(shape)}",
        )
        return shape[::-1]

    @property
    def kind(self) -> str:
        """The kind of the entries, which is that of the operand."""
        return self.args[0].kind

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 3)}.T"

    def _entry(self, *places: Place) -> Expr:
        return self.args[0].entry(*places[::-1])


class RowBroadcast(Array):
    """A vector repeated as every row of a matrix of `size` rows: 1 b^T."""

    def __new__(cls, vector: Array, size: Sized) -> Array:
        """Build the matrix of `size` rows, each equal to the vector."""
        return super().__new__(cls, vector, axis(size))

    def _infer(self) -> Shape:
        shape = self.args[0].shape
        require(
            len(shape) == 1,
            lambda: f"rows made of {self.args[0]}: a vector is needed, the shape is {shape_text(shape)}",
        )
        return (self.args[1], *shape)

    @property
    def kind(self) -> str:
        """The kind of the entries, which is that of the operand."""
        return self.args[0].kind

    def _sympystr(self, printer: StrPrinter) -> str:
        return str(self.args[0])

    def _entry(self, *places: Place) -> Expr:
        return self.args[0].entry(places[1])


class ColumnBroadcast(Array):
    """A vector repeated as every column of a matrix of `size` columns: v 1^T."""

    def __new__(cls, vector: Array, size: Sized) -> Array:
        """Build the matrix of `size` columns, each equal to the vector."""
        return super().__new__(cls, vector, axis(size))

    def _infer(self) -> Shape:
        shape = self.args[0].shape
        require(len(shape) == 1, lambda: f"columns made of {self.args[0]}: a vector is needed, not {shape_text(shape)}")
        return (*shape, self.args[1])

    @property
    def kind(self) -> str:
        """The kind of the entries, which is that of the operand."""
        return self.args[0].kind

    def _sympystr(self, printer: StrPrinter) -> str:
        return str(self.args[0])

    def _entry(self, *places: Place) -> Expr:
        return self.args[0].entry(places[0])


def broadcast_hint(first: Array, second: Array) -> str:
    """Return advice on how to broadcast a vector or a number to a larger array, or an empty string."""
    vector, matrix = sorted((first, second), key=lambda each: len(each.shape))
    if not vector.shape and matrix.shape:
        return f'; named("shifted", x + y, x, y)({matrix}, {vector}) adds {vector} to every entry'
    if (len(vector.shape), len(matrix.shape)) != (1, 2):
        return ""
    rows, columns = matrix.shape
    ways = [
        (columns, f"RowBroadcast({vector}, {total(rows)}) has {vector} as every row"),
        (rows, f"ColumnBroadcast({vector}, {total(columns)}) has {vector} as every column"),
    ]
    fitting = [text for size, text in ways if same_size(size, vector.shape[0])]
    return f"; {' and '.join(fitting)}" if fitting else ""


def guarded(value: Expr, parts: list[Expr]) -> Expr:
    """Return the value times b * (1/b) for every denominator b of the parts that SymPy cancelled.

    A value that is defined only for nonzero b must keep that condition when SymPy multiplies.
    """
    powers = (power for part in parts for power in part.atoms(Pow))
    # a positive base is never 0, so nothing is lost when it cancels
    bases = {power.base for power in powers if power.exp.is_negative and not power.base.is_positive}
    kept = {power.base for power in value.atoms(Pow)}
    lost = sorted(bases - kept, key=str)
    if not lost:
        return value
    ones = (Mul(base, Pow(base, -1, evaluate=False), evaluate=False) for base in lost)
    return Mul(value, *ones, evaluate=False)


def avoiding(node: Array, places: tuple[Place, ...]) -> set[Symbol]:
    """Return the symbols whose names a bound index of an entry must not take."""
    symbols = set(node.free_symbols)
    for place in places:
        symbols |= flat(place).free_symbols
    return symbols
