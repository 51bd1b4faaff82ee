"""Calls of PyTorch's functions and operators with symbolic arrays.

Definition   a function is followed by its rule, if it has one; else by its own code, where PyTorch writes it in Python
             over other functions; else by PyTorch's definition of it (`torch_references`); else by the operators that
             PyTorch runs for it (`torch_operators`)
Raises       NotFollowed where none of these is found: there is no fall-back to numbers
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F

from derivations.language.arrays.shapes import axis
from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.numpy_arguments import axes_of
from numeric.lifting.doors.torch_functions import FUNCTIONS
from numeric.lifting.doors.torch_losses import of_classes
from numeric.lifting.doors.torch_methods import METHODS, chosen, filled
from numeric.lifting.doors.torch_operands import Table, as_arguments, cast
from numeric.lifting.doors.torch_operators import operators_followed
from numeric.lifting.doors.torch_references import definitions_of, name_of, without_writing
from numeric.lifting.numbers import as_number
from numeric.lifting.refusals import NotFollowed, refuse
from numeric.lifting.tensor import again, own_function, unwritten
from numeric.lifting.trace import current

__all__ = ["BODIES", "torch_called"]


def torch_called(function: Any, given: Any, options: Mapping[str, Any]) -> Any:
    """Return what a function of PyTorch gives for symbolic arrays."""
    given, options = as_arguments(given, options)
    function = own_function(function)
    rule = _rule_of(function)
    if rule is None and getattr(function, "__code__", None) in BODIES:
        return function(*given, **options)  # written in Python over other functions: it is followed inside
    if options.pop("out", None) is not None:
        raise refuse(f"torch.{name_of(function)} with out=")
    given, options, inplace = _told_in_place(function, given, options)
    found = NotImplemented if rule is None else rule(*given, **options)
    if found is NotImplemented:  # of these arguments
        found = _followed(function, given, options)
    return given[0].overwrite(found) if inplace else found


def _rule_of(function: Any) -> Callable[..., Any] | None:
    """Return the rule of a function, of a method, or of one overload of an operator."""
    if not isinstance(function, torch._ops.OpOverload):
        method = getattr(function, "__objclass__", None) is torch._C.TensorBase
        plain = own_function(getattr(torch, str(getattr(function, "__name__", "")).removesuffix("_copy"), None))
        copies = name_of(function).endswith("_copy") and plain is not function
        return FUNCTIONS.get(function) or (FUNCTIONS.get(plain) if method or copies else None)
    name = function._opname
    if function.namespace == "prims":
        return _PRIMS.get(name) or (METHODS[name] if name in _SAME else None)
    if function.namespace != "aten":
        return None
    known = (FUNCTIONS.get(own_function(getattr(space, name, None))) for space in (torch, torch._C._nn))
    return _OPERATORS_OF.get(name) or next((rule for rule in known if rule is not None), None) or METHODS.get(name)


def _followed(function: Any, given: Any, options: dict[str, Any]) -> Any:
    """Return the result of a function without a rule, by PyTorch's definition of it in terms of other functions."""
    plain = without_writing(function)
    if plain is not None:
        return given[0].overwrite(torch_called(plain, (again(given[0]), *given[1:]), options))
    refused: NotFollowed | None = None
    with _inside(name_of(function)):
        for definition, own_given, own_options in definitions_of(function, given, options):
            before = current().so_far()
            try:
                return definition(*own_given, **own_options)
            except NotFollowed as refusal:
                refused = refused or refusal
            except (AssertionError, TypeError, ValueError, AttributeError, RuntimeError):  # it wants numbers
                pass
            current().back_to(before)
        if refused is not None and isinstance(function, torch._ops.OpOverload):
            raise refused
        return operators_followed(function, given, options, torch_called)


_INSIDE: list[str] = []  # the functions whose definitions are being followed


