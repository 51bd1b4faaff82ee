"""The search for typings: kinds of all letters under which every side fits.

Result       `elaborated(sides, scope)` are at most `MOST` of them, the likeliest first; `again` reads other sides under
             one of them. Sides that are equated have one shape
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import prod

from sympy import Expr, Symbol

from derivations.documents.budget import spend
from derivations.documents.elaborate.algebra import SYMBOLIC, Algebra
from derivations.documents.elaborate.functions import MADE_OF_THE_SIGMOID, SIGMOID_WORDS, SOFTMAX, word_of
from derivations.documents.elaborate.kinds import declared_shape, kinds_of
from derivations.documents.elaborate.letters import Letter, Letters, is_kronecker, letters_of
from derivations.documents.elaborate.sizes import Clash
from derivations.documents.elaborate.uninterpreted import refuse_mixed_expectations, with_letters
from derivations.documents.elaborate.values import ZERO, Convention, NotElaborated, Reader, Value
from derivations.documents.scope import Scope
from derivations.documents.syntax import Aggregate, Call, Cases, Derivative, Name, Node, Number, Product, Sum, Transpose
from derivations.language.arrays.shapes import ShapeError
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, step

__all__ = ["Elaborated", "Misfit", "again", "elaborated"]

GRADIENT = re.compile("^(bold )?grad ")  # before the letter that a gradient is taken by
MOST = 6
TRIES = 80
MOST_COMBINED = 500  # choices of kinds that are put in order
OUTER = ("row", "column")


class Misfit(NotElaborated):
    """Raised if the sizes that the section declares fit under no typing."""


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
    turned: bool = False
    delta: bool = True
    sigmoid: bool = False
    uninterpreted: bool = False  # parts without a meaning are letters
    complete: bool = True  # no other typing fits, as far as its operations are not understood

    def stated(self, rule: str = "algebra", assuming: Sequence[Assumption] = ()) -> Derivation:
        """Return the statement that the first two sides are equal, by a rule, under assumptions."""
        left, right = self.sides[:2]
        return derivation(
            "a formula of a document", claim(left, step(rule, right)), ranges=self.ranges, assuming=assuming
        )


def elaborated(
    sides: Sequence[Node],
    scope: Scope,
    around: Sequence[Node] = (),
    *,
    sized: bool = False,
    uninterpreted: bool = False,
    algebra: Algebra = SYMBOLIC,
) -> list[Elaborated]:
    """Return the typings of sides that are stated to be equal.

    Raises NotElaborated if there is none, and Misfit if the declared sizes rule them all out.

    The sides `around` them tell which subscripts are indices; with `sized`, axes have the sizes that the section
    declares; `uninterpreted` parts, without a meaning of their own, are letters.
    """
    letters = letters_of((*sides, *around))
    if uninterpreted:
        refuse_mixed_expectations(sides)
        sides = with_letters(sides, letters)
    counts = _counts(sides, scope)
    delta = _has_kronecker(scope)
    found = _letters(sides, letters, counts, delta=delta)
    sigmoid = _speaks_of_the_sigmoid((*sides, *around), scope)
    base = _base(sides)
    arrays = _arrays(sides, letters)
    choices = [_choices(letter, kinds_of(letter, letters, scope), letter in arrays) for letter in found]
    if not all(choices):
        raise NotElaborated(sides[0], "an array of more than two axes")
    beside = _beside(sides, letters)
    typings = _ordered(choices, lambda kinds: _unlikely(dict(zip(found, kinds, strict=True)), beside))
    conventions: tuple[Convention, ...] = ("rows", "columns") if scope.convention == "rows" else ("columns", "rows")
    softmax = (False, True) if any(_is_softmax(part) for side in sides for part in side.walk()) else (False,)
    layouts = (False, True) if any(isinstance(part, Derivative) for side in sides for part in side.walk()) else (False,)
    results: dict[object, Elaborated] = {}
    failure: Exception | None = None
    complete = True
    declared = _declared(found, scope) if sized else {}
    misfits: list[tuple[object, dict[Letter, int]]] = []  # kinds of some letters that fit no reading of a manner
    for typing in typings:
        kinds = {letter: kind for letter, (_, kind) in zip(found, typing, strict=True)}
        if not _agree(kinds):
            continue
        if len(results) >= MOST:
            break
        of_vectors = conventions if 1 in kinds.values() else conventions[:1]
        for manner in product(of_vectors, softmax, layouts):
            if _is_known_misfit(manner, kinds, misfits):
                continue
            convention, upright, turned = manner
            reader = Reader(
                letters, kinds, convention, base, counts, upright, turned, delta, sigmoid, uninterpreted, algebra
            )
            if sized:
                reader.declared = declared
                reader.sizes.differ = lambda one, other: scope.compare(one, other).relation == "different"
            try:
                result = _read(sides, reader)
            except (Clash, NotElaborated, ShapeError) as error:
                complete = complete and not isinstance(error, NotElaborated)
                failure = error if failure is None or isinstance(error, NotElaborated) else failure
                misfits.append((manner, {letter: kinds[letter] for letter in reader.asked if letter in kinds}))
                continue
            results.setdefault(result.sides, result)
    if not results and complete and sized:
        raise Misfit(sides[0], str(failure))
    if not results:
        raise failure if isinstance(failure, NotElaborated) else NotElaborated(sides[0], f"no typing fits: {failure}")
    return [replace(each, complete=complete) for each in results.values()]


def _is_known_misfit(
    manner: object, kinds: Mapping[Letter, int], misfits: Sequence[tuple[object, Mapping[Letter, int]]]
) -> bool:
    """Return whether some of the letters have kinds under which the formula did not fit before."""
    return any(manner == other and misfit.items() <= kinds.items() for other, misfit in misfits)


def _speaks_of_the_sigmoid(sides: Sequence[Node], scope: Scope) -> bool:
    """Return whether sigma is the sigmoid: the document names it, or the formula has a function built from it."""
    if any(word in scope.document.prose for word in SIGMOID_WORDS):
        return True
    calls = (part for side in sides for part in side.walk() if isinstance(part, Call))
    return any(word_of(call.function) in MADE_OF_THE_SIGMOID for call in calls)


def _choices(letter: Letter, kinds: Sequence[int], is_array: bool) -> list[tuple[int, int]]:
    """Return the possible kinds of a letter, each with a penalty that is larger for less likely kinds."""
    if is_array and 0 in kinds:
        kinds = tuple(kind for kind in kinds if kind) or (1, 2)
    return [(rank * (1 + letter.name.base[:1].isupper()), kind) for rank, kind in enumerate(kinds)]


def _declared(letters: Sequence[Letter], scope: Scope) -> dict[tuple[Letter, int], Expr]:
    """Return the axis sizes that the section declares for letters without indices."""
    return {
        (letter, axis): along
        for letter in letters
        if not letter.places
        for axis, along in enumerate(declared_shape(letter, scope) or ())
        if along is not None
    }


def _arrays(sides: Sequence[Node], letters: Letters) -> set[Letter]:
    """Return the letters that cannot be numbers: those transposed, put on a diagonal or multiplied entrywise."""
    found: list[Node] = []
    for part in (part for side in sides for part in side.walk()):
        if isinstance(part, Transpose):
            found.append(part.operand)
        elif isinstance(part, Call) and part.function.base.lower() == "diag":
            found += part.arguments
        elif isinstance(part, Product) and "odot" in part.operators:
            found += part.factors
    return {letters.split(each)[0] for each in found if isinstance(each, Name)}


def _agree(kinds: Mapping[Letter, int]) -> bool:
    """Return whether every gradient has the same kind as the variable of its derivative."""
    by_key = {letter.key: kind for letter, kind in kinds.items()}
    return all(by_key.get(GRADIENT.sub("", key), kind) == kind for key, kind in by_key.items())


def _has_kronecker(scope: Scope) -> bool:
    """Return whether a delta with two indices is Kronecker's. It is, unless defined otherwise than by cases."""
    filed = scope.document.definitions
    named = (each for each in filed.declarations if each.name is not None and is_kronecker(each.name))
    return all(isinstance(each.definition, Cases) for each in named)


