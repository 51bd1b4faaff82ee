r"""Entropies without their sign and perplexities without their exponential are wrong; others are left alone."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last

LACKING = [
    ("", r"H(p) = \sum_i p_i \log p_i"),
    ("", r"H(q) = \sum_{x} q(x) \ln q(x)"),
    ("", r"H(p) = p \log p + (1 - p) \log(1 - p)"),
    ("", r"H(p, q) = \sum_i p_i \log q_i"),
    ("The cross-entropy loss is", r"L = \sum_i y_i \log p_i"),
    ("The cross-entropy over a batch is", r"\mathcal{L} = \frac{1}{N} \sum_n \sum_c y_{nc} \log \hat{y}_{nc}"),
    ("We minimise the cross-entropy", r"\mathcal{L} = \frac{1}{T} \sum_{t=1}^{T} \log p(w_t \mid w_{<t})"),
    ("损失为交叉熵", r"L = \sum_i y_i \log p_i"),
    ("", r"\text{PPL} = L"),
    ("", r"\text{PPL} = 2 L"),
    ("", r"\text{Perplexity} = \mathcal{L}"),
    ("", r"\text{PPL} = -\frac{1}{T} \sum_{t} \log p(x_t \mid x_{<t})"),
]
LEFT_ALONE = [
    ("", r"H(p) = -\sum_i p_i \log p_i"),
    ("", r"H(p) = \sum_i p_i \log \frac{1}{p_i}"),
    ("", r"H(p) = \log n"),
    ("", r"H(p, q) = -\sum_i p_i \log q_i"),
    ("", r"H(p, q) = \sum_i q_i \log p_i"),  # of other letters
    ("The negative entropy is", r"H(p) = \sum_i p_i \log p_i"),
    ("", r"S = \sum_i p_i \log p_i"),
    ("The log-likelihood is", r"L = \sum_i y_i \log p_i"),
    ("The cross-entropy is the negative of", r"L = \sum_i y_i \log p_i"),
    ("The cross-entropy loss is", r"L = -\sum_i y_i \log p_i"),
    ("The cross-entropy loss is", r"L = \sum_i y_i \ell_i"),
    ("", r"\text{PPL} = e^{L}"),
    ("", r"\text{PPL} = \exp\left(-\frac{1}{T} \sum_{t} \log p(x_t \mid x_{<t})\right)"),
    ("", r"\text{PPL} = 2^{-\frac{1}{T} \sum_{t} \log_2 p(x_t \mid x_{<t})}"),
    ("", r"\log \text{PPL} = -\frac{1}{T} \sum_{t} \log p(x_t \mid x_{<t})"),
    ("", r"\text{PPL} = \left(\prod_{t} \frac{1}{p(x_t \mid x_{<t})}\right)^{1/T}"),
    ("", r"\text{PPL} = 2^{L}"),
    ("", r"\log \text{PPL} = L"),
    ("", r"\text{PPL} = 20.1"),
    ("Let $L = \\exp(H(p, q))$.", r"\text{PPL} = L"),
]


@pytest.mark.parametrize(("before", "formula"), LACKING)
def test_what_lacks_its_sign_or_its_exponential_is_wrong(before: str, formula: str) -> None:
    """The formula with it is shown."""
    found = last(formula, before)
    assert found.verdict == "wrong"
    assert "missing" in found.reason
    assert found.right is not None


@pytest.mark.parametrize(("before", "formula"), LEFT_ALONE)
def test_other_sums_and_other_measures_are_left_alone(before: str, formula: str) -> None:
    assert last(formula, before).verdict != "wrong"
