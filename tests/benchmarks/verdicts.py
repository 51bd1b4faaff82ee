"""What figures say: medians, quartiles, ratios taken round by round, a verdict, the line through points.

Definition   a ratio is formed within each round; then come its median and quartiles over the rounds
Result       `faster` where the upper quartile of ours / peer is below 1, `slower` where the lower one is above 1,
             `within the spread` otherwise
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["OURS", "PEER", "SHOWN", "Spread", "fastest", "line_through", "paired", "spread", "verdict"]

OURS, PEER, SHOWN = "ours", "peer", "shown"  # what is shown is measured beside the others, and not raced against
Seconds = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Spread:
    """The median and the quartiles of several figures."""

    median: float
    low: float
    high: float


def spread(figures: Sequence[float]) -> Spread:
    """Return the median and the quartiles; of one figure, that figure."""
    if len(figures) < 2:
        return Spread(*[*figures] * 3)
    low, median, high = statistics.quantiles(figures, n=4, method="inclusive")
    return Spread(median, low, high)


def paired(seconds: Seconds, one: str, other: str) -> Spread:
    """Return the ratio of two contestants, taken within each round."""
    return spread([a / b for a, b in zip(seconds[one], seconds[other], strict=True)])


def fastest(seconds: Seconds, roles: Mapping[str, str]) -> str:
    """Return the peer with the smallest median."""
    peers = [name for name in seconds if roles[name] == PEER]
    return min(peers, key=lambda name: statistics.median(seconds[name]))


def verdict(ratio: Spread) -> str:
    """Return what a ratio of ours to a peer says."""
    if ratio.high < 1:
        return "faster"
    return "slower" if ratio.low > 1 else "within the spread"


def line_through(lengths: Sequence[int], peaks: Sequence[float]) -> tuple[float, float, float]:
    """Return slope and intercept of the least-squares line, and the largest distance from it as a share of its value.

    Units        bytes per position, bytes, 1
    """
    slope, intercept = statistics.linear_regression(lengths, peaks)
    off = [abs(peak / (slope * n + intercept) - 1) for n, peak in zip(lengths, peaks, strict=True)]
    return slope, intercept, max(off)
