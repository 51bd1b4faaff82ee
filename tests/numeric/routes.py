"""The two routes from a layer to its output: compiled line by line, and prepared."""

from collections.abc import Callable, Mapping
from typing import Any

from derivations.language.layers.layer import Layer
from numeric import compile_layer
from numeric.optimize.prepare import prepare
from numeric.runtime.structure import identifier, weight_tree

__all__ = ["ROUTES", "function_of"]

Function = Callable[..., Any]


def _compiled(layer: Layer, weights: Mapping[str, Any], sizes: Mapping[str, int]) -> Function:
    function = compile_layer(layer)
    asked = {size.name: sizes[size.name] for size in function.sizes}
    return lambda *inputs, **scalars: function(*inputs, **weights, **asked, **scalars)


def _prepared(layer: Layer, weights: Mapping[str, Any], sizes: Mapping[str, int], **options: Any) -> Function:
    return prepare(layer, weights, sizes=sizes, **options)


ROUTES: Mapping[str, Callable[..., Function]] = {"compiled": _compiled, "prepared": _prepared}


def function_of(route: str, layer: Layer, arguments: Mapping[str, Any], **options: Any) -> tuple[Function, list[Any]]:
    """Return a layer with its weights as a function, and the inputs, from the arguments of the compiled layer."""
    tree = weight_tree(layer)
    inputs = [arguments[identifier(variable.name)] for variable in layer.inputs]
    weights = {name: arguments[name] for name in (*tree.parameters, *tree.parts)}
    sizes = {size.name: arguments[size.name] for size in layer.sizes if size.name in arguments}
    scalars = {s.name: arguments[s.name] for s in layer.scalars if s.name in arguments}
    function = ROUTES[route](layer, weights, sizes, **options)
    return (lambda *given: function(*given, **scalars)), inputs
