"""The fingerprint of an expression: numbers that do not depend on the names of its letters and indices.

Definition   axes of a letter at which the same free index always stands are dropped: they say which copy is meant. All
             letters with the same number of axes get the same entries, all numbers one value, all axes one size; then
             one letter at a time gets other entries. The numbers that come out, sorted, are the fingerprint
Result       expressions that are equal up to the names of letters, indices and sizes have one fingerprint; those with
             one fingerprint are candidates for the judge, nothing more
Raises       NoNumber where an expression has none here
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from sympy import Abs, Basic, Expr, Indexed, Integer, KroneckerDelta, Rational, Sum, Symbol, log, tan
from sympy.core.function import AppliedUndef

from derivations.documents.budget import spend
from derivations.documents.canon import rounded
from derivations.documents.canon.scalar_sampling import FUNCTIONS, NoNumber, drawn_unknown
from derivations.language.arrays.expression import array
from derivations.symbols import scalar

__all__ = [
    "LETTER",
    "LONGEST",
    "SIZE",
    "Fingerprint",
    "Numbers",
    "Plain",
    "drawn_at",
    "fingerprint",
    "plain",
    "profile",
    "responses",
    "rounded_off",
]

Fingerprint: TypeAlias = tuple[Any, ...]
Numbers: TypeAlias = tuple[float, ...]
Env: TypeAlias = dict[Any, Any]
Evaluated: TypeAlias = Callable[[Env], float]
SIZE = 3
LETTER = 1.17  # of every letter that is a number
LONGEST = 12  # sum


@dataclass(frozen=True)
class Plain:
    """An expression without idle axes, with its arrays, its scalars and its free indices."""

    expression: Expr
    kept: Mapping[Symbol, tuple[int, ...]]  # of every array, the axes that do not only say which copy is meant
    scalars: tuple[Expr, ...]  # symbols, and entries at places that nothing binds
    free: tuple[Symbol, ...]


def plain(expression: Expr) -> Plain:
    """Return an expression without its idle axes, which always have the same unbound index.

    An entry at places that no sum binds is a number like any other, m_j and m_{j-1} are two; a size that stands as a
    number is one as well. So v_i + w_i is one formula, whether v and w are vectors or numbers that have an index.
    """
    bound = {symbol for whole in expression.atoms(Sum) for symbol in whole.bound_symbols}
    arrays = bound if not expression.has(KroneckerDelta) else None  # a delta tells the places of entries apart
    places: dict[Symbol, list[set[Any]]] = {}
    for entry in expression.atoms(Indexed):
        label = entry.base.label
        here = places.setdefault(label, [set() for _ in entry.indices])
        if not isinstance(label, Symbol) or len(here) != len(entry.indices):
            raise NoNumber("an entry of what is no array, or a letter with different numbers of axes")
        for at, place in zip(here, entry.indices, strict=True):
            at.add(place)
    axes = {
        label: tuple(at for at, found in enumerate(axes) if len(found) > 1 or next(iter(found)).free_symbols & bound)
        for label, axes in sorted(places.items(), key=lambda each: each[0].name)
        if arrays is None or any(place.free_symbols & arrays for found in axes for place in found)
    }
    expression = expression.xreplace(
        {entry: _reduced(entry, axes.get(entry.base.label, ())) for entry in expression.atoms(Indexed)}
    )
    logged = {letter for each in expression.atoms(log) for letter in each.args[0].atoms(Symbol)} - {*places}
    positive = {letter: scalar(letter.name, positive=True) for letter in logged if not letter.is_integer}
    expression = expression.xreplace(positive)
    kept = {label: tuple(range(len(those))) for label, those in axes.items() if those}
    alone = set(_written(expression, frozenset(), kept))
    at_places = {s for entry in expression.atoms(Indexed) for place in entry.indices for s in place.free_symbols}
    deltas = {s for each in expression.atoms(KroneckerDelta) for s in each.free_symbols}
    free = tuple(sorted((s for s in alone if _is_index(s) and s in at_places | deltas), key=lambda s: s.name))
    return Plain(expression, kept, tuple(sorted(alone - {*free}, key=lambda s: s.name)), free)


def _reduced(entry: Indexed, axes: Sequence[int]) -> Expr:
    """Return an entry without its idle axes. If no axis is left, it is a scalar."""
    label = entry.base.label
    if axes:
        return array(label.name, *(entry.base.shape[at] for at in axes)).entry(*(entry.indices[at] for at in axes))
    return scalar(f"{label.name}[{', '.join(map(str, entry.indices))}]")


def _is_index(symbol: Symbol) -> bool:
    return bool(symbol.is_integer) and not symbol.is_positive


def _written(node: Basic, bound: frozenset[Any], kept: Mapping[Symbol, tuple[int, ...]]) -> Iterator[Symbol]:
    """Yield the unbound symbols of an expression, except array labels, sizes in bounds and idle indices."""
    match node:
        case Symbol():
            if node not in bound:
                yield node
        case Indexed():
            for axis in kept.get(node.base.label, ()):
                yield from _written(node.indices[axis], bound, kept)
        case Sum():
            inner = bound | set(node.bound_symbols)
            yield from _written(node.function, inner, kept)
            for _, low, high in node.limits:
                yield from (s for end in (low, high) for s in _written(end, inner, kept) if not s.is_positive)
        case _:
            for part in node.args:
                yield from _written(part, bound, kept)


def profile(of: Plain) -> tuple[Any, ...]:
    """Return how many indices, arrays and scalars an expression has: the part of a fingerprint that is cheap."""
    return len(of.free), tuple(sorted(map(len, of.kept.values()))), len(of.scalars)


def fingerprint(of: Plain, among: Sequence[Collection[Numbers]] | None = None) -> Fingerprint | None:
    """Return the fingerprint of an expression, or None if no known expression can have the same one.

    The first numbers are those before any letter is changed. `among` holds the first numbers of known expressions.
    """
    if among is not None and not among:
        return None
    numbers = _numbers(of)
    first = numbers({})
    if among is not None and not any(first in each for each in among):
        return None
    return len(of.free), first, tuple(sorted(response for _, response in _responses(of, numbers)))


def responses(of: Plain) -> list[tuple[Expr, tuple[int, Numbers]]]:
    """Return for each letter its number of axes, and the numbers that result if its entries alone change."""
    return _responses(of, _numbers(of))


def _responses(of: Plain, numbers: Callable[[Env], Numbers]) -> list[tuple[Expr, tuple[int, Numbers]]]:
    found: list[tuple[Expr, tuple[int, Numbers]]] = []
    found += [(label, (len(axes), numbers({label: True}))) for label, axes in of.kept.items()]
    return found + [(symbol, (0, numbers({symbol: 1.71}))) for symbol in of.scalars]


def _numbers(of: Plain) -> Callable[[Env], Numbers]:
    """Return a function from changed letters to the sorted values of the expression at all indices."""
    value = _Compiler(of.kept).compiled(of.expression)
    grid = list(product(range(SIZE), repeat=len(of.free)))
    if len(grid) > SIZE**3:
        raise NoNumber("more than three free indices")
    given: Env = dict.fromkeys(of.scalars, LETTER)

    def numbers(changed: Env) -> Numbers:
        found = []
        for at in grid:
            spend()
            try:
                number = value({**given, **changed, **dict(zip(of.free, at, strict=True))})
            except ZeroDivisionError:  # of a difference, since all letters are one number: so it is under every name
                number = math.inf
            except (ValueError, OverflowError, TypeError) as error:
                raise NoNumber(str(error)) from error
            found.append(rounded_off(number))
        return tuple(sorted(found))

    return numbers


def rounded_off(value: float) -> float:
    """Return a number rounded to eight digits, or 0 if it is tiny, as fingerprints have it."""
    return float(f"{value:.8g}") if abs(value) > 1e-9 else 0.0


# --- numbers ---


def drawn_at(places: Sequence[int], changed: bool = False) -> float:
    """Return the sample entry of an array at given indices, which is the same for every letter."""
    at = math.fsum((place + 1) * weight for place, weight in zip(places, (0.37, 0.83, 1.29, 1.91), strict=False))
    return rounded.sin(3.1 * at + (0.9 if changed else 0.2)) + (0.11 if changed else 0.05)


@dataclass(frozen=True)
class _Compiler:
    """Turns an expression into a function of the numbers of its letters, indices and sizes."""

    kept: Mapping[Symbol, tuple[int, ...]]

    def compiled(self, node: Any) -> Evaluated:
        match node:
            case Symbol():
                return lambda env: env[node] if node in env else _size(node)
            case Rational():
                number = int(node.p) / int(node.q)
                return lambda env: number
            case Indexed():
                return self._entry(node)
            case Sum():
                return self._sum(node)
        for kind, rule in _FUNCTIONS:
            if isinstance(node, kind):
                parts = [self.compiled(part) for part in node.args]
                return lambda env: rule([part(env) for part in parts])
        raise NoNumber(type(node).__name__)

    def _entry(self, node: Any) -> Evaluated:
        label = node.base.label
        if label not in self.kept:
            return lambda env: env[node]
        places = [self.compiled(node.indices[axis]) for axis in self.kept[label]]
        return lambda env: drawn_at([int(place(env)) for place in places], label in env)

    def _sum(self, node: Any) -> Evaluated:
        inner = self.compiled(node.function)
        for place, low, high in node.limits:
            inner = _one_sum(inner, place, self._bound(low), self._bound(high))
        return inner

    def _bound(self, end: Expr) -> Evaluated:
        """Return the compiled bound of a sum, in which every size has the value SIZE."""
        if end.has(Indexed):
            raise NoNumber("an entry as the end of a sum")
        return self.compiled(end.xreplace({symbol: Integer(SIZE) for symbol in end.free_symbols if symbol.is_positive}))


def _size(symbol: Any) -> float:
    if not symbol.is_positive:
        raise NoNumber(f"{symbol} has no number")
    return float(SIZE)


def _one_sum(inner: Evaluated, place: Any, low: Evaluated, high: Evaluated) -> Evaluated:
    def value(env: Env) -> float:
        start, end = int(low(env)), int(high(env))
        if end - start > LONGEST:
            raise NoNumber("a long sum")
        return math.fsum(inner({**env, place: at}) for at in range(start, end + 1))

    return value


_FUNCTIONS = (
    *FUNCTIONS,
    (tan, lambda parts: rounded.tan(parts[0])),
    (Abs, lambda parts: abs(parts[0])),
    (AppliedUndef, lambda parts: drawn_unknown(parts[0])),  # an activation of any kind
)
