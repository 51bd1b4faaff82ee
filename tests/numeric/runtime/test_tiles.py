"""Tiles hold every row once, whatever the sizes and the number of threads; errors inside them reach the caller."""

import itertools
import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from numeric.runtime import tiles
from numeric.runtime.tiles import Tile, each_tile, empty_rows, flat_rows, items_of, online_step, row_of

SIZES = list(itertools.product((1, 2, 7, 300), (1, 3, 127, 256, 257, 1030), (1, 2, 3)))


@pytest.mark.parametrize("items, n, threads", SIZES)
def test_every_row_is_worked_on_once_and_fits_in_the_memory_of_a_tile(items: int, n: int, threads: int):
    seen, lock = np.zeros((items, n), int), threading.Lock()

    def part(tile: Tile) -> None:
        first, last, begin, end = tile.place
        assert (last - first) * (end - begin) <= tile.rows
        assert last - first == 1 or (begin, end) == (0, n)  # several items only with all of their rows
        with lock:
            seen[first:last, begin:end] += 1

    each_tile([part], items, n, threads)
    assert (seen == 1).all()


def test_many_rows_are_divided_and_few_are_not():
    counts = {}
    for n in (127, 256, 4096):
        found: list[tuple[int, ...]] = []
        each_tile([lambda tile, found=found: found.append(tile.place)], 1, n, 2)
        counts[n] = len(found)
    assert counts == {127: 1, 256: 2, 4096: 8}


