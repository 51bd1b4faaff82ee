r"""Linear recurrences over positions: each state is a matrix times the previous state, plus a term of its position.

Definition   H_t = A_t H_{t-1} + B_t with H_{-1} = 0; backwards H_t = A_{t+1} H_{t+1} + B_t with H_n = 0. A_t is
             diagonal, exp(L_t), or diagonal plus a matrix of rank one: A_t H = exp(L_t) o H + w_t (r_t^T H)
Result       diagonal, H_t = sum_{s <= t} exp(G_t - G_s) o B_s with G_t = sum_{r <= t} L_r; backwards the sum is over
             s >= t and the exponent is G_s - G_t (`recurrence.parallel_form`, by induction over t). With a matrix of
             rank one there is no such sum: the matrices do not commute, and the law is all there is. The gradient for B
             is the recurrence in the other direction with A^T, in which w and r change places
Shapes       B and H (n, ...), L with the same first axes; over the other axes of B it is repeated. w and r (n, ..., d)
             have first axes of B, and the product r_t^T H is along the last one of them
Source       Katharopoulos et al. (2020), section 3.4; Gu and Dao (2023), section 2; Martin and Cundy (2018), section 2;
             Yang et al. (2024) and Peng et al. (2025), RWKV-7, for diagonal plus rank one
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Expr, Integer, KroneckerDelta, Symbol, exp, expand, sympify
from sympy.printing.str import StrPrinter

from derivations.language.arrays.contraction import contraction, indices_of, operand_of
from derivations.language.arrays.expression import Array, Shape, avoiding, require
from derivations.language.arrays.functions import exponential
from derivations.language.arrays.shapes import Blocks, Place, flat, same_size, shape_text, sum_along, total

__all__ = ["Recurrence"]


class Recurrence(Array):
    """The states of a linear recurrence along the first axis: `Recurrence(logarithms, added)`.

    Definition   H_t = exp(L_t) o H_{t-1} + w_t (r_t^T H_{t-1}) + B_t; backwards H_{t+1} and the factors of t + 1
    Shapes       logarithms L of the decays (n, ...), added B (n, ..., ...), the states as B; w and r (n, ..., d)
    """

    def __new__(
        cls,
        logarithms: Array,
        added: Array,
        backwards: int | Expr = 0,
        written: Array | None = None,
        read: Array | None = None,
    ) -> Array:
        """Build the states from the logarithms of the decays and the added terms. `backwards` is 0 or 1.

        With `written` and `read` the matrix of a step has a part of rank one.
        """
        require((written is None) == (read is None), lambda: "recurrence: written and read are given together")
        both = () if written is None else (written, read)
        return super().__new__(cls, logarithms, added, sympify(backwards, strict=True), *both)

    @property
    def backwards(self) -> bool:
        """Whether the recurrence runs from the last position to the first."""
        return self.args[2] == 1

    @property
    def factors(self) -> tuple[Array, ...]:
        """The columns w and the rows r of the rank-one part. The tuple is empty if the matrices are diagonal."""
        return self.args[3:]

    @property
    def is_by_law(self) -> bool:
        """Whether only the recurrence relation gives the states. Diagonal matrices also give a sum over the past."""
        return bool(self.factors)

    def transposed(self, added: Array) -> Recurrence:
        """Return the recurrence in the other direction, whose matrices are the transposes: w and r change places."""
        found = Recurrence(self.args[0], added, 1 - self.args[2], *reversed(self.factors))
        assert isinstance(found, Recurrence)
        return found

    def law(self, states: Array) -> Array:
        """Return the right-hand side of the recurrence relation at `states`. Its only fixed point is the recurrence.

        Definition   exp(L_t) o H_{t-1} + w_t (r_t^T H_{t-1}) + B_t, where no state is before the first position
        """
        logarithms, added, _, *factors = self.args
        t, *rest = indices_of(self.shape)
        s, inner = Symbol("s", integer=True), Symbol("p", integer=True)
        steps = (s, total(self.shape[0]) - 1)  # the matrix of position s + 1 joins the states at s and s + 1
        at, before = (s, s + 1) if self.backwards else (s + 1, s)

        def moved(sums: list[Any], *operands: Any) -> Array:
            return contraction((t, *rest), self.shape, [steps, *sums], KroneckerDelta(t, at), *operands)

        decay = operand_of(exponential(logarithms), (s + 1, *rest[: len(logarithms.shape) - 1]))
        found = moved([], decay, operand_of(states, (before, *rest)))
        if factors:
            written, read = factors
            axis = len(written.shape) - 2
            there = [*rest[:axis], inner, *rest[axis + 1 :]]
            by = operand_of(written, (s + 1, *rest[: axis + 1])), operand_of(read, (s + 1, *there[: axis + 1]))
            found = found + moved([(inner, self.shape[axis + 1])], *by, operand_of(states, (before, *there)))
        return found + added

    def _infer(self) -> Shape:
        logarithms, added, backwards, *factors = self.args
        for part, least in ((logarithms, 1), *((factor, 2) for factor in factors)):
            _require_first_axes(part, added, least)
        if factors:
            written, read = factors
            require(
                len(written.shape) == len(read.shape),
                lambda: f"recurrence: {written} has {len(written.shape)} axes, and {read} has {len(read.shape)}",
            )
        require(not isinstance(added.shape[0], Blocks), lambda: f"recurrence: the positions of {added} are blocks")
        require(backwards in (0, 1), lambda: f"recurrence: backwards is 0 or 1, not {backwards}")
        return added.shape

    def _sympystr(self, printer: StrPrinter) -> str:
        shown = ", ".join(map(str, (*self.args[:2], *self.factors)))
        return f"recurrence({shown}{', backwards' if self.backwards else ''})"

    def _entry(self, *places: Place) -> Expr:
        if self.is_by_law:
            return self._by_the_law(*places)
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

    def _by_the_law(self, *places: Place) -> Expr:
        """Return an entry at a position that is a number, from the entries of the previous state."""
        at = flat(places[0])
        steps = expand(total(self.shape[0]) - 1 - at) if self.backwards else at
        if not isinstance(steps, Integer):
            raise NotImplementedError(f"an entry of {self} at position {at}: the law gives those at numbered positions")
        return self.args[1].entry(at, *places[1:]) if steps == 0 else self.entry_by_law(self.entry, *places)

    def entry_by_law(self, state: Callable[..., Expr], *places: Place) -> Expr:
        """Return an entry by the recurrence relation. `state` gives the entries of the previous state by index."""
        logarithms, added, _, *factors = self.args
        at, rest = flat(places[0]), places[1:]
        of, before = (at + 1, at + 1) if self.backwards else (at, at - 1)
        found = exp(logarithms.entry(of, *places[1 : len(logarithms.shape)])) * state(before, *rest)
        if factors:
            written, read = factors
            axis = len(written.shape) - 1
            leading = places[1:axis]
            said = sum_along(
                self.shape[axis],
                lambda p: read.entry(of, *leading, p) * state(before, *leading, p, *places[axis + 1 :]),
                avoiding(self, places),
            )
            found += written.entry(of, *leading, places[axis]) * said
        return found + added.entry(at, *rest)


def _require_first_axes(part: Array, added: Array, least: int) -> None:
    """Raise `ShapeError` unless an array has at least `least` axes, which equal the first axes of another array."""
    leading = added.shape[: len(part.shape)]
    require(
        least <= len(part.shape) <= len(added.shape) and all(map(same_size, part.shape, leading)),
        lambda: (
            f"recurrence: {part} of shape {shape_text(part.shape)} must have the first axes of "
            f"{added}, {shape_text(added.shape)}"
        ),
    )
