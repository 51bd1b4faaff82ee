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

POSITIVE, NONNEGATIVE = f"{MARK}positive", f"{MARK}nonnegative"  # follow the names of arrays and functions so declared
INTEGER, COMPLEX = f"{MARK}integer", f"{MARK}complex"  # ends the names of those declared integer, and not even real
ALLOWANCE: ContextVar[int] = ContextVar("allowance", default=200_000)  # terms that one decision may write down


def _proportional(p: Poly, q: Poly) -> bool:
    if len(p) != len(q) or not p:
        return False
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
    """The state of one decision."""

    ranges: dict[Atom, tuple[Poly, Poly]] = field(default_factory=dict)
    minimum: dict[str, int] = field(default_factory=dict)  # least value of a size, 1 where nothing is said
    inverses: dict[str, str] = field(default_factory=dict)  # bijections of an index range, with their inverses
    facts: list[Condition] = field(default_factory=list)
    by_form: list[Condition] = field(default_factory=list)  # facts that hold for all values, seen by the form alone
    derived: list[Condition] = field(default_factory=list)  # facts that follow from the conditions kept so far
    deriving: bool = False  # whether these may be used: never where the conditions themselves are settled
    bounds: list[Any] = field(default_factory=list)  # assumed inequalities: kind, value and limits of their indices
    equations: list[Any] = field(default_factory=list)  # assumed equations: what is 0, and limits of its indices
    consult: Callable[..., bool] | None = None  # asked for signs that no single fact shows, where a step needs more
    generic: list[Poly] | None = None  # what is taken not to be 0, a statement being continuous where it is
    almost: bool = False  # whether such are added now
    was_read: bool = False  # whether both sides were read: what is met from now on is no condition of theirs
    conditions: list[Condition] = field(default_factory=list)
    definitions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    scalar_definitions: dict[Any, Callable[..., Any]] = field(default_factory=dict)
    booleans: set[str] = field(default_factory=set)  # defined arrays whose entries are 0 or 1
    features: frozenset[str] = frozenset()
    budget: int = field(default_factory=ALLOWANCE.get)  # terms that are left before the answer is "undecided"
    serial: int = 0
    symbols: dict[Any, Atom] = field(default_factory=dict)
    memory: dict[Any, Poly] = field(default_factory=dict)  # what was read already, its conditions being in `owner`
    owner: list[Condition] = field(default_factory=list)
    kept: int = 0  # how many conditions there were when something was last read

    def open_index(self, low: Poly, high: Poly) -> Atom:
        """Return a new bound index with the given range."""
        self.serial += 1
        atom: Atom = ("t", self.serial)
        self.ranges[atom] = (low, high)
        return atom

    @contextmanager
    def generically(self) -> Iterator[None]:
        """Accept inside the block what holds almost everywhere, where the step allows that."""
        before, self.almost = self.almost, self.generic is not None
        try:
            yield
        finally:
            self.almost = before

    @contextmanager
    def after_reading(self) -> Iterator[None]:
        """Let what is taken not to be 0 be used inside the block: never for the conditions of the two sides."""
        self.was_read = True
        try:
            yield
        finally:
            self.was_read = False

    def is_generic(self, p: Poly) -> bool:
        """Say whether p is among what is taken not to be 0, both sides being read."""
        return self.was_read and any(_proportional(p, q) for q in self.generic or ())

    def keep(self, kind: str, p: Poly) -> None:
        """Keep a side condition, once."""
        if kind == "nonzero" and self.generic is not None:
            if self.almost:
                self.generic.append(p)
            if self.almost or self.is_generic(p):
                return
        condition = Condition(kind, p)
        self.remembered()
        if condition not in self.conditions:
            self.conditions.append(condition)

    def spend(self, terms: int) -> None:
        """Take terms off the budget."""
        self.budget -= terms
        if self.budget < 0:
            raise Undecided("the normal form grew beyond its budget")

    @contextmanager
    def naming(self, names: dict[Any, Atom]) -> Iterator[None]:
        """Let SymPy symbols stand for bound indices inside the block."""
        before = self.symbols
        self.symbols = before | names
        try:
            yield
        finally:
            self.symbols = before

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Keep no condition of what is looked at inside the block: it will be read for itself."""
        before, memory = self.conditions, self.remembered()
        self.conditions = list(before)
        self.memory, self.owner = dict(memory), self.conditions
        try:
            yield
        finally:
            self.conditions = self.owner = before
            self.memory, self.kept = memory, len(before)

    @contextmanager
    def supposing(self, admitted: Callable[[str, Poly], bool]) -> Iterator[list[Condition]]:
        """Let only the admitted facts and assumed inequalities be used inside the block; what it keeps stands apart.

        What is read inside is read anew, and what was read inside is forgotten: other facts held there.
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
        """Let what follows from kept conditions be used inside the block."""
        before = self.deriving
        self.deriving = True
        try:
            yield
        finally:
            self.deriving = before

    def remembered(self) -> dict[Any, Poly]:
        """Return what was read already; it starts anew where conditions were dropped or are kept in another list."""
        if self.owner is not self.conditions or len(self.conditions) < self.kept:
            self.memory, self.owner = {}, self.conditions
        self.kept = len(self.conditions)
        return self.memory

    def knows(self, kind: str, p: Poly) -> bool:
        """Say whether a condition is a fact that may be used."""
        condition = Condition(kind, p)
        known = condition in self.facts or condition in self.by_form
        return known or (self.deriving and condition in self.derived)

    def known(self) -> list[Condition]:
        """Return the facts that may be used now."""
        return [*self.by_form, *self.facts, *(self.derived if self.deriving else ())]

    def range_of(self, atom: Atom) -> tuple[Poly, Poly] | None:
        """Return the least and the greatest value of an index, None where no range is stated."""
        if atom[0] == "fun" and atom[1] in self.inverses:
            return self.ranges.get(("fun", atom[1]))
        return self.ranges.get(atom)
