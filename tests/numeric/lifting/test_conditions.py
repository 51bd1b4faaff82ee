"""What a division needs is printed with the proof: sizes that are not 1, rows of masks that show an entry."""

from typing import Any

import numpy as np
import pytest
from sympy import Symbol

from derivations.catalogue import layers
from derivations.symbols import d, n
from numeric.lifting.proving import prove, prove_same

MASKED = "masked_scaled_dot_product_attention"
p = Symbol("p", integer=True, positive=True)


def by_library(X: Any) -> Any:
    return X.var(axis=-1, ddof=1)


def by_hand(X: Any) -> Any:
    c = X - X.mean(-1, keepdims=True)
    return (c * c).sum(-1) / (X.shape[-1] - 1)


def by_moments(X: Any) -> Any:
    size = X.shape[-1]
    return ((X * X).mean(-1) - X.mean(-1) ** 2) * size / (size - 1)


@pytest.mark.parametrize("other", [by_hand, by_moments])
def test_a_variance_of_a_sample_needs_two_entries(other: Any) -> None:
    verdict = prove_same(by_library, other, X=(n, d))
    assert verdict.qualified == "proved (real arithmetic, all sizes >= 1; if d != 1)"


def test_what_no_division_needs_is_not_assumed() -> None:
    def other(X: Any) -> Any:
        return ((X - X.mean(-1, keepdims=True)) ** 2).sum(-1) / X.shape[-1]

    assert prove_same(other, lambda X: X.var(-1), X=(n, d)).qualified == "proved (real arithmetic, all sizes >= 1)"


@pytest.mark.parametrize("less", [0, 2])
def test_another_divisor_is_refuted_with_two_numbers(less: int) -> None:
    def wrong(X: Any) -> Any:
        c = X - X.mean(-1, keepdims=True)
        return (c * c).sum(-1) / (X.shape[-1] - less)

    verdict = prove_same(wrong, by_library, X=(n, d))
    assert verdict.level == "refuted"
    assert np.isfinite([verdict.counterexample.left, verdict.counterexample.right]).all()


def _attention(weights: Any) -> Any:
    def attention(Q: Any, K: Any, V: Any, M: Any) -> Any:
        return weights(Q @ K.T / np.sqrt(Q.shape[-1]), M) @ V

    return attention


def filled(S: Any, M: Any) -> Any:
    P = np.exp(np.where(M, S, -np.inf))
    return P / P.sum(-1, keepdims=True)


def multiplied(S: Any, M: Any) -> Any:
    P = np.exp(S) * M
    return P / P.sum(-1, keepdims=True)


@pytest.mark.parametrize("weights", [filled, multiplied])
def test_a_masked_softmax_without_a_maximum(weights: Any) -> None:
    verdict = prove(_attention(weights), layers()[MASKED])
    assert verdict.qualified == "proved (real arithmetic, all sizes >= 1; where every row of M shows an entry)"


def unmasked_sum(S: Any, M: Any) -> Any:
    return np.exp(S) * M / np.exp(S).sum(-1, keepdims=True)


def mask_of_scores(S: Any, M: Any) -> Any:
    P = np.exp(S * M)  # a hidden score of 0 has the weight 1
    return P / P.sum(-1, keepdims=True)


def inverted(S: Any, M: Any) -> Any:
    P = np.exp(np.where(M, -np.inf, S))
    return P / P.sum(-1, keepdims=True)


@pytest.mark.parametrize("weights", [unmasked_sum, mask_of_scores, inverted])
def test_a_mask_that_is_used_wrongly_is_not_proved(weights: Any) -> None:
    assert prove(_attention(weights), layers()[MASKED]).level == "refuted"


def whole(X: Any) -> Any:
    return np.exp(X) / np.exp(X).sum(-1, keepdims=True)


def in_halves(X: Any) -> Any:
    half = X.shape[-1] // 2
    return np.exp(X) / (np.exp(X[:, :half]).sum(-1, keepdims=True) + np.exp(X[:, half:]).sum(-1, keepdims=True))


def in_pairs(X: Any) -> Any:
    return np.exp(X) / (np.exp(X[:, ::2]).sum(-1, keepdims=True) + np.exp(X[:, 1::2]).sum(-1, keepdims=True))


