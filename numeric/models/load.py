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
    Model,
    Rotary,
    as_run,
)
from derivations.architectures.hugging_face import FAMILIES, read_config
from derivations.architectures.reading import read_json
from derivations.language.layers.layer import Layer
from derivations.positions.rotary_scaling import reach, same_reach
from numeric.codegen.compile import compile_layer
from numeric.codegen.formula_printer import CompileError
from numeric.models.checkpoints.reading import read_weights
from numeric.models.decoding import Decoder, Text
from numeric.models.model_inputs import DERIVED, ModelInputs
from numeric.models.padding import masks_of, on_real_tokens, real_tokens, written_behind
from numeric.optimize.prepare import Prepared, prepare
from numeric.runtime.checks import InputError
from numeric.runtime.structure import identifier, weight_tree

__all__ = ["LoadedModel", "load", "scores_in"]

SCORES = ("capped", "logits", "classifier_scores")  # the equations that compute scores: the first that there is
UNMASKED = "a mask beside a picture is not read; give texts without padding"


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
    """A model with the values of its weights.

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
        if self._inputs.compares:
            return scores[..., 0, 0]
        return scores[..., 0, :] if self.model.architecture.head.kind in ("classes", "pooled_classes") else scores

    def hidden(self, *tokens: Any, segments: Any = None, mask: Any = None, prefix: int | None = None) -> Any:
        """Return the output rows of the last layer, after the final norm if the model has it.

        Shapes       tokens, mask and prefix as for `logits` -> (..., n, d_model)
        Raises       InputError where the tokens or the mask do not fit
        """
        return self._until("Z", tokens, segments, mask, prefix)

    def pooled(self, *tokens: Any, segments: Any = None, mask: Any = None) -> Any:
        """Return the output of the pooler, one row for each input, before a projection in the head.

        Shapes       tokens and mask (..., n) -> (..., d_model)
        Raises       InputError where the tokens or the mask do not fit, or the model has no pooler
        """
        if "pooled" not in self.layer.shapes:
            raise InputError(f"{self.model.name} has no pooler: use hidden")
        return self._until("pooled", tokens, segments, mask)[..., 0, :]

    def embedded(self, *tokens: Any, mask: Any = None) -> Any:
        """Return the pooled row, projected to the width at which texts and pictures are compared.

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
        """Return the tokens that greedy decoding adds to a text, until an end token or `longest` tokens.

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
        sizes = {} if pictures is None else self._inputs.sizes_of({"patches": pictures})
        given = self._inputs.read(name, tokens, sizes)
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
            following_scores = partial(
                self._scores_beside, self._inputs.read("patches", pictures, sizes), sizes, before
            )
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
        """Return the scores of the token after a text, from all positions."""
        return self.logits(*source, text)[..., -1, :]

    def _scores_beside(self, patches: Any, sizes: Mapping[Symbol, int], before: int, text: Any) -> Any:
        """Return the scores of the token after a text with a picture, of which `before` tokens were given."""
        arrays = {"tokens": text, "patches": patches, **self._inputs.on_pictures(text, sizes, before)}
        return self._of_arrays(scores_in(self.layer) or "logits", arrays, sizes)[..., -1, :]

    def _ends(self, end: int | Sequence[int] | None) -> list[int]:
        return _several(self.special.get("eos_token_id") if end is None else end)

    def _filling(self, ends: Sequence[int]) -> int:
        """Return the token that pads a text after its end."""
        return [*_several(self.special.get("pad_token_id")), *ends, 0][0]

    def _scores_by_step(self, source: tuple[Any, ...], longest: int) -> Callable[[Any], Any]:
        """Return the function that scores the next token of a text, which grows from call to call."""
        name = "target" if source else "tokens"
        room = min(longest, self._inputs.longest.get(name, longest))
        kept: dict[int, Text] = {}  # by the length that selects frequencies: a cache serves one choice

        def following(text: Any) -> Any:
            if text.shape[-1] > room:
                self._inputs.tokens(name, text)  # raises the error about too few positions
            frequencies = same_reach(self._rules, text.shape[-1])
            if frequencies not in kept:
                kept.clear()
                kept[frequencies] = self._decoder.start(room, *source, sizes={reach.name: frequencies})
            here = kept[frequencies]
            return here.extend(text[..., here.length :])

        return following

    @cached_property
    def _decoder(self) -> Decoder:
        sizes = {size.name: value for size, value in {**self.model.values, **self._inputs.heard}.items()}
        return Decoder(self.layer.until(scores_in(self.layer) or "logits"), self.weights, sizes)

    def _forced(self, written: int, is_last: bool) -> list[int]:
        """Return the token that the configuration forces after `written` others, if any."""
        first = _several(self.special.get("forced_bos_token_id")) if written == 1 else []
        return (_several(self.special.get("forced_eos_token_id")) if is_last else []) or first

    # --- one run of the equations ---

    @cached_property
    def _inputs(self) -> ModelInputs:
        return ModelInputs(self.model, self.layer, self.config, self.dtype)

    def inputs(self, *tokens: Any, segments: Any = None, prefix: int | None = None) -> dict[str, Any]:
        """Return the arrays of the inputs of the equations by name, as a graph of this model takes them.

        Shapes       tokens, pictures, sounds, segments and prefix as for `logits`
        Raises       InputError where they do not fit
        """
        arrays, _ = self._inputs.arrays(tokens, segments, prefix)
        if "end" in (variable.name for variable in self.layer.inputs):
            arrays["end"] = self._inputs.end(arrays["tokens"], needed=True)
        return arrays

    def _until(
        self, name: str, tokens: Sequence[Any], segments: Any, mask: Any = None, prefix: int | None = None
    ) -> Any:
        """Return the value of an equation of the layer; rows at padding are 0."""
        arrays, sizes = self._inputs.arrays(tokens, segments, prefix)
        if mask is None:
            return self._of_arrays(name, arrays, sizes)
        if self.model.architecture.tower is not None:
            raise InputError(f"{self.model.name}: {UNMASKED}")
        if "samples" in arrays:
            raise InputError(f"{self.model.name}: a mask of samples is not read; give sounds without padding")
        real = masks_of(self.model.name, mask, {each: arrays[each] for each in arrays if each not in DERIVED})
        of_one_row = self.layer.shapes[name][0] == 1
        return on_real_tokens(partial(self._of_arrays, name), arrays, real, of_one_row=of_one_row)

    def _of_arrays(self, name: str, arrays: Mapping[str, Any], own: Mapping[Symbol, int] | None = None) -> Any:
        """Return the value of an equation. `own` gives sizes of the inputs, which replace those of the model."""
        names = [variable.name for variable in self.layer.inputs]
        asked = [each for each in names if each not in DERIVED]
        if "end" in names:
            arrays = {**arrays, "end": self._inputs.end(arrays["tokens"], needed=name != "Z")}
        frequencies = same_reach(self._rules, arrays[asked[0]].shape[-1])
        prepared = None if own else self._prepared(name, frequencies)
        if prepared is not None:
            return prepared(*(arrays[each] for each in names))
        compiled = compile_layer(self.layer.until(name))
        tree = weight_tree(compiled.layer)
        named: dict[str, Any] = {each: self.weights[each] for each in (*tree.parameters, *tree.parts)}
        sizes = {**self.model.values, **self._inputs.heard, **(own or {}), reach: frequencies}
        named |= {identifier(size.name): sizes[size] for size in compiled.sizes}
        return compiled(*(arrays[each] for each in names), **named)

    @cached_property
    def _rules(self) -> list[Mapping[str, Any]]:
        """The rules that change rotary frequencies."""
        return list(_scalings(self.model))

    def _prepared(self, name: str, frequencies: int) -> Prepared | None:
        """Return the layer up to an equation as fast code with its weights, or None if that fails or does not pay.

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
            given = {**self.model.values, **self._inputs.heard, reach: frequencies}
            sizes = {size.name: int(value) for size, value in given.items() if size.name in own}
            try:
                # a model keeps its weights once, not packed as well: they are what fills the memory
                self._made[name, frequencies] = prepare(layer, weights, sizes=sizes, without=["packed_weights"])
            except CompileError:
                self._made[name, frequencies] = None
        return self._made[name, frequencies]

    def _start(self, start: int | None) -> int:
        chosen = (start, self.special.get("decoder_start_token_id"), self.special.get("bos_token_id"))
        found = next((token for token in chosen if token is not None), None)
        if found is None:
            raise InputError(f"{self.model.name}: the configuration has no decoder_start_token_id: give start=")
        return int(found)


def _several(tokens: Any) -> list[int]:
    """Return a list of tokens, given one token, several or None."""
    if tokens is None:
        return []
    return [int(each) for each in tokens] if isinstance(tokens, Sequence) else [int(tokens)]


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
