"""The choice of the array library for a function; each library has one interface, a `Door`.

A door is a table row. PyTorch and JAX are imported where a function of theirs is lifted, and nowhere else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dis import get_instructions
from types import CellType, CodeType
from typing import Any

from numeric.lifting.door import Door, called
from numeric.lifting.doors.numpy_array import NumpyArray
from numeric.lifting.refusals import is_users

__all__ = ["NUMPY", "called_with", "door_of", "doors_of"]

_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")  # an attribute may have the name of a global
_SEARCHED = 100  # functions that are looked through for the library that they use


def _same(array: Any) -> Any:
    return array


def _plain_call(function: Callable[..., Any], arguments: Mapping[str, Any], *more: Any) -> Any:
    return called(function, arguments)


NUMPY = Door("numpy", lambda: NumpyArray, _same, _same, _plain_call, _plain_call)


_called_with: ContextVar[Door | None] = ContextVar("called_with", default=None)


@contextmanager
def called_with(door: Door) -> Iterator[None]:
    """Make `door_of` return the given interface for every function inside the block."""
    token = _called_with.set(door)
    try:
        yield
    finally:
        _called_with.reset(token)


def door_of(function: Any) -> Door:
    """Return the interface to the array library of a function or module, judged by its type, module and globals."""
    return _called_with.get() or doors_of(function)[0]


def doors_of(function: Any) -> list[Door]:
    """Return the interfaces to the array libraries that a function or module uses, the likeliest one first."""
    origins = {kind.__module__.partition(".")[0] for kind in type(function).__mro__}
    origins.add(str(getattr(function, "__module__", "")).partition(".")[0])
    used = {"numpy" if name == "scipy" else name for name in _used(function)}
    space = getattr(inspect.unwrap(function) if callable(function) else function, "__globals__", {})
    names = {getattr(value, "__name__", "").partition(".")[0] for value in space.values()}
    found = []
    known = used & {"numpy", "torch", "jax", "jaxlib"}  # a function that uses none takes the arrays of any library
    if "torch" in origins | used or ("torch" in names and not known):
        from numeric.lifting.doors.torch_door import (
            TORCH,  # PyTorch is imported with the first function over its arrays
        )

        found.append(TORCH)
    if {"jax", "jaxlib"} & (origins | used) or ("jax" in names and not known):
        from numeric.lifting.doors.jax_door import JAX  # JAX is imported with the first function over its arrays

        found.append(JAX)
    if not found or "numpy" in used or not (known or origins & {"torch", "jax", "jaxlib"}):
        found.append(NUMPY)
    return found


def _used(function: Any) -> set[str]:
    """Return the libraries that a function uses through its globals, and those used by the functions that it calls.

    The nearest functions are looked through first.
    """
    seen: set[Any] = set()
    waiting = [function]
    found: set[str] = set()
    for each in waiting:
        inside = inspect.unwrap(each) if callable(each) else each
        code = getattr(inside, "__code__", None)
        if code is None or code in seen or len(seen) > _SEARCHED or not is_users(code.co_filename):
            continue
        seen.add(code)
        values = list(_read_by(inside, code))
        found |= set(map(_origin, values))
        waiting += [
            value
            for value in values
            if not isinstance(value, type) and hasattr(inspect.unwrap(value) if callable(value) else value, "__code__")
        ]
    return found


def _read_by(function: Any, code: CodeType) -> Iterator[Any]:
    """Yield the globals and free variables that a function reads, and what it reads from the user's own modules."""
    codes = [code]
    for each in codes:  # functions inside of the function too
        codes += [constant for constant in each.co_consts if isinstance(constant, CodeType)]
    names = [name for each in codes for name in each.co_names]
    read = {step.argval for each in codes for step in get_instructions(each) if step.opname in _GLOBALS}
    space = getattr(function, "__globals__", {})
    values = [space[name] for name in dict.fromkeys(names) if name in read and name in space]
    values += [cell.cell_contents for cell in getattr(function, "__closure__", None) or () if cell != CellType()]
    yield from values
    for value in values:
        if inspect.ismodule(value) and is_users(getattr(value, "__file__", None) or ""):
            yield from (vars(value)[name] for name in names if name in vars(value))


def _origin(value: Any) -> str:
    """Return the library of a module, or of a function or class that was imported by its name."""
    kind = type(value) if getattr(value, "__module__", None) is None else value  # an array has the module of its class
    named = value.__name__ if inspect.ismodule(value) else str(kind.__module__)
    return named.partition(".")[0]
