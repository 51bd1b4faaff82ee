r"""Equations between numbers in which every name is one number, whatever stands in its subscripts.

Definition   `m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t` relates four numbers; `@` in a spelling stands for the index of
             the left side, `@-` for the one before it, so that m_t is `m@` and m_{t-1} is `m@-`
Result       an `Equation` says which spellings play which role on either side, and what the right side may be
Assumes      what is right as well is among the forms, for a formula that is one slip away from a form is called wrong
             where a word or a letter nearby tells that this equation is meant
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from sympy import Expr

from derivations.documents.canon.forms import Form

__all__ = ["SAID_ELSEWHERE", "Equation", "equation", "form"]

SAID_ELSEWHERE = "said elsewhere"  # the title of a form that is a form of a concept as well


@dataclass(frozen=True)
class Equation:
    """An equation, known by the spelling of its left side and by a word nearby, in lower case."""

    title: str
    left: frozenset[str]
    made: Callable[[], tuple[Form, ...]]
    words: tuple[str, ...] = ()

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """What the right side may be, made when it is first asked for."""
        return self.made()


def form(value: Expr, result: str = "", assumed: tuple[str, ...] = (), title: str = "") -> Form:
    """Return a form whose letters are numbers."""
    return Form(result, value, scalars=True, assumed=assumed, title=title)


def equation(title: str, left: str, forms: Callable[[], tuple[Form, ...]], words: str = "") -> Equation:
    """Return an equation whose spellings are separated by spaces, its words by bars."""
    return Equation(title, frozenset(left.split()), forms, tuple(word for word in words.split("|") if word))
