"""The weights of the faster layer, computed once from those of the original layer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sympy import Symbol

from numeric.codegen.compile import compile_layer
from numeric.optimize.driver import Optimised
from numeric.runtime.structure import identifier

__all__ = ["at_path", "packed"]


def packed(
    optimised: Optimised, weights: Mapping[str, Any], sizes: Mapping[Symbol, int] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the weights of the faster layer, as `compile_layer` takes them, from those of the original layer.

    Definition   `weights` is nested as `compile_layer(layer)` takes it; a repetition has a list of weights, here and in
                 the result
    """
    given = {identifier(p.name): at_path(weights, p.name) for p in optimised.packing.parameters}
    made: dict[str, Any] = {}
    outputs = optimised.packing.outputs
    if outputs:
        pack = compile_layer(optimised.packing)
        # sizes that no weight has as an axis must be given
        asked = {identifier(size.name): sizes[size] for size in pack.sizes if size in sizes}
        values = pack(**given, **asked, check=False)
        values = values if isinstance(values, tuple) else (values,)
        made = {identifier(v.name): value for v, value in zip(outputs, values, strict=True)}
    for name, part in optimised.parts.items():
        below = at_path(weights, name, missing={})
        if isinstance(below, Mapping):
            inner: Any = packed(part, below, sizes)
        else:
            inner = [packed(part, each, sizes) for each in below]
        if inner and any(inner):
            made[identifier(name)] = inner
    return made


def at_path(weights: Any, path: str, missing: Any = None) -> Any:
    """Return the weight, or the weights, at a dotted path of nested weights."""
    if identifier(path) in weights:  # a layer whose parts are already written out
        return weights[identifier(path)]
    for name in path.split("."):
        key = identifier(name)
        if missing is not None and key not in weights:
            return missing
        weights = weights[key]
    return weights
