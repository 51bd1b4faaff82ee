"""The loops of each layer: `@loops_of` above a function says which layers it computes."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

__all__ = ["LOOPS", "loops_of"]

Loops = TypeVar("Loops", bound=Callable[..., Any])

LOOPS: dict[str, Callable[..., Any]] = {}


def loops_of(*layers: str, **options: Any) -> Callable[[Loops], Loops]:
    """Register a function, called with these options, as the loops of the layers with these names.

    Its arguments have the names of the layer's inputs and weights; sizes and scalars of the layer are passed where it
    has an argument of that name.

    Raises       ValueError where another function computes one of the layers
    """

    def entered(function: Loops) -> Loops:
        for layer in layers:
            if layer in LOOPS:
                raise ValueError(f"the layer {layer!r} has loops already: name another layer")
            LOOPS[layer] = partial(function, **options)
        return function

    return entered
