"""Moments of the dot product hold for every seed and distribution; wrong ones are refused at the same samples."""

from dataclasses import replace

import numpy as np
import pytest

from derivations.attention import dot_product
from derivations.language.results.derivation import claim, step
from derivations.symbols import d_k
from numeric.verification.agreement.moments import (
    DISTRIBUTIONS,
    SAMPLES,
    SEEDS,
    WIDTH,
    moment_checks,
    rejections,
    sample,
    z_of_mean,
    z_of_variance,
)

DRAWS = [(name, seed) for name in DISTRIBUTIONS for seed in SEEDS]


def test_there_are_20_seeds_and_three_distributions_of_mean_0_and_variance_1():
    assert len(SEEDS) == 20
    assert len(DISTRIBUTIONS) == 3
    for draw in DISTRIBUTIONS.values():
        numbers = draw(np.random.default_rng(7), (100_000,))
        assert abs(numbers.mean()) < 0.02
        assert abs(numbers.var() - 1) < 0.02


def test_the_stated_moments_hold():
    checks = list(moment_checks([dot_product.mean(), dot_product.variance(), dot_product.scaled_variance()]))
    assert [check.name for check in checks] == [
        "dot_product.mean",
        "dot_product.variance",
        "dot_product.scaled_variance",
    ]
    for check in checks:
        assert check.passed, check


@pytest.mark.parametrize("wrong", [d_k**2, d_k / 2, d_k + 1, 1.1 * d_k])
def test_a_wrong_variance_is_refused(wrong):
    stated = dot_product.variance()
    restated = replace(stated, claims=(claim(stated.lhs, step("algebra", wrong)),))
    (check,) = moment_checks([restated])
    assert not check.passed


@pytest.mark.parametrize(("name", "seed"), DRAWS)
def test_every_sample_accepts_d_k_and_refuses_its_square_and_its_half(name, seed):
    samples = sample(name, seed)
    assert samples.shape == (SAMPLES,)
    assert abs(z_of_variance(samples, WIDTH)) < 5
    assert abs(z_of_mean(samples, 0)) < 5
    assert abs(z_of_variance(samples, WIDTH**2)) > 5
    assert abs(z_of_variance(samples, WIDTH / 2)) > 5


def test_the_wrong_variances_are_told_apart():
    for check in rejections():
        assert check.passed, check


def test_a_true_variance_among_the_wrong_ones_is_noticed():
    """Were sqrt(d_k) the variance, its square would be the true one: it is not refused, and the check says so."""
    square, half = rejections(d_k**0.5)
    assert not square.passed
    assert half.passed


def test_a_bias_of_a_tenth_is_refused():
    samples = sample("normal", 0)
    assert abs(z_of_mean(samples + 0.2, 0)) > 5
    assert abs(z_of_mean(samples, 0)) < 5
