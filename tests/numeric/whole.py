"""A function as a user of a library runs it: in JAX compiled as a whole, and in PyTorch operation by operation."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

QUICKLY = {"xla_backend_optimization_level": 0}  # of compiling, which is what takes the time in tests


def as_a_whole(library: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """JAX compiles a program for each operation and shape of a function that is not compiled as a whole."""
    return import_module(library).jit(function, compiler_options=QUICKLY) if library == "jax" else function
