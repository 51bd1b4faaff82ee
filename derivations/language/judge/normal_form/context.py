"""The context of a decision: the ranges of indices, the facts that may be used, and the recorded side conditions.

A context lives as long as one decision of the judge. Nothing in it is global, and every condition that could not be
settled on the spot is kept, so that the judge can compare it with the stated assumptions.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from derivations.language.arrays.internal import MARK
from derivations.language.judge.normal_form.terms import Atom, Poly

__all__ = ["ALLOWANCE", "COMPLEX", "INTEGER", "NONNEGATIVE", "POSITIVE", "Condition", "Context", "Undecided"]

POSITIVE, NONNEGATIVE = f"{MARK}positive", f"{MARK}nonnegative"  # suffixes of the names of arrays and functions
INTEGER, COMPLEX = f"{MARK}integer", f"{MARK}complex"  # last suffix: declared integer; not declared real
ALLOWANCE: ContextVar[int] = ContextVar("allowance", default=200_000)  # terms that one decision may write down


def _proportional(p: Poly, q: Poly) -> bool:
    if len(p) != len(q) or not p:
        return False
    # equal ratios of coefficients, multiplied out: proportional polynomials have the same zeros
    return all(m == o and c * q[0][1] == e * p[0][1] for (m, c), (o, e) in zip(p, q, strict=True))


class Undecided(Exception):
    """The normal form gives up: an expression is outside its language, or the budget is spent."""


@dataclass(frozen=True)
class Condition:
    """A side condition on a polynomial: "nonzero", "positive", "nonnegative", "integer" or "in range"."""

    kind: str
    of: Poly


@dataclass
class Context:
    """The ranges, facts, recorded side conditions and remaining budget of one decision."""

    ranges: dict[Atom, tuple[Poly, Poly]] = field(default_factory=dict)
    minimum: dict[str, int] = field(default_factory=dict)  # least value of a size, 1 by default
    inverses: dict[str, str] = field(default_factory=dict)  # bijections of an index range, with their inverses
    facts: list[Condition] = field(default_factory=list)
    by_form: list[Condition] = field(default_factory=list)  # facts that hold for all values, proved by the form alone
    derived: list[Condition] = field(default_factory=list)  # facts that follow from the conditions kept so far
    deriving: bool = False  # whether `derived` may be used: never to settle the conditions themselves
    bounds: list[Any] = field(default_factory=list)  # assumed inequalities: kind, value and limits of their indices
    equations: list[Any] = field(default_factory=list)  # assumed equations: difference of the sides, limits of indices
    consult: Callable[..., bool] | None = None  # decides signs that no single fact shows, in the second look only
    generic: list[Poly] | None = None  # taken to be nonzero: by continuity the step holds at their zeros too
    almost: bool = False  # whether polynomials are added to `generic` now
    was_read: bool = False  # whether both sides were read: conditions kept from now on are not theirs
    conditions: list[Condition] = field(default_factory=list)
    definitions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    scalar_definitions: dict[Any, Callable[..., Any]] = field(default_factory=dict)
    booleans: set[str] = field(default_factory=set)  # defined arrays whose entries are 0 or 1
    features: frozenset[str] = frozenset()
    inner: Poly | None = None  # the size of the blocks that ranges are cut into, in the second look only
    inners: list[Poly] = field(default_factory=list)  # sizes of blocks that ranges seen so far could be cut into
    budget: int = field(default_factory=ALLOWANCE.get)  # terms that may still be written before "undecided"
    serial: int = 0
    symbols: dict[Any, Atom] = field(default_factory=dict)
    memory: dict[Any, Poly] = field(default_factory=dict)  # normal forms read before, with their conditions in `owner`
    owner: list[Condition] = field(default_factory=list)
    kept: int = 0  # the number of conditions at the last reading

    def open_index(self, low: Poly, high: Poly) -> Atom:
        """Return a new bound index with the given range."""
        self.serial += 1
        atom: Atom = ("t", self.serial)
        self.ranges[atom] = (low, high)
        return atom

    @contextmanager
    def generically(self) -> Iterator[None]:
        """Inside the block, accept statements that hold almost everywhere, if the step allows this."""
        before, self.almost = self.almost, self.generic is not None
        try:
            yield
        finally:
            self.almost = before

    @contextmanager
    def after_reading(self) -> Iterator[None]:
        """Inside the block, treat the polynomials in `generic` as nonzero.

        Both sides were read before. Their own conditions may not use `generic`.
        """
        self.was_read = True
        try:
            yield
        finally:
            self.was_read = False

    def is_generic(self, p: Poly) -> bool:
        """Return whether both sides were read and p is proportional to a polynomial in `generic`."""
        return self.was_read and any(_proportional(p, q) for q in self.generic or ())

    def keep(self, kind: str, p: Poly) -> None:
        """Record a side condition, once."""
        if kind == "nonzero" and self.generic is not None:
            if self.almost:
                self.generic.append(p)
            # the step is proved where p != 0 and extended to p = 0 by continuity (`almost`), so no condition is left
            if self.almost or self.is_generic(p):
                return
        condition = Condition(kind, p)
        self.remembered()
        if condition not in self.conditions:
            self.conditions.append(condition)

    def spend(self, terms: int) -> None:
        """Subtract a number of terms from the budget."""
        self.budget -= terms
        if self.budget < 0:
            raise Undecided("the normal form grew beyond its budget")

    @contextmanager
    def naming(self, names: dict[Any, Atom]) -> Iterator[None]:
        """Read SymPy symbols as bound indices inside the block."""
        before = self.symbols
        self.symbols = before | names
        try:
            yield
        finally:
            self.symbols = before

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Discard the side conditions recorded inside the block: its expressions are read again elsewhere."""
        before, memory = self.conditions, self.remembered()
        self.conditions = list(before)
        # a copy: a form read inside must not be found later without its conditions
        self.memory, self.owner = dict(memory), self.conditions
        try:
            yield
        finally:
            self.conditions = self.owner = before
            self.memory, self.kept = memory, len(before)

    @contextmanager
    def supposing(self, admitted: Callable[[str, Poly], bool]) -> Iterator[list[Condition]]:
        """Inside the block, use only admitted facts and assumptions; yield the list of conditions recorded there.

        The memory of normal forms is empty at the start of the block and dropped at its end, because other facts hold
        inside.
        """
        before = (self.facts, self.derived, self.bounds, self.equations, self.conditions, self.remembered(), self.kept)
        self.facts = [fact for fact in self.facts if admitted(fact.kind, fact.of)]
        self.derived = [fact for fact in self.derived if admitted(fact.kind, fact.of)]
        self.bounds = [bound for bound in self.bounds if admitted(bound.kind, bound.value)]
        self.equations = [equation for equation in self.equations if admitted("zero", equation[0])]
        inside: list[Condition] = []
        self.conditions = inside
        self.memory, self.owner, self.kept = {}, inside, 0
        try:
            yield inside
        finally:
            self.facts, self.derived, self.bounds, self.equations, self.conditions, self.memory, self.kept = before
            self.owner = self.conditions

    @contextmanager
    def derivation(self) -> Iterator[None]:
        """Inside the block, allow the facts that follow from recorded side conditions."""
        before = self.deriving
        self.deriving = True
        try:
            yield
        finally:
            self.deriving = before

    def remembered(self) -> dict[Any, Poly]:
        """Return the cache of normal forms, which is emptied after conditions were dropped or moved."""
        # a form found in the table must have its side conditions among those kept now
        if self.owner is not self.conditions or len(self.conditions) < self.kept:
            self.memory, self.owner = {}, self.conditions
        self.kept = len(self.conditions)
        return self.memory

    def knows(self, kind: str, p: Poly) -> bool:
        """Return whether a condition is a fact that may be used."""
        condition = Condition(kind, p)
        known = condition in self.facts or condition in self.by_form
        return known or (self.deriving and condition in self.derived)

    def known(self) -> list[Condition]:
        """Return the facts that may be used now."""
        return [*self.by_form, *self.facts, *(self.derived if self.deriving else ())]

    def range_of(self, atom: Atom) -> tuple[Poly, Poly] | None:
        """Return the least and the greatest value of an index, if a range is stated."""
        if atom[0] == "fun" and atom[1] in self.inverses:
            return self.ranges.get(("fun", atom[1]))
        return self.ranges.get(atom)
