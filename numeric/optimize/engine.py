"""A layer made fast for an engine: optimised, its weights combined, exported to ONNX, compiled by the engine once.

Definition   prepare_for_engine(layer, weights, "openvino")(*inputs) is compile_layer(layer)(*inputs, **weights) to
             rounding
Shapes       those of the layer; inputs may have batch axes in front: the engine compiles once for each number of them
Assumes      weights do not change afterwards: the engine packs copies
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from derivations.language.layers.layer import Layer
from numeric.codegen.onnx_graph.compiled import batch_axes
from numeric.codegen.onnx_graph.engines import ENGINES, Run, started
from numeric.codegen.onnx_graph.export import graph_of
from numeric.codegen.onnx_graph.model import model_of
from numeric.optimize import Optimised, optimize, packed
from numeric.runtime.checks import InputContract
from numeric.runtime.structure import arrays_in, identifier

__all__ = ["FOR_OWN_CODE", "PreparedForEngine", "exported", "optimised_for_engines", "prepare_for_engine"]

DEFAULTS = {"epsilon": 1e-5}
# Engines compute a softmax in one pass over the scores. Written out as powers, sums and a quotient, as in these passes,
# an encoder layer takes 1.1 to 1.4 times as long in both engines (processor time, one thread, lengths 128 to 512).
FOR_OWN_CODE = frozenset({"base_two", "deferred_normalisation"})


@dataclass(frozen=True)
class PreparedForEngine:
    """A layer with its weights in an engine. It is called on its inputs, which are checked unless `check` is False.

    Raises       InputError where an input does not fit the layer
    """

    optimised: Optimised
    engine: str
    weights: Mapping[str, Any]
    sizes: Mapping[str, int]
    threads: int | None
    contract: InputContract
    _made: dict[Any, Run] = field(default_factory=dict, repr=False, compare=False)  # by batch axes and scalars

    def __call__(self, *inputs: Any, check: bool = True, **named: Any) -> Any:
        """Return the output of the layer."""
        if check:
            given, named = self.contract.check(inputs, named)
            inputs = tuple(given)
        names = [identifier(variable.name) for variable in self.optimised.original.inputs]
        arrays = dict(zip(names, map(np.asarray, inputs), strict=True))
        batch = {name: batch_axes(self.optimised.original, name, x.shape) for name, x in arrays.items()}
        key = tuple(batch.items()), tuple(sorted(named.items()))
        if key not in self._made:
            self._made[key] = started(self.engine, self.model(batch, named), self.threads)
        feeds = {v.name: _fitting(arrays[identifier(v.name)]) for v in self.optimised.layer.inputs}
        results = self._made[key](feeds)
        return results[0] if len(results) == 1 else tuple(results)

    def model(self, batch: Any = ("batch",), scalars: Mapping[str, float] | None = None) -> Any:
        """Return the model that the engine compiles."""
        layer = self.optimised.layer
        dtype = next((x.dtype.name for x in arrays_in(self.weights) if x.dtype.kind == "f"), "float32")
        found = graph_of(layer, self.weights, sizes=self.sizes, scalars=scalars, batch=batch, dtype=dtype)
        return model_of(found, layer.name)

    def explain(self) -> str:
        """Return the rewrites, with the theorems that permit them."""
        return self.optimised.explain()


def prepare_for_engine(
    layer: Layer,
    weights: Mapping[str, Any],
    engine: str,
    *,
    threads: int | None = None,
    without: Iterable[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> PreparedForEngine:
    """Return a layer with its weights for an engine, "onnxruntime" or "openvino".

    Assumes      `without` names passes of `optimize`, beside those of FOR_OWN_CODE; an axis whose size is in `sizes`
                 has this length alone
    Raises       ValueError for an unknown engine or pass, ImportError where the engine is missing, InputError where
                 weights do not fit, and at the first call CompileError where an equation has no form in ONNX
    """
    if engine not in ENGINES:
        raise ValueError(f"the engine {engine!r} is unknown; choose one of {', '.join(ENGINES)}")
    contract = InputContract(layer, weights, sizes, defaults=DEFAULTS)
    optimised, made, known = exported(layer, weights, without=without, sizes=sizes)
    return PreparedForEngine(optimised, engine, made, known, threads, contract)


def optimised_for_engines(layer: Layer, without: Iterable[str] = ()) -> Optimised:
    """Return a layer optimised without the passes that make engines slower.

    Raises       ValueError for an unknown pass
    """
    return optimize(layer, without=FOR_OWN_CODE | {*([without] if isinstance(without, str) else without)})


def exported(
    layer: Layer,
    weights: Mapping[str, Any],
    *,
    without: Iterable[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> tuple[Optimised, dict[str, Any], dict[str, int]]:
    """Return the optimised layer, its combined weights, and the sizes of it that are known."""
    known = InputContract(layer, weights, sizes).sizes
    optimised = optimised_for_engines(layer, without)
    own = set(optimised.layer.sizes)
    made = packed(optimised, weights, known)
    return optimised, made, {size.name: int(number) for size, number in known.items() if size in own}


def _fitting(x: Any) -> Any:
    x = x.astype(np.int64) if x.dtype.kind in "iu" else x
    return np.ascontiguousarray(x) if x.ndim else x
