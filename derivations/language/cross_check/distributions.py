"""The distributions of random arrays: means and variances from the assumptions; unassumed moments are drawn."""

from __future__ import annotations

import random
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from sympy import Basic, Eq, Indexed, Mul, Ne, Pow, Symbol

from derivations.language.arrays.expression import Array
from derivations.language.arrays.scalars import Expectation, Iverson, Variance
from derivations.language.cross_check.arrays import bound_to
from derivations.language.cross_check.assignment import Assignment, inside, meaning
from derivations.language.cross_check.expectations import Distribution
from derivations.language.cross_check.real_functions import number
from derivations.language.results.derivation import Assumption

__all__ = ["set_distributions"]


def set_distributions(
    assumptions: tuple[Assumption, ...], statements: Iterable[Basic], assignment: Assignment, shape: str
) -> None:
    """Give every array a distribution with the assumed mean and variance; `shape` chooses the moments not assumed."""
    names: dict[str, Symbol] = {}
    for part in statements:
        names |= {node.base.label.name: node.base.label for node in inside(part, Indexed)}
        names |= {node.name: node.base.label for node in inside(part, Array) if hasattr(node, "base")}
    for name, label in names.items():
        # a defined array is as random as what it reads; token numbers are not random
        if name in assignment.definitions or (label.is_integer and not label.is_nonnegative):
            continue
        mean = _assumed(assumptions, name, 1)
        second, variance = _assumed(assumptions, name, 2), _assumed(assumptions, name, "variance")
        if label.is_integer:  # a mask is random where its mean is assumed
            if mean is not None:
                assignment.distributions[name] = Distribution(mean, None, boolean=True)
            continue
        own = random.Random(f"{assignment.seed} {name} law")  # this text decides which values are drawn
        assignment.distributions[name] = _distribution(mean, variance, shape, own)
        if second is not None:
            assignment.distributions[name] = _by_second_moment(name, mean, second, shape)


def _distribution(mean: Any, variance: Any, shape: str, own: random.Random) -> Distribution:
    """Return a distribution with the assumed mean and variance.

    Unassumed moments are drawn; for the shape "unit" they are chosen so that the mean square is 1.
    """
    middle, spread = Decimal(own.randint(-8, 8)) / 8, Decimal(own.randint(1, 16)) / 8
    if shape == "fixed":
        spread = Decimal(0)
    if shape == "unit":
        middle, spread = Decimal("0.6"), Decimal("0.64")  # 0.6^2 + 0.64 = 1
    mean = mean or (lambda assignment, places: middle)
    return Distribution(mean, variance or (lambda assignment, places: spread), shape == "symmetric")


def _by_second_moment(name: str, mean: Any, second: Any, shape: str) -> Distribution:
    """Return a distribution with an assumed mean square, which may depend on the mean."""

    def square(assignment: Assignment, places: tuple[int, ...]) -> Any:
        distribution, known = assignment.distributions[name], assignment.moments
        assignment.moments = {}  # moments under the temporary distribution without spread hold for no other
        assignment.distributions[name] = Distribution(
            mean or (lambda assignment, places: Decimal(0)), lambda assignment, places: Decimal(0)
        )
        try:
            return second(assignment, places)
        finally:
            assignment.distributions[name], assignment.moments = distribution, known

    def middle(assignment: Assignment, places: tuple[int, ...]) -> Any:
        if mean is not None:
            return mean(assignment, places)
        return Decimal(0) if shape in ("symmetric", "fixed") else abs(number(square(assignment, places))).sqrt() * 3 / 5

    return Distribution(
        middle,
        lambda assignment, places: square(assignment, places) - middle(assignment, places) ** 2,  # E[x^2] - E[x]^2
        shape == "symmetric",
    )


def _assumed(assumptions: tuple[Assumption, ...], name: str, moment: int | str) -> Any:
    """Return the assumed moment of the entries of an array, as a function of the assignment and the indices."""
    for assumption in assumptions:
        statement = assumption.statement
        if not isinstance(statement, Eq) or not isinstance(statement.lhs, Expectation | Variance):
            continue
        # a moment stated by other moments would be evaluated in a circle; a mean square may use the mean
        if statement.rhs.has(Variance) or (moment != 2 and statement.rhs.has(Expectation)):
            continue
        factors = _factors(statement.lhs.args[0])
        entries = [entry for entry in map(_entry, factors) if entry is not None and entry.base.label.name == name]
        if len(entries) < len(factors):
            continue
        kind = (len(entries), isinstance(statement.lhs, Variance))
        if kind == {1: (1, False), 2: (2, False), "variance": (1, True)}[moment]:
            return _at_places(meaning(statement.rhs), [e.indices for e in entries], tuple(assumption.ranges))
    return None


def _factors(product_: Basic) -> list[Basic]:
    """Return the factors of a product; a square counts as two factors."""
    if isinstance(product_, Mul):
        return [factor for part in product_.args for factor in _factors(part)]
    return [product_.base] * 2 if isinstance(product_, Pow) and product_.exp == 2 else [product_]


def _entry(factor: Basic) -> Indexed | None:
    if isinstance(factor, Iverson) and isinstance(factor.args[0], Ne):
        factor = factor.args[0].args[0]
    return factor if isinstance(factor, Indexed) else None


def _at_places(value: Any, entries: list[tuple[Basic, ...]], ranged: tuple[Symbol, ...]) -> Any:
    """Return the moment as a function of the indices of an entry. Two entries of a product have the same indices."""

    def moment(assignment: Assignment, places: tuple[int, ...]) -> Any:
        with bound_to(assignment, ranged) as values:
            for index, place in ((index, place) for e in entries for index, place in zip(e, places, strict=True)):
                if index in ranged:
                    values[index] = place
            for index in ranged:
                # an index of the assumption that the entry does not have: any value will do
                values.setdefault(index, 0)
            return value(assignment)

    return moment
