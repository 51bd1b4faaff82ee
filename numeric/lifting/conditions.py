"""Conditions that a proof still needs: on sizes, on rows of masks, on entries, and for a layer to have a value.

Definition   a layer has a value where its own formula does: where its divisors are not 0, for example. The judge is
             asked whether the layer equals itself, and the side conditions that it misses are these conditions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from sympy import Expr, Ge, Gt, I, Indexed, Mul, Ne, Pow, Rational, Symbol, cos, expand
from sympy.core.relational import Relational

from derivations.language.arrays.binding import free_symbols
from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.shapes import Blocks, total
from derivations.language.judge.proof import StepEvidence, prove_equal
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Assumption, Derivation
from numeric.lifting.differential import symbols_of
from numeric.lifting.lift import Lifted, shows_an_entry
from numeric.lifting.numbers import at_least

__all__ = ["assumable", "of_its_own", "restated", "unequal_text"]

_SIGNS = {"nonzero": Ne, "positive": Gt, "nonnegative": Ge}


def assumable(step: StepEvidence, lifted: Lifted) -> list[Assumption]:
    """Return assumptions that make a divisor nonzero: about sizes, or about the rows of masks."""
    kind, value = step.unmet or ("", Rational(0))
    if kind != "nonzero":
        return []
    sizes = {s.name: s for s in symbols_of(lifted)}
    named = {s.name for s in value.free_symbols if isinstance(s, Symbol)}
    read = {each.base.label.name for each in value.atoms(Indexed)}
    if not read and named <= sizes.keys() and value.is_polynomial():
        told = value.xreplace({s: sizes[s.name] for s in value.free_symbols})
        # of what is never negative, so that its sign is known too
        relation = Gt(told, 0) if at_least(told, 0) else Ne(told, 0)
        return [Assumption(relation)] if isinstance(relation, Relational) else []
    masks = [v for v in lifted.layer.inputs if v.kind == "boolean" and v.shape and v.name in read]
    return [shows_an_entry(mask) for mask in masks]


def of_its_own(
    output: Variable,
    equations: Sequence[Equation],
    ranges: Mapping[Symbol, Expr],
    assumptions: Sequence[Assumption],
    plain: bool = False,
) -> Assumption | None:
    """Return a condition that a layer needs to have a value, beyond its assumptions; None if none is found.

    A `plain` one is about what roots and multiples are computed from, so that two functions say it alike.
    """
    goal = Derivation("its own", "", (), tuple(equations), dict(ranges), tuple(assumptions))
    evidence = prove_equal(output, output, goal, "definition", refute=False)
    if evidence.level == "proved":
        return None
    unmet = evidence.unmet or ("", Rational(0))
    if not plain:
        return _stated(unmet, output, equations, ranges)
    stated = [_stated(_plainest(*part), output, equations, ranges) for part in _factors(*unmet)]
    return next((each for each in stated if each is not None and each not in assumptions), stated[-1])


def _factors(kind: str, value: Expr) -> list[tuple[str, Expr]]:
    """Return the conditions on the factors of a product, which is nonzero if and only if all of them are."""
    parts = Mul.make_args(value) if kind == "nonzero" else (value,)
    return [(kind, part) for part in parts if part.free_symbols] or [(kind, value)]


def _stated(
    unmet: tuple[str, Expr], output: Variable, equations: Sequence[Equation], ranges: Mapping[Symbol, Expr]
) -> Assumption | None:
    """Return an unmet side condition as an assumption in the symbols and arrays of the equations, or None."""
    kind, value = unmet
    if kind not in _SIGNS:
        return None
    arrays = {v.name: v for e in equations for v in (e.variable, *e.value.atoms(Variable))}
    known = {s.name: s for e in equations for s in free_symbols(e) if isinstance(s, Symbol)}
    known |= {s.name: s for v in arrays.values() for along in v.shape for s in total(along).free_symbols}
    sizes = [part for along in output.shape for part in _parts(along)]
    places = {f"place {k}": (Symbol(f"row_{k}", integer=True), size) for k, size in zip(count(1), sizes, strict=False)}
    over = {index.name: (index, size) for index, size in ranges.items()}
    over = _summed_over(value, arrays) | over | places
    put, given = {}, {}
    for symbol in value.free_symbols:
        if symbol.name in over:
            put[symbol], size = over[symbol.name]
            given[put[symbol]] = size
        elif symbol.name in arrays and not arrays[symbol.name].shape:
            put[symbol] = _written_out(arrays[symbol.name], {e.variable: e.value for e in equations})
        elif symbol.name in known:
            put[symbol] = known[symbol.name]
        elif symbol.name not in arrays and not isinstance(symbol, Indexed):
            return None
    if not all(each.base.label.name in arrays for each in value.atoms(Indexed)):
        return None
    if value.has(I):  # the judge writes sines and cosines as powers of e
        value = expand(value.rewrite(cos))
    told = value.xreplace(put).replace(Indexed, lambda base, *at: arrays[base.label.name][at])
    relation = _SIGNS[kind](told, 0)
    if not isinstance(relation, Relational):
        return None
    text = unequal_text(relation) if kind == "nonzero" else str(relation)
    if kind == "positive" and isinstance(told, Indexed) and all(place in given for place in told.indices):
        text = f"all entries of {told.base.label} are positive"
    return Assumption(relation, given, text)


def _written_out(number: Variable, values: Mapping[Variable, Array]) -> Expr:
    """Return an array without axes as a formula of its inputs, so that a condition reads the same for two functions."""
    if number not in values:
        return number.entry()
    value = values[number]
    inner = {v.entry(): _written_out(v, values) for v in value.atoms(Variable) if not v.shape}
    return expand(value.entry().xreplace(inner))


def restated(added: Sequence[Assumption], equations: Sequence[Equation]) -> tuple[Assumption, ...]:
    """Return assumptions, and each one about an array without axes a second time in terms of the array's name."""
    values = {e.variable: e.value for e in equations if e.over is None}
    again = [
        Assumption(each.statement.func(number.entry(), 0))
        for each in added
        if isinstance(each.statement, Relational) and not each.ranges and each.statement.has(Indexed)
        for number in values
        if not number.shape and _written_out(number, values) == each.statement.lhs - each.statement.rhs
    ]
    return (*added, *again)


