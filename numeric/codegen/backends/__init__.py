"""Libraries of arrays that layers are compiled for besides NumPy: JAX and PyTorch, imported when they are used."""

from numeric.codegen.backends.arguments import mapped
from numeric.codegen.backends.backend import Backend
from numeric.codegen.backends.libraries import BACKENDS, backend_called

__all__ = ["BACKENDS", "Backend", "backend_called", "mapped"]
