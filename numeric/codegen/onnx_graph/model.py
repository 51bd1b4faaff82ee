"""A graph as a model of the library `onnx`: values that nothing reads are left out, loops have a graph of their own."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from numeric.codegen.onnx_graph.graph import Body, Graph, Node, Value, used
from numeric.codegen.onnx_graph.operators import NUMBER_TYPES

__all__ = ["model_of", "onnx_library"]


def onnx_library() -> Any:
    """Return the library that writes models.

    Raises       ImportError with what to install
    """
    try:
        return import_module("onnx")
    except ImportError as error:
        raise ImportError("exporting to ONNX needs the package onnx: install it (pip install onnx)") from error


def model_of(found: tuple[Graph, list[Value]], name: str) -> Any:
    """Return a graph, with its outputs, as a model."""
    helper, (graph, outputs) = onnx_library().helper, found
    needed = used(graph.nodes, outputs)
    nodes = [node for node in graph.nodes if node.output in needed]
    constants = {value: array for value, array in graph.constants.items() if value in needed}
    body = _graph(name, nodes, graph.inputs, outputs, constants)
    opsets = [helper.make_opsetid("", graph.opset)]
    model = helper.make_model(
        body, opset_imports=opsets, ir_version=helper.find_min_ir_version_for(opsets), producer_name="derivations"
    )
    helper.set_model_props(model, graph.aliases)  # equations whose value is that of another equation
    return model


def _graph(
    name: str, nodes: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value], constants: dict[Value, Any]
) -> Any:
    onnx = onnx_library()
    return onnx.helper.make_graph(
        list(map(_node, nodes)),
        name,
        list(map(_described, inputs)),
        list(map(_described, outputs)),
        [
            onnx.numpy_helper.from_array(array if array.flags.c_contiguous else array.copy(), value.name)
            for value, array in constants.items()
        ],
        value_info=[_described(node.output) for node in nodes if node.output not in outputs],
    )


def _node(node: Node) -> Any:
    onnx, output = onnx_library(), node.output.name
    attributes = dict(node.attributes)
    place = attributes.pop("output", 0)  # which of the results it is
    results = [*(f"{output}/{k}" for k in range(place)), output]
    if node.operator == "Cast":
        attributes["to"] = getattr(onnx.TensorProto, NUMBER_TYPES[attributes["to"]])
    if isinstance(body := attributes.get("body"), Body):
        attributes["body"] = _graph(f"{output}/body", body.nodes, body.inputs, body.outputs, dict(body.constants))
        results += [f"{output}/{k}" for k in range(place + 1, len(body.outputs))]
    return onnx.helper.make_node(node.operator, [each.name for each in node.inputs], results, name=output, **attributes)


def _described(value: Value) -> Any:
    onnx = onnx_library()
    kind = getattr(onnx.TensorProto, NUMBER_TYPES[value.dtype])
    shape = [n if isinstance(n, int) else str(n) for n in value.shape]
    return onnx.helper.make_tensor_value_info(value.name, kind, shape)
