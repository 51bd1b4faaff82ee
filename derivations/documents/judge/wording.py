"""Texts for formulas, sizes and shapes in the reasons of findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sympy import Dummy, Expr

from derivations.documents.formulas import formula_text
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Arrow, Chain, Name, Node, Transpose

__all__ = ["line_of", "link_text", "shape_text", "size_text", "source"]


def size_text(size: Expr | None) -> str:
    """Return a size as plain text: `h d_v` is `d_v·h`, an unknown one is `?`."""
    return "?" if size is None or size.has(Dummy) else str(size).replace("**", "^").replace("*", "·")


def shape_text(sizes: Sequence[Expr | None]) -> str:
    """Return a shape as plain text: `n × d`, "a vector of d", "a scalar"."""
    if not sizes:
        return "a scalar"
    if len(sizes) == 1 and size_text(sizes[0]) == "?":
        return "a vector"
    return " × ".join(map(size_text, sizes)) if len(sizes) > 1 else f"a vector of {size_text(sizes[0])}"


def line_of(node: Node, scope: Scope) -> int | None:
    """Return the line that declares the shape of a letter."""
    inner = node.operand if isinstance(node, Transpose) else node
    candidates = scope.shape_candidates(inner) if isinstance(inner, Name) else ()
    return candidates[0].declaration.place.line if candidates else None


def source(sides: Sequence[Node], statement: Statement, relations: Sequence[str | Arrow] = ()) -> str:
    """Return nodes as a formula in the syntax of the statement they belong to."""
    syntax: Literal["latex", "plain"] = "latex" if statement.passage.syntax == "latex" else "plain"
    if len(sides) > 1 and relations:
        return formula_text(Chain(tuple(sides), tuple(relations)), syntax)
    return formula_text(sides[0], syntax)


def link_text(left: Node, right: Node, statement: Statement) -> str:
    """Return a link as text with another right side, and with its left side as it is written."""
    return f"{statement.text(left.start, left.end)} = {source((right,), statement)}"
