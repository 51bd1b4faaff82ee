"""How far float32 results are from the exact ones, ours beside those of PyTorch and JAX.

Definition   the error of an entry is its distance from the exact one in units in the last place (ulp) of the largest
             exact entry of its row; a typical error is the root of their mean square
             the exact result is that of the loops of `numeric.verification.reference` at 50 digits
Result       `rows()`: for each layer and situation the errors of every implementation over all seeds, and how ours
             compares with the worse of the two peers on the same numbers
Assumes      the same float32 arguments for all, several seeds; ratios of typical errors are averaged over the seeds in
             the logarithm, with two standard errors on both sides; ours is further off where the lower bound is above 1
             and the ratio above the margin, 1.05
"""

import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Any

import numpy as np

from numeric.verification.agreement.ulp import UlpErrors, errors_in_ulp
from tests.benchmarks.accuracy_libraries import LIBRARIES
from tests.benchmarks.accuracy_peers import PEERS, peer
from tests.benchmarks.accuracy_situations import Situation, situations
from tests.numeric.routes import function_of

__all__ = ["MARGIN", "OURS", "Comparison", "compared", "errors", "rows"]

OURS = {"prepared": "ours", "compiled": "ours, line by line"}
SEEDS = {"transformer": 3, "transformer_loss": 3, "decoder": 3, "encoder": 4, "decoder_layer": 4}
COUNT = 6  # seeds of the other layers
MARGIN = 1.05  # a typical error that is so many times as large is none that anybody would notice
HALF = 0.5  # no float32 number is closer
Implementation = Callable[[Situation, Mapping[str, Any]], Any]


def _of_route(route: str) -> Implementation:
    def run(situation: Situation, arguments: Mapping[str, Any]) -> Any:
        function, inputs = function_of(route, situation.layer, arguments)
        return function(*inputs)

    return run


def _of_library(library: str) -> Implementation:
    return lambda situation, arguments: peer(library, situation.layer_name, arguments)


IMPLEMENTATIONS: Mapping[str, Implementation] = {
    **{name: _of_route(route) for route, name in OURS.items()},
    **{library: _of_library(library) for library in LIBRARIES},
}


def errors(
    situation: Situation,
    seeds: Sequence[int],
    implementations: Mapping[str, Implementation] = IMPLEMENTATIONS,
) -> dict[str, list[UlpErrors]]:
    """Return the errors of every implementation, for each seed."""
    found: dict[str, list[UlpErrors]] = {name: [] for name in implementations}
    for seed in seeds:
        arguments = situation.arguments(seed)
        exact = situation.exact(arguments)
        for name, run in implementations.items():
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = np.asarray(run(situation, arguments)).astype(np.float32)
            found[name].append(errors_in_ulp(result.reshape(exact.shape), exact))
    return found


@dataclass(frozen=True)
class Comparison:
    """The typical error of one implementation over that of the worse of others, on the same numbers.

    Result       `ratio`, and `low` to `high`: two standard errors on both sides, over the seeds
    """

    ratio: float
    low: float
    high: float
    rounded: bool  # no error above half a unit: nothing is closer

    @property
    def verdict(self) -> str:
        """What that says of the implementation."""
        if self.rounded:
            return "rounded correctly"
        if self.low > 1 and self.ratio > MARGIN:
            return "further off"
        return "closer" if self.high < 1 else "as close"

    def __str__(self) -> str:
        """Return the ratio and its bounds."""
        return f"{self.ratio:.2f} ({self.low:.2f} - {self.high:.2f})"


def compared(ours: Sequence[UlpErrors], others: Sequence[Sequence[UlpErrors]]) -> Comparison:
    """Return how the errors of one implementation compare with those of the worse of others, seed by seed."""
    rounded = all(each.largest_by_row <= HALF for each in ours)
    logarithms = []
    for mine, *theirs in zip(ours, *others, strict=True):
        worst = max(each.typical_by_row for each in theirs)
        if mine.typical_by_row == worst:
            logarithms.append(0.0)
        else:
            logarithms.append(_logarithm(mine.typical_by_row) - _logarithm(worst))
    mean = fmean(logarithms)
    error = stdev(logarithms) / math.sqrt(len(logarithms)) if len(logarithms) > 1 else math.inf
    low, high = mean - 2 * error, mean + 2 * error
    return Comparison(math.exp(mean), math.exp(low), math.exp(min(high, 700.0)), rounded)


def _logarithm(error: float) -> float:
    """Return log(error); an exact result and one that is no number count as very small and very large errors."""
    return math.log(min(max(error, 1e-12), 1e12))


def rows(names: Sequence[str] = tuple(PEERS)) -> list[dict[str, str]]:
    """Return the table of all layers and situations, a row for each; progress goes to standard error."""
    return list(_rows(names))


def _rows(names: Sequence[str]) -> Iterator[dict[str, str]]:
    for situation in situations(tuple(names)):
        print(f"accuracy: {situation.layer_name}, {situation.name}", file=sys.stderr)
        found = errors(situation, range(SEEDS.get(situation.layer_name, COUNT)))
        comparison = compared(found["ours"], [found[library] for library in LIBRARIES])
        yield {
            "layer": situation.layer_name,
            "situation": situation.name,
            **{name: _typical_and_largest(each) for name, each in found.items()},
            "ours / worse peer": str(comparison),
            "ours is": comparison.verdict,
            "by entry, median: ours, torch, jax": ", ".join(
                _short(median(each.median_by_entry for each in found[name])) for name in ("ours", *LIBRARIES)
            ),
        }


def _typical_and_largest(found: Sequence[UlpErrors]) -> str:
    if any(np.isinf(each.by_row).any() for each in found):
        return "NaN"
    typical = math.sqrt(fmean(each.typical_by_row**2 for each in found))
    return f"{_short(typical)} ({_short(max(each.largest_by_row for each in found))})"


def _short(value: float) -> str:
    """Return a number to two digits; what no float32 result shows is 0."""
    return "0" if value < 1e-4 else f"{value:.2g}" if value < 100 else f"{value:,.0f}"
