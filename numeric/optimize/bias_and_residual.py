"""Fixed rows in a residual sum are added once: shifts of norms and biases of branches become one row.

Definition   with Y = R + 1 b^T and F = G + 1 c^T, S = Y + F becomes (R + G) + 1 (b + c)^T; where products read Y as
             well, H = Y W + 1 a^T becomes R W + 1 (b W + a)^T
Result       each sum adds one row to all rows, where it added two or more
Assumes      every other reader of Y already adds a row, which absorbs b W when weights are packed
Source       residual.fixed_rows_add_up
"""

from __future__ import annotations

from dataclasses import dataclass

from derivations.language.arrays.expression import Array, Plus, RowBroadcast, Variable
from derivations.language.layers.layer import Equation
from derivations.language.layers.names import is_name
from numeric.optimize.draft import Draft
from numeric.optimize.patterns import Affine, added, affine, bias_with, biased, defined, terms
from numeric.optimize.rewrite import Proposal

__all__ = ["bias_and_residual"]

THEOREM = "residual.fixed_rows_add_up"


@dataclass(frozen=True)
class _Shifted:
    """An equation Y = R + 1 b^T whose row b moves to a given sum, and to the products that read Y."""

    equation: Equation
    products: tuple[Affine, ...]

    @property
    def rows(self) -> Array:
        """The rest of the sum, R."""
        rows: Array = self.equation.value.args[0]
        return rows

    @property
    def shift(self) -> Array:
        """The row, b."""
        shift: Array = self.equation.value.args[1].args[0]
        return shift


def bias_and_residual(draft: Draft) -> bool:
    """Add the fixed rows of every sum once; return whether the layer changed."""
    done = False
    for equation in list(draft.equations.values()):
        if equation.over is None and isinstance(equation.value, Plus) and equation in draft.equations.values():
            summands = list(terms(equation.value))
            found = [_shifted(draft, term, equation) for term in summands]
            own, given = sum(_is_row(term, draft) for term in summands), sum(each is not None for each in found)
            # one row is added already, and a sum of rows alone has no matrix to add them to
            if own + given > 1 and own < len(summands):
                done |= draft.propose("bias_and_residual", _added_once(draft, equation, summands, found))
    return done


def _is_row(term: Array, draft: Draft) -> bool:
    """Return whether a term is a weight in every row."""
    return isinstance(term, RowBroadcast) and draft.is_weight(term.args[0])


def _shifted(draft: Draft, term: Array, total: Equation) -> _Shifted | None:
    """Return the equation of a term of a sum if it adds a row that every other reader can absorb."""
    equation = draft.equation(term) if isinstance(term, Variable) else None
    if equation is None or equation.over is not None or equation.variable in draft.layer.outputs:
        return None
    if not isinstance(equation.value, Plus) or not _is_row(equation.value.args[1], draft):
        return None
    readers = list(draft.readers(equation.variable))
    # one occurrence: a sum that has the term twice still reads it
    readers.remove(total)
    products = [affine(reader, draft) for reader in readers]
    taking = tuple(p for p in products if p is not None and p.rows == term and p.bias is not None)
    if any(p.variable in terms(total.value) for p in taking):  # its result is a term of the same sum
        return None
    # one reader that cannot absorb the row keeps Y alive, and nothing is saved
    return _Shifted(equation, taking) if len(taking) == len(readers) else None


def _added_once(draft: Draft, total: Equation, summands: list[Array], found: list[_Shifted | None]) -> Proposal:
    fresh: list[Equation] = []
    packed: list[Equation] = []
    replaced: dict[Variable, Array] = {}
    rows: list[Array] = []
    shifts: list[Array] = []
    for term, shifted in zip(summands, found, strict=True):
        if _is_row(term, draft):
            shifts.append(term.args[0])
        elif shifted is None:
            rows.append(term)
        else:
            plain = shifted.rows
            if not is_name(plain):
                equation, plain = defined(draft.fresh(f"{term}_plain"), plain, shifted.equation)
                fresh.append(equation)
            rows.append(plain)
            shifts.append(shifted.shift)
            for product in shifted.products:
                packed.append(bias_with(shifted.shift, product, draft))
                replaced[product.variable] = biased(plain @ product.weight, packed[-1].target)
    packed.append(defined(draft.fresh(f"{total.variable}_bias"), added(shifts), total)[0])
    replaced[total.variable] = biased(added(rows), packed[-1].target)
    opened = tuple(each.equation.variable for each in found if each is not None)
    return Proposal(THEOREM, replaced, tuple(fresh), tuple(packed), opened, rule="distributivity")
