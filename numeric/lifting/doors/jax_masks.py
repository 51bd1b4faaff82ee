"""Rules of JAX for masks: comparisons, operations on truth values, and choices of entries by a mask.

A comparison of positions stays a formula, in which a causal mask is seen; one of sizes is a decision of the trace.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from sympy import And, Eq, Expr, Ge, Gt, Integer, Le, Lt, Ne, Not, Or, expand, false, nan, oo, true
from sympy.logic.boolalg import Boolean

from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.selection import OneHot
from numeric.lifting import operations as op
from numeric.lifting.axes import is_one, size_of_axis
from numeric.lifting.doors.jax_tables import PLACES, Table, array_of, bounds_of, operand_of, shared_axes
from numeric.lifting.fillers import FILLER
from numeric.lifting.numbers import Size, at_least
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, made, tensor
from numeric.lifting.trace import current

__all__ = ["chosen", "compared", "is_finite", "logical", "switch_of"]

Rule = Callable[..., Any]


def compared(relation: Any) -> Rule:
    """Return the rule of a comparison."""

    def applied(equation: Any, one: Any, other: Any) -> Any:
        first, second = equation.invars
        if first is second:  # x != x asks for NaN, which no real number is
            return Table(true if relation in (Eq, Le, Ge) else false, tuple(map(_size, one.axes)), "boolean")
        if isinstance(one, Table) and isinstance(other, Table):
            return Table(_condition(relation, one, other), shared_axes(one, other), "boolean")
        if relation is Lt and isinstance(one, Tensor) and one.node.kind == "integer" and _is_zero(other):
            current().read("whole numbers as places, which are not negative")
            return Table(false, tuple(map(_size, one.axes)), "boolean")
        for own, bound, turned in ((one, other, False), (other, one, True)):
            if (
                isinstance(own, Tensor)
                and own.alive is None
                and isinstance(bound, Table)
                and bound.formula in (oo, -oo)
            ):
                sign = (-1 if bound.formula == oo else 1) * (-1 if turned else 1)
                return Table(true if _HOLDS[relation](sign, 0) else false, tuple(map(_size, own.axes)), "boolean")
        for numbers, columns in ((one, other), (other, one)) if relation is Eq else ():
            rows = _one_hot(numbers, columns)
            if rows is not None:
                return rows
        return op.compare(operand_of(one), operand_of(other), relation)

    return applied


def _one_hot(numbers: Any, columns: Any) -> Tensor | None:
    """Return the one-hot mask of a comparison of integers with column numbers; None for other comparisons."""
    if not isinstance(numbers, Tensor) or not isinstance(columns, Table) or numbers.node.kind != "integer":
        return None
    if numbers.ndim != 2 or not is_one(numbers.axes[1]) or columns.formula != PLACES[1]:
        return None
    vector = op.removed(numbers, [1])
    current().chosen[current().define(vector.node), columns.axes[1]] = None
    return tensor(OneHot(vector.node, columns.axes[1]), kind="boolean")


def _size(along: Any) -> Expr:
    return size_of_axis(along)


def _is_zero(value: Any) -> bool:
    return isinstance(value, Table) and value.formula == 0


_HOLDS = {Eq: operator.eq, Ne: operator.ne, Lt: operator.lt, Le: operator.le, Gt: operator.gt, Ge: operator.ge}


def _condition(relation: Any, one: Table, other: Table) -> Boolean:
    """Return the condition for a relation between formulas; one between sizes alone is decided as true or false."""
    left, right = one.formula, other.formula
    if one.kind == "boolean" or other.kind == "boolean":
        raise refuse("a comparison of masks")
    if one.constant and other.constant:
        if not left.free_symbols | right.free_symbols:
            return relation(left, right)
        if not (left.is_integer and right.is_integer):
            raise refuse(f"a comparison of {left} and {right}")
        return true if _HOLDS[relation](Size(left), Size(right)) else false
    switches = (left + right).atoms(Iverson)
    if len(switches) == 1:  # a mask that was made a number
        (switch,) = switches
        on, off = ([each.xreplace({switch: Integer(value)}) for each in (left, right)] for value in (1, 0))
        if all(each.is_number for each in (*on, *off)):
            condition = switch.args[0]
            return Or(And(condition, relation(*on)), And(Not(condition), relation(*off)))
    least, largest = bounds_of(expand(left - right), shared_axes(one, other))
    if (least is not None and at_least(least, 1)) or (largest is not None and at_least(-largest, 1)):
        return true if _HOLDS[relation](1 if least is not None and at_least(least, 1) else -1, 0) else false
    if relation in (Ge, Lt) and least is not None and at_least(least, 0):
        return true if relation is Ge else false
    if relation in (Le, Gt) and largest is not None and at_least(-largest, 0):
        return true if relation is Le else false
    return relation(left, right, evaluate=False)


def logical(of_arrays: Rule, of_conditions: Callable[..., Boolean]) -> Rule:
    """Return the rule of an operation on truth values."""

    def applied(equation: Any, *given: Any) -> Any:
        if any(each.kind != "boolean" for each in given):
            raise refuse("an operation on the bits of whole numbers")
        if all(isinstance(each, Table) for each in given):
            return Table(of_conditions(*(each.formula for each in given)), shared_axes(*given), "boolean")
        for number_, each in enumerate(given):
            if len(given) == 2 and isinstance(each, Table) and each.formula in (true, false):
                other = given[1 - number_]
                if of_conditions(each.formula, Eq(op.FIRST, op.SECOND)) == each.formula:
                    return each
                return other
        return of_arrays(*map(array_of, given))

    return applied


def chosen(equation: Any, which: Any, *cases: Any) -> Any:
    """Return the second array where a mask is set, the first elsewhere."""
    if len(cases) != 2 or which.kind != "boolean":
        raise refuse("a choice among more than two arrays")
    other, one = cases
    if isinstance(which, Table):
        if which.formula == true or which.formula == false:
            return _as_large(one if which.formula == true else other, which)
        if one.kind == other.kind == "boolean" and isinstance(one, Table) and isinstance(other, Table):
            found = Or(And(which.formula, one.formula), And(Not(which.formula), other.formula))
            return Table(found, shared_axes(one, other), "boolean")
    if one.kind == other.kind == "boolean":
        return _mask_of_masks(array_of(which), one, other)
    mask = array_of(which)
    if isinstance(which, Table) and all(isinstance(each, Table) and _filler(each) is None for each in cases):
        switch = switch_of(which.formula)
        return Table(switch * one.formula + (1 - switch) * other.formula, shared_axes(which, one, other))
    for value, rest, visible in ((other, one, True), (one, other, False)):
        filler = _filler(value)
        if filler is not None:
            op.is_filler(filler)  # notes the reading
            rest = _small(rest, mask)
            return op.hidden(rest, mask if visible else op.logical_not(mask))
    return op.where(mask, _small(one, mask), _small(other, mask))


def switch_of(condition: Boolean) -> Expr:
    """Return the number that is 1 where a condition holds, and 0 elsewhere."""
    return Integer(int(condition == true)) if condition in (true, false) else Iverson(condition)


def _small(value: Any, mask: Tensor) -> Any:
    """Return one case of a choice as an operand; NaN is refused."""
    if isinstance(value, Table) and value.formula is nan:
        raise refuse("a choice with NaN")
    return operand_of(value)


def _as_large(value: Any, which: Table) -> Any:
    return Table(value.formula, which.axes, value.kind) if isinstance(value, Table) and not value.axes else value


def _filler(value: Any) -> float | None:
    """Return the number that stands for minus infinity in hidden scores, or None."""
    if not isinstance(value, Table) or value.kind == "boolean" or not value.constant:
        return None
    if value.formula == -oo:
        return float("-inf")
    return float(value.formula) if value.formula.is_number and value.formula <= FILLER else None


def _mask_of_masks(which: Tensor, one: Any, other: Any) -> Any:
    """Return a choice between two masks, which in the usual cases is a conjunction or a disjunction."""
    if isinstance(other, Table) and other.formula == false:
        return op.logical_and(which, array_of(one))
    if isinstance(one, Table) and one.formula == true:
        return op.logical_or(which, array_of(other))
    return op.logical_or(op.logical_and(which, array_of(one)), op.logical_and(op.logical_not(which), array_of(other)))


def is_finite(equation: Any, one: Any) -> Any:
    """Return the mask of the entries that are real numbers: all but those where minus infinity may stand."""
    if isinstance(one, Table):
        return Table(false if one.formula.has(oo, -oo, nan) else true, one.axes, "boolean")
    if one.alive is not None:
        return made(one.alive, None, "boolean", one.axes)
    return Table(true, tuple(map(_size, one.axes)), "boolean")
