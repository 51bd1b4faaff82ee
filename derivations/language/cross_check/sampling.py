"""Assignments that satisfy the assumptions of a derivation: sizes are tried, arrays are drawn and then repaired.

An assumed equation or inequality that fails is repaired at a value that it reads: a mask or a token number is drawn
again, an entry is solved for, or all entries that it reads are multiplied by one factor. At the end every assumption is
checked, and an assignment that fails is discarded.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sympy import Basic, Eq, Mod, Symbol

from derivations.language.arrays.expression import OnlyEntry, Variable
from derivations.language.arrays.scalars import Expectation, Variance
from derivations.language.cross_check.assignment import Assignment, NotCovered, Undefined, inside, meaning, whole
from derivations.language.cross_check.distributions import set_distributions
from derivations.language.cross_check.repair import holds, repair
from derivations.language.results.derivation import Assumption, Claim, Derivation

__all__ = ["Situation", "assignments"]

_TRIES_OF_SIZES = 400
_TRIES = 6
_SHAPES = ("skew", "symmetric", "fixed", "unit")
_PRIMES = (2, 3, 5, 2, 3, 1)


@dataclass(frozen=True)
class Situation:
    """The context of a claim: the derivation, the assumptions in force, and the symbols that occur."""

    derivation: Derivation
    assumptions: tuple[Assumption, ...]
    symbols: tuple[Symbol, ...]
    random_arrays: bool
    uses_indices: bool  # whether definitions or assumptions mention an index of the statement

    @property
    def statements(self) -> Iterator[Basic]:
        """All expressions of the claims, definitions and assumptions."""
        for claim in self.derivation.claims:
            yield claim.lhs
            yield from (s.expression for s in claim.steps)
        yield from (e.value for e in self.derivation.definitions)
        yield from (a.statement for a in self.assumptions)

    @staticmethod
    def of(derivation: Derivation, claim: Claim, relaxed: bool = False) -> Situation:
        """Return the situation of a claim; with `relaxed`, without assumptions that fix a size to a large number."""
        assumptions = (*derivation.assumptions, *claim.given)
        if relaxed:
            assumptions = tuple(a for a in assumptions if not _fixes_a_size(a.statement))
        statements = [claim.lhs, *(s.expression for s in claim.steps), *derivation.ranges.values()]
        statements += [size for _, _, size in derivation.bijections]
        context = [*derivation.definitions, *(part for a in assumptions for part in (a.statement, *a.ranges.values()))]
        symbols = {symbol for part in (*statements, *context) for symbol in inside(part, Symbol)}
        variables = {variable for part in (*statements, *context) for variable in inside(part, Variable)}
        symbols |= {OnlyEntry(each.name, real=True) for each in variables if not each.shape and each.kind == "real"}
        indices = set(derivation.ranges)
        mentioned = {symbol for part in context for symbol in inside(part, Symbol)}
        return Situation(
            derivation,
            assumptions,
            tuple(sorted(symbols, key=str)),
            any(inside(part, Expectation) or inside(part, Variance) for part in (*statements, *context)),
            bool(indices & mentioned),
        )


def _fixes_a_size(statement: Basic) -> bool:
    return (
        isinstance(statement, Eq) and _is_size(statement.lhs) and bool(statement.rhs.is_Integer) and statement.rhs > 8
    )


def _is_size(symbol: Basic) -> bool:
    return isinstance(symbol, Symbol) and bool(symbol.is_integer and symbol.is_positive)


def assignments(situation: Situation, attempt: int, places: int) -> Iterator[Assignment]:
    """Yield assignments of one attempt, for up to `places` choices of the indices of the statement.

    Raises       NotCovered when no values are found that satisfy the assumptions
    """
    source = random.Random(f"{situation.derivation.id} {attempt}")
    sizes = _sizes(situation, attempt, source)
    choices = _choices(situation, sizes, places, source)
    if not situation.uses_indices and choices:  # the assumptions ignore the indices: one repair serves all choices
        assignment = _repaired(situation, sizes, choices[0], attempt, source)
        for choice in choices:
            assignment.base |= choice
            assignment.values |= choice
            for other in assignment._children.values():
                other.base |= choice
            yield assignment
        return
    for choice in choices:
        yield _repaired(situation, sizes, choice, attempt, source)


def _choices(
    situation: Situation, sizes: dict[Symbol, Any], places: int, source: random.Random
) -> list[dict[Symbol, int]]:
    ranges = situation.derivation.ranges
    found: dict[tuple[int, ...], dict[Symbol, int]] = {}
    for trial in range(4 * places):  # the first values of all indices, then the last ones, then random ones
        pick = {0: lambda count: 0, 1: lambda count: count - 1}.get(trial, source.randrange)
        choice = _choice(dict(ranges), sizes, pick)
        if choice is not None:
            found.setdefault(tuple(choice[index] for index in ranges), choice)
        if len(found) == places:
            break
    return list(found.values())


def _choice(
    ranges: dict[Symbol, Basic], sizes: dict[Symbol, Any], pick: Callable[[int], int]
) -> dict[Symbol, int] | None:
    """Choose a value for every index, after the indices that its range depends on. Return None if a range is empty."""
    chosen: dict[Symbol, int] = {}
    while ranges:
        ready = next((index for index, size in ranges.items() if not size.free_symbols & ranges.keys()), None)
        if ready is None:
            raise NotCovered("ranges of indices depend on each other")
        count = whole(meaning(ranges.pop(ready))(Assignment({**sizes, **chosen}, {}, "")))
        if count < 1:
            return None
        chosen[ready] = pick(count)
    return chosen


# --- sizes -----------------------------------------------------------------------------------------------------------


def _sizes(situation: Situation, attempt: int, source: random.Random) -> dict[Symbol, Any]:
    """Return sizes that satisfy the assumptions on sizes: primes first, or all 1, then random small numbers."""
    names = [symbol for symbol in situation.symbols if _is_size(symbol)]
    about = [
        a
        for a in situation.assumptions
        if inside(a.statement, Symbol) and all(map(_is_size, inside(a.statement, Symbol)))
    ]
    about = [a for a in about if not a.ranges and not a.statement.has(Expectation, Variance)]
    # distinct sizes show a swapped axis; an expectation sums over all outcomes, so its arrays must be tiny
    primes = [2, 1, 2] if situation.random_arrays else list(_PRIMES if attempt else _PRIMES[:-1])
    source.shuffle(primes)
    for trial in range(_TRIES_OF_SIZES):
        if attempt == 1 and trial == 0:
            sizes = dict.fromkeys(names, 1)
        elif trial == 0:
            sizes = {name: primes[k % len(primes)] for k, name in enumerate(names)}
        else:
            largest = 9 if trial > _TRIES_OF_SIZES // 2 else 2 if situation.random_arrays else 4
            sizes = {name: source.randint(1, largest) for name in names}
        if _fix(sizes, about):
            return dict(sizes)
    raise NotCovered("no sizes are found that meet the assumptions")


def _fix(sizes: dict[Symbol, Any], about: list[Assumption]) -> bool:
    """Set the sizes that assumed equations determine, and return whether all assumptions on sizes hold."""
    for _ in range(2):  # twice, since one equation may use a size that a later one sets
        for assumption in about:
            statement = assumption.statement
            if isinstance(statement, Eq) and _is_size(statement.lhs) and not statement.rhs.has(statement.lhs):
                try:
                    value = whole(meaning(statement.rhs)(Assignment(sizes, {}, "")))
                except Undefined:
                    return False
                if value < 1:
                    return False
                sizes[statement.lhs] = value
            elif isinstance(statement, Eq) and isinstance(statement.lhs, Mod) and _is_size(statement.lhs.args[0]):
                symbol, divisor = statement.lhs.args
                if divisor.is_Integer:
                    # the next multiple of the divisor
                    sizes[symbol] += -sizes[symbol] % int(divisor)
    return all(meaning(assumption.statement)(Assignment(sizes, {}, "")) for assumption in about)


# --- values ----------------------------------------------------------------------------------------------------------


def _repaired(
    situation: Situation, sizes: dict[Symbol, Any], choice: dict[Symbol, int], attempt: int, source: random.Random
) -> Assignment:
    reason = "no values are found that meet the assumptions"
    for trial in range(_TRIES):
        assignment = _drawn(
            situation, {**sizes, **choice}, attempt, f"{attempt} {trial} {sorted(map(str, choice.items()))}", source
        )
        try:
            if situation.random_arrays:
                shape = _SHAPES[trial % len(_SHAPES)]
                set_distributions(situation.assumptions, situation.statements, assignment, shape)
            # a repair may break an assumption that was met before: the second round meets it again
            for _ in range(2):
                for assumption in situation.assumptions:
                    repair(assumption, assignment, source)
            assignment.forget()
            if all(holds(assumption, assignment) for assumption in situation.assumptions):
                return assignment
        except Undefined as error:
            reason = f"the assumptions are undefined: {error}"
    raise NotCovered(reason)


def _drawn(situation: Situation, base: dict[Symbol, Any], attempt: int, seed: str, source: random.Random) -> Assignment:
    special = attempt % 3 == 2  # draws -1, 0 and 1, so that values coincide or are 0
    for symbol in situation.symbols:
        if symbol not in base:
            value = _scalar(symbol, source, special)
            if attempt == 1 and isinstance(value, Decimal):
                # in the second attempt scalars are integers, moved away from 0
                value = value.to_integral_value() + value.is_signed() * -1 + (not value.is_signed())
            if value is not None:
                base[symbol] = value
    derivation = situation.derivation
    assignment = Assignment(base, {e.variable.name: e for e in derivation.definitions}, f"{derivation.id} {seed}")
    largest = max((value for symbol, value in base.items() if _is_size(symbol)), default=2)

    def draw(name: str, kind: str, own: random.Random) -> Any:
        if kind == "boolean":
            return int(own.random() < 0.6)
        if kind == "integer":
            return own.randrange(largest if largest < 4 else 4)
        return Decimal(own.randint(-1, 1)) if special else Decimal(own.randint(-24, 24)) / 8

    assignment.draw = draw
    for name, inverse, size in derivation.bijections:
        order = list(range(whole(meaning(size)(assignment))))
        source.shuffle(order)
        assignment.bijections |= {name: order, inverse: [order.index(place) for place in range(len(order))]}
    return assignment


def _scalar(symbol: Symbol, source: random.Random, special: bool) -> Any:
    """Return a value that the declaration of a symbol admits, if the symbol is real."""
    if symbol.is_integer:
        low = 1 if symbol.is_positive else 0 if symbol.is_nonnegative else -2
        return source.randint(low, 4)
    if not symbol.is_real:
        return None
    value = Decimal(source.randint(1, 24)) / 8
    if symbol.is_positive or symbol.is_nonnegative:
        return value / 4 if special else value
    if symbol.is_negative or symbol.is_nonpositive:
        return -value
    return Decimal(source.randint(-1, 1)) if special else value * source.choice((-1, 1))
