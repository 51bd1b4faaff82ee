"""PyTorch's recurrent layers: cells by their formulas, and sequences of a known number of steps cell by cell.

Definition   the rows of the weights stand gate by gate: input, forget, new and output of an LSTM (Hochreiter and
             Schmidhuber, 1997), reset, update and new of a GRU (Cho et al., 2014)
Raises       NotFollowed for sequences of symbolic length, and for packed ones
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.shared_functions import swapped
from numeric.lifting.doors.torch_operands import Table
from numeric.lifting.refusals import refuse

__all__ = ["RECURRENT"]

_tanh = op.UNARY["tanh"]


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    result = op.matmul(x, swapped(weight, -1, -2))
    return result if bias is None else op.add(result, bias)


def _gates(x: Any, count: int) -> list[Any]:
    """Return the parts of the last axis, one for each gate."""
    width = x.shape[-1] // count
    return [places.item(x, (..., slice(width * number, width * (number + 1)))) for number in range(count)]


def _lstm_cell(x: Any, state: Any, w_x: Any, w_h: Any, b_x: Any = None, b_h: Any = None) -> tuple[Any, Any]:
    hidden, cell = state
    gates = _gates(op.add(_affine(x, w_x, b_x), _affine(hidden, w_h, b_h)), 4)
    put, keep, new, show = op.sigmoid(gates[0]), op.sigmoid(gates[1]), _tanh(gates[2]), op.sigmoid(gates[3])
    cell = op.add(op.multiply(keep, cell), op.multiply(put, new))
    return op.multiply(show, _tanh(cell)), cell


def _gru_cell(x: Any, hidden: Any, w_x: Any, w_h: Any, b_x: Any = None, b_h: Any = None) -> Any:
    of_input, of_state = _gates(_affine(x, w_x, b_x), 3), _gates(_affine(hidden, w_h, b_h), 3)
    reset, update = (op.sigmoid(op.add(of_input[number], of_state[number])) for number in (0, 1))
    new = _tanh(op.add(of_input[2], op.multiply(reset, of_state[2])))
    return op.add(new, op.multiply(update, op.subtract(hidden, new)))


def _plain_cell(activation: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x, hidden, w_x, w_h, b_x=None, b_h=None: activation(
        op.add(_affine(x, w_x, b_x), _affine(hidden, w_h, b_h))
    )


def _sequence(cell: Callable[..., Any], of_pairs: bool = False) -> Callable[..., Any]:
    """Return the rule of a recurrent network over a sequence: layers in a stack, in one direction or in both."""

    def run(
        x: Any,
        first: Any,
        weights: Sequence[Any],
        biases: bool,
        layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool = False,
    ) -> tuple[Any, ...]:
        if not isinstance(biases, bool):
            raise refuse("a recurrent layer over sequences of several lengths")
        if dropout and train:
            raise refuse("dropout in training: its result is random")
        axis = 1 if batch_first else 0
        steps = x.shape[axis]
        if not isinstance(steps, int):
            raise refuse(f"a recurrent layer of {steps} steps: give a number of steps")
        directions, each = (2 if bidirectional else 1), (4 if biases else 2)
        if len(weights) != each * layers * directions:
            raise refuse("a recurrent layer with a projection of its states")
        rows = [places.item(x, (*[slice(None)] * axis, step)) for step in range(steps)]
        states = list(first) if of_pairs else [first]
        last: list[Any] = []
        for layer in range(layers):
            outputs = []
            for direction in range(directions):
                number = layer * directions + direction
                own = weights[each * number : each * (number + 1)]
                held = tuple(places.item(state, (number,)) for state in states)
                state: Any = held if of_pairs else held[0]
                made: list[Any] = []
                for row in rows[::-1] if direction else rows:
                    state = cell(row, state, *own)
                    made.append(state[0] if of_pairs else state)
                last.append(state if of_pairs else (state,))
                outputs.append(made[::-1] if direction else made)
            rows = [
                places.concatenate(list(pair), -1) if directions > 1 else pair[0] for pair in zip(*outputs, strict=True)
            ]
        return (places.stack(rows, axis), *(places.stack(list(kind), 0) for kind in zip(*last, strict=True)))

    return run


RECURRENT: Table = {
    torch.lstm_cell: _lstm_cell,
    torch.gru_cell: _gru_cell,
    torch.rnn_tanh_cell: _plain_cell(_tanh),
    torch.rnn_relu_cell: _plain_cell(op.UNARY["relu"]),
    torch.lstm: _sequence(_lstm_cell, of_pairs=True),
    torch.gru: _sequence(_gru_cell),
    torch.rnn_tanh: _sequence(_plain_cell(_tanh)),
    torch.rnn_relu: _sequence(_plain_cell(op.UNARY["relu"])),
}
