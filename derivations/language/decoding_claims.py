r"""What decoding with a cache rests on, equation by equation, for the judge.

Definition   with p earlier positions and n new ones, every equation of a layer has two claims. Rows: what stands at the
             next positions is the rows p, ..., p + n - 1 of the equation at p + n positions. Prefix: the rows
             0, ..., p - 1 of the equation at p + n positions are the equation at p positions
Result       by the first, the new rows are right where the cached ones are; by the second, cached rows stay what they
             were: attention.causal_prefix, for the equations at hand
Assumes      the variables that an equation reads are what the same two claims say of them; parts that could not be
             written out are not stated
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Expr, Lambda, Le, Symbol

from derivations.language.arrangements import Tabulated
from derivations.language.binding import fresh_index, replace_free
from derivations.language.decoding import Change, Decoding
from derivations.language.derivation import Derivation, claim, derivation, step
from derivations.language.expression import Array, Member, Variable
from derivations.language.layer import Apply, Equation
from derivations.language.rows import RowRange
from derivations.language.scalars import Iverson
from derivations.language.shapes import total

__all__ = ["Stated", "claims"]


@dataclass(frozen=True)
class Stated:
    """A change of an equation with its two claims; None where it cannot be stated locally."""

    change: Change
    rows: Derivation | None
    prefix: Derivation | None

    @property
    def level(self) -> str:
        """What the judge says of both: "proved", else the weaker one."""
        levels = {"unknown" if each is None else each.evidence.level for each in (self.rows, self.prefix)}
        return next((level for level in ("refuted", "unknown") if level in levels), "proved")


def claims(decoding: Decoding) -> Iterator[Stated]:
    """Yield the claims of every equation of a layer at its next positions."""
    for link in decoding.links:
        for change in link.changes:
            yield _stated(change, decoding.new, decoding.all)


def _stated(change: Change, new: Symbol, every: Symbol) -> Stated:
    if change.old.has(Apply) or not change.whole:
        return Stated(change, None, None)
    statement = _Statement(change, new, every)
    return Stated(change, statement.rows(), statement.prefix())


class _Statement:
    """Writes the claims of one equation, for p earlier positions and n new ones."""

    def __init__(self, change: Change, new: Symbol, every: Symbol) -> None:
        self.change, self.new = change, new
        self.past = Symbol("p", integer=True, positive=True)
        self.sizes = {every: self.past + new}
        self.index = fresh_index(change.old.atoms(Symbol) | change.new.atoms(Symbol))
        whole = {v: each.xreplace(self.sizes) for v, each in change.whole.items()}
        self.old = replace_free(change.old.value.xreplace({}), {})
        self.whole = whole

    def rows(self) -> Derivation:
        """The equation at the next positions is the last rows of the equation at all of them."""
        new = self.change.new.xreplace(self.sizes)
        at_all = self._at(self.past + self.new, self.whole)
        definitions = [*self._looking_back(), *self._rows_of_each(self.past, self.new, {})]
        shift = self.past if new.variable.shape != self.whole[self.change.old.variable].shape else 0
        return self._derivation("the next positions", new.value, at_all, shift, self.new, definitions)

    def prefix(self) -> Derivation:
        """The equation at the earlier positions alone is the first rows of the equation at all of them."""
        names = {v: Variable(f"{v.name}_cut", _with(v, self.new, self.past), v.kind) for v in self.whole}
        at_past, at_all = self._at(self.past, names), self._at(self.past + self.new, self.whole)
        definitions = [*self._looking_back(), *self._rows_of_each(0, self.past, names)]
        return self._derivation("earlier positions", at_past, at_all, 0, self.past, definitions)
