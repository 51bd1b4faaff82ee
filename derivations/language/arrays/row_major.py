"""Row-major ranges: several indices together run through a range of values, each value once.

Definition   start + step (i_1 n_2 n_3 + i_2 n_3 + i_3), for indices with n_1, n_2, n_3 values: a slice of an axis for
             one index, a split axis for several
Result       a contraction whose number holds [q = such a place], q an index of the result, puts its values at these
             places along the axis of q, and zeros elsewhere: the adjoint of a slice
"""

from __future__ import annotations

from typing import NamedTuple

from sympy import Expr, Integer, KroneckerDelta, Mul, Symbol, expand

from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import Array

__all__ = ["Range", "placed", "row_major"]


class Range(NamedTuple):
    """The values start + step * (row-major number of the index symbols)."""

    start: Expr
    step: Expr
    symbols: list[Symbol]

    def length(self, counts: dict[Symbol, Expr]) -> Expr:
        """Return the number of values."""
        return Mul(*(counts[symbol] for symbol in self.symbols))


def row_major(node: Contraction, place: Expr, array: Array | None = None) -> Range | None:
    """Return an index expression as a row-major range, in which each index steps over all values of the inner indices.

    Result       None for any other expression, such as i + j or n - 1 - i
    """
    start, steps = node.steps(place, array or node)
    for innermost, step in steps:
        found, unit, left = [innermost], expand(step * node.counts[innermost]), dict(steps)
        del left[innermost]
        # the next index steps over everything inside it, so no place is met twice
        while outer := [symbol for symbol, other in left.items() if expand(other - unit) == 0]:
            # an index of one value has the step of the next one, and comes before it
            one = min(outer, key=lambda symbol: node.counts[symbol] != 1)
            found, unit = [one, *found], expand(unit * node.counts[one])
            del left[one]
        if not left:
            return None if step.is_negative else Range(start, step, found)
    return None if steps else Range(start, Integer(1), [])


def placed(node: Contraction) -> tuple[dict[Symbol, Range], Expr]:
    """Return the ranges, by index of the result, in which values stand among zeros, and the rest of the factor."""
    summed = {symbol for symbol, _ in node.sums}
    read = {symbol for _, places in node.operands for place in places for symbol in place.free_symbols}
    found: dict[Symbol, Range] = {}
    rest: list[Expr] = []
    for factor in Mul.make_args(node.factor):
        for index, place in (factor.args, factor.args[::-1]) if isinstance(factor, KroneckerDelta) else ():
            others = (node.factor / factor).free_symbols | place.free_symbols
            # an index that is read elsewhere too selects entries; here it only says where values are put
            if index not in node.indices or index in read or index in others:
                continue
            along = row_major(node, place)
            taken = {symbol for each in found.values() for symbol in each.symbols}
            if along is not None and set(along.symbols) <= summed & read - taken:
                found[index] = along
                break
        else:
            rest.append(factor)
    return found, Mul(*rest)
