"""Check the values of one call: finite numbers, tokens that name existing rows, positive scalars."""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import index
from typing import Any

import numpy as np
from sympy import Add, Basic, Eq, Expr, Ge, Gt, Le, Lt, Max, Min, Mod, Mul, Ne

from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import Elementwise
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import Axis
from derivations.language.layers.layer import Layer
from numeric.runtime.checks.arrays import NUMBERS
from numeric.runtime.checks.given import Given
from numeric.runtime.checks.wanted import scores

__all__ = ["check_finite", "check_not_nan", "check_tokens", "scalar", "size"]


def size(given: Given, name: str, value: Any) -> int:
    """Return a size as int.

    Raises       InputError where it is not an integer >= 1
    """
    try:
        # Python counts True as the integer 1
        number = -1 if isinstance(value, bool | np.bool_) else index(value)
    except TypeError:
        number = -1
    if number < 1:
        raise given.refuse(f"the size {name} must be an integer >= 1, not {value!r}")
    return number


def scalar(given: Given, name: str, value: Any) -> float:
    """Return a scalar as a Python float, so that arithmetic with float32 arrays stays in float32.

    Raises       InputError where it is not a positive number
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 < number < float("inf"):
        raise given.refuse(f"the scalar {name} must be a positive number, not {value!r}")
    return number


def check_finite(given: Given, layer: Layer) -> None:
    """Check that the inputs hold neither NaN nor infinities, except -inf in scores, where a softmax hides that key.

    Raises       InputError
    """
    for name, variable, value, is_input in given.arrays:
        if is_input and variable.kind == "real" and not _all_finite(value):
            check_not_nan(given, name, value)
            # a score -inf hides its key; +inf would make inf - inf in the softmax
            infinite = np.isposinf(value) if variable in scores(layer) else np.isinf(value)
            if infinite.any():
                where = _first(infinite)
                raise given.refuse(f"{name} is {value[where]} at {where}: give finite numbers")


def check_not_nan(given: Given, name: str, value: Any) -> None:
    """Check that an array does not hold NaN.

    Raises       InputError
    """
    if value.dtype in NUMBERS and np.isnan(value).any():
        raise given.refuse(f"{name} is NaN at {_first(np.isnan(value))}: replace such entries first")


def _all_finite(value: Any) -> bool:
    """Return whether all entries are finite; a finite sum proves it, an infinite sum may be an overflow.

    Along an axis of stride 0 one entry is read: such a broadcast array may be larger than any memory.
    """
    if 0 in value.strides:
        value = value[tuple(slice(1) if stride == 0 else slice(None) for stride in value.strides)]
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(np.add.reduce(value, axis=None)) or bool(np.isfinite(value).all())


def _first(marked: Any) -> tuple[int, ...]:
    return tuple(int(place) for place in np.argwhere(marked)[0])


def check_tokens(given: Given, bounds: Iterable[tuple[Array, Axis]]) -> None:
    """Check that every token names an existing row; `bounds` are the `token_bounds` of the layer.

    Raises       InputError
    """
    inputs = {variable: (name, value) for name, variable, value, is_input in given.arrays if is_input}
    for tokens, bound in bounds:
        made = isinstance(tokens, Elementwise)
        of, formula = (tokens.args[1:], tokens.args[0].formula) if made else ((tokens,), None)
        if not all(variable in inputs and inputs[variable][1].size for variable in of):
            continue
        name, value = inputs[of[0]]
        numbers = value
        if formula is not None:
            places = dict(zip(formula.variables, (inputs[variable][1] for variable in of), strict=True))
            try:
                numbers = _entries(formula.expr, places)
            except KeyError:  # a function without a rule: the look-up itself may refuse the tokens
                continue
        vocab = given.length(bound)
        lowest, highest = numbers.min(), numbers.max()
        if lowest < 0 or (vocab is not None and highest >= vocab):
            is_outside = (numbers < 0) | (numbers >= vocab) if vocab is not None else numbers < 0
            outside = np.broadcast_to(value, numbers.shape)[is_outside].flat[0]
            raise given.refuse(f"{name} holds the token {outside}; {bound} = {vocab} tokens count from 0")


def _entries(formula: Expr, values: Mapping[Basic, Any]) -> Any:
    """Return the entries of a formula of integers; it is short, so it is evaluated anew at every call.

    Raises       KeyError for a function that is not in `_OF_INTEGERS`
    """
    if formula in values:
        return values[formula]
    if formula.is_Integer:
        return int(formula)
    if isinstance(formula, Iverson):
        return _entries(formula.args[0], values).astype(int)
    return reduce(_OF_INTEGERS[formula.func], (_entries(part, values) for part in formula.args))


_OF_INTEGERS: Mapping[type, Callable[..., Any]] = {
    **{Add: np.add, Mul: np.multiply, Max: np.maximum, Min: np.minimum, Mod: np.mod},
    **{Le: np.less_equal, Lt: np.less, Ge: np.greater_equal, Gt: np.greater, Eq: np.equal, Ne: np.not_equal},
}
