"""What NumPy's functions cost on this computer, where the fastest code depends on it: measured once, when first asked.

Source       NumPy, documentation of CPU build options: which functions have vectorised forms depends on the processor
"""

import time
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

__all__ = ["exp2_over_exp", "seconds_of"]

ENTRIES = 1 << 14  # as many as the first-level cache of a core holds, so that only the function counts
ROUNDS = 7  # of which the fastest counts: what else the processor does can only make a call slower


@lru_cache(maxsize=4)
def exp2_over_exp(dtype: Any) -> float:
    """Return the time of powers of two divided by that of powers of e: less than 1 where powers of two are faster."""
    x = np.linspace(-20, 0, ENTRIES, dtype=dtype)
    out = np.empty_like(x)
    return seconds_of(partial(np.exp2, x, out=out)) / seconds_of(partial(np.exp, x, out=out))


def seconds_of(call: Callable[[], Any]) -> float:
    """Return the time of the fastest of several calls."""
    times = list[float]()
    for _ in range(ROUNDS):
        before = time.perf_counter()
        call()
        times.append(time.perf_counter() - before)
    return min(times)
