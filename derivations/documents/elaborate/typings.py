"""The search for typings: kinds of all letters under which every side fits.

Result       `elaborated(sides, scope)` are at most `MOST` of them, the likeliest first; `again` reads other sides under
             one of them. Sides that are equated have one shape
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from sympy import Expr, Symbol

from derivations.documents.elaborate.functions import SOFTMAX
from derivations.documents.elaborate.kinds import kinds_of
from derivations.documents.elaborate.letters import Letter, Letters, letters_of
from derivations.documents.elaborate.sizes import Clash
from derivations.documents.elaborate.values import ZERO, Convention, NotElaborated, Reader, Value
from derivations.documents.scope import Scope
from derivations.documents.syntax import Aggregate, Call, Name, Node, Number
from derivations.language.arrays.shapes import ShapeError
from derivations.language.results.derivation import Derivation, claim, derivation, step
from derivations.symbols import index

__all__ = ["Elaborated", "elaborated"]

GRADIENT = re.compile("^(bold )?grad ")  # before the letter that a gradient is taken by
MOST = 6
TRIES = 80
MOST_COMBINED = 3_000  # choices of kinds that are put in order
ROW, COLUMN = index("row"), index("column")


@dataclass(frozen=True)
class Elaborated:
    """The sides of a statement as entries at (row, column), with the ranges of their indices."""

    sides: tuple[Expr, ...]
    ranges: dict[Symbol, Expr]
    kinds: tuple[tuple[Letter, int], ...]
    convention: Convention
    letters: Letters
    base: int
    counts: frozenset[str]
    upright: bool
    complete: bool = True  # no other typing fits, as far as its operations are not understood

    def stated(self, rule: str = "algebra") -> Derivation:
        """Return the statement that the first two sides are equal, by a rule."""
        left, right = self.sides[:2]
        return derivation("a formula of a document", claim(left, step(rule, right)), ranges=self.ranges)


def elaborated(sides: Sequence[Node], scope: Scope, around: Sequence[Node] = ()) -> list[Elaborated]:
    """Return the typings of sides that are said to be equal; NotElaborated where there is none.

    The sides `around` them tell which subscripts are indices.
    """
    letters = letters_of((*sides, *around))
    counts = _counts(sides, scope)
    found = _letters(sides, letters, counts)
    base = _base(sides)
    choices = [[(rank, kind) for rank, kind in enumerate(kinds_of(letter, letters, scope))] for letter in found]
    if not all(choices):
        raise NotElaborated(sides[0], "an array of more than two axes")
    typings = _ordered(choices)
    conventions: tuple[Convention, ...] = ("rows", "columns") if scope.convention == "rows" else ("columns", "rows")
    softmax = (False, True) if any(_is_softmax(part) for side in sides for part in side.walk()) else (False,)
    results: dict[object, Elaborated] = {}
    failure: Exception | None = None
    complete = True
    for typing in typings:
        kinds = {letter: kind for letter, (_, kind) in zip(found, typing, strict=True)}
        if not _agree(kinds):
            continue
        for convention, upright in product(conventions, softmax):
            reader = Reader(letters, kinds, convention, base, counts, upright)
            try:
                result = _read(sides, reader)
            except (Clash, NotElaborated, ShapeError) as error:
                complete = complete and not isinstance(error, NotElaborated)
                failure = error if failure is None or isinstance(error, NotElaborated) else failure
                continue
            results.setdefault(result.sides, result)
            if len(results) >= MOST:
                break
    if not results:
        raise failure if isinstance(failure, NotElaborated) else NotElaborated(sides[0], f"no typing fits: {failure}")
    return [replace(each, complete=complete) for each in results.values()]


def _agree(kinds: Mapping[Letter, int]) -> bool:
    """Say whether every gradient has the kind of what it is taken by."""
    by_key = {letter.key: kind for letter, kind in kinds.items()}
    return all(by_key.get(GRADIENT.sub("", key), kind) == kind for key, kind in by_key.items())


def _is_softmax(part: Node) -> bool:
    return isinstance(part, Call) and part.function.base.lower() in SOFTMAX


def _ordered(choices: list[list[tuple[int, int]]]) -> list[tuple[tuple[int, int], ...]]:
    """Return the likeliest choices of kinds, the likeliest first."""
    while prod(map(len, choices)) > MOST_COMBINED:
        longest = max(range(len(choices)), key=lambda at: len(choices[at]))
        choices = [each[:-1] if at == longest else each for at, each in enumerate(choices)]
    found = sorted(product(*choices), key=lambda each: sum(rank for rank, _ in each))
    numbers = tuple(next((each for each in of if each[1] == 0), None) for of in choices)
    likeliest = found[:TRIES]
    if None not in numbers and numbers not in likeliest:  # all letters may be numbers
        likeliest.append(numbers)  # type: ignore[arg-type]
    return likeliest


def _read(sides: Sequence[Node], reader: Reader) -> Elaborated:
    try:
        return _entries(sides, reader)
    except (ValueError, TypeError) as error:  # an expression that SymPy does not build: the order of complex numbers
        raise NotElaborated(sides[0], f"no expression: {error}") from error


def _entries(sides: Sequence[Node], reader: Reader) -> Elaborated:
    values = [reader.value(side) for side in sides]
    whole = reader.together(values, lambda *entries: entries[0])
    for value in values:
        if not value.bare:
            _alike(value, whole, reader)
    row = ZERO if reader.sizes.is_one(whole.rows) else ROW
    column = ZERO if reader.sizes.is_one(whole.columns) else COLUMN
    entries = tuple(value.entry(row, column) for value in values)
    ranges = {ROW: reader.sizes.resolved(whole.rows), COLUMN: reader.sizes.resolved(whole.columns)}
    ranges |= {bound.place: reader.sizes.resolved(bound.size) for bound in reader.free.values()}
    used = set().union(*(entry.free_symbols for entry in entries))
    ranges = {place: along for place, along in ranges.items() if place in used}
    return Elaborated(
        entries,
        ranges,
        tuple(reader.kinds.items()),
        reader.convention,
        reader.letters,
        reader.base,
        reader.counts,
        reader.upright,
    )


def _alike(value: Value, whole: Value, reader: Reader) -> None:
    """Refuse a side that is smaller than another one: a number is no vector."""
    reader.sizes.unify(value.rows, whole.rows)
    reader.sizes.unify(value.columns, whole.columns)


def _letters(sides: Sequence[Node], letters: Letters, counts: frozenset[str]) -> list[Letter]:
    found: dict[Letter, None] = {}
    heads = {id(part.function) for side in sides for part in side.walk() if isinstance(part, Call)}
    inside = set()
    for side in sides:
        for part in side.walk():
            if isinstance(part, Name):
                inside |= {id(below) for script in (*part.subscripts, *part.superscripts) for below in script.walk()}
            if isinstance(part, Aggregate):
                inside |= {id(each) for each in part.index}
    for side in sides:
        for part in side.walk():
            if not isinstance(part, Name) or id(part) in heads or id(part) in inside:
                continue
            if part.key in counts or (part.key in letters.indices and not part.subscripts):
                continue
            if part.key in ("π", "pi") or part.key == "e":
                continue
            found.setdefault(letters.split(part)[0])
    return list(found)


def _counts(sides: Sequence[Node], scope: Scope) -> frozenset[str]:
    """Return the letters that are sizes: upper bounds of sums, and what is declared as one."""
    found = set()
    for part in (part for side in sides for part in side.walk()):
        if isinstance(part, Aggregate) and part.upper is not None:
            found |= {each.key for each in part.upper.walk() if isinstance(each, Name)}
        if isinstance(part, Name) and scope.is_declared_size(part.key):
            found.add(part.key)
        if isinstance(part, Name) and part.base == "d" and part.subscripts:
            found.add(part.key)
    return frozenset(found) - _bound(sides)


def _bound(sides: Sequence[Node]) -> set[str]:
    return {each.key for side in sides for part in side.walk() if isinstance(part, Aggregate) for each in part.index}


def _base(sides: Sequence[Node]) -> int:
    lows = [p.lower for side in sides for p in side.walk() if isinstance(p, Aggregate) and isinstance(p.lower, Number)]
    return 1 if any(low.value == 1 for low in lows) else 0


def again(sides: Sequence[Node], typing: Elaborated, scope: Scope) -> Elaborated:
    """Return other sides under a typing that is known; NotElaborated where they do not fit."""
    letters, counts = typing.letters, typing.counts
    reader = Reader(letters, dict(typing.kinds), typing.convention, typing.base, counts, typing.upright)
    try:
        return _read(sides, reader)
    except (Clash, ShapeError) as error:
        raise NotElaborated(sides[0], str(error)) from error
