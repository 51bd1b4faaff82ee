"""Formulas of training in the handbook: the usual form holds, its slips are wrong, other formulas are left alone."""

import pytest

from tests.documents.judge.claims import last

RIGHT = [
    ("Adam", r"m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t"),
    ("Adam", r"v_{t+1} = \beta_2 v_t + (1 - \beta_2) g_t^2"),
    ("Adam", r"\hat{m}_t = \frac{m_t}{1 - \beta_1^t}"),
    ("Adam", r"\theta_t = \theta_{t-1} - \alpha \frac{\hat{m}_t}{\sqrt{\hat{v}_t} + \epsilon}"),
    ("AdamW", r"w_t = w_{t-1} - \eta (\frac{\hat{m}_t}{\sqrt{\hat{v}_t} + \epsilon} + \lambda w_{t-1})"),
    ("Warmup", r"\text{lr} = d_{model}^{-0.5} \min(\text{step}^{-0.5}, \text{step} \cdot \text{warmup}^{-1.5})"),
    ("Label smoothing", r"y'_k = (1 - \epsilon) y_k + \frac{\epsilon}{K}"),
    ("Xavier", r"\text{Var}(W) = \frac{2}{n_{in} + n_{out}}"),
    ("Xavier", r"a = \sqrt{\frac{6}{n_{in} + n_{out}}}"),
    ("Glorot", r"\text{limit} = \frac{\sqrt{6}}{\sqrt{n_{in} + n_{out}}}"),
    ("He initialization", r"a = \sqrt{6 / n_{in}}"),
    ("He initialization", r"\sigma^2 = \frac{2}{n_{in}}"),
    ("Online softmax", r"m_i = \max(m_{i-1}, x_i)"),
    ("Online softmax", r"d_i = d_{i-1} e^{m_{i-1} - m_i} + e^{x_i - m_i}"),
    ("ALiBi", r"m_h = 2^{-8h/n}"),
    ("Dropout", r"\tilde{x}_i = \frac{m_i x_i}{1 - p}"),
    ("Cosine annealing", r"\eta_t = \eta_{min} + \frac{1}{2}(\eta_{max} - \eta_{min})(1 + \cos\frac{\pi t}{T})"),
    ("Binary cross-entropy", r"L = -[y \log\hat{y} + (1 - y) \log(1 - \hat{y})]"),
    ("二分类交叉熵", r"L = -y \log p - (1 - y) \log(1 - p)"),
    ("The F1-score", r"F_1 = \frac{2 P R}{P + R}"),
    ("Uniform quantisation", r"s = \frac{x_{max} - x_{min}}{2^b - 1}"),
    ("Layer normalisation", r"y_i = \gamma_i \hat{x}_i + \beta_i"),
    ("Rotary encoding", r"\omega_k = \frac{1}{10000^{2k/d}}"),
    ("Rotary encoding", r"\theta_i = b^{-2i/d}"),
]
BY_A_LETTER = [  # which is the name of many things
    ("Glorot", r"a = \frac{6}{n_{in} + n_{out}}"),
    ("Adam", r"\theta_t = \theta_{t-1} + \alpha \frac{\hat{m}_t}{\sqrt{\hat{v}_t} + \epsilon}"),
    ("Adam", r"\theta_t = \theta_{t-1} - \alpha \frac{\hat{m}_t}{\hat{v}_t + \epsilon}"),
    ("Label smoothing", r"y'_k = (1 + \epsilon) y_k + \frac{\epsilon}{K}"),
    ("Online softmax", r"d_i = d_{i-1} e^{m_i - m_{i-1}} + e^{x_i - m_i}"),
    ("Rotary encoding", r"x'_1 = x_1 \cos\theta - x_2 \cos\theta"),
    ("Cosine annealing", r"\eta_t = \eta_{min} + \frac{1}{2}(\eta_{max} - \eta_{min})(1 + \sin\frac{\pi t}{T})"),
    ("Cosine annealing", r"\eta_t = \eta_{min} + (\eta_{max} - \eta_{min})(1 + \cos\frac{\pi t}{T})"),
    ("Binary cross-entropy", r"L = -[y \log\hat{y} + (1 - y) \log(1 + \hat{y})]"),
    ("二値分類の損失", r"L = -[y \log\hat{y} - (1 - y) \log(1 - \hat{y})]"),
    ("Uniform quantisation", r"s = \frac{x_{max} + x_{min}}{2^b - 1}"),
    ("Layer normalisation", r"y_i = \gamma_i \hat{x}_i - \beta_i"),
]
SLIPS = [
    ("Adam", r"v_t = \beta_2 v_{t-1} + (1 - \beta_1) g_t^2"),
    ("Adam", r"\hat{v}_t = \frac{v_t}{(1 - \beta_2)^t}"),
    ("Adam", r"\hat{v}_t = \frac{v_t}{1 - \beta_2 t}"),
    ("Adam", r"m_t = \beta_1 m_{t-1} + (1 + \beta_1) g_t"),
    ("Adam", r"v_t = \beta_2 v_{t-1} + (1 - \beta_2) g_t"),
    ("Adam", r"\hat{v}_t = \frac{v_t}{1 - \beta_2}"),
    ("Adam", r"\hat{m}_t = m_t (1 - \beta_1^t)"),
    (r"Adam with $v_t, \beta_1, \beta_2$", r"\hat{m}_t = \frac{m_t}{1 - \beta_2^t}"),
    ("Warmup", r"\text{lr} = d_{model}^{0.5} \min(\text{step}^{-0.5}, \text{step} \cdot \text{warmup}^{-1.5})"),
    ("Warmup", r"\text{lr} = d_{model}^{-0.5} \max(\text{step}^{-0.5}, \text{step} \cdot \text{warmup}^{-1.5})"),
    ("Xavier", r"\text{Var}(W) = \frac{1}{n_{in} + n_{out}}"),
    ("The F1-score", r"F_1 = \frac{P R}{P + R}"),
]
OTHERS = [
    ("Xavier", r"a = \sqrt{\frac{3}{n_{in} + n_{out}}}"),
    ("Momentum", r"v_t = \beta v_{t-1} + g_t"),
    ("Adam and momentum", r"v_t = \beta v_{t-1} + (1 - \beta) g_t"),
    (r"Adam with $s_t, \beta_1, \beta_2$", r"\hat{v}_t = \frac{v_t}{1 - \beta_1^t}"),
    ("Adam and Lion", r"m_t = \beta_2 m_{t-1} + (1 - \beta_2) g_t"),
    ("A section", r"m_t = \beta_1 m_{t-1} + (1 + \beta_1) g_t"),
    ("Warmup", r"\text{lr} = \min(1, \text{step} / \text{warmup})"),
    ("Xavier", r"\text{Var}(W) = \frac{1}{n_{in}}"),
    ("Dropout", r"\tilde{x}_i = m_i x_i"),
    ("Adam", r"\theta_t = \theta_{t-1} - \alpha \frac{\hat{m}_t}{\sqrt{\hat{v}_t + \epsilon}}"),
    ("Adam", r"m_t = (1 - \beta_1) m_{t-1} + \beta_1 g_t"),
    ("He initialization", r"a = \sqrt{3 / n_{in}}"),
    ("He initialization", r"\sigma^2 = \frac{1}{n_{in}}"),
    ("Adam", r"m \leftarrow \beta_1 m + (1 - \beta_1) g"),
    ("Averages", r"u_t = \rho u_{t-1} + (1 - \rho) a_t"),
    ("Label smoothing", r"q_k = (1 - \alpha) \delta_{k,y} + \alpha / K"),
    ("Rotary encoding", r"x'_1 = x_1 \cos\theta - x_2 \sin\theta"),
    ("Rotary encoding", r"x'_2 = x_1 \sin m\theta + x_2 \cos m\theta"),
    ("Rotary encoding", r"x'_{2i+1} = x_{2i} \sin(m\theta_i) + x_{2i+1} \cos(m\theta_i)"),
    ("Gradient ascent", r"\theta_{t+1} = \theta_t + \eta g_t"),
    ("Cosine warmup", r"\eta_t = \frac{\eta_0}{2}(1 - \cos\frac{\pi t}{T})"),
    ("The loss", r"L = -[y \log p - (1 - y) \log(1 - p)]"),
    ("Binary cross-entropy", r"L = -\log p"),
    ("Uniform quantisation", r"s = \frac{r_{max} - r_{min}}{q_{max} - q_{min}}"),
    ("Rotary encoding", r"\theta_i = 12345^{-2i/d}"),
    ("Rotary encoding", r"\theta_i = 10000^{-i/d}"),
    ("Cosine annealing", r"\eta_t = \frac{\eta_0}{2}(1 + \cos\frac{\pi (t - 1)}{T})"),
]
EXCHANGED = [  # the usual form but for letters in other roles, or at another step
    ("Adam", r"m_t = \beta_1 g_t + (1 - \beta_1) m_{t-1}"),
    ("Adam", r"m_t = \beta_1 m_t + (1 - \beta_1) g_t"),
    ("Adam", r"\theta_t = \theta_{t-1} - \alpha \frac{\hat{v}_t}{\sqrt{\hat{m}_t} + \epsilon}"),
    ("Adam with $m_t, \\beta_1, \\beta_2$", r"\hat{v}_t = \frac{v_t}{1 - \beta_1^t}"),
    ("Rotary encoding", r"\theta_i = 10000^{-2d/i}"),
]


