"""From a stored tensor to a weight of the equations: transposed, cut from a fused tensor, split over heads.

Definition   a linear map is stored as (columns, rows) unless `as_written`; heads are concatenated along the columns of
             the weights that lead into them, and along the rows of W_O, which leads out of them
Shapes       a weight with leading axes (h,) or (g, r) has a matrix, or a vector of biases, for each head
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np

from derivations.architectures.checkpoints.family import Stored

__all__ = ["Stored", "arranged", "stored_shape"]

Shape = tuple[int, ...]
LEADING_OUT = "W_O"


def stored_shape(stored: Stored, weight: str, shapes: Mapping[str, Shape]) -> Shape:
    """Return the required shape of a tensor, given the shapes of the weights that it stores."""
    if "{e}" in stored.name:
        return stored_shape(_of_one_expert(stored, 0), weight, _of_each(shapes))
    if stored.stacked:
        return (shapes[weight][0], *stored_shape(replace(stored, stacked=False), weight, _of_each(shapes)))
    if not shapes[weight]:
        return (1,)
    if _is_vector(weight) or stored.axes == "flat":
        return (sum(_columns(each, shapes[each]) for each in _beside(stored, weight, shapes)),)
    if len(shapes[weight]) == 1:
        matrix: Shape = (*shapes[weight], 1)  # a matrix with one column
    elif weight == LEADING_OUT:
        matrix = (math.prod(shapes[weight][:-1]), shapes[weight][-1])
    else:
        columns = sum(_columns(each, shapes[each]) for each in _beside(stored, weight, shapes))
        matrix = (shapes[weight][-2], columns)
    return matrix if stored.as_written else matrix[::-1]


def arranged(stored: Stored, weight: str, shapes: Mapping[str, Shape], read: Callable[[str], Any]) -> Any:
    """Return a weight in the shape of the equations; `read` returns a tensor of shape `stored_shape` by name."""
    if "{e}" in stored.name:
        inner, experts = _of_each(shapes), range(shapes[weight][0])
        return np.stack([arranged(_of_one_expert(stored, e), weight, inner, read) for e in experts])
    tensor = read(stored.name)
    if not shapes[weight]:
        return tensor.reshape(())
    if stored.stacked:
        own, inner = replace(stored, stacked=False), _of_each(shapes)
        return np.stack([_placed(one, own, weight, inner) for one in tensor])
    return _placed(tensor, stored, weight, shapes)


def _placed(tensor: Any, stored: Stored, weight: str, shapes: Mapping[str, Shape]) -> Any:
    """Return a weight, given the tensor that stores it."""
    if _is_vector(weight) or stored.axes == "flat":
        value = _cut(tensor[None], stored, weight, shapes)[..., 0, :]
        return value + value.dtype.type(stored.added) if stored.added else value
    matrix = tensor if stored.as_written else tensor.T
    if weight == LEADING_OUT or len(shapes[weight]) == 1:
        return matrix.reshape(shapes[weight])
    return _cut(matrix, stored, weight, shapes)


def _cut(matrix: Any, stored: Stored, weight: str, shapes: Mapping[str, Shape]) -> Any:
    """Return the columns of a weight from a matrix, with the axes of heads in front."""
    beside = _beside(stored, weight, shapes)
    if stored.parts > 1:
        one = replace(stored, parts=1)
        of_part = {each: (shapes[each][0] // stored.parts, *shapes[each][1:]) for each in beside}
        return np.concatenate([_cut(part, one, weight, of_part) for part in np.split(matrix, stored.parts, axis=1)])
    if stored.sections:
        own = next(section for section in stored.sections if weight in section)
        before = beside[: min(beside.index(each) for each in own if each in beside)]
        start, width = (sum(_columns(each, shapes[each]) for each in some if each in shapes) for some in (before, own))
        section = replace(stored, beside=own, by_head=True, sections=())
        return _cut(matrix[:, start : start + width], section, weight, shapes)
    count = 1
    if stored.by_column:
        count = shapes[weight][-1]  # as if every column were a head
    elif stored.by_head:
        count = _common([_heads(each, shapes[each]) for each in beside])
    widths = {each: _columns(each, shapes[each]) // count for each in beside}
    start = sum(widths[each] for each in beside[: beside.index(weight)])
    # by head, the columns of one head of all weights are adjacent: the axes are (rows, heads, columns of a head)
    own = matrix.reshape(len(matrix), count, -1)[:, :, start : start + widths[weight]]
    return np.moveaxis(own.reshape(len(matrix), *_heads(weight, shapes[weight]), shapes[weight][-1]), 0, -2)


def _is_vector(weight: str) -> bool:
    return weight in ("gamma", "beta", "b", "sinks", "gate_scale") or weight.startswith("b_")


def _common(heads: Sequence[Shape]) -> int:
    """Return the number of heads, or of groups where some weights have only one matrix for each group."""
    return math.prod(axes[0] for axes in takewhile(lambda axes: len(set(axes)) == 1, zip(*heads, strict=False)))


def _heads(weight: str, shape: Shape) -> Shape:
    """Return the leading axes of a weight, which count its heads."""
    return shape[:-1] if _is_vector(weight) else shape[:-2]


def _columns(weight: str, shape: Shape) -> int:
    """Return the number of columns of a weight, over all of its heads."""
    return math.prod(_heads(weight, shape)) * shape[-1]


def _beside(stored: Stored, weight: str, shapes: Mapping[str, Shape]) -> list[str]:
    """Return the weights that share a tensor, without those that the equations lack: they are not stored either."""
    return [each for each in stored.beside or (weight,) if each in shapes]


def _of_one_expert(stored: Stored, number: int) -> Stored:
    return replace(stored, name=stored.name.replace("{e}", str(number)))


def _of_each(shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    return {name: shape[1:] for name, shape in shapes.items()}
