"""Repairs of an assignment so that assumptions hold: one value is redrawn or solved for, or several are scaled."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any

from sympy import Basic, Eq

from derivations.language.arrays.scalars import Expectation, Variance
from derivations.language.cross_check.arrays import bound_to
from derivations.language.cross_check.assignment import Assignment, Cell, Undefined, meaning, whole
from derivations.language.results.derivation import Assumption

__all__ = ["holds", "repair"]

_TOLERANCE = Decimal(10) ** -40


def _cases(assumption: Assumption, assignment: Assignment) -> Iterator[None]:
    """Set the indices of an assumption to each of their values in turn."""
    counts = [whole(meaning(size)(assignment)) for size in assumption.ranges.values()]
    with bound_to(assignment, tuple(assumption.ranges)) as values:
        for case in product(*map(range, counts)):
            values.update(zip(assumption.ranges, case, strict=True))
            yield


def _truth(statement: Basic, assignment: Assignment) -> bool:
    """Return whether a relation holds; an equation holds up to rounding."""
    if isinstance(statement, Eq):
        left, right = (meaning(side)(assignment) for side in statement.args)
        return bool(abs(left - right) <= _TOLERANCE * (1 + abs(left) + abs(right)))
    return bool(meaning(statement)(assignment))


def holds(assumption: Assumption, assignment: Assignment) -> bool:
    """Return whether an assumption holds at all its indices."""
    return all(_truth(assumption.statement, assignment) for _ in _cases(assumption, assignment))


def repair(assumption: Assumption, assignment: Assignment, source: random.Random) -> None:
    """Change values so that an assumption holds; if no change is found, the assignment is unchanged."""
    statement = assumption.statement
    if statement.has(Expectation, Variance) or not statement.args:
        return
    for _ in _cases(assumption, assignment):
        assignment.forget()
        if _truth(statement, assignment):
            continue
        assignment.reads = set()
        _truth(statement, assignment)  # evaluated again to record the entries that it reads
        cells, assignment.reads = sorted(assignment.reads), None
        free = [cell for cell in cells if _is_free(cell, assignment)]
        source.shuffle(free)
        _mend(statement, free, assignment, source)
    assignment.forget()


def _is_free(cell: Cell, assignment: Assignment) -> bool:
    name, places = cell
    if places:
        return name in assignment.arrays
    return any(s.name == name and not s.is_integer for s in assignment.base)


def _get(cell: Cell, assignment: Assignment) -> Any:
    name, places = cell
    if not places:
        return next(assignment.base[s] for s in assignment.base if s.name == name)
    value = assignment.arrays[name]
    for place in places:
        value = value[place]
    return value


def _set(cell: Cell, assignment: Assignment, value: Any) -> None:
    name, places = cell
    if not places:
        for symbol in [s for s in assignment.base if s.name == name]:
            assignment.base[symbol] = assignment.values[symbol] = value
    else:
        inside = assignment.arrays[name]
        for place in places[:-1]:
            inside = inside[place]
        inside[places[-1]] = value
    assignment.forget()


def _mend(statement: Basic, cells: list[Cell], assignment: Assignment, source: random.Random) -> bool:
    """Change one value, or scale all values, so that the statement holds. Return whether this succeeded."""
    whole_numbers = [cell for cell in cells if isinstance(_get(cell, assignment), int)]
    for cell in whole_numbers:
        old = _get(cell, assignment)
        # a mask has one other value; a token number is tried among small ones
        for value in (1 - old,) if cell[0] in assignment.masks else source.sample(range(6), 6):
            _set(cell, assignment, value)
            if _truth(statement, assignment):
                return True
        _set(cell, assignment, old)
    real = [cell for cell in cells if cell not in whole_numbers]
    # one value first; all at once by a factor meets sums such as "the squares sum to 1"
    groups = [*([cell] for cell in real[:4]), real]
    return any(group and _solve(statement, group, assignment, source) for group in groups)


def _solve(statement: Basic, cells: list[Cell], assignment: Assignment, source: random.Random) -> bool:
    """Shift one value, or scale several, by a secant step on `left - right`: exact where this is linear."""
    if len(statement.args) != 2:
        return False
    sides = [meaning(side) for side in statement.args]
    old = [_get(cell, assignment) for cell in cells]

    def gap(amount: Decimal) -> Any:
        for cell, value in zip(cells, old, strict=True):
            _set(cell, assignment, value + amount if len(cells) == 1 else value * (1 + amount))
        return sides[0](assignment) - sides[1](assignment)

    try:
        start, ahead = gap(Decimal(0)), gap(Decimal(1))
        margin = Decimal(source.randint(1, 8)) / 8
        for target in (0,) if isinstance(statement, Eq) else (margin, -margin):
            if ahead != start:
                # the secant through amounts 0 and 1, solved for the target
                gap((target - start) / (ahead - start))
                if _truth(statement, assignment):
                    return True
    except (Undefined, ArithmeticError):
        pass
    # put the old values back
    gap(Decimal(0))
    return False
