r"""The one place at which two formulas differ.

Result       `difference(first, second)` are the smallest parts that differ while all else is the same, None where
             nothing does: of `A V + b` and `V V + b` they are A and V
"""

from __future__ import annotations

from dataclasses import fields

from derivations.documents.syntax import Name, Node

__all__ = ["difference"]


def difference(first: Node, second: Node) -> tuple[Node, Node] | None:
    """Return the smallest parts that differ, or None where nothing does."""
    if first == second:
        return None
    while True:
        inner = _only_difference(first, second)
        if inner is None:
            return first, second
        first, second = inner


def _only_difference(first: Node, second: Node) -> tuple[Node, Node] | None:
    """Return the one part of each that differs, if the rest is the same."""
    if type(first) is not type(second) or isinstance(first, Name):
        return None
    apart: list[tuple[Node, Node]] = []
    for each in fields(first):
        one, other = getattr(first, each.name), getattr(second, each.name)
        if not each.compare or one == other:
            continue
        ones, others = (one, other) if isinstance(one, tuple) and isinstance(other, tuple) else ((one,), (other,))
        if len(ones) != len(others):
            return None
        apart += [(a, b) for a, b in zip(ones, others, strict=True) if a != b]
    if len(apart) != 1 or not all(isinstance(part, Node) for part in apart[0]):
        return None
    return apart[0]
