r"""Sums that go from 0 to n: they have n + 1 terms.

Definition   `\frac1n \sum_{i=0}^{n} x_i` has one term more than it is divided by; `\sum_{j=0}^{n} e^{z_j}` is a sum of
             all entries where they are counted from 0 to n
Result       `counted_from_zero(node, scope)`: what is said of the first such sum; with the formula mended where the
             upper bound is a size, by its letter, because it stands elsewhere in the formula, or because it is the
             size of what is summed
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from derivations.documents.scope import Scope
from derivations.documents.syntax import Aggregate, Name, Node, Number, Sum, rebuilt

__all__ = ["Counted", "counted_from_zero"]

ONE = Number("1", Fraction(1))
WIDTH = "d"  # d, d_k, d_model: how many entries a vector has


@dataclass(frozen=True)
class Counted:
    """A remark on a sum from 0. `mended` is the formula with its bound corrected, or None if it may be right."""

    said: str
    mended: Node | None = None


def counted_from_zero(node: Node, scope: Scope) -> Counted | None:
    """Return a remark on the first sum from 0 to a letter in a formula, or None."""
    total = next((part for part in node.walk() if isinstance(part, Aggregate) and _is_from_zero(part)), None)
    if total is None or not isinstance(total.upper, Name):
        return None
    size = total.upper
    is_size = size.base == WIDTH or any(str(each) == size.key for each in _sizes(total, scope))
    if is_size or size in _outside_of_bounds(node):
        said = f"a sum from 0 to {size.key} has {size.key} + 1 terms"
        return Counted(said, _changed(node, total, replace(total, upper=Sum((size, ONE), (1, -1)))))
    return Counted(f"entries are counted from 0 to {size.key}")


def _is_from_zero(total: Aggregate) -> bool:
    lower = total.lower
    return total.kind == "sum" and isinstance(lower, Number) and not lower.value and isinstance(total.upper, Name)


def _outside_of_bounds(node: Node) -> Iterator[Node]:
    """Yield the parts of a formula, without the bounds of its sums."""
    pending = [node]
    while pending:
        part = pending.pop()
        yield part
        pending.extend([part.body] if isinstance(part, Aggregate) else part.children)


def _sizes(total: Aggregate, scope: Scope) -> Iterator[object]:
    """Yield the axis sizes of the arrays in a sum."""
    for part in total.body.walk():
        if isinstance(part, Name) and set(part.subscripts) & set(total.index):
            yield from scope.shape(replace(part, subscripts=())) or ()


def _changed(node: Any, old: Node, new: Node) -> Any:
    return new if node is old else rebuilt(node, lambda part: _changed(part, old, new))
