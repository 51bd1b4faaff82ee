"""PyTorch's functions and modules, called with symbolic arrays and with numbers.

A module keeps its own code; its parameters and buffers are symbolic arrays during the call, and whole numbers among its
attributes that are known to stand for sizes are sizes.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from sympy import Expr

from derivations.language.arrays.shapes import axis
from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.door import Door, called
from numeric.lifting.doors.torch_array import TorchArray
from numeric.lifting.doors.torch_calls import BODIES, torch_called
from numeric.lifting.doors.torch_methods import filled, triangle
from numeric.lifting.doors.torch_modules import evaluating, held_by, numeric_module, symbolic_module
from numeric.lifting.doors.torch_operands import Table, refused
from numeric.lifting.numbers import Scalar, as_number, size_of
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, taking_sizes, unwritten

__all__ = ["TORCH"]


def _arange(*bounds: Any, **options: Any) -> Any:
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return places.positions(start, stop, step)


def _shape_together(*shapes: Any) -> tuple[Any, ...]:
    """Return the shape to which arrays of the given shapes broadcast."""
    along = (tuple(axis(as_number(size)) for size in shape) for shape in shapes)
    return tuple(map(size_of, op.broadcast_shape(*along)))


_FACTORIES: Table = {
    "broadcast_shapes": _shape_together,
    **dict.fromkeys(("tensor", "asarray"), lambda *given, **more: refused("a tensor made of a symbolic array")),
    "arange": _arange,
    "ones": filled(1),
    "zeros": filled(0),
    "full": filled(None),
    "empty": lambda *given, **more: unwritten(filled(0)(*given, **more)),
    "eye": lambda n, m=None, **more: places.identity(as_number(n), as_number(n if m is None else m)),
    "tril": triangle(True),
    "triu": triangle(False),
}


_RANDOM = ("rand", "randn", "randint", "bernoulli", "multinomial", "normal", "rand_like", "randn_like")
_BUILT_IN = [  # functions in C++: they refuse sizes among their arguments before they ask the arrays
    (space, name, value)
    for space in (torch, F)
    for name, value in vars(space).items()
    if inspect.isbuiltin(value) and not name.startswith("_") and name not in (*_FACTORIES, *_RANDOM)
]
_ASKS = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")


@contextmanager
def _patched() -> Iterator[None]:
    """Let functions that make tensors take sizes, and refuse random numbers."""
    before = {name: getattr(torch, name) for name in (*_FACTORIES, *_RANDOM)}

    def asking_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
        return taking_sizes(function, lambda *given, **options: _by_rule(function, given, options))

    def random(*given: Any, **options: Any) -> Any:
        raise refuse("random numbers")

    def asked(question: Callable[..., bool]) -> Callable[..., bool]:
        return lambda *given: sys._getframe(1).f_code not in BODIES and question(*given)

    questions = {name: getattr(F, name) for name in _ASKS}
    try:
        for name in _FACTORIES:
            setattr(torch, name, taking_sizes(before[name], _FACTORIES[name]))
        for name in _RANDOM:
            setattr(torch, name, random)
        for space, name, function in _BUILT_IN:
            setattr(space, name, asking_arrays(function))
        for name, question in questions.items():
            setattr(F, name, asked(question))
        yield
    finally:
        for name, value in before.items():
            setattr(torch, name, value)
        for space, name, function in _BUILT_IN:
            setattr(space, name, function)
        for name, question in questions.items():
            setattr(F, name, question)


def _by_rule(function: Callable[..., Any], given: Any, options: Mapping[str, Any]) -> Any:
    """Call a function by its rule if a symbolic size and a symbolic array are among its arguments, else directly."""
    values = [
        each
        for value in (*given, *options.values())
        for each in (value if isinstance(value, tuple | list) else (value,))
    ]
    symbolic = any(isinstance(each, Scalar) for each in values) and any(isinstance(each, Tensor) for each in values)
    return torch_called(function, given, options) if symbolic else function(*given, **options)


def _traced(function: Any, arguments: Mapping[str, Any], weights: Mapping[str, Any], known: Mapping[int, Expr]) -> Any:
    with ExitStack() as stack:
        stack.enter_context(_patched())
        stack.enter_context(torch.no_grad())
        if isinstance(function, torch.nn.Module):
            stack.enter_context(symbolic_module(function, weights, known))
        return called(_signed(function), arguments)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let PyTorch use one thread: the arrays of a run are small, and threads that wait for one another take longer."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _run(function: Any, arguments: Mapping[str, Any], weights: Mapping[str, Any]) -> Any:
    with torch.no_grad(), _one_thread():
        if not isinstance(function, torch.nn.Module):
            return called(function, arguments)
        with evaluating(function):
            try:
                with numeric_module(function, weights, torch.float64):
                    return called(function.forward, arguments)
            except RuntimeError:  # a module that casts its input to float32 wants its weights in float32
                with numeric_module(function, weights, torch.float32):
                    return called(function.forward, arguments)


def _signed(function: Any) -> Any:
    """Return the callable that has the signature: the `forward` of a module, or the function itself."""
    return function.forward if isinstance(function, torch.nn.Module) else function


def _weights(function: Any) -> dict[str, tuple[int, ...]]:
    if not isinstance(function, torch.nn.Module):
        return {}
    return {name: tuple(held.shape) for name, held in held_by(function)}


def _given(array: Any) -> Any:
    return torch.from_numpy(np.ascontiguousarray(array))


def _back(array: Any) -> Any:
    return array.detach().cpu().numpy()


def _members(function: Any) -> list[Any]:
    return list(function) if isinstance(function, torch.nn.ModuleList) else []


TORCH = Door("torch", lambda: TorchArray, _given, _back, _traced, _run, _weights, _signed, _members)
