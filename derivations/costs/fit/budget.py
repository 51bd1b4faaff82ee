"""A budget of bytes: parts with their closed forms, a total, and the largest size that fits.

Definition   every part is an expression in the sizes of the model and of the mesh, with the words that say what it is
             and how it follows from the equations; a figure is the expression with the numbers put in
Units        bytes on one device
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sympy import Expr, Integer, Max, Poly, Symbol, ceiling

__all__ = ["Budget", "Part", "largest", "last_that_fits", "whole_bytes"]

FARTHEST = 2**50  # a length or batch beyond which nothing is looked for


@dataclass(frozen=True)
class Part:
    """One part of a budget: its name, its bytes as an expression, and why."""

    name: str
    bytes: Expr
    because: str


@dataclass(frozen=True)
class Budget:
    """The parts on one device, and the numbers of the sizes.

    Units        bytes
    """

    parts: tuple[Part, ...]
    values: Mapping[Symbol, Integer]

    @property
    def total(self) -> Expr:
        """The sum of the parts."""
        return sum((part.bytes for part in self.parts), Integer(0))

    def number(self, expression: Expr) -> int:
        """Return the bytes of an expression; a share that is not whole is rounded up.

        Raises       ValueError for a size without a number
        """
        return whole_bytes(expression, self.values)

    def numbers(self) -> dict[str, int]:
        """Return the bytes of every part by its name."""
        return {part.name: self.number(part.bytes) for part in self.parts}

    @property
    def bytes(self) -> int:
        """The bytes of all parts, each rounded up."""
        return sum(self.numbers().values())

    def at(self, values: Mapping[Symbol, int]) -> Budget:
        """Return the budget with other values of some sizes."""
        return Budget(self.parts, {**self.values, **{symbol: Integer(value) for symbol, value in values.items()}})


def whole_bytes(expression: Expr, values: Mapping[Symbol, Expr]) -> int:
    """Return the value of an expression, rounded up to a whole number.

    Raises       ValueError for a size without a number
    """
    value = ceiling(expression.xreplace(dict(values)))
    if not isinstance(value, Integer):
        missing = ", ".join(sorted(map(str, value.free_symbols)))
        raise ValueError(f"no number is known for {missing or value}")
    return int(value)


# --- the largest of several, and the last that fits ----------------------------------------------------------------


def largest(candidates: Iterable[Expr], values: Mapping[Symbol, Integer], lengths: Sequence[Symbol]) -> Expr:
    """Return the maximum of several polynomials in the lengths, valid for all lengths.

    Definition   a polynomial whose coefficients are all at most those of another is left out; of what is left, the
                 maximum. `values` are the numbers of all other sizes
    """
    kept: list[tuple[Expr, dict[tuple[int, ...], Expr]]] = []
    for candidate in candidates:
        terms = dict(Poly(candidate.xreplace(dict(values)), *lengths).terms())
        if any(_covers(other, terms) for _, other in kept):
            continue
        kept = [(each, other) for each, other in kept if not _covers(terms, other)]
        kept.append((candidate, terms))
    expressions = [each for each, _ in kept]
    return expressions[0] if len(expressions) == 1 else Max(*expressions, evaluate=False)


def _covers(larger: Mapping[tuple[int, ...], Expr], smaller: Mapping[tuple[int, ...], Expr]) -> bool:
    return all(larger.get(power, Integer(0)) >= value for power, value in smaller.items())


def last_that_fits(budgets: Iterable[Budget], size: Symbol, room: Expr, limit: int | None = None) -> int | None:
    """Return the largest number of a size with which every budget fits into `room`; 0 if none does, None if all do.

    Assumes      every part grows with the size
    """
    closed = [tuple(_narrowed(budget, size)) for budget in budgets]

    def fits(number: int) -> bool:
        return all(_total(parts, size, number) <= room for parts in closed)

    farthest = FARTHEST if limit is None else limit
    if fits(farthest):
        return limit
    low, high = 0, farthest  # fits at low, or low is 0; does not at high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _narrowed(budget: Budget, size: Symbol) -> Iterator[Expr]:
    others = {symbol: value for symbol, value in budget.values.items() if symbol != size}
    return (part.bytes.xreplace(others) for part in budget.parts)


def _total(parts: tuple[Expr, ...], size: Symbol, number: int) -> Expr:
    return sum((part.xreplace({size: Integer(number)}) for part in parts), Integer(0))
