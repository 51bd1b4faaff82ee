"""An ONNX graph as NumPy source: one line for each node that computes an array, sizes and numbers written in place.

Definition   what a node computes from shapes alone is a Python expression, such as `math.sqrt(Q.shape[1])`; every
             other node is an assignment to its output's name. The operators are those that are exported
Assumes      an empty name is no input; attributes that are left out have the values of ONNX's specification
Raises       NotFollowed for an operator, or a form of one, that is not among them, with the node's name
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any

from numeric.exchange.graph_source import GraphSource, Known, array_text, hold, identifier_of, named
from numeric.exchange.operator_rules import RULES
from numeric.lifting.refusals import NotFollowed

__all__ = ["source_of"]


def source_of(model: Any, inputs: Collection[str] | None = None, output: str | None = None) -> GraphSource:
    """Return the source of a model of the library `onnx`, or of the part that computes one value from others.

    Definition   of a part, the values in `inputs` are arguments, as are sizes that are read from other arrays
    """
    helper, numbers = import_module("onnx.helper"), import_module("onnx.numpy_helper")
    graph = model.graph
    found = GraphSource(identifier_of(graph.name or "graph", ()), {})
    described = {v.name: v.type.tensor_type for v in (*graph.input, *graph.value_info, *graph.output)}
    found.shapes = {name: tuple(kind.shape.dim) for name, kind in described.items()}
    whole = import_module("onnx").TensorProto.INT64
    found.whole = frozenset(name for name, kind in described.items() if kind.elem_type == whole)
    given = [each.name for each in graph.input]
    found.apart = frozenset() if inputs is None else frozenset(given) - frozenset(inputs)
    for name in given if inputs is None else inputs:
        argument = named(found, name)
        found.arguments[argument] = name
        if not found.shapes.get(name, (1,)):
            found.known[name] = Known((argument,), False)
    for each in graph.initializer:
        hold(found, each.name, numbers.to_array(each))
    if output is None:
        if len(graph.output) != 1:
            raise NotFollowed(f"the graph {graph.name} has {len(graph.output)} outputs; one is read")
        output = graph.output[0].name
    needed = _needed(graph, set(found.arguments.values()), output)
    for name in dict.fromkeys(name for node in needed for name in node.input):
        if name in found.apart and not found.shapes[name]:  # a number, such as epsilon
            argument = named(found, name)
            found.arguments[argument] = name
            found.known[name] = Known((argument,), False)
    for node in needed:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        _write(found, node, attributes)
    found.result = array_text(found, output)
    return found


def _needed(graph: Any, given: Collection[str], output: str) -> list[Any]:
    """Return the nodes that an output depends on, up to the values that are given."""
    wanted, kept = {output}, []
    for node in reversed(graph.node):
        if wanted & (set(node.output) - set(given)):
            kept.append(node)
            wanted |= set(node.input)
    return kept[::-1]


def _write(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> None:
    """Add the line of a node, or note what it computes from sizes."""
    if node.domain not in ("", "ai.onnx"):
        raise NotFollowed(f"the node {node.name} has an operator of the domain {node.domain}")
    output = node.output[-1]  # of several results, such as the entries and the places of TopK, the last is read
    rule = RULES.get(node.op_type)
    if rule is None:
        raise NotFollowed(f"the node {node.name} has the operator {node.op_type}, which has no rule")
    made = rule(found, node, attributes)
    if isinstance(made, Known):
        found.known[output] = made
        return
    found.lines.append(f"{named(found, output)} = {made}")
