r"""An index that one side of a chain has alone is a slip; where it may stand for any place it is none."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text


def verdicts(formula: str, before: str = "So") -> list[str]:
    """Return what is said of the links of a chain."""
    return [claim.finding.verdict for claim in check_text(f"{before} ${formula}$ here.", "markdown").claims]


@pytest.mark.parametrize(
    "formula",
    [
        r"z_i = y_i (1 - y_i) = y_j (1 - y_i)",
        r"z_i = y_i (1 - y_i) = y_i (1 - y_j)",
        r"\frac{\partial u_i}{\partial w} = x_i f(x_i) = x_i f(x_k)",
        r"E[(\sum_{j=1}^{n} u_j B_{jp}) \sum_{j=1}^{n} u_j B_{jq}] - E[\sum_{j=1}^{n} u_j B_{lp}] = 0",
    ],
)
def test_an_index_that_stands_nowhere_else_is_wrong(formula: str) -> None:
    assert verdicts(formula)[-1] == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"z_i = y_i (1 - y_i) = y_i (1 - y_i)",
        r"z_{ij} = y_i (1 - y_i) = y_j (1 - y_i)",
        r"z_j = y_i (1 - y_i) = y_j (1 - y_i)",
        r"\frac{1}{n} = y_i = y_j",
        r"z_i = y_i \sum_{j=1}^{n} x_j = y_i \sum_{k=1}^{n} x_k",
        r"y_i (1 - y_i) = y_j (1 - y_i)",
        r"\sum_{j=1}^{n} u_j B_{jp} \sum_{j=1}^{n} u_j B_{jq} = c",
        r"\sum_{j=1}^{n} u_j B_{jp} - \sum_{j=1}^{n} u_j B_{lp} = c_l",
        r"\sum_{j=1}^{n} u_j v_j - \sum_{j=1}^{n} u_j v_l = c",
        r"\sum_{j=1}^{n} u_j B_{lp} = 0",
    ],
)
def test_an_index_that_may_be_any_is_left_alone(formula: str) -> None:
    assert "wrong" not in verdicts(formula)


def test_a_condition_is_left_alone() -> None:
    assert "wrong" not in verdicts(r"z_i = y_i (1 - y_i) = y_j (1 - y_i)", "This holds only if")
