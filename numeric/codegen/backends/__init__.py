"""The array libraries that layers are compiled for: NumPy, and JAX and PyTorch, which are imported on first use."""

from numeric.codegen.backends.arguments import mapped
from numeric.codegen.backends.backend import Backend
from numeric.codegen.backends.libraries import BACKENDS, backend_called

__all__ = ["BACKENDS", "Backend", "backend_called", "mapped"]
