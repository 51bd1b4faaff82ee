"""Values of maxima, brackets, deltas and cases under an assignment; no derivative is taken near a kink."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import sympy
from sympy import Abs, Basic, Heaviside, KroneckerDelta, Max, Min, Mod, Piecewise, sign
from sympy.logic.boolalg import And, BooleanFalse, BooleanTrue, Not, Or

from derivations.language.arrays.scalars import Admitted, Iverson, Rounded, Within
from derivations.language.cross_check.assignment import (
    CONTEXT,
    Assignment,
    Meaning,
    Undefined,
    Unfit,
    meaning,
    rule,
    whole,
    whole_size,
)
from derivations.language.cross_check.real_functions import number
from derivations.language.cross_check.scalars import parts_of

__all__ = ["sign_of"]

_NEAR = Decimal(10) ** -8  # a difference this close to a kink may step over it
_SAME = Decimal(10) ** -50  # numbers have 60 digits: a smaller difference is rounding


def sign_of(value: Any, assignment: Assignment) -> int:
    """Return the sign of a number. Within a derivative, a decimal close to 0 is a kink and raises `Unfit`."""
    if isinstance(value, int):
        return (value > 0) - (value < 0)
    # one end of the difference may lie on the other side of the kink
    if assignment.differentiating and abs(value) < _NEAR:
        raise Unfit("a derivative at a kink")
    return 0 if abs(value) < _SAME else 1 if value > 0 else -1


def _extreme(node: Basic, pick: int) -> Meaning:
    parts = parts_of(node)

    def value(assignment: Assignment) -> Any:
        best = parts[0](assignment)
        for part in parts[1:]:
            other = part(assignment)
            if sign_of(other - best, assignment) == pick:
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

    def value(assignment: Assignment) -> Any:
        inner = part(assignment)
        return inner * sign_of(inner, assignment)

    return value


@rule.register
def _(node: sign) -> Meaning:
    (part,) = parts_of(node)
    return lambda assignment: sign_of(part(assignment), assignment)


@rule.register
def _(node: Heaviside) -> Meaning:
    part = meaning(node.args[0])

    def value(assignment: Assignment) -> int:
        found = sign_of(part(assignment), assignment)
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
        return lambda assignment: test(sign_of(left(assignment) - right(assignment), assignment))


for _kind, _test in _RELATIONS.items():
    _register_relation(_kind, _test)


@rule.register
def _(node: And) -> Meaning:
    parts = parts_of(node)
    return lambda assignment: all(part(assignment) for part in parts)


@rule.register
def _(node: Or) -> Meaning:
    parts = parts_of(node)
    return lambda assignment: any(part(assignment) for part in parts)


@rule.register
def _(node: Not) -> Meaning:
    (part,) = parts_of(node)
    return lambda assignment: not part(assignment)


@rule.register(BooleanTrue)
@rule.register(BooleanFalse)
def _(node: Basic) -> Meaning:
    truth = bool(node)
    return lambda assignment: truth


@rule.register
def _(node: Iverson) -> Meaning:
    condition = meaning(node.args[0])
    return lambda assignment: int(condition(assignment))


@rule.register
def _(node: KroneckerDelta) -> Meaning:
    first, second = map(meaning, node.args[:2])
    if len(node.args) == 2:
        return lambda assignment: int(whole(first(assignment)) == whole(second(assignment)))
    low, high = map(meaning, node.args[2])

    def value(assignment: Assignment) -> int:
        place = whole(first(assignment))
        # SymPy's delta with a range is 0 outside the range
        return int(place == whole(second(assignment)) and low(assignment) <= place <= high(assignment))

    return value


@rule.register
def _(node: Piecewise) -> Meaning:
    cases = [(meaning(value), meaning(condition)) for value, condition in node.args]

    def value(assignment: Assignment) -> Any:
        for branch, condition in cases:
            if condition(assignment):
                return branch(assignment)
        raise Undefined("no case holds")

    return value


@rule.register
def _(node: Mod) -> Meaning:
    first, second = parts_of(node)
    return lambda assignment: whole(first(assignment)) % whole(second(assignment))


@rule.register
def _(node: Within) -> Meaning:
    inner, place, size = parts_of(node)

    def value(assignment: Assignment) -> Any:
        places = whole_size(size(assignment))
        if not 0 <= whole(place(assignment)) < places:
            raise Undefined("a place outside of its axis")
        return inner(assignment)

    return value


@rule.register
def _(node: Admitted) -> Meaning:
    inner, put_in = map(meaning, node.args[:2])
    admits = _ADMITS.get(node.args[2].name)

    def value(assignment: Assignment) -> Any:
        if admits is None:
            raise Unfit("a variable that stands for integers alone")
        if not admits(sign_of(put_in(assignment), assignment)):
            raise Undefined("a number that the declaration of a variable does not admit")
        return inner(assignment)

    return value


_ADMITS: dict[str, Callable[[int], bool]] = {
    "positive": lambda sign: sign > 0,
    "nonnegative": lambda sign: sign >= 0,
    "nonzero": lambda sign: sign != 0,
}


@rule.register
def _(node: Rounded) -> Meaning:
    inner, decimals = parts_of(node)

    def value(assignment: Assignment) -> Any:
        return CONTEXT.quantize(number(inner(assignment)), Decimal(10) ** -whole(decimals(assignment)))

    return value
