"""PyTorch's own definitions of functions in terms of simpler ones, followed for functions that have no rule here.

Definition   a definition is a function of `torch._refs` or a decomposition of an operator, both written in Python; what
             has neither is followed operator by operator (`torch_operators`)
Result       what the function gives, with a reading that names the definition
Assumes      nothing: what is followed is run against the function itself, as everything is
Raises       NotFollowed for what writes into another array (`out=`), and for random numbers
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import torch

from numeric.lifting.refusals import refuse

__all__ = ["definitions_of", "name_of", "without_writing"]

_SPACES = ("torch._refs.nn.functional", "torch._refs", "torch._refs.special", "torch._refs.linalg")
_PREFIXES = ("special_", "linalg_")
_REDUCTIONS = ("none", "mean", "sum")  # PyTorch's numbers of them
_OLD = "size_average"  # of definitions whose arguments are those of another function of the same name


def name_of(function: Any) -> str:
    """Return the name of a function of PyTorch, of an operator without its overload."""
    return str(getattr(function, "_opname", None) or getattr(function, "__name__", function))


def definitions_of(
    function: Any, given: Sequence[Any], options: Mapping[str, Any]
) -> Iterator[tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]]:
    """Yield PyTorch's definitions of a function with the arguments that they take."""
    for found in _definitions(function):
        bound = _bound(found, given, options)
        if bound is not None:
            yield found, bound.args, bound.kwargs


def _definitions(function: Any) -> Iterator[Callable[..., Any]]:
    """Yield the definitions of a function: those of the operator with its name, then the references with its name."""
    table = import_module("torch._decomp").decomposition_table
    name = name_of(function)
    if isinstance(function, torch._ops.OpOverload):
        if function in table:
            yield table[function]
    else:
        operator = getattr(torch.ops.aten, name, None)
        overloads = operator.overloads() if operator is not None else ()
        yield from dict.fromkeys(
            table[op] for op in (getattr(operator, each) for each in overloads if "out" not in each) if op in table
        )
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    for space in _SPACES:
        found = getattr(import_module(space), name, None)
        if callable(found) and getattr(found, "__module__", "").startswith("torch._refs"):
            yield found


def _bound(found: Callable[..., Any], given: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return the arguments bound to the signature of a definition, or None if they do not fit it."""
    signature = inspect.signature(found)
    if _OLD in signature.parameters:
        return None
    try:
        bound = signature.bind(*given, **options)
    except TypeError:
        return None
    reduction = bound.arguments.get("reduction")
    wanted = signature.parameters["reduction"].default if reduction is not None else None
    if isinstance(wanted, str) and isinstance(reduction, int):
        bound.arguments["reduction"] = _REDUCTIONS[reduction]
    elif isinstance(wanted, int) and isinstance(reduction, str):
        bound.arguments["reduction"] = _REDUCTIONS.index(reduction)
    return bound


def without_writing(function: Any) -> Any:
    """Return the function that computes what an in-place function writes, such as `relu` for `relu_`; else None."""
    name = name_of(function)
    if not name.endswith("_") or name.endswith("__"):
        return None
    if isinstance(function, torch._ops.OpOverload):
        operator = getattr(getattr(torch.ops, function.namespace), name[:-1], None)
        return getattr(operator, function._overloadname, None)
    method = getattr(torch.Tensor, name, None) is function
    for space in (torch.Tensor,) if method else (torch, torch._C._nn, torch.nn.functional):
        found = getattr(space, name[:-1], None)
        if callable(found):
            return found
    raise refuse(f"torch.{name} writes what no function gives")
