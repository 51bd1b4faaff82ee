"""Tiles hold every row once, whatever the sizes and the number of threads; errors inside them reach the caller."""

import itertools
import threading
from collections import deque

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from numeric import tiles
from numeric.tiles import Tiles, each_tile, flat_rows, items_of

SIZES = list(itertools.product((1, 2, 7, 300), (1, 3, 127, 256, 257, 1030), (1, 2, 3)))


@pytest.mark.parametrize("items, n, threads", SIZES)
def test_every_row_is_worked_on_once_and_fits_in_the_memory_of_a_tile(items: int, n: int, threads: int):
    seen, lock = np.zeros((items, n), int), threading.Lock()

    def part(work: Tiles) -> None:
        for first, last, begin, end in work:
            assert (last - first) * (end - begin) <= work.rows
            assert last - first == 1 or (begin, end) == (0, n)  # several items only with all of their rows
            with lock:
                seen[first:last, begin:end] += 1

    each_tile(part, items, n, threads)
    assert (seen == 1).all()


def test_many_rows_are_divided_and_few_are_not():
    counts = {}
    for n in (128, 4096):
        found: list[tuple[int, ...]] = []
        each_tile(lambda work, found=found: found.extend(work), 1, n, 2)
        counts[n] = len(found)
    assert counts == {128: 1, 4096: 8}


def test_nothing_is_called_where_there_are_no_rows():
    def part(work: Tiles) -> None:
        raise AssertionError(work)

    each_tile(part, 0, 5, 2)
    each_tile(part, 5, 0, 2)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_an_error_in_a_tile_is_raised_and_the_next_loop_runs(threads: int):
    def part(work: Tiles) -> None:
        for first, *_ in work:
            if first == 5:
                raise ArithmeticError("in item 5")

    with pytest.raises(ArithmeticError, match="in item 5"):
        each_tile(part, 9, 1024, threads)
    found: list[tuple[int, ...]] = []
    each_tile(lambda work: found.extend(work), 9, 1024, threads)
    assert {tile[0] for tile in found} == set(range(9))


def test_blas_has_its_threads_back_after_a_loop():
    before = [library["num_threads"] for library in ThreadpoolController().info()]
    inside = []

    def part(work: Tiles) -> None:
        inside.extend(lib["num_threads"] for lib in ThreadpoolController().select(user_api="blas").info())
        for _ in work:
            pass

    each_tile(part, 2, 2048, 2)
    assert set(inside) == {1}
    assert [library["num_threads"] for library in ThreadpoolController().info()] == before


def test_heads_are_worked_on_together_as_long_as_their_scores_stay_small():
    work = Tiles(256, deque())
    assert work.heads(8, 1) == 8 and work.heads(8, 1 << 20) == 1
    assert work.heads(8, 256) * 256 * 256 <= tiles.SCORES


def test_rows_of_all_items_come_one_after_another():
    x = np.arange(30.0).reshape(2, 3, 5)
    assert (flat_rows(x, (2,), 2) == x.reshape(6, 5)).all()
    assert flat_rows(x[0], (4,), 2).shape == (12, 5)
    assert flat_rows(np.arange(3), (), 1).shape == (3,) and flat_rows(np.ones(3), (), 1).shape == (3, 1)


def test_what_all_items_share_is_not_copied():
    mask = np.ones((3, 5), bool)
    assert items_of(mask, (7, 11), 2).shape == (77, 3, 5) and np.shares_memory(items_of(mask, (7, 11), 2), mask)
    assert items_of(np.ones((7, 1, 3, 5)), (7, 11), 2).shape == (77, 3, 5)


def test_a_thread_has_the_same_memory_again_and_pieces_do_not_overlap():
    work, dtype = Tiles(7, deque()), np.dtype(np.float32)
    first, second = work.pieces(dtype, (7, 3), (5,))
    first[:], second[:] = 1, 2
    assert (first == 1).all() and first.shape == (7, 3) and second.shape == (5,)
    assert work.pieces(dtype, (7, 3), (5,))[0] is first
    larger, other = Tiles(7, deque()).pieces(dtype, (700, 300), (5,))
    assert not np.shares_memory(larger, other) and larger.dtype == dtype


def test_threads_have_memory_of_their_own():
    mine, others = Tiles(1, deque()).pieces(np.dtype(float), (11, 2)), []
    helper = threading.Thread(target=lambda: others.extend(Tiles(1, deque()).pieces(np.dtype(float), (11, 2))))
    helper.start()
    helper.join()
    assert not np.shares_memory(mine[0], others[0])


def test_memory_that_is_too_large_or_too_often_divided_is_not_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiles, "LARGEST", 1000)
    work, dtype = Tiles(1, deque()), np.dtype(float)
    (large,), (small,) = work.pieces(dtype, (1000,)), work.pieces(dtype, (10,))
    assert work.pieces(dtype, (1000,))[0] is not large and work.pieces(dtype, (10,))[0] is small
    for size in range(11, 11 + tiles.MOST):
        work.pieces(dtype, (size,))
    assert work.pieces(dtype, (10,))[0] is not small
