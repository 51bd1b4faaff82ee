"""The trace of one run: the equations that it produced, and everything that was assumed on the way.

A decision is the answer to a comparison of sizes. The first run takes the answers that hold for general sizes (two
different sizes differ) and notes them; `lift` runs the function again with other answers, so that either all ways are
proved or the assumption is printed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from sympy import Eq, Expr, Ge, Gt, Integer, Le, Lt, Symbol
from sympy.core.relational import Relational

from derivations.language.arrays.contraction import Contraction
from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.masks import BandMask
from derivations.language.arrays.scalars import without_conditions
from derivations.language.arrays.shapes import same_size
from derivations.language.layers.layer import Equation
from numeric.lifting.refusals import kept, refuse, users_line

__all__ = ["Decision", "Trace", "current", "is_tracing", "tracing"]

_STEPS = 2_000  # equations of one trace: a loop that does not end is stopped

_RELATIONS: dict[Any, Callable[[Expr, Expr], Relational]] = {
    operator.eq: Eq,
    operator.lt: Lt,
    operator.le: Le,
    operator.gt: Gt,
    operator.ge: Ge,
}


@dataclass(frozen=True)
class Decision:
    """A comparison of sizes and the answer that this run assumes."""

    relation: Relational
    answer: bool

    @property
    def assumed(self) -> Relational:
        """The relation that holds in this run."""
        return self.relation if self.answer else ~self.relation


@dataclass
class Trace:
    """The record of one run of a function: its equations, its answers to comparisons of sizes, and its readings."""

    answers: tuple[bool, ...] = ()  # of the first decisions; the rest take the general answer
    equations: dict[Variable, Array] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    readings: dict[str, None] = field(default_factory=dict)
    visible: dict[Variable, None] = field(default_factory=dict)  # masks of which every row must show an entry
    chosen: dict[tuple[Variable, Expr], None] = field(default_factory=dict)  # numbers of rows of tables of some size
    guarded: dict[tuple[Variable, bool], None] = field(default_factory=dict)  # masks set everywhere, or nowhere
    literals: list[Expr] = field(default_factory=list)  # decimals that the function contains
    values: dict[Array, Variable] = field(default_factory=dict)
    lines: dict[Variable, str] = field(default_factory=dict)
    made_with: dict[Symbol, int] = field(default_factory=dict)  # sizes of tables that a module holds
    rounded: bool = False  # whether numbers were cast to a type of fewer digits, which is read as no change
    narrowed: bool = False  # whether a formula holds only under conditions that the function itself does not need
    generous: bool = False  # whether a decimal near a known constant is read as that constant
    near: dict[str, None] = field(default_factory=dict)  # such decimals, with the constants and the gaps
    prefix: str = "t"
    taken: frozenset[str] = frozenset()  # names of the function's arguments
    reserved: frozenset[str] = frozenset()  # names that no equation gets
    arrays: Any = None  # the class of symbolic arrays, which has the methods of the function's library
    known_sizes: dict[int, Expr] = field(default_factory=dict)  # numbers of a module that stand for sizes
    names: dict[Variable, str] = field(default_factory=dict)  # from the local variables of the function
    locals: Callable[[str, Any], None] = lambda name, value: None  # what a door notes of other local variables

    def define(self, value: Array) -> Variable:
        """Return the variable of a value. A new equation defines it, unless an equal value has a variable already."""
        if isinstance(value, Variable):
            return value
        known = self.values.get(value)
        if known is None:
            if len(self.equations) >= _STEPS:
                raise refuse(f"more than {_STEPS} steps")
            name = f"{self.prefix}_{len(self.equations) + 1}"
            known = Variable(f"{name}_own" if name in self.taken else name, value.shape, value.kind)
            self.values[value], self.equations[known], self.lines[known] = known, value, users_line()
        return known

    def so_far(self) -> dict[str, Any]:
        """Return a snapshot of what was recorded, except the equations. Unread equations are dropped in the end."""
        noted = ("decisions", "readings", "visible", "chosen", "guarded", "literals", "near")
        return {"kept": list(kept.get()), **{name: getattr(self, name).copy() for name in noted}}

    def back_to(self, before: dict[str, Any]) -> None:
        """Restore a snapshot that `so_far` returned, after an attempt has failed."""
        kept.get()[:] = before["kept"]
        for name, value in before.items():
            if name != "kept":
                setattr(self, name, value)

    def written(self) -> tuple[Equation, ...]:
        """Return the equations in order."""
        return tuple(Equation(variable, value) for variable, value in self.equations.items())

    def read(self, what: str) -> None:
        """Note a reading: what a number or an operation was taken for."""
        self.readings[what] = None

    def demand_visible(self, mask: Array) -> None:
        """Record the condition that every row of a mask shows an entry, unless the mask is known to do so."""
        if not self._shows_itself(mask):
            self.visible[self.define(mask)] = None

    def _shows_itself(self, mask: Array) -> bool:
        value = self.equations.get(mask, mask)
        if isinstance(value, BandMask):
            return value.shows_itself
        if isinstance(value, Contraction) and len(value.operands) == 1 and not value.sums and value.factor == 1:
            ((inner, places),) = value.operands  # rows and columns from the first on, as many of both
            square = same_size(*value.shape[-2:])
            if square and places == value.indices[-2:] and self._shows_itself(inner):
                return True
        return self._is_one_where_row_and_column_meet(value)

    @staticmethod
    def _is_one_where_row_and_column_meet(value: Array) -> bool:
        """Return whether a mask of positions, such as [j <= i], shows entry i of row i, by its formula alone."""
        if len(value.shape) < 2 or not same_size(*value.shape[-2:]):
            return False
        *places, row = (Symbol(f"row_{number}", integer=True) for number in range(len(value.shape) - 1))
        return bool(without_conditions(value.entry(*places, row, row)) == 1)

    def decided(self, one: Expr, other: Expr, relation: Any) -> bool:
        """Return the answer to a comparison of sizes: the one chosen for this run, or the default answer."""
        stated = _RELATIONS[relation](one, other)
        for before in self.decisions:
            if before.relation == stated:
                return before.answer
        place = len(self.decisions)
        general = _general(one, other, relation)
        answer = self.answers[place] if place < len(self.answers) else general
        self.decisions.append(Decision(stated, answer))
        return answer

    @property
    def named_in_conditions(self) -> tuple[Variable, ...]:
        """The arrays that appear in a condition, whose equations are kept."""
        return (*self.visible, *(v for v, _ in self.chosen), *(v for v, _ in self.guarded))

    @property
    def assumed(self) -> tuple[Relational, ...]:
        """The relations between sizes that this run assumes."""
        return tuple(each.assumed for each in self.decisions)


def _general(one: Expr, other: Expr, relation: Any) -> bool:
    """Return the default answer to a comparison: a lone size is 12, and of two different sizes the first is larger."""
    if len(one.free_symbols | other.free_symbols) == 1:
        sides = (each.xreplace({s: Integer(_ORDINARY) for s in each.free_symbols}) for each in (one, other))
        return bool(relation(*sides))
    return relation in (operator.gt, operator.ge)


_ORDINARY = 12  # a size that functions are run with

_current: ContextVar[Trace | None] = ContextVar("trace", default=None)


def current() -> Trace:
    """Return the trace that is running."""
    found = _current.get()
    if found is None:
        raise refuse("a symbolic array was used after its function was lifted")
    return found


def is_tracing() -> bool:
    """Return whether a function is being lifted."""
    return _current.get() is not None


@contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Make a trace the running one inside the block."""
    before = _current.set(trace)
    try:
        yield trace
    finally:
        _current.reset(before)
