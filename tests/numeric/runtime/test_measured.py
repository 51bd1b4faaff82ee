"""What is measured on a computer: the ratio of two functions' times, and of a function and itself."""

import time
from functools import partial

import numpy as np
import pytest

from numeric.runtime.measured import exp2_over_exp, time_ratio


def test_the_ratio_is_that_of_the_fastest_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, calls = [0.0], list[str]()
    cost = {"one": iter([5.0, 3.0, *[4.0] * 99]), "other": iter([9.0, *[6.0] * 99])}

    def call(name: str) -> None:
        calls.append(name)
        clock[0] += next(cost[name])

    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    assert time_ratio(partial(call, "one"), partial(call, "other")) == 3 / 6
    assert calls[:4] == ["one", "other", "one", "other"], "whatever slows the computer down slows both"


def test_it_is_measured_once() -> None:
    assert exp2_over_exp(np.dtype(np.float32)) == exp2_over_exp(np.dtype(np.float32)) > 0
