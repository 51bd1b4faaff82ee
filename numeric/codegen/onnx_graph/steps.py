"""Functions that traced source calls around its equations: they name the values of an equation and of a part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numeric.codegen.onnx_graph.graph import current

__all__ = ["equation", "within"]


def equation(name: str, compute: Callable[[], Any]) -> Any:
    """Return what the right-hand side of an equation computes, named after its left-hand side."""
    return current().equation(name, compute)


def within(part: str, copied: bool, compute: Callable[[], Any]) -> Any:
    """Return what the function of a part computes; the names of its equations start with the name of the part."""
    with current().part(part, copied):
        return compute()
