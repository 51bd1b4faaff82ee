r"""Linear recurrences over positions: every state is a decayed state before it and what its position adds.

Definition   H_t = exp(L_t) o H_{t-1} + B_t with H_{-1} = 0; backwards H_t = exp(L_{t+1}) o H_{t+1} + B_t with H_n = 0
Result       H_t = sum_{s <= t} exp(G_t - G_s) o B_s with G_t = sum_{r <= t} L_r; backwards the sum is over s >= t and
             the exponent is G_s - G_t (`recurrence.parallel_form`, by induction over t)
Shapes       B and H (n, ...), L with the same first axes; over the other axes of B it is repeated
Source       Katharopoulos et al. (2020), section 3.4; Gu and Dao (2023), section 2; Martin and Cundy (2018), section 2
"""

from __future__ import annotations

from sympy import Expr, Integer, exp, sympify
from sympy.printing.str import StrPrinter

from derivations.language.arrays.expression import Array, Shape, avoiding, require
from derivations.language.arrays.shapes import Blocks, Place, flat, same_size, shape_text, sum_along, total

__all__ = ["Recurrence"]


class Recurrence(Array):
    """The states of a linear recurrence along the first axis: `Recurrence(logarithms, added)`.

    Definition   H_t = exp(L_t) o H_{t-1} + B_t; backwards H_t = exp(L_{t+1}) o H_{t+1} + B_t
    Shapes       logarithms L of the decays (n, ...), added B (n, ..., ...), the states as B
    """

    def __new__(cls, logarithms: Array, added: Array, backwards: int | Expr = 0) -> Array:
        """Build the states from the logarithms of the decays and what every position adds; `backwards` is 0 or 1."""
        return super().__new__(cls, logarithms, added, sympify(backwards, strict=True))

    @property
    def backwards(self) -> bool:
        """Whether the last position is the first one that is read."""
        return self.args[2] == 1

    def _infer(self) -> Shape:
        logarithms, added, backwards = self.args
        leading = added.shape[: len(logarithms.shape)]
        require(
            0 < len(logarithms.shape) <= len(added.shape) and all(map(same_size, logarithms.shape, leading)),
            lambda: (
                f"recurrence: {logarithms} of shape {shape_text(logarithms.shape)} must have the first axes of "
                f"{added}, {shape_text(added.shape)}"
            ),
        )
        require(not isinstance(added.shape[0], Blocks), lambda: f"recurrence: the positions of {added} are blocks")
        require(backwards in (0, 1), lambda: f"recurrence: backwards is 0 or 1, not {backwards}")
        return added.shape

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"recurrence({', '.join(map(str, self.args[:2]))}{', backwards' if self.backwards else ''})"

    def _entry(self, *places: Place) -> Expr:
        logarithms, added, _ = self.args
        at, rest, own = flat(places[0]), places[1:], places[1 : len(logarithms.shape)]
        avoid, along = avoiding(self, places), total(self.shape[0])

        def until(last: Expr) -> Expr:
            return sum_along(along, lambda p: logarithms.entry(p, *own), avoid, (Integer(0), last))

        def reaching(place: Place) -> Expr:
            s = flat(place)
            exponent = until(s) - until(at) if self.backwards else until(at) - until(s)
            return exp(exponent) * added.entry(s, *rest)

        return sum_along(along, reaching, avoid, (at, along - 1) if self.backwards else (Integer(0), at))
