"""A checkpoint as a model that runs: its configuration as equations, compiled, with its tensors as the weights.

Definition   load(folder) reads `config.json` and the safetensors files beside it; the head computes logits from the
             last rows of the layer that `derivations.architectures` builds
Shapes       tokens (..., n), or source (..., m) and target (..., n); logits (..., n, vocab); in place of tokens or of
             the source, pictures (..., channels, height, width), spectra (..., mel, frames) or sounds (..., samples)
Assumes      every token is real unless a mask says otherwise (`numeric.models.padding`); causal and window masks are
             part of the equations
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sympy import Symbol

from derivations.architectures.composition import build
from derivations.architectures.description import (
    AudioStem,
    Cells,
    Model,
    Patches,
    Rotary,
    Stack,
    Waveform,
    as_run,
    frames,
    of_pictures,
)
from derivations.architectures.hugging_face import FAMILIES, read_config
from derivations.architectures.reading import read_json
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Layer
from derivations.positions.rotary_scaling import reach, same_reach
from derivations.symbols import m, n
from numeric.codegen.compile import compile_layer
from numeric.codegen.formula_printer import CompileError
from numeric.models.checkpoints.reading import read_weights
from numeric.models.decoding import Decoder, Text
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
from numeric.models.padding import masks_of, on_real_tokens, real_tokens, written_behind
from numeric.optimize.prepare import Prepared, prepare
from numeric.runtime.checks import InputError
from numeric.runtime.structure import identifier, weight_tree

__all__ = ["LoadedModel", "load", "scores_in"]

SCORES = ("capped", "logits", "classifier_scores")  # the equations that compute scores: the first that there is
UNMASKED = "a mask beside a picture is not read; give texts without padding"
PLACES = ("p_0", "p_1", "p_2")  # of tokens on the axes of time, height and width
DERIVED = ("segments", "end", "last", "first", *PLACES)  # inputs that the tokens tell


def scores_in(layer: Layer) -> str | None:
    """Return the name of the equation that computes the scores of a model, or None if it has none."""
    return next((name for name in SCORES if name in layer.shapes), None)


def load(folder: str | Path, dtype: DTypeLike = np.float32, *, ignore: Sequence[str] = ()) -> "LoadedModel":
    """Return the model of a folder with `config.json` and safetensors, computing in float32 or float64.

    Assumes      the fields of the configuration named in `ignore` have no effect
    Raises       ConfigError where the configuration is not understood, InputError where the tensors do not fit it
    """
    folder, number_type = Path(folder), np.dtype(dtype)
    if number_type not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputError(f"load: the dtype must be float32 or float64, not {number_type}")
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: give one with config.json and model.safetensors")
    config = read_json(folder / "config.json")
    model = read_config(folder / "config.json", ignore=tuple(ignore))
    family = FAMILIES[str(config["model_type"])]  # it was read
    if model.names is None or not family.runs:
        raise InputError(
            f"{folder}: weights of the model_type {config['model_type']!r:.80} are not read, "
            f"only those of {', '.join(kind for kind, each in FAMILIES.items() if each.runs)}"
        )
    _check_positions(folder, model)
    layer = build(as_run(model.architecture))
    weights = read_weights(folder, layer, model.values, model.names, number_type)
    return LoadedModel(model, config, _generation(folder, config), layer, weights, number_type)


@dataclass(frozen=True)
class LoadedModel:
    """A model with the numbers of its weights.

    `config` is the content of `config.json`, `special` the tokens that begin, end or pad texts; `layer` the equations.
    """

    model: Model
    config: Mapping[str, Any]
    special: Mapping[str, Any]
    layer: Layer
    weights: Mapping[str, Any]
    dtype: np.dtype[Any]
    _made: dict[tuple[str, int], Prepared | None] = field(
        default_factory=dict, repr=False, compare=False
    )  # by equation

    def __repr__(self) -> str:
        """Return name and number type."""
        return f"<{self.model.name}, {self.dtype}>"

    def logits(self, *tokens: Any, segments: Any = None, mask: Any = None, prefix: int | None = None) -> Any:
        """Return the scores of all tokens after, or at, each position; for a classifier, the scores of all classes.

        Definition   with a `mask` of the real tokens, a text has the scores that it has without its padding; the scores
                     at padding are 0. A model that compares texts with pictures has one score for a pair of them; their
                     batch axes are broadcast
        Shapes       tokens (..., n), or source (..., m) and target (..., n) -> (..., n, vocab); segments (..., n); mask
                     as the tokens, or a pair for source and target, with None where all tokens are real
        Raises       InputError where the tokens or the mask do not fit, or the model has no such head
        """
        name = scores_in(self.layer)
        if name is None:
            raise InputError(f"{self.model.name} has no head that scores tokens or classes: use hidden or pooled")
        scores = self._until(name, tokens, segments, mask, prefix)
        if self._compares:
            return scores[..., 0, 0]
        return scores[..., 0, :] if self.model.architecture.head.kind in ("classes", "pooled_classes") else scores

    def hidden(self, *tokens: Any, segments: Any = None, mask: Any = None, prefix: int | None = None) -> Any:
        """Return the output rows of the last layer, after the final norm if the model has it.

        Shapes       tokens, mask and prefix as for `logits` -> (..., n, d_model)
        Raises       InputError where the tokens or the mask do not fit
        """
        return self._until("Z", tokens, segments, mask, prefix)

    def pooled(self, *tokens: Any, segments: Any = None, mask: Any = None) -> Any:
        """Return the output of the pooler: for the first row or that of the head, before a matrix of the head.

        Shapes       tokens and mask (..., n) -> (..., d_model)
        Raises       InputError where the tokens or the mask do not fit, or the model has no pooler
        """
        if "pooled" not in self.layer.shapes:
            raise InputError(f"{self.model.name} has no pooler: use hidden")
        return self._until("pooled", tokens, segments, mask)[..., 0, :]

    def embedded(self, *tokens: Any, mask: Any = None) -> Any:
        """Return the pooled row with as many columns as those of texts and pictures have that are compared.

        Shapes       tokens and mask (..., n) -> (..., columns of the head)
        Raises       InputError where the tokens or the mask do not fit, or the model has no such matrix
        """
        if "embedded" not in self.layer.shapes:
            raise InputError(f"{self.model.name} has no matrix for the pooled row: use pooled")
        return self._until("embedded", tokens, None, mask)[..., 0, :]

    def generate(
        self,
        tokens: Any,
        longest: int,
        *,
        end: int | Sequence[int] | None = None,
        start: int | None = None,
        cached: bool = True,
        mask: Any = None,
        pictures: Any = None,
    ) -> Any:
        """Return the highest-scored token after those before it, repeatedly, until an end token or `longest`.

        Definition   greedy: no sampling; after its end token a text is padded with the configuration's padding token; a
                     step computes the new position from the cache, or all positions unless `cached`, where a layer
                     has a recurrence, or beside `pictures`, one of which each text has, if the model reads any; with a
                     `mask` of the real tokens, a text continues as without its padding
        Shapes       tokens, or the source of an encoder-decoder, (..., n), and mask -> new tokens (..., at most
                     longest)
        Assumes      by default `end` and `start` are those of the configuration, and `end=()` means no end token; its
                     forced first and last tokens are used, its other settings for generation are ignored
        Raises       InputError where tokens do not fit, or the model scores no following tokens
        """
        architecture = self.model.architecture
        if architecture.decoder is None or not architecture.head.scores_tokens:
            raise InputError(f"{self.model.name} does not score following tokens: it generates nothing")
        if (architecture.tower is None) != (pictures is None):
            raise InputError(
                f"{self.model.name} reads {'no pictures' if pictures is not None else 'a picture as well'}"
            )
        if isinstance(longest, bool) or not isinstance(longest, int | np.integer) or longest < 0:
            raise InputError(f"{self.model.name}: longest must be an integer >= 0, not {longest!r}")
        name = self.layer.inputs[0].name
        beside = {} if pictures is None else {"patches": pictures}
        sizes = self._sizes_of(beside) if beside else {}
        given = self._read(name, tokens, sizes)
        batch = given.shape[: -2 if name == "frames" else -1]
        if mask is not None and pictures is not None:
            raise InputError(f"{self.model.name}: {UNMASKED}")
        if mask is not None:
            return written_behind(
                partial(self.generate, longest=longest, end=end, start=start, cached=cached),
                given,
                real_tokens(self.model.name, mask, given),
                self._filling(self._ends(end)),
            )
        source = () if architecture.encoder is None else (given,)
        text = np.full((*batch, 1), self._start(start)) if source else given
        ends, before = self._ends(end), text.shape[-1]
        padding = self._filling(ends)
        following_scores: Callable[[Any], Any]
        if pictures is not None:
            following_scores = partial(self._scores_beside, self._read("patches", pictures, sizes), sizes, before)
        elif cached and not any(block.recurrent for block in architecture.decoder.blocks):
            following_scores = self._scores_by_step(source, before + int(longest))
        else:
            following_scores = partial(self._scores_of_all, [tokens] if source else [])
        for place in range(longest):
            following = following_scores(text).argmax(axis=-1)
            if forced := self._forced(text.shape[-1], place == longest - 1):
                following = np.full_like(following, forced[0])
            following = np.where(np.isin(text[..., before:], ends).any(axis=-1), padding, following)
            text = np.concatenate([text, following[..., None]], axis=-1)
            if np.isin(text[..., before:], ends).any(axis=-1).all():
                break
        return text[..., before:]

    def _scores_of_all(self, source: list[Any], text: Any) -> Any:
        """Return the scores of the token behind a text, from all positions."""
        return self.logits(*source, text)[..., -1, :]

    def _scores_beside(self, patches: Any, sizes: Mapping[Symbol, int], before: int, text: Any) -> Any:
        """Return the scores of the token behind a text with a picture, of which `before` tokens were given."""
        prefix = before if self._ahead == "prefix" else None
        arrays = {"tokens": text, "patches": patches, **self._on_pictures(text, sizes, prefix)}
        return self._of_arrays(scores_in(self.layer) or "logits", arrays, sizes)[..., -1, :]

    def _ends(self, end: int | Sequence[int] | None) -> list[int]:
        return _several(self.special.get("eos_token_id") if end is None else end)

    def _filling(self, ends: Sequence[int]) -> int:
        """Return the token that pads a text after its end."""
        return [*_several(self.special.get("pad_token_id")), *ends, 0][0]

    def _scores_by_step(self, source: tuple[Any, ...], longest: int) -> Callable[[Any], Any]:
        """Return the function that scores the next token of a text, which grows from call to call."""
        name = "target" if source else "tokens"
        room = min(longest, self._longest.get(name, longest))
        kept: dict[int, Text] = {}  # by the length that selects frequencies: a cache serves one choice

        def following(text: Any) -> Any:
            if text.shape[-1] > room:
                self._tokens(name, text)  # raises the error about too few positions
            frequencies = same_reach(self._rules, text.shape[-1])
            if frequencies not in kept:
                kept.clear()
                kept[frequencies] = self._decoder.start(room, *source, sizes={reach.name: frequencies})
            here = kept[frequencies]
            return here.extend(text[..., here.length :])

        return following

    @cached_property
    def _decoder(self) -> Decoder:
        sizes = {size.name: value for size, value in {**self.model.values, **self._heard}.items()}
        return Decoder(self.layer.until(scores_in(self.layer) or "logits"), self.weights, sizes)

    def _forced(self, written: int, is_last: bool) -> list[int]:
        """Return the token that the configuration forces after `written` others, if any."""
        first = _several(self.special.get("forced_bos_token_id")) if written == 1 else []
        return (_several(self.special.get("forced_eos_token_id")) if is_last else []) or first

    # --- one run of the equations ---

    def inputs(self, *tokens: Any, segments: Any = None, prefix: int | None = None) -> dict[str, Any]:
        """Return the arrays of the inputs of the equations by name, as a graph of this model takes them.

        Shapes       tokens, pictures, sounds, segments and prefix as for `logits`
        Raises       InputError where they do not fit
        """
        arrays, _ = self._given(tokens, segments, prefix)
        if "end" in (variable.name for variable in self.layer.inputs):
            arrays["end"] = self._end(arrays["tokens"], needed=True)
        return arrays

    def _until(
        self, name: str, tokens: Sequence[Any], segments: Any, mask: Any = None, prefix: int | None = None
    ) -> Any:
        """Return the value of an equation of the layer; rows at padding are 0."""
        arrays, sizes = self._given(tokens, segments, prefix)
        if mask is None:
            return self._of_arrays(name, arrays, sizes)
        if self.model.architecture.tower is not None:
            raise InputError(f"{self.model.name}: {UNMASKED}")
        if "samples" in arrays:
            raise InputError(f"{self.model.name}: a mask of samples is not read; give sounds without padding")
        real = masks_of(self.model.name, mask, {each: arrays[each] for each in arrays if each not in DERIVED})
        of_one_row = self.layer.shapes[name][0] == 1
        return on_real_tokens(partial(self._of_arrays, name), arrays, real, of_one_row=of_one_row)

    def _given(
        self, tokens: Sequence[Any], segments: Any, prefix: int | None
    ) -> tuple[dict[str, Any], dict[Symbol, int]]:
        """Return the arrays of the inputs, but the place of the end, and the sizes of what is read."""
        names = [variable.name for variable in self.layer.inputs]
        asked = [each for each in names if each not in DERIVED]
        if len(tokens) != len(asked):
            raise InputError(f"{self.model.name} takes {' and '.join(asked)}, {len(tokens)} arrays were given")
        given = dict(zip(asked, tokens, strict=True))
        sizes = self._sizes_of(given)
        arrays = {each: self._read(each, array, sizes) for each, array in given.items()}
        if "segments" in names:
            arrays["segments"] = np.zeros_like(arrays[asked[0]]) if segments is None else np.asarray(segments)
        elif segments is not None:
            raise InputError(f"{self.model.name} has no segments")
        if prefix is not None and self._ahead != "prefix":
            raise InputError(f"{self.model.name} has no prefix, whose positions see one another")
        beside = self._on_pictures(arrays.get("tokens"), sizes, prefix)
        return arrays | {each: array for each, array in beside.items() if each in names}, sizes

    def _of_arrays(self, name: str, arrays: Mapping[str, Any], own: Mapping[Symbol, int] | None = None) -> Any:
        """Return the value of an equation; `own` are sizes of what is read, in the place of the model's."""
        names = [variable.name for variable in self.layer.inputs]
        asked = [each for each in names if each not in DERIVED]
        if "end" in names:
            arrays = {**arrays, "end": self._end(arrays["tokens"], needed=name != "Z")}
        frequencies = same_reach(self._rules, arrays[asked[0]].shape[-1])
        prepared = None if own else self._prepared(name, frequencies)
        if prepared is not None:
            return prepared(*(arrays[each] for each in names))
        compiled = compile_layer(self.layer.until(name))
        tree = weight_tree(compiled.layer)
        named: dict[str, Any] = {each: self.weights[each] for each in (*tree.parameters, *tree.parts)}
        sizes = {**self.model.values, **self._heard, **(own or {}), reach: frequencies}
        named |= {identifier(size.name): sizes[size] for size in compiled.sizes}
        return compiled(*(arrays[each] for each in names), **named)

    def _read(self, name: str, given: Any, own: Mapping[Symbol, int] | None = None) -> Any:
        """Return an input as the array of the equations; `own` are sizes of what is read."""
        architecture, values = self.model.architecture, {**self.model.values, **(own or {})}
        tower = architecture.tower
        encoder = architecture.encoder if tower is None else tower.architecture.encoder
        stem = None if encoder is None else encoder.stem
        if name == "patches" and isinstance(stem, Patches):
            sizes = (stem.channels, stem.size, stem.count)
            if tower is not None:
                sizes = tuple(each.xreplace({s: of_pictures(s) for s in each.free_symbols}) for each in sizes)
            channels, patch, count = (int(each.xreplace(values)) for each in sizes)
            return patches_of(self.model.name, given, channels, patch, count, self.dtype, stem.frames)
        if name == "frames" and isinstance(stem, AudioStem):
            mel = int(stem.mel.xreplace(values))
            return frames_of(self.model.name, given, mel, 2 * next(iter(self._heard.values())), self.dtype)
        if name == "samples" and isinstance(stem, Waveform):
            return samples_of(self.model.name, given, _windows(stem), stem.over_time, self.dtype)
        return self._tokens(name, given) if tower is None or self._compares else self._with_rows(name, given, values)

    @property
    def _compares(self) -> bool:
        """Whether a text and a picture have a score together."""
        tower = self.model.architecture.tower
        return tower is not None and tower.compared is not None

    def _end(self, tokens: Any, *, needed: bool) -> Any:
        """Return the place of the token that ends a text; that of the first token where it is not needed."""
        if not needed:
            return np.zeros((*tokens.shape[:-1], 1), int)
        return place_of_end(self.model.name, tokens, self.model.architecture.head.end)

    def _with_rows(self, name: str, given: Any, values: Mapping[Symbol, int]) -> Any:
        """Return tokens, of which those that stand for a picture are the numbers of its rows behind the vocabulary."""
        place = self.config.get("image_token_index", self.config.get("image_token_id"))
        if type(place) is not int:
            raise InputError(f"{self.model.name}: the configuration names no token that stands for a row of a picture")
        array = np.asarray(given)
        self._tokens(name, np.where(array == place, 0, array))
        count = int(total(self.layer.shapes["V"][0]).xreplace(dict(values)))
        return places_of_rows(self.model.name, array, place, values[self.model.architecture.vocab], count)

    def _tokens(self, name: str, tokens: Any) -> Any:
        array = np.asarray(tokens)
        if array.ndim < 1 or not np.issubdtype(array.dtype, np.integer) or array.shape[-1] < 1:
            raise InputError(f"{self.model.name}: {name} must be at least one whole number, not {_told(array)}")
        size = self.model.values[self.model.architecture.vocab]
        outside = array[(array < 0) | (array >= size)]
        if outside.size:
            raise InputError(f"{self.model.name}: {name} holds {outside.flat[0]}; {size} tokens count from 0")
        if (most := self._longest.get(name)) is not None and array.shape[-1] > most:
            raise InputError(f"{self.model.name}: {name} has {array.shape[-1]} places, there are {most} positions")
        return array

    @cached_property
    def _heard(self) -> dict[Symbol, int]:
        """The positions of sounds, which every spectrum fills: half of its frames."""
        encoder, alone = self.model.architecture.encoder, self.model.architecture.decoder is None
        if encoder is None or not isinstance(encoder.stem, AudioStem) or encoder.embedding.positions is None:
            return {}
        return {n if alone else m: int(encoder.embedding.positions.xreplace(dict(self.model.values)))}

    def _sizes_of(self, given: Mapping[str, Any]) -> dict[Symbol, int]:
        """Return sizes that differ from one sound or picture to the next.

        They are the rows behind the first and the last convolution of a sound, and the cells of a picture of any size.
        """
        encoder = self.model.architecture.encoder
        if encoder is not None and isinstance(encoder.stem, Waveform):
            rows = rows_of_samples(np.shape(given["samples"])[-1], _windows(encoder.stem))
            return {frames: rows[0], n: rows[-1]}
        return self._cells_of(np.shape(given["patches"])) if self._cells is not None else {}

    @cached_property
    def _cells(self) -> Cells | None:
        """The cells of a tower that reads pictures of any size."""
        tower = self.model.architecture.tower
        projector = None if tower is None else tower.projector
        cells = None if projector is None else projector.cells
        return cells if cells is not None and isinstance(cells.columns, Symbol) else None

    def _cells_of(self, shape: tuple[int, ...]) -> dict[Symbol, int]:
        """Return the numbers of cells of pictures of a shape."""
        cells, values, tower = self._cells, self.model.values, self.model.architecture.tower
        assert cells is not None and tower is not None and tower.architecture.encoder is not None
        stem = tower.architecture.encoder.stem
        assert isinstance(stem, Patches)
        side = values[of_pictures(stem.size)] * values[cells.side]
        if len(shape) < 3 or min(shape[-2:]) < side or any(length % side for length in shape[-2:]):
            raise InputError(
                f"{self.model.name}: height and width of pictures must be multiples of {side}, their shape is {shape}"
            )
        return {cells.rows: shape[-2] // side, cells.columns: shape[-1] // side}

    @property
    def _ahead(self) -> str:
        """Which later positions are seen: none, those of a picture, or those of a prefix."""
        tower = self.model.architecture.tower
        return "none" if tower is None else tower.ahead

    def _on_pictures(self, tokens: Any, sizes: Mapping[Symbol, int], prefix: int | None) -> dict[str, Any]:
        """Return the last position that each position sees, or its places on three axes, where the model reads them."""
        if self._cells is None and self._ahead == "none":
            return {}
        at = tokens >= self.model.values[self.model.architecture.vocab]
        if self._cells is not None:
            rows, columns = sizes[self._cells.rows], sizes[self._cells.columns]
            places = places_on_axes(self.model.name, at, rows, columns)
            return {name: each.astype(self.dtype) for name, each in zip(PLACES, places, strict=True)}
        if self._ahead == "picture":
            return {"last": last_seen(at)}
        length = tokens.shape[-1]
        seen = length if prefix is None else prefix
        if isinstance(seen, bool) or not isinstance(seen, int | np.integer) or not 0 <= seen <= length:
            raise InputError(f"{self.model.name}: prefix must be a number of the {length} positions, not {prefix!r}")
        own = np.arange(length)
        first = np.where(own < seen, 0, np.maximum(own - self._window + 1, 0))
        ends = {"last": np.maximum(own, seen - 1), "first": first}
        return {name: np.broadcast_to(each, tokens.shape) for name, each in ends.items()}

    @property
    def _window(self) -> int:
        """The width of the windows of the decoder, of which there is one; 1 if there is none."""
        decoder = self.model.architecture.decoder
        assert decoder is not None
        windows = (block.window for block in decoder.blocks if block.window is not None)
        return next((int(window.xreplace(dict(self.model.values))) for window in windows), 1)

    @cached_property
    def _rules(self) -> list[Mapping[str, Any]]:
        """The rules that change rotary frequencies."""
        return list(_scalings(self.model))

    def _prepared(self, name: str, frequencies: int) -> Prepared | None:
        """Return the compiled layer up to an equation, optimised, or None without a form in tiles.

        `frequencies` is the length of texts for which rotary frequencies are chosen. Where every length has its own
        frequencies, or its own numbers of rows, preparing costs more than it saves.
        """
        if "samples" in (variable.name for variable in self.layer.inputs):
            return None
        if frequencies > 1 and any(rule["rope_type"] == "dynamic" for rule in self._rules):
            return None
        if (name, frequencies) not in self._made:
            layer = self.layer.until(name)
            tree = weight_tree(layer)
            weights = {each: self.weights[each] for each in (*tree.parameters, *tree.parts)}
            own = {size.name for size in layer.sizes}  # the configuration may give a window that no layer uses
            given = {**self.model.values, **self._heard, reach: frequencies}
            sizes = {size.name: int(value) for size, value in given.items() if size.name in own}
            try:
                # a model keeps its weights once, not packed as well: they are what fills the memory
                self._made[name, frequencies] = prepare(layer, weights, sizes=sizes, without=["packed_weights"])
            except CompileError:
                self._made[name, frequencies] = None
        return self._made[name, frequencies]

    @cached_property
    def _longest(self) -> dict[str, int]:
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

    def _start(self, start: int | None) -> int:
        chosen = (start, self.special.get("decoder_start_token_id"), self.special.get("bos_token_id"))
        found = next((token for token in chosen if token is not None), None)
        if found is None:
            raise InputError(f"{self.model.name}: the configuration has no decoder_start_token_id: give start=")
        return int(found)


def _windows(stem: Waveform) -> list[tuple[int, int]]:
    """Return width and stride of each convolution."""
    return [(width, stride) for _, width, stride in stem.convolutions]


def _several(tokens: Any) -> list[int]:
    """Return a list of tokens, given one token, several or None."""
    if tokens is None:
        return []
    return [int(each) for each in tokens] if isinstance(tokens, Sequence) else [int(tokens)]


def _told(array: Any) -> str:
    return f"an array of shape {array.shape} and type {array.dtype}"


def _generation(folder: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the special tokens for generation: from their own file if it exists, else from the configuration."""
    file = folder / "generation_config.json"
    told = {name: value for name, value in (read_json(file) if file.exists() else config).items() if "token_id" in name}
    for name, value in told.items():
        if any(type(each) is not int for each in (value if isinstance(value, list) else [value]) if value is not None):
            raise InputError(f"{folder}: {name} must be a whole number or a list of them, not {value!r:.80}")
    return told


def _scalings(model: Model) -> Iterator[Mapping[str, Any]]:
    """Yield the rules that change the rotary frequencies of a model, each once."""
    stacks = (stack for stack in (model.architecture.encoder, model.architecture.decoder) if stack is not None)
    attentions = (block.attention for stack in stacks for block in stack.blocks)
    positions = dict.fromkeys(each.positions for each in attentions if each is not None)
    yield from (dict(each.scaling) for each in positions if isinstance(each, Rotary) and each.scaling)


def _check_positions(folder: Path, model: Model) -> None:
    """Refuse rotary frequencies that need a missing number: logits without it would be wrong."""
    for rule in _scalings(model):
        if "lacks" in rule:
            raise InputError(
                f"{folder}: {rule['lacks']} is missing; rotary positions of the type {rule['rope_type']!r} need it"
            )
