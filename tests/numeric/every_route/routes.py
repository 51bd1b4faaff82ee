"""The routes from a layer to its values and to its gradients, each as a function from a call to a list of arrays.

Definition   `VALUES` gives what the plain compiled layer gives; `GRADIENTS` what its compiled gradient gives: those by
             the real inputs, by the parameters, then by the weights of parts as leaves, and takes the cotangents too
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from inspect import signature
from typing import Any

import numpy as np

from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Layer
from numeric.codegen.backends.arguments import mapped
from numeric.codegen.compile import compile_layer, source
from numeric.optimize.prepare import flat_weights, nested, prepare, prepare_gradient
from numeric.optimize.standalone import optimised_source
from numeric.runtime.structure import identifier, weight_tree
from numeric.verification.conformance.drawing import leaves
from numeric.verification.conformance.frameworks import FRAMEWORKS
from tests.numeric.every_route.arguments import Call
from tests.numeric.whole import as_a_whole

__all__ = ["GRADIENTS", "PEERS", "VALUES", "cotangents", "plain", "plain_gradient"]

Results = list[Any]


def _as_list(found: Any) -> Results:
    return list(found) if isinstance(found, tuple) else [] if found is None else [found]


def plain(call: Call) -> Results:
    """What all other routes are compared with."""
    return _as_list(compile_layer(call.layer)(*call.inputs, **call.weights, **call.asked, **call.scalars))


@lru_cache(maxsize=8)  # a layer is run with several arguments
def _optimised_module(layer: Layer) -> dict[str, Any]:
    return _run(optimised_source(layer))


def _run(text: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(compile(text, "source.py", "exec"), namespace)  # noqa: S102  what this package has written itself
    return namespace


def _source(call: Call) -> Results:
    function = _run(source(call.layer))[compile_layer(call.layer).function.__name__]
    return _as_list(function(*call.inputs, **call.weights, **call.asked, **call.scalars))


def _prepared(threads: int) -> Callable[[Call], Results]:
    def run(call: Call) -> Results:
        run = prepare(call.layer, call.weights, threads=threads, sizes=call.known)
        return _as_list(run(*call.inputs, **call.scalars))

    return run


def _optimised(layer: Layer, inputs: Results, weights: Mapping[str, Any], named: Mapping[str, Any]) -> Results:
    module = _optimised_module(layer)
    packed = module["packed"](**weights) if "packed" in module else {}
    run = module[next(name for name in reversed(module) if name in _own_names(layer))]
    known = {name for name in signature(run).parameters if name not in packed}
    return _as_list(run(*inputs, **packed, **{name: v for name, v in named.items() if name in known}, threads=2))


def _own_names(layer: Layer) -> set[str]:
    name = identifier(layer.name)
    return {name, f"{name}_"}


def _standalone(call: Call) -> Results:
    return _optimised(call.layer, call.inputs, call.weights, {**call.sizes, **call.scalars})


VALUES: Mapping[str, Callable[[Call], Results]] = {
    "source": _source,
    "prepared": _prepared(1),
    "prepared, two threads": _prepared(2),
    "optimised source": _standalone,
}


# --- gradients ------------------------------------------------------------------------------------------------------


def cotangents(call: Call, outputs: Results, seed: int) -> Results:
    """Return random gradients by the outputs."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(output.shape) for output in outputs]


def plain_gradient(call: Call, given: Results) -> Results:
    """What all other routes to gradients are compared with."""
    compiled = compile_layer(gradient(call.layer))
    asked = {s.name: call.sizes[s.name] for s in compiled.sizes}
    found = compiled(*call.inputs, *given, **call.weights, **asked, **_taken(compiled.function, call.scalars))
    return list(leaves({"": _as_list(found)}).values())


def _taken(function: Callable[..., Any], named: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in named.items() if name in signature(function).parameters}


def _prepared_gradient(threads: int) -> Callable[[Call, Results], Results]:
    def run(call: Call, given: Results) -> Results:
        run = prepare_gradient(call.layer, call.weights, threads=threads, sizes=call.known)
        found = run(*call.inputs, *given, **call.scalars)
        by_inputs = found[len(call.layer.outputs) : -1]
        return [*by_inputs, *leaves(found[-1]).values()]

    return run


def _standalone_gradient(call: Call, given: Results) -> Results:
    flat = inlined(call.layer)
    weights = flat_weights(flat, call.weights)
    found = _optimised(gradient(flat), [*call.inputs, *given], weights, {**call.sizes, **call.scalars})
    by_inputs = len(found) - len(weights)
    named = dict(zip(weights, found[by_inputs:], strict=True))
    return [*found[:by_inputs], *leaves(nested(weight_tree(call.layer), named)).values()]


GRADIENTS: Mapping[str, Callable[[Call, Results], Results]] = {
    "prepared gradient": _prepared_gradient(1),
    "prepared gradient, two threads": _prepared_gradient(2),
    "optimised source of the gradient": _standalone_gradient,
}


# --- other libraries ------------------------------------------------------------------------------------------------


def _in_framework(name: str) -> Callable[..., Results]:
    def run(call: Call, given: Results | None = None) -> Results:
        framework, layer = FRAMEWORKS[name], call.layer if given is None else gradient(call.layer)

        def theirs(value: Any) -> Any:
            return mapped(value, lambda each: framework.to(each) if isinstance(each, np.ndarray) else each)

        with framework.precision("float64"):
            compiled = compile_layer(layer, name)
            asked = {s.name: call.sizes[s.name] for s in compiled.sizes}
            scalars = _taken(compiled.function, call.scalars)

            def in_order(inputs: Any, weights: Any) -> list[Any]:  # of the equations: JAX sorts what is named
                return [*leaves({"": _as_list(compiled(*inputs, **weights, **asked, **scalars))}).values()]

            found = as_a_whole(name, in_order)(theirs([*call.inputs, *(given or [])]), theirs(call.weights))
            back = [framework.back(each) for each in found]
        return back

    return run


PEERS: Mapping[str, Callable[..., Results]] = {name: _in_framework(name) for name in ("jax", "torch")}
