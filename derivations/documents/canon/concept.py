"""A concept: the words and features by which its formulas are recognised, its usual letters and its forms.

Definition   a concept is met by a word on the left (`Attention(Q, K, V) = ...`), or by marks of the right side where
             the left is a mere letter; `letters` are the usual letters of a role, those of the first roles taken first
Assumes      words in small letters without spaces; letters as `Name.key` spells them
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from derivations.documents.canon.forms import Form

__all__ = ["Concept", "Left", "Letters", "concept", "letters_of"]

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
Letters: TypeAlias = dict[str, tuple[str, ...]]


def letters_of(**letters: str) -> Letters:
    """Return the usual letters of each role, given as one string of letters separated by spaces."""
    return {role: tuple(words.split()) for role, words in letters.items()}


@dataclass(frozen=True, eq=False)
class Concept:
    """A concept: its forms, its usual letters, and what identifies its formulas.

    A formula needs a left side of kind `left`, and either one of the `words` there or all `marks` on the right.
    """

    title: str
    forms: Callable[[], tuple[Form, ...]]
    words: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    marks: frozenset[str] = frozenset()
    left: Left = "any"
    letters: Letters = field(default_factory=dict)
    lenient: bool = False  # other formulas are right as well, so that none is a slip of this one


def concept(
    title: str, made: Callable[[], tuple[Form, ...]], words: str = "", marks: str = "", **more: object
) -> Concept:
    """Return a concept. Its words, marks and arguments are each given as one string, separated by spaces."""
    arguments = tuple(str(more.pop("arguments", "")).split())
    letters = more.pop("letters", {})
    left, lenient = more.pop("left", "any"), bool(more.pop("lenient", False))
    return Concept(title, made, tuple(words.split()), arguments, frozenset(marks.split()), left, letters, lenient)  # type: ignore[arg-type]
