"""Counts that cover several feed-forward networks: both, all experts, or one that is computed again.

Result       `may_be_several(said, cost, ...)`: whether a count has a whole multiple of the weights of one network, and
             the words around speak of several
"""

from __future__ import annotations

import re

from sympy import Expr

from derivations.documents.judge.costs.count_agreement import NETWORKS, in_letters, leading_terms
from derivations.documents.judge.costs.part_costs import Cost
from derivations.documents.judge.costs.subjects import Part

__all__ = ["may_be_several"]

_SEVERAL = re.compile(
    r"\b(?:both|together|in all|altogether|networks|ffns|mlps|total|twice|experts?|moe|stacks?)\b|checkpoint|recomput"
    r"|(?<!linear )(?<!hidden )(?<!dense )\blayers\b"
    r"|两个(?:前馈|网络)|兩個(?:前饋|網路)|两层前馈|二つ|共|合計|总|總|专家|專家|エキスパート|重计算|重計算|再計算"
)


def may_be_several(said: Expr, cost: Cost, part: Part, quantity: str, words: str) -> bool:
    """Return whether a count may be of several networks."""
    if part.name not in NETWORKS:
        return False
    one = leading_terms(in_letters(said, cost.value, operations=quantity == "operations"))
    ratio = (leading_terms(said) / one).cancel()
    return bool(ratio.is_Integer and ratio > 1 and _SEVERAL.search(words))
