"""What NumPy's functions cost on this computer, where the fastest code depends on it: measured once, when first asked.

Source       NumPy, documentation of CPU build options: which functions have vectorised forms depends on the processor
"""

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

__all__ = ["exp2_over_exp"]

ENTRIES = 1 << 14  # as many as the first-level cache of a core holds, so that only the function counts
ROUNDS = 7  # of which the fastest counts: what else the processor does can only make a call slower


@lru_cache(maxsize=4)
def exp2_over_exp(dtype: Any) -> float:
    """Return the time of powers of two divided by that of powers of e: less than 1 where powers of two are faster."""
    x = np.linspace(-20, 0, ENTRIES, dtype=dtype)
    return _seconds(np.exp2, x) / _seconds(np.exp, x)


def _seconds(function: Callable[..., Any], x: Any) -> float:
    out, times = np.empty_like(x), list[float]()
    for _ in range(ROUNDS):
        before = time.perf_counter()
        function(x, out=out)
        times.append(time.perf_counter() - before)
    return min(times)