@pytest.mark.parametrize(("heading", "formula"), RIGHT)
def test_the_usual_form_holds(heading: str, formula: str) -> None:
    finding = last(formula, heading=heading)
    assert (finding.check, finding.verdict) == ("nearest", "holds")


@pytest.mark.parametrize(("heading", "formula"), SLIPS)
def test_a_slip_is_wrong(heading: str, formula: str) -> None:
    assert last(formula, heading=heading).verdict == "wrong"


@pytest.mark.parametrize(("heading", "formula"), BY_A_LETTER)
def test_a_slip_in_what_a_letter_names_makes_it_another_formula(heading: str, formula: str) -> None:
    assert last(formula, heading=heading).verdict == "conditional"


@pytest.mark.parametrize(("heading", "formula"), OTHERS)
def test_another_formula_is_not_called_wrong(heading: str, formula: str) -> None:
    assert last(formula, heading=heading).verdict != "wrong"


@pytest.mark.parametrize(("heading", "formula"), EXCHANGED)
def test_letters_in_other_roles_do_not_hold(heading: str, formula: str) -> None:
    assert last(formula, heading=heading).verdict in ("unknown", "wrong")


def test_letters_of_a_family_need_no_word() -> None:
    betas = r"We set $\beta_1 = 0.9$ and $\beta_2 = 0.999$."
    assert last(r"v_t = \beta_2 v_{t-1} + (1 - \beta_2) g_t^2", betas).verdict == "holds"
    assert last(r"v_t = \beta_2 v_{t-1} + (1 - \beta_1) g_t^2", betas).verdict == "wrong"


