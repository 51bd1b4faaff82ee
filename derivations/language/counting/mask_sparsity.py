"""Mask sparsity: which pairs of positions a mask shows, and which values are needed at those pairs only.

A causal mask is built in one layer, passed down through others and read by a softmax inside them. `sparsity_of_layer`
follows it through the equations of a layer and through the layers applied there: which variables are known masks, which
arrays are 0 at hidden pairs (attention weights, and the gradients of scores), and which are read only at visible pairs
(scores, and the gradients of weights).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache, singledispatch

from sympy import Expr, Integer, Min, floor

from derivations.language.arrays.arrangements import SumOver
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import Array, Member, Plus, Scaled, Transpose, Variable
from derivations.language.arrays.functions import Elementwise, Hadamard, MaskConjunction, RowSoftmax
from derivations.language.arrays.masks import CausalMask, as_band, chunks_of, intersection
from derivations.language.arrays.routing import TopKMask
from derivations.language.arrays.shapes import total
from derivations.language.differentiation.pullback import Pullback
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat

__all__ = [
    "Known",
    "MaskSparsity",
    "Visible",
    "operands",
    "sparsity_of_equations",
    "sparsity_of_layer",
    "visible_pairs",
]


# --- masks ----------------------------------------------------------------------------------------------------------


@singledispatch
def visible_pairs(mask: Array) -> Expr | None:
    """Return the number of pairs (query, key) that a mask shows, or None for a mask that depends on more than sizes.

    Definition   for a band, the pairs between its two diagonals: n (n + 1)/2 for a causal mask; for chunks of c keys,
                 n m - c sum_i floor(i/c) if there are m >= n keys
    """
    if (band := as_band(mask)) is not None:
        return band.pairs
    if (length := chunks_of(mask)) is None:
        return None
    n, m = map(total, mask.shape)
    whole, rest = floor(n / length), n - length * floor(n / length)
    return n * m - length * (length * whole * (whole - 1) / 2 + whole * rest)


@visible_pairs.register
def _(mask: MaskConjunction) -> Expr | None:
    """The number of pairs that both masks show. It is exact for two bands, and for a causal mask with chunks.

    Else it is the smallest known number, an upper bound.
    """
    bands = [band for part in mask.args if (band := as_band(part)) is not None]
    if len(bands) == 2 and (both := intersection(*bands)) is not None:
        return both.pairs
    for one, other in (mask.args, mask.args[::-1]):
        if isinstance(one, CausalMask) and chunks_of(other) is not None:
            # no key before a chunk comes after one of its queries: the causal mask shows them all
            return one.pairs - (total(one.sides[0]) ** 2 - visible_pairs(other))
    known = [pairs for part in mask.args if (pairs := visible_pairs(part)) is not None]
    # a pair that both masks show is shown by each of them
    return Min(*known) if known else None


@dataclass(frozen=True)
class Visible:
    """The pairs that a known mask shows; `turned` is True if the keys are the rows."""

    mask: Array
    turned: bool = False

    @property
    def pairs(self) -> Expr:
        """The number of pairs."""
        return visible_pairs(self.mask) or Integer(0)

    @property
    def T(self) -> Visible:
        """The same pairs in the transpose."""
        return replace(self, turned=not self.turned)


# --- what is known --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """The caller's knowledge of a layer: masks and zeros among its inputs, and the pairs where its output is read."""

    masks: frozenset[tuple[Variable, Array]] = frozenset()
    zeros: frozenset[tuple[Variable, Visible]] = frozenset()
    asked: Visible | None = None


