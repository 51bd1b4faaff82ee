"""Tiles of rows on several threads: how a loop over the rows of all items of a batch is divided.

Result       a loop over few rows is one tile, in whose products BLAS may use all threads; a loop over many is divided
             into tiles of about `ROWS` rows, which threads of this module take one by one while BLAS uses one thread
Assumes      NumPy calls give up the interpreter's lock, so that threads compute side by side; one loop waits for all of
             its tiles before it returns

A tile holds several items whole or some rows of one: (first item, last item, first row, last row), ends excluded.
"""

import math
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

__all__ = [
    "Tiles",
    "column_of_ones",
    "default_threads",
    "each_tile",
    "flat_rows",
    "items_of",
    "one_thread_in_blas",
    "online_step",
    "product_of_heads",
    "product_of_rows",
    "shaped",
]

FEW = 512  # rows that are not divided
ROWS = 512  # of a tile: as large as its intermediates may be for the second-level cache of a core
KEYS = 1024  # of a tile of keys, where there are many more
SCORES = 1 << 18  # entries of the scores of all heads of a tile that are worked on together

REUSED = 1 << 18  # bytes of memory from which on a thread keeps it for its next loop
LARGEST = 1 << 26  # bytes of memory that a thread keeps at most

Tile = tuple[int, int, int, int]


