r"""Equations between numbers in which every name is one number, whatever stands in its subscripts.

Definition   `m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t` relates four numbers; `@` in a spelling stands for the index of
             the left side, `@-` for the one before it, so that m_t is `m@` and m_{t-1} is `m@-`
Result       an `Equation` says which spellings play which role on either side, and what the right side may be
Assumes      what is right as well is among the forms, for a formula that is one slip away from a form is called wrong
             where a word or a letter nearby tells that this equation is meant
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sympy import Expr

from derivations.documents.canon.forms import Form
from derivations.documents.syntax import Name

__all__ = ["SAID_ELSEWHERE", "Equation", "equation", "form"]

SAID_ELSEWHERE = "said elsewhere"  # the title of a form that is a form of a concept as well


@dataclass(frozen=True, eq=False)
class Equation:
    """An equation; `shape` tells it where letters are other ones, `signs` where it is certainly meant."""

    title: str
    left: frozenset[str]
    letters: Mapping[str, tuple[str, ...]]
    made: Callable[[], tuple[Form, ...]]
    shape: str = ""  # "recurrence": the left side stands on the right one step before; "hat": without its hat
    words: tuple[str, ...] = ()  # words nearby, in lower case, that tell that this equation is meant
    used: tuple[str, ...] = ()  # letters that all stand in the document where it is meant
    own: tuple[str, ...] = ()  # letters that the right side must have to be called wrong
    slips: tuple[str, ...] = ()  # words of the slips that count, where an author is free to make others
    quoted: bool = False  # from the handbook: the left side and the words nearby tell it, however light it is
    family: tuple[Name, ...] = ()  # letters that tell it from others of the same form: FP and FN, beta_1 and beta_2

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """What the right side may be, made when it is first asked for."""
        return self.made()

    def is_told_by(self, text: str) -> bool:
        """Say whether one of its words begins somewhere in a text of small letters: not "rope" in Europe."""
        return bool(self.words) and bool(_beginning(self.words).search(text))


@lru_cache(maxsize=256)
def _beginning(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"(?<![a-z])(?:{'|'.join(map(re.escape, words))})")


def form(value: Expr, result: str = "", assumed: tuple[str, ...] = (), title: str = "") -> Form:
    """Return a form whose letters are numbers."""
    return Form(result, value, scalars=True, assumed=assumed, title=title)


def equation(
    title: str,
    left: str,
    forms: Callable[[], tuple[Form, ...]],
    shape: str = "",
    words: str = "",
    used: str = "",
    own: str = "",
    slips: str = "",
    **letters: str,
) -> Equation:
    """Return an equation whose spellings are separated by spaces."""
    roles = {role: tuple(spellings.split()) for role, spellings in letters.items()}
    tells = tuple(word for word in words.split("|") if word)
    return Equation(
        title,
        frozenset(left.split()),
        roles,
        forms,
        shape,
        tells,
        tuple(used.split()),
        tuple(own.split()),
        tuple(slips.split("|")) if slips else (),
    )
