"""One thread for every product while a loop runs, from whichever thread, and the number that was before behind it."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from derivations.transformer.encoder import encoder_layer
from numeric import initialise
from numeric.optimize.prepare import prepare
from numeric.runtime import blas_threads
from numeric.runtime.blas_threads import limit_this_thread, one_thread_in_blas
from numeric.runtime.tiles import each_tile

PATIENCE = 120  # seconds after which something hangs
SIZES = {"d_model": 16, "h": 2, "d_k": 8, "d_v": 8, "d_ff": 32}


LIBRARIES = ThreadpoolController().select(user_api="blas").lib_controllers  # those that NumPy has loaded


def counts() -> list[int]:
    """The threads of every library of linear algebra."""
    return [each.get_num_threads() for each in LIBRARIES]


def in_another_thread(act: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(act).result(PATIENCE)


@pytest.fixture(autouse=True)
def several() -> Iterator[None]:
    """Let BLAS have two threads, so that a limit can be seen; another library may have been loaded since."""
    blas_threads._libraries.cache_clear()
    with threadpool_limits(2, user_api="blas"):
        assert set(counts()) == {2}
        yield
        assert set(counts()) == {2}


def limited() -> list[int]:
    with one_thread_in_blas():
        return counts()


def test_a_product_has_one_thread_whoever_asks() -> None:
    assert set(limited()) == {1}
    assert set(in_another_thread(limited)) == {1}
    assert set(limited()) == {1}


def test_the_last_that_leaves_puts_back_what_was_before() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def stay() -> None:
        with one_thread_in_blas():
            entered.set()
            assert go_on.wait(PATIENCE)

    with ThreadPoolExecutor(1) as pool:
        staying = pool.submit(stay)
        assert entered.wait(PATIENCE)
        limited()
        assert set(counts()) == {1}
        go_on.set()
        staying.result(PATIENCE)
    assert set(counts()) == {2}


def test_every_tile_has_products_of_one_thread_when_another_thread_calls() -> None:
    seen: list[int] = []

    def part(tile: Any) -> None:
        seen.extend(counts())

    in_another_thread(lambda: each_tile([part], 1, 5000, 2))
    assert set(seen) == {1}


def test_one_row_has_products_of_one_thread_where_one_is_asked_for() -> None:
    seen: list[int] = []
    each_tile([lambda tile: seen.extend(counts())], 1, 1, 1)
    assert set(seen) == {1}


@pytest.mark.parametrize("n", [600, 1400])
def test_a_layer_gives_the_same_bits_from_any_thread(n: int) -> None:
    """Products of more than some 500 columns are added up in another order where they have two threads."""
    run = prepare(encoder_layer(biases=True), initialise(encoder_layer(biases=True), SIZES, seed=1), threads=2)
    X = np.random.default_rng(0).standard_normal((n, 16)).astype(np.float32)
    np.testing.assert_array_equal(in_another_thread(lambda: run(X)), run(X))


class OfEachThread:
    """A library that counts the threads of each of its callers by themselves."""

    def __init__(self) -> None:
        self.own = threading.local()

    def get_num_threads(self) -> int:
        return getattr(self.own, "threads", 2)

    def set_num_threads(self, threads: int) -> None:
        self.own.threads = threads


def test_a_library_that_counts_for_each_thread_is_limited_in_each(monkeypatch: pytest.MonkeyPatch) -> None:
    library = OfEachThread()
    monkeypatch.setattr(blas_threads, "_libraries", lambda *, of_each_thread: [library] if of_each_thread else [])

    def asked() -> tuple[int, int]:
        with one_thread_in_blas():
            inside = library.get_num_threads()
        return inside, library.get_num_threads()

    assert asked() == (1, 2)
    with one_thread_in_blas():
        assert in_another_thread(asked) == (1, 2)
        assert in_another_thread(library.get_num_threads) == 2
    with ThreadPoolExecutor(1, initializer=limit_this_thread) as pool:  # as those that help with tiles
        assert pool.submit(library.get_num_threads).result(PATIENCE) == 1
    assert library.get_num_threads() == 2