@dataclass
class Tiles:
    """The tiles of a loop, which several threads take from: each is handed out once."""

    rows: int  # at most in a tile, those of all its items together
    left: Iterator[Tile]

    def __iter__(self) -> Iterator[Tile]:
        """Yield the tiles that are left, until there are none or an error ends the loop."""
        while (tile := next(self.left, None)) is not None:
            yield tile

    def end(self) -> None:
        """Leave what is left undone."""
        self.left = iter(())

    def heads(self, heads: int, keys: int) -> int:
        """Return how many heads are worked on together, so that their scores stay small."""
        return max(1, min(heads, SCORES // max(1, self.rows * keys)))

    def pieces(self, dtype: Any, *shapes: tuple[int, ...]) -> list[Any]:
        """Return memory for the intermediates of a tile: where it is large, that which this thread had before.

        Assumes      a thread works on one loop at a time, and nothing refers to the memory when the loop has ended
        """
        sizes = [math.prod(shape) for shape in shapes]
        starts = list(accumulate((-(-size // 16) * 16 for size in sizes), initial=0))
        count = starts[-1] * dtype.itemsize
        if not REUSED <= count <= LARGEST:
            return [np.empty(shape, dtype) for shape in shapes]
        known = getattr(_memory, "bytes", None)
        if known is None or len(known) < count:
            known = _memory.bytes = np.empty(count, np.uint8)
        whole = known[:count].view(dtype)
        return [
            whole[start : start + size].reshape(shape)
            for start, size, shape in zip(starts, sizes, shapes, strict=False)
        ]

    def keys(self, keys: int) -> int:
        """Return how many keys are worked on together."""
        return min(keys, KEYS) if keys > KEYS * 3 // 2 else max(1, keys)


def default_threads() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each_tile(part: Callable[[Tiles], None], items: int, n: int, threads: int) -> None:
    """Call a loop body with the tiles of `items` times `n` rows, on several threads where there are enough rows."""
    if items == 0 or n == 0:
        return
    count = items * n
    if threads != 1 and count < FEW and count <= ROWS:
        part(Tiles(count, iter(((0, items, 0, n),))))
        return
    if threads == 1 or count < FEW:
        size = min(n, ROWS) if count > ROWS else n
        whole = _tiles(items, n, size, max(1, ROWS // n) if count > ROWS else items)
        if threads == 1:
            with one_thread_in_blas():
                part(whole)
        else:
            part(whole)
        return
    if n >= ROWS:
        in_item = threads * max(1, round(n / (ROWS * threads))) if items < threads else max(1, round(n / ROWS))
        tiles = _tiles(items, n, math.ceil(n / in_item), 1)
    else:
        tiles = _tiles(items, n, n, min(max(1, ROWS // n), math.ceil(items / threads)))
    with one_thread_in_blas():
        _on_threads(part, tiles, threads)


def product_of_rows(x: Any, gradient: Any, threads: int) -> Any:
    """Return the sum of x^T g over all rows of all items, columns of x divided among threads where rows are many."""
    shape = np.broadcast_shapes(x.shape[:-1], gradient.shape[:-1])
    x, g = (np.broadcast_to(each, (*shape, each.shape[-1])).reshape(-1, each.shape[-1]) for each in (x, gradient))
    if threads == 1 or len(x) < FEW:
        return x.T @ g
    product, width = np.empty((x.shape[1], g.shape[1]), x.dtype), -(-x.shape[1] // (2 * threads))

    def part(tiles: Tiles) -> None:
        for first, *_ in tiles:
            columns = slice(first * width, (first + 1) * width)
            np.matmul(x.T[columns], g, out=product[columns])

    each_one(part, 2 * threads, threads)
    return product


def product_of_heads(left: Any, right: Any, threads: int) -> Any:
    """Return the products of matrices of items and heads, divided among threads where their rows are many."""
    shape = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    if threads == 1 or left.shape[-1] * shape[0] < FEW or len(shape) != 2:
        return left @ right
    left, right = (np.broadcast_to(each, (*shape, *each.shape[-2:])) for each in (left, right))
    product = np.empty((*shape, left.shape[-2], right.shape[-1]), left.dtype)

    def part(tiles: Tiles) -> None:
        for first, *_ in tiles:
            place = divmod(first, shape[1])
            np.matmul(left[place], right[place], out=product[place])

    each_one(part, shape[0] * shape[1], threads)
    return product


def each_one(part: Callable[[Tiles], None], count: int, threads: int) -> None:
    """Call a loop body with the numbers below `count`, as items of one row each, on several threads."""
    with one_thread_in_blas():
        _on_threads(part, Tiles(1, iter([(k, k + 1, 0, 1) for k in range(count)])), threads)


def shaped(space: Any, *shape: int) -> Any:
    """Return the first entries of a piece of memory as an array of a shape."""
    return space[: math.prod(shape)].reshape(shape)


def online_step(
    scores: Any, values: Any, reference: Any, sums: Any, mixture: Any, power: Callable[..., Any], is_first: bool
) -> None:
    """Add one tile of keys to the sums of exponentials and to their mixture of values (attention.tile_step).

    Definition   r' = max(r, largest score), sums' = sums base^(r - r') + sum base^(S - r'), and so with the values;
                 the first tile begins with nothing
    Assumes      all arrays but the values may be overwritten; a score -inf is a hidden key
    """
    lowest = np.finfo(scores.dtype).min
    largest = np.maximum.reduce(scores, axis=-1, keepdims=True, initial=lowest, out=reference if is_first else None)
    if is_first:
        power(np.subtract(scores, largest, out=scores), out=scores)
        np.add.reduce(scores, axis=-1, keepdims=True, out=sums)
        np.matmul(scores, values, out=mixture)
        return
    np.maximum(largest, reference, out=largest)
    carried = power(np.subtract(reference, largest, out=reference), out=reference)
    power(np.subtract(scores, largest, out=scores), out=scores)
    np.multiply(sums, carried, out=sums)
    np.add(sums, np.add.reduce(scores, axis=-1, keepdims=True), out=sums)
    np.multiply(mixture, carried, out=mixture)
    np.add(mixture, np.matmul(scores, values), out=mixture)
    np.copyto(reference, largest)


@lru_cache(maxsize=64)
def column_of_ones(count: int, dtype: Any) -> Any:
    """Return a column of ones, by which a product adds up the entries of rows."""
    column = np.ones((count, 1), dtype)
    column.flags.writeable = False
    return column


def flat_rows(x: Any, batch: tuple[int, ...], rank: int) -> Any:
    """Return the rows of all items one after another: (..., n, d) as (items n, d), numbers (..., n) as (items n, 1)."""
    shape = x.shape[x.ndim - rank :]
    rows = math.prod(batch) * shape[0]
    if x.shape != batch + shape:
        x = np.broadcast_to(x, batch + shape)
    if rank == 2:
        return x.reshape(rows, shape[1])
    return x.reshape(rows, 1) if x.dtype.kind == "f" else x.reshape(rows)


def items_of(x: Any, batch: tuple[int, ...], rank: int) -> Any:
    """Return an array with one axis of items in front; what is the same for all items is not copied."""
    shape = x.shape[x.ndim - rank :]
    if x.ndim == rank:
        return np.broadcast_to(x, (math.prod(batch), *shape))
    return np.broadcast_to(x, batch + shape).reshape(math.prod(batch), *shape)


def _tiles(items: int, n: int, size: int, together: int) -> Tiles:
    tiles = [
        (first, min(first + together, items), begin, min(begin + size, n))
        for first in range(0, items, together)
        for begin in range(0, n, size)
    ]
    return Tiles(min(together, items) * size, iter(tiles))


# --- threads --------------------------------------------------------------------------------------------------------

_memory = threading.local()
_lock = threading.Lock()
_pools: dict[int, ThreadPoolExecutor] = {}
_blas: list[Any] = []  # the controller, and while a loop runs what restores its threads
_limits: list[None] = []  # one for each loop that runs


def _afresh() -> None:
    """Begin again in a process that was forked: its threads are gone, and so are the loops of its parent."""
    global _lock
    _lock = threading.Lock()
    _pools.clear()
    _limits.clear()
    while len(_blas) > 1:
        _blas.pop().restore_original_limits()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_afresh)


def _on_threads(part: Callable[[Tiles], None], tiles: Tiles, threads: int) -> None:
    """Work on the tiles with this thread and others; an error in one of them ends the loop and is raised here."""

    def work() -> None:
        try:
            part(tiles)
        except BaseException:
            tiles.end()
            raise

    helpers = [_pool(threads).submit(work) for _ in range(threads - 1)]
    try:
        work()
    finally:
        errors = [error for helper in helpers if (error := _ended(helper)) is not None]
    if errors:
        raise errors[0]


def _ended(helper: Future[None]) -> BaseException | None:
    """Return what went wrong in a helper, once it has ended; one that has not begun need not."""
    return None if helper.cancel() else helper.exception()


def _pool(threads: int) -> ThreadPoolExecutor:
    """Return the threads of this process that help callers with so many threads."""
    with _lock:
        if threads not in _pools:
            _pools[threads] = ThreadPoolExecutor(threads - 1, thread_name_prefix="tiles")
        return _pools[threads]


@contextmanager
def one_thread_in_blas() -> Iterator[None]:
    """Let BLAS use one thread while any loop in this process asks for it."""
    with _lock:
        if not _blas:
            _blas.append(ThreadpoolController().select(user_api="blas"))
        if not _limits:
            _blas.append(_blas[0].limit(limits=1))
        _limits.append(None)
    try:
        yield
    finally:
        with _lock:
            _limits.pop()
            if not _limits:
                _blas.pop().restore_original_limits()
