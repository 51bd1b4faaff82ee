"""Deferred entries: inside `deferring()` an entry of an array is a leaf that stores the array and the indices.

The judge expands such a leaf one node at a time and reads equal leaves once. No large expression is built, so SymPy
cannot cancel terms that the judge has not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sympy import Basic, Expr
from sympy import Tuple as Sequence

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.shapes import Pair, Place

__all__ = ["Deferred", "deferring", "is_deferring"]

_on: ContextVar[bool] = ContextVar("deferring", default=False)


@contextmanager
def deferring() -> Iterator[None]:
    """Defer the entries of arrays inside the block."""
    before = _on.set(True)
    try:
        yield
    finally:
        _on.reset(before)


def is_deferring() -> bool:
    """Return whether entries are deferred."""
    return _on.get()


class Deferred(Expr):
    """The entry of an array at given indices, not yet expanded. It is declared real."""

    is_commutative = True
    is_real = True

    def __new__(cls, array: Basic, *places: Place) -> Deferred:
        """Build the leaf. An index that is a `Pair` is stored as a SymPy tuple."""
        kept = [Sequence(*place) if isinstance(place, Pair) else place for place in places]
        return super().__new__(cls, array, *kept)

    @property
    def free_symbols(self) -> set[Basic]:
        """The symbols of the array and of the indices."""
        return {symbol for part in self.args for symbol in part.free_symbols}

    @property
    def places(self) -> list[Place]:
        """The indices of the entry, with each stored tuple as a `Pair` again."""
        return [Pair(*place) if isinstance(place, Sequence) else place for place in self.args[1:]]

    def now(self) -> Expr:
        """Return the entry, expanded by one node. Inside `deferring()` the entries of its operands stay deferred."""
        return self.args[0].entry_at(self.places)

    def _xreplace(self, rule: dict[Any, Any]) -> tuple[Basic, bool]:
        """Replace the whole leaf if `rule` contains it, else its free symbols."""
        if self in rule:
            return rule[self], True
        changed = replace_free(self.args[0], rule), *(place.xreplace(rule) for place in self.args[1:])
        return self.func(*changed), changed != self.args
