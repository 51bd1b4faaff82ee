"""A graph under construction: its values, nodes and constants, and the names that they get from the equations.

Definition   a value is named after the equation that it is the right-hand side of, below the parts in which the
             equation stands: `layers.0.attention.S`. What an equation computes on the way is named by its operator:
             `layers.0.attention.S/MatMul`
Result       a node that is asked for twice, with the same inputs, is there once: tables of positions are shared by all
             layers of a stack
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from sympy import Expr, Integer, Symbol, sympify

from numeric.codegen.formula_printer import CompileError
from numeric.codegen.onnx_graph.operators import OPSET

__all__ = ["Body", "Dim", "Graph", "Node", "Value", "building", "current", "dim", "used"]

Dim: TypeAlias = int | Expr
Attributes: TypeAlias = tuple[tuple[str, Any], ...]


@dataclass(eq=False)
class Value:
    """A value of the graph; it gets its name when the graph is finished, unless an equation names it before."""

    dtype: str
    shape: tuple[Dim, ...]
    hint: str
    name: str | None = None


@dataclass(frozen=True)
class Node:
    """An application of an operator."""

    operator: str
    inputs: tuple[Value, ...]
    output: Value
    attributes: Attributes


@dataclass(frozen=True, eq=False, repr=False)
class Body:
    """The graph inside a loop, which refers to no value of the graph around it."""

    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Value, ...]
    constants: Mapping[Value, Any]


@dataclass(eq=False)
class Graph:
    """The nodes so far, in order; `real` is the number type of the layer's real arrays."""

    real: str = "float32"
    opset: int = OPSET
    nodes: list[Node] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    constants: dict[Value, Any] = field(default_factory=dict)
    lengths: dict[Symbol, tuple[Value, int | None]] = field(default_factory=dict)  # where a size is read: value, axis
    aliases: dict[str, str] = field(default_factory=dict)  # names of equations whose values have other names
    _made: dict[Any, Value] = field(default_factory=dict)
    _names: Counter[str] = field(default_factory=Counter)
    _parts: list[str] = field(default_factory=list)
    _copies: Counter[str] = field(default_factory=Counter)
    _equation: list[str] = field(default_factory=list)
    _inside: list[Node] | None = None  # the nodes of the body of a loop, while it is traced
    _local: set[Value] = field(default_factory=set)  # values that depend on its inputs
    _bodies: list[Value] = field(default_factory=list)  # all values of bodies, which get names with the others

    def node(
        self,
        operator: str,
        inputs: Sequence[Value],
        dtype: str,
        shape: Sequence[Dim],
        **attributes: Any,
    ) -> Value:
        """Return the output of an operator."""
        given = tuple(sorted(attributes.items()))
        key = (operator, tuple(map(id, inputs)), str(given))
        if key not in self._made:
            output = Value(dtype, tuple(map(dim, shape)), self._hint(operator))
            self._made[key] = output
            nodes = self.nodes
            if self._inside is not None and any(each in self._local for each in inputs):
                nodes = self._inside  # what does not depend on the layer is computed once, outside
                self._local.add(output)
            nodes.append(Node(operator, tuple(inputs), output, given))
        return self._made[key]

    @contextmanager
    def body(self, inputs: Iterable[Value]) -> Iterator[list[Node]]:
        """Collect the nodes of the body of a loop, which depend on its inputs.

        Raises       ValueError for a loop inside a loop
        """
        if self._inside is not None:
            raise ValueError("a stack of a symbolic number of layers inside another one; give one of the numbers")
        self._inside, self._local = [], set(inputs)
        try:
            yield self._inside
        finally:
            self._made = {key: value for key, value in self._made.items() if value not in self._local}
            self._inside = None

    def constant(self, array: Any, name: str | None = None) -> Value:
        """Return a constant of the graph; equal constants are merged, unless they have a name, as weights do."""
        array = np.asarray(array)
        key = ("constant", array.dtype.name, array.shape, array.tobytes()) if name is None else ("weight", name)
        if key not in self._made:
            value = Value(array.dtype.name, array.shape, "constant", name and self.unique(name))
            self._made[key] = value
            self.constants[value] = array
        return self._made[key]

    def input(self, name: str, dtype: str, shape: Sequence[Dim]) -> Value:
        """Return a new input of the graph; the sizes that are lengths of its axes can be read from it from now on."""
        value = Value(dtype, tuple(map(dim, shape)), name, self.unique(name))
        self.inputs.append(value)
        for axis, along in enumerate(value.shape):
            if isinstance(along, Symbol):
                self.lengths.setdefault(along, (value, axis))
        return value

    def loop(
        self, body: Body, inputs: Sequence[Value], scanned: int, output: int = 0, backwards: bool = False
    ) -> Value:
        """Return one output of a loop over the first axis of its last `scanned` inputs; output 0 is the final state.

        An output after those of the states has a value for each step, along a first axis.
        """
        self._bodies += (*body.inputs, *body.constants, *(node.output for node in body.nodes))
        first, steps = inputs[0], () if not output else inputs[-1].shape[:1]
        given: dict[str, Any] = {"output": output} if output else {}
        if backwards:
            given |= {"scan_input_directions": (1,) * scanned, "scan_output_directions": (1,)}
        return self.node(
            "Scan", inputs, first.dtype, (*steps, *first.shape), body=body, num_scan_inputs=scanned, **given
        )

    # Names

    @contextmanager
    def part(self, name: str, copied: bool) -> Iterator[None]:
        """Put the name of a part before the names of all values computed in it; copies of a part are numbered."""
        if copied and self._inside is None:
            path = ".".join([*self._parts, name])
            self._copies[path] += 1
            name = f"{name}.{self._copies[path] - 1}"
        self._parts.append(name)
        try:
            yield
        finally:
            self._parts.pop()

    def equation(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return what the right-hand side of an equation computes, under the name of its left-hand side.

        Raises       CompileError where the equation has no form in ONNX, with its name
        """
        self._equation.append(name)
        try:
            found = compute()
        except CompileError:
            raise
        except (TypeError, ValueError, NotImplementedError, AttributeError) as error:
            raise CompileError(f"the equation for {self._below(name)} has no form in ONNX: {error}") from error
        finally:
            self._equation.pop()
        self.label(found, name)
        return found

    def label(self, found: Any, name: str) -> None:
        """Name a value after an equation; if the value has a name already, the new name becomes an alias."""
        value = getattr(found, "value", None)
        if not isinstance(value, Value):
            return
        own = self.unique(self._below(name))
        if value.name is None:
            value.name = own
        else:
            self.aliases[own] = value.name

    def _below(self, name: str) -> str:
        return ".".join([*self._parts, name])

    def _hint(self, operator: str) -> str:
        return self._below(f"{self._equation[-1]}/{operator}") if self._equation else self._below(operator)

    def unique(self, name: str) -> str:
        """Return a name that no value has yet, the given one if it is free."""
        self._names[name] += 1
        return name if self._names[name] == 1 else self.unique(f"{name}_{self._names[name]}")

    def finish(self) -> None:
        """Name all values that have no name yet."""
        for value in [*self.constants, *(node.output for node in self.nodes), *self._bodies]:
            if value.name is None:
                value.name = self.unique(value.hint)


def dim(along: Any) -> Dim:
    """Return the length of an axis as an int if it is a known number, else as an expression."""
    if isinstance(along, int):
        return along
    found = sympify(along)
    return int(found) if isinstance(found, Integer) else found


_CURRENT: ContextVar[Graph] = ContextVar("graph")


def current() -> Graph:
    """Return the graph that is being built."""
    return _CURRENT.get()


@contextmanager
def building(graph: Graph) -> Iterator[Graph]:
    """Let all operations on traced arrays add to a graph."""
    token = _CURRENT.set(graph)
    try:
        yield graph
    finally:
        _CURRENT.reset(token)


def used(nodes: Sequence[Node], outputs: Sequence[Value]) -> Mapping[Value, None]:
    """Return the values that outputs depend on, given the nodes in the order of computation."""
    needed = dict.fromkeys(outputs)
    for node in reversed(nodes):
        if node.output in needed:
            needed |= dict.fromkeys(node.inputs)
    return needed
