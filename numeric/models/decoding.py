r"""Incremental decoding with a cache: a layer at its next positions, over arrays saved from the earlier positions.

Definition   Decoder(layer, weights, sizes).start(longest, ...) is a text without positions; `extend(tokens)` appends
             the next positions and returns the output of the layer at the last of them
Shapes       tokens (..., n); the output at one position, without the axis of positions
Result       equal to the layer on the whole text (attention.causal_prefix), up to rounding
Assumes      the layer is causal, else `derivations.language.decoding.positions.NotCausal`

The caches are allocated once, for the longest text, and written in place. Arrays that do not depend on the text (the
rows of an encoder, the keys and values of cross-attention) are computed once, at the start.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sympy import Symbol

from derivations.language.arrays.expression import Variable
from derivations.language.decoding.caches import Cache
from derivations.language.decoding.decoding import next_positions
from derivations.language.decoding.text_situations import first_positions, last_position
from derivations.language.layers.layer import Layer
from numeric.codegen.compile import compile_layer
from numeric.codegen.lowering.module import lowered
from numeric.models.pieces import Piece, Run, runs
from numeric.optimize import packed
from numeric.optimize.here import optimised_here
from numeric.runtime.checks import InputError
from numeric.runtime.structure import applications, identifier, weight_tree
from numeric.runtime.tiles import default_threads

__all__ = ["Decoder", "Text"]

Arrays = dict[str, Any]


class Decoder:
    """A layer and its weights, evaluated at the next positions of texts.

    `sizes` gives by name the sizes that are not an axis of an input or a weight.
    """

    def __init__(self, layer: Layer, weights: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        self.decoding = next_positions(layer)
        self.new, self.all = self.decoding.new, self.decoding.all
        self.sizes = dict(sizes)
        self.steps = [_Step(run, weights, self.new, self.all) for run in runs(self.decoding)]
        kept = [number for number, step in enumerate(self.steps) if step.run.link.caches]
        self.last = kept[-1] if kept else -1  # after the last cache, one row is enough
        self.text = [v for v in self.decoding.inputs if self.new in v.shape]
        self.given = [v for v in self.decoding.inputs if v not in self.text]
        self.read_weights = {v.name: _filed(weights, v.name) for v in self.decoding.read_weights}

    def start(self, longest: int, *given: Any, sizes: Mapping[str, int] | None = None) -> "Text":
        """Return an empty text with room for `longest` positions. `given` are the inputs that do not grow with it.

        `sizes` are sizes of this text only, in addition to those of the decoder.
        """
        return Text(self, longest, given, sizes or {})


class Text:
    """The cached positions of a text; a batch of texts has axes in front."""

    def __init__(self, decoder: Decoder, longest: int, given: tuple[Any, ...], sizes: Mapping[str, int]) -> None:
        self.length, self.longest, self._decoder = 0, longest, decoder
        named = list(zip(decoder.given, given, strict=True))
        self._around: Arrays = {**decoder.read_weights, **{variable.name: array for variable, array in named}}
        self.sizes = {**decoder.sizes, **sizes}
        for variable, array in named:
            self.sizes |= {
                s.name: k for s, k in zip(variable.shape[::-1], array.shape[::-1], strict=False) if s.is_Symbol
            }
        self._inside: list[list[Arrays]] = [step.begun(self._around, self.sizes) for step in decoder.steps]

    def extend(self, *rows: Any, every: bool = False) -> Any:
        """Append the next positions to the text and return the output at the last of them, or at all if `every`.

        Raises       InputError where there is no room for so many positions
        """
        decoder = self._decoder
        first = decoder.text[0]
        count = rows[0].shape[first.shape.index(decoder.new) - len(first.shape)]
        if self.length + count > self.longest:
            raise InputError(
                f"{decoder.decoding.of.name}: there is room for {self.longest} positions, not for {count} after "
                f"{self.length}; start a text with room for more"
            )
        self._around |= zip((v.name for v in decoder.text), rows, strict=True)
        self.sizes |= {decoder.new.name: count, decoder.all.name: self.length + count}
        for number, (step, copies) in enumerate(zip(decoder.steps, self._inside, strict=True)):
            ends = None if every or number < decoder.last else step.last_append
            step.extend(self._around, copies, self, ends)
        self.length += count
        outputs = [self._output(v, every) for v in decoder.decoding.outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _output(self, variable: Variable, every: bool) -> Any:
        value, place = self._around[variable.name], _place(variable, self._decoder.new)
        return value if every or place is None else value.take(-1, axis=place)


class _Step:
    """A link of the decoding with its weights, or with the weights of each copy if its layer is repeated."""

    def __init__(self, run: Run, weights: Mapping[str, Any], new: Symbol, every: Symbol) -> None:
        self.run, link, self._new = run, run.link, new
        copies = [weights] if link.count is None else _filed(weights, link.path)
        self.once = [[_Bound(piece, own, new, every) for piece in run.once] for own in copies]
        self.each = [[_Bound(piece, own, new, every) for piece in run.each] for own in copies]
        self.reads = [(own.name, outer.name) for own, outer in zip(link.layer.inputs, link.reads, strict=False)]
        self.writes = [(own.name, outer.name) for own, outer in zip(link.layer.outputs, link.writes, strict=False)]
        appending = max((k for k, piece in enumerate(run.each) if piece.appends), default=0)
        self.last_append = len(run.each) if run.after else appending

    def begun(self, around: Arrays, sizes: Mapping[str, int]) -> list[Arrays]:
        """Compute the arrays that depend on no position, and return them for each copy."""
        copies: list[Arrays] = []
        chained = None
        for pieces in self.once:
            inside = {own: around[outer] for own, outer in self.reads if outer in around}
            if chained is not None:
                inside[self.reads[0][0]] = chained
            for piece in pieces:
                piece.run(inside, sizes, "more")
            chained = inside.get(self.writes[0][0]) if self.writes else None
            copies.append(inside)
        around |= {outer: copies[-1][own] for own, outer in self.writes if own in copies[-1]}
        return copies

    def extend(self, around: Arrays, copies: list[Arrays], text: Text, ends: int | None) -> None:
        """Compute the next positions. In the last copy, the pieces from `ends` on compute only the last position."""
        if not self.each[0]:
            return
        chained, count = None, text.sizes[self._new.name]
        for number, (pieces, inside) in enumerate(zip(self.each, copies, strict=True)):
            for own, outer in self.reads:
                inside[own] = around[outer]
            if chained is not None:
                inside[self.reads[0][0]] = chained
            is_last = number == len(copies) - 1
            for place, piece in enumerate(pieces):
                for cache in piece.appends:
                    _append(cache, inside, text.length, count, text.longest)
                cut = count > 1 and is_last and ends is not None and place >= ends
                situation = "last" if cut else "more" if text.length else "first"
                piece.run(inside, text.sizes, situation, cut=cut)
            for cache in self.run.after:
                _append(cache, inside, text.length, count, text.longest)
            chained = inside[self.writes[0][0]] if self.writes else None
        around |= {outer: copies[-1][own] for own, outer in self.writes}


class _Bound:
    """A piece with its weights, as code for each situation: the first positions, the last of several, any more."""

    def __init__(self, piece: Piece, weights: Mapping[str, Any], new: Symbol, every: Symbol) -> None:
        self.appends, self._weights = piece.appends, weights
        self._layers: dict[str, Callable[[], Layer]] = {
            "first": partial(first_positions, piece.layer, new, every),
            "last": partial(last_position, piece.layer, new, every),
            "more": lambda: piece.layer,
        }
        self._reads = [(v.name, _place(v, new)) for v in piece.layer.inputs]
        self._writes = [v.name for v in piece.layer.outputs]
        self._codes: dict[str, _Code] = {}
        self._packed: dict[Layer, Arrays] = {}

    def run(self, inside: Arrays, sizes: Mapping[str, int], situation: str, *, cut: bool = False) -> None:
        """Compute the equations from the arrays of a copy; with `cut`, only their last rows."""
        code = self._codes.get(situation)
        if code is None:
            code = self._codes[situation] = self._made(situation, sizes)
        arrays = [inside[name] for name, _ in self._reads]
        if cut:
            arrays = [a if p is None else _last(a, p) for a, (_, p) in zip(arrays, self._reads, strict=True)]
        result = code.function(*arrays, **code.weights, **{name: sizes[size] for name, size in code.asked})
        if len(self._writes) == 1:
            inside[self._writes[0]] = result
        else:
            inside.update(zip(self._writes, result, strict=True))

    def _made(self, situation: str, sizes: Mapping[str, int]) -> "_Code":
        optimised, _ = optimised_here(self._layers[situation](), self._weights)
        if optimised.packing not in self._packed:  # situations with equal packing share the packed weights
            known = {size: sizes[size.name] for size in optimised.packing.sizes if size.name in sizes}
            self._packed[optimised.packing] = packed(optimised, self._weights, known)
        weights = self._packed[optimised.packing]
        keeps_parts = any(weight_tree(node.layer, frozenset(node.bound)) for node in applications(optimised.layer))
        if situation == "last" or keeps_parts:  # the last position alone has no axis of positions to divide
            compiled = compile_layer(optimised.layer)
            return _Code(compiled.function, weights, [(identifier(s.name), s.name) for s in compiled.sizes])
        code = lowered(optimised.layer)
        function = partial(code.function, threads=default_threads())
        return _Code(function, weights, [(name, size.name) for name, size in code.source.sizes.items()])


@dataclass(frozen=True)
class _Code:
    """A function of arrays, its weights, and its size arguments, by their names in the function and in the layer."""

    function: Callable[..., Any]
    weights: Arrays
    asked: list[tuple[str, str]]


def _append(cache: Cache, inside: Arrays, length: int, count: int, longest: int) -> None:
    """Write new rows after the cached ones, in place."""
    new = inside[cache.new.name]
    kept = inside.get(cache.past.name)
    if kept is None:
        kept = inside[cache.past.name] = np.empty((*new.shape[:-2], longest, new.shape[-1]), new.dtype)
    kept[..., length : length + count, :] = new
    inside[cache.whole.name] = kept[..., : length + count, :]


def _place(variable: Variable, new: Symbol) -> int | None:
    """Return the axis of the new positions, counted from the end, or None without such an axis."""
    return variable.shape.index(new) - len(variable.shape) if new in variable.shape else None


def _last(array: Any, place: int) -> Any:
    """Return the last row along an axis; the axis is kept with length 1."""
    return array[(..., slice(-1, None), *[slice(None)] * (-1 - place))]


def _filed(weights: Any, path: str) -> Any:
    """Return the nested weights at a path such as `decoder.layers`."""
    for name in path.split("."):
        weights = weights[identifier(name)]
    return weights
