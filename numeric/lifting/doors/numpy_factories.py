"""NumPy's functions that create arrays, such as `ones` and `asarray`, as operations on symbolic sizes and arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dis import get_instructions
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from sympy import Integer

from derivations.language.arrays.shapes import axis
from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.numpy_arguments import Table, kind_of, plain
from numeric.lifting.numbers import as_number
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again, unwritten

__all__ = ["FACTORIES", "like_another"]


def like_another(value: Any) -> Callable[..., Any]:
    """Return the rule of a function that fills an array with one number, in the shape of another array."""

    def called(a: Any, *given: Any, dtype: Any = None, shape: Any = None, **more: Any) -> Any:
        plain(more, "subok", "device")
        number = as_number(given[0] if value is None else value)
        kind = kind_of(a.dtype if dtype is None else dtype, number)
        return op.constant(number, a.axes if shape is None else [axis(as_number(s)) for s in shape], kind)

    return called


def _full(value: Any) -> Callable[..., Any]:
    def called(shape: Any, *given: Any, dtype: Any = None, **more: Any) -> Any:
        sizes = shape if isinstance(shape, tuple | list) else (shape,)
        if value is None:
            fill, *given = given  # type: ignore[assignment]
        else:
            fill = value
        plain(more, "device")
        whole = given[0] if given else dtype
        if isinstance(fill, Tensor):
            fill = _as_array(fill, whole)
            return again(op.broadcast_to(fill, [axis(as_number(s)) for s in sizes]))
        if whole is None:
            whole = bool if isinstance(fill, bool) else float
        kind = kind_of(whole, as_number(fill))
        return op.constant(as_number(fill), [axis(as_number(s)) for s in sizes], kind)

    return called


def _arange(*bounds: Any, dtype: Any = None, **more: Any) -> Any:
    plain(more, "device")
    if dtype is not None and np.dtype(dtype).kind not in "iuf":
        raise refuse(f"positions as {np.dtype(dtype).name}")
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return places.positions(start, stop, step)


FACTORIES: Table = {  # replaced in the namespace while a function is lifted: they take sizes, and no array calls them
    "arange": _arange,
    "ones": _full(1),
    "zeros": _full(0),
    "full": _full(None),
    "empty": lambda *given, **more: _without_values(*given, **more),
    "tri": lambda n, m=None, k=0, dtype=float: places.band(
        axis(as_number(n)), axis(as_number(n if m is None else m)), k, True, kind_of(dtype, Integer(1)) or "real"
    ),
    "eye": lambda N, M=None, k=0, dtype=float, **more: _identity(N, M, k, dtype),
    "identity": lambda n, dtype=float, **more: _identity(n, None, 0, dtype),
    **dict.fromkeys(
        ("asarray", "asanyarray", "ascontiguousarray"), lambda a, *given, **more: _as_array(a, *given, **more)
    ),
    "array": lambda a, *given, copy=True, **more: _copied(_as_array(a, *given, **more), copy is True),
}


def _without_values(*given: Any, **more: Any) -> Any:
    """Return an uninitialised array if Python code calls `empty`; refuse it to C code, which would write into it."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and _OWN in Path(frame.f_code.co_filename).parents:
        frame = frame.f_back
    if frame is None or not _calls(frame, "empty"):
        raise refuse("an array without values for code in C, such as random numbers")
    return unwritten(_full(0)(*given, **more))


_OWN = Path(__file__).parents[1]


def _calls(frame: FrameType, name: str) -> bool:
    """Return whether the expression that a frame evaluates begins with a function of the given name."""
    spans = list(frame.f_code.co_positions())
    here = spans[frame.f_lasti // 2]
    if None in here:
        return False
    loads = (each.positions for each in get_instructions(frame.f_code) if each.argval == name)
    return any(span is not None and (span.lineno, span.col_offset) == (here[0], here[2]) for span in loads)


def _identity(rows: Any, columns: Any, diagonal: Any, dtype: Any) -> Any:
    kind_of(dtype, Integer(1))
    if np.dtype(float if dtype is None else dtype).kind != "f":
        raise refuse("an identity matrix of other than real numbers")
    return places.identity(as_number(rows), as_number(rows if columns is None else columns), diagonal)


def _as_array(a: Any, dtype: Any = None, **more: Any) -> Any:
    """Return a symbolic array, cast and with leading axes if asked for; a list of symbolic arrays is refused."""
    if not isinstance(a, Tensor):
        raise refuse("an array made of a list of symbolic ones: use stack")
    more.pop("subok", None)  # there are no kinds of arrays beside this one
    least = more.pop("ndmin", 0)
    if any(value not in (None, False, 0, "K", "C", "c") for value in more.values()):
        raise refuse(f"an array with {', '.join(more)}=")
    a = op.inserted(a, list(range(least - a.ndim))) if a.ndim < least else a
    return a if dtype is None else a.astype(dtype)


def _copied(a: Any, copy: Any) -> Any:
    return again(a) if copy else a
