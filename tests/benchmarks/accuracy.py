"""How far float32 results are from the exact ones, ours beside those of PyTorch and JAX.

Definition   error by row     |found - exact| in units in the last place of the largest exact entry of the row
             error by entry   the same in units of the exact entry itself
             the exact result is that of the loops of `numeric.reference` at 50 digits
Result       `rows()`: for each layer and situation the errors of every implementation over all seeds, and how ours
             compare with the worse of the two peers
Assumes      the same float32 arguments for all; the claim is about errors by row, see `numeric.agreement.ulp`
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from numeric.agreement.ulp import UlpErrors, errors_in_ulp
from numeric.compile import compile_layer
from tests.benchmarks.accuracy_peers import LIBRARIES, PEERS, peer
from tests.benchmarks.accuracy_situations import Situation, situations

__all__ = ["Accuracy", "Figures"]

SEEDS = tuple(range(5))
Route = Callable[[Situation, Mapping[str, Any]], Any]


def compiled(situation: Situation, arguments: Mapping[str, Any]) -> Any:
    """The plain route: a line of NumPy for each equation."""
    return compile_layer(situation.layer)(**arguments)


ROUTES: dict[str, Route] = {"compiled": compiled}


@dataclass(frozen=True)
class Figures:
    """The errors of one implementation over all seeds.

    Units        units in the last place
    """

    typical: float  # root of the mean square, by row
    largest: float  # by row
    median_entry: float
    largest_entry: float


@dataclass(frozen=True)
class Accuracy:
    """The errors of all implementations in one situation."""

    layer: str
    situation: str
    figures: Mapping[str, Figures]
