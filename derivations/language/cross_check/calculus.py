"""Values of derivatives and limits under an assignment: central differences, and values at large arguments."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import sympy
from sympy import Derivative, Expr, Indexed, Limit, Symbol

from derivations.language.cross_check.assignment import (
    STEP,
    Assignment,
    Meaning,
    NotCovered,
    Unfit,
    meaning,
    rule,
    whole,
)
from derivations.language.cross_check.real_functions import number

__all__ = ["FAR"]

FAR = Decimal(10) ** 9  # the argument at which a limit at infinity is approximated


@rule.register
def _(node: Derivative) -> Meaning:
    inner = meaning(node.expr)
    for variable, count in node.variable_count:
        # a second derivative is a difference of differences
        for _ in range(int(count)):
            inner = _difference(inner, variable)
    return inner


def _difference(inner: Meaning, variable: Expr) -> Meaning:
    indexed = isinstance(variable, Indexed)
    if not indexed and not isinstance(variable, Symbol):
        raise NotCovered(f"a derivative by {variable}")
    places = [meaning(place) for place in variable.indices] if indexed else []
    name = variable.base.label.name if indexed else variable.name
    entry = meaning(variable)

    def value(assignment: Assignment) -> Any:
        if name in assignment.definitions or assignment.local is not None:
            # moving a defined value would contradict its definition
            raise NotCovered(f"a derivative by {name}, which is defined")
        at = tuple(whole(place(assignment)) for place in places)
        here = number(entry(assignment))  # also draws the array
        ends = []
        for step in (STEP, -STEP):
            arrays = {name: _replaced(assignment.array(name, _no_shape, "real"), at, here + step)} if indexed else {}
            other = assignment.changed((name, at, step), arrays, {} if indexed else {variable: here + step})
            other.differentiating = True
            ends.append(inner(other))
        # the even terms cancel: the error is f'''(x) STEP^2 / 6
        return (ends[0] - ends[1]) / (2 * STEP)

    return value


def _no_shape(assignment: Assignment) -> tuple[int, ...]:
    raise NotCovered("an array that was not drawn")


def _replaced(array: Any, places: tuple[int, ...], value: Any) -> Any:
    if not places:
        return value
    rest = list(array)
    rest[places[0]] = _replaced(rest[places[0]], places[1:], value)
    return rest


@rule.register
def _(node: Limit) -> Meaning:
    inner, variable, target = meaning(node.args[0]), node.args[1], node.args[2]
    if target not in (sympy.oo, -sympy.oo, 0):
        raise NotCovered(f"a limit at {target}")
    downwards = target == 0 and str(node.args[3]) == "-"
    far = FAR if target == sympy.oo else -FAR if target == -sympy.oo else (-1 if downwards else 1) / FAR

    def value(assignment: Assignment) -> Any:
        # Two arguments that differ by a factor of 1000 must give nearly the same value.
        distances = (far * 1000, far) if target == 0 else (far / 1000, far)
        first, second = (inner(assignment.changed(None, {}, {variable: at})) for at in distances)
        if abs(first - second) > Decimal("1e-4") * (1 + abs(second)):
            raise Unfit("no limit is seen")
        return second

    return value
