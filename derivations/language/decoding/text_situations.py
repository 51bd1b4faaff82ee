"""Equations at the next positions in two special cases: no earlier positions, or one new position.

Result       without earlier positions all rows of a mask are the mask. The causal mask shows the last position every
             key, so one new position needs no mask (attention.causal_prefix)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Integer, Symbol
from sympy import Tuple as Sequence

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.exponentials import RowExponentials
from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.functions import CausalMask, RowSoftmax
from derivations.language.arrays.rows import RowRange
from derivations.language.layers.layer import Apply, Equation, Layer
from derivations.language.layers.names import variables_in

__all__ = ["first_positions", "last_position", "with_masks_inside"]


def last_position(layer: Layer, new: Symbol, every: Symbol) -> Layer:
    """Return the equations for one new position: the causal mask shows it every key, so the mask is removed."""
    mask = RowRange(CausalMask(every), every - 1, Integer(1))  # the last row, whose entries are all 1

    def unmasked(node: Array) -> Array:
        is_masked = isinstance(node, RowSoftmax | RowExponentials) and node.args[-1] == mask
        return node.func(*node.args[:-1]) if is_masked else node

    return _changed(layer.xreplace({new: Integer(1)}), unmasked)


def first_positions(layer: Layer, new: Symbol, every: Symbol) -> Layer:
    """Return the layer without earlier positions: t = n, and a range of all rows of an array becomes the array.

    Assumes      no equation reads a cache, which would have no rows
    """

    def whole(node: Array) -> Array:
        is_whole = isinstance(node, RowRange) and node.args[1:] == (0, node.args[0].shape[0], 1)
        return node.args[0] if is_whole else node

    return _changed(layer.xreplace({every: new}), whole)


def with_masks_inside(layer: Layer) -> Layer:
    """Return a layer whose parts contain the masks that were passed to them as formulas."""
    return _changed(layer, lambda node: node)


def _changed(layer: Layer, rule: Callable[[Array], Array]) -> Layer:
    """Return a layer with a rule applied to all expressions from the inside out, including those of its parts."""

    def changed(node: Any) -> Any:
        if isinstance(node, Variable) or not isinstance(node, Array | Equation) or not node.args:
            return node
        if isinstance(node, Apply):
            return _changed_part(node, rule, changed)
        result = node.func(*map(changed, node.args))
        return rule(result) if isinstance(result, Array) else result

    return Layer(layer.name, layer.inputs, layer.parameters, map(changed, layer.equations), layer.args[4])


def _changed_part(node: Apply, rule: Callable[[Array], Array], changed: Callable[[Any], Any]) -> Apply:
    """Return an applied layer with the rule applied inside; masks that are formulas move into the layer."""
    given = [(variable, changed(value)) for variable, value in zip(node.layer.inputs, node.arguments, strict=True)]
    masks = {variable: value for variable, value in given if value.is_mask and not any(variables_in(value))}
    rest = [(variable, value) for variable, value in given if variable not in masks]
    equations = [replace_free(equation, masks) for equation in node.layer.equations]
    layer = Layer(node.layer.name, [v for v, _ in rest], node.layer.parameters, equations, node.layer.args[4])
    return node.func(node.args[0], _changed(layer, rule), Sequence(*(value for _, value in rest)), *node.args[3:])
