"""A layer that an engine runs, called like every compiled layer; each outline of a call, defined below, gets one model.

Definition   the outline of a call is what the graph depends on: number type, batch axes (their number, and which are of
             length 1), sizes and scalars that are given. Weights are inputs of the graph, so a call never sees old ones
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from derivations.language.layers.layer import Layer
from numeric.codegen.onnx_graph.engines import IN_FLOAT32, Run, started
from numeric.codegen.onnx_graph.export import graph_of
from numeric.codegen.onnx_graph.model import model_of
from numeric.codegen.onnx_graph.weights import flat_weights, sizes_of_weights
from numeric.runtime.checks import InputError
from numeric.runtime.structure import identifier, weight_tree

__all__ = ["EngineFunction", "batch_axes"]

REMEMBERED = 32  # models of a layer


class EngineFunction:
    """The function of a layer in an engine; it has the signature of the layer's NumPy function."""

    def __init__(self, layer: Layer, engine: str, like: Callable[..., Any]) -> None:
        self.layer, self.engine = layer, engine
        self.__name__ = like.__name__
        self.__signature__ = inspect.signature(like)
        self._inputs = {identifier(variable.name): variable for variable in layer.inputs}
        self._tree = weight_tree(layer)
        self._scalars = {identifier(each.name) for each in layer.scalars}
        self._sizes = {identifier(size.name): size.name for size in layer.sizes}
        self._made: dict[Any, Run] = {}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return the output of the layer."""
        bound = self.__signature__.bind(*arguments, **named)
        bound.apply_defaults()
        values = bound.arguments
        arrays = {variable.name: np.asarray(values[name]) for name, variable in self._inputs.items()}
        weights = dict(flat_weights(self._tree, values))
        scalars = {name: float(values[name]) for name in self._scalars if name in values}
        sizes = {self._sizes[name]: int(v) for name, v in values.items() if name in self._sizes and _is_size(v)}
        real = {x.dtype.name for x in (*arrays.values(), *weights.values()) if x.dtype.kind == "f"}
        dtype = next(iter(real), "float64")
        if dtype == "float64" and real and self.engine in IN_FLOAT32:
            raise InputError(
                f"{self.layer.name}: {self.engine} computes float64 in float32; give float32 arrays or another backend"
            )
        batch = {name: batch_axes(self.layer, name, np.shape(values[name])) for name in self._inputs}
        shapes = {name: x.shape for name, x in weights.items()}
        key = dtype, *(tuple(sorted(each.items())) for each in (batch, scalars, sizes, shapes))
        if key not in self._made:
            if len(self._made) >= REMEMBERED:
                self._made.clear()
            known = sizes_of_weights(self._tree, values) | sizes
            found = graph_of(self.layer, sizes=known, scalars=scalars, batch=batch, dtype=dtype)
            self._made[key] = started(self.engine, model_of(found, self.layer.name))
        feeds = {name: _contiguous(x) for name, x in {**arrays, **weights}.items()}
        results = self._made[key](feeds)
        return results[0] if len(results) == 1 else tuple(results)


def batch_axes(layer: Layer, name: str, shape: tuple[int, ...]) -> tuple[str | int, ...]:
    """Return the batch axes of an input: 1 for an axis of length 1, else a name numbered from the last batch axis."""
    rank = next(len(v.shape) for v in layer.inputs if identifier(v.name) == name)
    front = shape[: len(shape) - rank]
    return tuple(1 if n == 1 else f"batch_{len(front) - k}" for k, n in enumerate(front))


def _is_size(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _contiguous(x: Any) -> Any:
    x = x.astype(np.int64) if x.dtype.kind in "iu" else x
    return x if x.flags.c_contiguous else x.copy()
