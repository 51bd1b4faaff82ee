"""What a function keeps between its calls: lists, dictionaries and objects among its globals, defaults and closures.

Result       a value that changes when the function changes one of them; arrays and modules are not looked into
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["state_of"]

_MOST = 1_000  # entries of one container that are looked at


def state_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return a summary of each value that a function keeps: globals, attributes, defaults and closures, by name."""
    inside = inspect.unwrap(function) if callable(function) else function
    return {name: _content(value) for name, value in _held(inside)}


def _held(function: Any) -> Iterator[tuple[str, Any]]:
    code = getattr(function, "__code__", None)
    if code is None:
        return
    space = function.__globals__
    yield from ((name, space[name]) for name in code.co_names if name in space)
    yield from vars(function).items()
    names = inspect.signature(function).parameters.values()
    yield from ((p.name, p.default) for p in names if p.default is not p.empty)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # it is not filled yet
            continue


def _content(value: Any) -> Any:
    """Return a summary of a value that differs after the value has been changed in place."""
    if isinstance(value, int | float | str | None):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [*map(_told, list(value)[:_MOST]), len(value)]
    if isinstance(value, dict):
        return [(_told(key), _told(each)) for key, each in list(value.items())[:_MOST]]
    if isinstance(value, type) or inspect.ismodule(value) or inspect.isroutine(value) or not hasattr(value, "__dict__"):
        return id(value)
    return [(name, _told(each)) for name, each in list(vars(value).items())[:_MOST]]


def _told(value: Any) -> Any:
    return value if isinstance(value, int | float | str) else id(value)
