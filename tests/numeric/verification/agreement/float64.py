"""The library `transformers` in float64 throughout, although it asks for float32 by name in norms and angles."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def exactly() -> Iterator[None]:
    """Let what asks for float32 by name have float64."""
    import torch  # its tests are skipped where it is not installed

    torch.set_default_dtype(torch.float64)
    try:
        with (
            patch.object(torch, "float32", torch.float64),
            patch.object(torch, "float", torch.float64),
            patch.object(torch.Tensor, "float", torch.Tensor.double),
        ):
            yield
    finally:
        torch.set_default_dtype(torch.float32)
