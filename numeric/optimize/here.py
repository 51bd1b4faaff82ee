"""A layer optimised for this computer: without the passes that are measured to be no gain on it.

Definition   `optimised_here(layer, weights)` is `optimize(layer)` without passes that cost time on this computer
Result       the optimised layer, and why a pass was left out
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from derivations.language.arrays.exponentials import RowExponentials
from derivations.language.layers.layer import Layer
from numeric.optimize.driver import Optimised, optimize
from numeric.runtime.measured import exp2_over_exp
from numeric.runtime.structure import arrays_in

__all__ = ["optimised_here"]

BASE_TWO = "base_two"


def optimised_here(layer: Layer, weights: Mapping[str, Any], *, without: Iterable[str] = ()) -> tuple[Optimised, str]:
    """Return a layer optimised for this computer, and why a pass was left out, or an empty text.

    Assumes      `weights` tell the number type alone; `without` names passes as for `optimize`
    Raises       ValueError for an unknown pass
    """
    left_out = frozenset([without] if isinstance(without, str) else without)
    slower = "" if BASE_TWO in left_out else _against_powers_of_two(weights)
    optimised = optimize(layer, without=left_out | ({BASE_TWO} if slower else set[str]()))
    return optimised, slower if optimised.layer.has(RowExponentials) else ""


def _against_powers_of_two(weights: Mapping[str, Any]) -> str:
    """Return why exponentials keep the base e on this computer, or an empty text where powers of two are as fast."""
    dtypes = (weight.dtype for weight in arrays_in(weights) if weight.dtype.kind == "f")
    ratio = exp2_over_exp(next(dtypes, np.dtype(np.float64)))
    return f"{BASE_TWO}: left out, since powers of two take {ratio:.1f} times as long here" if ratio > 1 else ""
