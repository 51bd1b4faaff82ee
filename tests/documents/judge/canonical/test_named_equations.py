"""Equations between numbers: the steps of an optimiser, a schedule, smoothed labels, variances, running sums, turns."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last

RIGHT = [
    ("Adam", r"m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t", "holds"),
    ("Adam", r"v_{t+1} = \beta_2 v_t + (1 - \beta_2) g_t^2", "holds"),
    ("Adam", r"m \leftarrow \beta_1 m + (1 - \beta_1) g", "holds"),
    ("Adam", r"\hat{m}_t = \frac{m_t}{1 - \beta_1^t}", "holds"),
    ("Adam", r"\theta_t = \theta_{t-1} - \alpha \frac{\hat{m}_t}{\sqrt{\hat{v}_t} + \epsilon}", "holds"),
    ("Adam", r"\theta_t = \theta_{t-1} - \alpha \frac{\hat{m}_t}{\sqrt{\hat{v}_t + \epsilon}}", "conditional"),
    ("Adam", r"m_t = (1 - \beta_1) m_{t-1} + \beta_1 g_t", "conditional"),
    ("AdamW", r"w_t = w_{t-1} - \eta (\frac{\hat{m}_t}{\sqrt{\hat{v}_t} + \epsilon} + \lambda w_{t-1})", "holds"),
    ("Averages", r"u_t = \rho u_{t-1} + (1 - \rho) a_t", "holds"),
    (
        "Warmup",
        r"\text{lr} = d_{model}^{-0.5} \min(\text{step}^{-0.5}, \text{step} \cdot \text{warmup}^{-1.5})",
        "holds",
    ),
    ("Label smoothing", r"y'_k = (1 - \epsilon) y_k + \frac{\epsilon}{K}", "holds"),
    ("Label smoothing", r"q_k = (1 - \alpha) \delta_{k,y} + \alpha / K", "holds"),
    ("Xavier", r"\text{Var}(W) = \frac{2}{n_{in} + n_{out}}", "holds"),
    ("Xavier", r"a = \sqrt{\frac{6}{n_{in} + n_{out}}}", "holds"),
    ("Glorot", r"\text{limit} = \frac{\sqrt{6}}{\sqrt{n_{in} + n_{out}}}", "holds"),
    ("He initialization", r"a = \sqrt{6 / n_{in}}", "holds"),
    ("He initialization", r"a = \sqrt{3 / n_{in}}", "conditional"),
    ("He initialization", r"\sigma^2 = \frac{2}{n_{in}}", "holds"),
    ("He initialization", r"\sigma^2 = \frac{1}{n_{in}}", "conditional"),
    ("Online softmax", r"m_i = \max(m_{i-1}, x_i)", "holds"),
    ("Online softmax", r"d_i = d_{i-1} e^{m_{i-1} - m_i} + e^{x_i - m_i}", "holds"),
    ("Rotary encoding", r"x'_1 = x_1 \cos\theta - x_2 \sin\theta", "holds"),
    ("Rotary encoding", r"x'_2 = x_1 \sin m\theta + x_2 \cos m\theta", "holds"),
    ("Rotary encoding", r"x'_{2i+1} = x_{2i} \sin(m\theta_i) + x_{2i+1} \cos(m\theta_i)", "holds"),
    ("ALiBi", r"m_h = 2^{-8h/n}", "holds"),
    ("Dropout", r"\tilde{x}_i = \frac{m_i x_i}{1 - p}", "holds"),
]
SLIPS = [
    ("Adam", r"v_t = \beta_2 v_{t-1} + (1 - \beta_1) g_t^2", "beta_2 belongs where beta_1 stands"),
    ("Xavier", r"a = \sqrt{\frac{3}{n_{in} + n_{out}}}", "the factor 2 is missing"),
    ("Glorot", r"a = \frac{6}{n_{in} + n_{out}}", "the root is missing"),
    ("Rotary encoding", r"x'_{2i+1} = x_{2i} \sin(m\theta_i) - x_{2i+1} \cos(m\theta_i)", "sign"),
    ("Adam", r"\hat{v}_t = \frac{v_t}{(1 - \beta_2)^t}", "the exponent belongs to beta_2"),
    ("Adam", r"\hat{v}_t = \frac{v_t}{1 - \beta_2 t}", "t must be an exponent"),
    (
        "Schedule",
        r"lrate = d_{model}^{-0.5} \min(step^{-0.5}, step \cdot warmup\_steps^{-0.5})",
        "the number must be 1.5",
    ),
    ("Adam", r"m_t = \beta_1 m_{t-1} + (1 + \beta_1) g_t", "sign"),
    ("Adam", r"m_t = \beta_1 m_t + (1 - \beta_1) g_t", "belongs where m_t stands"),
    ("Adam", r"v_t = \beta_2 v_{t-1} + (1 - \beta_2) g_t", "square"),
    ("Adam", r"\hat{v}_t = \frac{v_t}{1 - \beta_2}", "the exponent t is missing"),
    ("Adam", r"\hat{m}_t = m_t (1 - \beta_1^t)", "quotient"),
    ("Adam", r"\theta_t = \theta_{t-1} + \alpha \frac{\hat{m}_t}{\sqrt{\hat{v}_t} + \epsilon}", "sign"),
    ("Adam", r"\theta_t = \theta_{t-1} - \alpha \frac{\hat{m}_t}{\hat{v}_t + \epsilon}", "root"),
    ("Adam", r"\theta_t = \theta_{t-1} - \alpha \frac{\hat{v}_t}{\sqrt{\hat{m}_t} + \epsilon}", "changed places"),
    (
        "Adam with $m_t, \\beta_1, \\beta_2$",
        r"\hat{v}_t = \frac{v_t}{1 - \beta_1^t}",
        "beta_2 belongs where beta_1 stands",
    ),
    (
        "Adam with $v_t, \\beta_1, \\beta_2$",
        r"\hat{m}_t = \frac{m_t}{1 - \beta_2^t}",
        "beta_1 belongs where beta_2 stands",
    ),
    ("Warmup", r"\text{lr} = d_{model}^{0.5} \min(\text{step}^{-0.5}, \text{step} \cdot \text{warmup}^{-1.5})", "-0.5"),
    ("Warmup", r"\text{lr} = d_{model}^{-0.5} \max(\text{step}^{-0.5}, \text{step} \cdot \text{warmup}^{-1.5})", "min"),
    ("Label smoothing", r"y'_k = (1 + \epsilon) y_k + \frac{\epsilon}{K}", "sign"),
    ("Xavier", r"\text{Var}(W) = \frac{1}{n_{in} + n_{out}}", "factor 2"),
    ("Online softmax", r"d_i = d_{i-1} e^{m_i - m_{i-1}} + e^{x_i - m_i}", "wrong way round"),
    ("Rotary encoding", r"x'_1 = x_1 \cos\theta - x_2 \cos\theta", "sin"),
]
OTHERS = [
    ("Momentum", r"v_t = \beta v_{t-1} + g_t"),
    ("Adam and momentum", r"v_t = \beta v_{t-1} + (1 - \beta) g_t"),
    ("Adam with $s_t, \\beta_1, \\beta_2$", r"\hat{v}_t = \frac{v_t}{1 - \beta_1^t}"),  # v is the first moment there
    ("Adam and Lion", r"m_t = \beta_2 m_{t-1} + (1 - \beta_2) g_t"),
    ("A section", r"m_t = \beta_1 m_{t-1} + (1 + \beta_1) g_t"),
    ("Warmup", r"\text{lr} = \min(1, \text{step} / \text{warmup})"),
    ("Xavier", r"\text{Var}(W) = \frac{1}{n_{in}}"),
    ("Dropout", r"\tilde{x}_i = m_i x_i"),
]


@pytest.mark.parametrize(("heading", "formula", "verdict"), RIGHT)
def test_what_is_right(heading: str, formula: str, verdict: str) -> None:
    finding = last(formula, heading=heading)
    assert (finding.check, finding.verdict) == ("equation", verdict)


@pytest.mark.parametrize(("heading", "formula", "slip"), SLIPS)
def test_a_slip_is_wrong_where_the_equation_is_meant(heading: str, formula: str, slip: str) -> None:
    """The check says no, says why, and what would be right is right."""
    finding = last(formula, heading=heading)
    assert finding.verdict == "wrong"
    assert slip in finding.reason
    assert finding.right is not None
    assert last(finding.right, heading=heading).verdict == "holds"


def test_what_is_defined_by_itself_is_no_usual_equation() -> None:
    assert last(r"v_t = \beta_2 v_{t-1} + (1 - \beta_2) v_t^2", heading="Averages").verdict == "unknown"
    assert last(r"v_t = \beta_2 v_{t-1} + (1 - \beta_2) u_t^2", heading="Averages").verdict == "holds"


@pytest.mark.parametrize(("heading", "formula"), OTHERS)
def test_another_equation_is_not_called_wrong(heading: str, formula: str) -> None:
    assert last(formula, heading=heading).verdict != "wrong"


def test_a_decay_rate_near_1_weighs_what_was_before() -> None:
    """The published value tells which of the two ways is meant."""
    formula = r"m_t = (1 - \beta_1) m_{t-1} + \beta_1 g_t"
    assert last(formula, heading="Adam").verdict == "conditional"
    assert last(formula, before=r"We set $\beta_1 = 0.9$.", heading="Adam").verdict == "wrong"


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (r"x'_1 = x_1 \cos\theta - x_2 \sin\theta", r"x'_2 = x_1 \sin\theta + x_2 \cos\theta", "holds"),
        (r"x'_1 = x_1 \cos\theta + x_2 \sin\theta", r"x'_2 = -x_1 \sin\theta + x_2 \cos\theta", "conditional"),
        (r"x'_1 = x_1 \cos\theta + x_2 \sin\theta", r"x'_2 = x_1 \sin\theta + x_2 \cos\theta", "wrong"),
        (r"x'_1 = x_1 \cos\theta - x_2 \sin\theta", r"x'_2 = -x_1 \sin\theta + x_2 \cos\theta", "wrong"),
        (r"q'_1 = q_1 \cos\theta + q_2 \sin\theta", r"x'_2 = x_1 \sin\theta + x_2 \cos\theta", "holds"),
    ],
)
def test_two_entries_of_a_pair_are_turned_one_way(first: str, second: str, verdict: str) -> None:
    """Another pair in between, in other letters, tells nothing."""
    assert last(second, before=f"${first}$", heading="Rotary encoding").verdict == verdict


def test_the_letters_of_the_other_moment_are_not_taken_for_other_letters() -> None:
    """A hat over v with beta_1 is no renamed first moment; nothing says which of the two is meant."""
    assert last(r"\hat{v}_t = \frac{v_t}{1 - \beta_1^t}").verdict == "unknown"
    assert last(r"\hat{u}_t = \frac{u_t}{1 - \rho^t}").verdict == "holds"


@pytest.mark.parametrize("heading", ["The initialisation", "In Europe", "Hadamard products"])
def test_words_tell_of_an_equation_where_they_begin(heading: str) -> None:
    """There is no "he init" in "the initialisation"."""
    assert last(r"a = \sqrt{2 / n_{in}^2}", heading=heading).verdict == "unknown"
    assert last(r"v_t = \beta v_{t-1} + (1 - \beta) g_t", heading=heading).verdict != "wrong"


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (r"x_1 \cos\theta - x_2 \sin\theta", r"x_1 \sin\theta - x_2 \cos\theta", "wrong"),
        (r"x_1 \cos\theta - x_2 \sin\theta", r"x_1 \sin\theta + x_2 \cos\theta", "holds"),
        (r"x_1 \cos\theta + x_2 \sin\theta", r"x_1 \sin\theta - x_2 \cos\theta", "unknown"),  # the pair is mirrored
        (r"x_1 \cos\phi + t", r"x_1 \sin\theta - x_2 \cos\theta", "unknown"),
    ],
)
def test_the_first_entry_of_a_pair_tells_what_the_second_is(first: str, second: str, verdict: str) -> None:
    """No word is needed where the line before turns the first entry."""
    assert last(f"x'_2 = {second}", f"$x'_1 = {first}$").verdict == verdict
