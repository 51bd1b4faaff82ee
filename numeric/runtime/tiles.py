"""Tiles of rows on several threads: how a loop over the rows of all items of a batch is divided.

Result       a loop over few rows is one tile, in whose products BLAS may use all threads; a loop over many is divided
             into tiles of about `ROWS` rows, which threads of this module take one by one while BLAS uses one thread
Assumes      NumPy calls give up the interpreter's lock, so that threads compute side by side; a loop reads other rows
             of the same item at most, so that a tile of whole items goes through all loops at once, while tiles of some
             rows wait until all of them have been through the loop before
"""

import math
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

import numpy as np

from numeric.runtime.blas_threads import one_thread_in_blas
from numeric.runtime.teams import team_of

__all__ = [
    "Tile",
    "column_of_ones",
    "default_threads",
    "each_one",
    "each_tile",
    "empty_rows",
    "flat_rows",
    "items_of",
    "of_batch",
    "online_step",
    "product_of_heads",
    "product_of_rows",
    "row_of",
    "shaped",
    "undivided",
]

FEW = 128  # rows that are not divided: threads of BLAS wait for one another at every product, and spin meanwhile
ROWS = 512  # of a tile: as large as its intermediates may be for the second-level cache of a core
EXTRA = 56  # rows whose time a tile takes beside that of its own, in calls and in products of fewer rows
KEYS = 1024  # of a tile of keys, about, where there are many more
SCORES = 1 << 18  # entries of the scores of all heads of a tile that are worked on together

LONG = 1 << 12  # bytes of rows from which on it matters how far apart they lie
APART = 1 << 11  # bytes: rows that lie a multiple of this apart take the same places in a cache
LINE = 64  # bytes of a cache line, by which such rows are moved further apart
BUFFER = 512  # entries of the buffer of a ufunc, into which NumPy copies rows that are shorter than half of it

LARGEST = 1 << 26  # bytes of memory that a thread keeps at most
MOST = 64  # ways of dividing that memory that a thread keeps

Place = tuple[int, int, int, int]


