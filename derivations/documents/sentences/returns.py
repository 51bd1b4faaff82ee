r"""Widths that come back: "→ [1, 10, 512]  # back to the original dimension", 回到原始維度, 元の次元に戻す.

Definition   a sentence that takes one width to another, `2048 → 512`, and calls that the original one
Result       holds where a shape before it has that width; nothing otherwise: which one is the original, only the author
             knows
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sympy import Expr

from derivations.documents.sentences.joined import Sentence
from derivations.documents.sentences.quantities import maps_in
from derivations.documents.verdicts import Finding

__all__ = ["check_returns"]

CHECK = "shape"
_ORIGINAL = r"(?:原始|原來|原来|原先|最初|輸入|输入)"
_WIDTH = r"(?:維度|维度|維數|维数|寬度|宽度|大小)"
_RETURNS = re.compile(
    r"\bback\s+to\s+(?:the\s+|its\s+)?(?:original|initial|input)\s+(?:dimension(?:ality)?|width|size)\b"
    r"|\brestor\w+\s+(?:the\s+|its\s+)?(?:original|initial)\s+(?:dimension(?:ality)?|width|size)\b"
    rf"|(?:回到|恢復到?|恢复到?|還原[到成為]?|还原[到成为]?|變回|变回|壓縮回|压缩回)的?{_ORIGINAL}的?{_WIDTH}"
    r"|元の(?:次元|幅|サイズ)(?:数)?(?:に|へ)(?:戻|射影)",
    re.IGNORECASE,
)


def check_returns(sentence: Sentence, widths: Sequence[Expr]) -> Iterator[tuple[int, int, Finding]]:
    """Yield that a width comes back; `widths` are those of the shapes before, the nearest first."""
    said = _RETURNS.search(sentence.text)
    maps = list(maps_in(sentence, widths)) if said else []
    if said is None or len(maps) != 1:
        return
    _, _, before, after = maps[0]
    if after in widths and (before != after or before == widths[0]):  # which is that of a map without a left side
        yield *said.span(), Finding("holds", CHECK, f"a shape before it has the width {after}")
