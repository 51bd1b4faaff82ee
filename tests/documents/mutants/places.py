"""Trees and the text they were read from: a part replaced, all else as it is written.

Definition   a spot is a node with those around it, from the inside outwards; an edit replaces one stretch of the text
Result       `edited(text, spot, new, syntax)` is the edit that replaces the node of a spot
Assumes      a base shares its stretch with its power or transpose, which is then written anew as a whole; brackets go
             with the sum that they were for: behind a letter, those of a single name would be read as an application
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from derivations.documents.formulas import formula_text
from derivations.documents.syntax import Fence, Name, Node, Number, Sum

__all__ = ["Edit", "Spot", "edited", "spots", "swapped"]

LEFT = r"\left"


@dataclass(frozen=True)
class Edit:
    """Characters of a text, from `start` to `end`, with what stands there instead."""

    start: int
    end: int
    written: str

    def of(self, text: str) -> str:
        """Return a text with the edit made."""
        return text[: self.start] + self.written + text[self.end :]


@dataclass(frozen=True)
class Spot:
    """A node of a formula, with the nodes around it, the nearest first."""

    node: Node
    around: tuple[Node, ...] = ()

    @property
    def whole(self) -> Node:
        """The formula in which it stands."""
        return self.around[-1] if self.around else self.node


def spots(root: Node) -> Iterator[Spot]:
    """Yield every node of a formula, from the outside inwards."""
    pending = [Spot(root)]
    while pending:
        spot = pending.pop()
        yield spot
        pending.extend(Spot(child, (spot.node, *spot.around)) for child in reversed(spot.node.children))


def swapped(node: Any, old: Node, new: Node) -> Any:
    """Return a node in which one part, that very one, is another."""
    if node is old:
        return new
    if isinstance(node, tuple):
        return tuple(swapped(each, old, new) for each in node)
    if isinstance(node, Node):
        return replace(node, **{each.name: swapped(getattr(node, each.name), old, new) for each in fields(node)})
    return node


def edited(text: str, spot: Spot, new: Node, syntax: str) -> Edit:
    """Return the edit that replaces the node of a spot."""
    node = spot.node
    is_single = isinstance(node, Sum) and isinstance(new, Name | Number)
    for outer in spot.around:
        if is_single and isinstance(outer, Fence) and outer.bracket == "(":
            node = outer
            continue
        if (outer.start, outer.end) != (node.start, node.end):
            break
        node, new = outer, swapped(outer, node, new)
    written = formula_text(new, "latex" if syntax == "latex" else "plain")
    start = len(text[: node.start].removesuffix(LEFT))  # a bracket begins behind the word for its size
    joined_before = text[:start][-1:].isalnum() and written[:1].isalnum()
    joined_behind = text[node.end :][:1].isalnum() and written[-1:].isalnum()
    return Edit(start, node.end, " " * joined_before + written + " " * joined_behind)