def _is_softmax(part: Node) -> bool:
    return isinstance(part, Call) and part.function.base.lower() in SOFTMAX


def _unlikely(kinds: Mapping[Letter, int], beside: Sequence[tuple[Letter, Letter]]) -> int:
    """Return a penalty for unlikely kinds: a number next to an array, or an x that is no vector although x_i occurs."""
    alone = sum(1 for each in beside if 0 in (pair := {kinds.get(letter, 0) for letter in each}) and len(pair) > 1)
    whole = {letter.key: kind for letter, kind in kinds.items() if not letter.places}
    entries = ((whole.get(letter.key), kind + letter.places) for letter, kind in kinds.items() if letter.places)
    return 2 * alone + 3 * sum(1 for one, other in entries if one not in (None, other))


def _beside(sides: Sequence[Node], letters: Letters) -> list[tuple[Letter, Letter]]:
    """Return the pairs of adjacent letters in products and sums: one small and one capital, or one transposed."""
    found: dict[tuple[Letter, Letter], None] = {}
    for part in (part for side in sides for part in side.walk()):
        if isinstance(part, Product | Sum):
            parts = part.factors if isinstance(part, Product) else part.terms
            for left, right in pairwise(parts):
                one, other = _last(left), _first(right)
                if one is None or other is None or not any(map(_is_small, (one, other))):
                    continue
                turned = isinstance(left, Transpose) or isinstance(right, Transpose)
                if turned or not (_is_small(one) and _is_small(other)):
                    found[letters.split(one)[0], letters.split(other)[0]] = None
    return list(found)


