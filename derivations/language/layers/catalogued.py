"""The layers of the catalogue: the decorator `@catalogued` enters the layer that a function returns.

Nothing else has to be changed for a new layer: the catalogue imports every module of a concept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

from derivations.language.layers.layer import Layer

__all__ = ["LAYERS", "catalogued"]

LAYERS: dict[str, partial[Layer]] = {}

Build = TypeVar("Build", bound=Callable[..., Layer])


@overload
def catalogued(build: Build, /) -> Build: ...


@overload
def catalogued(name: str, /, **options: Any) -> Callable[[Build], Build]: ...


def catalogued(build: Any, /, **options: Any) -> Any:
    """Enter the layer that a function returns into the catalogue, under the function's name.

    With a name and options it enters `function(**options)` under that name. Several of them may stand above one
    function; the lowest comes first in the catalogue.

    Raises `ValueError` for a name that another function has.
    """
    if callable(build):
        return _enter(build, build.__name__, {})
    return partial(_enter, name=build, options=options)


def _enter(build: Build, name: str, options: dict[str, Any]) -> Build:
    # A module that is imported again, as after an edit in a notebook, replaces its own layers.
    if name in LAYERS and _home(LAYERS[name].func) != _home(build):
        raise ValueError(f"the layer {name!r} is in {LAYERS[name].func.__module__} already: choose another name")
    LAYERS[name] = partial(build, **options)
    return build


def _home(build: Any) -> tuple[str, str]:
    return build.__module__, build.__qualname__
