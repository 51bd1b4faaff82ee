"""Packed weights: products equal to NumPy's at every layout, through a library written here and through oneMKL."""

from typing import Any

import numpy as np
import pytest

from numeric.runtime import packed_weights
from numeric.runtime.packed_weights import Library, PackedWeight, library, packed_weight


class Spoken:
    """A library in NumPy with the calls of oneMKL: what it packs is a copy, and it notes the products."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        letters = {"f": np.dtype(np.float32), "d": np.dtype(np.float64)}
        self.library = Library(
            {letter: lambda right, n, m, k, of=of: k * m * of.itemsize for letter, of in letters.items()},
            {letter: lambda *given, of=of: self.pack(of, *given) for letter, of in letters.items()},
            {letter: lambda *given, of=of: self.compute(of, *given) for letter, of in letters.items()},
        )

    def pack(self, of: Any, order: int, which: int, turned: int, n: int, *rest: Any) -> None:
        m, k, factor, start, apart, place = rest
        assert (order, which, turned, factor) == (101, 162, 111, 1)
        at(place, of, k, m, m)[:] = at(start, of, k, m, apart)

    def compute(self, of: Any, order: int, turned: int, kind: int, n: int, m: int, k: int, *rest: Any) -> None:
        start, apart, place, apart_packed, old, result, apart_result = rest
        assert (order, turned, kind, apart_packed, old) == (101, 111, 151, m, 0)
        at(result, of, n, m, apart_result)[:] = at(start, of, n, k, apart) @ at(place, of, k, m, m)
        self.rows.append(n)


def at(address: int, of: Any, rows: int, columns: int, apart: int) -> Any:
    """The matrix at an address, its rows a number of entries apart."""
    size = ((rows - 1) * apart + columns) * of.itemsize
    entries = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_uint8 * size).from_address(address)).view(of)
    return np.lib.stride_tricks.as_strided(entries, (rows, columns), (apart * of.itemsize, of.itemsize))


@pytest.fixture(params=["written here", "oneMKL"])
def spoken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A library that packs: the one above, or oneMKL where it is installed."""
    if request.param == "oneMKL":
        if library() is None:
            pytest.skip("the extra `fast` is not installed")
        return None
    made = Spoken()
    monkeypatch.setattr(packed_weights, "library", lambda: made.library)
    return made


def numbers(*shape: int, of: Any = np.float32) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(of)


@pytest.mark.parametrize("of", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(64, 256), (131, 127), (16384, 1), (1, 16385)])
@pytest.mark.parametrize("rows", [1, 2, 7, 130])
def test_products_are_those_of_numpy(spoken: Any, of: Any, shape: tuple[int, int], rows: int) -> None:
    weight, x = numbers(*shape, of=of), numbers(rows, shape[0], of=of)
    packed = packed_weight(weight)
    assert isinstance(packed, PackedWeight)
    for each in (packed, packed.threaded()):
        out = np.full((rows, shape[1]), np.nan, of)
        assert np.matmul(x, each, out=out) is out
        np.testing.assert_allclose(out, x @ weight, rtol=0, atol=np.finfo(of).eps * shape[0] * 20)
    if spoken is not None:
        assert set(spoken.rows) == {rows}, "the packed product was called"


def test_rows_and_results_may_lie_apart(spoken: Any) -> None:
    weight, wide, apart = numbers(128, 256), numbers(20, 200), np.zeros((20, 300), np.float32)
    np.matmul(wide[:, 30:158], packed_weight(weight), out=apart[:, 10:266])
    np.testing.assert_allclose(apart[:, 10:266], wide[:, 30:158] @ weight, rtol=0, atol=1e-3)
    assert not apart[:, :10].any() and not apart[:, 266:].any()


def test_what_the_library_cannot_read_is_left_to_numpy(spoken: Any) -> None:
    weight = numbers(128, 256)
    packed, out = packed_weight(weight), np.empty((20, 256), np.float32)
    turned, of_double = numbers(128, 20).T, numbers(20, 128, of=np.float64)
    repeated = np.broadcast_to(numbers(1, 128), (20, 128))
    for rows in (turned, repeated):
        np.testing.assert_array_equal(np.matmul(rows, packed, out=out), rows @ weight)
    np.testing.assert_array_equal(of_double @ packed, of_double @ weight)
    items = numbers(3, 20, 128)
    np.testing.assert_array_equal(np.matmul(items, packed, out=np.empty((3, 20, 256), np.float32)), items @ weight)
    assert np.matmul(numbers(0, 128), packed, out=np.empty((0, 256), np.float32)).shape == (0, 256)
    if spoken is not None:
        assert spoken.rows == []


def test_in_all_else_it_is_the_array_that_it_was(spoken: Any) -> None:
    weight = numbers(128, 256)
    packed = packed_weight(weight)
    assert packed.shape == weight.shape and packed.dtype == weight.dtype
    for one, other in ((packed + 1, weight + 1), (packed.mT @ weight, weight.mT @ weight), (packed[3:5], weight[3:5])):
        np.testing.assert_array_equal(one, other)
    assert type(packed + 1) is np.ndarray
    part = packed[:, :128]
    x = numbers(20, 128)
    np.testing.assert_array_equal(np.matmul(x, part, out=np.empty((20, 128), np.float32)), x @ weight[:, :128])


@pytest.mark.parametrize(
    "weight", [numbers(8, 8), numbers(2, 128, 256), numbers(128, 256).astype(np.int32), numbers(128, 256) + 0j]
)
def test_what_is_small_or_has_no_packed_product_stays_as_it_is(spoken: Any, weight: Any) -> None:
    assert packed_weight(weight) is weight


def test_without_a_library_a_weight_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_weights, "library", lambda: None)
    weight = numbers(128, 256)
    assert packed_weight(weight) is weight
