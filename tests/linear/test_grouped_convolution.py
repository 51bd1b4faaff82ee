"""Convolutions in groups: broken statements are refused, and one group is the convolution that has no groups."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Sum

from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from derivations.linear.grouped_convolution import (
    W,
    d,
    factor_of_normed_weights,
    gamma,
    grouped_convolution,
    grouped_costs,
    grouped_definition,
    grouped_gradient,
    groups,
    i,
    k,
    lengths_of_normed_weights,
    o,
    of_normed,
    plain,
    t,
    u,
    width,
)
from derivations.symbols import n
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

PADDED = plain.equation("P").variable


@pytest.mark.parametrize(
    "result", [factor_of_normed_weights, grouped_costs, grouped_gradient, lengths_of_normed_weights]
)
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == "proved"


def read(group: Basic, place: Basic) -> Sum:
    """An output that reads the columns of some group, from some row of the window on."""
    return Sum(PADDED[t + place, group * d + i] * W.entry(k, (u, i), o), (i, 0, d - 1), (u, 0, width - 1))


X = of_normed.inputs[0]
KERNEL = of_normed.until("K").result(X, W=W, gamma=gamma).entry(k, (u, i), o)
WRONG = [
    ("the columns of the first group", grouped_definition, 0, 0, read(0 * k, u)),
    ("the row after", grouped_definition, 0, 0, read(k, u + 1)),
    ("the length itself", lengths_of_normed_weights, 0, 0, gamma[u]),
    ("the factor kept", factor_of_normed_weights, 0, 0, 2 * KERNEL),
    ("every column read", grouped_costs, 0, 0, groups**2 * width * d**2 + groups * d),
    ("no lengths", grouped_costs, 1, 0, groups * width * d**2 + groups * d),
    ("one group", grouped_costs, 2, 0, 2 * n * width * d**2),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


RANDOM = np.random.default_rng(43)
GROUPS, COLUMNS, ROWS = 3, 2, 7
KERNELS, BIAS = RANDOM.normal(size=(GROUPS, 5, COLUMNS, COLUMNS)), RANDOM.normal(size=GROUPS * COLUMNS)
SEQUENCE, GAINS = RANDOM.normal(size=(ROWS, GROUPS * COLUMNS)), RANDOM.normal(size=5)


@pytest.mark.parametrize("before", [0, 2, 4])
def test_groups_are_a_kernel_with_zeros_between_them(before: int) -> None:
    whole = np.zeros((5, GROUPS * COLUMNS, GROUPS * COLUMNS))
    for group, kernel in enumerate(KERNELS):
        own = slice(COLUMNS * group, COLUMNS * (group + 1))
        whole[:, own, own] = kernel * (GAINS / np.sqrt((KERNELS**2).sum(axis=(0, 2, 3))))[:, None, None]
    padded = np.zeros((ROWS + 4, GROUPS * COLUMNS))
    padded[before : before + ROWS] = SEQUENCE
    expected = np.array([np.einsum("ui,uio->o", padded[t : t + 5], whole) + BIAS for t in range(ROWS)])
    weights = {"W": KERNELS.reshape(GROUPS, 5 * COLUMNS, COLUMNS), "gamma": GAINS, "b": BIAS}
    found = compile_layer(grouped_convolution(5, before, normed=True))(SEQUENCE, **weights)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_stored_weights_of_any_length_are_the_same_kernel() -> None:
    weights = {"gamma": GAINS, "b": BIAS}
    run = compile_layer(grouped_convolution(normed=True))
    long = RANDOM.uniform(1, 9, size=5)[:, None, None] * KERNELS
    one, other = (run(SEQUENCE, W=each.reshape(GROUPS, 5 * COLUMNS, COLUMNS), **weights) for each in (KERNELS, long))
    np.testing.assert_allclose(one, other, rtol=1e-12)
