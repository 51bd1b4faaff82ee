"""Products of few rows: equal to NumPy's in every layout, in panels only where these are small and fast."""

from typing import Any

import numpy as np
import pytest

from numeric.runtime import few_rows
from numeric.runtime.blas_threads import one_thread_in_blas
from numeric.runtime.few_rows import rows_times

MEASURED = few_rows._panels_over_product


@pytest.fixture
def in_panels(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Panels are taken as faster; the shapes of their products with few rows are noted."""
    shapes: list[tuple[Any, ...]] = []
    monkeypatch.setattr(few_rows, "_panels_over_product", lambda: 0.5)
    for name in ("_multiply", "_multiply_turned"):
        original = getattr(few_rows, name)

        def noted(rows: Any, matrix: Any, out: Any, width: int, original: Any = original) -> None:
            shapes.append((original.__name__, *matrix.shape, width))
            original(rows, matrix, out, width)

        monkeypatch.setattr(few_rows, name, noted)
    return shapes


def numbers(*shape: int, of: Any = np.float32) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(of)


def by_hand(rows: Any, matrix: Any) -> Any:
    exact = np.zeros((len(rows), matrix.shape[1]))
    for k in range(matrix.shape[0]):
        exact += rows[:, k, None].astype(float) * matrix[k].astype(float)
    return exact


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(2, 700, 801), (5, 512, 2048), (13, 768, 513), (16, 600, 290)])
def test_panels_are_the_product(in_panels: list[Any], shape: tuple[int, int, int], turned: bool) -> None:
    count, length, columns = shape
    rows, matrix = numbers(count, length), numbers(length, columns)
    given = np.asfortranarray(matrix) if turned else matrix
    wide = np.full((count, columns + 9), np.nan, np.float32)
    out = wide[:, 4:-5]
    assert rows_times(rows, given, out) is out
    np.testing.assert_allclose(out, by_hand(rows, matrix), rtol=0, atol=1e-5 * length)
    assert np.isnan(wide[:, :4]).all() and np.isnan(wide[:, -5:]).all()
    ((name, *_, width),) = in_panels
    assert name == ("_multiply_turned" if turned else "_multiply")
    assert count * length * width <= few_rows.SMALL < count * length * columns


@pytest.mark.parametrize("turned", [False, True])
def test_threads_divide_whole_panels(in_panels: list[Any], monkeypatch: pytest.MonkeyPatch, turned: bool) -> None:
    monkeypatch.setattr(few_rows, "LARGE", 0)
    monkeypatch.setattr(few_rows, "default_threads", lambda: 3)
    rows, matrix = numbers(3, 900), numbers(900, 1000)
    out = np.empty((3, 1000), np.float32)
    rows_times(rows, np.asfortranarray(matrix) if turned else matrix, out)
    np.testing.assert_allclose(out, by_hand(rows, matrix), rtol=0, atol=1e-2)
    assert sorted(columns for _, _, columns, _ in in_panels) == [488, 512], "as many whole panels as threads can share"
    in_panels.clear()
    with one_thread_in_blas():
        rows_times(rows, matrix, out)
    assert [columns for _, _, columns, _ in in_panels] == [1000], "where BLAS has one thread, so have panels"


@pytest.mark.parametrize(
    ("rows", "matrix"),
    [
        (numbers(1, 768), numbers(768, 900)),  # BLAS takes it as a matrix by a vector
        (numbers(17, 768), numbers(768, 900)),
        (numbers(4, 100), numbers(100, 200)),  # small already
        (numbers(16, 1000), numbers(1000, 900)),  # no panel is small
        (numbers(4, 768, of=np.float64), numbers(768, 900, of=np.float64)),
        (numbers(4, 768), numbers(768, 1800)[:, ::2]),
        (numbers(4, 0), numbers(0, 900)),
        (numbers(0, 768), numbers(768, 900)),
    ],
)
def test_other_products_are_left_to_blas(in_panels: list[Any], rows: Any, matrix: Any) -> None:
    out = np.empty((len(rows), matrix.shape[1]), rows.dtype)
    np.testing.assert_array_equal(rows_times(rows, matrix, out), np.matmul(rows, matrix))
    assert not in_panels


def test_panels_are_taken_only_where_they_are_clearly_faster(
    in_panels: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(few_rows, "_panels_over_product", MEASURED.__wrapped__)
    rows, matrix = numbers(4, 768), numbers(768, 900)
    out = np.empty((4, 900), np.float32)
    for ratio, count in ((0.8, 0), (0.7, 1)):
        monkeypatch.setattr(few_rows, "time_ratio", lambda one, other, ratio=ratio: ratio)
        rows_times(rows, matrix, out)
        assert len(in_panels) == count
        assert bool(few_rows.few_rows_text()) == bool(count)
