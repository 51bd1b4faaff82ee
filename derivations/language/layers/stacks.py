"""Repetitions of a layer with a symbolic count, inside equations: equal stacks become one unknown array.

Congruence   a stack is a function of its first input, its other inputs and its weights. Two stacks with equal counts,
             equal inputs and the same weights are equal if one layer of the first equals one layer of the second for
             every input: by induction on the number of layers
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sympy import Basic, Symbol

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.shapes import same_size
from derivations.language.layers.layer import Layer, Repeat

__all__ = ["without_stacks"]

Equal = Callable[[Basic, Basic], bool]


def without_stacks(left: Basic, right: Basic, equal: Equal, equal_alone: Equal) -> tuple[Basic, Basic]:
    """Return two sides with each stack of symbolic count replaced by a new array; equal stacks get the same array.

    `equal` decides equality under the assumptions of the goal, `equal_alone` for all values, without assumptions.
    """
    stacks = list(dict.fromkeys(node for side in (left, right) for node in _stacks(side)))
    if not stacks or not all(equal(a, a) for node in stacks for a in (*node.arguments, *node.bound.values())):
        return left, right  # an argument must be defined, even if it is the same on both sides
    taken = {v.name for side in (left, right) for v in side.atoms(Variable)}
    taken |= {s.name for side in (left, right) for s in side.atoms(Symbol)}
    fresh = (name for name in (f"stack_{number}" for number in range(1, 1000)) if name not in taken)
    values: dict[Basic, Basic] = {}
    for node in stacks:
        known = next((other for other in values if _alike(node, other, equal, equal_alone)), None)
        values[node] = values[known] if known is not None else Variable(next(fresh), node.shape, "real")
    return replace_free(left, values), replace_free(right, values)


def _stacks(node: Basic) -> Iterator[Repeat]:
    if isinstance(node, Repeat) and not node.count.is_Integer:
        yield node
    elif not isinstance(node, Layer):
        for part in node.args:
            yield from _stacks(part)


def _alike(one: Repeat, other: Repeat, equal: Equal, equal_alone: Equal) -> bool:
    same = one.name == other.name and same_size(one.count, other.count) and set(one.bound) == set(other.bound)
    arguments = list(zip(one.arguments, other.arguments, strict=False))
    arguments += [(value, other.bound[name]) for name, value in one.bound.items() if same]
    if not same or len(one.arguments) != len(other.arguments) or not _shaped_alike(one, other):
        return False
    # the layers must agree for every input, so no assumption of the goal may help: inner inputs need not satisfy it
    return _same_layer(one.layer, other.layer, equal_alone) and all(equal(a, b) for a, b in arguments)


def _shaped_alike(one: Array, other: Array) -> bool:
    return len(one.shape) == len(other.shape) and all(map(same_size, one.shape, other.shape))


def _same_layer(one: Layer, other: Layer, equal_alone: Equal) -> bool:
    """Return whether two layers with the same weights give equal outputs for all inputs."""
    if one == other:
        return True
    weights = [{p.name: p for p in layer.parameters} for layer in (one, other)]
    if weights[0] != weights[1] or len(one.inputs) != len(other.inputs):
        return False
    taken = {v.name for layer in (one, other) for v in layer.atoms(Variable)}
    names = (name for name in (f"input_{number}" for number in range(1, 1000)) if name not in taken)
    # Both layers get the same new variables as inputs: equality then holds for every input, as the induction needs.
    inputs = []
    for a, b in zip(one.inputs, other.inputs, strict=True):
        if a.kind != b.kind or not _shaped_alike(a, b):
            return False
        inputs.append(Variable(next(names), a.shape, a.kind))
    return equal_alone(one.result(*inputs), other.result(*inputs))