@contextmanager
def _inside(name: str) -> Iterator[None]:
    """Record that a function is followed by its definition, unless another definition calls it."""
    if name in _INSIDE:
        raise refuse(f"torch.{name} has no rule: its definition calls it")
    if not _INSIDE:
        current().read(f"{name} as PyTorch itself defines it")
    _INSIDE.append(name)
    try:
        yield
    finally:
        _INSIDE.pop()


def _told_in_place(function: Any, given: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any], bool]:
    """Return the arguments without the option `inplace`, and whether it was set."""
    if "inplace" in options:
        return given, {name: value for name, value in options.items() if name != "inplace"}, bool(options["inplace"])
    code = getattr(function, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    place = names.index("inplace") if "inplace" in names else len(given)
    if place >= len(given):
        return given, options, False
    return (*given[:place], *given[place + 1 :]), options, bool(given[place])


def _sliced(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    number = op.axis_number(dim, x.ndim)
    stop = None if isinstance(end, int) and end >= _ENDLESS else end
    return places.item(x, (*[slice(None)] * number, slice(start, stop, step)))


_ENDLESS = (1 << 63) - 1  # the end of a slice that has none


_OPERATORS_OF: Table = {  # operators whose arguments are not those of a function or method of the same name
    "slice": _sliced,
    "_softmax": lambda x, dim, half_to_float: op.softmax(x, dim),
    "_log_softmax": lambda x, dim, half_to_float: op.log_softmax(x, dim),
    "_to_copy": lambda x, dtype=None, **more: again(x) if dtype is None else cast(x, dtype=dtype),
    "_unsafe_view": lambda x, shape: places.reshape(x, list(shape)),
    "view": lambda x, shape: places.reshape(x, list(shape)),
    "linalg_vector_norm": lambda x, ord=2, dim=None, keepdim=False, dtype=None: METHODS["norm"](x, ord, dim, keepdim),
    "nll_loss_forward": lambda *given: (of_classes(*given), None),
    "empty": lambda shape, **more: unwritten(filled(0)(shape)),
    "full": filled(None),
    "zeros": filled(0),
    "ones": filled(1),
    "scalar_tensor": lambda value, **more: value,
    **dict.fromkeys(("alias", "detach", "lift_fresh"), lambda x: again(x).view_of(x)),
}


_PRIMS: Table = {  # primitives of the definitions whose arguments are not those of the method
    "sum": lambda x, dims, **more: op.summed(x, axes_of(dims)),
    "amax": lambda x, dims, **more: op.maximum_along(x, axes_of(dims)),
    "var": lambda x, dims, correction=1, **more: op.variance(x, axes_of(dims), False, as_number(correction)),
    "convert_element_type": lambda x, dtype: cast(x, dtype),
    "broadcast_in_dim": lambda x, shape, dims: _in_dims(x, shape, dims),
    "squeeze": lambda x, dims: op.removed(x, axes_of(dims) or []),
    "transpose": lambda x, order: op.permute(x, list(order)),
    "where": lambda mask, one, other: chosen(mask, one, other),
    "view_of": lambda x: x,
    "clone": METHODS["clone"],
}


_SAME = frozenset(  # primitives whose arguments are those of the method
    (
        *("exp", "exp2", "log", "log2", "log10", "log1p", "expm1", "sqrt", "rsqrt", "square", "reciprocal", "tanh"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "hypot", "sign"),
        *("erf", "erfc", "sigmoid", "relu", "abs", "neg", "add", "sub", "mul", "div", "pow"),
        *("maximum", "minimum", "gt", "ge", "lt", "le", "eq", "ne", "reshape"),
    )
)


def _in_dims(x: Any, shape: Any, dims: Any) -> Any:
    """Return an array broadcast to a shape; its axes become the axes `dims` of the shape."""
    new = [number for number in range(len(shape)) if number not in list(dims)]
    return op.broadcast_to(op.inserted(x, new) if new else x, [axis(as_number(s)) for s in shape])


BODIES = {  # functions that PyTorch writes in Python and that have no rule here: their own code is followed
    value.__code__
    for value in vars(F).values()
    if hasattr(value, "__code__") and value.__code__.co_filename == F.__file__ and value not in FUNCTIONS
}
