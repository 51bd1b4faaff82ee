"""Largest entries that cancel: a softmax with the maximum subtracted does not depend on what is subtracted.

Definition   let r hold one number for each row. A value v has degree k in r if v = e^(k r) v_0, and the shift k if
             v = v_0 + k r, where v_0 does not depend on r
Result       e^(x - r) has degree -1, so has its sum along the row, and their quotient has degree 0: it is free of r.
             If every output of a layer is free of r, the gradient for r is 0, and the slope of a maximum is not needed,
             also where two entries are equal
Assumes      nothing: `free_of` lists the values that are free with their formulas, and the judge proves each

A rule here follows a number through one node. What no rule follows is not free, and its maximum has no gradient.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Expr, Integer, Symbol, diff, exp, simplify

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.exponentials import RowMax
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
    Variable,
)
from derivations.language.arrays.functions import Elementwise, Hadamard, RowLogSumExp, RowSoftmax, RowSum
from derivations.language.arrays.operand_axes import NotCausal, operand_axes
from derivations.language.layers.layer import Layer

__all__ = ["cancelling", "free_of"]

_MOVED = (Transpose, RowBroadcast, ColumnBroadcast)
_LINEAR = (Product, Contraction, RowSum, Hadamard, *_MOVED)


@dataclass(frozen=True)
class _Dependence:
    """How a value depends on a row variable r: its degree or its shift in r, and the axes along which r runs."""

    degree: Expr
    shift: Expr
    axes: tuple[int, ...]

    @property
    def is_free(self) -> bool:
        return bool(self.degree == 0 and self.shift == 0)


def cancelling(layer: Layer) -> dict[Variable, dict[Variable, Array]]:
    """Return the largest entries of rows that no output of a layer depends on.

    Result       for each of them the values that are free of it, by name, as formulas in it
    """
    found = {e.variable: free_of(layer, e.variable) for e in layer.equations if isinstance(e.value, RowMax)}
    return {variable: free for variable, free in found.items() if free is not None}


def free_of(layer: Layer, subtracted: Variable) -> dict[Variable, Array] | None:
    """Return the values in which a variable cancels, as formulas in it, or None if an output depends on it."""
    known = {subtracted: _Dependence(Integer(0), Integer(1), tuple(range(len(subtracted.shape))))}
    formulas: dict[Variable, Array] = {}
    free: dict[Variable, Array] = {}
    for equation in layer.equations:
        # free variables are not in `known`, so what reads only these is free as well
        if equation.variable == subtracted or not any(equation.value.has(variable) for variable in known):
            continue
        found = None if equation.over else _of(equation.value, known)
        if found is None:
            return None
        value = replace_free(equation.value, formulas) if formulas else equation.value
        if found.is_free:
            free[equation.variable] = value
        else:
            # written out in r, so that a free value further on is a formula of r and the inputs
            known[equation.variable], formulas[equation.variable] = found, value
    return None if known.keys() & set(layer.outputs) else free


def _of(node: Array, known: dict[Variable, _Dependence]) -> _Dependence | None:
    """Return how a node depends on the subtracted variable, or None if no rule decides it."""
    if node in known:
        return known[node]
    # a value without r has degree 0 and shift 0 along no axis
    if not any(node.has(variable) for variable in known):
        return _Dependence(Integer(0), Integer(0), ())
    try:
        axes = operand_axes(node)
    except NotCausal:
        return None
    parts: list[_Dependence] = []
    places: set[tuple[int, ...]] = set()
    for number, operand in enumerate(node.args):
        if not isinstance(operand, Array):
            continue
        part = _of(operand, known)
        if part is None:
            return None
        parts.append(part)
        if not part.is_free:
            # an axis that is summed over has no counterpart in the node: rows with different r would mix
            along = tuple(axes[number][axis] if operand.shape else None for axis in part.axes)
            if None in along:
                return None
            places.add(along)  # type: ignore[arg-type]
    if len(places) > 1:
        return None  # r runs along different axes
    found = next(_combined(node, parts), None)
    return found and _Dependence(*found, next(iter(places), ()))


def _combined(node: Array, parts: list[_Dependence]) -> Iterator[tuple[Expr, Expr]]:
    """Yield the degree and the shift of a node from those of its operands, if a rule knows them."""
    degrees, shifts = {part.degree for part in parts}, [part.shift for part in parts]
    if isinstance(node, Plus):
        # e^(k r) a + e^(k r) b = e^(k r) (a + b), but a sum of two degrees has none
        if not any(shifts) and len(degrees) == 1:
            yield degrees.pop(), Integer(0)
        # (a + k r) + (b + l r) = (a + b) + (k + l) r
        elif degrees == {0}:
            yield Integer(0), sum(shifts, Integer(0))
    elif isinstance(node, Scaled):
        yield parts[0].degree, node.args[0] * parts[0].shift
    elif isinstance(node, Elementwise):
        yield from _of_formula(node, parts)
    elif isinstance(node, RowSoftmax | RowLogSumExp):
        if degrees == {0} and len(node.args) == 1:  # r has one number for each row, so the shift is one of the row
            yield Integer(0), Integer(0) if isinstance(node, RowSoftmax) else shifts[0]
    elif isinstance(node, _LINEAR) and not any(shifts):
        # a product adds degrees; with a shift, r would multiply the other factor
        yield sum((part.degree for part in parts), Integer(0)), Integer(0)
    elif isinstance(node, _MOVED) or (isinstance(node, Contraction) and node.is_move):
        yield parts[0].degree, parts[0].shift


def _of_formula(node: Elementwise, parts: list[_Dependence]) -> Iterator[tuple[Expr, Expr]]:
    """Yield the degree or the shift k of a function of the row variable t: df/dt = k f or df/dt = k."""
    formula, t = node.args[0].formula, Symbol("t_row", real=True)
    value = formula.expr.xreplace(
        {v: v * exp(part.degree * t) + part.shift * t for v, part in zip(formula.variables, parts, strict=True)}
    )
    # degree k: f_t = k f, the equation of e^(k t); shift k: f_t = k
    slope = diff(value, t)
    for degree, shift in ((simplify(slope / value), Integer(0)), (Integer(0), simplify(slope))):
        # `simplify` only suggests: the judge proves every claim that follows from this
        if not (degree + shift).free_symbols & {t, *formula.variables}:
            yield degree, shift