def _is_small(name: Name) -> bool:
    return len(name.base) == 1 and name.base.islower() and name.font != "Greek"


def _first(node: Node) -> Name | None:
    return _end(node, 0)


def _last(node: Node) -> Name | None:
    return _end(node, -1)


def _end(node: Node, at: int) -> Name | None:
    """Return the letter at one end of a product."""
    match node:
        case Name():
            return node
        case Product(factors=factors):
            return _end(factors[at], at)
        case Transpose(operand=inner):
            return _end(inner, at)
    return None


def _ordered(
    choices: list[list[tuple[int, int]]], unlikely: Callable[[tuple[int, ...]], int]
) -> list[tuple[tuple[int, int], ...]]:
    """Return the likeliest choices of kinds, the likeliest first."""
    numbers = tuple(next((each for each in of if each[1] == 0), None) for of in choices)
    while prod(map(len, choices)) > MOST_COMBINED:
        longest = max(range(len(choices)), key=lambda at: len(choices[at]))
        choices = [each[:-1] if at == longest else each for at, each in enumerate(choices)]
    spend(prod(map(len, choices)) // 4)
    found = sorted(
        product(*choices), key=lambda each: sum(rank for rank, _ in each) + unlikely(tuple(kind for _, kind in each))
    )
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
    sizes = dict(zip(map(reader.algebra.index, OUTER), (whole.rows, whole.columns), strict=True))
    at = (ZERO if reader.sizes.is_one(size) else place for place, size in sizes.items())
    row, column = at
    entries = tuple(value.entry(row, column) for value in values)
    ranges = {place: reader.sizes.resolved(size) for place, size in sizes.items()}
    ranges |= {bound.place: reader.sizes.resolved(bound.size) for bound in reader.free.values()}
    used = set().union(*map(reader.algebra.places, entries))
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
        reader.turned,
        reader.delta,
        reader.sigmoid,
        reader.uninterpreted,
    )


def _alike(value: Value, whole: Value, reader: Reader) -> None:
    """Raise Clash for a side that is smaller than another one: a number is not a vector."""
    reader.sizes.unify(value.rows, whole.rows)
    reader.sizes.unify(value.columns, whole.columns)


def _letters(sides: Sequence[Node], letters: Letters, counts: frozenset[str], *, delta: bool) -> list[Letter]:
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
            if part.key in ("π", "pi") or part.key == "e" or (delta and is_kronecker(part)):
                continue
            found.setdefault(letters.split(part)[0])
    return list(found)


def _counts(sides: Sequence[Node], scope: Scope) -> frozenset[str]:
    """Return the letters that are sizes: upper bounds of sums, declared sizes, and d with a subscript."""
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


def again(sides: Sequence[Node], typing: Elaborated, algebra: Algebra = SYMBOLIC) -> Elaborated:
    """Return other sides under a known typing, built in an algebra. Raises NotElaborated where they do not fit."""
    letters, counts = typing.letters, typing.counts
    kinds = dict(typing.kinds)
    manner = typing.upright, typing.turned, typing.delta, typing.sigmoid, typing.uninterpreted
    if typing.uninterpreted:
        sides = with_letters(sides, letters)
    reader = Reader(letters, kinds, typing.convention, typing.base, counts, *manner, algebra)
    try:
        return _read(sides, reader)
    except (Clash, ShapeError) as error:
        raise NotElaborated(sides[0], str(error)) from error
