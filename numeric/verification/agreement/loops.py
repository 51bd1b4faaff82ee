"""The loops of `numeric.verification.reference`, by the layer that they compute.

A function there stands under `@loops_of`; every module of that package is imported when the loops are asked for, so
that new ones have to be named nowhere.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from typing import Any

from numeric.verification import reference
from numeric.verification.reference.registry import LOOPS

__all__ = ["Rows", "loops", "rows_of"]

Rows = Any  # nested lists of mpf


def loops() -> Mapping[str, Callable[..., Any]]:
    """Return the loops of every layer that has some, by the layer's name."""
    for module in iter_modules(reference.__path__, f"{reference.__name__}."):
        import_module(module.name)
    return LOOPS


def rows_of(function: Callable[..., Any], arrays: Mapping[str, Any], numbers: Mapping[str, Any]) -> Rows:
    """Return the result of loops as a matrix. A vector becomes one row, and a number a row with one entry.

    Of the sizes and scalars in `numbers` a function gets those that it has arguments for.
    """
    named = signature(function).parameters
    rows = function(**arrays, **{name: value for name, value in numbers.items() if name in named})
    while not (isinstance(rows, list) and isinstance(rows[0], list)):
        rows = [rows]
    return rows
