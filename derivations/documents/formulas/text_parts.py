"""Printing shared by LaTeX and plain text: sums, products, bounds, chains."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from derivations.documents.syntax import Aggregate, Arrow, Chain, List, Node, Product, Sum, Words

__all__ = ["aggregate_parts", "chain_text", "glued_text", "label_text", "product_text", "sum_text"]

_COMMAND = re.compile(r"\\[A-Za-z]+\Z")


def sum_text(node: Sum, write: Callable[[Node], str], either: str) -> str:
    """Return the text of a sum. `either` is the text of a plus-or-minus sign."""
    signs = {1: "+ ", -1: "- ", 0: either}
    first = {1: "+ " if len(node.terms) == 1 else "", -1: "-", 0: either}[node.signs[0]]
    parts = [first + write(node.terms[0])]
    parts += [signs[sign] + write(term) for term, sign in zip(node.terms[1:], node.signs[1:], strict=True)]
    return " ".join(parts)


def product_text(
    factors: Sequence[Node], operators: Sequence[str], write: Callable[[Node], str], signs: dict[str, str]
) -> str:
    """Return the text of a product: factors with the operators between them."""
    text = write(factors[0])
    for factor, operator in zip(factors[1:], operators, strict=True):
        text += f" {signs[operator]} {write(factor)}" if operator else f" {write(factor)}"
    return text


def glued_text(node: Node, write: Callable[[Node], str]) -> str:
    """Return a denominator without spaces, so that it is read as one denominator: `1 / 2n`."""
    if isinstance(node, Product) and not any(node.operators):
        parts = [write(factor) for factor in node.factors]
        ends = [f"{{{part}}}" if _COMMAND.search(part) else part for part in parts[:-1]]  # `{\sigma}x`, not `\sigmax`
        return "".join([*ends, parts[-1]])
    return write(node)


def aggregate_parts(node: Aggregate, write: Callable[[Node], str]) -> tuple[str, str]:
    """Return the bounds of a sum as scripts, `_{i = 1}^{n}`, and the text of its operand."""
    body = write(node.body)
    if node.kind == "integral" and node.index:
        body += f" d {write(node.index[0])}"
    lower = _bounds(node, write)
    below = f"_{{{lower}}}" if lower else ""
    above = f"^{{{write(node.upper)}}}" if node.upper is not None else ""
    return below + above, body


def _bounds(node: Aggregate, write: Callable[[Node], str]) -> str:
    if node.kind == "integral" and node.index:
        return write(node.lower) if node.lower is not None else ""
    over = write(node.over) if node.over is not None else ""
    if node.lower is not None:
        bound = f"{write(node.index[0])} = {write(node.lower)}"
        return f"{bound}, {over}" if over else bound
    return over or ", ".join(map(write, node.index))


def chain_text(node: Chain, write: Callable[[Node], str], relations: dict[str, str], condition: str) -> str:
    """Return sides with the relations between them, and the condition that follows."""
    text = write(node.sides[0])
    for relation, side in zip(node.relations, node.sides[1:], strict=True):
        text += f" {write(relation) if isinstance(relation, Arrow) else relations[relation]} {write(side)}"
    if node.condition is not None:
        behind = (
            node.condition.items
            if isinstance(node.condition, List) and not node.condition.bracket
            else (node.condition,)
        )
        words_alone = len(behind) == 1 and isinstance(behind[0], Words)
        text += (", " if words_alone else condition) + ", ".join(map(write, behind))
    return text.strip()


def label_text(node: Node, write: Callable[[Node], str], words: Callable[[str], str]) -> str:
    """Return one subscript or label."""
    return words(node.text) if isinstance(node, Words) else write(node)
