"""Counts of an attention that are more than the whole of it, and less than two: `5 d^2` parameters for `4 d^2`.

Result       `more_than_whole(said, part, quantity)` is the cost that such a count should be; None where it may be of
             some matrices, or of several attentions
Assumes      a fifth product, or half of another attention, is named where there is one: `MORE` are the words for it,
             in the whole text, `BESIDE` those near by which something else is counted
"""

from __future__ import annotations

from sympy import Expr, Integer, expand

from derivations.documents.judge.algebra.scalar_links import USUAL, related
from derivations.documents.judge.costs.count_agreement import by_monomial, lengths
from derivations.documents.judge.costs.part_costs import Cost, costs
from derivations.documents.judge.costs.subjects import Part
from derivations.symbols import d_k, d_model, d_v, h

__all__ = ["BESIDE", "MORE", "more_than_whole"]

ATTENTION = "multi-head attention"
SAME_WIDTHS, ONE_HEAD = ((d_v, d_k),), ((d_v, d_model), (d_k, d_model), (h, Integer(1)))
RELATIONS = ((), SAME_WIDTHS, USUAL[:2], ONE_HEAD)
MORE = (
    "relative", "gate", "gating", "glu", "cross", "encoder-decoder", "latent", "retention", "backward", "gradient",
    "train", "flash", "recomput", "disentangled", "alibi", "linear attention", "lora",
    "adapter", "expert", "multiply-a", "macs", "相对", "相對", "相対", "门控", "門控", "ゲート", "交叉", "クロス",
    "反向", "梯度", "逆伝播", "勾配", "训练", "訓練", "学習", "重计算",
    "重計算", "再計算", "潜在", "专家", "專家", "エキスパート", "适配", "適配", "アダプタ", "乘加",
)  # fmt: skip
BESIDE = (
    "without", "exclud", "except", "outside", "beside", "includ", "plus", "other than", "apart", "rest of", "instead",
    "together", "altogether", "modif", "variant", "不含", "除", "以外", "包括", "加上", "连同", "連同", "共", "含む",
    "合計", "合わせ",
)  # fmt: skip


def more_than_whole(said: Expr, part: Part, quantity: str) -> Cost | None:
    """Return the cost of an attention that a count of one product is more than, and less than twice."""
    if part.name != ATTENTION or quantity not in ("parameters", "operations") or len(by_monomial(said)) != 1:
        return None
    operations = quantity == "operations"
    for cost in costs(part.name, quantity):
        for relations in RELATIONS:
            for fewer, _ in lengths(said, expand(related(cost.value, relations)), operations=operations):
                ratio = (said / fewer).cancel()
                if ratio.is_Rational and 1 < ratio < 2:
                    return cost
    return None
