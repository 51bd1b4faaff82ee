"""Import of ONNX: a graph of operators that the export uses becomes a layer with symbolic sizes.

Definition   `lift_onnx(model)` is `lift` of the graph's NumPy source; inputs have the dimensions that the graph names
Result       a layer that is printed, proved and counted like any other; equations have the names of the graph's values
Assumes      a dimension with a name is a size; one without a name has a size of its own
Raises       NotFollowed where a node has no equation, with its name
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from sympy import Expr, Integer, Symbol, fraction

from derivations import symbols
from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import total
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Layer
from numeric.exchange.onnx_source import source_of
from numeric.lifting.lift import Lifted, lift
from numeric.lifting.proving import Verdict, prove
from numeric.lifting.refusals import NotFollowed

__all__ = ["GraphFunction", "function_of_graph", "lift_onnx", "parts_of_sizes", "prove_onnx"]

KINDS = {1: "real", 11: "real", 7: "integer", 9: "boolean"}  # of TensorProto: float, double, int64, bool


@dataclass(frozen=True)
class GraphFunction:
    """A graph as a function over arrays, and the shapes of its inputs."""

    function: Callable[..., Any]
    source: str
    inputs: Mapping[str, Variable | Symbol]  # by argument
    names: Mapping[str, str]  # in the graph, by argument


def function_of_graph(model: Any) -> GraphFunction:
    """Return a graph as a function of NumPy, which runs on arrays and can be lifted."""
    source = source_of(model)
    kinds = {each.name: each.type.tensor_type for each in model.graph.input}
    inputs = {argument: _input(name, kinds[name]) for argument, name in source.arguments.items()}
    return GraphFunction(source.function(), source.text, inputs, dict(source.arguments))


def lift_onnx(model: Any) -> Lifted:
    """Return a graph as a layer with symbolic sizes."""
    found = function_of_graph(model)
    return lift(found.function, **found.inputs)


def prove_onnx(model: Any, layer: Layer) -> Verdict:
    """Return the verdict about a graph and a layer: proved, refuted, unknown or not followed."""
    found = function_of_graph(model)
    flat = inlined(layer)
    return prove(found.function, flat.xreplace(parts_of_sizes(flat)), names=found.names)


def parts_of_sizes(layer: Layer) -> dict[Symbol, Expr]:
    """Return d as a multiple of a new size for every size d with an axis d/2: the judge then knows that d is even."""
    axes = [total(along) for shape in layer.shapes.values() for along in shape]
    parts = {fraction(each) for each in axes if fraction(each)[1] != 1}
    return {above: below * _size(f"{above}_part") for above, below in parts if isinstance(above, Symbol)}


def _input(name: str, kind: Any) -> Variable | Symbol:
    if kind.elem_type not in KINDS:
        raise NotFollowed(f"the input {name} has the number type {kind.elem_type}, which has no rule")
    shape = [_dimension(each, f"{name}_{k}") for k, each in enumerate(kind.shape.dim)]
    if not shape:
        return _size(name) if KINDS[kind.elem_type] == "integer" else Symbol(name, real=True, positive=True)
    return Variable(name, tuple(shape), KINDS[kind.elem_type])


def _dimension(given: Any, unnamed: str) -> Expr:
    if given.WhichOneof("value") == "dim_value":
        return Integer(given.dim_value)
    return _expression(ast.parse(given.dim_param, mode="eval").body) if given.dim_param else _size(unnamed)


def _size(name: str) -> Symbol:
    known = getattr(symbols, name, None)
    return known if isinstance(known, Symbol) else Symbol(name, integer=True, positive=True)


def _expression(node: ast.expr) -> Expr:
    """Return a dimension that is written with names, whole numbers, + - * and /.

    Raises       NotFollowed for any other text: it came with a file
    """
    match node:
        case ast.Name(id=name):
            return _size(name)
        case ast.Constant(value=int() as number):
            return Integer(number)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _expression(left) + _expression(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _expression(left) - _expression(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return prod([_expression(left), _expression(right)], start=Integer(1))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _expression(left) / _expression(right)
    raise NotFollowed(f"the dimension {ast.unparse(node)} is not written with names, whole numbers and + - * /")