GATES = r"""The gates of a GRU are $r_t = \sigma(W_r x_t + U_r h_{t-1})$ and $z_t = \sigma(W_z x_t + U_z h_{t-1})$."""


@pytest.mark.parametrize(
    ("text", "formula", "verdict"),
    [
        (GATES, r"\tilde{h}_t = \tanh(W x_t + U (r_t \odot h_{t-1}) + b)", "holds"),
        (GATES, r"\tilde{h}_t = \tanh(W x_t + U (z_t \odot h_{t-1}))", "wrong"),
        (GATES, r"h_t = (1 - r_t) \odot h_{t-1} + r_t \odot \tilde{h}_t", "wrong"),
        ("A GRU with one gate z.", r"\tilde{h}_t = \tanh(W x_t + U (z_t \odot h_{t-1}) + b)", "holds"),
        ("An LSTM has gates $i_t$, $f_t$ and $o_t$.", r"h_t = o_t \odot \tanh(c_t)", "holds"),
        ("An LSTM has gates $i_t$, $f_t$ and $o_t$.", r"h_t = i_t \odot \tanh(c_t)", "wrong"),
        ("An LSTM has gates $i_t$, $f_t$ and $o_t$.", r"c_t = f_t \odot c_{t-1} + o_t \odot \tilde{c}_t", "wrong"),
        ("We have $i$, $f$ and $o$, and no cell.", r"h_t = i_t \odot \tanh(c_t)", "unknown"),
    ],
)
def test_a_gate_of_the_document_stands_for_no_other_one(text: str, formula: str, verdict: str) -> None:
    assert last(formula, text).verdict == verdict


def test_a_variant_beside_the_usual_formula_is_another_cell() -> None:
    """A unit with one gate, beside one with two: the candidate is defined twice, and once as it usually is."""
    usual = r"$$\tilde{h}_t = \tanh(W x_t + U (r_t \odot h_{t-1}) + b)$$"
    variant = r"\tilde{h}_t = \tanh(W x_t + U (z_t \odot h_{t-1}) + b)"
    assert last(variant, f"{GATES}\n\n{usual}\n\nWith one gate it is").verdict != "wrong"
    assert last(variant, GATES).verdict == "wrong"
