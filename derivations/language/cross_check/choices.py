"""What choices are worth in a world: maxima, brackets, deltas, cases; near a kink nothing is differentiated."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import sympy
from sympy import Abs, Basic, Heaviside, KroneckerDelta, Max, Min, Mod, Piecewise, sign
from sympy.logic.boolalg import And, BooleanFalse, BooleanTrue, Not, Or

from derivations.language.arrays.scalars import Admitted, Iverson, Rounded, Within
from derivations.language.cross_check.real_functions import number
from derivations.language.cross_check.scalars import parts_of
from derivations.language.cross_check.world import CONTEXT, Meaning, Undefined, Unfit, World, meaning, rule, whole

__all__ = ["sign_of"]

_NEAR = Decimal(10) ** -8  # a difference this close to a kink may step over it
_SAME = Decimal(10) ** -50


def sign_of(value: Any, world: World) -> int:
    """Return the sign of a number; within a derivative, a number that is 0 or nearly so is a kink."""
    if isinstance(value, int):
        return (value > 0) - (value < 0)
    if world.differentiating and abs(value) < _NEAR:
        raise Unfit("a derivative at a kink")
    return 0 if abs(value) < _SAME else 1 if value > 0 else -1


def _extreme(node: Basic, pick: int) -> Meaning:
    parts = parts_of(node)

    def value(world: World) -> Any:
        best = parts[0](world)
        for part in parts[1:]:
            other = part(world)
            if sign_of(other - best, world) == pick:
                best = other
        return best

    return value


@rule.register
def _(node: Max) -> Meaning:
    return _extreme(node, 1)


@rule.register
def _(node: Min) -> Meaning:
    return _extreme(node, -1)


@rule.register
def _(node: Abs) -> Meaning:
    (part,) = parts_of(node)

    def value(world: World) -> Any:
        inner = part(world)
        return inner * sign_of(inner, world)

    return value


@rule.register
def _(node: sign) -> Meaning:
    (part,) = parts_of(node)
    return lambda world: sign_of(part(world), world)


@rule.register
def _(node: Heaviside) -> Meaning:
    part = meaning(node.args[0])

    def value(world: World) -> int:
        found = sign_of(part(world), world)
        if found == 0:
            raise Unfit("a step at its kink")
        return int(found > 0)

    return value


_RELATIONS = {
    sympy.Eq: lambda s: s == 0,
    sympy.Ne: lambda s: s != 0,
    sympy.Lt: lambda s: s < 0,
    sympy.Le: lambda s: s <= 0,
    sympy.Gt: lambda s: s > 0,
    sympy.Ge: lambda s: s >= 0,
}


def _register_relation(kind: Any, test: Callable[[int], bool]) -> None:
    @rule.register(kind)
    def _(node: Basic) -> Meaning:
        left, right = parts_of(node)
        return lambda world: test(sign_of(left(world) - right(world), world))


for _kind, _test in _RELATIONS.items():
    _register_relation(_kind, _test)


@rule.register
def _(node: And) -> Meaning:
    parts = parts_of(node)
    return lambda world: all(part(world) for part in parts)


@rule.register
def _(node: Or) -> Meaning:
    parts = parts_of(node)
    return lambda world: any(part(world) for part in parts)


@rule.register
def _(node: Not) -> Meaning:
    (part,) = parts_of(node)
    return lambda world: not part(world)


@rule.register(BooleanTrue)
@rule.register(BooleanFalse)
def _(node: Basic) -> Meaning:
    truth = bool(node)
    return lambda world: truth


@rule.register
def _(node: Iverson) -> Meaning:
    condition = meaning(node.args[0])
    return lambda world: int(condition(world))


@rule.register
def _(node: KroneckerDelta) -> Meaning:
    first, second = map(meaning, node.args[:2])
    if len(node.args) == 2:
        return lambda world: int(whole(first(world)) == whole(second(world)))
    low, high = map(meaning, node.args[2])

    def value(world: World) -> int:
        place = whole(first(world))
        return int(place == whole(second(world)) and low(world) <= place <= high(world))

    return value


@rule.register
def _(node: Piecewise) -> Meaning:
    cases = [(meaning(value), meaning(condition)) for value, condition in node.args]

    def value(world: World) -> Any:
        for branch, condition in cases:
            if condition(world):
                return branch(world)
        raise Undefined("no case holds")

    return value


@rule.register
def _(node: Mod) -> Meaning:
    first, second = parts_of(node)
    return lambda world: whole(first(world)) % whole(second(world))


@rule.register
def _(node: Within) -> Meaning:
    inner, place, size = parts_of(node)

    def value(world: World) -> Any:
        if not 0 <= whole(place(world)) < whole(size(world)):
            raise Undefined("a place outside of its axis")
        return inner(world)

    return value


@rule.register
def _(node: Admitted) -> Meaning:
    inner, put_in = map(meaning, node.args[:2])
    admits = _ADMITS.get(node.args[2].name)

    def value(world: World) -> Any:
        if admits is None:
            raise Unfit("a variable that stands for integers alone")
        if not admits(sign_of(put_in(world), world)):
            raise Undefined("a number that the declaration of a variable does not admit")
        return inner(world)

    return value


_ADMITS: dict[str, Callable[[int], bool]] = {
    "positive": lambda sign: sign > 0,
    "nonnegative": lambda sign: sign >= 0,
    "nonzero": lambda sign: sign != 0,
}


@rule.register
def _(node: Rounded) -> Meaning:
    inner, decimals = parts_of(node)

    def value(world: World) -> Any:
        return CONTEXT.quantize(number(inner(world)), Decimal(10) ** -whole(decimals(world)))

    return value
