"""Equations that many texts quote, recognised by their left sides and by words nearby.

Definition   in a spelling of a left side `@` stands for its index, `@-` for the one before it, so that m_t is `m@`
Assumes      what is right as well is among the forms, for a formula that is one slip away from a form is called wrong
             where a word or a letter nearby tells that this equation is meant
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from derivations.documents.canon.forms import Form
from derivations.documents.syntax import Name

__all__ = ["Equation"]


@dataclass(frozen=True, eq=False)
class Equation:
    """An equation: the spellings of its left side, its possible right sides, and words that identify it."""

    title: str
    left: frozenset[str]
    made: Callable[[], tuple[Form, ...]]
    words: tuple[str, ...] = ()  # words nearby, in lower case, that tell that this equation is meant
    family: tuple[Name, ...] = ()  # letters that tell it from others of the same form: FP and FN, beta_1 and beta_2

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The possible right sides, built at the first access."""
        return self.made()

    def is_told_by(self, text: str) -> bool:
        """Return whether a word of `text`, in lower case, begins with one of `words`: not "rope" in Europe."""
        return bool(self.words) and bool(_beginning(self.words).search(text))


@lru_cache(maxsize=256)
def _beginning(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"(?<![a-z])(?:{'|'.join(map(re.escape, words))})")
