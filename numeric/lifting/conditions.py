"""Conditions that a proof lacks: of sizes, rows of masks and entries, and where a layer has a value.

Definition   a layer has a value where its own formula does: where its divisors are not 0, for example. The judge is
             asked whether the layer equals itself, and the side conditions that it misses are these conditions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from sympy import Expr, Ge, Gt, Indexed, Ne, Rational, Symbol
from sympy.core.relational import Relational

from derivations.language.arrays.binding import free_symbols
from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import Blocks, total
from derivations.language.judge.proof import StepEvidence, prove_equal
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Assumption, Derivation
from numeric.lifting.differential import symbols_of
from numeric.lifting.lift import Lifted, shows_an_entry

__all__ = ["assumable", "of_its_own", "unequal_text"]

_OWN = 4  # conditions of one layer
_SIGNS = {"nonzero": Ne, "positive": Gt, "nonnegative": Ge}


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


def of_its_own(
    output: Variable, equations: Sequence[Equation], ranges: Mapping[Symbol, Expr], assumptions: Sequence[Assumption]
) -> tuple[Assumption, ...] | None:
    """Return the conditions under which a layer has a value, beyond its assumptions; None where they cannot be said."""
    found: tuple[Assumption, ...] = ()
    for _ in range(_OWN):
        goal = Derivation("its own", "", (), tuple(equations), dict(ranges), (*assumptions, *found))
        evidence = prove_equal(output, output, goal, "definition", refute=False)
        if evidence.level == "proved":
            return found
        new = _stated(evidence, output, equations, ranges)
        if new is None or new in found:
            return None
        found = (*found, new)
    return None


def _stated(
    evidence: StepEvidence, output: Variable, equations: Sequence[Equation], ranges: Mapping[Symbol, Expr]
) -> Assumption | None:
    """Return a side condition that was not met as an assumption, in the symbols and arrays of the equations."""
    kind, value = evidence.unmet or ("", Rational(0))
    if kind not in _SIGNS:
        return None
    arrays = {v.name: v for e in equations for v in (e.variable, *e.value.atoms(Variable))}
    known = {s.name: s for e in equations for s in free_symbols(e) if isinstance(s, Symbol)}
    known |= {s.name: s for v in arrays.values() for along in v.shape for s in total(along).free_symbols}
    sizes = [part for along in output.shape for part in _parts(along)]
    places = {f"place {k}": (Symbol(f"row_{k}", integer=True), size) for k, size in zip(count(1), sizes, strict=False)}
    over = {index.name: (index, size) for index, size in ranges.items()}
    put, given = {}, {}
    for symbol in value.free_symbols:
        if symbol.name in places | over:
            put[symbol], size = (places | over)[symbol.name]
            given[put[symbol]] = size
        elif symbol.name in known:
            put[symbol] = known[symbol.name]
        elif symbol.name not in arrays and not isinstance(symbol, Indexed):
            return None
    if not all(each.base.label.name in arrays for each in value.atoms(Indexed)):
        return None
    told = value.xreplace(put).replace(Indexed, lambda base, *at: arrays[base.label.name][at])
    relation = _SIGNS[kind](told, 0)
    if not isinstance(relation, Relational):
        return None
    return Assumption(relation, given, unequal_text(relation) if kind == "nonzero" else str(relation))


def _parts(along: Expr | Blocks) -> tuple[Expr, ...]:
    return (total(along.count), total(along.size)) if isinstance(along, Blocks) else (total(along),)


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
