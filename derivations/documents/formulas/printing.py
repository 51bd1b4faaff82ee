r"""Printing of parsed formulas, in LaTeX or plain characters.

Definition   what was read and is printed reads as the same: `read(text(read(x))) == read(x)` in the same syntax
Result       one spelling for each node: `\frac`, `\left( \right)`, subscripts in braces; in plain text brackets are
             added where LaTeX needs none, `(a + b)/c`
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from derivations.documents.formulas.latex_text import latex_text
from derivations.documents.formulas.plain_text import plain_text
from derivations.documents.syntax import Chain, Node

__all__ = ["formula_text", "statements_text"]


def formula_text(node: Node, syntax: Literal["latex", "plain"] = "latex") -> str:
    """Return a part of a formula as text."""
    return latex_text(node) if syntax == "latex" else plain_text(node)


def statements_text(statements: Iterable[Chain], syntax: Literal["latex", "plain"] = "latex") -> str:
    """Return statements as one text, separated by semicolons."""
    return "; ".join(formula_text(each, syntax) for each in statements)
