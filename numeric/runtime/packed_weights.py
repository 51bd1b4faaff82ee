"""Weights packed by an installed library, so that a product of rows with them reads them once and in order.

Definition   X W by the packed product of a library of linear algebra; NumPy's own packs the weights anew in each call
Result       `packed_weight` returns a weight that knows its packed form: `np.matmul(X, W, out=...)` uses it, on one
             thread or on several, each with some columns
Assumes      x86-64 and the extra `fast`, which installs Intel's oneMKL
Source       Intel oneMKL, reference of the C interface: cblas_?gemm_pack, cblas_?gemm_compute
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, files
from typing import Any

import numpy as np

from numeric.runtime.tiles import default_threads, each_one

__all__ = ["PackedWeight", "library", "packed_weight"]

ROWS = 64  # for which the library is asked to pack; the packed form fits any number
LEAST = 1 << 14  # entries of a weight that is packed: of smaller ones the call takes longer than the product

ROW_MAJOR, PLAIN, PACKED, RIGHT = 101, 111, 151, 162  # as mkl_cblas.h numbers them
SEQUENTIAL = 1  # as mkl_service.h numbers the layers of threads
LINE = 64  # bytes to which packed memory is aligned


@dataclass(frozen=True)
class Library:
    """The oneMKL functions for packed products, by NumPy's character for the number type."""

    size: dict[str, Callable[..., int]]
    pack: dict[str, Callable[..., None]]
    compute: dict[str, Callable[..., None]]


@lru_cache(maxsize=1)
def library() -> Library | None:
    """Return the library that packs weights, or None where it is not installed or cannot be loaded."""
    try:
        names = {each.name: each for each in files("mkl") or ()}
        name = next(name for name in names if name.startswith(("libmkl_rt.so", "mkl_rt.")) and not name.endswith("lib"))
        mkl = ctypes.CDLL(os.fspath(names[name].locate()), mode=ctypes.RTLD_GLOBAL)
    except (PackageNotFoundError, StopIteration, OSError):
        return None
    mkl.MKL_Set_Threading_Layer(SEQUENTIAL)  # the threads are those of the tiles, which call it side by side
    integer, pointer = ctypes.c_int, ctypes.c_void_p
    found = Library({}, {}, {})
    for letter, of, number in (("f", "s", ctypes.c_float), ("d", "d", ctypes.c_double)):
        size, pack, compute = (getattr(mkl, f"cblas_{of}gemm_{name}") for name in ("pack_get_size", "pack", "compute"))
        size.restype, pack.restype, compute.restype = ctypes.c_size_t, None, None
        size.argtypes = [integer] * 4
        pack.argtypes = [*[integer] * 6, number, pointer, integer, pointer]
        compute.argtypes = [*[integer] * 6, pointer, integer, pointer, integer, number, pointer, integer]
        found.size[letter], found.pack[letter], found.compute[letter] = size, pack, compute
    return found


class PackedWeight(np.ndarray[Any, Any]):
    """A weight with its packed form, which products of rows with it use. Other operations see a plain array."""

    blocks: tuple[_Block, ...] = ()
    on_threads = False

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **named: Any) -> Any:
        """Call a ufunc of NumPy, or the packed product."""
        if ufunc is np.matmul and method == "__call__" and out is not None and not named and inputs[1] is self:
            rows, product = inputs[0], out[0]
            if self.blocks and _are_rows(rows, self.dtype) and _are_rows(product, self.dtype):
                self._multiply(rows, product)
                return product
        if out is not None:
            named["out"] = tuple(map(_as_plain, out))
        return getattr(ufunc, method)(*map(_as_plain, inputs), **named)

    def _multiply(self, rows: Any, out: Any) -> None:
        if self.on_threads:
            each_one(partial(_multiply, rows, out), self.blocks, len(self.blocks))
        else:
            for block in self.blocks:
                _multiply(rows, out, block)

    def threaded(self) -> PackedWeight:
        """Return the same weight, whose products use several threads."""
        other = self.view()
        other.blocks, other.on_threads = self.blocks, len(self.blocks) > 1
        return other


def _are_rows(x: Any, dtype: Any) -> bool:
    """Return whether the rows of an array are contiguous and do not overlap, as the library needs."""
    return bool(
        type(x) is np.ndarray
        and x.ndim == 2
        and x.dtype == dtype
        and len(x)
        and x.strides[1] == x.itemsize
        and x.strides[0] >= x.itemsize * x.shape[1]
        and x.strides[0] % x.itemsize == 0
    )


def _as_plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, PackedWeight) else x


def packed_weight(weight: Any) -> Any:
    """Return a matrix with its packed form, or unchanged if it is small or no library is installed.

    Shapes       weight (k, m); products are those of rows (n, k) with it
    """
    found = library()
    if found is None or weight.ndim != 2 or weight.size < LEAST or weight.dtype.char not in found.compute:
        return weight
    whole = np.ascontiguousarray(weight)
    width = -(-whole.shape[1] // default_threads())
    made = whole.view(PackedWeight)
    made.blocks = tuple(_Block(found, whole, first, width) for first in range(0, whole.shape[1], width))
    return made


class _Block:
    """Some columns of a matrix, packed."""

    def __init__(self, found: Library, matrix: Any, first: int, width: int):
        letter, self.first = matrix.dtype.char, first
        self.depth, columns = matrix.shape
        self.width = min(width, columns - first)
        self.compute = found.compute[letter]
        size = found.size[letter](RIGHT, ROWS, self.width, self.depth)
        self.memory = np.empty(size + LINE, np.uint8)
        self.place = -(-self.memory.ctypes.data // LINE) * LINE
        start = matrix.ctypes.data + first * matrix.itemsize
        found.pack[letter](ROW_MAJOR, RIGHT, PLAIN, ROWS, self.width, self.depth, 1, start, columns, self.place)


def _multiply(rows: Any, out: Any, block: _Block) -> None:
    item = rows.itemsize
    block.compute(
        ROW_MAJOR, PLAIN, PACKED, len(rows), block.width, block.depth,
        rows.ctypes.data, rows.strides[0] // item, block.place, block.width,
        0, out.ctypes.data + block.first * item, out.strides[0] // item,
    )  # fmt: skip
