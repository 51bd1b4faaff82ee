"""Arrays whose entries are a formula of their indices: constants, positions, masks of positions.

JAX makes them step by step (`iota`, `add`, `ge`, `select_n`), so they are kept as formulas until an array of the
function needs them: a comparison of positions is then seen to be a causal mask, and a constant stays a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sympy import And, Expr, Integer, Lambda, Mul, Symbol, expand, nan, oo, true
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from derivations.language.arrays.arrangements import Numbers, Tabulated
from derivations.language.arrays.masks import CausalMask, as_band
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import same_size
from numeric.lifting import operations as op
from numeric.lifting.axes import LETTERS, Along, numbered, size_of_axis
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, tensor

__all__ = ["PLACES", "Table", "array_of", "bounds_of", "entries_at", "number_of", "operand_of", "shared_axes"]

PLACES = tuple(Symbol(letter, integer=True) for letter in LETTERS)


@dataclass(frozen=True)
class Table:
    """An array given by a formula of its indices, the symbols in `PLACES`; a mask is given by a condition."""

    formula: Any  # Expr, or Boolean for a mask
    axes: tuple[Expr, ...] = ()
    kind: str = "real"

    def __post_init__(self) -> None:
        """Replace the index of an axis of length 1 by 0, so that the table can be broadcast along the axis."""
        ones = {place: Integer(0) for place, along in zip(PLACES, self.axes, strict=False) if along == 1}
        object.__setattr__(self, "formula", self.formula.xreplace(ones))

    @property
    def constant(self) -> bool:
        """Whether all entries are the same number."""
        return not self.formula.free_symbols & set(PLACES)

    def read_at(self, places: Sequence[Expr], axes: Sequence[Expr]) -> Table:
        """Return the table whose entries are those of this table at the given indices."""
        put = dict(zip(PLACES, places, strict=False))
        return replace(self, formula=self.formula.xreplace(put), axes=tuple(axes))


def shared_axes(*tables: Table) -> tuple[Expr, ...]:
    """Return the axes to which tables broadcast."""
    return tuple(map(size_of_axis, op.broadcast_shape(*(table.axes for table in tables))))


def number_of(table: Table) -> Expr:
    """Return the number that all entries of a constant table have."""
    if not table.constant or isinstance(table.formula, Boolean):
        raise refuse("a table of different numbers where one number is expected")
    return table.formula


def operand_of(value: Any) -> Any:
    """Return an operand of an operation: an array, or the one number of a constant table."""
    if isinstance(value, Tensor):
        return value
    if value.kind != "boolean" and value.constant:
        if value.formula.has(oo, -oo, nan):
            raise refuse("arithmetic with an infinite number")
        return value.formula
    return array_of(value)


def array_of(value: Any) -> Tensor:
    """Return a value as a symbolic array."""
    if isinstance(value, Tensor):
        return value
    if value.kind == "boolean":
        return _mask(value)
    if value.formula.has(oo, -oo, nan):
        raise refuse("an array of infinite numbers")
    places = PLACES[: len(value.axes)]
    formula = Lambda(places, value.formula)
    if value.kind == "integer" and len(value.axes) == 1:
        return tensor(Numbers(formula, *value.axes))
    return tensor(Tabulated(formula, *value.axes))


def _mask(value: Table) -> Tensor:
    """Return a table of conditions as a mask; a mask of positions between two diagonals becomes a band mask."""
    if value.constant:
        return op.constant(Integer(int(value.formula == true)), value.axes, "boolean")
    conditions = value.formula.args if isinstance(value.formula, And) else (value.formula,)
    if not all(isinstance(each, Relational) for each in conditions):
        raise refuse(f"a mask of the places where {value.formula}")
    used = [number for number, place in enumerate(PLACES[: len(value.axes)]) if value.formula.has(place)]
    axes = [value.axes[number] for number in used]
    node = Tabulated(Lambda(tuple(PLACES[number] for number in used), Mul(*map(Iverson, conditions))), *axes)
    band = as_band(node)
    if band is not None and same_size(*band.sides) and (band.lower, expand(band.upper)) == (-oo, 0):
        band = CausalMask(band.sides[0])
    mask = tensor(node if band is None else band, kind="boolean")
    if len(used) == len(value.axes):
        return mask
    indices = numbered(value.axes)  # the same mask for each head and each text
    read = (mask.node, mask.axes, [indices[number] for number in used])
    return tensor(op.moved(indices, value.axes, read), kind="boolean", axes=value.axes)


def bounds_of(formula: Expr, axes: Sequence[Expr]) -> tuple[Expr | None, Expr | None]:
    """Return the least and the largest value of a formula that is linear in the indices, else (None, None)."""
    least = largest = formula
    for place, size in zip(PLACES, axes, strict=False):
        slope = formula.coeff(place)
        if expand(formula - slope * place).has(place) or not slope.is_Integer:
            return None, None
        low, high = (Integer(0), size - 1) if slope > 0 else (size - 1, Integer(0))
        least, largest = least.xreplace({place: low}), largest.xreplace({place: high})
    return expand(least), expand(largest)


def entries_at(array: Tensor, target: Sequence[Along], indices: Sequence[Any], at: Sequence[Any]) -> Tensor:
    """Return the entries of an array at indices of the result, or at formulas of these indices."""
    return op.viewed(array, target, lambda node: op.moved(indices, target, (node, array.axes, at)))
