"""What is measured on a computer: the ratio of two functions' times, and of a function and itself."""

import time

import numpy as np
import pytest

from numeric.runtime import measured
from numeric.runtime.measured import exp2_over_exp


def test_the_ratio_is_that_of_the_fastest_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    cost = {np.exp2: iter([5.0, 3.0, *[4.0] * 5]), np.exp: iter([9.0, *[6.0] * 6])}

    def timed(call):
        def paid() -> None:
            clock[0] += next(cost[call.func])
            call()

        return seconds(paid)

    seconds = measured.seconds_of
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(measured, "seconds_of", timed)
    assert exp2_over_exp.__wrapped__(np.dtype(np.float32)) == 3 / 6


def test_it_is_measured_once() -> None:
    assert exp2_over_exp(np.dtype(np.float32)) == exp2_over_exp(np.dtype(np.float32)) > 0
