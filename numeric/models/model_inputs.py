"""The inputs of a model as the arrays of its equations: tokens, pictures, sounds, and what is derived from them.

Definition   tokens that stand for the rows of a picture are the numbers of these rows, after the vocabulary; beside
             them stand, where the equations read them, the last and the first position that each position sees, its
             places on three axes, the place of the end of a text, and segments
Shapes       as in `numeric.models.inputs`
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sympy import Symbol

from derivations.architectures.description import (
    AudioStem,
    Cells,
    Model,
    Patches,
    Stack,
    Waveform,
    frames,
    of_pictures,
)
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Layer
from derivations.symbols import m, n
from numeric.models.inputs import (
    frames_of,
    last_seen,
    patches_of,
    place_of_end,
    places_of_rows,
    places_on_axes,
    rows_of_samples,
    samples_of,
)
from numeric.runtime.checks import InputError

__all__ = ["DERIVED", "ModelInputs"]

PLACES = ("p_0", "p_1", "p_2")  # of tokens on the axes of time, height and width
DERIVED = ("segments", "end", "last", "first", *PLACES)  # inputs that the tokens tell


@dataclass(frozen=True)
class ModelInputs:
    """The inputs of a model: its description, its equations, its `config.json`, and the type of its numbers."""

    model: Model
    layer: Layer
    config: Mapping[str, Any]
    dtype: np.dtype[Any]

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    def arrays(
        self, tokens: Sequence[Any], segments: Any, prefix: int | None
    ) -> tuple[dict[str, Any], dict[Symbol, int]]:
        """Return the arrays of all inputs except `end`, and the sizes that depend on the given inputs."""
        names = [variable.name for variable in self.layer.inputs]
        asked = [each for each in names if each not in DERIVED]
        if len(tokens) != len(asked):
            raise InputError(f"{self.name} takes {' and '.join(asked)}, {len(tokens)} arrays were given")
        given = dict(zip(asked, tokens, strict=True))
        sizes = self.sizes_of(given)
        arrays = {each: self.read(each, array, sizes) for each, array in given.items()}
        if "segments" in names:
            arrays["segments"] = np.zeros_like(arrays[asked[0]]) if segments is None else np.asarray(segments)
        elif segments is not None:
            raise InputError(f"{self.name} has no segments")
        if prefix is not None and self.ahead != "prefix":
            raise InputError(f"{self.name} has no prefix, whose positions see one another")
        return arrays | self.on_pictures(arrays.get("tokens"), sizes, prefix), sizes

    def read(self, name: str, given: Any, own: Mapping[Symbol, int] | None = None) -> Any:
        """Return an input as the array that the equations take. `own` gives the sizes that depend on the inputs."""
        tower, stem, values = self.model.architecture.tower, self._stem, {**self.model.values, **(own or {})}
        if name == "patches" and isinstance(stem, Patches):
            sizes = (stem.channels, stem.size, stem.count)
            if tower is not None:
                sizes = tuple(each.xreplace({s: of_pictures(s) for s in each.free_symbols}) for each in sizes)
            channels, patch, count = (int(each.xreplace(values)) for each in sizes)
            return patches_of(self.name, given, channels, patch, count, self.dtype, stem.frames)
        if name == "frames" and isinstance(stem, AudioStem):
            mel = int(stem.mel.xreplace(values))
            return frames_of(self.name, given, mel, 2 * next(iter(self.heard.values())), self.dtype)
        if name == "samples" and isinstance(stem, Waveform):
            return samples_of(self.name, given, _windows(stem), stem.over_time, self.dtype)
        return self.tokens(name, given) if tower is None or self.compares else self._with_rows(name, given, values)

    @property
    def compares(self) -> bool:
        """Whether the model gives a text and a picture one common score."""
        tower = self.model.architecture.tower
        return tower is not None and tower.compared is not None

    def end(self, tokens: Any, *, needed: bool) -> Any:
        """Return the index of the token that ends a text, or 0 if it is not needed."""
        if not needed:
            return np.zeros((*tokens.shape[:-1], 1), int)
        return place_of_end(self.name, tokens, self.model.architecture.head.end)

    def _with_rows(self, name: str, given: Any, values: Mapping[Symbol, int]) -> Any:
        """Return tokens with the placeholders for picture rows replaced by numbers after those of the vocabulary."""
        place = self.config.get("image_token_index", self.config.get("image_token_id"))
        if type(place) is not int:
            raise InputError(f"{self.name}: the configuration names no token that stands for a row of a picture")
        array = np.asarray(given)
        self.tokens(name, np.where(array == place, 0, array))
        count = int(total(self.layer.shapes["V"][0]).xreplace(dict(values)))
        return places_of_rows(self.name, array, place, values[self.model.architecture.vocab], count)

    def tokens(self, name: str, tokens: Any) -> Any:
        """Return the tokens of an input as an array.

        Raises       InputError where they are no whole numbers of the vocabulary, or more than there are positions
        """
        array = np.asarray(tokens)
        if array.ndim < 1 or not np.issubdtype(array.dtype, np.integer) or array.shape[-1] < 1:
            raise InputError(f"{self.name}: {name} must be at least one whole number, not {_told(array)}")
        size = self.model.values[self.model.architecture.vocab]
        outside = array[(array < 0) | (array >= size)]
        if outside.size:
            raise InputError(f"{self.name}: {name} holds {outside.flat[0]}; {size} tokens count from 0")
        if (most := self.longest.get(name)) is not None and array.shape[-1] > most:
            raise InputError(f"{self.name}: {name} has {array.shape[-1]} places, there are {most} positions")
        return array

    @cached_property
    def heard(self) -> dict[Symbol, int]:
        """The number of positions that a spectrum fills, half of its frames, as a size of the equations."""
        encoder, alone = self.model.architecture.encoder, self.model.architecture.decoder is None
        if encoder is None or not isinstance(encoder.stem, AudioStem) or encoder.embedding.positions is None:
            return {}
        return {n if alone else m: int(encoder.embedding.positions.xreplace(dict(self.model.values)))}

    def sizes_of(self, given: Mapping[str, Any]) -> dict[Symbol, int]:
        """Return the sizes that depend on the given sound or picture.

        They are the rows after the first and the last convolution of a sound, and the cells of a picture of any size.
        """
        stem = self._stem
        if isinstance(stem, Waveform):
            rows = rows_of_samples(np.shape(given["samples"])[-1], _windows(stem))
            return {frames: rows[0], n: rows[-1]}
        return self._cells_of(np.shape(given["patches"])) if self._cells is not None else {}

    @property
    def _stem(self) -> Patches | AudioStem | Waveform | None:
        """The stem of the tower or of the encoder, which turns pictures or sounds into rows."""
        tower = self.model.architecture.tower
        encoder = (self.model.architecture if tower is None else tower.architecture).encoder
        return None if encoder is None else encoder.stem

    @cached_property
    def _cells(self) -> Cells | None:
        """The cells of a tower that reads pictures of any size."""
        tower = self.model.architecture.tower
        projector = None if tower is None else tower.projector
        cells = None if projector is None else projector.cells
        return cells if cells is not None and isinstance(cells.columns, Symbol) else None

    def _cells_of(self, shape: tuple[int, ...]) -> dict[Symbol, int]:
        """Return the numbers of cells of pictures of a shape."""
        cells, stem, values = self._cells, self._stem, self.model.values
        assert cells is not None and isinstance(stem, Patches)
        side = values[of_pictures(stem.size)] * values[cells.side]
        if len(shape) < 3 or min(shape[-2:]) < side or any(length % side for length in shape[-2:]):
            raise InputError(
                f"{self.name}: height and width of pictures must be multiples of {side}, their shape is {shape}"
            )
        return {cells.rows: shape[-2] // side, cells.columns: shape[-1] // side}

    @property
    def ahead(self) -> str:
        """Which later positions are seen: none, those of a picture, or those of a prefix."""
        tower = self.model.architecture.tower
        return "none" if tower is None else tower.ahead

    def on_pictures(self, tokens: Any, sizes: Mapping[Symbol, int], prefix: int | None) -> dict[str, Any]:
        """Return the limits of what each position sees, or its positions on three axes, if the equations read them."""
        if self._cells is None and self.ahead == "none":
            return {}
        at = tokens >= self.model.values[self.model.architecture.vocab]
        if self._cells is not None:
            rows, columns = sizes[self._cells.rows], sizes[self._cells.columns]
            places = places_on_axes(self.name, at, rows, columns)
            return {name: each.astype(self.dtype) for name, each in zip(PLACES, places, strict=True)}
        if self.ahead == "picture":
            return {"last": last_seen(at)}
        length = tokens.shape[-1]
        seen = length if prefix is None else prefix
        if isinstance(seen, bool) or not isinstance(seen, int | np.integer) or not 0 <= seen <= length:
            raise InputError(f"{self.name}: prefix must be a number of the {length} positions, not {prefix!r}")
        own = np.arange(length)
        ends = {"last": np.maximum(own, seen - 1)}
        if self._window is not None:
            ends["first"] = np.where(own < seen, 0, np.maximum(own - self._window + 1, 0))
        return {name: np.broadcast_to(each, tokens.shape) for name, each in ends.items()}

    @cached_property
    def _window(self) -> int | None:
        """The width of the windows of the decoder, or None. All its windows have one width."""
        decoder = self.model.architecture.decoder
        windows = (block.window for block in (() if decoder is None else decoder.blocks) if block.window is not None)
        return next((int(window.xreplace(dict(self.model.values))) for window in windows), None)

    @cached_property
    def longest(self) -> dict[str, int]:
        """The most tokens that an input may have, where a table of positions bounds it."""
        encoder, decoder = self.model.architecture.encoder, self.model.architecture.decoder
        if encoder is not None and decoder is not None:
            sides: dict[str, Stack | None] = {"source": encoder, "target": decoder}
        else:
            sides = {"tokens": encoder or decoder}
        bounds = {}
        for name, stack in sides.items():
            if stack is not None and stack.embedding.positions is not None and not stack.embedding.sinusoidal:
                rows = stack.embedding.positions.xreplace(dict(self.model.values))
                bounds[name] = int(rows) - stack.embedding.first_position
        return bounds


def _windows(stem: Waveform) -> list[tuple[int, int]]:
    """Return width and stride of each convolution."""
    return [(width, stride) for _, width, stride in stem.convolutions]


def _told(array: Any) -> str:
    return f"an array of shape {array.shape} and type {array.dtype}"
