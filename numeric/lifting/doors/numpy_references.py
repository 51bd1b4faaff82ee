"""NumPy's own code of its functions: what has no rule here is followed there, where it is written in Python.

Definition   NumPy keeps the code of a function beside the function that looks for other kinds of arrays; it calls
             simpler functions, each of which has a rule or code of its own
Result       what the function gives, with a reading that names it
Raises       NotFollowed for what is written in C, and for what writes into another array (`out=`)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from numeric.lifting.refusals import NotFollowed, refuse
from numeric.lifting.trace import current

__all__ = ["own_code_followed"]


def own_code_followed(
    function: Any, given: Sequence[Any], options: Mapping[str, Any], factories: Collection[str]
) -> Any:
    """Return what a function gives by NumPy's own code; `factories` are the functions that symbolic sizes reach."""
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
    """Let a module of NumPy make arrays by the functions that stand in NumPy's namespace during the call."""
    before = {name: space[name] for name in factories if name in space and space is not vars(np)}
    space.update({name: getattr(np, name) for name in before})
    try:
        yield
    finally:
        space.update(before)
