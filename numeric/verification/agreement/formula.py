"""The value of a scalar formula of a derivation at given arrays, computed by plain loops in Python floats.

Definition   `number(formula, arrays, values)` replaces entries by those of the arrays and symbols by the values, and
             evaluates sums term by term
Assumes      the formula is in closed form, without derivatives or expectations
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import sympy
from sympy import Basic, Indexed, KroneckerDelta, Sum

from derivations.language.arrays.expression import Array
from derivations.language.arrays.scalars import Iverson, Within

__all__ = ["number", "place"]

Values = Mapping[Basic, float]


def number(formula: Basic, arrays: Mapping[str, Any], values: Values) -> float:
    """Return the value of a formula.

    Raises       TypeError for a node without a rule, KeyError for a missing array or symbol
    """
    if formula in values:
        return values[formula]
    if formula.is_Number or formula.is_NumberSymbol:
        return float(formula)
    if isinstance(formula, Within):  # indexing a NumPy array checks the condition itself
        return number(formula.args[0], arrays, values)
    if isinstance(formula, Array):
        return number(formula.entry(), arrays, values)
    if isinstance(formula, Indexed):
        return float(arrays[formula.base.label.name][place(formula, values)])
    if isinstance(formula, Sum):
        return _sum(formula, arrays, values)
    if isinstance(formula, Iverson):
        return float(_holds(formula.args[0], arrays, values))
    for kind, function in FUNCTIONS.items():
        if isinstance(formula, kind):
            return function(*(number(part, arrays, values) for part in formula.args))
    if formula.is_Symbol:
        raise KeyError(f"no value is given for {formula}")
    raise TypeError(f"{formula} has no number: no rule evaluates a {type(formula).__name__}")


def place(entry: Indexed, values: Values) -> tuple[int, ...]:
    """Return the position of an entry in its array.

    Raises       IndexError for a negative index, which NumPy would count from the end
    """
    places = tuple(round(number(index, {}, values)) for index in entry.indices)
    if min(places, default=0) < 0:
        raise IndexError(f"{entry} has the place {places}, which counts from 0")
    return places


def _sum(formula: Sum, arrays: Mapping[str, Any], values: Values) -> float:
    # SymPy lists the limits of the innermost sum first
    (index, low, high), *inner = reversed(formula.limits)
    body = Sum(formula.function, *reversed(inner)) if inner else formula.function
    first, last = (round(number(end, arrays, values)) for end in (low, high))
    return sum(number(body, arrays, {**values, index: term}) for term in range(first, last + 1))


def _holds(condition: Basic, arrays: Mapping[str, Any], values: Values) -> bool:
    left, right = (number(side, arrays, values) for side in condition.args)
    return bool(RELATIONS[type(condition)](left, right))


def _product(*factors: float) -> float:
    value = 1.0
    for factor in factors:
        value *= factor
    return value


RELATIONS: dict[Any, Callable[[float, float], bool]] = {
    sympy.Eq: lambda a, b: a == b,
    sympy.Ne: lambda a, b: a != b,
    sympy.Lt: lambda a, b: a < b,
    sympy.Le: lambda a, b: a <= b,
    sympy.Gt: lambda a, b: a > b,
    sympy.Ge: lambda a, b: a >= b,
}
FUNCTIONS: dict[Any, Callable[..., float]] = {
    KroneckerDelta: lambda a, b: float(round(a) == round(b)),
    sympy.Add: lambda *terms: sum(terms),
    sympy.Mul: _product,
    sympy.Pow: lambda base, power: base**power,
    # SymPy and Python name them alike
    **{
        getattr(sympy, name): getattr(math, name)
        for name in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "erf")
    },
    sympy.Max: max,
    sympy.Abs: abs,
}
