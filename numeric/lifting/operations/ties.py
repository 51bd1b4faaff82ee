"""Choices by an inequality whose two cases agree at equality: it makes no difference whether it is > or >=.

Definition   a choice by x > c takes one value above c and another one elsewhere; if the two are equal at x = c, it is
             the choice by x >= c
Result       one mask for both ways to write such a function: >= and <, of > and <=
"""

from __future__ import annotations

from typing import Any

from sympy import Abs, Expr, Ge, Gt, Le, Lt, Symbol, expand, solve

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, Plus, Scaled
from derivations.language.arrays.functions import Elementwise, Hadamard
from derivations.language.arrays.scalars import Iverson
from numeric.lifting.numbers import as_number
from numeric.lifting.operations.broadcasting import defined_by
from numeric.lifting.operations.entries import entry_function
from numeric.lifting.tensor import Tensor, tensor

__all__ = ["at_ties"]

_OTHER = {Gt: Ge, Le: Lt}
_DEEPEST = 12  # of the formulas that are read


def at_ties(mask: Tensor, one: Any, other: Any) -> Tensor:
    """Return the mask of a choice, with > replaced by >= and <= by < if both cases agree at equality."""
    value = defined_by(mask.node)
    if not isinstance(value, Elementwise) or not isinstance(value.args[0].formula.expr, Iverson):
        return mask
    formula = value.args[0].formula
    relation = formula.expr.args[0]
    if relation.func not in _OTHER or not all(_fits(each, mask) for each in (one, other)):
        return mask
    leaves: dict[Array, Symbol] = {}
    put = {x: _read(node, leaves) for x, node in zip(formula.variables, value.args[1:], strict=True)}
    gap = relation.lhs.xreplace(put) - relation.rhs.xreplace(put)
    cases = [_read(each.node, leaves) if isinstance(each, Tensor) else as_number(each) for each in (one, other)]
    ties = _solutions(gap)
    if not ties or any(expand((cases[0] - cases[1]).xreplace(tie)) != 0 for tie in ties):
        return mask
    weaker = Iverson(_OTHER[relation.func](*relation.args, evaluate=False))
    return tensor(
        Elementwise(entry_function("holds", weaker, *formula.variables), *value.args[1:]), None, "boolean", mask.axes
    )


def _fits(case: Any, mask: Tensor) -> bool:
    return not isinstance(case, Tensor) or (case.alive is None and case.node.shape == mask.node.shape)


def _read(node: Array, leaves: dict[Array, Symbol], depth: int = 0) -> Expr:
    """Return the formula of the entries of an array, with one symbol for each array from which it is computed."""
    value = defined_by(node)

    def of(part: Array) -> Expr:
        return _read(part, leaves, depth + 1)

    if depth < _DEEPEST and all(getattr(part, "shape", node.shape) == node.shape for part in value.args):
        if isinstance(value, Elementwise):
            formula = value.args[0].formula
            return formula.expr.xreplace(dict(zip(formula.variables, map(of, value.args[1:]), strict=True)))
        if isinstance(value, Scaled):
            return value.args[0] * of(value.args[1])
        if isinstance(value, Plus):
            return sum(map(of, value.args))
        if isinstance(value, Hadamard):
            one, two = map(of, value.args)
            return one * two
    if isinstance(value, Tabulated) and not value.args[0].expr.has(*value.args[0].variables):
        return value.args[0].expr
    return leaves.setdefault(node, Symbol(f"leaf_{len(leaves)}", real=True))


def _solutions(gap: Expr) -> list[dict[Symbol, Expr]]:
    """Return where a formula is 0, if it is linear in a symbol or in the absolute value of such a formula; else []."""
    sizes = gap.atoms(Abs)
    gaps = [gap]
    if len(sizes) == 1:
        (size,) = sizes
        place = Symbol("size", positive=True)
        values = solve(gap.xreplace({size: place}), place)
        gaps = [size.args[0] - sign * value for value in values for sign in (1, -1)]
    found = []
    for each in map(expand, gaps):
        letter = next((s for s in sorted(each.free_symbols, key=str) if each.coeff(s).is_nonzero), None)
        if letter is None or (each - each.coeff(letter) * letter).expand().has(letter):
            return []
        found.append({letter: expand(letter - each / each.coeff(letter))})
    return found
