"""Shapes: tuples of symbolic sizes, axes of blocks, and the error for shapes that do not fit.

An axis is an integer, an expression in size symbols, or `Blocks(count, size)`: an axis of `count * size` places read
as `count` blocks of `size` (heads times d_v; pairs of a sine and a cosine). A place on such an axis is a pair (block,
place within the block), so that formulas contain no floor and no remainder.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeAlias

from sympy import Add, Basic, Expr, Integer, Mod, Mul, Sum, Symbol, SympifyError, expand, sympify

from derivations import symbols
from derivations.language.arrays.binding import fresh_index

__all__ = [
    "Axis",
    "Blocks",
    "Pair",
    "Place",
    "ShapeError",
    "Sized",
    "axis",
    "current_equation",
    "flat",
    "join",
    "lying",
    "on_axis",
    "pair",
    "same_size",
    "shape_called",
    "shape_text",
    "split",
    "sum_along",
    "total",
]

current_equation: ContextVar[str | None] = ContextVar("current_equation", default=None)


class ShapeError(ValueError):
    """Two arrays have shapes that do not fit; the message names the equation, the expression, the shapes and sizes."""

    def __init__(self, message: str) -> None:
        name = current_equation.get()
        current_equation.set(None)  # this equation ends with the error: a later error must not name it
        super().__init__(f"equation {name}: {message}" if name else message)


class Blocks(Basic):
    """An axis of `count` consecutive blocks of `size` elements each."""

    @property
    def count(self) -> Expr:
        """Number of blocks."""
        return self.args[0]

    @property
    def size(self) -> Expr:
        """Number of elements in one block."""
        return self.args[1]


class Pair(NamedTuple):
    """An index on an axis of blocks of `size` elements: element `place` of block `block`, both counted from 0."""

    block: Expr
    place: Expr
    size: Expr


Axis: TypeAlias = Expr | Blocks
Place: TypeAlias = Expr | Pair
Sized: TypeAlias = int | Expr | Blocks

# The pairs (place, size) with 0 <= place < size known at this point, so that entries need not state them again.
_lying: ContextVar[frozenset[tuple[Expr, Expr]]] = ContextVar("lying", default=frozenset())
_bound: ContextVar[frozenset[Symbol]] = ContextVar(
    "bound", default=frozenset()
)  # the indices of the sums around the entry


def axis(value: Sized) -> Axis:
    """Return `value` as an axis; a number must be an integer >= 1."""
    if isinstance(value, Blocks):
        return value
    # Python counts True as the integer 1
    if isinstance(value, bool):
        raise ShapeError(f"a size must be an integer >= 1, not {value}")
    try:
        result = sympify(value, strict=True)
    except SympifyError:
        result = None
    if not isinstance(result, Expr):
        raise ShapeError(f"a size is an integer >= 1 or an expression in sizes, not {value!r}")
    if result.is_number and not (isinstance(result, Integer) and result >= 1):
        raise ShapeError(f"a size must be an integer >= 1, not {value}")
    return result


def total(value: Axis) -> Expr:
    """Return the length of an axis. An axis of blocks has count * size elements."""
    return value.count * value.size if isinstance(value, Blocks) else value


def same_size(a: Axis, b: Axis) -> bool:
    """Return whether two axes have the same length for all values of the size symbols."""
    return bool(a == b or expand(total(a) - total(b)) == 0)


def join(a: Axis, b: Axis) -> Axis:
    """Return one of two axes of the same length: the axis of blocks if there is one.

    Raises `ShapeError` if both are axes of blocks, but of different blocks.
    """
    if isinstance(a, Blocks) and isinstance(b, Blocks) and a != b:
        raise ShapeError(f"an axis of {a.count} blocks of {a.size} and one of {b.count} blocks of {b.size} differ")
    return b if isinstance(b, Blocks) else a


def on_axis(place: Place, along: Axis) -> tuple[tuple[Expr, Expr], ...]:
    """Return pairs (number, size): an index lies on an axis if 0 <= number < size for each of them."""
    if isinstance(place, Pair) and isinstance(along, Blocks):
        return (place.block, along.count), (place.place, along.size)
    return ((flat(place), total(along)),)


@contextmanager
def lying(places: Iterable[tuple[Expr, Expr]]) -> Iterator[list[tuple[Expr, Expr]]]:
    """Treat 0 <= index < size as known inside the `with` block for given pairs, and yield the pairs that are new."""
    known = _lying.get()
    new = [own for own in places if own not in known]
    before = _lying.set(known.union(new))
    try:
        yield new
    finally:
        _lying.reset(before)


def flat(place: Place) -> Expr:
    """Return an index as one number, counted from 0."""
    return place.block * place.size + place.place if isinstance(place, Pair) else place


def pair(place: Place, along: Blocks) -> Pair:
    """Return an index on an axis of blocks as a `Pair`. An integer is split only if the block size is an integer."""
    if isinstance(place, Pair):
        if place.size != along.size:
            raise ShapeError(f"a place in a block of {place.size} does not fit a block of {along.size}")
        for number, size in ((place.block, along.count), (place.place, along.size)):
            if isinstance(number, Integer) and (number < 0 or (isinstance(size, Integer) and number >= size)):
                raise ShapeError(f"place {number} lies outside an axis of size {size} (places count from 0)")
        return place
    if isinstance(place, Integer) and isinstance(along.size, Integer):
        return Pair(place // along.size, Mod(place, along.size), along.size)
    block, rest = split(place, along.size)
    if block != 0:
        return Pair(block, rest, along.size)
    raise ShapeError(f"place {place} on an axis of {along.count} blocks of {along.size}: give a pair (block, place)")


def split(place: Expr, size: Expr) -> tuple[Expr, Expr]:
    """Return (block, rest) with index = block * size + rest. The terms that are multiples of the size give the block.

    The pair is the same index only if 0 <= rest < size, which the caller must ensure.
    """
    block, rest = Integer(0), Integer(0)
    for term in Add.make_args(expand(place)):
        quotient = term / size
        # k d is k whole blocks of size d
        whole = bool(quotient.is_integer) and not quotient.has(size)
        if isinstance(size, Integer) and isinstance(term, Integer):
            block, rest = block + term // size, rest + Mod(term, size)
        else:
            block, rest = (block + quotient, rest) if whole else (block, rest + term)
    return block, rest


def sum_along(
    along: Axis, term: Callable[[Place], Expr], avoid: set[Symbol], between: tuple[Expr, Expr] | None = None
) -> Expr:
    """Return the sum of `term(index)` over all indices of an axis, with index names that are not in `avoid`.

    On an axis without blocks, `between` may limit the sum to the indices from its first to its second value.
    """
    avoid = avoid | _bound.get()
    first = fresh_index(avoid)
    second = fresh_index({*avoid, first})
    # an inner sum, built by `term`, must not take the names of this one
    outer = _bound.set(frozenset(avoid | {first, second}))
    try:
        if not isinstance(along, Blocks):
            with lying([(first, along)]):
                return Sum(term(first), (first, *(between or (0, along - 1))))
        place = Pair(first, second, along.size)
        with lying([*on_axis(place, along), (flat(place), total(along))]):
            value = term(place)
        return Sum(value, (second, 0, along.size - 1), (first, 0, along.count - 1))
    finally:
        _bound.reset(outer)


def shape_text(shape: Iterable[Axis]) -> str:
    """Return a shape as text, such as (n, d_k) or (d_v*h, d_model)."""
    parts = [str(total(a)) for a in shape]
    return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"


def shape_called(text: str) -> tuple[Expr, ...]:
    """Parse the text of a shape, such as `n,2*d,3`: names, numbers, and products of these.

    Raises       ValueError for anything else; nothing is evaluated
    """
    return tuple(Mul(*map(_size_called, part.split("*"))) for part in text.split(",") if part.strip())


def _size_called(text: str) -> Expr:
    name = text.strip()
    if name.isdecimal() and int(name):
        return Integer(int(name))
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no size: write a name, a number, or a product such as 2*d")
    known: Any = getattr(symbols, name, None)
    is_size = getattr(known, "is_positive", False) and getattr(known, "is_integer", False)
    return known if is_size else symbols.size(name)
