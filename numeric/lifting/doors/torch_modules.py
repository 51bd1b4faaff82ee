"""Modules of PyTorch while they are lifted: symbolic parameters, and sizes in place of the numbers that stand for them.

Whatever is put into a module is taken out again: parameters, buffers, whole numbers among the attributes of the module
and of its configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from sympy import Expr, Integer, Symbol

from numeric.lifting import places
from numeric.lifting.door import attributes_of
from numeric.lifting.numbers import size_of
from numeric.lifting.operations import inserted
from numeric.lifting.refusals import refuse
from numeric.lifting.trace import current

__all__ = ["evaluating", "held_by", "numeric_module", "symbolic_module"]


_STATISTICS = ("running_mean", "running_var")


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Put a module and its submodules into evaluation mode inside the block: no dropout, fixed running statistics."""
    before = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in before:
            part.training = training


def held_by(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield parameters by their paths, and the running statistics of norms: in evaluation they are weights as well."""
    yield from module.named_parameters()
    for path, buffer in module.named_buffers():
        if path.rpartition(".")[2] in _STATISTICS and buffer.numel() > 1:
            yield path, buffer


@contextmanager
def symbolic_module(module: Any, weights: Mapping[str, Any], known: Mapping[int, Expr]) -> Iterator[None]:
    """Put symbolic arrays into a module, and sizes where its attributes hold numbers that stand for sizes."""
    undo: list[tuple[dict[str, Any], str, Any]] = []

    def put(space: dict[str, Any], name: str, value: Any) -> None:
        undo.append((space, name, space[name]))
        space[name] = value

    own = {id(held): path for path, held in held_by(module)}
    seen: set[int] = set()
    with evaluating(module):
        for part in module.modules():
            for name, parameter in list(part._parameters.items()):
                if parameter is not None:
                    put(part._parameters, name, weights[own[id(parameter)]])
            for name, buffer in list(part._buffers.items()):
                if id(buffer) in own:
                    put(part._buffers, name, weights[own[id(buffer)]])
                elif buffer is not None:
                    put(part._buffers, name, _buffer(f"{type(part).__name__}.{name}", buffer, known))
            for space in attributes_of(part):
                if id(space) in seen:
                    continue
                seen.add(id(space))
                for name, value in list(space.items()):
                    if isinstance(value, int) and not isinstance(value, bool) and value in known and value > 1:
                        current().read(f"{name} = {value} as {known[value]}")
                        put(space, name, size_of(known[value]))
                    elif isinstance(value, list) and any(id(each) in own for each in value):
                        put(space, name, [weights[own[id(each)]] if id(each) in own else each for each in value])
                    elif _is_shape(value) and any(number in known and number > 1 for number in value):
                        sizes = tuple(size_of(known.get(number, Integer(number))) for number in value)
                        current().read(f"{name} = {tuple(value)} as {sizes}")
                        put(space, name, sizes)
        try:
            yield
        finally:
            for space, name, value in reversed(undo):
                space[name] = value


def _is_shape(value: Any) -> bool:
    """Return whether an attribute is a sequence of whole numbers, such as the shape that a norm was made for."""
    return isinstance(value, tuple | list) and all(isinstance(n, int) and not isinstance(n, bool) for n in value)


def _buffer(path: str, buffer: Any, known: Mapping[int, Expr]) -> Any:
    """Return a buffer as a symbolic array: a causal mask, powers of a base, or a small table.

    A buffer with one entry is returned unchanged. A use of any other buffer is refused.
    """
    if buffer.ndim >= 2 and buffer.shape[-1] == buffer.shape[-2] and buffer.numel() == buffer.shape[-1] ** 2 > 1:
        square = buffer.reshape(buffer.shape[-2:])
        if bool((square == torch.tril(torch.ones_like(square))).all()):
            number = int(square.shape[0])
            size = known.get(number)
            if size is None:
                size = Symbol(f"{path.rpartition('.')[2]}_length", integer=True, positive=True)
                current().made_with[size] = number
            mask = places.band(size, size, 0, True)
            return inserted(mask, list(range(buffer.ndim - 2))) if buffer.ndim > 2 else mask
    if buffer.numel() == 1:
        return buffer
    found = _frequencies(path, buffer, known)
    if found is not None:
        return found
    if buffer.numel() <= places.LARGEST_TABLE and not buffer.is_complex():
        return places.tabulated(buffer.detach().numpy())
    return _Unread(path, buffer.numel())


def _frequencies(path: str, buffer: Any, known: Mapping[int, Expr]) -> Any:
    """Return the powers base^(-i / count) that a buffer holds, if count is a known size or half of one; else None."""
    count = buffer.numel()
    if buffer.ndim != 1 or not buffer.is_floating_point() or buffer[0] != 1 or not 0 < buffer[-1] < 1:
        return None
    base = round(float(buffer[-1].double()) ** (-count / (count - 1)))
    held = base ** (-torch.arange(count, dtype=torch.float64) / count)
    if not torch.allclose(buffer.double(), held, rtol=1e-6, atol=0):
        return None
    size = known[2 * count] / 2 if 2 * count in known else known.get(count)
    if size is None:
        return None
    current().rounded = current().rounded or buffer.dtype != torch.float64
    current().read(f"{path.rpartition('.')[2]} as {base}^(-i / ({size}))")
    return places.powers(Integer(base), size)


class _Unread:
    """A buffer whose numbers are not followed: every use of it is refused."""

    def __init__(self, path: str, count: int) -> None:
        self.path, self.count = path, count

    def __getattr__(self, name: str) -> Any:
        raise refuse(f"the buffer {self.path} holds {self.count} numbers")

    def __getitem__(self, key: Any) -> Any:
        raise refuse(f"the buffer {self.path} holds {self.count} numbers")

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, given: Any = (), options: Any = None) -> Any:
        raise refuse(f"torch.{function.__name__} of a buffer of numbers")


@contextmanager
def numeric_module(module: Any, weights: Mapping[str, Any], dtype: Any) -> Iterator[None]:
    """Put numbers into the parameters of a module, in a number type."""
    before = module.state_dict(keep_vars=True)
    kept = {name: value.detach().clone() for name, value in before.items()}
    kind = next((p.dtype for p in module.parameters()), torch.float64)
    try:
        module.to(dtype)
        for name, held in held_by(module):
            if name in weights:
                held.data.copy_(torch.as_tensor(weights[name]))
        yield
    finally:
        module.to(kind)
        module.load_state_dict(kept)
