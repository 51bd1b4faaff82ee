"""Counterexamples: values that satisfy the assumptions and for which a step fails, found by trying small sizes.

Every value is an exact fraction and every comparison is between intervals, so a counterexample is rigorous. A search
without result proves nothing. The values have every declared property of their symbol, array or function, and satisfy
every assumption. Both sides are defined for them: no derivative is taken at a kink, and no sum has fewer than 0 terms.
Values for which this cannot be checked are not used.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any

import mpmath
from sympy import Basic, Eq, IndexedBase, Integer, Mod, Symbol

from derivations.language.arrays.binding import free_symbols
from derivations.language.arrays.expression import Array
from derivations.language.arrays.scalars import Expectation, Variance
from derivations.language.arrays.shapes import Blocks, Pair, ShapeError, flat, total
from derivations.language.arrays.shown import VIEWS
from derivations.language.judge.declared_numbers import first_fitting, fits
from derivations.language.judge.domains import partial_entries
from derivations.language.judge.evaluate import NotEvaluable, Sample, evaluate, holds, whole
from derivations.language.results.derivation import Assumption, Claim, Derivation
from derivations.symbols import pos

__all__ = ["Counterexample", "find_counterexample"]

_SIZE = Symbol("n", integer=True, positive=True)
_TRIES = 12
_PLACES = 40
_CASES = 2_000  # choices of indices that are listed; `_PLACES` of them are tried
_SMALL, _LARGE = mpmath.mpf("1e-6"), mpmath.mpf("1e9")  # between them a reader checks both sides with a calculator
_SHOWN = 8  # entries printed with a counterexample; the seed gives the others


@dataclass(frozen=True)
class Counterexample:
    """Values for which a step fails: sizes, indices, scalars and the entries that were read, and both sides.

    Indices count from 1, as in all that is printed; beside a position `pos` they count from 0.
    """

    values: tuple[tuple[str, str], ...]
    entries: tuple[tuple[str, str], ...]
    left: str
    right: str
    seed: int
    place: tuple[int, ...] = ()  # of the entry of two arrays that differs; none for numbers
    extreme: bool = False  # a side is so large or small that floating point would hardly show the difference

    def __str__(self) -> str:
        """Return the counterexample as one sentence."""
        shown = [f"{name} = {value}" for name, value in (*self.values, *self.entries[:_SHOWN])]
        more = len(self.entries) - _SHOWN
        if more > 0:
            shown.append(f"{more} more entries from seed {self.seed}")
        where = f"at {', '.join(shown)} " if shown else ""
        if self.place:
            entry = self.place[0] if len(self.place) == 1 else self.place
            where += f"in entry {entry} "
        return f"{where}the left side is {self.left}, the right side {self.right}"


def find_counterexample(
    left: Basic, relation: str, right: Basic, claim: Claim, derivation: Derivation
) -> Counterexample | None:
    """Return values for which `left relation right` fails, or None."""
    assumptions = (*derivation.assumptions, *claim.given)
    # a sample is one outcome, and no outcome shows that an expectation has its assumed value
    if any(a.statement.has(Expectation, Variance) for a in assumptions) or relation not in _FAILS:
        return None
    if not isinstance(left, Array) and not hasattr(left, "is_commutative"):
        return None
    extreme = None
    # an attempt without values is no answer: the next one draws other sizes and entries
    for attempt in range(_TRIES):
        try:
            sample = _sample((left, right, *(a.statement for a in assumptions)), derivation, attempt)
            found = _try(left, relation, right, assumptions, derivation, sample)
        except (NotEvaluable, ShapeError, TypeError, ValueError, AttributeError, OverflowError):
            continue
        if found is not None and not found.extreme:
            return found
        extreme = extreme or found
    return extreme


def _sample(stated: tuple[Basic, ...], derivation: Derivation, attempt: int) -> Sample:
    source = random.Random(f"witness {attempt}")  # this text decides which values are drawn
    parts = [*stated, *derivation.ranges.values(), *(e.value for e in derivation.definitions)]
    symbols = sorted({s for part in parts for s in part.atoms(Symbol)}, key=lambda s: s.name)
    integers, scalars, divisors = {}, {}, _divisors(derivation)
    for symbol in symbols:
        if symbol.is_integer and symbol.is_positive:
            if symbol.assumptions0 != _SIZE.assumptions0:
                raise NotEvaluable(f"{symbol} was declared to be of a kind that no sample has")
            # sizes 1, 2 and 3 times an assumed divisor: most false statements fail at small sizes
            integers[symbol.name] = divisors.get(symbol, 1) * (1 + (attempt + source.randrange(3)) % 3)
        elif not symbol.is_integer:
            value = Fraction(source.randint(1, 12), source.choice((2, 3, 5)))
            found = first_fitting((-value if source.random() < 0.5 else value,), symbol)
            if found is not None:
                scalars[symbol.name] = found
    numbers = {s: Integer(integers[s.name]) for s in symbols if s.name in integers}
    equations = (equation.xreplace(numbers) for equation in derivation.definitions)
    sample = Sample(integers, scalars, attempt, {e.variable.name: e.value_at for e in equations})
    for name, inverse, size in derivation.bijections:
        order = list(range(whole(size, sample)))
        source.shuffle(order)
        sample.bijections |= {name: tuple(order), inverse: tuple(order.index(k) for k in range(len(order)))}
    return sample


def _divisors(derivation: Derivation) -> dict[Basic, int]:
    """Return the assumed divisors of sizes."""
    statements = [a.statement for a in derivation.assumptions if isinstance(a.statement, Eq)]
    remainders = [s.lhs.args for s in statements if isinstance(s.lhs, Mod) and s.rhs == 0]
    return {size: int(divisor) for size, divisor in remainders if divisor.is_Integer}


def _cases(ranges: dict[str, Basic], sample: Sample) -> Iterator[dict[str, int]]:
    """Yield values of all indices; the range of one may depend on others."""
    if not ranges:
        yield {}
        return
    name = next((n for n, size in ranges.items() if not {s.name for s in size.free_symbols} & set(ranges)), None)
    if name is None:
        raise NotEvaluable("the ranges of indices depend on one another")
    rest = {other: size for other, size in ranges.items() if other != name}
    for value in range(_size(ranges[name], sample)):
        sample.integers[name] = value
        for others in _cases(rest, sample):
            yield {name: value, **others}


def _try(
    left: Basic,
    relation: str,
    right: Basic,
    assumptions: tuple[Assumption, ...],
    derivation: Derivation,
    sample: Sample,
) -> Counterexample | None:
    ranges = {symbol.name: size for symbol, size in derivation.ranges.items()}
    places, axes = [], []
    arrays = tuple(part for part in (left, right) if isinstance(part, Array))
    if isinstance(left, Array) and isinstance(right, Array):
        if len(left.shape) != len(right.shape):
            return None
        for number, (a, b) in enumerate(zip(left.shape, right.shape, strict=True)):
            along = b if isinstance(b, Blocks) else a
            # a no-break space in the name: no user writes such a symbol
            names = [Symbol(f"place\xa0{number} {part}", integer=True) for part in range(1 + isinstance(along, Blocks))]
            sizes = (along.count, along.size) if isinstance(along, Blocks) else (along,)
            axes += list(zip((s.name for s in names), sizes, strict=True))
            places.append(Pair(names[0], names[1], along.size) if isinstance(along, Blocks) else names[0])
        left, right = left.entry(*places), right.entry(*places)
    symbols = _symbols(left, right, *(a.statement for a in assumptions), *derivation.definitions)
    # the list starts at the first entries of the arrays: a draw among its choices sees others as well
    cases = list(islice(_cases(ranges | dict(axes), sample), _CASES))
    random.Random(sample.seed).shuffle(cases)
    for case in cases[:_PLACES]:
        sample.integers |= case
        if not _as_declared(symbols, sample) or not _inside(assumptions, sample):
            continue
        sample.spent = 0
        sample.read.clear()
        a, b = evaluate(left, sample), evaluate(right, sample)
        if _FAILS[relation](a, b):
            # a side that is undefined at these values claims nothing there
            for array in arrays:
                _check_domain(array, tuple(places), sample)
            stated = {s.name for part in (left, right, *ranges.values()) for s in part.atoms(Symbol)} | set(case)
            stated -= {name for name, _ in axes}
            numbers = {**sample.scalars, **sample.integers}
            hidden = {*sample.arrays_read, *sample.definitions}
            stated -= hidden
            first = 0 if pos.name in stated else 1
            counted = numbers | {name: place + first for name, place in case.items()}
            entry = tuple(whole(flat(place), sample) + first for place in places)
            values = tuple(sorted((n, str(v)) for n, v in counted.items() if n in stated))
            entries = tuple((_printed_entry(*key, first), str(value)) for key, value in sorted(sample.read.items()))
            free = {name: value for name, value in sample.scalars.items() if name not in hidden}
            values = values or tuple(sorted((name, str(value)) for name, value in free.items()))
            return Counterexample(values, entries, _show(a), _show(b), sample.seed, entry, _extreme(a, b))
    return None


def _printed_entry(name: str, places: tuple[int, ...], first: int) -> str:
    """Return an entry as the text printer writes it, with indices that count from `first`."""
    entry = IndexedBase(name)[tuple(place + first - 1 for place in places)] if places else Symbol(name)
    return str(VIEWS["text"](entry))


def _symbols(*parts: Basic) -> tuple[Symbol, ...]:
    """Return the free symbols that are not labels of arrays."""
    labels = {base.label for part in parts for base in part.atoms(IndexedBase)}
    found = {s for part in parts for s in free_symbols(part) if isinstance(s, Symbol)} - labels
    return tuple(sorted(found, key=str))


def _as_declared(symbols: tuple[Symbol, ...], sample: Sample) -> bool:
    """Return whether the value of each name has the declared properties of every symbol with that name."""
    for symbol in symbols:
        value = sample.integers.get(symbol.name, sample.scalars.get(symbol.name))
        if value is not None and not fits(Fraction(value), symbol):
            return False
    return True


def _check_domain(array: Array, places: tuple[Any, ...], sample: Sample) -> None:
    """Raise `NotEvaluable` if a part of an array is undefined at an entry, even if SymPy cancelled it there."""
    ranges: dict[str, Basic] = {}

    def fresh(along: Any) -> Any:
        sizes = (along.count, along.size) if isinstance(along, Blocks) else (along,)
        names = [Symbol(f"inner\xa0{len(ranges) + number}", integer=True) for number in range(len(sizes))]
        ranges.update(zip((name.name for name in names), sizes, strict=True))
        return Pair(names[0], names[1], along.size) if isinstance(along, Blocks) else names[0]

    parts = list(partial_entries(array, places, fresh))
    before = dict(sample.integers)
    for case in _cases(ranges, sample):
        sample.integers |= case
        for part in parts:
            evaluate(part, sample)
    sample.integers = before


def _size(size: Basic, sample: Sample) -> int:
    """Return the number of values of an index. Raise `NotEvaluable` if it is negative."""
    value = whole(total(size), sample)
    if value < 0:
        raise NotEvaluable(f"a range of {value} places")
    return value


def _inside(assumptions: tuple[Assumption, ...], sample: Sample) -> bool:
    for assumption in assumptions:
        names = [index.name for index in assumption.ranges]
        for case in product(*(range(_size(size, sample)) for size in assumption.ranges.values())):
            saved = dict(sample.integers)
            sample.integers |= dict(zip(names, case, strict=True))
            # undecided raises `NotEvaluable`: values that may violate an assumption are not used
            true = holds(assumption.statement, sample)
            sample.integers = saved
            if not true:
                return False
    return True


def _extreme(*sides: Any) -> bool:
    """Return whether the larger absolute value of the two sides is below 10^-6 or above 10^9."""
    sizes = [abs(mpmath.mpf(side.mid.a)) for side in sides]
    return max(sizes) < _SMALL or max(sizes) > _LARGE


def _show(value: Any) -> str:
    return str(mpmath.nstr(mpmath.mpf(value.mid.a), 12))


# mpmath compares two intervals as True only if the relation holds for all their points, and as None if it is open.
_FAILS = {
    "=": lambda a, b: bool(a < b) or bool(b < a),
    "<=": lambda a, b: bool(a > b),
    "<": lambda a, b: bool(a >= b),
    ">=": lambda a, b: bool(a < b),
    ">": lambda a, b: bool(a <= b),
}
