r"""Whether the words around attention say that its scores are scaled, where the formula does not scale them.

Definition   the paragraph or the nearest heading calls the attention scaled, nothing there denies it, and no formula of
             the section scales the scores of a softmax: then the unscaled formula is no first step towards it
Result       `is_said_scaled(statement, scope)`
"""

from __future__ import annotations

import re

from derivations.documents.judge.arrays.array_reading import function_word
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Node, Root

__all__ = ["is_said_scaled"]

SCALED = re.compile(
    r"\bscaled[ -]dot|缩放点积|縮放點積|缩放的点积"
    r"|スケール化(?:された)?内積|スケールドット|縮小付き内積|スケーリングされた内積",
    re.IGNORECASE,
)
DENIED = re.compile(
    r"\bunscaled|\bnot scaled|without (?:the |any )?(?:scal|divid|normali)|\bno scal|before (?:the )?scal|\bplain\b"
    r"|\bnaive|\bsimpl|ignor|omit|drop|不缩放|未缩放|没有缩放|不縮放|未縮放|忽略|省略|简化|簡化|簡略"
    r"|スケールしない|スケーリングなし|スケーリング前",
    re.IGNORECASE,
)
NEAR = 24  # statements on either side


def is_said_scaled(statement: Statement, scope: Scope) -> bool:
    """Return whether the words around a formula call its attention scaled, and no formula nearby is scaled."""
    words = scope.words(statement)
    if not SCALED.search(words) or DENIED.search(words):
        return False
    near = scope.document.around(statement, NEAR, NEAR + 1)
    others = (other for other in near if other.section in scope.reach.sections)
    return not any(_has_scaled(side) for other in others for side in other.chain.sides)


def _has_scaled(side: Node) -> bool:
    """Return whether there is a root inside a softmax."""
    calls = (part for part in side.walk() if isinstance(part, Call) and function_word(part.function) == "softmax")
    return any(isinstance(part, Root) for call in calls for part in call.walk())
