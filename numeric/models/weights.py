"""Weights of a layer: drawn from a seed, with the shapes that the layer's equations give.

Definition   a matrix of a product is uniform on (-b, b) with b = sqrt(6 / (rows + columns)); a vector added to every
             row is 0, one that multiplies or divides every row is 1, as is a single number; a table whose rows are
             looked up or added has normal entries of standard deviation d_model^(-1/2)
Shapes       nested as the layer: a dict of arrays and of the parts' dicts, a list of dicts for a repetition
Assumes      a weight used as a table is a table, even where a product uses it too (the tied output of the Transformer)
Source       Glorot and Bengio (2010), equation 16; for the table, sqrt(d_model) E (Vaswani et al. 2017, section 3.4)
             then has entries of variance 1

The equations determine the role of a weight; heads are separate matrices. In the gradient of a layer, the equation of
the gradient with respect to a weight determines the role of that weight.

>>> from derivations.linear import linear
>>> weights = initialise(linear(), {"d_in": 2, "d_out": 3}, seed=0)
>>> weights["W"].shape, weights["b"].tolist(), count(weights)
((2, 3), [0.0, 0.0, 0.0], 9)
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sympy import Basic, Integer

from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
    Variable,
)
from derivations.language.arrays.functions import Elementwise, Hadamard, Lookup, RowSum
from derivations.language.arrays.routing import BatchTranspose, RoutedOuter, RoutedProduct
from derivations.language.arrays.rows import (
    RowRange,
    Stacked,
)
from derivations.language.arrays.selection import (
    AddedEntries,
    Chosen,
    ScatterRows,
)
from derivations.language.arrays.shapes import shape_text, total
from derivations.language.layers.layer import Apply, Gradient, Layer
from numeric.runtime.checks import InputError
from numeric.runtime.structure import WeightTree, applications, identifier, weight_tree

__all__ = ["count", "initialise"]

Weights = dict[str, Any]
ROLES = ("table", "matrix", "scale", "shift")  # of several roles of a weight, the first one here counts


def initialise(layer: Layer, sizes: Mapping[str, int], seed: int = 0, dtype: DTypeLike = np.float32) -> Weights:
    """Return weights for a layer at the given sizes; the same seed gives the same weights.

    Shapes       those of the layer's parameters; `N` in `sizes` is the number of layers of a stack
    Assumes      the float32 weights of a seed are its float64 weights, rounded
    Raises       InputError where a size is missing, unknown or not an integer >= 1
    """
    known = {symbol.name: symbol for symbol in layer.sizes}
    for name, value in sizes.items():
        if name not in known:
            raise InputError(f"{layer.name} has no size {name}; its sizes are {', '.join(known)}")
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"{layer.name}: the size {name} must be an integer >= 1, not {value!r}")
    values = {known[name]: Integer(value) for name, value in sizes.items()}
    return _grown(layer.name, weight_tree(layer), _roles(layer), values, np.random.default_rng(seed), np.dtype(dtype))


def count(weights: Any) -> int:
    """Return the number of entries of nested weights.

    Units        parameters
    """
    if isinstance(weights, Mapping):
        return sum(count(value) for value in weights.values())
    if isinstance(weights, Sequence):
        return sum(map(count, weights))
    return int(weights.size)


def _grown(
    path: str,
    tree: WeightTree,
    roles: Mapping[str, Any],
    sizes: Mapping[Basic, Integer],
    rng: np.random.Generator,
    dtype: np.dtype[Any],
) -> Weights:
    weights: Weights = {}
    for name, variable in tree.parameters.items():
        shape = _numbers(f"{path}.{name}", variable, sizes)
        weights[name] = _drawn(roles[name], shape, rng).astype(dtype)
    for name, part in tree.parts.items():
        below = f"{path}.{name}"
        if part.count is None:
            weights[name] = _grown(below, part, roles[name], sizes, rng, dtype)
        else:
            (copies,) = _numbers(below, Variable(name, (part.count,)), sizes)
            weights[name] = [_grown(below, part, roles[name], sizes, rng, dtype) for _ in range(copies)]
    return weights


def _numbers(path: str, variable: Variable, sizes: Mapping[Basic, Integer]) -> tuple[int, ...]:
    lengths = [total(along).xreplace(dict(sizes)) for along in variable.shape]
    missing = sorted(symbol.name for length in lengths for symbol in length.free_symbols)
    if missing:
        raise InputError(f"{path} has shape {shape_text(variable.shape)}: give the size {missing[0]}")
    return tuple(map(int, lengths))


def _drawn(role: str, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    if role == "table":
        return rng.normal(0, math.prod(shape[-1:]) ** -0.5, shape)  # one number is a table of one entry
    if role == "matrix":
        bound = (6 / sum(shape[-2:] if len(shape) > 1 else (*shape, 1))) ** 0.5  # a vector is a single column
        return rng.uniform(-bound, bound, shape)
    return np.ones(shape) if role == "scale" else np.zeros(shape)


def _roles(layer: Layer) -> dict[str, Any]:
    """Return the role of each weight of a layer, nested as the weights."""
    uses = _uses_in(layer)
    roles: dict[str, Any] = {}
    for parameter in layer.parameters:
        found = uses.get(parameter)
        if not found:
            raise InputError(
                f"{layer.name}: nothing says how to make the weight {parameter.name}; pass your own weights"
            )
        roles[identifier(parameter.name)] = min(found, key=ROLES.index)
    for node in applications(layer):
        roles.setdefault(identifier(node.name), {}).update(_roles(node.layer))
    return roles


@lru_cache(maxsize=256)  # every layer around a part asks for the roles in the part
def _uses_in(layer: Layer) -> Mapping[Any, set[str]]:
    """Return the roles of every named array of a layer."""
    uses: dict[Any, set[str]] = {}
    for equation in layer.equations:
        for array, role in _uses(equation.value):
            uses.setdefault(array, set()).add(role)
    for equation in layer.equations:  # what only a function reads, such as the logarithm of a rate, scales its values
        for node in equation.value.atoms(Elementwise):
            for array in (a for a in node.args if isinstance(a, Variable) and a.shape):
                uses.setdefault(array, {"scale"})
    if isinstance(layer, Gradient) and layer.parameters:
        for parameter, of in zip(layer.parameters, layer.outputs[-len(layer.parameters) :], strict=True):
            uses.setdefault(parameter, set()).update(_role_by_gradient(layer.equation(of.name).value))
    return uses


def _uses(node: Basic) -> Iterator[tuple[Any, str]]:
    """Yield the named arrays of an expression, each with its role; arguments of a layer have their roles in it."""
    if isinstance(node, Apply):
        inner, parameters = _uses_in(node.layer), {p.name: p for p in node.layer.parameters}
        given = [*zip(node.layer.inputs, node.arguments, strict=True)]
        given += [(parameters[name], value) for name, value in node.bound.items()]
        for variable, value in given:
            yield from ((_named(value), role) for role in sorted(inner.get(variable, ())))
        children: Sequence[Basic] = (*node.arguments, *node.bound.values())
    else:
        children = node.args
    if isinstance(node, Lookup | Chosen):
        yield _named(node.args[0]), "table"
    if isinstance(node, Stacked):
        yield from ((_named(rows), "table") for rows in node.args)
    if isinstance(node, Contraction):
        scaled = {len(places) for _, places in node.operands} > {len(node.indices)}  # by what has fewer axes
        for array, places in node.operands:
            whole = node.sums or (scaled and len(places) == len(node.indices))
            yield _named(array), "matrix" if len(array.shape) > 1 and whole else "scale"
    if isinstance(node, RoutedProduct):
        yield _named(node.args[1]), "matrix"
    for child in children if isinstance(node, Product | Plus | Hadamard | Elementwise) else ():
        child = child.args[1] if isinstance(child, Scaled) else child
        if isinstance(node, Product):
            yield _named(child), "matrix"
        elif isinstance(child, RowBroadcast):
            yield _named(child.args[0]), "shift" if isinstance(node, Plus) else "scale"
        elif isinstance(child, Variable) and not child.shape and node.shape:
            yield child, "scale"  # one number for all entries
        elif isinstance(node, Plus):
            yield _named(child), "shift" if len(child.shape) == 1 else "table"
    for child in children:
        yield from _uses(child)


def _role_by_gradient(value: Array) -> set[str]:
    """Return the role of a weight whose gradient is the given value.

    Definition   the gradient of a table collects rows, that of a matrix is a product, that of a shift is a sum of
                 rows, that of a scale is a sum of entrywise products
    """
    if value.has(ScatterRows, AddedEntries):
        return {"table"}
    outer = isinstance(value, Hadamard) and value.has(RowBroadcast) and value.has(ColumnBroadcast)
    summed = len(value.shape) > 1 and any(each.sums for each in value.atoms(Contraction))
    if value.has(Product, RoutedOuter) or outer or summed:
        return {"matrix"}  # of a single row, the outer product with the gradient
    sums = value.atoms(RowSum)
    if not sums and isinstance(value, Hadamard):
        return {"scale"}  # read by a function, by whose slope the gradient is multiplied
    if not sums and any(len(each.operands) > 1 for each in value.atoms(Contraction)):
        return {"scale"}  # of all that it multiplied
    if not sums:
        return {"shift" if len(value.shape) == 1 else "table"}
    return {"scale" if any(each.has(Hadamard) for each in sums) else "shift"}


def _named(node: Array) -> Any:
    """Return the array that an operand selects from or transposes, or the operand itself."""
    return _named(node.args[0]) if isinstance(node, Member | Transpose | RowRange | BatchTranspose) else node
