"""The result of a cross-check: a measured number, its bound, and whether the number is within the bound.

Assumes      a bound is fixed before the measurement; NaN passes no check
"""

from dataclasses import dataclass

__all__ = ["Agreement", "Check"]


@dataclass(frozen=True)
class Agreement:
    """A compiled layer against an independent computation of the same numbers, at given sizes and number type.

    Units        `error_ulp` and `bound` count units in the last place of the largest value of a row, the worst row
    """

    layer: str
    sizes: tuple[tuple[str, int], ...]
    dtype: str
    error_ulp: float
    bound: float

    @property
    def passed(self) -> bool:
        """Whether the error is within the bound; NaN is not."""
        return self.error_ulp <= self.bound

    def __str__(self) -> str:
        """Return one line that names the layer, its sizes and the error."""
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes)
        verdict = "agrees" if self.passed else "DISAGREES"
        return f"{self.layer} ({sizes}; {self.dtype}) {verdict}: {self.error_ulp:.3g} ULP of {self.bound:.3g}"


@dataclass(frozen=True)
class Check:
    """A derived property of compiled layers: |measured| must not exceed the bound."""

    name: str
    measured: float
    bound: float
    what: str = ""

    @property
    def passed(self) -> bool:
        """Whether the number is within its bound; NaN is not."""
        return abs(self.measured) <= self.bound

    def __str__(self) -> str:
        """Return one line that names the property and the number."""
        verdict = "holds" if self.passed else "FAILS"
        return f"{self.name} {verdict}: {self.measured:.3g} of {self.bound:.3g} {self.what}".rstrip()
