r"""Compares two sizes: equal as polynomials, equal by the settings of the document, different, or unsure.

Definition   `equal` as polynomials; `given` after letters are replaced by what they are set to (d_k = d_model/h);
             `different` where they are different numbers, or their quotient is that of two letters that the document
             tells apart; `unsure` otherwise
Assumes      two letters are told apart where they stand in one shape, are called different things, or both stand in
             shapes in reach and are different letters (m and n; not d and d_model, not d_q and d_k)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Literal

from sympy import Expr, Number, Symbol, cancel, expand

from derivations.documents.budget import spend
from derivations.documents.scope.lexicon import LENGTHS, WIDTHS, spelled_meaning

__all__ = ["Comparison", "Distinctions", "Relation", "compare_sizes"]

Relation = Literal["equal", "given", "unsure", "different"]

STEPS = 50  # that a comparison costs
_MOST_ROUNDS = 6
_MOST_CHOICES = 16


@dataclass(frozen=True)
class Comparison:
    """The relation between two sizes, and the equations that were used, as (letter, value)."""

    relation: Relation
    equations: tuple[tuple[str, Expr], ...] = ()


@dataclass
class Distinctions:
    """The letters in the shapes of a document, which of them share a shape, and what words call them."""

    neighbours: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    meanings: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def together(self, sizes: Sequence[Expr]) -> None:
        """Record that the letters in the sizes of one shape are different."""
        letters = sorted({symbol.name for size in sizes for symbol in size.free_symbols if isinstance(symbol, Symbol)})
        for letter in letters:
            self.neighbours[letter].update(letters)

    def called(self, key: str, meaning: Iterable[str]) -> None:
        """Record the meanings that words give to a letter."""
        self.meanings[key].update(meaning)

    def letters(self) -> frozenset[str]:
        """Return all letters of which something is known."""
        return frozenset(self.neighbours) | frozenset(self.meanings)

    def is_size(self, key: str) -> bool:
        """Return whether a letter is a size, by a shape that has it, by its spelling, or by its meaning in words."""
        sizes = LENGTHS | WIDTHS
        return bool(self.neighbours.get(key)) or spelled_meaning(key) in sizes or bool(self._called(key) & sizes)

    def _called(self, key: str) -> frozenset[str]:
        spelled = spelled_meaning(key)
        said = self.meanings.get(key)
        return frozenset(said) if said else frozenset({spelled} if spelled else ())

    def is_width(self, size: Expr) -> bool:
        """Return whether a size is surely a width of features, and not a number of positions."""
        letters = [getattr(symbol, "name", "") for symbol in size.free_symbols]
        return len(letters) == 1 and bool(self._called(letters[0])) and self._called(letters[0]) <= WIDTHS

    def is_called(self, key: str, meaning: str) -> bool:
        """Return whether a letter has the given meaning."""
        return meaning in self._called(key)

    def different(self, left: str, right: str, reach: Callable[[str], bool]) -> bool:
        """Return whether two letters are surely different sizes. `reach` tells which are in a shape in reach."""
        if left == right:
            return False
        if right in self.neighbours.get(left, ()):
            return True
        if reach(left) and reach(right) and left[0].lower() != right[0].lower():
            return True
        if {spelled_meaning(left), spelled_meaning(right)} == {"hidden width", "model width"}:
            return True
        mine, theirs = self._called(left), self._called(right)
        if mine & theirs or not mine or not theirs:
            return False
        if bool(mine & LENGTHS) != bool(theirs & LENGTHS) and bool(mine & WIDTHS) != bool(theirs & WIDTHS):
            return True
        general = {"width", "head width", "model width"}
        return mine <= WIDTHS and theirs <= WIDTHS and not (mine | theirs) & general


@lru_cache(maxsize=20_000)
def _same(left: Expr, right: Expr) -> bool:
    if left == right or (left.is_Atom and right.is_Atom):
        return bool(left == right)
    return bool(expand(left - right) == 0)


@lru_cache(maxsize=20_000)
def _ratio(left: Expr, right: Expr) -> tuple[Expr, Expr] | None:
    if not right:
        return None
    if left.is_Symbol and right.is_Symbol:
        return left, right
    above, below = cancel(left / right).as_numer_denom()
    return above, below


def compare_sizes(
    left: Expr,
    right: Expr,
    values_of: Callable[[str], tuple[Expr, ...]],
    distinctions: Distinctions,
    reach: Callable[[str], bool] = lambda letter: False,
) -> Comparison:
    """Compare two sizes. `values_of` gives the values of a letter, `reach` whether it is in a shape in reach."""
    spend(STEPS)
    if _same(left, right):
        return Comparison("equal")
    for choice in islice(_choices((left, right), values_of), _MOST_CHOICES):
        first, second = _replaced(left, choice), _replaced(right, choice)
        if _same(first, second):
            used = tuple((key, value) for key, value in choice.items() if Symbol(key) in _met((left, right), choice))
            return Comparison("given", used)
    settled = _settled((left, right), values_of)
    first, second = _replaced(left, settled), _replaced(right, settled)
    if isinstance(first, Number) and isinstance(second, Number):
        return Comparison("different", tuple(settled.items()))
    return Comparison("different" if _told_apart(left, right, distinctions, reach) else "unsure")


def _choices(sizes: tuple[Expr, Expr], values_of: Callable[[str], tuple[Expr, ...]]) -> Iterable[dict[str, Expr]]:
    """Yield assignments of values to the letters of two sizes: numbers, expressions, both, then single values."""
    letters = {key: values for key, values in _letters(sizes, values_of).items() if values}
    if not letters:
        return
    numbers = {key: next((v for v in values if not v.free_symbols), None) for key, values in letters.items()}
    yield {key: value for key, value in numbers.items() if value is not None}
    symbolic = {key: next((v for v in values if v.free_symbols), None) for key, values in letters.items()}
    yield {key: value for key, value in symbolic.items() if value is not None}
    yield {k: v for k in letters if (v := symbolic[k] if symbolic[k] is not None else numbers[k]) is not None}
    for key, values in letters.items():
        for value in values:
            yield {key: value}


def _letters(sizes: tuple[Expr, Expr], values_of: Callable[[str], tuple[Expr, ...]]) -> dict[str, tuple[Expr, ...]]:
    """Return the letters in two sizes, each with its known values. Letters that occur in these values are included."""
    letters: dict[str, tuple[Expr, ...]] = {}
    pending = [symbol.name for size in sizes for symbol in size.free_symbols if isinstance(symbol, Symbol)]
    while pending and len(letters) < _MOST_CHOICES:
        key = pending.pop()
        if key not in letters:
            letters[key] = values_of(key)[:4]
            pending.extend(s.name for value in letters[key] for s in value.free_symbols if isinstance(s, Symbol))
    return letters


def _settled(sizes: tuple[Expr, Expr], values_of: Callable[[str], tuple[Expr, ...]]) -> dict[str, Expr]:
    """Return one value for each letter: its only number, or its first expression if it has no number."""
    settled: dict[str, Expr] = {}
    for key, values in _letters(sizes, values_of).items():
        numbers = {value for value in values if not value.free_symbols}
        symbolic = [value for value in values if value.free_symbols]
        if len(numbers) == 1:
            settled[key] = next(iter(numbers))
        elif not numbers and symbolic:
            settled[key] = symbolic[0]
    return settled


def _replaced(size: Expr, choice: dict[str, Expr]) -> Expr:
    if size.is_Atom and getattr(size, "name", "") not in choice:
        return size
    for _ in range(_MOST_ROUNDS):
        met = {symbol: choice[symbol.name] for symbol in size.free_symbols if getattr(symbol, "name", "") in choice}
        if not met:
            break
        size = size.xreplace(met)
    return expand(size)


def _met(sizes: tuple[Expr, Expr], choice: dict[str, Expr]) -> set[Expr]:
    met = {symbol for size in sizes for symbol in size.free_symbols}
    for _ in range(_MOST_ROUNDS):
        met |= {inner for symbol in met for inner in choice.get(getattr(symbol, "name", ""), Number(0)).free_symbols}
    return met


def _told_apart(left: Expr, right: Expr, distinctions: Distinctions, reach: Callable[[str], bool]) -> bool:
    quotient = _ratio(left, right)
    if quotient is None:
        return False
    above, below = quotient
    if not above.free_symbols and not below.free_symbols:
        return bool(above != below)
    names = [getattr(each, "name", "") for each in (above, below)]
    if all(names):
        return distinctions.different(names[0], names[1], reach)
    return any(distinctions.is_called(name, "number of heads") for name in names if name) and 1 in (above, below)
