"""The adjoint of a contraction with respect to one operand, which is again a contraction.

Definition   C[i, ...] = sum_p c A[places] B[...] ..., and G is the gradient with respect to C
Result       dA[q, ...] = sum of c G[i, ...] B[...] ... over all i and p whose places are q
Shapes       dA has the shape of A

The sum keeps only the terms whose places are q. Where a place is one index that runs along the whole axis, the entry q
itself is that index, and no sum over it remains: so dA = G B^T for C = A B. Any other place takes a Kronecker delta.
"""

from __future__ import annotations

from typing import Any

from sympy import Expr, KroneckerDelta, Mul, Symbol
from sympy import Tuple as Places

from derivations.language.arrays.contraction import contraction
from derivations.language.arrays.contraction_node import Contraction, Index, operand_of
from derivations.language.arrays.expression import Array
from derivations.language.arrays.shapes import Axis, Blocks, same_size, total

__all__ = ["operand_gradient"]


def operand_gradient(node: Contraction, number: int, g: Array) -> Array:
    """Return the gradient with respect to one operand of a contraction, from the gradient with respect to its value."""
    array, places = node.operands[number]
    indices: list[Index] = []
    shape: list[Axis] = []
    deltas: list[Expr] = []
    used: set[Symbol] = set()
    for place, along in zip(places, array.shape, strict=True):
        found = _covering(node, array, place, along, used)
        if found is None:
            index = Symbol(f"q_{len(indices)}", integer=True)
            deltas.append(KroneckerDelta(index, _flat(place, along)))
            found = index, total(along)
        indices.append(found[0])
        shape.append(found[1])
        # an index can run along one axis only: A_ii, a diagonal, needs a delta for its second place
        used |= set(found[0].free_symbols)
    # what indexes dA is no longer summed
    sums = [(symbol, count) for symbol, count in node.counts.items() if symbol not in used]
    others = [operand_of(*each) for k, each in enumerate(node.operands) if k != number]
    return contraction(indices, shape, sums, Mul(node.factor, *deltas), operand_of(g, node.indices), *others)


def _covering(node: Contraction, array: Array, place: Any, along: Axis, used: set[Symbol]) -> tuple[Index, Axis] | None:
    """Return the index that runs through a whole axis once, together with the axis, or None if there is none."""
    counts, free = node.counts, node.counts.keys() - used
    if isinstance(place, Places):
        assert isinstance(along, Blocks)
        block, rest = place
        whole = block != rest and {block, rest} <= free
        return (place, along) if whole and counts[block] == along.count and counts[rest] == along.size else None
    if isinstance(place, Symbol):
        return (place, along) if place in free and same_size(counts[place], along) else None
    # a flat place b s + r covers an axis of blocks once if r runs over 0, ..., s - 1
    start, steps = node.steps(place, array)
    if start != 0 or len(steps) != 2:
        return None
    (block, size), (rest, unit) = sorted(steps, key=lambda each: each[1] == 1)
    if unit != 1 or {block, rest} - free or not same_size(counts[rest], size):
        return None
    blocks = Blocks(counts[block], size)
    return (Places(block, rest), blocks) if same_size(blocks, along) else None


def _flat(place: Any, along: Axis) -> Expr:
    if not isinstance(place, Places):
        return place
    assert isinstance(along, Blocks)
    return place[0] * along.size + place[1]
