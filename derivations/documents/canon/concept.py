"""What a concept is: the words and marks by which a formula is known to be about it, and its forms.

Definition   a concept is met by a word on the left (`Attention(Q, K, V) = ...`), or by marks of the right side where
             the left is a mere letter
Assumes      words in small letters without spaces
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from derivations.documents.canon.forms import Form

__all__ = ["Concept", "Left", "concept"]

Left = Literal[
    "any",
    "word",
    "derivative",
    "same place",
    "slope",
    "matrix derivative",
    "even",
    "odd",
    "width",
    "mean",
    "variance",
    "deviation",
    "head",
    "rms",
    "dot",
    "product entry",
    "score",
    "low rank",
    "one query",
    "log entry",
]


@dataclass(frozen=True)
class Concept:
    """A concept; `marks` must all be on the right where no word on the left tells it, `left` is what stands there."""

    title: str
    forms: Callable[[], tuple[Form, ...]]
    words: tuple[str, ...] = ()
    marks: frozenset[str] = frozenset()
    left: Left = "any"


def concept(
    title: str, made: Callable[[], tuple[Form, ...]], words: str = "", marks: str = "", left: Left = "any"
) -> Concept:
    """Return a concept whose words and marks are written in one text each."""
    return Concept(title, made, tuple(words.split()), frozenset(marks.split()), left)
