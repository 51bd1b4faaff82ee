"""Decoding with a cache against computing everything again: families of models, prompts in pieces, batches, ends."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from sympy import Rational

from derivations.architectures.composition import build
from derivations.architectures.description import Norm, Rotary
from derivations.architectures.models import named_model
from derivations.language.decoding.decoding import next_positions
from derivations.positions.position_bias import alibi_attention
from derivations.symbols import size
from numeric import InputError, Transformer
from numeric.codegen.compile import compile_layer
from numeric.models.decoding import Decoder
from numeric.models.load import LoadedModel
from numeric.models.pieces import runs
from numeric.models.weights import initialise
from numeric.runtime.structure import identifier
from tests.tiers import few

VOCAB = 11
SIZES = {"d_model": 12, "h": 3, "d_k": 4, "d_v": 4, "d_ff": 7, "positions": 17, "N": 2, "vocab": VOCAB, "d_rotary": 2}
SIZES |= {"r": 3, "g": 2, "d_embedding": 5, "buckets": 6, "window": 3, "d_expert": 7}
SIZES |= {"h_encoder": 3, "d_k_encoder": 4, "d_v_encoder": 4, "d_ff_encoder": 7, "N_encoder": 2, "mel": 3}
SIZES |= {"h_decoder": 2, "d_k_decoder": 6, "d_v_decoder": 6, "d_ff_decoder": 5, "N_decoder": 3, "d_shared": 3}
SIZES |= {"N_periods": 2, "N_1": 1, "N_2": 2, "key_value_rank": 5, "query_rank": 7, "N_dense": 1, "N_experts": 2}
SIZES |= {"source_positions": 13, "experts": 6, "chosen": 2, "expert_groups": 3, "kept_groups": 2}
SLOW = ("gemma-3-1b", "gemma-2-2b", "deepseek-v3", "whisper-tiny", "bart-base", "mixtral-8x7b", "qwen3-30b-a3b")
FAMILIES = (
    *("gpt2", "gpt-j-6b", "pythia-70m", "opt-125m", "opt-350m", "bloom-560m", "falcon-7b", "falcon-40b", "t5-small"),
    *("bart-base", "llama-2-70b", "llama-3-8b", "mistral-7b", "mixtral-8x7b", "qwen2.5-0.5b", "qwen3-0.6b"),
    *("qwen3-30b-a3b", "gemma-2-2b", "gemma-3-1b", "phi-3-mini", "deepseek-v3", "transformer-base", "whisper-tiny"),
)
EACH = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in FAMILIES]


def randomised(weights: Any, rng: Any, name: str = "") -> Any:
    """Return weights of the same shapes with normal entries, so that all of them matter and tokens vary."""
    if isinstance(weights, dict):
        return {inner: randomised(value, rng, inner) for inner, value in weights.items()}
    if isinstance(weights, list):
        return [randomised(value, rng) for value in weights]
    noise = rng.normal(size=weights.shape)
    if name == "gamma":
        return 1 + 0.5 * noise
    return 0.1 * noise if weights.ndim == 1 or name.startswith("b_") else noise


@lru_cache
def small(name: str) -> LoadedModel:
    """Return a model of a family at small sizes with random weights in float64."""
    model = named_model(name)
    model = replace(model, values={s: SIZES[s.name] for s in model.values})
    layer = build(model.architecture)
    sizes = {s.name: SIZES[s.name] for s in layer.sizes if s.name in SIZES}
    weights = randomised(initialise(layer, sizes, 0, np.float64), np.random.default_rng(0))
    return LoadedModel(model, {}, {}, layer, weights, np.dtype(np.float64))


def scored(name: str) -> tuple[Any, Any, dict[str, int]]:
    """Return the layer of a model up to its scores, its weights and its sizes."""
    model = small(name)
    layer = model.layer.until("logits" if model.model.architecture.head.soft_cap is None else "capped")
    return layer, model.weights, {s.name: value for s, value in model.model.values.items()}


def given(layer: Any, batch: tuple[int, ...], n: int) -> tuple[tuple[Any, ...], Any]:
    """Return what is no text, if anything, and a text."""
    rng = np.random.default_rng(1)
    text = rng.integers(VOCAB, size=(*batch, n))
    if len(layer.inputs) == 1:
        return (), text
    frames = layer.inputs[0].kind == "real"
    return (rng.normal(size=(*batch, 10, 3)) if frames else rng.integers(VOCAB, size=(*batch, 5)),), text


def recomputed(layer: Any, weights: Any, sizes: dict[str, int], *arrays: Any) -> Any:
    compiled = compile_layer(layer)
    asked = {identifier(s.name): {"m": 5, **sizes}[s.name] for s in compiled.sizes}
    return compiled(*arrays, **weights, **asked)


# --- every family ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", few(EACH, fast=1))
def test_every_step_is_what_computing_everything_again_gives(name: str) -> None:
    assert_every_step_agrees(*scored(name))


def assert_every_step_agrees(layer: Any, weights: Any, sizes: dict[str, int]) -> None:
    source, text = given(layer, (2,), 9)
    expected = recomputed(layer, weights, sizes, *source, text)
    assert abs(expected).max() > 0.5
    kept = Decoder(layer, weights, {"m": 5, **sizes}).start(9, *source)
    np.testing.assert_allclose(kept.extend(text[:, :4], every=True), expected[:, :4], rtol=0, atol=1e-12)
    for place in range(4, 7):
        step = kept.extend(text[:, place : place + 1])
        np.testing.assert_allclose(step, expected[:, place], rtol=0, atol=1e-12)
    np.testing.assert_allclose(kept.extend(text[:, 7:]), expected[:, -1], rtol=0, atol=1e-12)  # two more at once


@pytest.mark.parametrize(
    "changes",
    [
        {"positions": Rotary(columns=size("d_rotary"))},
        {"norm": Norm("rms"), "norm_over_all": True},
        {"clip": Rational(1, 2)},
    ],
    ids=["some columns are turned", "a norm over all queries", "clipped"],
)
def test_groups_of_queries_in_other_forms(changes: dict[str, Any]) -> None:
    """Their weights have no axis d_k, or what a group is given is no member of a family."""
    architecture = named_model("llama-3-8b").architecture
    (run,) = architecture.decoder.runs
    (block,) = run.blocks
    changed = replace(run, blocks=(replace(block, attention=replace(block.attention, **changes)),))
    stack = replace(architecture.decoder, runs=(changed,))
    layer = build(replace(architecture, decoder=stack)).until("logits")
    sizes = {s.name: SIZES[s.name] for s in layer.sizes if s.name in SIZES}
    weights = randomised(initialise(layer, sizes, 0, np.float64), np.random.default_rng(0))
    assert_every_step_agrees(layer, weights, sizes)


@pytest.mark.parametrize("name", ["gpt2", "t5-small", "llama-2-70b"])
def test_the_last_row_alone_of_a_prompt(name: str) -> None:
    layer, weights, sizes = scored(name)
    source, text = given(layer, (), 5)
    expected = recomputed(layer, weights, sizes, *source, text)
    actual = Decoder(layer, weights, sizes).start(5, *source).extend(text)
    assert actual.shape == (VOCAB,)
    np.testing.assert_allclose(actual, expected[-1], rtol=0, atol=1e-12)


def test_batches_of_more_axes_and_single_precision() -> None:
    layer, weights, sizes = scored("gpt2")
    single = as_float32(weights)
    _, text = given(layer, (2, 3), 7)
    expected = recomputed(layer, single, sizes, text)
    kept = Decoder(layer, single, sizes).start(7)
    first, last = kept.extend(text[..., :6]), kept.extend(text[..., 6:])
    assert first.dtype == last.dtype == np.float32
    np.testing.assert_allclose(first, expected[..., 5, :], rtol=0, atol=1e-4)
    np.testing.assert_allclose(last, expected[..., 6, :], rtol=0, atol=1e-4)


def as_float32(weights: Any) -> Any:
    if isinstance(weights, dict):
        return {name: as_float32(value) for name, value in weights.items()}
    return [as_float32(each) for each in weights] if isinstance(weights, list) else weights.astype(np.float32)


def test_attention_by_itself() -> None:
    """A layer that is no model: its own inputs are what is kept."""
    rng = np.random.default_rng(2)
    Q, K, V = (rng.normal(size=(7, width)) for width in (3, 3, 5))
    expected = compile_layer(alibi_attention())(Q, K, V, slope=0.25)
    layer = next_positions(alibi_attention()).layer
    compiled = compile_layer(layer)
    past = {"K_cache": K[:4], "V_cache": V[:4]}
    arrays = [{"Q": Q[4:], "K": K[4:], "V": V[4:], **past}[v.name] for v in layer.inputs]
    output, *new = compiled.function(*arrays, **{identifier(s.name): 7 for s in compiled.sizes}, slope=0.25)
    np.testing.assert_allclose(output, expected[4:], rtol=0, atol=1e-14)
    assert {array.shape for array in new} == {(3, 3), (3, 5)}


# --- what is kept, and how ------------------------------------------------------------------------------------------


def test_caches_are_written_in_place() -> None:
    layer, weights, sizes = scored("gpt2")
    _, text = given(layer, (), 9)
    kept = Decoder(layer, weights, sizes).start(9)
    kept.extend(text[:4])
    arrays = {name: array for copy in kept._inside[1] for name, array in copy.items() if name.endswith("_cache")}
    assert {array.shape[-2] for array in arrays.values()} == {9}
    before = {name: (id(array), array[..., :4, :].copy()) for name, array in arrays.items()}
    kept.extend(text[4:5])
    for copy in kept._inside[1][-1:]:
        for name, (address, rows) in before.items():
            assert id(copy[name]) == address
            assert (copy[name][..., :4, :] == rows).all()


def test_the_encoder_and_the_keys_of_its_rows_are_computed_once() -> None:
    layer, weights, sizes = scored("transformer-base")
    decoding = next_positions(layer)
    found = {run.link.path: run for run in runs(decoding)}
    assert not found["encoder.layers"].each
    once = {e.variable.name for piece in found["decoder.layers"].once for e in piece.layer.equations}
    assert any("cross_attention" in name and name.endswith(".K") for name in once)
    source, text = given(layer, (), 6)
    kept = Decoder(layer, weights, sizes).start(6, *source)
    source[0][...] = 0  # nothing reads it again
    expected = recomputed(layer, weights, sizes, given(layer, (), 6)[0][0], text)
    for place in range(6):
        np.testing.assert_allclose(kept.extend(text[place : place + 1]), expected[place], rtol=0, atol=1e-12)


def test_texts_do_not_disturb_one_another() -> None:
    layer, weights, sizes = scored("gpt2")
    _, text = given(layer, (), 8)
    decoder = Decoder(layer, weights, sizes)
    one, other = decoder.start(8), decoder.start(8)
    one.extend(text[:3])
    other.extend(text[::-1][:5])
    expected = recomputed(layer, weights, sizes, text[:4])
    np.testing.assert_allclose(one.extend(text[3:4]), expected[-1], rtol=0, atol=1e-12)


def test_a_text_longer_than_there_is_room_for_is_refused() -> None:
    layer, weights, sizes = scored("gpt2")
    kept = Decoder(layer, weights, sizes).start(5)
    kept.extend(np.array([1, 2, 3]))
    with pytest.raises(InputError, match="there is room for 5 positions, not for 3 after 3; start a text"):
        kept.extend(np.array([1, 2, 3]))
    kept.extend(np.array([1, 2]))


# --- generation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", few([each for each in EACH if each.values[0] not in ("transformer-base", "whisper-tiny")], fast=2)
)
def test_texts_are_those_of_computing_everything_again(name: str) -> None:
    model, tokens = small(name), np.random.default_rng(3).integers(VOCAB, size=(3, 4))
    texts = [model.generate(tokens, 9, end=(), start=1, cached=cached) for cached in (True, False)]
    np.testing.assert_array_equal(*texts)
    assert texts[0].shape == (3, 9)


def test_texts_that_end_earlier_are_filled_up() -> None:
    model, tokens = small("gpt2"), np.random.default_rng(5).integers(VOCAB, size=(4, 3))
    free = model.generate(tokens, 9, end=())
    end = int(free[0, 1])
    texts = [model.generate(tokens, 9, end=end, cached=cached) for cached in (True, False)]
    np.testing.assert_array_equal(*texts)
    assert (texts[0][0, np.argmax(free[0] == end) :] == end).all()


def test_as_many_tokens_as_there_are_positions() -> None:
    """The last token is written and never read: a text of 17 read tokens fits 17 positions."""
    model = small("gpt2")
    assert model.generate([1, 2, 3], 15, end=()).shape == (15,)
    for cached in (True, False):
        with pytest.raises(InputError, match="tokens has 18 places, there are 17 positions"):
            model.generate([1, 2, 3], 16, end=(), cached=cached)


@pytest.mark.parametrize("options", few([{}, {"biases": True, "final_norm": True, "activation": "gelu"}], fast=1))
def test_the_transformer_generates_what_greedy_returns(options: dict[str, Any]) -> None:
    sizes = {"d_model": 12, "h": 3, "d_ff": 7, "N": 2, "vocab": VOCAB, "dtype": np.float64, **options}
    weights = randomised(Transformer(**sizes).weights, np.random.default_rng(5))
    model = Transformer(**sizes, weights=weights)
    source = np.random.default_rng(6).integers(VOCAB, size=(2, 3, 5))
    free = model.greedy(source, 1, VOCAB, 8)
    assert len(np.unique(free)) > 2
    end = int(free[0, 0, 2])
    expected = model.greedy(source, 1, end, 8)
    np.testing.assert_array_equal(model.generate(source, 1, end, 8), expected)
    assert (expected == end).all(axis=-1).any() and (expected != end).all(axis=-1).any()  # some end, others go on
    assert model.generate(source, 1, end, 0).shape == (2, 3, 0)


def test_the_transformer_checks_what_it_is_given_once() -> None:
    model = Transformer(d_model=6, h=3, d_ff=7, N=2, vocab=VOCAB)
    with pytest.raises(InputError, match="target holds the token 99"):
        model.generate(np.array([1, 2]), 99, 0, 3)
    with pytest.raises(InputError, match="source holds the token 11"):
        model.generate(np.array([1, VOCAB]), 1, 0, 3)
