"""Gradients of products: proved from what the document defines, conditional without, wrong in another order."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last, last_claim

ROWS, COLUMNS = "$Y = X W + b$", "$y = W x + b$"
SCORES, OUTPUT = r"$S = \frac{Q K^T}{\sqrt{d_k}}$", "$O = A V$"


@pytest.mark.parametrize(
    ("before", "formula", "verdict"),
    [
        (ROWS, r"\frac{\partial L}{\partial W} = X^T \frac{\partial L}{\partial Y}", "holds"),
        (ROWS, r"\frac{\partial L}{\partial X} = \frac{\partial L}{\partial Y} W^T", "holds"),
        (ROWS, r"dX = dY W^T", "holds"),
        (ROWS, r"\frac{\partial L}{\partial b} = \sum_{i=1}^{n} \frac{\partial L}{\partial y_i}", "holds"),
        (COLUMNS, r"\frac{\partial L}{\partial W} = \frac{\partial L}{\partial y} x^T", "holds"),
        (COLUMNS, r"\nabla_x L = W^T \nabla_y L", "holds"),
        (COLUMNS, r"\frac{\partial L}{\partial b} = \frac{\partial L}{\partial y}", "holds"),
        (COLUMNS, r"\frac{\partial L}{\partial x} = \frac{\partial L}{\partial y} W", "conditional"),
        (SCORES, r"dQ = \frac{1}{\sqrt{d_k}} dS K", "holds"),
        (SCORES, r"dK = dS^T Q / \sqrt{d_k}", "holds"),
        (OUTPUT, r"dV = A^T dO", "holds"),
        ("", r"\frac{\partial L}{\partial W} = X^T \frac{\partial L}{\partial Y}", "conditional"),
        ("", r"\frac{\partial L}{\partial X} = W^T \frac{\partial L}{\partial Y}", "conditional"),
    ],
)
def test_what_is_right(before: str, formula: str, verdict: str) -> None:
    claim = last_claim(formula, before)
    finding = next(each for each in claim.findings if each.check == "gradient")
    assert (finding.verdict, claim.finding.verdict) == (verdict, verdict)
    assert bool(finding.assumptions) is (verdict == "conditional")


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        (ROWS, r"\frac{\partial L}{\partial W} = X \frac{\partial L}{\partial Y}"),
        (ROWS, r"\frac{\partial L}{\partial X} = W^T \frac{\partial L}{\partial Y}"),
        (ROWS, r"dX = dY W"),
        (COLUMNS, r"\frac{\partial L}{\partial x} = W \frac{\partial L}{\partial y}"),
        (SCORES, r"dK = dS Q / \sqrt{d_k}"),
        (OUTPUT, r"dA = dO V"),
    ],
)
def test_another_product_of_the_letters_is_wrong(before: str, formula: str) -> None:
    """The check says no, and what it shows instead is proved."""
    finding = last(formula, before)
    assert finding.verdict == "wrong"
    assert finding.right is not None
    assert "√" in finding.right or last(finding.right, before).verdict == "holds"


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        (ROWS, r"\frac{\partial L}{\partial W} = \frac{1}{n} X^T \frac{\partial L}{\partial Y}"),
        (r"$h = \text{ReLU}(x W)$", r"\frac{\partial L}{\partial W} = x^T \frac{\partial L}{\partial h}"),
        ("$Y = X W$ and $Y = W X$", r"\frac{\partial L}{\partial W} = X \frac{\partial L}{\partial Y}^T"),
        ("", r"\frac{\partial L}{\partial A} = B \frac{\partial L}{\partial C}"),
    ],
)
def test_what_may_be_something_else_is_left_alone(before: str, formula: str) -> None:
    assert last(formula, before).verdict == "unknown"


@pytest.mark.parametrize(
    ("before", "formula", "verdict"),
    [
        (
            r"$\mathrm{d}Y \in \mathbb{R}^{n \times d}$",
            r"\mathrm{d}b_i = \sum_{j=1}^{n} \mathrm{d}Y_{ji}",
            "conditional",
        ),
        (r"$\mathrm{d}Y \in \mathbb{R}^{n \times d}$", r"\mathrm{d}b_i = \sum_{j=1}^{n-1} \mathrm{d}Y_{ji}", "wrong"),
        (
            r"$d\gamma_i = \sum_{j=1}^{n} Z_{ji} \mathrm{d}Y_{ji}$",
            r"d\beta_i = \sum_{j=1}^{n-1} \mathrm{d}Y_{ji}",
            "wrong",
        ),
        (
            r"$d\gamma_i = \sum_{j=1}^{n} Z_{ji} \mathrm{d}H_{ji}$",
            r"d\beta_i = \sum_{j=1}^{n-1} \mathrm{d}Y_{ji}",
            "unknown",
        ),
        ("", r"\mathrm{d}b_i = \sum_{j=1}^{n-1} \mathrm{d}Y_{ji}", "unknown"),
        (
            r"$\mathrm{d}Y \in \mathbb{R}^{(n-1) \times d}$",
            r"\mathrm{d}b_i = \sum_{j=1}^{n-1} \mathrm{d}Y_{ji}",
            "unknown",
        ),
        (
            r"$\mathrm{d}Y \in \mathbb{R}^{n \times d}$",
            r"\mathrm{d}s_i = \sum_{j=1}^{n-1} \mathrm{d}Y_{ji}",
            "unknown",
        ),  # of no bias
        (
            r"Row j is scored by token j + 1, $\mathrm{d}Y \in \mathbb{R}^{n \times d}$",
            r"\mathrm{d}b_i = \sum_{j=1}^{n-1} \mathrm{d}Y_{ji}",
            "unknown",
        ),
        (
            r"Position j predicts the next token, $\mathrm{d}Y \in \mathbb{R}^{n \times d}$",
            r"\mathrm{d}b_i = \sum_{j=1}^{n-1} \mathrm{d}Y_{ji}",
            "unknown",
        ),
    ],
)
def test_the_gradient_by_a_bias_has_all_rows(before: str, formula: str, verdict: str) -> None:
    assert last(formula, before).verdict == verdict
