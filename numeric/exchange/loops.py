"""The loops of exported graphs: a linear recurrence with a part of rank one, which ONNX has as the operator Scan.

Definition   H_t = a_t H_{t-1} + w_t (r_t^T H_{t-1}) + B_t with H_{-1} = 0. The body of the loop must be this step,
             node by node: a body that computes it in another order is another body
Result       read as the node of the language that has this law; run as the loop that it is
Raises       NotFollowed for another body, for states that do not begin at 0, and for a loop that runs backwards
Source       the operator Scan of ONNX, opset 18: https://onnx.ai/onnx/operators/onnx__Scan.html
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from sympy import Basic, Symbol

from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import exponential
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.scalars import Within
from numeric.exchange.graph_source import GraphSource, array_text
from numeric.lifting.refusals import NotFollowed, refuse
from numeric.lifting.tensor import tensor
from numeric.lifting.trace import current, is_tracing

__all__ = ["linear_recurrence", "scan_text"]

BEFORE, DECAY, WRITTEN, READ, ADDED = range(5)  # the inputs of the body: the state, and what each step is given
COMMUTATIVE = ("Add", "Mul")


def scan_text(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    """Return the text of a loop: a call of `linear_recurrence` with the inputs of the node and the axis of its sums."""
    if set(attributes) != {"body", "num_scan_inputs"}:
        raise NotFollowed(f"the node {node.name} is a loop with {', '.join(sorted(attributes))}: one forwards is read")
    axis = _axis_of_sums(attributes["body"])
    if axis is None or attributes["num_scan_inputs"] != ADDED:
        raise NotFollowed(f"the node {node.name} is a loop whose step is not that of a linear recurrence")
    found.functions["linear_recurrence"] = linear_recurrence
    return f"linear_recurrence({', '.join(array_text(found, each) for each in node.input)}, {axis})"


def _axis_of_sums(body: Any) -> int | None:
    """Return the axis of r^T H where a body is a step of the recurrence, else None."""
    made: dict[str, Any] = {each.name: (place,) for place, each in enumerate(body.input)}
    constants = {each.name: import_module("onnx.numpy_helper").to_array(each) for each in body.initializer}
    axis = None
    for node in body.node:
        inputs = [made.get(name) for name in node.input]
        if node.op_type == "Identity":
            made[node.output[0]] = inputs[0]
            continue
        if node.op_type == "ReduceSum":
            axis, inputs = _one_axis(node, constants), inputs[:1]
        made[node.output[0]] = (node.op_type, *(sorted(map(repr, inputs)) if node.op_type in COMMUTATIVE else inputs))
    results = {repr(made.get(each.name)) for each in body.output}
    return axis if results == {repr(_STEP)} and len(body.input) == ADDED + 1 else None


def _one_axis(node: Any, constants: Mapping[str, Any]) -> int | None:
    """Return the single axis of a sum, counted from the end, or None; the sum must keep this axis."""
    given = constants.get(node.input[1]) if len(node.input) > 1 else None
    dropped = any(each.name == "keepdims" and each.i == 0 for each in node.attribute)
    return int(given.reshape(())) if given is not None and given.size == 1 and given.max() < 0 and not dropped else None


def _both(operator: str, one: Any, other: Any) -> tuple[Any, ...]:
    return (operator, *sorted((repr(one), repr(other))))


_SAID = ("ReduceSum", _both("Mul", (READ,), (BEFORE,)))
_CHANGED = _both("Add", _both("Mul", (DECAY,), (BEFORE,)), _both("Mul", (WRITTEN,), _SAID))
_STEP = _both("Add", _CHANGED, (ADDED,))


def linear_recurrence(first: Any, decays: Any, written: Any, read: Any, added: Any, axis: int) -> Any:
    """Return all states of the recurrence; `first` is the state before the first one, and must be 0.

    Shapes       added (n, ..., ...), decays, written and read (n, ..., 1, ...), of as many axes; `axis` is that of
                 the sums in an array without the first axis, counted from the end
    """
    if is_tracing():
        if not _is_zero(current().equations.get(first.node, first.node)):
            raise refuse("a loop whose states do not begin at 0")
        columns, rows = (_without_ends(each, -1 - axis) for each in (written, read))
        logarithms = _logarithms(_without_ends(decays, _ends(decays)))
        return tensor(Recurrence(logarithms, added.node, 0, columns.node, rows.node))
    state, states = first, []
    for decay, column, row, more in zip(decays, written, read, added, strict=True):
        state = decay * state + column * (row * state).sum(axis=axis, keepdims=True) + more
        states.append(state)
    return np.stack(states) if states else added


def _logarithms(decays: Any) -> Array:
    """Return the logarithms of decays; of exponentials, as in exported graphs, these are the exponents."""
    defined = current().equations.get(decays.node)
    exponents = [part for part in getattr(defined, "args", ()) if isinstance(part, Array)]
    found: Array = exponents[0] if exponents and exponential(exponents[0]) == defined else np.log(decays).node
    return found


def _is_zero(array: Array) -> bool:
    """Return whether every entry of an array is 0, for all indices inside its axes."""
    entry: Basic = array.entry(*(Symbol(f"place_{k}", integer=True) for k in range(len(array.shape))))
    while isinstance(entry, Within):
        entry = entry.args[0]
    return bool(entry == 0)


def _ends(array: Any) -> int:
    """Return the number of trailing axes of length 1; the first axis, which counts positions, is left out."""
    ends = 0
    for length in array.shape[:0:-1]:
        if not (isinstance(length, int) and length == 1):
            break
        ends += 1
    return ends


def _without_ends(array: Any, count: int) -> Any:
    """Return an array without its last `count` axes, which have length 1."""
    if count > _ends(array):
        raise refuse("a loop whose factors have more axes than those of the sums")
    return array[(..., *[0] * count)] if count else array