@pytest.mark.parametrize("items, n, threads", [(1, 7, 2), (9, 128, 2), (9, 128, 1), (4, 600, 2)])
def test_whole_items_go_through_all_loops_at_once(items: int, n: int, threads: int):
    seen: list[tuple[int, tiles.Place]] = []
    each_tile([lambda tile, i=i: seen.append((i, tile.place)) for i in range(3)], items, n, threads)
    for place in {place for _, place in seen}:
        assert [number for number, other in seen if other == place] == [0, 1, 2]
    if threads == 1:
        assert [number for number, _ in seen] == [0, 1, 2] * (len(seen) // 3)


@pytest.mark.parametrize(
    "items, n, threads, expected",
    [
        (3, 456, 2, [228] * 6),  # one item for each tile would leave a thread idle for a third of the time
        (4, 456, 2, [456] * 4),
        (13, 169, 2, [507] * 4 + [169]),  # two tiles for one thread, and two and what is left for the other
        (8, 157, 2, [314] * 4),
        (3, 456, 16, [92, 92, 92, 92, 88] * 3),
        (9, 128, 1, [384] * 3),
    ],
)
def test_threads_have_as_much_to_do_as_one_another(items: int, n: int, threads: int, expected: list[int]):
    found, lock = [], threading.Lock()

    def note(tile: Tile) -> None:
        first, last, begin, end = tile.place
        with lock:
            found.append((first, begin, (last - first) * (end - begin)))
            assert found[-1][2] <= tile.rows

    each_tile([note], items, n, threads)
    assert [rows for _, _, rows in sorted(found)] == expected


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rows_of_an_item_wait_for_all_rows_of_the_loop_before(threads: int):
    done, lock = np.zeros((2, 5000), int), threading.Lock()

    def first(tile: Tile) -> None:
        _, _, begin, end = tile.place
        with lock:
            done[0, begin:end] += 1

    def second(tile: Tile) -> None:
        _, _, begin, end = tile.place
        assert (done[0] == 1).all()
        with lock:
            done[1, begin:end] += 1

    each_tile([first, second], 1, 5000, threads)
    assert (done == 1).all()


def test_nothing_is_called_where_there_are_no_rows():
    def part(tile: Tile) -> None:
        raise AssertionError(tile)

    each_tile([part], 0, 5, 2)
    each_tile([part], 5, 0, 2)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_an_error_in_a_tile_is_raised_and_the_next_loop_runs(threads: int):
    def part(tile: Tile) -> None:
        if tile.place[0] == 5:
            raise ArithmeticError("in item 5")

    with pytest.raises(ArithmeticError, match="in item 5"):
        each_tile([part], 9, 1024, threads)
    found: list[tuple[int, ...]] = []
    each_tile([lambda tile: found.append(tile.place)], 9, 1024, threads)
    assert {tile[0] for tile in found} == set(range(9))


def test_blas_has_its_threads_back_after_a_loop():
    before = [library["num_threads"] for library in ThreadpoolController().info()]
    inside = []

    def part(tile: Tile) -> None:
        inside.extend(lib["num_threads"] for lib in ThreadpoolController().select(user_api="blas").info())

    each_tile([part], 2, 2048, 2)
    assert set(inside) == {1}
    assert [library["num_threads"] for library in ThreadpoolController().info()] == before


def test_heads_are_worked_on_together_as_long_as_their_scores_stay_small():
    tile = Tile((0, 1, 0, 256), 256)
    assert tile.heads(8, 1) == 8 and tile.heads(8, 1 << 20) == 1
    assert tile.heads(8, 256) * 256 * 256 <= tiles.SCORES


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("keys", [0, 1, 7, 1024, 1536, 1537, 2048, 4096, 5000, 16_384, 100_003])
def test_many_keys_are_divided_evenly_into_rows_that_lie_well_in_a_cache(keys: int, dtype: type):
    at_once = Tile((0, 1, 0, 8), 8).keys(keys, np.dtype(dtype))
    if keys <= tiles.KEYS * 3 // 2:
        assert at_once == max(1, keys)
    else:
        assert tiles.KEYS * 3 // 4 <= at_once <= tiles.KEYS * 3 // 2
        length = at_once * np.dtype(dtype).itemsize
        assert length < tiles.LONG or length % tiles.APART != 0
        assert keys % at_once == 0 or keys % at_once >= at_once // 2


@pytest.mark.parametrize("keys", [5, 128, 1024, 1536])
def test_sums_of_powers_are_as_exact_as_sums_in_pairs(keys: int):
    """Weights are to add up to 1: a product with a column of ones has twice the error from 1,024 keys on.

    A dot product has as many sums as a vector of the processor has places: of 1,536 keys its error is below 1.3 times
    that of pairs with AVX-512, and 1.45 times with AVX2, where that of the product is 2.9 times.
    """
    scores = np.random.default_rng(0).normal(0, 5, (1, 1, 2000, keys)).astype(np.float32)
    sums, mixture = np.empty((1, 1, 2000, 1), np.float32), np.empty((1, 1, 2000, 3), np.float32)
    online_step(scores, np.ones((1, 1, keys, 3), np.float32), np.empty_like(sums), sums, mixture, np.exp2, True)
    exact = scores.astype(np.float64).sum(axis=-1, keepdims=True)  # the scores have become powers
    errors = [np.sqrt(np.mean(((s - exact) / exact) ** 2)) for s in (sums, scores.sum(axis=-1, keepdims=True))]
    assert errors[0] <= 1.5 * errors[1]


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
    tile, dtype = Tile((0, 1, 0, 7), 7), np.dtype(np.float32)
    first, second = tile.pieces(dtype, (7, 3), (5,))
    first[:], second[:] = 1, 2
    assert (first == 1).all() and first.shape == (7, 3) and second.shape == (5,)
    assert tile.pieces(dtype, (7, 3), (5,))[0] is first
    larger, other = Tile((0, 1, 0, 7), 7).pieces(dtype, (700, 300), (5,))
    assert not np.shares_memory(larger, other) and larger.dtype == dtype


def test_threads_have_memory_of_their_own():
    mine, others = Tile((0, 1, 0, 1), 1).pieces(np.dtype(float), (11, 2)), []
    helper = threading.Thread(target=lambda: others.extend(Tile((0, 1, 0, 1), 1).pieces(np.dtype(float), (11, 2))))
    helper.start()
    helper.join()
    assert not np.shares_memory(mine[0], others[0])


def test_memory_that_is_too_large_or_too_often_divided_is_not_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiles, "LARGEST", 1000)
    tile, dtype = Tile((0, 1, 0, 1), 1), np.dtype(float)
    (large,), (small,) = tile.pieces(dtype, (1000,)), tile.pieces(dtype, (10,))
    assert tile.pieces(dtype, (1000,))[0] is not large and tile.pieces(dtype, (10,))[0] is small
    for size in range(11, 11 + tiles.MOST):
        tile.pieces(dtype, (size,))
    assert tile.pieces(dtype, (10,))[0] is not small


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 512, 1024, 1536, 2048, 2050, 3072])
def test_rows_do_not_lie_where_they_push_each_other_out_of_the_cache(columns: int, dtype: type):
    dtype = np.dtype(dtype)
    (piece,) = Tile((0, 1, 0, 3), 3).pieces(dtype, (3, columns))
    for rows in (empty_rows(3, columns, dtype), piece):
        assert rows.shape == (3, columns) and rows.dtype == dtype
        distance = rows.strides[0]
        assert distance < tiles.LONG or distance % tiles.APART != 0
        assert distance == columns * dtype.itemsize or distance == columns * dtype.itemsize + tiles.LINE


def test_a_row_of_equal_numbers_is_shared_and_cannot_be_written():
    row = row_of(0, 5, np.dtype(np.float32))
    assert row.tolist() == [0.0] * 5 and row is row_of(0, 5, np.dtype(np.float32))
    with pytest.raises(ValueError, match="read-only"):
        row[0] = 1


@pytest.mark.parametrize("n, threads", [(2, 2), (5000, 1), (5000, 2)])
def test_buffers_are_short_inside_a_loop_alone(n: int, threads: int):
    before, inside = np.getbufsize(), []
    each_tile([lambda tile: inside.append(np.getbufsize())], 1, n, threads)
    assert set(inside) == {tiles.BUFFER} and np.getbufsize() == before
