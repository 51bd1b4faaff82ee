"""Softmax in two halves: the exponentials of the scores of each row, and a later division by their sum.

`RowExponentials` subtracts the largest visible score of the row, so that no exponential exceeds 1; `Normalised` divides
every row by its sum. softmax(S) V is (E V) divided by the sums of the rows of E, for E = exp(S - r 1^T) and any
reference r.
"""

from __future__ import annotations

from typing import Any

from sympy import E, Expr, Integer, exp, log, sympify
from sympy.printing.str import StrPrinter

from derivations.language.arrays.expression import Array, Shape, avoiding, require
from derivations.language.arrays.scalars import LARGEST, SHARE
from derivations.language.arrays.shapes import Place, flat, same_size, shape_text, sum_along

__all__ = ["Normalised", "RowExponentials", "RowMax", "row_exponentials"]


class RowExponentials(Array):
    """The powers base^(x_ij - r_i) of scores x, where r_i is the largest visible score of row i. Hidden keys give 0.

    Definition   e_ij = base^(x_ij - r_i);  with a mask, M_ij base^(x_ij - r_i); r_i is the largest visible x of row i
    Result       base^(x_ij - r_i) = exp(y_ij - R_i) with y = x ln(base) and R_i its largest visible entry, as base > 1;
                 the judge knows only that R_i is the same function of the visible y of its row, for all rows
    Assumes      base > 1; with a mask, a row with no visible key is a row of zeros
    """

    @property
    def mask(self) -> Array | None:
        """The mask of visible keys, or None."""
        return self.args[2] if len(self.args) == 3 else None

    @property
    def base(self) -> Expr:
        """The base of the powers."""
        return self.args[1]

    def _infer(self) -> Shape:
        scores, mask = self.args[0], self.mask
        what = f"exponentials of {scores}"
        require(len(scores.shape) in (1, 2), lambda: f"{what}: shape {shape_text(scores.shape)} has no rows")
        require(bool((self.base - 1).is_positive), lambda: f"{what}: the base must be greater than 1, not {self.base}")
        if mask is not None:
            fits = len(mask.shape) == len(scores.shape) and all(map(same_size, mask.shape, scores.shape))
            require(mask.kind == "boolean", lambda: f"{what}: the mask {mask} must be boolean")
            require(
                fits, lambda: f"{what}: shapes {shape_text(scores.shape)} and {shape_text(mask.shape)} of {mask} differ"
            )
        return scores.shape

    def _sympystr(self, printer: StrPrinter) -> str:
        mask = "" if self.mask is None else f", {self.mask}"
        base = "" if self.base == E else f", base={self.base}"
        return f"exponentials({self.args[0]}{mask}{base})"

    def _entry(self, *places: Place) -> Expr:
        scores, mask = self.args[0], self.mask

        def visible(last: Place) -> Expr:
            return mask.entry(*places[:-1], last) if mask is not None else Integer(1)

        def exponent(last: Place) -> Expr:
            # base^x = exp(x ln(base)): the judge reads all bases as one function
            entry = scores.entry(*places[:-1], last)
            return entry if self.base == E else log(self.base) * entry

        # LARGEST and SHARE have no formula: the sum only encodes the visible entries of the row and their places.
        def told(last: Place) -> Expr:
            return visible(last) * SHARE(flat(last), exponent(last))

        largest = LARGEST(sum_along(scores.shape[-1], told, avoiding(self, places)))
        return visible(places[-1]) * exp(exponent(places[-1]) - largest)


def row_exponentials(scores: Array, mask: Array | None = None, base: Any = E) -> RowExponentials:
    """Return the powers base^(x_ij - r_i) of scores x, as `RowExponentials` defines them. Hidden keys give 0."""
    return RowExponentials(scores, sympify(base, strict=True), *([] if mask is None else [mask]))


class Normalised(Array):
    """Every row i divided by one number l_i: entry (i, j) is u_ij / l_i.

    Shapes       U (n, d), l (n,), result (n, d)
    Assumes      a row with l_i = 0 gives a row of zeros
    """

    binding = 2

    def _infer(self) -> Shape:
        rows, sums = (a.shape for a in self.args)
        require(
            len(rows) == len(sums) + 1 and all(map(same_size, rows[:-1], sums)),
            lambda: (
                f"rows of {self.args[0]} {shape_text(rows)} divided by {self.args[1]} {shape_text(sums)}: "
                "one number for each row is needed"
            ),
        )
        return rows

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 2)} / {self._text(1, 3)}"

    def _entry(self, *places: Place) -> Expr:
        rows, sums = self.args
        return rows.entry(*places) / sums.entry(*places[:-1])


class RowMax(Array):
    """The largest entry of every row; with a mask, the largest visible one.

    Result       the judge knows only that it is the same function of the visible entries of its row, for all rows
    """

    def _infer(self) -> Shape:
        array, mask = self.args[0], self.args[-1]
        shape, what = array.shape, f"largest entries of the rows of {array}"
        require(len(shape) >= 1, lambda: f"{what}: it is a scalar")
        if len(self.args) == 2:
            fits = len(mask.shape) == len(shape) and all(map(same_size, mask.shape, shape))
            require(mask.kind == "boolean", lambda: f"{what}: the mask {mask} must be boolean")
            require(fits, lambda: f"{what}: shapes {shape_text(shape)} and {shape_text(mask.shape)} of {mask} differ")
        return shape[:-1]

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"rowmax({', '.join(map(str, self.args))})"

    def _entry(self, *places: Place) -> Expr:
        array, *masks = self.args

        def told(last: Place) -> Expr:
            visible = masks[0].entry(*places, last) if masks else Integer(1)
            return visible * SHARE(flat(last), array.entry(*places, last))

        return LARGEST(sum_along(array.shape[-1], told, avoiding(self, places)))
