"""A finite filler that is added to scores is a mask, however it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from derivations.catalogue import layer
from derivations.language.arrays.expression import mask_array
from derivations.symbols import m, n
from numeric.lifting import NotFollowed, lift, prove
from tests.tiers import few

MASKED = "masked_scaled_dot_product_attention"


def attention(scores: Any, v: Any) -> Any:
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


def scaled(q: Any, k: Any) -> Any:
    return q @ k.T / np.sqrt(q.shape[-1])


RIGHT: tuple[Callable[..., Any], ...] = (
    lambda q, k, v, mask: attention(scaled(q, k) + (1 - mask) * -1e9, v),
    lambda q, k, v, mask: attention(scaled(q, k) - (1 - mask) * 1e9, v),
    lambda q, k, v, mask: attention(scaled(q, k) + (mask * 1e9 - 1e9), v),
    lambda q, k, v, mask: attention(-10000.0 * (1.0 - mask) + scaled(q, k), v),
)
WRONG: tuple[Callable[..., Any], ...] = (
    lambda q, k, v, mask: attention(scaled(q, k) + (1 - mask) * -1.0, v),  # too small to hide
    lambda q, k, v, mask: attention(scaled(q, k) + (1 - mask) * 1e2, v),  # the wrong sign
    lambda q, k, v, mask: attention(scaled(q, k) + (mask - 1) * -1e9, v),  # shows what is hidden
)


@pytest.mark.parametrize("function", RIGHT)
def test_an_added_filler_is_a_mask(function: Callable[..., Any]) -> None:
    verdict = prove(function, layer(MASKED))
    assert verdict.level == "proved", str(verdict)
    assert any("as minus infinity" in reading for reading in verdict.readings)


@pytest.mark.parametrize("function", few(WRONG, fast=1))
def test_other_numbers_are_no_filler(function: Callable[..., Any]) -> None:
    verdict = prove(function, layer(MASKED))
    assert verdict.level == "refuted", str(verdict)
    assert not any("as minus infinity" in reading for reading in verdict.readings)


def test_a_hidden_array_is_no_result() -> None:
    """Beside exp and softmax, minus infinity stands for no real number."""
    with pytest.raises(NotFollowed, match="minus infinity may stand in the result"):
        lift(lambda x, mask: x + (1 - mask) * -1e9, (n, m), mask_array("mask", n, m))


def test_a_maximum_along_two_axes_is_one_of_maxima() -> None:
    lifted = lift(lambda x: np.exp(x - x.max(axis=(0, 1))), (n, m))
    assert "max_j max_p x_jp" in lifted.layer.text()
