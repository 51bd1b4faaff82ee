r"""Probabilities that are written as functions: `P(x)` under a sum over x, `p(x_i \mid x_{<i})` under a sum over i.

Definition   under a sum over one index, a function p, q, P or Q of something with that index is the entry of that
             index of an array of this name
Result       `with_entries(node)`: the formula with such entries in the place of the functions
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from derivations.documents.syntax import Aggregate, Call, Name, Node, rebuilt

__all__ = ["with_entries"]

_LETTERS = frozenset("pqPQ")


def with_entries(node: Node) -> Node:
    """Return a formula in which probabilities under a sum are entries of an array."""
    if not any(isinstance(part, Call) and part.function.base in _LETTERS for part in node.walk()):
        return node
    changed: Node = _changed(node, lambda part: part)
    return changed


def _changed(value: Any, rule: Callable[[Node], Node]) -> Any:
    if isinstance(value, Name):
        return value
    if not isinstance(value, Node):
        return rebuilt(value, lambda each: _changed(each, rule))
    inner = _entry_of(value.index[0]) if isinstance(value, Aggregate) and len(value.index) == 1 else rule
    new = inner(value)
    if new is not value:
        return new
    return rebuilt(value, lambda each: _changed(each, inner))


def _entry_of(index: Name) -> Callable[[Node], Node]:
    """Return a rule that turns probabilities written as functions of an index into entries."""

    def entry(part: Node) -> Node:
        if not isinstance(part, Call) or part.function.base not in _LETTERS or part.function.primes:
            return part
        told = any(index in argument.walk() for argument in part.arguments)
        return Name(part.function.base, (index,), start=part.start, end=part.end) if told else part

    return entry
