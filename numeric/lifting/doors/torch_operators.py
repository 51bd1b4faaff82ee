"""The operators that PyTorch itself runs for a function: recorded once for arrays without entries, then followed.

Definition   the function is called with fake tensors, whose sizes are symbols without values; what its own code in C++
             does with them is a list of operators, and each of these has a rule, or a definition in Python
Result       what the function gives, with a reading that says so
Assumes      sizes >= 1. A function that compares sizes which are not known to be equal is refused
Raises       NotFollowed for an operator without a rule, for random numbers, and for numbers that are not sizes
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Any

import torch
from sympy import Expr, Function, Symbol
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from numeric.lifting.doors.torch_references import name_of
from numeric.lifting.numbers import Scalar, Size, as_number, size_of
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor

__all__ = ["operators_followed"]

_LOGS = ("torch._subclasses.fake_tensor", "torch.fx.experimental.symbolic_shapes")
_LARGEST = 1 << 30  # of the sizes that PyTorch is told


def operators_followed(
    function: Any, given: Sequence[Any], options: Mapping[str, Any], follow: Callable[..., Any]
) -> Any:
    """Return what a function gives, by the operators that PyTorch runs for it; `follow` applies one of them."""
    leaves, tree = pytree.tree_flatten((tuple(given), dict(options)))
    if any(isinstance(each, Tensor) and each.alive is not None for each in leaves):
        raise refuse("an array in which minus infinity stands, in a function that has no rule")
    if any(isinstance(each, Scalar) and not isinstance(each, Size) for each in leaves):
        raise refuse("a symbolic number in a function that has no rule")
    recorded = _recorded(function, leaves, tree)
    held = {id(fake): own for fake, own in zip(recorded.fakes, leaves, strict=True) if isinstance(own, Tensor)}

    def own(value: Any) -> Any:
        return recorded.own(value, held)

    for operator, args, kwargs, outcome in recorded.steps:
        if torch.Tag.nondeterministic_seeded in operator.tags:
            raise refuse(f"random numbers, by {operator}")
        own_args, own_kwargs = pytree.tree_map(own, (args, kwargs))
        found = follow(operator, own_args, own_kwargs)
        several = list(found) if isinstance(found, tuple | list) else [found]
        for fake, value in zip(pytree.tree_leaves(outcome), several, strict=False):
            if isinstance(fake, torch.Tensor) and isinstance(value, Tensor):
                held[id(fake)] = value
    return pytree.tree_map(own, recorded.result)


_KEPT: dict[Any, _Recorded] = {}  # a function is traced more than once
_MOST = 64


def _recorded(function: Any, leaves: Sequence[Any], tree: Any) -> _Recorded:
    """Return the recorded operators of a call; each function is recorded once for given shapes and other arguments."""
    told = tuple((each.sizes, each.kind) if isinstance(each, Tensor) else _told(each) for each in leaves)
    key = (function, told, str(tree))
    if key not in _KEPT:
        if len(_KEPT) >= _MOST:
            del _KEPT[next(iter(_KEPT))]
        _KEPT[key] = _Recorded(function, leaves, tree)
    return _KEPT[key]


def _told(value: Any) -> Any:
    """Return the part of a cache key that stands for an argument other than an array."""
    if isinstance(value, Size):
        return "size", value.expression
    return type(value), repr(value.item() if isinstance(value, torch.Tensor) else value)  # a tensor prints rounded


class _Recorded:
    """The operators that a call ran for fake tensors, and its result."""

    def __init__(self, function: Any, leaves: Sequence[Any], tree: Any) -> None:
        fake, symbolic = map(import_module, _LOGS)  # with the first function that needs them: they take a second
        self.sizes = symbolic.ShapeEnv()
        self.mode = fake.FakeTensorMode(shape_env=self.sizes, allow_non_fake_inputs=True)
        self.steps: list[tuple[Any, Any, Any, Any]] = []
        self.symbols: dict[Symbol, Any] = {}
        self.fakes = [self._fake(each) for each in leaves]  # kept alive: they are told apart by identity
        arguments, more = pytree.tree_unflatten(self.fakes, tree)
        name = name_of(function)
        try:
            with self._recording():
                self.result = function(*arguments, **more)
        except Exception as error:  # of PyTorch, which may want what arrays without entries have not
            raise refuse(f"torch.{name} has no rule: {str(error).partition(chr(10))[0][:120]}") from None
        self._refuse_assumed(name)
        if not self.steps or any(step[0].name() == getattr(function, "name", str)() for step in self.steps):
            raise refuse(f"torch.{name} has no rule")

    def _recording(self) -> ExitStack:
        stack = ExitStack()
        stack.enter_context(torch.no_grad())
        for name in _LOGS:  # what cannot be recorded is refused, and needs no log
            log = logging.getLogger(name)
            stack.callback(setattr, log, "disabled", log.disabled)
            log.disabled = True
        stack.enter_context(self.mode)
        stack.enter_context(_Recorder(self.steps))
        return stack

    def _fake(self, value: Any) -> Any:
        """Return what stands for an argument: a fake tensor, or a size without a value."""
        if isinstance(value, Tensor):
            with self.mode:
                return torch.empty([self.size(size) for size in value.sizes], dtype=value.dtype)  # type: ignore[attr-defined]
        return self.size(value.expression) if isinstance(value, Size) else value

    def size(self, value: Expr) -> Any:
        """Return a size as PyTorch's symbolic integer."""
        if value.is_Integer:
            return int(value)
        if isinstance(value, Symbol):
            if value not in self.symbols:
                made = self.sizes.create_unbacked_symint()
                self.sizes._constrain_range_for_size(made.node.expr, 1, _LARGEST)
                self.symbols[value] = made
            return self.symbols[value]
        parts = [self.size(part) for part in value.args]
        if value.is_Add:
            return sum(parts[1:], parts[0])
        if value.is_Mul or value.is_Pow:
            result = parts[0]
            for part in parts[1:]:
                result = result * part if value.is_Mul else result**part
            return result
        raise refuse(f"the size {value} in a function that has no rule")

    def own(self, value: Any, held: Mapping[int, Any]) -> Any:
        """Return what a fake tensor or a symbolic integer stands for."""
        if isinstance(value, torch.SymInt | torch.SymFloat):
            names = {made.node.expr: size for size, made in self.symbols.items()}
            found = _plain(value.node.expr.xreplace(names))
            return size_of(found) if isinstance(value, torch.SymInt) else Scalar(found)
        if isinstance(value, torch.Tensor):
            if id(value) in held:
                return held[id(value)]
            if not isinstance(value, Tensor) and value.numel() == 1 and type(value) is torch.Tensor:
                return value
            raise refuse("a tensor that no operator made")
        return value

    def _refuse_assumed(self, name: str) -> None:
        """Refuse a call in which PyTorch compared sizes, because what it then assumes about them is not stated."""
        asserted = [each.expr for several in self.sizes.deferred_runtime_asserts.values() for each in several]
        guards = [each.expr for each in self.sizes.guards]
        if asserted or guards or self.sizes.replacements:
            told = [*asserted, *guards, *self.sizes.replacements.items()]
            raise refuse(f"torch.{name} has no rule, and it compares sizes: {told[0]}")


_DIVISIONS = ("IntTrueDiv", "FloatTrueDiv")


def _plain(value: Expr) -> Expr:
    """Rewrite an expression of sizes without PyTorch's own functions; refuse it if some of them remain."""
    found = value.replace(lambda e: type(e).__name__ in _DIVISIONS, lambda e: e.args[0] / e.args[1])
    found = found.replace(lambda e: type(e).__name__ == "ToFloat", lambda e: e.args[0])
    if any(type(each).__module__.startswith("torch") for each in found.atoms(Function)):
        raise refuse(f"{value} in a function that has no rule")
    return found.replace(lambda e: e.is_Float, lambda e: as_number(float(e)))


class _Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes each operator with its arguments and results."""

    def __init__(self, steps: list[tuple[Any, Any, Any, Any]]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.steps = steps

    def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        outcome = operator(*args, **(kwargs or {}))
        if any(isinstance(each, torch.Tensor) for each in pytree.tree_leaves(outcome)):  # else it asks for a size
            self.steps.append((operator, args, dict(kwargs or {}), outcome))
        return outcome
