"""Indices of formulas of single numbers: every letter stands at the places that the form gives it."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Finding


def judged(formula: str) -> Finding:
    return check_text(f"$${formula}$$", "markdown").claims[0].finding


@pytest.mark.parametrize(
    "formula",
    [
        r"\frac{\partial L}{\partial z_i} = p_i - y_i",
        r"\frac{\partial L}{\partial z} = p - y",
        r"\frac{\partial L}{\partial z_{t,k}} = p_{t,k} - y_{t,k}",
        r"\frac{\partial L}{\partial z_{b,t,k}} = p_{b,t,k} - y_{b,t,k}",
        r"\frac{\partial L}{\partial z_j^{(i)}} = p_j^{(i)} - y_j^{(i)}",
        r"\hat{x}_i = \frac{x_i - \mu}{\sigma}",
        r"\hat{x}_i = \frac{x_i - \mu_x}{\sigma_x}",
        r"\hat{x}_t = \frac{x_t - \mu_t}{\sigma_t}",
        r"\hat{x}_{i+1} = \frac{x_{i+1} - \mu}{\sigma}",
        r"\hat{x}_{ij} = \frac{x_{ij} - \mu_i}{\sqrt{\sigma_i^2 + \epsilon}}",
        r"\hat{x}_{b,t,i} = \frac{x_{b,t,i} - \mu_{b,t}}{\sqrt{\sigma_{b,t}^2 + \epsilon}}",
        r"y_{ij} = \gamma_j \frac{x_{ij} - \mu_i}{\sqrt{\sigma_i^2 + \epsilon}} + \beta_j",
        r"\text{LN}(x_t)_i = \gamma_i \frac{x_{t,i} - \mu_t}{\sqrt{\sigma_t^2 + \epsilon}} + \beta_i",
        r"\text{LN}(x)_j = \gamma_j \frac{x_{ij} - \mu_i}{\sigma_i} + \beta_j",
        r"\text{LN}(x_i) = \gamma_i \frac{x_i - \mu_i}{\sigma_i} + \beta_i",
        r"h_i = \frac{g_i}{\sigma}(a_i - \mu)",
    ],
)
def test_places_that_fit(formula: str) -> None:
    """Places may be left out, and others may stand in front of all."""
    assert judged(formula).verdict == "holds"


def test_places_in_the_other_order_are_a_convention() -> None:
    """With positions as columns the mean has the second index; where positions are rows it is another norm."""
    finding = judged(r"\hat{x}_{ij} = \frac{x_{ij} - \mu_j}{\sqrt{\sigma_j^2 + \epsilon}}")
    assert (finding.verdict, finding.assumptions) == ("conditional", ("positions are columns",))


@pytest.mark.parametrize(
    ("formula", "slip"),
    [
        (r"\frac{\partial L}{\partial z_i} = p_j - y_i", "the index of p must be i, not j"),
        (r"\frac{\partial L}{\partial z_i} = p_i - y_j", "the index of y must be i, not j"),
        (r"\frac{\partial L}{\partial X_{ik}} = \frac{P_{kk} - T_{ik}}{n}", "the index of P must be i, not k"),
        (r"\frac{\partial L}{\partial X_{ik}} = \frac{P_{ii} - T_{ik}}{n}", "the index of P must be k, not i"),
        (r"\frac{\partial L}{\partial X_{ik}} = \frac{P_{ik} - T_{kk}}{n}", "the index of T must be i, not k"),
        (r"\frac{\partial L}{\partial X_{ik}} = P_{ik} - T_{ki}", "the indices of T stand in the wrong order"),
        (r"\frac{\partial L}{\partial X_{ik}} = \frac{P_{ik} + T_{ik}}{n}", "a sign is wrong"),
        (r"\hat{x}_i = \frac{x_j - \mu}{\sigma}", "the index of x must be i, not j"),
        (r"\hat{x}_{ij} = \frac{x_{ij} - \mu_j}{\sqrt{\sigma_i^2 + \epsilon}}", "the index of mu must be i, not j"),
        (r"\hat{x}_{ij} = \frac{x_{ji} - \mu_i}{\sqrt{\sigma_i^2 + \epsilon}}", "the indices of x stand in the wrong"),
        (r"y_{ij} = \gamma_i \frac{x_{ij} - \mu_i}{\sigma_i} + \beta_j", "the index of gamma must be j, not i"),
        (r"\text{LN}(x)_i = \gamma_j \frac{x_i - \mu}{\sigma} + \beta_i", "the index of gamma must be i, not j"),
        (r"\text{LN}(x)_i = \gamma_i \hat{x}_j + \beta_i", "the index of x must be i, not j"),
    ],
)
def test_another_place_is_a_slip(formula: str, slip: str) -> None:
    """The check says no, and which index it must be."""
    finding = judged(formula)
    assert finding.verdict == "wrong"
    assert slip in finding.reason


@pytest.mark.parametrize(
    "formula",
    [
        r"\frac{\partial L}{\partial z_i} = p_j - y_j",  # two slips: nothing is certain but that it is not proved
        r"y_{ij} = \gamma_i \frac{x_{ij} - \mu_i}{\sigma_i} + \beta_i",
        r"m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_i",
    ],
)
def test_what_is_neither_proved_nor_wrong(formula: str) -> None:
    assert judged(formula).verdict == "unknown"


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"\text{LN}(x) = \gamma \frac{x - x}{\sigma} + \beta", "wrong"),
        (r"\frac{\partial L}{\partial z} = p - p = 0", "unknown"),
        (r"\text{LN}(c) = \gamma \frac{c - c}{\sqrt{0 + \epsilon}} + \beta = \beta", "unknown"),
        (r"D = x - x", "unknown"),
    ],
)
def test_a_term_that_is_subtracted_from_itself(formula: str, verdict: str) -> None:
    """It is wrong where a concept is meant, and fine in a line that shows how terms cancel."""
    assert judged(formula).verdict == verdict


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"PE_{(pos, 2i)} = \sin(pos / 10000^{2i / d})", "holds"),
        (r"PE_{(i, 2j)} = \sin(i / 10000^{2j / d})", "holds"),
        (r"PE_{(pos, 2i)} = \sin(pos / 10000^{2j / d})", "wrong"),
        (r"PE_{(i, 2j)} = \sin(j / 10000^{2j / d})", "wrong"),
        (r"PE_{(t, 2i)} = \sin(pos / 10000^{2i / d})", "unknown"),  # the position in other letters
        (r"\frac{\partial y_a}{\partial x_b} = y_a (\delta_{ab} - y_b)", "holds"),
        (r"\frac{\partial y_i}{\partial x_j} = y_i (\delta_{ij} - y_k)", "wrong"),
        (r"\frac{\partial y_a}{\partial x_b} = y_a (\delta_{ik} - y_b)", "unknown"),
        (r"\text{softmax}(x)_t = \frac{e^{x_i}}{\sum_j e^{x_j}}", "wrong"),
        (r"\text{softmax}(x)_j = \frac{e^{x_j}}{\sum_i e^{x_i}}", "holds"),
        (r"o_t = \sum_s a_{ts} v_s", "holds"),
        (r"o_t = \sum_s a_{is} v_s", "wrong"),
        (r"a_{st} = \frac{\exp(q_i k_t^T)}{\sum_l \exp(q_i k_l^T)}", "unknown"),
    ],
)
def test_a_letter_that_the_left_has_not_is_no_index_of_it(formula: str, verdict: str) -> None:
    """Letters of a document that are also the letters of the catalogue's indices mean others."""
    assert judged(formula).verdict == verdict


@pytest.mark.parametrize(
    ("before", "verdict"), [("The log-likelihood has the gradient", "unknown"), ("The loss has the gradient", "wrong")]
)
def test_the_gradient_of_a_likelihood_has_the_other_sign(before: str, verdict: str) -> None:
    text = rf"{before} $$\frac{{\partial L}}{{\partial z_i}} = y_i - p_i$$"
    assert check_text(text, "markdown").claims[-1].finding.verdict == verdict
