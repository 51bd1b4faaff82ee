"""The form of an answer, and exact ways to find one: substitution, and bisection over the integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sympy import Expr, Integer, Rational, Symbol, expand

from derivations.architectures.description import Model, Patches
from derivations.symbols import m, n

__all__ = [
    "Answer",
    "Number",
    "first_above",
    "first_above_for_good",
    "from_length",
    "last_for_which",
    "length_of",
    "number",
    "percent",
    "put",
    "source_length",
    "whole",
]

Number: TypeAlias = int | Rational
FAR = 2**60  # larger than any length in use


@dataclass(frozen=True)
class Answer:
    """An answer: a closed form if there is one, an exact number or None if there is none, and words.

    `figures` are further numbers of the answer, by name.
    """

    expression: Expr | None
    number: Number | None
    words: str
    figures: Mapping[str, Number] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the words."""
        return self.words


def put(model: Model, expression: Expr, lengths: Mapping[Symbol, int] | None = None) -> Expr:
    """Return an expression with the sizes of the model substituted, and the lengths if given."""
    values = {symbol: Integer(value) for symbol, value in {**model.values, **(lengths or {})}.items()}
    return expand(expression.xreplace(values))


def number(value: Expr) -> Number:
    """Return an exact number, as an int if it is whole."""
    return int(value) if isinstance(value, Integer) else Rational(value)


def percent(share: Rational) -> str:
    """Return a share in percent with one decimal, rounded exactly."""
    # floor(1000 share + 1/2): tenths of a percent, halves rounded up
    tenths = (2000 * share + 1) // 2
    return f"{tenths // 10}.{tenths % 10}%"


def source_length(model: Model) -> dict[Symbol, Expr]:
    """Return the value of m in an encoder-decoder: the length of its table of frames, else n.

    The result is empty for other models.
    """
    encoder = model.architecture.encoder
    if encoder is None or model.architecture.decoder is None:
        return {}
    table = encoder.embedding.positions
    if encoder.stem is None or table is None:
        return {m: n}
    return {m: table - encoder.embedding.first_position}


def length_of(model: Model) -> Expr:
    """Return the size that counts the positions: n, or the number of patches of an image."""
    encoder = model.architecture.encoder
    if model.architecture.decoder is None and encoder is not None and isinstance(encoder.stem, Patches):
        return encoder.stem.count
    return n


def from_length(first: Number | None, length: Expr) -> str:
    """Return in words the length from which a statement holds; `first` is None if it never does."""
    if first is None:
        return "at no length"
    return "at every length" if first == 1 else f"from {length} = {first:,} on"


def whole(name: str, value: object) -> None:
    """Refuse a value that is not an integer >= 1.

    Raises       ValueError with its name
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be an integer >= 1, not {value!r}")


def last_for_which(holds: Callable[[int], bool]) -> int:
    """Return the last integer >= 1 at which a condition holds.

    The condition must be true up to some integer and false after it.
    """
    high = 1
    while holds(2 * high):
        high *= 2
    low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def first_above(excess: Callable[[int], Expr]) -> int | None:
    """Return the first integer >= 1 at which a nondecreasing function is positive, or None if there is none."""
    if excess(FAR) <= 0:
        return None
    return 1 if excess(1) > 0 else last_for_which(lambda k: excess(k) <= 0) + 1


def first_above_for_good(excess: Callable[[int], Expr]) -> int | None:
    """Return the first integer >= 1 from which on a convex function stays positive, or None if there is none."""

    # a convex function that is positive and rising stays so, so the condition can be bisected
    def rising(k: int) -> bool:
        value = excess(k)
        return bool(value > 0) and bool(value > excess(k - 1))

    if not rising(FAR):
        return None
    first = 1 if rising(1) else last_for_which(lambda k: not rising(k)) + 1
    return first if excess(first - 1) <= 0 else 1
