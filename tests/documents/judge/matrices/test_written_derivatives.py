"""Derivatives that are written out, by entries and by arrays: right ones hold, others are wrong."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last, verdicts


@pytest.mark.parametrize(
    "formula",
    [
        r"\frac{\partial}{\partial x_i} \log \sum_j e^{x_j} = \text{softmax}(x)_i",
        r"\frac{\partial}{\partial z_k} \log \sum_{j=1}^n e^{z_j} = \frac{e^{z_k}}{\sum_{j=1}^n e^{z_j}}",
        r"\frac{\partial}{\partial x_i} \log \sum_{j=1}^n e^{x_j} = \text{softmax}(x)_i",
        r"\frac{\partial}{\partial x_i} \sum_j x_j^2 = 2 x_i",
        r"\frac{\partial}{\partial W_{ij}} \sum_k W_{ik} x_k = x_j",
        r"\frac{\partial}{\partial \mu} \sum_{i=1}^n (x_i - \mu)^2 = -2 \sum_{i=1}^n (x_i - \mu)",
        r"\frac{\partial \log y_i}{\partial y_i} = \frac{1}{y_i}",
        r"\frac{\partial}{\partial x} x^T A x = (A + A^T) x",
        r"\nabla_x \|x\|^2 = 2 x",
        r"\frac{\partial}{\partial x} a^T x = a",
        r"\frac{\partial}{\partial x} (A x) = A",
        r"\frac{\partial}{\partial \phi} (-\phi) = -1",
        r"\frac{d}{d\mathbf{x}} (\boldsymbol{\beta}^\top \mathbf{x}) = \boldsymbol{\beta}",
        r"\frac{\partial}{\partial X} \text{tr}(A X) = A^T",
        r"\frac{\partial}{\partial X} \text{tr}(A X) = A",  # in the other layout
        r"\frac{\partial}{\partial X} \text{tr}(X^T X) = 2 X",
        r"\frac{\partial}{\partial x} \|A x - b\|^2 = 2 A^T (A x - b)",
    ],
)
def test_right_ones_hold(formula: str) -> None:
    finding = last(formula)
    assert (finding.check, finding.verdict) == ("derivative", "holds")


@pytest.mark.parametrize(
    "formula",
    [
        r"\frac{\partial}{\partial x_i} \log \sum_j e^{x_j} = \text{softmax}(x)_j",
        r"\frac{\partial}{\partial x_i} \log \sum_j e^{x_j} = e^{x_i}",
        r"\frac{\partial}{\partial x_i} \sum_j x_j^2 = x_i",
        r"\frac{\partial}{\partial W_{ij}} \sum_k W_{ik} x_k = x_i",
        r"\frac{\partial}{\partial \mu} \sum_{i=1}^n (x_i - \mu)^2 = 2 \sum_{i=1}^n (x_i - \mu)",
        r"\frac{\partial \log y_i}{\partial y_i} = \frac{1}{y_i^2}",
        r"\frac{\partial}{\partial x} x^T A x = A x",
        r"\frac{\partial}{\partial x} \|x\|^2 = x",
        r"\frac{\partial}{\partial X} \text{tr}(X^T X) = X",
        r"\frac{d}{dx} (a x^2) = 2 x",
        r"\frac{d}{dx} \text{GELU}(x) = x",  # in none of its forms
    ],
)
def test_others_are_wrong(formula: str) -> None:
    finding = last(formula)
    assert (finding.check, finding.verdict) == ("derivative", "wrong")


@pytest.mark.parametrize(
    "formula",
    [
        r"\frac{\partial}{\partial x} x^T A x = 2 A x",
        r"\frac{\partial}{\partial x} \|A x - b\|^2 = 2 A (A x - b)",
    ],
)
def test_what_is_so_for_symmetric_matrices_is_conditional(formula: str) -> None:
    finding = last(formula)
    assert finding.verdict == "conditional"
    assert "symmetric" in finding.assumptions[0]


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        ("", r"\nabla_w \|w\|^2 = 0"),  # where it is least
        ("", r"\nabla_\theta J(\theta) = J(\theta)"),  # of which nothing is known
        ("", r"\frac{\partial}{\partial x} f(x) = x"),
        ("", r"\frac{\partial}{\partial x} x^T A x = g"),  # it names it
        ("", r"\frac{d}{dx} a \log x = \frac{a}{x \ln 10}"),  # to the base 10
        (r"$\mu = \frac{1}{n} \sum_j x_j$", r"\frac{\partial}{\partial x_i} (x_i - \mu)^2 = 2 (x_i - \mu)"),
    ],
)
def test_what_says_less_is_left_alone(before: str, formula: str) -> None:
    assert last(formula, before).verdict == "unknown"


def test_a_condition_is_not_wrong() -> None:
    formula = r"\frac{\partial}{\partial x_i} \sum_j x_j^2 = x_i"
    assert verdicts(rf"We are done only if ${formula}$.") == ["unknown"]
