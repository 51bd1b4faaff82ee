"""Expectations and variances: sums over all outcomes of a small discrete distribution.

Every entry of an array is independent and has two values with the assumed mean and variance: mu + 2 sigma with
probability 1/5 and mu - sigma/2 with 4/5; or three values symmetric about mu; or the values 0 and 1, if mean and
variance are those of such a variable. Where a distribution is chosen (`sampling`), all assumptions are checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any

from sympy import Expr

from derivations.language.arrays.scalars import Expectation, Variance
from derivations.language.cross_check.assignment import Assignment, Cell, Meaning, NotCovered, Undefined, meaning, rule
from derivations.language.cross_check.real_functions import number

__all__ = ["Distribution", "support"]

_LARGEST = 1500  # outcomes of one expectation


@dataclass(frozen=True)
class Distribution:
    """The distribution of an entry: mean and variance as functions of assignment and indices, and the shape."""

    mean: Any
    variance: Any
    symmetric: bool = False
    boolean: bool = False


def support(distribution: Distribution, assignment: Assignment, places: tuple[int, ...]) -> list[tuple[Any, Decimal]]:
    """Return the values of an entry, each with its probability."""
    mean = number(distribution.mean(assignment, places))
    if distribution.boolean and not 0 <= mean <= 1:
        raise Undefined("a mask whose mean is not a probability")
    if distribution.boolean:
        return [(1, mean), (0, 1 - mean)]
    variance = number(distribution.variance(assignment, places))
    if variance < 0:
        raise Undefined("a negative variance")
    if 0 < mean < 1 and abs(variance - (mean - mean * mean)) < Decimal(10) ** -40:
        return [(1, mean), (0, 1 - mean)]  # mu - mu^2 is the variance of a variable that is 0 or 1
    deviation = variance.sqrt()
    if variance == 0:
        return [(mean, Decimal(1))]
    if distribution.symmetric:
        # variance 2 far^2 / 4 = deviation^2
        far = deviation * Decimal(2).sqrt()
        quarter = Decimal(1) / 4
        return [(mean - far, quarter), (mean, 2 * quarter), (mean + far, quarter)]
    fifth = Decimal(1) / 5  # skewed, E (x - mu)^3 = 3/2 sigma^3, so that statements that need symmetry fail
    return [(mean + 2 * deviation, fifth), (mean - deviation / 2, 4 * fifth)]


@rule.register
def _(node: Expectation) -> Meaning:
    inner = meaning(node.args[0])
    return _kept(node, lambda assignment: _mean(inner, assignment))


@rule.register
def _(node: Variance) -> Meaning:
    inner = meaning(node.args[0])

    def value(assignment: Assignment) -> Any:
        mean = _mean(inner, assignment)
        return _mean(lambda other: (inner(other) - mean) ** 2, assignment)

    return _kept(node, value)


def _kept(node: Expr, found: Meaning) -> Meaning:
    """Return a function that computes a moment once for each choice of the indices."""
    symbols = sorted(node.free_symbols, key=str)

    def value(assignment: Assignment) -> Any:
        key = (node, *(assignment.values.get(symbol) for symbol in symbols))
        if key not in assignment.moments:
            assignment.moments[key] = found(assignment)
        return assignment.moments[key]

    return value


def _mean(inner: Meaning, assignment: Assignment) -> Any:
    cells = _random_cells(inner, assignment)
    choices = [support(assignment.distributions[name], assignment, places) for name, places in cells]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > _LARGEST:
        raise NotCovered(f"{count} outcomes are too many")
    total: Any = 0
    for outcome in product(*choices):
        # independent entries: the probability of an outcome is the product of those of its entries
        weight, arrays = Decimal(1), {name: _copy(assignment.array(name, _drawn, "real")) for name, _ in cells}
        for (name, places), (value, probability) in zip(cells, outcome, strict=True):
            weight *= probability
            inside = arrays[name]
            for place in places[:-1]:
                inside = inside[place]
            inside[places[-1]] = value
        total += weight * inner(assignment.changed(None, arrays, {}))
    return total


def _random_cells(inner: Meaning, assignment: Assignment) -> list[Cell]:
    # a dry run records which entries are read: only these need outcomes
    probe = assignment.changed(None, {}, {})
    probe.forget()
    probe.reads = set()
    inner(probe)
    return sorted((name, places) for name, places in probe.reads if places and name in assignment.distributions)


def _drawn(assignment: Assignment) -> tuple[int, ...]:
    raise NotCovered("an array that was not drawn")


def _copy(array: Any) -> Any:
    return [_copy(member) for member in array] if isinstance(array, list) else array
