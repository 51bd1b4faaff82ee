"""The kinds of numbers on which a function under test is called.

Definition   a `Kind` determines how real inputs are computed from normal numbers, and which keys the masks hide
Result       ordinary        normal numbers; every row of a mask has a visible key
             hidden          the first row of every mask has no visible key
             extreme         30 or 1000 times larger: exp of a score overflows unless the maximum is subtracted first
             huge, tiny      beyond the range where a function may clip or round to zero; huge only where no softmax
                             turns numbers into exponents: a million squared is more than the 1e9 that often hides a key
             shifted         a large mean with a small spread: E x^2 - (E x)^2 cancels
             equal           one number everywhere: the variance is 0
             flat            a first row of zeros, a second of one number
             zero            zeros
             rising, falling 1000 times larger at the end, or the beginning, of every axis than at its other end: the
                             maximum over a part of an axis is not the maximum of the axis
             peak            one entry of every row, anywhere, is 1000 times larger
             triangular, all visible, one visible, none visible    masks; with one visible key, scores are large
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["KINDS", "Kind", "Pattern"]

Pattern = Callable[[Any], Any]
Mask = Callable[[Any, Any], Any]


def _as_drawn(numbers: Any) -> Any:
    return numbers


def _one_number(numbers: Any) -> Any:
    return np.broadcast_to(numbers.reshape(-1)[:1], numbers.shape).copy()


def _flat_rows(numbers: Any) -> Any:
    """Return the numbers with a first row of zeros, and a second row that repeats its first number."""
    rows = numbers.copy()
    if rows.ndim > 1:
        rows[..., :1, :] = 0
        rows[..., 1:2, :] = rows[..., 1:2, :1]
    return rows


def _rising(numbers: Any) -> Any:
    """Return the numbers times (i + 1)/n along each of their last two axes."""
    for axis in range(-min(numbers.ndim, 2), 0):
        n = numbers.shape[axis]
        numbers = numbers * np.reshape(np.arange(1, n + 1) / max(n, 1), (-1, *(1,) * (-axis - 1)))
    return numbers


def _falling(numbers: Any) -> Any:
    """Return the numbers times (n - i)/n along each of their last two axes."""
    last = (slice(None, None, -1),) * min(numbers.ndim, 2)
    return _rising(numbers[(..., *last)])[(..., *last)]


def _peak(numbers: Any) -> Any:
    """Return the numbers divided by 1000, except one in each row, at a position computed from the first number."""
    n = numbers.shape[-1] if numbers.ndim else 1
    if not numbers.size or not numbers.ndim:
        return numbers
    place = (np.abs(numbers[..., :1]) * 1e6).astype(np.int64) % n
    return np.where(np.arange(n) == place, np.abs(numbers) + 1, numbers / 1000)


def _some(shape: Any, rng: Any) -> Any:
    """Return a mask with seven in ten keys visible, and at least one in every row."""
    mask = rng.random(shape) < 0.7
    mask[..., 0] |= ~mask.any(axis=-1)
    return mask


def _first_row_hidden(shape: Any, rng: Any) -> Any:
    mask = _some(shape, rng)
    mask[..., 0, :] = False
    return mask


def _triangle(shape: Any, rng: Any) -> Any:
    return np.broadcast_to(np.tri(*shape[-2:]) > 0, shape).copy()


def _one(shape: Any, rng: Any) -> Any:
    return np.arange(shape[-1]) == rng.integers(shape[-1], size=(*shape[:-1], 1))


@dataclass(frozen=True)
class Kind:
    """How numbers are drawn; `usual` ones satisfy the assumptions of `numeric.verification.agreement.rounding`."""

    scale: float = 1.0
    shift: float = 0.0
    pattern: Pattern = _as_drawn
    mask: Mask = _some
    usual: bool = False

    def real(self, normal: Any) -> Any:
        """Return real inputs from normal numbers."""
        return self.pattern(normal) * self.scale + self.shift


KINDS: dict[str, Kind] = {
    "ordinary": Kind(usual=True),
    "hidden": Kind(mask=_first_row_hidden, usual=True),
    "extreme 30": Kind(scale=30.0),
    "extreme 1000": Kind(scale=1000.0),
    "huge": Kind(scale=2.0**20),
    "tiny": Kind(scale=2.0**-30),
    "shifted": Kind(shift=1e4),
    "equal": Kind(pattern=_one_number, scale=100.0),
    "flat": Kind(pattern=_flat_rows),
    "zero": Kind(scale=0.0),
    "rising": Kind(scale=1000.0, pattern=_rising),
    "falling": Kind(scale=1000.0, pattern=_falling),
    "peak": Kind(scale=1000.0, pattern=_peak),
    "triangular": Kind(mask=_triangle),
    "all visible": Kind(mask=lambda shape, rng: np.ones(shape, dtype=bool)),
    "one visible": Kind(scale=1000.0, mask=_one),
    "none visible": Kind(mask=lambda shape, rng: np.zeros(shape, dtype=bool)),
}
