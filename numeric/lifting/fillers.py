"""Numbers that are added to scores to hide them: (1 - M) * (-1e9), as many implementations write a mask.

Definition   an array is affine in a mask M if its entries are a + b M, with numbers a and b
Result       where a + b = 0 and a is a large negative number, adding the array hides the entries that M does not show
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sympy import Add, Expr, Integer, Lambda, Mul

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.contraction import Contraction, contraction, operand_of
from derivations.language.arrays.expression import Array, Plus, Scaled
from derivations.language.arrays.functions import Hadamard
from derivations.language.arrays.masks import as_band
from derivations.language.arrays.scalars import Iverson
from numeric.lifting.trace import current

__all__ = ["FILLER", "Affine", "affine"]

# Below this a number that fills hidden scores is read as minus infinity, which is printed with the verdict.
FILLER = -9_000


@dataclass(frozen=True)
class Affine:
    """The array `unset + (shown - unset) M`: one number where the mask shows an entry, one where it does not."""

    unset: Expr
    shown: Expr
    mask: Array | None  # None for a constant

    @property
    def hides(self) -> bool:
        """Whether adding the array hides what the mask does not show."""
        return self.mask is not None and self.shown == 0 and self.unset.is_number and bool(self.unset <= FILLER)

    @property
    def shows(self) -> bool:
        """Whether adding the array hides what the mask shows."""
        return self.mask is not None and self.unset == 0 and self.shown.is_number and bool(self.shown <= FILLER)


def affine(array: Array) -> Affine | None:
    """Return an array as affine in one mask, read through the equations of the trace; None if it is not."""
    if array.kind == "boolean":
        return Affine(Integer(0), Integer(1), array)
    value = current().equations.get(array, array)
    if isinstance(value, Tabulated):
        return _table(value)
    if isinstance(value, Scaled):
        inner = affine(value.args[1])
        return inner and Affine(value.args[0] * inner.unset, value.args[0] * inner.shown, inner.mask)
    if isinstance(value, Plus | Hadamard):
        parts = []
        for part in value.args:
            found = affine(part)
            if found is None:
                return None
            parts.append(found)
        return _together(value, parts)
    if isinstance(value, Contraction) and len(value.operands) == 1 and not value.sums and value.factor == 1:
        ((inner_array, places),) = value.operands
        inner = affine(inner_array)
        if inner is None or inner.mask is None:
            return inner
        moved = contraction(value.indices, value.shape, (), 1, operand_of(inner.mask, places))
        return replace(inner, mask=current().define(moved))
    return None


def _together(value: Array, parts: list[Affine]) -> Affine | None:
    """Return a sum or an entrywise product of arrays that are affine in the same mask."""
    masks = {part.mask for part in parts if part.mask is not None}
    if len(masks) > 1:
        return None
    combine = Add if isinstance(value, Plus) else Mul
    return Affine(combine(*(p.unset for p in parts)), combine(*(p.shown for p in parts)), next(iter(masks), None))


def _table(value: Tabulated) -> Affine | None:
    """Return a table that holds one number, or two numbers chosen by a condition, as affine; None for other tables."""
    formula = value.args[0]
    switches = formula.expr.atoms(Iverson)
    if not switches and not formula.expr.free_symbols & set(formula.variables):
        return Affine(formula.expr, formula.expr, None)
    if len(switches) != 1:
        return None
    (switch,) = switches
    unset, shown = (formula.expr.xreplace({switch: Integer(number)}) for number in (0, 1))
    if (unset.free_symbols | shown.free_symbols) & set(formula.variables):
        return None
    mask = Tabulated(Lambda(formula.variables, switch), *value.shape)
    return Affine(unset, shown, current().define(as_band(mask) or mask))