@dataclass(slots=True)
class Tile:
    """Several items with all of their rows, or some rows of one."""

    place: Place  # the first item and the last, the first row and the last, ends excluded
    rows: int  # at most in a tile of the loop, those of all its items together

    def heads(self, heads: int, keys: int) -> int:
        """Return how many heads are worked on together, so that their scores stay small."""
        scores = self.rows * keys
        return heads if 0 < heads * scores <= SCORES else max(1, min(heads, SCORES // max(1, scores)))

    def pieces(self, dtype: Any, *shapes: tuple[int, ...]) -> list[Any]:
        """Return memory for the intermediates of a tile, which the thread reuses unless it is too large.

        Assumes      a thread works on one loop at a time, and nothing refers to the memory when the loop has ended
        """
        return _memory.known.get((dtype, shapes)) or _memory.pieces(dtype, shapes)

    def keys(self, keys: int, dtype: Any) -> int:
        """Return how many keys are worked on together.

        Many keys are divided evenly. Their number is raised where rows would take the same places in a cache.
        """
        return _distance(-(-keys // round(keys / KEYS)), dtype) if keys > KEYS * 3 // 2 else keys or 1


def default_threads() -> int:
    """Return the number of cores that this process may use."""
    # a container or taskset may allow fewer cores than the machine has
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each_tile(loops: Sequence[Callable[[Tile], None]], items: int, n: int, threads: int) -> None:
    """Call the bodies of loops with the tiles of `items` times `n` rows, on several threads where rows are many."""
    count = items * n
    if 0 < count < max(FEW, _undivided.rows) and threads > 1:
        work = partial(_through, loops, count, (0, items, 0, n))
        work() if count == 1 else _with_short_buffers(work)  # of one row nothing is copied
    elif count:
        rows, places = _divided(items, n, threads, ROWS, FEW)
        # a tile of whole items never waits; with parts of items, all must end one loop before the next begins
        for together in [loops] if rows >= n else [[body] for body in loops]:
            each_one(partial(_through, together, rows), places, threads)


@contextmanager
def undivided(rows: int) -> Iterator[None]:
    """Do not divide loops over fewer than so many rows that this thread begins inside such a block."""
    before = _undivided.rows
    _undivided.rows = rows
    try:
        yield
    finally:
        _undivided.rows = before


class _Undivided(threading.local):
    rows = 0  # fewer than `FEW` are divided in no case


_undivided = _Undivided()


def _through(loops: Iterable[Callable[[Tile], None]], rows: int, place: Place) -> None:
    tile = Tile(place, rows)
    for body in loops:
        body(tile)


def product_of_rows(x: Any, gradient: Any, threads: int) -> Any:
    """Return the sum of x^T g over all rows of all items, columns of x divided among threads where rows are many."""
    shape = np.broadcast_shapes(x.shape[:-1], gradient.shape[:-1])
    x, g = (np.broadcast_to(each, (*shape, each.shape[-1])).reshape(-1, each.shape[-1]) for each in (x, gradient))
    if threads == 1 or len(x) < FEW:
        return x.T @ g
    product = np.empty((x.shape[1], g.shape[1]), x.dtype)

    def multiply(columns: slice) -> None:
        np.matmul(x.T[columns], g, out=product[columns])

    # two pieces for each thread, so that a slow one does not keep the others waiting long
    width = max(1, math.ceil(x.shape[1] / (2 * threads)))
    each_one(multiply, [slice(first, first + width) for first in range(0, x.shape[1], width)], threads)
    return product


def product_of_heads(left: Any, right: Any, threads: int) -> Any:
    """Return the products of matrices of items and heads, divided among threads where their rows are many."""
    shape = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    if len(shape) != 2 or threads == 1 or left.shape[-1] * shape[0] < FEW:
        return left @ right
    left, right = (np.broadcast_to(each, (*shape, *each.shape[-2:])) for each in (left, right))
    product = np.empty((*shape, left.shape[-2], right.shape[-1]), left.dtype)

    def multiply(place: tuple[int, ...]) -> None:
        np.matmul(left[place], right[place], out=product[place])

    each_one(multiply, np.ndindex(*shape), threads)
    return product


def each_one(act: Callable[[Any], None], work: Iterable[Any], threads: int) -> None:
    """Call a function on each piece of work, on several threads."""
    left = deque(work)

    def act_on_some() -> None:
        for one in _taken(left):
            act(one)

    _on_threads(act_on_some, left, threads)


def shaped(space: Any, *shape: int) -> Any:
    """Return the first entries of a piece of memory as an array of a shape."""
    count = math.prod(shape)
    return (space if len(space) == count else space[:count]).reshape(shape)


def online_step(
    scores: Any, values: Any, reference: Any, sums: Any, mixture: Any, power: Callable[..., Any], is_first: bool
) -> None:
    """Add one tile of keys to the sums of exponentials and to their mixture of values (attention.tile_step).

    Definition   r' = max(r, largest score), sums' = sums base^(r - r') + sum base^(S - r'), and so with the values;
                 the first tile begins with nothing
    Assumes      all arrays but the values may be overwritten; a score -inf is a hidden key
    """
    lowest, ones = np.finfo(scores.dtype).min, row_of(1, scores.shape[-1], scores.dtype)
    largest = np.maximum.reduce(scores, axis=-1, keepdims=True, initial=lowest, out=reference if is_first else None)
    if is_first:
        power(np.subtract(scores, largest, out=scores), out=scores)
        np.vecdot(scores, ones, out=sums[..., 0])
        np.matmul(scores, values, out=mixture)
        return
    np.maximum(largest, reference, out=largest)
    # base^(r - r') rescales what was summed with the former reference
    carried = power(np.subtract(reference, largest, out=reference), out=reference)
    power(np.subtract(scores, largest, out=scores), out=scores)
    np.multiply(sums, carried, out=sums)
    np.add(sums, np.vecdot(scores, ones)[..., None], out=sums)
    np.multiply(mixture, carried, out=mixture)
    np.add(mixture, np.matmul(scores, values), out=mixture)
    np.copyto(reference, largest)


@lru_cache(maxsize=64)
def column_of_ones(count: int, dtype: Any) -> Any:
    """Return a column of ones, by which a product adds up the entries of rows."""
    column = np.ones((count, 1), dtype)
    column.flags.writeable = False
    return column


def empty_rows(count: int, columns: int, dtype: Any) -> Any:
    """Return memory for rows, with a cache line between rows that would otherwise use the same parts of a cache."""
    return np.empty((count, _distance(columns, dtype)), dtype)[:, :columns]


def _distance(columns: int, dtype: Any) -> int:
    """Return the distance between the starts of two rows, in entries."""
    length = columns * dtype.itemsize
    return columns + LINE // dtype.itemsize if length >= LONG and length % APART == 0 else columns


@lru_cache(maxsize=64)
def row_of(number: float, count: int, dtype: Any) -> Any:
    """Return a row of equal numbers: NumPy's extrema read it faster than one number, and BLAS adds up rows by ones."""
    row = np.full(count, number, dtype)
    row.flags.writeable = False
    return row


def flat_rows(x: Any, batch: tuple[int, ...], rank: int) -> Any:
    """Return the rows of all items one after another: (..., n, d) as (items n, d), numbers (..., n) as (items n, 1)."""
    shape = x.shape
    if shape[:-rank] != batch:
        shape = batch + shape[x.ndim - rank :]
        x = np.broadcast_to(x, shape)
    if rank == 2:
        return x.reshape(math.prod(shape[:-1]), shape[-1])
    return x.reshape(math.prod(shape), 1) if x.dtype.kind == "f" else x.reshape(math.prod(shape))


def items_of(x: Any, batch: tuple[int, ...], rank: int) -> Any:
    """Return an array with one axis of items in front; what is the same for all items is not copied."""
    shape = x.shape[x.ndim - rank :]
    if x.ndim == rank:
        return np.broadcast_to(x, (math.prod(batch), *shape))
    return np.broadcast_to(x, batch + shape).reshape(math.prod(batch), *shape)


def of_batch(x: Any, batch: tuple[int, ...], own: tuple[int, ...]) -> Any:
    """Return an array without the batch axes that it was broadcast over, along which it is constant."""
    if 0 in batch and 0 not in own:
        raise ValueError(f"an output of batch axes {own} is asked for beside others without items, {batch}")
    more = len(batch) - len(own)
    once = (slice(0, 1) if length == 1 else slice(None) for length in own)
    return x[(*(0,) * more, *once)]


@lru_cache(maxsize=64)
def _divided(items: int, n: int, threads: int, most: int, few: int) -> tuple[int, list[Place]]:
    """Return the number of rows of a tile, and the tiles: whole items, or parts of one item.

    Of all ways with at most about `most` rows in a tile, and items of fewer than `few` rows whole, it is the one that
    takes least time if a tile takes as long as its rows and `EXTRA` more.
    """

    def cost(together: int, parts: int) -> int:
        rounds, left = divmod(math.ceil(items / together) * parts, threads)
        of_one = together * math.ceil(n / parts) + EXTRA
        # one tile alone in the last round is the last one, which has the items that are left
        last = of_one if left != 1 or parts > 1 else ((items - 1) % together + 1) * n + EXTRA
        # with parts of items, threads wait for one another at every loop
        return rounds * of_one + (last if left else 0) + (EXTRA // 2 if parts > 1 else 0)

    least = max(1, round(n / most))
    ways = [(1, parts) for parts in range(least, max(least, n // few * threads) + 1)]
    ways += [(together, 1) for together in range(2, min(items, most // n) + 1)]
    together, parts = min(ways, key=lambda way: cost(*way))
    size = math.ceil(n / parts)
    firsts, begins = range(0, items, together), range(0, n, size)
    return together * size, [(f, min(f + together, items), b, min(b + size, n)) for f in firsts for b in begins]


def _taken(left: deque[Any]) -> Iterator[Any]:
    """Yield pieces of work that other threads take as well, until none is left."""
    while left:
        try:
            one = left.popleft()
        except IndexError:  # another thread was faster
            return
        yield one


# --- memory ---------------------------------------------------------------------------------------------------------


class _Memory(threading.local):
    """The memory that a thread reuses from loop to loop, and the arrays in it by number type and shapes."""

    def __init__(self) -> None:
        self.bytes = np.empty(0, np.uint8)
        self.known: dict[tuple[Any, tuple[tuple[int, ...], ...]], list[Any]] = {}

    def pieces(self, dtype: Any, shapes: tuple[tuple[int, ...], ...]) -> list[Any]:
        """Return arrays of the given shapes in the memory of the thread, or new ones if they are too large for it."""
        spaces = [(*shape[:-1], _distance(shape[-1], dtype)) if len(shape) > 1 else shape for shape in shapes]
        sizes = [math.prod(space) for space in spaces]
        # pieces begin at multiples of 16 entries, which are 64 bytes of float32: one cache line
        starts = list(accumulate((-(-size // 16) * 16 for size in sizes), initial=0))
        count = starts[-1] * dtype.itemsize
        if count > LARGEST:
            return [np.empty(space, dtype)[..., : shape[-1]] for space, shape in zip(spaces, shapes, strict=True)]
        if count > len(self.bytes):
            self.bytes = np.empty(count, np.uint8)
            # the arrays listed are parts of the former memory
            self.known.clear()
        if len(self.known) >= MOST:
            self.known.clear()
        whole = self.bytes[:count].view(dtype)
        places = zip(starts, sizes, spaces, shapes, strict=False)
        self.known[dtype, shapes] = [
            whole[start : start + size].reshape(space)[..., : shape[-1]] for start, size, space, shape in places
        ]
        return self.known[dtype, shapes]


_memory = _Memory()

# --- threads --------------------------------------------------------------------------------------------------------


def _on_threads(work: Callable[[], None], left: deque[Any], threads: int) -> None:
    """Run the work in this thread and in others. An error in one of them stops all and is raised here."""

    def work_or_end() -> None:
        try:
            _with_short_buffers(work)
        except BaseException:
            left.clear()
            raise

    if threads == 1:
        with one_thread_in_blas():
            work_or_end()
        return
    team = team_of(threads)
    with one_thread_in_blas(), team.apart():
        helpers = team.begin(work_or_end)
        try:
            work_or_end()
        finally:
            errors = [error for helper in helpers if (error := _ended(helper)) is not None]
    if errors:
        raise errors[0]


def _with_short_buffers(work: Callable[[], None]) -> None:
    """Run the work with short ufunc buffers, so that NumPy does not copy rows into them when it broadcasts."""
    with np.errstate():
        np.setbufsize(BUFFER)
        work()


def _ended(helper: Future[None]) -> BaseException | None:
    """Return the error of a helper after it has ended, or None. A helper that has not begun is cancelled."""
    return None if helper.cancel() else helper.exception()
