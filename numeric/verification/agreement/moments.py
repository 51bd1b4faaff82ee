r"""Moments of the dot product, against samples.

Definition   z = (s - claimed) / e, with s the mean or the variance of N = 20,000 samples and e its standard error:
             sqrt(s^2 / N) for the mean, sqrt((m_4 - s^4) / N) for the variance, m_4 the fourth central moment
Result       |z| < 5 at the claimed value for 20 seeds and three distributions; with d_k^2 or d_k / 2 in the place of
             the variance d_k, |z| > 5 on the same samples
Assumes      components independent, of mean 0 and variance 1: normal, uniform on (-sqrt 3, sqrt 3), or a fair sign
Source       the moments of the dot product: Vaswani et al. (2017), footnote 4; the error of a sample variance: Cramer
             (1946), "Mathematical Methods of Statistics", section 27.4

At |z| = 5 a true value is refused once in 1.7 million draws; the seeds are fixed, so that the result never varies.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
from sympy import Expr

from derivations.attention.attention import scaled_dot_product_attention
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import Derivation
from derivations.symbols import d_k
from numeric.codegen.compile import compile_layer
from numeric.verification.agreement.report import Check

__all__ = ["DISTRIBUTIONS", "SEEDS", "WIDTH", "moment_checks", "rejections", "sample", "z_of_mean", "z_of_variance"]

SEEDS = range(20)
SAMPLES = 20_000
WIDTH = 11  # d_k
LARGEST_Z = 5.0
DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Any]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(-(3**0.5), 3**0.5, shape),
    "signs": lambda rng, shape: rng.integers(2, size=shape) * 2.0 - 1.0,
}
Draw = Callable[[str, int], Any]  # samples for a distribution and a seed


@cache
def sample(distribution: str, seed: int, scores: Layer | None = None) -> Any:
    """Return samples of q . k, or of the single score S of a compiled layer, for random q and k of width d_k.

    Shapes       (N,)
    """
    rng = np.random.default_rng([seed, *distribution.encode()])
    q, k = (DISTRIBUTIONS[distribution](rng, (SAMPLES, 1, WIDTH)) for _ in range(2))
    if scores is None:
        return (q * k).sum(axis=(-2, -1))
    return compile_layer(scores)(Q=q, K=k, V=k)[:, 0, 0]


def z_of_mean(samples: Any, claimed: float) -> float:
    """Return by how many standard errors the mean of samples differs from a claimed value."""
    return float((samples.mean() - claimed) / (samples.std() / len(samples) ** 0.5))


def z_of_variance(samples: Any, claimed: float) -> float:
    """Return by how many standard errors the variance of samples differs from a claimed value."""
    centred = samples - samples.mean()
    variance = (centred**2).mean()
    error = ((centred**4).mean() - variance**2) / len(samples)
    return float((variance - claimed) / error**0.5)


def largest_z(z: Callable[[Any, float], float], claimed: float, draw: Draw = sample) -> float:
    """Return the largest |z| over all seeds and distributions."""
    return max(abs(z(draw(name, seed), claimed)) for name in DISTRIBUTIONS for seed in SEEDS)


def smallest_z(z: Callable[[Any, float], float], claimed: float, draw: Draw = sample) -> float:
    """Return the smallest |z| over all seeds and distributions."""
    return min(abs(z(draw(name, seed), claimed)) for name in DISTRIBUTIONS for seed in SEEDS)


def moment_checks(derivations: Iterable[Derivation]) -> Iterator[Check]:
    """Yield the largest |z| of each moment of the dot product that the catalogue states and `MOMENTS` lists."""
    for derivation in derivations:
        if derivation.id in MOMENTS:
            z, draw = MOMENTS[derivation.id]
            claimed = float(derivation.rhs.subs(d_k, WIDTH))
            yield Check(derivation.id, largest_z(z, claimed, draw), LARGEST_Z, f"standard errors, d_k = {WIDTH}")


def rejections(variance: Expr = d_k) -> Iterator[Check]:
    """Yield how close the wrong variances d_k^2 and d_k / 2 are to being accepted: 5 / |z|, which must be below 1."""
    for wrong in (variance**2, variance / 2):
        nearest = smallest_z(z_of_variance, float(wrong.subs(d_k, WIDTH)))
        yield Check(f"variance {wrong} is refused", LARGEST_Z / nearest, 1.0, f"(5 / |z|, |z| >= {nearest:.3g})")


def _scores(distribution: str, seed: int) -> Any:
    return sample(distribution, seed, scaled_dot_product_attention().until("S"))


MOMENTS: dict[str, tuple[Callable[[Any, float], float], Draw]] = {
    "dot_product.mean": (z_of_mean, sample),
    "dot_product.variance": (z_of_variance, sample),
    "dot_product.scaled_variance": (z_of_variance, _scores),
}
