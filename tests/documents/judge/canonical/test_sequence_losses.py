"""The loss of a language model: minus the logarithms of what its tokens are given, added or averaged."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last

LOSS = "The loss of the model is"


@pytest.mark.parametrize(
    "formula",
    [
        r"\mathcal{L} = -\frac{1}{T} \sum_{t=1}^T \log p_\theta(x_t \mid x_{<t})",
        r"L(\theta) = -\sum_{t=1}^T \log P(x_t \mid x_1, \ldots, x_{t-1}; \theta)",
        r"\mathcal{L}_{\text{NLL}} = -\frac{\sum_t \log p(y_t \mid y_{<t}, x)}{T}",
        r"J = \frac{1}{n} \sum_{i=1}^n -\log p(w_i \mid w_{<i})",
    ],
)
def test_losses_hold(formula: str) -> None:
    finding = last(formula)
    assert (finding.check, finding.verdict) == ("probability", "holds")


@pytest.mark.parametrize(
    ("formula", "word"),
    [
        (r"\mathcal{L} = \frac{1}{T} \sum_{t=1}^T \log p_\theta(x_t \mid x_{<t})", "minus"),
        (r"\mathcal{L} = -\sum_{t=1}^T p_\theta(x_t \mid x_{<t})", "logarithm"),
        (r"\mathcal{L} = -\frac{1}{T} \sum_{t=1}^T \log p_\theta(x_t \mid x_{\le t})", "itself"),
        (r"L = -\sum_{t=1}^T \log p(x_t \mid x_1, \ldots, x_t)", "itself"),
    ],
)
def test_slips_are_wrong(formula: str, word: str) -> None:
    finding = last(formula, LOSS)
    assert finding.verdict == "wrong"
    assert word in finding.reason


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        ("We maximise the log-likelihood.", r"L = \sum_{t=1}^T \log p(x_t \mid x_{<t})"),
        ("", r"L = \sum_{t=1}^T \log p(x_t \mid x_{<t})"),  # nothing says that it is to be small
        (LOSS, r"L = -\frac{1}{N} \sum_{t=1}^T \log p(x_t \mid x_{<t})"),  # N may count more than this sequence
        (LOSS, r"L = -\sum_{t=1}^T \log p(x_t \mid x_{t+1})"),  # backwards
        (LOSS, r"R = \sum_{t=1}^T \log p(x_t \mid x_{<t})"),
    ],
)
def test_others_are_left_alone(before: str, formula: str) -> None:
    assert last(formula, before).verdict == "unknown"
