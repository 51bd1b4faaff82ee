r"""Means and variances of rows are proved, those of columns hold if the first index is summed, and slips are wrong."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Finding


def said(formula: str, behind: str = "") -> Finding:
    """Return what is said of a formula, with words behind it."""
    claims = check_text(f"With ${formula}$. {behind}\n", "markdown").claims
    return next(claim.finding for claim in claims if claim.text == formula)


def verdict(formula: str) -> str:
    """Return the verdict on a formula that stands alone."""
    return said(formula).verdict


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (r"\mu_i = \frac{1}{d} \sum_{j=1}^{d} X_{ij}", "holds"),
        (r"\mu_t = \frac{1}{H} \sum_{i=1}^{H} h_{t,i}", "holds"),
        (r"\sigma_i^2 = \frac{1}{d} \sum_{j=1}^{d} (X_{ij} - \mu_i)^2", "holds"),
        (r"\mu_j = \frac{1}{n} \sum_{i=1}^{n} X_{ij}", "conditional"),
        (r"\sigma_j^2 = \frac{1}{m} \sum_{i=1}^{m} (x_{ij} - \mu_j)^2", "conditional"),
        (r"\sigma_i^2 = \frac{1}{d-1} \sum_{j=1}^{d} (X_{ij} - \mu_i)^2", "conditional"),
    ],
)
def test_rows_are_proved_and_columns_hold_conditionally(formula: str, expected: str) -> None:
    assert verdict(formula) == expected


@pytest.mark.parametrize(
    "formula",
    [
        r"\mu_i = \frac{1}{\sqrt{d}} \sum_{j=1}^{d} X_{ij}",
        r"\sigma_i^2 = \frac{1}{d} \sum_{j=1}^{d} (X_{ij} - \mu_i)",
        r"\sigma_i^2 = \frac{1}{d} \sum_{j=1}^{d} (X_{ij} + \mu_i)^2",
        r"\sigma_i^2 = \frac{1}{d} \sum_{j=1}^{d} (X_{ij} - \mu_j)^2",
    ],
)
def test_a_slip_in_a_statistic_of_a_row_is_wrong(formula: str) -> None:
    assert verdict(formula) == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"\sigma_i^2 = \frac{1}{d} \sum_{j=1}^{d} X_{ij}^2",  # of what has mean 0
        r"\sigma_i^2 = \frac{1}{d} \sum_{j=1}^{d} (X_{ij} - \mu_i)^2 + \epsilon",
        r"\sigma_k^2 = \frac{1}{N} \sum_{n=1}^{N} (x_n - \mu_k)^2",
        r"\mu_i = \frac{1}{d} \sum_{j=1}^{d} (X_{ij} - c_j)",
        r"\mu_k = \frac{1}{N_k} \sum_{n=1}^{N} r_{nk} x_n",
    ],
)
def test_other_sums_are_left(formula: str) -> None:
    assert verdict(formula) == "unknown"


def test_a_norm_without_epsilon_is_proved_only_where_nothing_speaks_of_it() -> None:
    formula = r"\hat{x}_i = \frac{x_i - \mu}{\sqrt{\sigma^2}}"
    assert verdict(formula) == "holds"
    found = said(formula, r"A small $\epsilon = 10^{-5}$ keeps the divisor from 0.")
    assert (found.verdict, found.assumptions) == ("conditional", ("epsilon is 0",))
