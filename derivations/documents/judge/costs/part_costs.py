"""The costs of the parts of a Transformer, counted from their equations, in the size symbols of the package.

Result       `costs(part, quantity)` are these costs, with the result of the catalogue; `matrices(part)` how many
             matrices a part has
Units        parameters; FLOPs in products, a multiply-add being 2; numbers and bytes of the cache; bytes of activations
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sympy import Expr, expand

from derivations.attention.grouped_query import cache as cached
from derivations.attention.grouped_query import grouped_query_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.costs.memory import ATTENTION, pre_norm_layer
from derivations.documents.judge.costs.subjects import PARTS, Part
from derivations.language.counting.costs import Count, weight_shapes
from derivations.language.counting.memory_counts import SavedResidualCount
from derivations.language.layers.layer import Layer
from derivations.symbols import N, batch, d, d_model, m, n

__all__ = ["Cost", "costs", "matrices"]


@dataclass(frozen=True)
class Cost:
    """A cost of a part: its expression, a description, and the id of the result that proves it."""

    value: Expr
    of: str
    result: str | None = None


def _counted(what: str, layer: Layer) -> Expr:
    value = Count(what, layer, batch) if what != "parameters" else Count(what, layer)
    return expand(value.value().xreplace({m: n, d: d_model}))


@cache
def costs(part: str, quantity: str) -> tuple[Cost, ...]:
    """Return the costs that a document may mean by a quantity of a part, for one layer and for N layers."""
    (found,) = (each for each in PARTS if each.name == part)
    if quantity == "cache":
        return _caches()
    if quantity == "activations":
        return _activations()
    what = "parameters" if quantity == "parameters" else "matmul FLOPs"
    result = found.parameters if quantity == "parameters" else found.operations
    one = [(name, _counted(what, layer())) for name, layer in found.layers]
    some = [Cost(value, f"{found.name} ({name})", result) for name, value in one if value != 0]
    return (*some, *(Cost(expand(N * each.value), f"{each.of}, in N layers", each.result) for each in some))


@cache
def matrices(part: Part) -> int:
    """Return the number of weight matrices in the first layer of a part, and at least 1."""
    shapes = weight_shapes(part.layers[0][1]()).values()
    return max(sum(len(shape) > 1 for shape, _ in shapes), 1)


@cache
def _caches() -> tuple[Cost, ...]:
    """Return the possible sizes of the key-value cache, in numbers and in bytes at 2 and 4 bytes a number."""
    heads = expand(cached(multi_head_attention()) / m)
    groups = expand(cached(grouped_query_attention()) / m)
    ways = (("heads", heads), ("groups", groups))
    return tuple(
        Cost(expand(size * layers * length * value), f"key-value cache of all {name}{suffix}", "memory.key_value_cache")
        for name, value in ways
        for size, suffix in ((1, ""), (2, ", 2 bytes for a number"), (4, ", 4 bytes for a number"))
        for layers in (1, N)
        for length in (1, n, n * batch)
    )


@cache
def _activations() -> tuple[Cost, ...]:
    """Return the bytes that one and N pre-norm layers save for the backward pass."""
    dropping = pre_norm_layer()
    ways = (
        ("with dropout", dropping, ()),
        ("without dropout", pre_norm_layer(dropping=False), ()),
        ("attention computed again", dropping, (ATTENTION,)),
        ("the layer computed again", dropping, (dropping.name,)),
    )
    saved = [
        (how, SavedResidualCount("saved residual bytes", layer, batch, again).value()) for how, layer, again in ways
    ]
    return tuple(
        Cost(expand(layers * value), f"pre-norm layer, numbers of 2 bytes, {how}", "memory.activations")
        for how, value in saved
        for layers in (1, N)
    )
