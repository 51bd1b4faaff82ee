"""Measures and schedules: the right formulas in several spellings, their slips, and what is right as well."""

import pytest

from derivations.documents.checking import check_text

COSINE = "Cosine annealing"
BINARY = "Binary cross-entropy"
F_SCORE = "The F1-score of precision and recall"
CODES = "Uniform quantisation"


def verdict_of(words: str, formula: str) -> str:
    return check_text(f"{words}: ${formula}$", "markdown").claims[-1].finding.verdict


@pytest.mark.parametrize(
    ("words", "formula"),
    [
        (COSINE, r"\eta_t = \eta_{min} + \frac{1}{2}(\eta_{max} - \eta_{min})(1 + \cos\frac{\pi t}{T})"),
        (COSINE, r"\eta_t = \frac{\eta_0}{2}\left(1 + \cos\left(\frac{T_{cur}}{T_{max}} \pi\right)\right)"),
        ("余弦退火", r"\eta_t = \eta_{min} + 0.5 (\eta_{max} - \eta_{min})(1 + \cos(\pi t / T))"),
        (BINARY, r"L = -[y \log\hat{y} + (1 - y) \log(1 - \hat{y})]"),
        ("二分类交叉熵", r"L = -y \log p - (1 - y) \log(1 - p)"),
        (F_SCORE, r"F_1 = \frac{2 P R}{P + R}"),
        (F_SCORE, r"F_1 = 2 \cdot \frac{\text{precision} \cdot \text{recall}}{\text{precision} + \text{recall}}"),
        (F_SCORE, r"F_\beta = (1 + \beta^2) \frac{P R}{\beta^2 P + R}"),
        (CODES, r"s = \frac{x_{max} - x_{min}}{2^b - 1}"),
        (CODES, r"s = \frac{\beta - \alpha}{2^b - 1}"),
        ("量子化", r"s = \frac{x_{max}}{2^{b-1} - 1}"),
        ("Here", r"\theta_{t+1} = \theta_t - \eta g_t"),
    ],
)
def test_what_is_right_holds(words: str, formula: str) -> None:
    assert verdict_of(words, formula) == "holds"


@pytest.mark.parametrize(
    ("words", "formula"),
    [
        (COSINE, r"\eta_t = \eta_{min} + \frac{1}{2}(\eta_{max} - \eta_{min})(1 + \sin\frac{\pi t}{T})"),
        (COSINE, r"\eta_t = \eta_{min} + \frac{1}{2}(\eta_{max} + \eta_{min})(1 + \cos\frac{\pi t}{T})"),
        (COSINE, r"\eta_t = \eta_{min} + (\eta_{max} - \eta_{min})(1 + \cos\frac{\pi t}{T})"),
        (BINARY, r"L = -[y \log\hat{y} + (1 - y) \log(1 + \hat{y})]"),
        ("二値分類の損失", r"L = -[y \log\hat{y} - (1 - y) \log(1 - \hat{y})]"),
        (F_SCORE, r"F_1 = \frac{P R}{P + R}"),
        (F_SCORE, r"F_1 = \frac{2 P R}{P - R}"),
        (F_SCORE, r"F_\beta = (1 + \beta^2) \frac{P R}{\beta P + R}"),
        (CODES, r"s = \frac{x_{max} + x_{min}}{2^b - 1}"),
    ],
)
def test_what_is_one_slip_away_is_wrong(words: str, formula: str) -> None:
    assert verdict_of(words, formula) == "wrong"


@pytest.mark.parametrize(
    ("words", "formula", "verdict"),
    [
        (COSINE, r"\eta_t = \frac{\eta_0}{2}(1 + \cos\frac{2 \pi t}{T})", "conditional"),
        (COSINE, r"\eta_t = \frac{\eta_0}{2}(1 + \cos\frac{\pi (t - 1)}{T})", "conditional"),
        ("A schedule", r"\eta_t = \frac{\eta_0}{2}(1 + \sin\frac{\pi t}{T})", "unknown"),  # of another kind
        ("A schedule", r"\eta_t = \frac{\eta_0}{2}(1 + \cos\frac{T_{cur} \pi}{T_{max}})", "holds"),
        ("A schedule", r"\eta_t = \frac{\eta_0}{2}(1 + \sin\frac{T_{cur} \pi}{T_{max}})", "wrong"),  # by its letters
        (r"A rate $\eta_{t+1} = \eta_t + \frac{1}{2}(\eta_{max} - \eta_{min})(1 - \cos\frac{\pi}{T_{max}})$ at its end",
         r"T_{cur} = (2 k + 1) T_{max}", "unknown"),
        (r"With $T_{cur}$ and $T_{max}$",
         r"\eta_{t+1} = \eta_t + \frac{1}{2}(\eta_{max} - \eta_{min})(1 - \cos\frac{\pi}{T_{max}})", "unknown"),
        ("Cosine warmup", r"\eta_t = \frac{\eta_0}{2}(1 - \cos\frac{\pi t}{T})", "unknown"),  # it rises
        (BINARY, r"L = y \log p + (1 - y) \log(1 - p)", "conditional"),
        (BINARY, r"L = -\log p", "unknown"),  # that of the one label
        ("The loss", r"L = -[y \log p - (1 - y) \log(1 - p)]", "unknown"),
        (CODES, r"s = \frac{x_{max} - x_{min}}{2^b - 2}", "conditional"),
        (CODES, r"s = \frac{2^b - 1}{x_{max} - x_{min}}", "conditional"),
        (CODES, r"s = \frac{r_{max} - r_{min}}{q_{max} - q_{min}}", "unknown"),
        ("Gradient ascent", r"\theta_{t+1} = \theta_t + \eta g_t", "unknown"),
    ],
)  # fmt: skip
def test_what_is_right_as_well_is_left_alone(words: str, formula: str, verdict: str) -> None:
    assert verdict_of(words, formula) == verdict


def test_a_name_of_several_letters_is_one_spelling() -> None:
    words = "With warmup"
    assert verdict_of(words, r"lr = d_{model}^{-0.5} \cdot \min(step^{-0.5}, step \cdot warmup^{-1.5})") == "holds"
    assert verdict_of(words, r"lr = d_{model}^{-0.5} \cdot \max(step^{-0.5}, step \cdot warmup^{-1.5})") == "wrong"
    smoothed = "Label smoothing"
    assert verdict_of(smoothed, r"y_i^{LS} = (1 - \epsilon) y_i + \frac{\epsilon}{K}") == "holds"
    assert verdict_of(smoothed, r"y_i^{LS} = (1 - \epsilon) y_i + \epsilon K") == "wrong"
