"""The state of checking one call: the sizes bound so far, the arrays with their names, the error that refuses it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Expr, Integer, Symbol

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import Axis, total

__all__ = ["Given", "InputError", "kind", "listed", "symbols_of"]


class InputError(ValueError):
    """An argument that does not fit its layer."""

    __module__ = "numeric"  # the public path, which tracebacks show


@dataclass
class Given:
    """The sizes bound so far, the arrays by their path, and the first real array, whose number type all share."""

    layer: str
    sizes: dict[Expr, int] = field(default_factory=dict)
    arrays: list[tuple[str, Variable, Any, bool]] = field(default_factory=list)  # the last: whether it is an input
    first: tuple[str, Any] | None = None  # the name and number type that the other real arrays must have

    def refuse(self, message: str) -> InputError:
        """Return the error; its message begins with the name of the layer."""
        return InputError(f"{self.layer}: {message}")

    def length(self, along: Axis) -> Any:
        """Return the length of an axis at the sizes bound, or None where one of them is not bound."""
        if isinstance(along, Symbol):
            return self.sizes.get(along)
        return _length(along, tuple(self.sizes.get(symbol) for symbol in symbols_of(along)))

    def bind(self, size: Expr, length: int, what: Callable[[], str]) -> None:
        """Bind the size of an axis to its length.

        Raises       InputError with the text of `what` where the size already has another value
        """
        bound = self.sizes.setdefault(size, length) if isinstance(size, Symbol) else self.length(size)
        if bound != length:
            raise self.refuse(f"{what()} with {listed(self.sizes)}" if self.sizes else what())

    def bound(self, along: Axis) -> str:
        """Return the sizes in an axis with their values, as text."""
        return listed({size: self.sizes[size] for size in symbols_of(along)})


@lru_cache(maxsize=4096)
def _length(along: Axis, values: tuple[int | None, ...]) -> Any:
    """Return the length of an axis: an int, a fraction if it is not whole, None if a size has no value."""
    given = {size: Integer(value) for size, value in zip(symbols_of(along), values, strict=True) if value is not None}
    length = total(along).xreplace(given)
    if not length.is_number:
        return None
    # a fraction is returned as it is: the check that asked names it in its message
    return int(length) if isinstance(length, Integer) else length


@lru_cache(maxsize=4096)
def symbols_of(along: Axis) -> tuple[Symbol, ...]:
    """Return the sizes in an axis, sorted by name."""
    return tuple(sorted(along.free_symbols, key=lambda symbol: symbol.name))


def listed(values: Mapping[Any, Any]) -> str:
    """Return names and values as text, such as n = 3, d = 5."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def kind(value: Any) -> str:
    """Return the type of an argument as text, with the number type of an array."""
    return f"{type(value).__name__} of type {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
