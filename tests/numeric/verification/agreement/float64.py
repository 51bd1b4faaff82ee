"""The library `transformers` in float64 throughout, although it asks for float32 by name in norms and angles."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch


@contextmanager
def exactly() -> Iterator[None]:
    """Let what asks for float32 by name have float64."""
    import torch  # its tests are skipped where it is not installed

    narrow, wide, to = torch.float32, torch.float64, torch.Tensor.to

    def kept(tensor: Any, *given: Any, **named: Any) -> Any:
        # defaults of arguments hold the type itself, whatever its name means later
        given = tuple(wide if each is narrow else each for each in given)
        return to(tensor, *given, **{name: wide if each is narrow else each for name, each in named.items()})

    torch.set_default_dtype(wide)
    try:
        with (
            patch.object(torch, "float32", wide),
            patch.object(torch, "float", wide),
            patch.object(torch, "FloatTensor", torch.DoubleTensor),
            patch.object(torch.Tensor, "float", torch.Tensor.double),
            patch.object(torch.Tensor, "to", kept),
            patch.object(torch.Tensor, "type", kept),
        ):
            yield
    finally:
        torch.set_default_dtype(narrow)
