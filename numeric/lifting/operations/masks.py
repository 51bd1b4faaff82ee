"""Masks: comparisons, truth values and their connectives, entries chosen by a mask, entries that a mask hides.

Hidden entries are minus infinity; `alive` is the mask of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import Any

from sympy import Eq, Ge, Integer, Lambda, Le, Ne, Symbol, oo
from sympy.core.relational import Relational

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.contraction import Contraction, contraction, operand_of
from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import (
    Elementwise,
    Hadamard,
    MaskConjunction,
)
from derivations.language.arrays.masks import BandMask
from derivations.language.arrays.scalars import Iverson
from numeric.lifting.axes import (
    fine,
)
from numeric.lifting.fillers import FILLER
from numeric.lifting.numbers import as_number, is_number
from numeric.lifting.operations.broadcasting import (
    ALWAYS,
    Operand,
    broadcast_shape,
    broadcast_to,
    constant,
    defined_by,
    full,
    source_of,
    stretched,
    together,
)
from numeric.lifting.operations.entries import FIRST, SECOND, THIRD, entry_function, finite, formula, real
from numeric.lifting.operations.ties import at_ties
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, tensor
from numeric.lifting.trace import current

__all__ = [
    "alive_together",
    "bits_and",
    "bits_not",
    "bits_or",
    "certain",
    "compare",
    "hidden",
    "integer_table",
    "is_filler",
    "is_finite",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "truth",
    "where",
]


def alive_together(one: Tensor, other: Tensor) -> Array | None:
    """Return the mask of the entries that neither array hides, in their common shape; None if nothing is hidden."""
    shape = broadcast_shape(one.axes, other.axes)
    masks = [stretched(each.alive, each.axes, shape) for each in (one, other) if each.alive is not None]
    if len(masks) < 2:
        return masks[0] if masks else None
    return MaskConjunction(*map(current().define, masks))


def compare(one: Operand, other: Operand, relation: Any) -> Tensor:
    """Return the mask of the entries for which a relation (such as `sympy.Gt`) holds."""
    if isinstance(one, Tensor) and isinstance(other, float) and isinf(other):
        bound = oo if other > 0 else -oo
        return _of_mask(is_finite(one), [bool(relation(entry, bound)) for entry in (-oo, Integer(0))])
    finite("a comparison", one, other)
    if isinstance(one, Tensor) and "boolean" in (one.kind, one.node.kind) and not isinstance(other, Tensor):
        return _of_mask(one, [bool(relation(Integer(truth), as_number(other))) for truth in (0, 1)])
    if _counts_places(one) and relation in (Eq, Ne) and is_number(other) and as_number(other).is_negative:
        return constant(Integer(int(relation is Ne)), one.axes, "boolean")  # such as classes, and the number of none
    arrays = [each for each in (one, other) if isinstance(each, Tensor)]
    symbols = iter((FIRST, SECOND))
    sides = [next(symbols) if isinstance(each, Tensor) else as_number(each) for each in (one, other)]
    shape, nodes = together(*arrays)
    tables = [integer_table(node) for node in nodes]
    if all(each is not None for each in tables):
        variables = tuple(Symbol(f"i_{number}", integer=True) for number in range(len(fine(shape))))
        put = {symbol: table(*variables) for symbol, table in zip((FIRST, SECOND), tables, strict=False) if table}
        condition = relation(*(side.xreplace(put) for side in sides), evaluate=False)
        return tensor(Tabulated(Lambda(variables, Iverson(condition)), *fine(shape)), kind="boolean", axes=shape)
    holds = Iverson(relation(*sides, evaluate=False))
    if relation in (Eq, Ne) and any(node.kind == "real" for node in nodes):  # of reals the judge knows orders
        equal = Iverson(Le(*sides, evaluate=False)) * Iverson(Ge(*sides, evaluate=False))
        holds = equal if relation is Eq else 1 - equal
    function = entry_function("holds", holds, *(FIRST, SECOND)[: len(arrays)])
    return tensor(Elementwise(function, *nodes), kind="boolean", axes=shape)


def _counts_places(value: Operand) -> bool:
    """Return whether the entries of an array were used as indices of an axis: they are then not negative."""
    return isinstance(value, Tensor) and any(numbers == value.node for numbers, _ in current().chosen)


def integer_table(node: Array) -> Any:
    """Return the formula of a table of integers, such as positions, also if its entries were moved; else None."""
    source = source_of(operand_of(node, [Symbol(f"at_{number}", integer=True) for number in range(len(node.shape))]))
    value = defined_by(source[0])
    if not isinstance(value, Tabulated) or not (value.kind != "real" or _counts(value.args[0])):
        return None
    entry = value.args[0](*source[1:])
    return Lambda(tuple(Symbol(f"at_{number}", integer=True) for number in range(len(node.shape))), entry)


def _counts(formula: Lambda) -> bool:
    """Return whether a formula gives integers that depend on the index, such as differences of positions."""
    return bool(formula.expr.is_integer) and formula.expr.has(*formula.variables)


def _of_mask(mask: Tensor, values: Sequence[bool]) -> Tensor:
    """Return a mask that is values[0] where the given mask is not set, and values[1] where it is set."""
    if values[0] == values[1]:
        return constant(Integer(int(values[0])), mask.axes, "boolean")
    return tensor(mask.node, kind="boolean", axes=mask.axes) if values[1] else logical_not(mask)


def truth(array: Tensor) -> Tensor:
    """Return the mask of the entries that are not 0."""
    finite("the truth value", array)
    return array if "boolean" in (array.kind, array.node.kind) else compare(array, Integer(0), Ne)


def bits_not(array: Tensor) -> Tensor:
    """Return the mask of the entries that are not set; integers are refused, as the operator would flip their bits."""
    return logical_not(_truth_values(array))


def bits_and(one: Tensor, other: Tensor) -> Tensor:
    """Return the mask of the entries that are set in both; integers are refused, as the operator acts on their bits."""
    return logical_and(_truth_values(one), _truth_values(other))


def bits_or(one: Tensor, other: Tensor) -> Tensor:
    """Return the mask of the entries that are set in one of the two; integers are refused: it acts on their bits."""
    return logical_or(_truth_values(one), _truth_values(other))


def _truth_values(array: Operand) -> Tensor:
    if not isinstance(array, Tensor) or array.kind != "boolean":
        raise refuse("an operator on bits of an array of other than truth values")
    return array


def certain(mask: Tensor) -> bool | None:
    """Return whether a mask is set everywhere (True) or nowhere (False); None if that is not known."""
    value = defined_by(mask.node)
    if isinstance(value, Tabulated) and value.args[0].expr in (Iverson(ALWAYS), Iverson(~ALWAYS)):
        return bool(value.args[0].expr == Iverson(ALWAYS))
    return None


def is_finite(array: Tensor) -> Tensor:
    """Return the mask of the entries that are real numbers: all of them, or those that are not minus infinity."""
    if array.alive is not None:
        return tensor(array.alive, kind="boolean", axes=array.axes)
    return constant(Integer(1), array.axes, "boolean")


def logical_not(mask: Tensor) -> Tensor:
    """Return the mask of the entries that are 0."""
    mask = truth(mask)
    return tensor(_opposite(mask.node), kind="boolean", axes=mask.axes)


def _opposite(mask: Array) -> Array:
    value = defined_by(mask)
    if isinstance(value, Elementwise) and value.args[0].name == "not":
        inside: Array = value.args[1]
        return inside
    if isinstance(value, Elementwise) and value.args[0].name == "holds":
        held = value.args[0].formula
        ordered = isinstance(held.expr, Iverson) and isinstance(held.expr.args[0], Relational)
        opposite = Iverson(held.expr.args[0].negated) if ordered else 1 - held.expr
        return Elementwise(entry_function("holds", opposite, *held.variables), *value.args[1:])
    if isinstance(value, BandMask):
        low, high = value.lower, value.upper
        if low == -oo and high != oo:
            return BandMask(*value.sides, high + 1, oo)
        if high == oo and low != -oo:
            return BandMask(*value.sides, -oo, low - 1)
    if isinstance(value, Tabulated) and isinstance(value.args[0].expr, Iverson):
        table = value.args[0]
        return Tabulated(Lambda(table.variables, Iverson(~table.expr.args[0])), *value.shape)
    if isinstance(value, Contraction) and value.is_move:
        inner, read = value.operands[0]
        return contraction(value.indices, value.shape, (), 1, operand_of(current().define(_opposite(inner)), read))
    if mask.kind != "boolean":
        return Elementwise(entry_function("not", 1 - FIRST, FIRST), mask)
    return Elementwise(entry_function("not", Iverson(Eq(FIRST, 0, evaluate=False)), FIRST), mask)


def logical_and(one: Tensor, other: Tensor) -> Tensor:
    """Return the mask of the entries that are set in both."""
    shape, nodes = together(truth(one), truth(other))
    for node, mask in (nodes, nodes[::-1]):
        value = defined_by(node)
        if isinstance(value, Tabulated) and value.args[0].expr == Iverson(ALWAYS):  # set everywhere
            return tensor(mask, kind="boolean", axes=shape)
    both = MaskConjunction if all(node.kind == "boolean" for node in nodes) else Hadamard
    return tensor(both(*(full(node, shape) for node in nodes)), kind="boolean", axes=shape)


def logical_or(one: Tensor, other: Tensor) -> Tensor:
    """Return the mask of the entries that are set in one of the two."""
    return logical_not(logical_and(logical_not(one), logical_not(other)))


def logical_xor(one: Tensor, other: Tensor) -> Tensor:
    """Return the mask of the entries that are set in one of the two and not in the other."""
    return logical_and(logical_or(one, other), logical_not(logical_and(one, other)))


def where(mask: Tensor, one: Operand, other: Operand) -> Tensor:
    """Return the entries of the first array where the mask is set, of the second elsewhere."""
    mask = truth(mask)
    if (chosen := certain(mask)) is not None:
        value = one if chosen else other
        shape = broadcast_shape(*(a.axes for a in (mask, one, other) if isinstance(a, Tensor)))
        return broadcast_to(value, shape) if isinstance(value, Tensor) else constant(as_number(value), shape)
    if is_filler(other):
        return hidden(one, mask)
    if is_filler(one):
        return hidden(other, logical_not(mask))
    finite("a choice", one, other)
    mask = at_ties(mask, one, other)
    arrays = [each for each in (one, other) if isinstance(each, Tensor)]
    symbols = iter((SECOND, THIRD))
    sides = [next(symbols) if isinstance(each, Tensor) else as_number(each) for each in (one, other)]
    return formula("where", FIRST * sides[0] + (1 - FIRST) * sides[1], mask, *arrays)


def is_filler(value: Any) -> bool:
    """Return whether a value stands for minus infinity."""
    if (
        isinstance(value, Tensor)
        or not is_number(value)
        or (not isinstance(value, float | int) and not hasattr(value, "item"))
    ):
        return False
    known = float(value)
    if known == float("-inf"):
        return True
    if known > FILLER:
        return False
    current().read(f"{known:g} as minus infinity")
    return True


def hidden(array: Operand, visible: Tensor) -> Tensor:
    """Return an array with minus infinity where a mask is not set."""
    if not isinstance(array, Tensor):
        array = constant(as_number(array), visible.axes)
    shape = broadcast_shape(array.axes, visible.axes)
    mask = current().define(stretched(visible.node, visible.axes, shape))
    if mask.kind != "boolean":
        raise refuse("minus infinity is put where real entries decide it")
    if array.alive is not None:
        mask = MaskConjunction(current().define(stretched(array.alive, array.axes, shape)), mask)
    return tensor(stretched(real(array).node, array.axes, shape), mask, axes=shape)
