"""A function of the catalogue that was written by hand counts as the catalogue's, once it is proved to be one."""

from typing import Any

import numpy as np
import pytest
from sympy import Rational

from derivations.attention.attention import scaled_dot_product_attention
from derivations.language import count_flops
from derivations.language.arrays.expression import mask_array
from derivations.language.arrays.functions import RowSoftmax
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import d, d_k, d_v, h, m, n
from numeric.lifting import count_lifted, lift, recognise, recognition


def shifted(x: Any) -> Any:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def plain(x: Any) -> Any:
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def by_logarithm(x: Any) -> Any:
    return np.exp(x - np.log(np.exp(x).sum(-1, keepdims=True)))


@pytest.mark.parametrize("function", [shifted, plain, by_logarithm])
@pytest.mark.parametrize("shape", [(n, d), (h, n, m), (d,)])
def test_a_softmax_counts_as_one(function: Any, shape: Any) -> None:
    lifted = lift(function, x=shape)
    counted = count_lifted(lifted)
    assert counted.flops.total == counted.flops.softmax == 5 * np.prod(shape)
    assert counted.flops != count_flops(lifted.layer)
    assert counted.recognised == ("y as softmax(x)",)
    assert str(counted) == f"{counted.flops.total} flop; counting y as softmax(x), which is proved"


def test_attention_by_hand_counts_as_attention() -> None:
    def attention(Q: Any, K: Any, V: Any) -> Any:
        return shifted(Q @ K.T / np.sqrt(Q.shape[-1])) @ V

    counted = count_lifted(lift(attention, Q=(n, d_k), K=(m, d_k), V=(m, d_v)))
    assert counted.flops == count_flops(scaled_dot_product_attention())


def test_a_masked_softmax_says_what_it_needs() -> None:
    def masked(S: Any, M: Any) -> Any:
        powers = np.exp(np.where(M, S, -np.inf))
        return powers / powers.sum(-1, keepdims=True)

    counted = count_lifted(lift(masked, S=(n, m), M=mask_array("M", n, m)))
    assert counted.flops.total == 5 * n * m
    assert [condition.text for condition in counted.conditions] == ["every row of M shows an entry"]


def test_norms_count_as_norms() -> None:
    def layer(X: Any, g: Any, b: Any) -> Any:
        c = X - X.mean(-1, keepdims=True)
        return c / np.sqrt((c**2).mean(-1, keepdims=True) + 1e-5) * g + b

    def root(X: Any, g: Any) -> Any:
        return g * X / np.sqrt((X * X).sum(-1, keepdims=True) / X.shape[-1] + 1e-6)

    by_hand = count_lifted(lift(layer, X=(n, d), g=(d,), b=(d,)))
    assert by_hand.flops == count_flops(layer_norm(Rational(1, 10**5)))
    assert count_lifted(lift(root, X=(n, d), g=(d,))).flops == count_flops(rms_norm(Rational(1, 10**6)))


def test_the_logarithm_of_a_softmax_is_one() -> None:
    def by_hand(x: Any) -> Any:
        z = x - x.max(-1, keepdims=True)
        return z - np.log(np.exp(z).sum(-1, keepdims=True))

    counted = count_lifted(lift(by_hand, x=(n, d)))
    assert counted.flops.softmax == 4 * n * d + 2 * n
    assert counted.flops.total == 5 * n * d + 2 * n


def test_the_layer_with_names_has_the_values_of_the_function() -> None:
    named = recognise(lift(shifted, x=(n, d)))
    assert named.layer.equations[-1].value.has(RowSoftmax)
    assert "softmax" in named.latex()
    assert "writing y as softmax(x), which is proved" in str(named)


def wrong_axis(x: Any) -> Any:
    return np.exp(x) / np.exp(x).sum(0, keepdims=True)


def squared(x: Any) -> Any:
    return np.exp(x) / np.square(np.exp(x)).sum(-1, keepdims=True)


def with_epsilon(x: Any) -> Any:
    return np.exp(x) / (np.exp(x).sum(-1, keepdims=True) + 1e-12)


def from_powers_of_two(x: Any) -> Any:
    return 2.0**x / (2.0**x).sum(-1, keepdims=True)


@pytest.mark.parametrize("function", [wrong_axis, squared, with_epsilon, from_powers_of_two])
def test_what_is_no_softmax_counts_as_what_it_is(function: Any) -> None:
    lifted = lift(function, x=(n, d))
    counted = count_lifted(lifted)
    assert counted.recognised == ()
    assert counted.flops == count_flops(lifted.layer)


def test_numbers_that_agree_are_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every candidate looks right, the judge still says no."""
    monkeypatch.setattr(recognition, "_near", lambda one, other: True)
    monkeypatch.setattr(recognition, "disagreement", lambda *given: None)
    for function in (wrong_axis, squared, with_epsilon):
        assert recognise(lift(function, x=(n, d))).recognised == ()


def test_what_is_read_elsewhere_stays_and_counts() -> None:
    def both(x: Any) -> Any:
        powers = np.exp(x)
        return powers / powers.sum(-1, keepdims=True) + powers

    counted = count_lifted(lift(both, x=(n, d)))
    assert counted.flops.softmax == 5 * n * d
    assert counted.flops.total == 7 * n * d
