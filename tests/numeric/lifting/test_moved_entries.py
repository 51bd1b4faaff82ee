"""Functions of NumPy that move, repeat or measure entries: equal to what they are, and not to a slip beside it."""

import numpy as np
import pytest

from derivations.symbols import d, n
from numeric.lifting import NotFollowed, lift, prove_same


@pytest.mark.parametrize(
    ("function", "right", "wrong"),
    [
        (lambda x: np.roll(x, 1, 0), lambda x: np.concatenate([x[-1:], x[:-1]]), lambda x: np.roll(x, 1, 1)),
        (lambda x: x[::-1], lambda x: np.flip(np.flip(x), 1), lambda x: np.flip(x)),
        (lambda x: np.tile(x, 2), lambda x: np.concatenate([x, x], 1), lambda x: np.repeat(x, 2, 1)),
        (
            lambda x: np.pad(x, ((1, 0), (0, 0))),
            lambda x: np.concatenate([np.zeros((1, x.shape[1])), x]),
            lambda x: np.concatenate([x, np.zeros((1, x.shape[1]))]),
        ),
        (lambda x: np.cumsum(x, 0), lambda x: np.tri(x.shape[0]) @ x, lambda x: np.tri(x.shape[0]).T @ x),
        (
            lambda x: np.linalg.norm(x, 4, axis=-1),
            lambda x: np.sqrt(np.sqrt((x**4).sum(-1))),
            lambda x: np.sqrt((x**4).sum(-1)),
        ),
        (
            lambda x: np.linalg.norm(x, np.inf, axis=-1),
            lambda x: -np.min(-np.abs(x), -1),
            lambda x: np.max(x, -1),
        ),
        (
            lambda x: np.logaddexp2(x, 0.0),
            lambda x: np.log2(np.exp2(x) + 1),
            lambda x: np.log(np.exp2(x) + 1),
        ),
        (lambda x: np.sign(x) * x, lambda x: np.abs(x), lambda x: np.sign(x) + x),
        (lambda x: np.where(x == 1, 2.0, x), lambda x: np.where(x != 1, x, 2.0), lambda x: np.where(x == 1, x, 2.0)),
    ],
)
def test_what_a_function_is(function, right, wrong):
    assert prove_same(function, right, x=(n, d)).level == "proved"
    assert prove_same(function, wrong, x=(n, d)).level == "refuted"


@pytest.mark.parametrize(
    ("function", "because"),
    [
        (lambda x: np.roll(x, 1), "of all entries"),
        (lambda x: np.pad(x, 1, mode="linear_ramp"), "linear_ramp"),
        (lambda x: np.linalg.norm(x, 2.5, axis=-1), "order 5/2"),
        (lambda x: np.diff(x, out=x), ""),
        (lambda x: np.cumsum(x), "over all axes"),
        (lambda x: np.median(x, axis=0), "median"),
    ],
)
def test_what_is_refused(function, because):
    with pytest.raises((NotFollowed, TypeError), match=because or None):
        lift(function, x=(n, d))


def test_a_constant_of_single_precision_is_read_as_the_decimal():
    """Constants of code in C++ are such: 1e-12f is 9.999999960041972e-13."""
    verdict = prove_same(lambda x: x + float(np.float32(0.1)), lambda x: x + 0.1, x=(n,))
    assert verdict.level == "proved"
    assert "reading 0.10000000149011612 as 0.1, whose float32 it is" in verdict.qualified
    assert prove_same(lambda x: x + 0.10000001, lambda x: x + 0.1, x=(n,)).level != "proved"


def test_the_root_of_a_long_decimal_is_taken_of_its_primes():
    """1e-12 squared is 1 / (2^24 5^24)."""
    same = prove_same(lambda x: np.sqrt(1e-24 * (x * x + 1)), lambda x: 1e-12 * np.sqrt(x * x + 1), x=(n,))
    assert same.level == "proved"
    assert prove_same(lambda x: np.sqrt(1e-24 * (x * x + 1)), lambda x: 1e-11 * np.sqrt(x * x + 1), x=(n,)).level != (
        "proved"
    )
