"""PyTorch's definitions of its functions over others, in `torch._refs`: what has no rule is followed there.

They are Python over simpler functions, with questions about types that symbolic arrays have to pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import torch

__all__ = ["asking_for", "reference_of"]

_REFERENCES = ("torch._refs", "torch._prims_common", "torch._decomp")  # these ask for the type of what they are given
_SPACES = ("torch._refs.nn.functional", "torch._refs", "torch._refs.special")


def reference_of(name: str, arrays: type) -> Callable[..., Any] | None:
    """Return PyTorch's definition of a function by its name, for arrays of a type, or None."""
    for space in _SPACES:
        found = getattr(import_module(space), name, None)
        if callable(found) and getattr(found, "__module__", "").startswith("torch._refs"):
            return _called(found, arrays)
    return None


def _called(reference: Callable[..., Any], arrays: type) -> Callable[..., Any]:
    def followed(*given: Any, **options: Any) -> Any:
        with asking_for(arrays):
            return reference(*given, **options)

    return followed


@contextmanager
def asking_for(arrays: type) -> Iterator[None]:
    """Let the definitions that are loaded take arrays of a type for tensors."""
    loaded = [vars(m) for name, m in list(sys.modules.items()) if name.startswith(_REFERENCES)]
    spaces = [space for space in loaded if space.get("TensorLike") is torch.Tensor]
    try:
        for space in spaces:
            space["TensorLike"] = (torch.Tensor, arrays)
        yield
    finally:
        for space in spaces:
            space["TensorLike"] = torch.Tensor
