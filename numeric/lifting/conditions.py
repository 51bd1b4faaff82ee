"""Conditions that a proof lacks: what may be assumed of sizes, rows of masks and entries."""

from __future__ import annotations

from sympy import Gt, Indexed, Ne, Rational, Symbol
from sympy.core.relational import Relational

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import total
from derivations.language.judge.proof import StepEvidence
from derivations.language.results.derivation import Assumption
from numeric.lifting.differential import symbols_of
from numeric.lifting.lift import Lifted, shows_an_entry

__all__ = ["assumable", "unequal_text"]


def assumable(step: StepEvidence, lifted: Lifted) -> list[Assumption]:
    """Return assumptions from which the missing side condition may follow: about sizes, or about the rows of masks."""
    kind, value = step.unmet or ("", Rational(0))
    if kind == "positive":
        given = [v for v in lifted.layer.inputs if isinstance(value, Indexed) and v.name == value.base.label.name]
        return [are_positive(v) for v in given if v.kind == "real"]
    if kind != "nonzero":
        return []
    sizes = {s.name: s for s in symbols_of(lifted)}
    named = {s.name for s in value.free_symbols if isinstance(s, Symbol)}
    read = {each.base.label.name for each in value.atoms(Indexed)}
    if not read and named <= sizes.keys() and value.is_polynomial():
        relation = Ne(value.xreplace({s: sizes[s.name] for s in value.free_symbols}), 0)
        return [Assumption(relation)] if isinstance(relation, Ne) else []
    masks = [v for v in lifted.layer.inputs if v.kind == "boolean" and v.shape and v.name in read]
    return [shows_an_entry(mask) for mask in masks]


def are_positive(array: Variable) -> Assumption:
    """Return the assumption that all entries of an array are positive, as a logarithm of them needs."""
    places = tuple(Symbol(f"place_{number}", integer=True) for number in range(len(array.shape)))
    ranges = dict(zip(places, map(total, array.shape), strict=True))
    return Assumption(Gt(array[places], 0), ranges, f"all entries of {array} are positive")


def unequal_text(relation: Relational) -> str:
    """Return a relation p != 0 as text; of a size alone what it is not: n != 1."""
    value = relation.lhs - relation.rhs
    free = sorted(value.free_symbols, key=str)
    if len(free) == 1 and value.coeff(free[0]) in (1, -1):
        return f"{free[0]} != {free[0] - value / value.coeff(free[0])}"
    return f"{relation.lhs} != {relation.rhs}"
