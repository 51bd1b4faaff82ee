"""Canonical right sides, taken from the layers and results of the catalogue and never written out here.

Definition   a form is an expression with the result that says it; its arrays and symbols are the roles that letters of
             a document play. Further forms of one concept are other formulas that are right as well
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from math import inf
from typing import TypeAlias

from sympy import Basic, Expr, Indexed, Lambda, Sum, Symbol

from derivations.catalogue import known
from derivations.documents.budget import budget_of
from derivations.language.arrays.arrangements import Concatenate, Tabulated
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, Variable, array
from derivations.language.arrays.functions import Named
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import scalar

__all__ = ["Form", "Value", "result", "right", "scalar_form"]

Value: TypeAlias = Expr | Array


@dataclass(frozen=True)
class Form:
    """A right side: `indices` are its free indices in the order of the left side.

    `rows` are the arrays of which one row may stand alone. In a form of `scalars` every letter is one number; `places`
    are the indices of those that are entries. What is `assumed` makes it conditional.
    """

    result: str
    value: Value
    indices: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    scalars: bool = False
    assumed: tuple[str, ...] = ()
    title: str = ""
    condition: bool = False  # what is assumed is part of the statement, and no other formula
    places: tuple[tuple[str, tuple[str, ...]], ...] = ()
    usual: bool = False  # of the handbook: what is right as well is not

    @cached_property
    def roles(self) -> Mapping[str, Value]:
        """The arrays and symbols of the right side by name, without bound indices."""
        arrays = self.value.atoms(Variable) | {_variable(entry) for entry in self.value.atoms(Indexed)}
        found: dict[str, Value] = {variable.name: variable for variable in arrays}
        found |= {symbol.name: symbol for symbol in self._symbols() if symbol.name not in found}
        return dict(sorted(found.items()))

    @property
    def has_matrices(self) -> bool:
        """Whether a role is a matrix, so that it matters whether positions are rows or columns."""
        return any(isinstance(role, Variable) and len(role.shape) > 1 for role in self.roles.values())

    def _symbols(self) -> set[Symbol]:
        return {symbol for symbol in _written(self.value) if isinstance(symbol, Symbol)}


def _written(value: Basic) -> set[Basic]:
    """Return the free symbols of a formula, without those that appear only as the size of an array."""
    match value:
        case Variable() | Named():
            return set()
        case Indexed():
            return set().union(*(place.free_symbols for place in value.indices))
        case Symbol():
            return {value}
        case Lambda():
            return _written(value.expr) - set(value.variables)
        case Sum():  # its bounds are seen from the arrays
            return _written(value.function) - set(value.bound_symbols)
        case Concatenate():
            return _written(value.args[0]) - set(value.bound_symbols)
        case RowBroadcast() | ColumnBroadcast() | Tabulated():
            return _written(value.args[0])
    return set().union(*(_written(part) for part in value.args))


def _variable(entry: Indexed) -> Variable:
    return array(entry.base.label.name, *entry.base.shape)


@cache
def result(name: str) -> Derivation:
    """Return a result of the catalogue. Its proof is checked with the catalogue, and not again here."""
    with budget_of(inf, inf):  # reading the catalogue is no work of a formula
        return RESULTS[known(name)]()


def right(name: str, claim: int = 0, step: int = -1) -> Expr:
    """Return the expression of one step of a result."""
    return result(name).claims[claim].steps[step].expression


def scalar_form(name: str, value: Expr, assumed: tuple[str, ...] = (), title: str = "") -> Form:
    """Return a form with every array entry replaced by a scalar. The indices of the entry are kept in `places`."""
    entries = {entry: scalar(entry.base.label.name) for entry in value.atoms(Indexed)}
    places = {role.name: tuple(map(str, entry.indices)) for entry, role in entries.items()}
    told = tuple(sorted(places.items()))
    return Form(name, value.xreplace(entries), scalars=True, assumed=assumed, title=title, places=told)
