"""The interface to one array library, called a door: how its functions are called with symbols and with numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Door", "attributes_of", "called"]


@dataclass(frozen=True)
class Door:
    """The interface to one array library: its symbolic arrays, and how functions over its arrays are called."""

    name: str
    arrays: Callable[[], Any]  # the class of symbolic arrays
    given: Callable[[Any], Any]  # an array of NumPy as one of the library
    back: Callable[[Any], Any]
    trace: Callable[..., Any]  # a call with symbolic arrays: function, arguments, weights, numbers that are sizes
    run: Callable[..., Any]  # a call with numbers: function, arguments, weights
    weights: Callable[[Any], Mapping[str, tuple[int, ...]]] = lambda function: {}  # of a module: shapes by path
    called: Callable[[Any], Any] = lambda function: function  # what has the signature
    members: Callable[[Any], Sequence[Any]] = lambda function: ()  # of a list of modules, which is no function itself


def called(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function with arguments given by name; positional parameters get their arguments in order."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function(*arguments.values())
    rest = dict(arguments)
    by_position = []
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            taken = [name for name in rest if name.startswith(f"{parameter.name}_")]
            by_position += [rest.pop(name) for name in taken]
        elif parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
            if parameter.name not in rest:
                break
            by_position.append(rest.pop(parameter.name))
    return function(*by_position, **rest)


def attributes_of(part: Any) -> Iterator[dict[str, Any]]:
    """Yield the attributes of a part of a module, and those of its configuration."""
    yield vars(part)
    config = vars(part).get("config")
    if hasattr(config, "__dict__"):
        yield vars(config)
