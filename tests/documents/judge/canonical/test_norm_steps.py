r"""Norms and their means and deviations; and how many terms their sums have."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Finding

NORM = "Layer normalisation"
MEAN = r"$\mu = \frac{1}{d} \sum_{i=1}^d x_i$"


def finding(formula: str, before: str = NORM) -> Finding:
    """Return what is said of a formula behind some words."""
    return check_text(f"{before}: ${formula}$", "markdown").claims[-1].finding


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"y = \frac{x - \mathrm{E}[x]}{\sqrt{\mathrm{Var}[x] + \epsilon}} * \gamma + \beta", "holds"),
        (r"\sigma = \sqrt{\frac{1}{d} \sum_{i=1}^d (x_i - \mu)^2}", "holds"),
        (r"\sigma = \sqrt{\frac{1}{d} \sum_{i=1}^d (x_i - \mu)^2 + \epsilon}", "holds"),
        (r"\sigma = \sqrt{\frac{1}{d - 1} \sum_{i=1}^d (x_i - \mu)^2}", "conditional"),
    ],
)
def test_what_is_right_is_seen(formula: str, verdict: str) -> None:
    assert finding(formula).verdict == verdict


@pytest.mark.parametrize(
    ("formula", "slip"),
    [
        (r"y = \frac{x - \mathrm{E}[x]}{\mathrm{Var}[x] + \epsilon} * \gamma + \beta", "root"),
        (r"\sigma = \sqrt{\frac{1}{d} \sum_{i=1}^d (x_i + \mu)^2}", "sign"),
        (r"\sigma = \sqrt{\frac{1}{d} \sum_{i=1}^d (x_i - \mu)}", "square"),
    ],
)
def test_slips_are_wrong(formula: str, slip: str) -> None:
    found = finding(formula)
    assert found.verdict == "wrong"
    assert slip in found.reason


def test_a_mean_may_be_0() -> None:
    assert finding(r"\sigma = \sqrt{\frac{1}{d} \sum_{i=1}^d x_i^2}").verdict == "unknown"


def test_a_step_by_itself_may_be_a_step_of_two() -> None:
    assert finding(r"\hat{x}_i = x_i - \mu").verdict == "unknown"
    assert finding(r"y_i = \gamma_i \hat{x}_i - \beta_i", "In physics").verdict == "unknown"


@pytest.mark.parametrize(
    ("behind", "verdict"),
    [
        (r"\frac{x - \mu}{\sigma}", "wrong"),
        (r"\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}}", "wrong"),
        (r"\frac{x - \mu}{\sqrt{\sigma + \epsilon}}", "unknown"),
    ],
)
def test_sigma_may_be_the_variance(behind: str, verdict: str) -> None:
    text = rf"{NORM}: {MEAN}, $\sigma = \frac{{1}}{{d}} \sum_{{i=1}}^d (x_i - \mu)^2$, $\hat{{x}} = {behind}$"
    verdicts = [claim.finding.verdict for claim in check_text(text, "markdown").claims]
    assert verdicts[1] == verdict
    assert verdict == "wrong" or verdicts[2] != "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"\mu = \frac{1}{n} \sum_{j=0}^{n} x_j",
        r"\sigma^2 = \frac{1}{d} \sum_{j=0}^{d} (x_j - \mu)^2",
        r"q \cdot k = \sum_{i=0}^{d_k} q_i k_i",
    ],
)
def test_a_sum_from_0_to_a_size_has_one_term_too_many(formula: str) -> None:
    found = finding(formula)
    assert found.verdict == "wrong"
    assert "+ 1 terms" in found.reason
    assert found.right is not None
    assert "- 1" in found.right


def test_a_sum_from_0_may_count_all_entries() -> None:
    entries = r"\text{softmax}(x)_i = \frac{e^{x_i}}{\sum_{j=0}^{n} e^{x_j}}"
    assert finding(entries).verdict == "conditional"
    assert finding(entries, r"For $x \in \mathbb{R}^n$").verdict == "wrong"
    assert finding(r"\mu = \frac{1}{n} \sum_{j=0}^{n-1} x_j").verdict == "holds"


def test_a_mean_divides_by_as_many_as_it_sums() -> None:
    assert finding(r"\mu = \frac{1}{d_k} \sum_{j=1}^{d_{model}} x_j").verdict == "wrong"
    assert finding(r"\mu_i = \frac{1}{n} \sum_{j=1}^{n-1} X_{ji}").verdict == "wrong"
    assert finding(r"\mu = \frac{1}{H} \sum_{j=1}^{d} x_j").verdict == "unknown"
