"""Which optional parameters of a module are which inputs of a layer: masks, biases of scores, a memory, tables.

Names only choose what is tried: a run, and then the judge, decides about each reading.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from sympy import Integer, Lambda, Symbol
from sympy import Tuple as Places

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import Blocks
from derivations.language.layers.layer import Equation, Layer
from derivations.language.layers.names import variables_in
from derivations.positions.positional_encoding import cosine, sine
from numeric.lifting.computed import Computed

__all__ = ["Given", "inputs_by_name", "tables_by_name"]

_NAMES: Mapping[str, tuple[str, ...]] = {
    "M": ("attention_mask", "attn_mask", "mask", "src_mask", "tgt_mask"),
    "B": ("position_bias", "attention_bias", "attn_bias", "alibi", "bias"),
    "memory": ("encoder_hidden_states", "key_value_states", "memory", "context"),
}
_COSINES, _SINES = ("cos", "freqs_cos", "rope_cos", "cosine"), ("sin", "freqs_sin", "rope_sin", "sine")
_BOTH = ("position_embeddings", "rotary_pos_emb", "rotary_emb", "rope", "freqs_cis", "rotary_embeddings")
_SCORES = 4  # axes of the scores of a batch: items, heads, positions, keys


@dataclass(frozen=True)
class Given:
    """How an input of a layer is passed to a parameter: as it is, or as what is added to scores, without a batch."""

    added: bool = False
    scores: bool = True  # with axes of length 1 up to those of the scores of a batch

    def value(self, variable: Variable, batch: int) -> Computed:
        """Return the argument."""
        front = _SCORES - len(variable.shape) if batch and self.scores else 0
        return Computed(variable, self.added, front)

    def told(self, name: str, parameter: str) -> str:
        """Return the reading in words, or nothing."""
        return f"{parameter} as 0 where {name} shows an entry and minus infinity elsewhere" if self.added else ""


def inputs_by_name(
    inputs: Sequence[Variable], parameters: Sequence[Parameter]
) -> Iterator[dict[str, tuple[Variable, Given]]]:
    """Yield which optional parameter gets which input, in each form that code has; every such input needs one."""
    found: list[tuple[str, Variable]] = []
    optional = [p.name for p in parameters if p.default is not p.empty]
    for variable in inputs:
        name = next((word for word in _NAMES.get(variable.name, ()) if word in optional), None)
        if name is not None:
            found.append((name, variable))
    if not found:
        return
    forms = [
        (Given(True), Given(True, False), Given(), Given(False, False)) if v.kind == "boolean" else (Given(),)
        for _, v in found
    ]
    for chosen in itertools.product(*forms):
        yield {name: (variable, given) for (name, variable), given in zip(found, chosen, strict=True)}


def tables_by_name(layer: Layer, parameters: Sequence[Parameter], batch: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the tables of angles of a layer for the parameters that take their cosines and sines, with readings."""
    angle = next((e.value for e in layer.equations if _is_table(e.variable.name, e.value)), None)
    if angle is None:
        return {}, ()
    steps = _steps(angle)
    waves = [Computed(wave(steps[-1].variable), front=batch, steps=steps) for wave in (cosine, sine)]
    found: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name in _BOTH:
            found[parameter.name] = waves
        elif parameter.name in (*_COSINES, *_SINES):
            found[parameter.name] = waves[parameter.name in _SINES]
    return found, tuple(f"{name} as the cosines and sines of the layer's angles" for name in found)


def _is_table(name: str, value: Array) -> bool:
    return name.rpartition(".")[2].rpartition("_")[2] == "angle" and not any(variables_in(value))


def _steps(angle: Tabulated) -> tuple[Equation, ...]:
    """Return equations for a table of angles; a table of two halves is the first half, twice.

    That the second half is the first is not assumed: the judge compares the layer's table with this one.
    """
    rows, columns = angle.shape
    whole = Variable("angles", angle.shape)
    if not isinstance(columns, Blocks):
        return (Equation(whole, angle),)
    position, pair = angle.args[0].variables
    first = angle.args[0].expr.replace(Iverson, lambda *given: Integer(0))
    half = Variable("angles_of_half", (rows, columns.size))
    p, b, c = (Symbol(letter, integer=True) for letter in "ijk")
    twice = contraction([p, Places(b, c)], [rows, columns], (), 1, operand_of(half, [p, c]))
    table = Tabulated(Lambda((position, pair), first), rows, columns.size)
    return Equation(half, table), Equation(whole, twice)
