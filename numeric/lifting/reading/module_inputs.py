"""The pairing of a module's optional parameters with inputs of a layer: masks, score biases, a memory, rotary tables.

Names only choose what is tried: a run, and then the judge, decides about each reading.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, getsource
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

__all__ = ["Given", "inputs_by_name", "masks_without_use", "tables_by_name"]

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
    """How an input of a layer is passed to a parameter, without batch axes: unchanged or as numbers added to scores."""

    added: bool = False
    scores: bool = True  # with axes of length 1 up to those of the scores of a batch

    def value(self, variable: Variable, batch: int) -> Computed:
        """Return the argument that passes the given input."""
        front = _SCORES - len(variable.shape) if batch and self.scores else 0
        return Computed(variable, self.added, front)

    def told(self, name: str, parameter: str) -> str:
        """Return the reading as text, or an empty text if nothing is added to scores."""
        return f"{parameter} as 0 where {name} shows an entry and minus infinity elsewhere" if self.added else ""


def inputs_by_name(
    inputs: Sequence[Variable], optional: Sequence[str]
) -> Iterator[dict[str, tuple[Variable, Given | None]]]:
    """Yield which optional parameter gets which input, once for each combination of the forms that inputs take in code.

    A memory has no other form than the other inputs of a batch, nor has what has the name of the parameter.
    """
    found: list[tuple[str, Variable]] = []
    for variable in inputs:
        name = next((word for word in (variable.name, *_NAMES.get(variable.name, ())) if word in optional), None)
        if name is not None:
            found.append((name, variable))
    if not found:
        return
    of_mask = (Given(True), Given(True, False), Given(), Given(False, False))
    forms: list[tuple[Given | None, ...]] = [
        of_mask if v.kind == "boolean" else (None if v.name in ("memory", name) else Given(),) for name, v in found
    ]
    for chosen in itertools.product(*forms):
        yield {name: (variable, given) for (name, variable), given in zip(found, chosen, strict=True)}


def masks_without_use(parameters: Sequence[Parameter], inputs: Sequence[Variable]) -> dict[str, None]:
    """Return None as the argument of required masks or score biases for which the layer has no input left."""
    required = [p.name for p in parameters if p.default is p.empty]
    more = len(required) - len(inputs)
    masks = [name for name in required if name in (*_NAMES["M"], *_NAMES["B"])]
    return dict.fromkeys(masks[-more:]) if 0 < more <= len(masks) else {}


def tables_by_name(
    layer: Layer, parameters: Sequence[Parameter], batch: int, parts: Iterable[Any]
) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Yield the arguments for parameters that take cosines and sines of the layer's rotary angles, with the readings.

    Of both under one name, the names that the code of the module's parts unpacks them into tell which comes first.
    Tables of pairs come with one column for a pair, with all pairs twice, or with each of them twice.
    """
    angle = next((e.value for e in layer.equations if _is_table(e.variable.name, e.value)), None)
    names = [p.name for p in parameters if p.name in (*_BOTH, *_COSINES, *_SINES)]
    if angle is None or not names:
        yield {}, ()
        return
    turned = {name for name in names if name in _BOTH and _sines_first(name, parts)}
    for steps in _forms(angle):
        waves = [Computed(wave(steps[-1].variable), front=batch, steps=steps) for wave in (cosine, sine)]
        found: dict[str, Any] = {}
        for name in names:
            if name in _BOTH:
                found[name] = waves[::-1] if name in turned else waves
            else:
                found[name] = waves[name in _SINES]
        yield found, tuple(f"{name} as the cosines and sines of the layer's angles" for name in found)


def _sines_first(name: str, parts: Iterable[Any]) -> bool:
    """Return whether the `forward` of a submodule unpacks the sines first, as in `sin, cos = name`."""
    for kind in dict.fromkeys(type(part) for part in parts):
        try:
            text = getsource(kind.forward)
        except (OSError, TypeError, AttributeError):
            continue
        unpacked = re.search(rf"(\w*(?:sin|cos)\w*)\s*,\s*\w+\s*=\s*{name}\b", text)
        if unpacked:
            return "sin" in unpacked[1]
    return False


def _is_table(name: str, value: Array) -> bool:
    return name.rpartition(".")[2].rpartition("_")[2] == "angle" and not any(variables_in(value))


def _forms(angle: Tabulated) -> Iterator[tuple[Equation, ...]]:
    """Yield equations for each form of a table of angles. A table of two halves repeats its first half.

    That the second half is the first is not assumed: the judge compares the layer's table with this one.
    """
    rows, columns = angle.shape
    p, b, c = (Symbol(letter, integer=True) for letter in "ijk")
    if isinstance(columns, Blocks):
        position, pair = angle.args[0].variables
        first = angle.args[0].expr.replace(Iverson, lambda *given: Integer(0))
        table = Tabulated(Lambda((position, pair), first), rows, columns.size)
        yield _doubled(table, [p, Places(b, c)], columns, operand_places=(p, c))
        return
    yield (Equation(Variable("angles", angle.shape), angle),)
    yield _doubled(angle, [p, Places(b, c)], Blocks(Integer(2), columns), operand_places=(p, c))
    yield _doubled(angle, [p, Places(c, b)], Blocks(columns, Integer(2)), operand_places=(p, c))


def _doubled(
    table: Array, own: Sequence[Any], columns: Blocks, operand_places: tuple[Symbol, Symbol]
) -> tuple[Equation, ...]:
    """Return equations for a table, and for the table that holds each of its columns twice."""
    half = Variable("angles_of_half", table.shape)
    whole = Variable("angles", (table.shape[0], columns))
    twice = contraction(own, [table.shape[0], columns], (), 1, operand_of(half, operand_places))
    return Equation(half, table), Equation(whole, twice)
