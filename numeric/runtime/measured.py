"""What NumPy's functions cost on this computer, where the fastest code depends on it: measured once, when first asked.

Source       NumPy, documentation of CPU build options: which functions have vectorised forms depends on the processor
"""

import math
import time
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

__all__ = ["exp2_over_exp", "time_ratio"]

ENTRIES = 1 << 14  # as many as the first-level cache of a core holds, so that only the function counts
ROUNDS = 15  # of which the fastest counts: what else the processor does can only make a call slower


@lru_cache(maxsize=4)
def exp2_over_exp(dtype: Any) -> float:
    """Return the time of powers of two divided by that of powers of e: less than 1 where powers of two are faster."""
    x = np.linspace(-20, 0, ENTRIES, dtype=dtype)
    out = np.empty_like(x)
    return time_ratio(partial(np.exp2, x, out=out), partial(np.exp, x, out=out))


def time_ratio(one: Callable[[], Any], other: Callable[[], Any]) -> float:
    """Return the time of the fastest call of one function divided by that of another; calls alternate."""
    seconds = [math.inf, math.inf]
    for _ in range(ROUNDS):
        for number, call in enumerate((one, other)):
            before = time.perf_counter()
            call()
            seconds[number] = min(seconds[number], time.perf_counter() - before)
    return seconds[0] / seconds[1]
