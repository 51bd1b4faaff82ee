"""Variants of a layer for functions with fewer arguments: a causal mask, or one array for all real inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.masks import CausalMask
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Equation, Layer
from numeric.lifting.reading.binding import Binding

__all__ = ["needed_arrays", "with_fewer_inputs"]


def with_fewer_inputs(
    layer: Layer, own_mask: bool, single: bool
) -> tuple[Layer | None, Callable[[Binding], tuple[Equation, ...]], tuple[str, ...]]:
    """Return a layer for functions with fewer arguments: with a causal mask, or with one array as all real inputs."""
    masks = [v for v in layer.inputs if v.kind == "boolean"]
    reals = [v for v in layer.inputs if v.kind == "real"]
    several_with_rows = len(reals) > 1 and all(v.shape for v in reals)
    if (own_mask and not masks) or (single and not several_with_rows):
        return None, lambda _: (), ()
    readings: list[str] = []
    if own_mask:
        rows, columns = (total(along) for along in masks[0].shape[-2:])
        layer = layer.xreplace({columns: rows})
        readings.append(f"{masks[0].name} as the causal mask")
    if single:
        rows_of = {total(v.shape[0]) for v in layer.inputs if v.kind == "real"}
        first = total(reals[0].shape[0])
        layer = layer.xreplace({size: first for size in rows_of if size != first})
        readings.append(f"{', '.join(v.name for v in reals)} as one array")

    def equations(binding: Binding) -> tuple[Equation, ...]:
        found: list[Equation] = []
        inside = [v for v in binding.layer.inputs if v.kind == "boolean"] if own_mask else []
        found += [Equation(v, CausalMask(total(v.shape[-1]))) for v in inside]
        if single:
            head, *rest = [v for v in binding.layer.inputs if v.kind == "real"]
            value = next((e.value for e in binding.equations if e.variable == head), head)
            found += [Equation(v, value) for v in rest]
        return tuple(found)

    return layer, equations, tuple(readings)


def needed_arrays(layer: Layer, readings: Sequence[str]) -> list[Variable]:
    """Return the arrays of a layer that must be passed to a function under the given readings."""
    masked = any("causal mask" in reading for reading in readings)
    single = any("one array" in reading for reading in readings)
    inputs = [v for v in layer.inputs if not (masked and v.kind == "boolean")]
    reals = [v for v in inputs if v.kind == "real"]
    return [v for v in (*inputs, *layer.parameters) if not (single and v in reals[1:])]
