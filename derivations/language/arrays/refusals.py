"""Error messages for operators and functions of numbers applied to arrays: they name the operation probably meant.

`*` between arrays could mean two products and is neither; SymPy's functions take numbers, and would keep an array
inside as if it were one.
"""

from collections.abc import Iterator
from typing import Any, NoReturn

from sympy import Basic, Function

from derivations.language.arrays.shown import Displayed

__all__ = ["refuse_argument", "refuse_function", "refuse_power", "refuse_product", "refuse_quotient", "refuse_sum"]


def refuse_product(left: Any, right: Any) -> NoReturn:
    """Raise `TypeError` for `left * right` of two arrays."""
    entrywise = f"Hadamard({left}, {right})"
    meant = entrywise
    if left.shape and right.shape:
        meant = f"{entrywise} for the product entry by entry, or {left} @ {right} for the product of matrices"
    raise TypeError(f"{left} * {right}: write {meant}")


def refuse_quotient(left: Any, right: Any) -> NoReturn:
    """Raise `TypeError` for `left / right`, where `right` is an array."""
    raise TypeError(f'{left} / {right}: name the quotient of entries, as named("quotient", x / y, x, y), and apply it')


def refuse_power(base: Any, exponent: Any) -> NoReturn:
    """Raise `TypeError` for a power of an array."""
    function = "square(...)" if exponent == 2 else f'named("power", x**({exponent}), x)'
    raise TypeError(f"({base})**({exponent}): write {function} for the power of every entry, or @ for matrices")


def refuse_sum(left: Any, sign: str, right: Any) -> NoReturn:
    """Raise `TypeError` for the sum or difference of an array and a number."""
    array, number = (left, right) if isinstance(left, Displayed) else (right, left)
    refuse_function(number)
    raise TypeError(
        f"{left} {sign} {right}: an array and a number are not added; name what is done to every entry, "
        f'as named("shifted", x {sign} {number}, x), and apply it to {array}'
    )


def refuse_argument(array: Any) -> NoReturn:
    """Raise `TypeError` where a function of numbers is called with an array."""
    raise TypeError(
        f'{array} is an array, and the function takes numbers: name it, as named("tanh", tanh(x), x)({array})'
    )


def refuse_function(value: Any) -> None:
    """Raise `TypeError` where an expression applies a function of numbers to an array, as `exp(Q)` does."""
    for call in _calls(value) if isinstance(value, Basic) else ():
        if any(isinstance(part, Displayed) for part in call.args):
            name = type(call).__name__
            meant = "exponential(...)" if name == "exp" else f'named("{name}", {name}(x), x)'
            raise TypeError(f"{call}: {name} takes numbers; for every entry of an array write {meant}")


def _calls(value: Basic) -> Iterator[Function]:
    """Yield the function calls in an expression. Those inside layers were checked when the layers were defined."""
    if isinstance(value, Function):
        yield value
    for part in value.args:
        if not getattr(part, "closed", False):
            yield from _calls(part)
