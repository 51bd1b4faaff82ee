"""NumPy's own Python code: it is followed for a function of NumPy that has no rule here.

Definition   NumPy keeps the code of a function beside the function that looks for other kinds of arrays; it calls
             simpler functions, each of which has a rule or code of its own
Result       what the function gives, with a reading that names it
Raises       NotFollowed for what is written in C, and for what writes into another array (`out=`)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import ismodule
from types import FunctionType
from typing import Any

import numpy as np

from numeric.lifting.refusals import NotFollowed, refuse
from numeric.lifting.trace import current

__all__ = ["own_code_followed"]


def own_code_followed(
    function: Any, given: Sequence[Any], options: Mapping[str, Any], factories: Collection[str]
) -> Any:
    """Return the result of a function by following NumPy's own code; `factories` names functions to replace in it."""
    name = f"{getattr(function, '__module__', 'numpy')}.{function.__name__}"
    code = getattr(function, "_implementation", None)
    if not isinstance(code, FunctionType):
        raise refuse(f"{name} has no rule")
    if options.get("out") is not None:
        raise refuse(f"{name} with out=")
    current().read(f"{function.__name__} by NumPy's own code")
    try:
        with _patched(code.__globals__, factories):
            return code(*given, **options)
    except NotFollowed as refusal:
        raise NotFollowed(f"{name} has no rule and is not followed inside: {refusal.what}", refusal.line) from None


@contextmanager
def _patched(space: dict[str, Any], factories: Collection[str]) -> Iterator[None]:
    """Let a module of NumPy, and modules that it reads, create arrays by the functions in NumPy's namespace.

    NumPy's own code calls them by names of its own, some of them in modules such as `numpy._core.numeric`.
    """
    own = [vars(each) for each in space.values() if ismodule(each) and each.__name__.startswith("numpy.")]
    spaces = [each for each in (space, *own) if each is not vars(np)]
    before = [(each, name, each[name]) for each in spaces for name in factories if name in each]
    try:
        for each, name, _ in before:
            each[name] = getattr(np, name)
        yield
    finally:
        for each, name, value in before:
            each[name] = value