@dataclass
class MaskSparsity:
    """What is known of the variables of equations: masks, zeros at hidden pairs, and the pairs that are read."""

    masks: dict[Variable, Array] = field(default_factory=dict)
    zeros: dict[Variable, Visible] = field(default_factory=dict)
    asked: dict[Variable, Visible | None] = field(default_factory=dict)

    def mask(self, node: Array) -> Array | None:
        """Return the known mask of a node as an expression without variables, or None."""
        if isinstance(node, Variable):
            return self.masks.get(node)
        if isinstance(node, Member):
            return self.mask(node.args[0])
        if isinstance(node, MaskConjunction):
            known = [part for part in map(self.mask, node.args) if part is not None]
            # an unknown mask may hide more: what the known one hides stays hidden
            return MaskConjunction(*known) if len(set(known)) == 2 else known[0] if known else None
        if isinstance(node, TopKMask):
            return self.mask(node.args[1])  # which entries are the largest depends on more than sizes
        return node if visible_pairs(node) is not None else None

    def of_softmax(self, node: RowSoftmax | TopKMask) -> Visible | None:
        """Return the pairs that a softmax or a top-k mask reads if its mask is known, else None."""
        known = self.mask(node.args[1]) if len(node.args) > 1 else None
        return None if known is None else Visible(known)

    def visible(self, node: Array) -> Visible | None:
        """Return pairs such that a matrix is known to be 0 at all others, or None."""
        if isinstance(node, Variable):
            return Visible(self.masks[node]) if node in self.masks else self.zeros.get(node)
        if isinstance(node, RowSoftmax):
            return self.of_softmax(node)
        if isinstance(node, Hadamard):
            # a product is 0 where one factor is
            return self.visible(node.args[0]) or self.visible(node.args[1])
        if isinstance(node, Plus):
            left, right = map(self.visible, node.args)
            return left if left == right else None  # 0 + 0 = 0
        if isinstance(node, Transpose):
            inner = self.visible(node.args[0])
            return inner and inner.T
        if isinstance(node, Apply) and not isinstance(node, Repeat):
            return sparsity_of_layer(node.layer, self.known(node, None)).zeros.get(node.layer.output)
        if isinstance(node, Member | SumOver):
            return self.visible(node.args[0])
        return self.visible(node.args[1]) if isinstance(node, Scaled) else None

    def known(self, node: Apply, asked: Visible | None) -> Known:
        """Return what is known of an applied layer whose output is read at the pairs `asked`."""
        given = [*zip(node.layer.inputs, node.arguments, strict=True)]
        masks = ((v, mask) for v, value in given if v.is_mask and (mask := self.mask(value)) is not None)
        if isinstance(node, Repeat):  # the first input of the next layer is what this one returns
            return Known(frozenset(masks))
        zeros = ((v, seen) for v, value in given if (seen := self.visible(value)) is not None)
        return Known(frozenset(masks), frozenset(zeros), asked)

    def reads(self, node: Array, asked: Visible | None) -> Iterator[tuple[Array, Visible | None]]:
        """Yield each operand with the pairs at which it is read when the node is read at the pairs `asked`."""
        if isinstance(node, RowSoftmax | TopKMask):
            yield node.args[0], self.of_softmax(node)
        elif isinstance(node, Contraction):
            for operand, at in node.operands:
                # an operand whose last two places are those of the pair is read at the same pairs
                yield operand, asked if len(node.indices) == 2 and at[-2:] == node.indices else None
        elif isinstance(node, Hadamard):
            left, right = node.args
            yield left, self.visible(right) or asked  # a o 0 = 0: a is not needed where the other factor is 0
            yield right, self.visible(left) or asked
        elif isinstance(node, Apply):
            inside = sparsity_of_layer(node.layer, self.known(node, asked)).asked
            inputs = [inside.get(v) for v in node.layer.inputs]
            places = [*([None] * len(inputs) if isinstance(node, Repeat) else inputs), *([None] * len(node.bound))]
            yield from zip(operands(node), places, strict=True)
        else:
            inner = asked and asked.T if isinstance(node, Transpose) else asked
            passed = isinstance(node, Plus | Scaled | Elementwise | Transpose | SumOver | Member)
            for operand in operands(node):
                yield operand, inner if passed and len(operand.shape) >= 2 else None


def operands(node: Array) -> tuple[Array, ...]:
    """Return the arrays that a node is computed from; for a pullback only the cotangent."""
    if isinstance(node, Apply):
        return (*node.arguments, *node.bound.values())
    if isinstance(node, Pullback):
        return (node.cotangent,)
    return tuple(part for part in node.args if isinstance(part, Array))


@lru_cache(maxsize=1024)
def sparsity_of_layer(layer: Layer, known: Known) -> MaskSparsity:
    """Return the masks, zeros and read pairs of the variables of a layer."""
    return sparsity_of_equations(layer.equations, known, layer.outputs)


def sparsity_of_equations(equations: Iterable[Equation], known: Known, outputs: Iterable[Variable]) -> MaskSparsity:
    """Return the masks and zeros, found in a pass over the equations, and the read pairs, found in a pass backwards."""
    sparsity = MaskSparsity(dict(known.masks), dict(known.zeros))
    ordered = tuple(equations)
    for equation in ordered:
        if equation.variable.is_mask:
            mask = sparsity.mask(equation.value)
            sparsity.masks |= {equation.variable: mask} if mask is not None else {}
        elif (zeros := sparsity.visible(equation.value)) is not None:
            sparsity.zeros[equation.variable] = zeros
    # second pass, from the last equation back: what is read of a variable depends on its readers
    uses: dict[Variable, set[Visible | None]] = {output: {known.asked} for output in outputs}
    for equation in reversed(ordered):
        asked = _agreed(uses.get(equation.variable))
        sparsity.asked[equation.variable] = asked
        _collect(equation.value, asked, sparsity, uses)
    return replace(sparsity, asked=sparsity.asked | {v: _agreed(read) for v, read in uses.items()})


def _collect(
    node: Array, asked: Visible | None, sparsity: MaskSparsity, uses: dict[Variable, set[Visible | None]]
) -> None:
    if isinstance(node, Variable):
        uses.setdefault(node, set()).add(asked)
        return
    for operand, at in sparsity.reads(node, asked):
        _collect(operand, at, sparsity, uses)


def _agreed(uses: set[Visible | None] | None) -> Visible | None:
    """Return the pairs at which all readers read an array. None means all pairs, if readers differ or are absent."""
    return next(iter(uses)) if uses and len(uses) == 1 else None
