"""The tree of weights that a layer asks for, and the layers that it applies.

A layer's weights are its parameters by name and, under the name of each part, the weights of that part in turn; a
repeated part has a list of them. Weights that an application binds (`embed(tokens, E=E)`) are not asked for again.
"""

import keyword
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Basic, Expr, Symbol

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import Axis, Blocks, total
from derivations.language.layers.layer import Apply, Layer, Repeat
from numeric.runtime import primitives

__all__ = [
    "RESERVED",
    "WeightTree",
    "applications",
    "applied_in",
    "arrays_in",
    "identifier",
    "instance",
    "weight_tree",
]

RESERVED = frozenset(
    {"jax", "jnp", "lru_cache", "math", "np", "reduce", "special", "torch", *primitives.__all__}
)  # the names compiled source imports


@dataclass(frozen=True)
class WeightTree:
    """The weights of a layer: its parameters, the weights of its parts, and for a repetition the number of copies."""

    parameters: dict[str, Variable] = field(default_factory=dict)
    parts: dict[str, "WeightTree"] = field(default_factory=dict)
    count: Expr | None = None

    def __bool__(self) -> bool:
        """Whether the tree contains any weight."""
        return bool(self.parameters or self.parts)


def identifier(name: str) -> str:
    """Return a name of the equations as a Python name: `lambda` becomes `lambda_`, and `norm.gamma` `norm_gamma`."""
    text = "".join(letter if letter.isidentifier() or letter.isdecimal() else "_" for letter in name)
    text = text if text.isidentifier() else f"_{text}"
    return f"{text}_" if keyword.iskeyword(text) or text in RESERVED else text


@lru_cache(maxsize=1 << 10)  # a call, a check and a plan each walk through a model and its parts
def applications(layer: Layer) -> tuple[Apply, ...]:
    """Return the applications of other layers in a layer, in order of evaluation."""
    return tuple(node for equation in layer.equations for node in applied_in(equation.value))


def applied_in(node: Basic) -> Iterator[Apply]:
    """Yield the applications of layers in an expression, in order of evaluation."""
    is_application = isinstance(node, Apply)
    for child in node.args:
        if not isinstance(child, Layer):
            yield from applied_in(child)
    if is_application:
        yield node


def weight_tree(layer: Layer, bound: frozenset[str] = frozenset(), count: Expr | None = None) -> WeightTree:
    """Return the weights that a layer asks for, without the parameters that are already bound.

    Shapes       those of the layer's own equations: a part has the sizes of the application
    """
    parameters = {identifier(p.name): p for p in layer.parameters if p.name not in bound}
    parts: dict[str, WeightTree] = {}
    for node in applications(layer):
        tree = weight_tree(node.layer, frozenset(node.bound), node.count if isinstance(node, Repeat) else None)
        name = identifier(node.name)
        if tree:
            parts[name] = _united(parts[name], tree) if name in parts else tree
    return WeightTree(parameters, parts, count)


def _united(first: WeightTree, second: WeightTree) -> WeightTree:
    """Return the union of the weights of two applications of one part."""
    # one application may bind a weight that the other asks for
    parts = {**second.parts, **first.parts}
    shared = first.parts.keys() & second.parts.keys()
    parts |= {name: _united(first.parts[name], second.parts[name]) for name in sorted(shared)}
    return WeightTree({**second.parameters, **first.parameters}, parts, first.count)


def instance(general: Layer, special: Layer) -> dict[Symbol, Expr] | None:
    """Return the sizes that turn one layer into the other, or None where no sizes do.

    Definition   `general` with each size replaced by the size returned for it equals `special`, equation by equation
    """
    if general.name != special.name or general.shapes.keys() != special.shapes.keys():
        return None
    sizes: dict[Symbol, Expr] = {}
    for wanted, given in zip(general.shapes.values(), special.shapes.values(), strict=True):
        if len(wanted) != len(given):
            return None
        for one, other in zip(wanted, given, strict=True):
            _bind(one, other, sizes)
    # binding by shapes only proposes sizes: the comparison of the whole layers below decides
    changed = {size: value for size, value in sizes.items() if size != value}
    return sizes if (general.xreplace(changed) if changed else general) == special else None


def _bind(wanted: Axis, given: Axis, sizes: dict[Symbol, Expr]) -> None:
    if isinstance(wanted, Symbol):
        sizes.setdefault(wanted, total(given))
    elif isinstance(wanted, Blocks) and isinstance(given, Blocks):
        _bind(wanted.count, given.count, sizes)
        _bind(wanted.size, given.size, sizes)


def arrays_in(weights: Any) -> Iterator[Any]:
    """Yield the arrays of nested weights."""
    if isinstance(weights, Mapping | list):
        for each in weights.values() if isinstance(weights, Mapping) else weights:
            yield from arrays_in(each)
    else:
        yield np.asarray(weights)
