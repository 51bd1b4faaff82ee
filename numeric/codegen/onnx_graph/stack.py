"""A stack of a symbolic number of layers as one `Scan`: its body is one layer, its weights have an axis in front.

Definition   Z_0 = X, Z_k = layer(Z_{k-1}, weights[k - 1]), result Z_N; weight W of the layers is one input (N, ...)
Result       values in the body have the names of the layer's equations below the part: `layers.attention.S`
Raises       ValueError where a layer changes the shape or the number type of what it is given
Source       the operator Scan of ONNX, opset 18: https://onnx.ai/onnx/operators/onnx__Scan.html
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from sympy import Expr

from numeric.codegen.formula_printer import CompileError
from numeric.codegen.onnx_graph.graph import Body, Dim, Node, Value, current, used
from numeric.codegen.onnx_graph.shapes import same
from numeric.codegen.onnx_graph.tensor import Tensor, node

__all__ = ["Stack", "reduce", "scan"]


@dataclass(frozen=True)
class Stack:
    """The weights of a stack: those of one layer, nested, and for each of them the input that holds all layers'."""

    part: str
    member: dict[str, Any]
    each: tuple[Value, ...]
    all: tuple[Value, ...]
    count: Expr

    def __iter__(self) -> NoReturn:
        """Raise CompileError: a symbolic number of layers cannot be iterated over one by one."""
        raise CompileError(
            f"the equation of the stack {self.part} has no form in ONNX for {self.count} layers: it goes through them "
            f"one by one; give {self.count} a value"
        )

    def __reversed__(self) -> NoReturn:
        """Raise CompileError, as `__iter__` does."""
        iter(self)


def reduce(layer: Callable[[Any, Any], Any], items: Stack | Iterable[Any], first: Any) -> Any:
    """Apply the layers of a stack one after another, as `functools.reduce` does; a `Stack` becomes one loop."""
    if not isinstance(items, Stack):
        return functools.reduce(layer, items, first)
    graph = current()
    before = Value(first.dtype, first.shape, "before", graph.unique(f"{items.part}/before"))
    with graph.body([before, *items.each]) as nodes:
        after = layer(Tensor(before, hides=first.hides), items.member)
    unchanged = after.dtype == first.dtype and len(after.shape) == len(first.shape)
    if not unchanged or not all(map(same, after.shape, first.shape)):
        raise ValueError(f"a layer of the stack {items.part} makes {after.shape} of {first.shape}")
    body, around = _closed(nodes, before, items.each, after.value, graph.constants)
    return Tensor(graph.loop(body, [first.value, *around, *items.all], len(items.all)), after.hides)


def scan(step: Callable[..., Tensor], first: Tensor, rows: Sequence[Tensor], backwards: bool) -> Tensor:
    """Return all states along a new first axis: each step maps the last state and one row of each input to a state.

    Definition   state_t = step(state_{t-1}, *(each[t] for each in rows)), from `first` on; backwards from the last t on
    """
    graph = current()
    before, *each = (Value(x.dtype, shape, "before", graph.unique("scan/before")) for x, shape in _members(first, rows))
    with graph.body([before, *each]) as nodes:
        after = step(*map(Tensor, (before, *each)))
        kept = node("Identity", [after], after.dtype, after.shape)
    if after.dtype != first.dtype or not all(map(same, after.shape, first.shape)):
        raise ValueError(f"a step makes {after.shape} of {first.shape}")
    body, around = _closed(nodes, before, each, after.value, graph.constants)
    with_steps = replace(
        body,
        nodes=(*body.nodes, Node("Identity", (after.value,), kept.value, ())),
        outputs=(*body.outputs, kept.value),
    )
    inputs = [first.value, *around, *(each.value for each in rows)]
    return Tensor(graph.loop(with_steps, inputs, len(rows), 1 + len(around), backwards))


def _members(first: Tensor, rows: Sequence[Tensor]) -> list[tuple[Tensor, tuple[Dim, ...]]]:
    """Return the arrays of a loop, each with the shape that one step sees."""
    return [(first, first.shape), *((each, each.shape[1:]) for each in rows)]


def _closed(
    nodes: Sequence[Node], before: Value, each: Sequence[Value], after: Value, constants: Mapping[Value, Any]
) -> tuple[Body, list[Value]]:
    """Return a loop body that refers to no outside value, and the outside values that become its inputs.

    Such a value is handed on from layer to layer, since not every engine reads values of the graph around a loop.
    """
    needed = used(nodes, [after])
    kept = [node for node in nodes if node.output in needed]
    own = {before, *each, *(node.output for node in kept)}
    outside = dict.fromkeys(value for node in kept for value in node.inputs if value not in own)
    inner = {value: Value(value.dtype, value.shape, f"{value.hint}/inside") for value in outside}
    around = [value for value in outside if value not in constants]
    after_each = {value: Value(value.dtype, value.shape, f"{value.hint}/after") for value in around}
    handed = [Node("Identity", (inner[value],), after_each[value], ()) for value in around]
    closed = [replace(node, inputs=tuple(inner.get(value, value) for value in node.inputs)) for node in kept]
    body = Body(
        (before, *(inner[value] for value in around), *each),
        (*closed, *handed),
        (after, *after_each.values()),
        {inner[value]: constants[value] for value in outside if value in constants},
    )
    return body, around
