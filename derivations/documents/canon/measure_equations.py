"""The equations of measures and schedules, as data: how they are spelled, and where they are certainly meant."""

from __future__ import annotations

from derivations.documents.canon.equations import Equation, equation
from derivations.documents.canon.measure_forms import (
    binary_cross_entropy,
    code_step,
    cosine_schedule,
    descent,
    f_measure,
    weighted_f_measure,
)

__all__ = ["MEASURES"]

FALLING = "cosine decay|cosine anneal|余弦退火|余弦衰减|餘弦退火|餘弦衰減|コサイン減衰|コサインアニーリング"
RATES = "eta@ eta lr lr@ alpha@ alpha"
F_WORDS = "f1|f_1|f-score|f-measure|f1-score|precision|recall|適合率|再現率|精确率|精確率|召回率|查准率"

MEASURES: tuple[Equation, ...] = (
    equation("the cosine schedule", RATES, cosine_schedule, words=FALLING),
    equation("a step of gradient descent", "theta@ theta w@ w W@ W", descent),
    equation(
        "binary cross-entropy",
        "L l ell BCE loss J L_BCE L@ l@ ell@",
        binary_cross_entropy,
        words="binary|logistic|bernoulli|二元|二分类|二分類|二値|ロジスティック",
    ),
    equation("the F-measure", "F_1 F1", f_measure, words=F_WORDS),
    equation("the weighted F-measure", "F_beta F_β", weighted_f_measure, words=F_WORDS),
    equation("the step of a code", "s S scale Delta", code_step, words="quanti|量化|量子化"),
)