def _plainest(kind: str, value: Expr) -> tuple[str, Expr]:
    """Simplify a condition on the sign of a number: 2 sqrt(s) > 0 becomes s > 0."""
    while True:
        factor, rest = value.as_independent(*value.free_symbols, as_Add=False)
        if factor != 1 and (kind == "nonzero" or factor.is_positive) and rest != 1:
            value = rest
        elif kind in ("nonzero", "positive") and isinstance(value, Pow) and value.exp.is_Rational and value.exp != 1:
            if value.exp.is_Integer and kind == "positive":
                return kind, value
            kind = kind if value.exp.is_Integer else "positive"  # a root has a value from 0 on
            value = value.base
        else:
            return kind, value


def _parts(along: Expr | Blocks) -> tuple[Expr, ...]:
    return (total(along.count), total(along.size)) if isinstance(along, Blocks) else (total(along),)


def _summed_over(value: Expr, arrays: Mapping[str, Variable]) -> dict[str, tuple[Symbol, Expr]]:
    """Return the index symbols of arrays in an expression with their ranges: a condition holds for all their values."""
    return {
        place.name: (place, total(size))
        for each in value.atoms(Indexed)
        if each.base.label.name in arrays
        for place, size in zip(each.indices, arrays[each.base.label.name].shape, strict=True)
        if isinstance(place, Symbol)
    }


def unequal_text(relation: Relational) -> str:
    """Return a relation p != 0 as text; if p is a symbol plus a number, it is solved for the symbol: n != 1."""
    value = relation.lhs - relation.rhs
    free = sorted(value.free_symbols, key=str)
    if len(free) == 1 and value.coeff(free[0]) in (1, -1):
        return f"{free[0]} != {free[0] - value / value.coeff(free[0])}"
    return f"{relation.lhs} != {relation.rhs}"
