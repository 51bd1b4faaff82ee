"""How a formula relates to the usual one that it resembles: equal, equal under an assumption, or one slip away.

Definition   usual        equal to a form of the concept once letters have their usual roles
             conditional  equal to one that assumes something
             wrong        one slip away from one
Result       `said_of(likeness)` is what a check may say of it: that a formula is the usual one is checked, and no
             proof of what a document says, since letters were given their roles by spelling
"""

from __future__ import annotations

from typing import Literal

from derivations.documents.verdicts import Unproved

__all__ = ["Likeness", "said_of", "usual_formula"]

Likeness = Literal["usual", "conditional", "wrong"]
_SAID: dict[Likeness, Unproved] = {"usual": "holds", "conditional": "conditional", "wrong": "wrong"}


def said_of(likeness: Likeness) -> Unproved:
    """Return the verdict for a likeness: "holds" for a usual formula, else the same word."""
    return _SAID[likeness]


def usual_formula(title: str) -> str:
    """Return the remark that a formula is the usual one."""
    return f"this is the usual formula of {title}"
