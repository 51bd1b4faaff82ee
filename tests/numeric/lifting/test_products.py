"""Products along axes of symbolic sizes: sums of logarithms, where the factors are positive."""

from typing import Any

import numpy as np
import pytest

from derivations.symbols import d, n
from numeric.lifting.proving import prove_same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: np.exp(np.log(x).mean(-1)), lambda x: np.prod(x, axis=-1) ** (1 / x.shape[-1])),
        (lambda x: np.prod(x), lambda x: x.prod(0).prod()),
        (lambda x: np.cumprod(np.exp(x), axis=0), lambda x: np.exp(np.cumsum(x, axis=0))),
        (lambda x: np.prod(x**2), lambda x: np.prod(x) ** 2),
        (lambda x: np.prod(x * x, axis=1), lambda x: x.prod(1) * x.prod(axis=1)),
    ],
    ids=["geometric mean", "all entries", "running products", "squares", "products of products"],
)
def test_products_under_conditions(one: Any, other: Any) -> None:
    verdict = prove_same(one, other, x=(n, d))
    assert verdict.level == "proved", str(verdict)
    assert "> 0" in str(verdict)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: np.prod(np.abs(x)), lambda x: np.prod(x)),
        (lambda x: np.prod(-x), lambda x: np.prod(x)),
        (lambda x: np.prod(x + x), lambda x: np.prod(x) * 2),
        (lambda x: np.prod(x, axis=0), lambda x: np.prod(x[1:], axis=0)),
        (lambda x: np.cumprod(x, axis=0), lambda x: np.cumprod(x[::-1], axis=0)),
        (lambda x: np.prod(x), lambda x: np.exp(np.log(np.abs(x)).sum())),
    ],
    ids=["absolute values", "a sign", "a factor of each", "a part", "from the other end", "no sign"],
)
def test_conditions_of_a_formula_hide_no_difference(one: Any, other: Any) -> None:
    """A product has a value for factors of any sign: runs of both functions show where they differ."""
    assert prove_same(one, other, x=(n, d)).level == "refuted"
