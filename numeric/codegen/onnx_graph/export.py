r"""A layer as an ONNX model: its equations as nodes, its sizes as symbolic dimensions, its weights inside or as inputs.

Definition   `to_onnx(layer, weights)` computes what `compile_layer(layer)` does. Axes that are sizes of the layer have
             the size's name as their dimension; every input has the axes of `batch` in front, weights have none
Result       the outputs of nodes are named after the equations: `layers.0.attention.S`
Assumes      all inputs have the same batch axes; sizes are at least 1; a size that no axis of an input has, and a
             scalar without a default, is an input of the graph unless it is given a value
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from sympy import Integer, Symbol

from derivations.language.arrays.expression import Variable
from derivations.language.layers.layer import Layer, require_layer
from numeric.codegen.functions import Function, PrintedFunction, printed_functions
from numeric.codegen.naming import named
from numeric.codegen.onnx_graph.graph import Dim, Graph, Node, Value, building
from numeric.codegen.onnx_graph.model import model_of, onnx_library
from numeric.codegen.onnx_graph.operators import OPSET
from numeric.codegen.onnx_graph.printer import ONNX
from numeric.codegen.onnx_graph.stack import Stack
from numeric.codegen.onnx_graph.tensor import Tensor
from numeric.codegen.onnx_graph.weights import nested_values, shape_at, solved_sizes
from numeric.codegen.plan import Unit, plan_of
from numeric.runtime.checks import InputContract, InputError
from numeric.runtime.structure import WeightTree, identifier, weight_tree

__all__ = ["graph_of", "to_onnx"]

KINDS = {"boolean": "bool", "integer": "int64"}
REAL = ("float32", "float64")
Finish: TypeAlias = Callable[[Layer, Function], Function]


def to_onnx(
    layer: Layer,
    weights: Mapping[str, Any] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    scalars: Mapping[str, float | None] | None = None,
    batch: Sequence[str] = ("batch",),
    dtype: str = "float32",
    finish: Finish | None = None,
    opset: int = OPSET,
) -> Any:
    """Return a layer as a model of the library `onnx`.

    The checker and the shape inference of `onnx` accept the model. A model with 1 GiB of weights or more is not
    checked.

    Definition   without `weights` they are inputs, by dotted names; of a stack whose number of layers is not in `sizes`
                 either, each weight is one input for all layers, and the stack is a `Scan`.
                 A scalar that is None is an input, though it may have a default.
                 `finish(layer, function)` stands for the traced function of a layer, with operators of `opset`
    Shapes       inputs (*batch, ...), weights as the layer has them
    Raises       CompileError where an equation has no form in ONNX, with its name; InputError where weights, sizes or
                 scalars do not fit; ImportError without the package onnx
    """
    onnx_library()  # the error about a missing package comes before the work
    options: dict[str, Any] = {"sizes": sizes, "scalars": scalars, "batch": batch, "dtype": dtype}
    model = model_of(graph_of(layer, weights, **options, finish=finish, opset=opset), layer.name)
    if sum(each.nbytes for each in _arrays(model)) < _LARGEST:
        import_module("onnx.checker").check_model(model, full_check=True)
    return model


_LARGEST = 2**30  # bytes: a model that is one message is at most 2 GiB, and the checker makes one of it


def _arrays(model: Any) -> list[Any]:
    return [
        np.empty(0, np.uint8) if not each.raw_data else memoryview(each.raw_data) for each in model.graph.initializer
    ]


# The graph


def graph_of(
    layer: Layer,
    weights: Mapping[str, Any] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    scalars: Mapping[str, float | None] | None = None,
    batch: Sequence[str] | Mapping[str, Sequence[str | int]] = ("batch",),
    dtype: str = "float32",
    finish: Finish | None = None,
    opset: int = OPSET,
) -> tuple[Graph, list[Value]]:
    """Return the graph of a layer and its outputs; `batch` can map the name of each input to its batch axes."""
    if dtype not in REAL:
        raise InputError(f"{layer.name}: the dtype must be float32 or float64, not {dtype!r}")
    known = _sizes(require_layer(layer), weights, sizes)
    plan = plan_of(layer)
    graph = Graph(dtype, opset)
    with building(graph):
        main = printed_functions(plan, named(plan), ONNX, finish=finish)[Unit(layer)]
        arguments = _arguments(layer, main, graph, weights, known, dict(scalars or {}), batch)
        found = main.function(**arguments)
        outputs = [each.astype(dtype) if each.dtype in REAL else each for each in _several(found)]
        values = _named_outputs(layer, graph, outputs)
    graph.finish()
    return graph, values


def _sizes(layer: Layer, weights: Mapping[str, Any] | None, sizes: Mapping[str, int] | None) -> dict[Symbol, Integer]:
    """Return the sizes that are numbers: those of the weights, and those that are given."""
    if weights is not None:
        found = {size: Integer(number) for size, number in InputContract(layer, weights, sizes).sizes.items()}
        return solved_sizes(weight_tree(layer), weights, found)
    symbols = {symbol.name: symbol for symbol in layer.sizes}
    for name, number in (sizes or {}).items():
        if name not in symbols:
            raise InputError(f"{layer.name} has no size {name}; its sizes are {', '.join(symbols)}")
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise InputError(f"{layer.name}: the size {name} must be an integer >= 1, not {number!r}")
    return {symbols[name]: Integer(number) for name, number in (sizes or {}).items()}


def _arguments(
    layer: Layer,
    main: PrintedFunction,
    graph: Graph,
    weights: Mapping[str, Any] | None,
    known: Mapping[Symbol, Integer],
    scalars: dict[str, float | None],
    batch: Sequence[str] | Mapping[str, Sequence[str | int]],
) -> dict[str, Any]:
    """Return the arguments of the traced function; those without a known value become inputs of the graph."""
    tree, variables = weight_tree(layer), {identifier(v.name): v for v in layer.inputs}
    arguments: dict[str, Any] = {}
    for name, variable in variables.items():
        front = batch.get(name, ()) if isinstance(batch, Mapping) else batch
        axes = [Symbol(each, integer=True, positive=True) if isinstance(each, str) else each for each in front]
        arguments[name] = _input(graph, variable, variable.name, axes, known)

    def leaf(path: str, variable: Variable, array: Any) -> Tensor:
        if weights is None:
            return _input(graph, variable, path, (), known)
        return Tensor(graph.constant(array.astype(graph.real) if array.dtype.kind == "f" else array, path))

    def stack(path: str, part: WeightTree) -> Stack:
        """Return the weights of a stack of a symbolic number of layers: inputs with an axis for the layers in front."""
        each, whole = [], []

        def member(inner: str, variable: Variable, array: None) -> Tensor:
            value = Value(KINDS.get(variable.kind, graph.real), tuple(shape_at(variable, known)), inner)
            value.name = graph.unique(f"{inner}/each")
            each.append(value)
            whole.append(_input(graph, variable, inner, (part.count,), known).value)
            return Tensor(value, hides=variable.kind == "real")

        own = nested_values(WeightTree(part.parameters, part.parts), None, known, member, stack, f"{path}.")
        return Stack(path, own, tuple(each), tuple(whole), part.count)

    arguments |= nested_values(tree, weights, known, leaf, stack)
    for name, size in main.sizes.items():
        arguments[name] = int(known[size]) if size in known else size
        if size not in known and size not in graph.lengths:
            graph.lengths[size] = (graph.input(size.name, "int64", ()), None)
    for name in main.scalars:
        default = inspect.signature(main.function).parameters[name].default
        given = scalars.pop(name, None if default is inspect.Parameter.empty else default)
        if given is not None:
            arguments[name] = float(given)
        else:
            arguments[name] = Tensor(graph.input(name, graph.real, ()))
    if scalars:
        raise InputError(
            f"{layer.name} has no scalar {next(iter(scalars))}; it has {', '.join(main.scalars) or 'none'}"
        )
    return arguments


def _input(
    graph: Graph, variable: Variable, name: str, front: Sequence[Dim], known: Mapping[Symbol, Integer]
) -> Tensor:
    real = variable.kind == "real"
    value = graph.input(name, KINDS.get(variable.kind, graph.real), (*front, *shape_at(variable, known)))
    return Tensor(value, hides=real)


def _several(found: Any) -> list[Tensor]:
    """Return results as a flat list; the gradients for the weights of a part become separate items."""
    if isinstance(found, dict):
        return [each for value in found.values() for each in _several(value)]
    return [each for value in found for each in _several(value)] if isinstance(found, tuple | list) else [found]


def _named_outputs(layer: Layer, graph: Graph, outputs: Sequence[Tensor]) -> list[Value]:
    """Return the outputs under the names of the layer's outputs, each a value of its own."""
    names = [output.name for output in layer.outputs]
    names += [f"output_{number}" for number in range(len(names), len(outputs))]
    values: list[Value] = []
    taken = {*graph.inputs, *graph.constants}
    for name, output in zip(names, outputs, strict=True):
        value = output.value
        if value in taken or value in values or value.name not in (None, name):
            graph.aliases.pop(name, None)
            value = Value(value.dtype, value.shape, name)
            graph.nodes.append(Node("Identity", (output.value,), value, ()))
        if value.name is None:
            for other in (node.output for node in graph.nodes):
                if other.name == name:  # in another number type
                    other.name = f"{name}/{other.dtype}"
            value.name = name
        values.append(value)
    return values
