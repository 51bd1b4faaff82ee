"""The ways of a prepared layer: all compute the same, the fastest is taken and named, and it stays the same."""

import time
from typing import Any

import numpy as np
import pytest

from derivations.attention import multi_head_attention
from derivations.feed_forward.feed_forward import feed_forward
from numeric.optimize.prepare import prepare
from numeric.optimize.ways import Way, Ways
from numeric.runtime import packed_weights, tiles
from numeric.runtime.packed_weights import PackedWeight
from tests.numeric.runtime.test_packed_weights import Spoken


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> Spoken:
    """A library that packs, written in NumPy."""
    made = Spoken()
    monkeypatch.setattr(packed_weights, "library", lambda: made.library)
    return made


def weights_of(d: int = 128, d_ff: int = 256) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    shapes = {"W_1": (d, d_ff), "b_1": (d_ff,), "W_2": (d_ff, d), "b_2": (d,)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def test_all_ways_compute_the_layer(spoken: Spoken) -> None:
    weights, layer = weights_of(), feed_forward()
    step, plain = prepare(layer, weights), prepare(layer, weights, without=["packed_weights"])
    assert [way.name for way in step.ways.ways if "undivided" not in way.name] == [
        "numpy",
        "packed",
        "packed, on threads",
    ]
    assert not any("packed" in way.name for way in plain.ways.ways) and not spoken.rows
    for rows in (1, 5, 300):
        x = np.random.default_rng(rows).normal(size=(rows, 128))
        expected = plain(x)
        for way in step.ways.ways:
            results = step._results(way, rows, (x,), {})
            np.testing.assert_allclose(results, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(step(x), expected, rtol=1e-12, atol=1e-12)
    assert sum(spoken.rows) > 0


def test_weights_of_heads_side_by_side_are_packed_too(spoken: Spoken) -> None:
    layer, rng = multi_head_attention(), np.random.default_rng(2)
    sizes = {"d_model": 128, "h": 4, "d_k": 32, "d_v": 32}
    shapes = {p.name: tuple(sizes[str(axis)] for axis in p.shape) for p in layer.parameters if len(p.shape) == 3}
    weights = {name: rng.normal(size=shape) for name, shape in shapes.items()} | {
        p.name: rng.normal(size=(128, 128)) for p in layer.parameters if len(p.shape) == 2
    }
    step, plain = prepare(layer, weights), prepare(layer, weights, without=["packed_weights"])
    (packed,) = (way for way in step.ways.ways if way.name == "packed")
    assert any(isinstance(each, PackedWeight) for each in packed.arguments.values())
    inputs = [rng.normal(size=(2, 9, 128)) for _ in layer.inputs]
    np.testing.assert_allclose(step(*inputs), plain(*inputs), rtol=1e-12, atol=1e-12)


def test_the_fastest_is_taken_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    slow, quick, few = Way("numpy", {}), Way("packed", {}), Way("packed, on threads", {}, most=8)
    ways, calls = Ways((slow, quick, few)), list[str]()

    def call(way: Way) -> None:
        calls.append(way.name)
        clock[0] += {"numpy": 0.03, "packed": 0.02, "packed, on threads": 0.01}[way.name]

    assert ways.text() == "ways: 3, timed at the first call with about so many rows"
    assert ways.way(40, call) is quick
    assert "packed, on threads" not in calls
    before = len(calls)
    assert ways.way(63, call) is quick and len(calls) == before, "rows up to the next power of two are alike"
    assert ways.way(4, call) is few
    assert ways.text() == "ways: from 4 rows packed, on threads (3.00), from 32 rows packed (1.50)"


def test_one_way_is_not_timed() -> None:
    ways = Ways((Way("numpy", {}), Way("for some", {}, least=20, most=30)))
    for rows in (10, 19, 30):
        assert ways.way(rows, lambda way: pytest.fail("it was called")) is ways.ways[0]
    assert ways.taken == {} and Ways((Way("numpy", {}),)).text() == ""


@pytest.mark.parametrize("rows, is_timed", [(127, False), (128, True), (511, True), (512, False)])
def test_some_hundred_rows_may_be_left_to_the_threads_of_blas(rows: int, is_timed: bool, monkeypatch) -> None:
    weights, x = weights_of(), np.random.default_rng(rows).normal(size=(rows, 128))
    alone = prepare(feed_forward(), weights, threads=1, without=["packed_weights"])
    assert len(alone.ways.ways) == 1, "one thread divides nothing"
    step = prepare(feed_forward(), weights, threads=2, without=["packed_weights"])
    expected = alone(x)
    np.testing.assert_allclose(step(x), expected, rtol=1e-12, atol=1e-12)
    assert bool(step.ways.taken) == is_timed
    pieces: list[int] = []
    divided = tiles.each_one
    monkeypatch.setattr(tiles, "each_one", lambda act, work, threads: pieces.append(1) or divided(act, work, threads))
    for way in step.ways.ways:
        pieces.clear()
        np.testing.assert_allclose(step._results(way, rows, (x,), {}), expected, rtol=1e-12, atol=1e-12)
        assert bool(pieces) == (rows >= way.undivided)
    assert [way.undivided for way in step.ways.ways] == [128, 512]
