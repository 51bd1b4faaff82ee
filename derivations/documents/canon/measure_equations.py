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
PRECISION, RECALL = "P precision p Precision Prec", "R recall r Recall Rec"

MEASURES: tuple[Equation, ...] = (
    equation(
        "the cosine schedule", RATES, cosine_schedule, words=FALLING, used="T_cur T_max",
        low="eta_min eta_{min} lr_min alpha_min eta_end", high="eta_max eta_{max} eta_0 lr_max alpha_max alpha_0 eta_p",
        step="t step T_cur T_{cur} s @", total="T T_max T_{max} T_i N total_steps", warmup="T_w T_warmup w warmup t_w",
    ),
    equation(
        "a step of gradient descent", "theta@ theta w@ w W@ W", descent,  # no words: what rises is right as well
        before="theta@- theta w@- w W@- W", rate="eta alpha lr eta@ eta@- gamma", gradient="g@ g@- g",
    ),
    equation(
        "binary cross-entropy", "L l ell BCE loss J L_BCE L@ l@ ell@", binary_cross_entropy,
        words="binary|logistic|bernoulli|二元|二分类|二分類|二値|ロジスティック",
        label="y y@ t t@", chance="haty haty@ p p@ hatp hatp@ a a@",
    ),
    equation(
        "the F-measure", "F_1 F1", f_measure, words=F_WORDS, precision=PRECISION, recall=RECALL,
    ),
    equation(
        "the weighted F-measure", "F_beta F_β", weighted_f_measure, words=F_WORDS,
        precision=PRECISION, recall=RECALL, weight="beta β",
    ),
    equation(
        "the step of a code", "s S scale Delta", code_step, words="quanti|量化|量子化",
        highest="x_max x_{max} max beta r_max w_max", lowest="x_min x_{min} min alpha r_min w_min",
        bits="b n k bits B",
    ),
)  # fmt: skip
