"""Making assumptions hold in a world: one value is drawn again or solved for, or several are multiplied by a factor."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any

from sympy import Basic, Eq

from derivations.language.arrays.scalars import Expectation, Variance
from derivations.language.cross_check.arrays import bound_to
from derivations.language.cross_check.world import Cell, Undefined, World, meaning, whole
from derivations.language.results.derivation import Assumption

__all__ = ["holds", "repair"]

_TOLERANCE = Decimal(10) ** -40


def _cases(assumption: Assumption, world: World) -> Iterator[None]:
    """Set the indices of an assumption to each of their values in turn."""
    counts = [whole(meaning(size)(world)) for size in assumption.ranges.values()]
    with bound_to(world, tuple(assumption.ranges)) as values:
        for case in product(*map(range, counts)):
            values.update(zip(assumption.ranges, case, strict=True))
            yield


def _truth(statement: Basic, world: World) -> bool:
    """Whether a relation holds; an equation, up to rounding."""
    if isinstance(statement, Eq):
        left, right = (meaning(side)(world) for side in statement.args)
        return bool(abs(left - right) <= _TOLERANCE * (1 + abs(left) + abs(right)))
    return bool(meaning(statement)(world))


def holds(assumption: Assumption, world: World) -> bool:
    """Say whether an assumption holds, at all its indices."""
    return all(_truth(assumption.statement, world) for _ in _cases(assumption, world))


def repair(assumption: Assumption, world: World, source: random.Random) -> None:
    """Change values so that an assumption holds; where nothing is found, the world stays as it is."""
    statement = assumption.statement
    if statement.has(Expectation, Variance) or not statement.args:
        return
    for _ in _cases(assumption, world):
        world.forget()
        if _truth(statement, world):
            continue
        world.reads = set()
        _truth(statement, world)
        cells, world.reads = sorted(world.reads), None
        free = [cell for cell in cells if _is_free(cell, world)]
        source.shuffle(free)
        _mend(statement, free, world, source)
    world.forget()


def _is_free(cell: Cell, world: World) -> bool:
    name, places = cell
    if places:
        return name in world.arrays
    return any(s.name == name and not s.is_integer for s in world.base)


def _get(cell: Cell, world: World) -> Any:
    name, places = cell
    if not places:
        return next(world.base[s] for s in world.base if s.name == name)
    value = world.arrays[name]
    for place in places:
        value = value[place]
    return value


def _set(cell: Cell, world: World, value: Any) -> None:
    name, places = cell
    if not places:
        for symbol in [s for s in world.base if s.name == name]:
            world.base[symbol] = world.values[symbol] = value
    else:
        inside = world.arrays[name]
        for place in places[:-1]:
            inside = inside[place]
        inside[places[-1]] = value
    world.forget()


def _mend(statement: Basic, cells: list[Cell], world: World, source: random.Random) -> bool:
    """Change one value, or all by a factor, so that the statement holds; nothing is changed where none is found."""
    whole_numbers = [cell for cell in cells if isinstance(_get(cell, world), int)]
    for cell in whole_numbers:
        old = _get(cell, world)
        for value in (1 - old,) if cell[0] in world.masks else source.sample(range(6), 6):
            _set(cell, world, value)
            if _truth(statement, world):
                return True
        _set(cell, world, old)
    real = [cell for cell in cells if cell not in whole_numbers]
    groups = [*([cell] for cell in real[:4]), real]
    return any(group and _solve(statement, group, world, source) for group in groups)


def _solve(statement: Basic, cells: list[Cell], world: World, source: random.Random) -> bool:
    """Shift one value, or multiply several by one factor, by a secant step on `left - right`."""
    if len(statement.args) != 2:
        return False
    sides = [meaning(side) for side in statement.args]
    old = [_get(cell, world) for cell in cells]

    def gap(amount: Decimal) -> Any:
        for cell, value in zip(cells, old, strict=True):
            _set(cell, world, value + amount if len(cells) == 1 else value * (1 + amount))
        return sides[0](world) - sides[1](world)

    try:
        start, ahead = gap(Decimal(0)), gap(Decimal(1))
        margin = Decimal(source.randint(1, 8)) / 8
        for target in (0,) if isinstance(statement, Eq) else (margin, -margin):
            if ahead != start:
                gap((target - start) / (ahead - start))
                if _truth(statement, world):
                    return True
    except (Undefined, ArithmeticError):
        pass
    gap(Decimal(0))
    return False