def one_half(X: Any) -> Any:
    return np.exp(X) / (2 * np.exp(X[:, ::2]).sum(-1, keepdims=True))


def test_sums_by_halves_and_by_pairs() -> None:
    assert prove_same(whole, in_halves, X=(n, 2 * p)).level == "proved"
    assert prove_same(whole, in_pairs, X=(n, 2 * p)).level == "proved"
    assert prove_same(whole, one_half, X=(n, 2 * p)).level == "refuted"


def test_a_layer_says_nothing_where_it_has_no_value() -> None:
    verdict = prove(lambda X, D, rate: X * D / (1 - rate), layers()["dropout"])
    assert verdict.qualified.endswith("(real arithmetic, all sizes >= 1; if rate != 1)")


def test_a_divisor_that_the_layer_does_not_have_is_not_assumed_away() -> None:
    verdict = prove(lambda X, W, b: (X @ W + b) * X.sum() / X.sum(), layers()["linear"])
    assert verdict.level == "unknown", verdict.explain()


def by_norms(A: Any, B: Any) -> Any:
    return A / np.linalg.norm(A, axis=1, keepdims=True) @ (B / np.linalg.norm(B, axis=1, keepdims=True)).T


def by_one_divisor(A: Any, B: Any) -> Any:
    return A @ B.T / np.outer(np.sqrt((A**2).sum(1)), np.sqrt((B**2).sum(1)))


def by_the_norms_of_one(A: Any, B: Any) -> Any:
    return A @ B.T / np.outer(np.sqrt((A**2).sum(1)), np.sqrt((A**2).sum(1)))


def test_a_product_is_not_0_where_no_factor_is() -> None:
    """One function divides by two norms, the other one by their product: both conditions are said of each."""
    verdict = prove_same(by_norms, by_one_divisor, A=(n, d), B=(p, d))
    assert verdict.level == "proved", str(verdict)
    assert str(verdict).count("where") == 2
    assert prove_same(by_norms, by_the_norms_of_one, A=(n, d), B=(n, d)).level == "refuted"


def probabilities(x: Any) -> Any:
    e = np.exp(x)
    return e / e.sum()


def by_divergences(x: Any, y: Any) -> Any:
    P, Q = probabilities(x), probabilities(y)
    M = (P + Q) / 2
    return (P * (np.log(P) - np.log(M))).sum() / 2 + (Q * (np.log(Q) - np.log(M))).sum() / 2


def by_entropies(x: Any, y: Any, of_second: float = 0.5) -> Any:
    P, Q = probabilities(x), probabilities(y)
    M = (P + Q) / 2
    return (P * np.log(P)).sum() / 2 + of_second * (Q * np.log(Q)).sum() - (M * np.log(M)).sum()


def test_definitions_behind_a_divisor_are_read_again() -> None:
    """Both share their probabilities; that these are positive follows from what they are computed from."""
    assert prove_same(by_divergences, by_entropies, x=(n,), y=(n,)).level == "proved"
    wrong = prove_same(by_divergences, lambda x, y: by_entropies(x, y, 0.25), x=(n,), y=(n,))
    assert wrong.level == "refuted", str(wrong)


@pytest.mark.parametrize(
    ("hidden", "level"),
    [
        (lambda i, j: j > i, "proved"),
        (lambda i, j: j - i >= 1, "proved"),
        (np.not_equal, "proved"),
        (lambda i, j: j >= i, "not followed"),  # of row 0 there is no largest entry
    ],
)
def test_a_mask_of_positions_that_shows_each_row_its_own_entry_needs_no_condition(hidden, level):
    """Where row i sees entry i, by the formula of the mask alone."""

    def masked(s):
        i, j = np.arange(s.shape[0])[:, None], np.arange(s.shape[1])[None, :]
        return np.where(hidden(i, j), -np.inf, s)

    def softmax(s):
        powers = np.exp(masked(s))
        return powers / powers.sum(-1, keepdims=True)

    def shifted(s):
        z = masked(s)
        powers = np.exp(z - z.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    verdict = prove_same(softmax, shifted, s=(n, n))
    assert verdict.level == level
    assert level != "proved" or verdict.qualified == "proved (real arithmetic, all sizes >= 1)"
