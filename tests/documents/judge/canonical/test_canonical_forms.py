"""Canonical formulas of training and of adaptation: right forms in several spellings, and slips of each."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from tests.documents.judge.claims import last


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"\frac{\partial L}{\partial z} = \text{softmax}(z) - y", "holds"),
        (r"\frac{\partial L}{\partial z_i} = \frac{1}{N}(\hat{y}_i - y_i)", "conditional"),
        (r"D_{KL}(p \| q) = \sum_i p_i \log \frac{p_i}{q_i}", "holds"),
        (r"D_{KL}(p \| q) = \sum_i p_i (\log p_i - \log q_i)", "holds"),
        (r"D_{KL}(P \| Q) = \sum_x P(x) \log \frac{P(x)}{Q(x)}", "holds"),
        (r"H(p) = -\sum_i p_i \log p_i", "holds"),
        (r"\text{PPL} = \exp\left(-\frac{1}{N} \sum_{i=1}^{N} \log p(x_i | x_{<i})\right)", "holds"),
        (r"\text{Perplexity} = e^{L}", "holds"),
        (r"\text{LSE}(x) = m + \log \sum_{i=1}^n e^{x_i - m}", "holds"),
        (r"W' = W + \frac{\alpha}{r} B A", "conditional"),
        (r"h = W_0 x + \frac{\alpha}{r} B A x", "conditional"),
        (r"h = W_0 x + B A x", "conditional"),
        (r"y = x W + \frac{\alpha}{r} x A B", "conditional"),
        (r"\text{SwiGLU}(x, W, V) = \text{Swish}(xW) \odot xV", "holds"),
        (r"\text{GEGLU}(x, W, V, b, c) = \text{GELU}(xW + b) \otimes (xV + c)", "holds"),
        (r"\text{RMSNorm}(x) = \frac{x}{\sqrt{\frac{1}{d}\sum_{i=1}^d x_i^2 + \epsilon}} \odot \gamma", "holds"),
        (r"\text{RMSNorm}(x) = \gamma \odot \frac{x}{\text{RMS}(x)}", "holds"),
        (r"\bar{a}_i = \frac{a_i}{\text{RMS}(a)} g_i", "holds"),
        (r"\text{LN}(x) = \gamma \odot \frac{x - \text{E}[x]}{\sqrt{\text{Var}[x] + \epsilon}} + \beta", "holds"),
        (r"\text{LN}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2} + \epsilon} + \beta", "conditional"),
        (r"p_i(\tau) = \frac{\exp(z_i / \tau)}{\sum_j \exp(z_j / \tau)}", "holds"),
        (r"\log p_i = z_i - \log \sum_{j} e^{z_j}", "holds"),
        (r"\ln \hat{y}_k = z_k - \ln \sum_{j=1}^V \exp(z_j)", "holds"),
        (r"\text{GELU}(x) \approx x \sigma(1.702 x)", "conditional"),
        (r"\text{SwiGLU}(x) = (\text{SiLU}(x W_1) \odot x W_2) W_3", "holds"),
        (r"\text{SwiGLU}(x) = (\text{SiLU}(x W_1) \odot x W_3) W_2", "holds"),
        (r"\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{QK^T}{\sqrt{M_h}}\right) V", "holds"),
        (r"\text{RMS}(x) = \sqrt{\frac{1}{e} \sum_{i=1}^{e} x_i^2 + \epsilon}", "holds"),
        (r"s^2 = \frac{1}{E} \sum_{j=1}^{E} (u_j - \mu)^2", "holds"),
    ],
)
def test_what_is_right(formula: str, verdict: str) -> None:
    finding = last(formula)
    assert (finding.check, finding.verdict) == ("canonical", verdict)
    assert finding.result


@pytest.mark.parametrize(
    "formula",
    [
        r"\frac{\partial L}{\partial z} = y - \text{softmax}(z)",
        r"D_{KL}(p \| q) = \sum_i p_i \log \frac{q_i}{p_i}",
        r"\text{RMSNorm}(x)_i = \gamma_i \frac{x_i - \mu}{\sqrt{\frac{1}{d}\sum_{j=1}^d x_j^2 + \epsilon}}",
        r"A = \frac{\text{softmax}(QK^T + M)}{\sqrt{d_k}}",
        r"PE_{(pos, 2i+1)} = \sin(pos / 10000^{2i/E})",
        r"D_{KL}(p \| q) = \sum_i q_i \log \frac{p_i}{q_i}",
        r"\text{PPL} = \exp\left(\frac{1}{N} \sum_{i=1}^{N} \log p_i\right)",
        r"\text{PPL} = \exp\left(-\sum_{i=1}^{N} \log p_i\right)",
        r"\text{LSE}(x) = m + \log \sum_{i=1}^n e^{x_i + m}",
        r"\text{SwiGLU}(x) = (\text{SiLU}(x W_1) + x W_3) W_2",
        r"\text{RMSNorm}(x) = \frac{x}{\sqrt{\frac{1}{d}\sum_{i=1}^d x_i + \epsilon}} \odot \gamma",
        r"\text{RMSNorm}(x) = \gamma \odot x \text{RMS}(x)",
        r"\text{LN}(x) = \gamma \odot \frac{x - \text{E}[x]}{\text{Var}[x] + \epsilon} + \beta",
        r"p_i(\tau) = \frac{\exp(z_i / \tau)}{\sum_j \exp(z_j)}",
        r"\sigma^2 = \frac{1}{D} \sum_{d=1}^{D} x_d - \mu^2",
        r"\sigma^2 = \frac{1}{n} \sum_{i} x_i^2 + \mu^2",
        r"\log p_i = z_i - \sum_{j} e^{z_j}",
        r"\log \text{softmax}(z)_i = z_i - \sum_{j} e^{z_j}",
        r"\log p_i = z_i + \log \sum_{j} e^{z_j}",
        r"\text{GELU}(x) \approx x \sigma(1.207 x)",
        r"\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{QK^T + M}{d_k}\right) V",
        r"s^2 = \frac{1}{E} \sum_{j=1}^{E} (u_j - \mu)",
        r"\sigma^2 = \frac{1}{E} \sum_{j=1}^{E} (u_j + \mu)^2",
        r"\text{RMS}(u) = \sqrt{\frac{1}{E} \sum_{j=1}^{E} u_j}",
    ],
)
def test_a_slip_is_wrong(formula: str) -> None:
    """The check says no; what it would write instead is right."""
    finding = last(formula)
    assert (finding.check, finding.verdict) == ("canonical", "wrong")
    assert finding.right is None or last(finding.right).verdict in ("holds", "conditional")


@pytest.mark.parametrize(
    "formula",
    [
        r"o = \text{softmax}\left(\frac{q^T K^T}{\sqrt{d_k}}\right) V",
        r"\text{Attention}(q, K, V) = \text{softmax}\left(\frac{q^T K^T}{\sqrt{d_k}}\right) V",
        r"J = \text{diag}(y) - y y^T",
        r"\text{FFN}(x) = W_2 \max(0, W_1 x + b_1) + b_2",
        r"L = \sum_i y_i \log \hat{y}_i",
    ],
)
def test_columns_among_rows_are_no_mistake(formula: str) -> None:
    """Vectors are columns in many texts whose matrices stack rows."""
    rows = "$Q = X W_Q$\n\n$K = X W_K$\n\n$V = X W_V$\n\n$Y = Z W$"
    assert last(formula, rows).verdict != "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"\text{PPL} = 2^{-\frac{1}{N} \sum_{i=1}^{N} \log_2 p_i}",
        r"\text{PPL} = \exp\left(\frac{1}{N} \sum_{i=1}^{N} \ell_i\right)",
        r"D_{KL}(p \| q) = H(p, q) - H(p)",
        r"\text{KL}(q \| p) = \frac{1}{2} \sum_i (\mu_i^2 + \sigma_i^2 - 1 - \log \sigma_i^2)",
        r"W = W_0 + \Delta W",
        r"\text{GELU}(x) \approx x \sigma(1.7 x)",
        r"\text{GELU}(x) \approx x \sigma(1.6 x)",
        r"\sigma^2 = \frac{1}{N} \sum_{j=1}^{N} r_j",
        r"\sigma^2 = \frac{1}{D} \sum_{d=1}^{D} x_d^2 - \mu^2",
        r"\sigma^2 = \frac{1}{D} \sum_{d=1}^{D} x_d^2",
        r"x_i(t) = e^{z_i t} + \sum_j e^{z_j}",
        r"\sigma^2 = \frac{1}{N} \sum_{j=1}^{N} (y_j - f_j)^2",
        r"\log p(y) = y \theta - \sum_j e^{\theta_j}",
        r"\log p_i = y_i \eta_i - e^{\eta_i}",
        r"\log p_i = -\log \sum_j e^{z_j - z_i}",
        r"\text{RMSNorm}(x) = \frac{x}{\sqrt{\frac{1}{n}\|x\|^2 + \epsilon}} g",
        r"\text{GLU}(a, b) = a \odot \sigma(b)",
        r"\log(\hat{y}_j) = \log \frac{e^{o_j}}{\sum_k e^{o_k}}",
        r"\frac{\partial h}{\partial x} = \text{diag}(a) + b b^T",
        r"M = \text{diag}(y) + y y^T",
        r"y = x + W_2 \text{ReLU}(W_1 \text{LN}(x))",
    ],
)
def test_other_right_formulas_are_left_alone(formula: str) -> None:
    assert last(formula).verdict != "wrong"


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"H(p, q) = -\sum_j p_j \log q_j", "holds"),
        (r"H(P, Q) = \sum_j - P(j) \log Q(j)", "holds"),
        (r"H(q, p) = -\sum_j q_j \log p_j", "holds"),
        (r"L = -\sum_j q_j \log p_j", "holds"),
        (r"L = -\sum_j p_j \log q_j", "holds"),
        (r"\frac{\partial L}{\partial z_i} = q_i - p_i", "holds"),
        (r"\frac{\partial L}{\partial z_i} = p_i - q_i", "holds"),
        (r"\frac{\partial L}{\partial z_i} = p_i + q_i", "wrong"),
        (r"H(p, q) = -\sum_j q_j \log p_j", "unknown"),  # the left side says which is which
    ],
)
def test_p_and_q_are_targets_and_predictions_in_either_order(formula: str, verdict: str) -> None:
    assert last(formula).verdict == verdict


@pytest.mark.parametrize(("then", "verdict"), [(r"$O = \text{MultiHead}(Q, K, V) W^O$", "unknown"), ("", "wrong")])
def test_heads_may_be_mixed_in_another_formula(then: str, verdict: str) -> None:
    text = rf"$\text{{MultiHead}}(Q, K, V) = \text{{Concat}}(\text{{head}}_1, \ldots, \text{{head}}_h)$ and then {then}"
    assert check_text(text, "markdown").claims[0].finding.verdict == verdict


def test_what_multiplies_a_function_elsewhere_makes_good_its_scale_alone() -> None:
    kl, sigma = r"\mathcal{L} = -\tau^2 \mathrm{KL}(p \| q)", r"\mathrm{SiLU}(x) = x \sigma(x)"
    turned = r"\mathrm{KL}(p \| q) = \sum_i p_i \ln \frac{q_i}{p_i}"
    assert last(turned).verdict == "wrong"
    assert last(turned, f"${kl}$").verdict == "unknown"
    assert last(turned, r"$\mathcal{L} = (1 - a) \tau^2 \mathrm{KL}(p \| q)$").verdict == "wrong"  # nothing turns it
    assert last(r"\mathrm{KL}(p \| q) = \sum_i q_i \ln \frac{p_i}{q_i}", f"${kl}$").verdict == "wrong"
    assert last(r"\sigma(x) = \frac{1}{1 - e^{-x}}", f"${sigma}$").verdict == "wrong"
    gelu, layer = r"\mathrm{GELU}(x) \approx x \sigma(1.207 x)", r"y = \mathrm{GELU}(x W_1) W_2"
    assert last(gelu, f"${layer}$").verdict == "wrong"


@pytest.mark.parametrize(
    "loss",
    [
        r"\ell_i = -\log \frac{\exp(s_i)}{\sum_{k} \exp(s_k)}",
        r"\ell_{ij} = -\log \frac{\exp(s_{ij}/\tau)}{\sum_{k=1}^{2N} \exp(s_{ik}/\tau)}",
        r"\ell_i = -s_i + \log \sum_{k} e^{s_k}",
        r"L_i = \log \sum_{k} e^{s_k} - s_i",
        r"r_i = 1 - \frac{\exp(s_i)}{\sum_{k} \exp(s_k)}",
    ],
)
def test_what_is_made_of_a_softmax_is_no_slip_of_one(loss: str) -> None:
    assert last(loss).verdict != "wrong"
    assert last(r"\text{softmax}(s)_i = 1 - \frac{\exp(s_i)}{\sum_{k} \exp(s_k)}").verdict == "wrong"
