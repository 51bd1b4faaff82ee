"""Serving: the parts by hand, the limits as the last that fits, and figures that others measured or computed."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from sympy import Rational

from derivations.architectures.description import Model
from derivations.architectures.hugging_face import model_of
from derivations.architectures.kinds import without_tower
from derivations.architectures.models import named_model
from derivations.costs.counts import count
from derivations.costs.fit.budget import largest, last_that_fits
from derivations.costs.fit.hardware import Device, device_named, engine_named
from derivations.costs.fit.inference import Serving, fewest_devices
from derivations.costs.fit.mesh import Mesh
from derivations.costs.fit.precision import WEIGHTS, stored_as
from derivations.costs.fit.time_bounds import weights_read
from derivations.symbols import m, n

H100 = device_named("h100")
GIB = 2**30


def test_the_parts_of_llama_3_8b_by_hand():
    """8,030,261,248 weights; 32 layers, 8 groups of 128 columns, K and V; 3 d_ff + d_model live for a token."""
    found = Serving(named_model("llama-3-8b"), 8192).budget.numbers()
    assert found == {
        "weights": 2 * 8030261248,
        "cache": 8192 * 32 * 2 * 8 * 128 * 2,
        "activations": 2 * 8192 * (3 * 14336 + 4096),
        "logits": 4 * 128256,
    }


@pytest.mark.parametrize("name", ["llama-3-8b", "gemma-2-9b", "mixtral-8x7b", "deepseek-v3", "gpt2", "t5-small"])
def test_weights_and_cache_are_those_that_are_counted(name: str):
    """The counts of `derivations count`, compared there with the library and with published totals."""
    model = named_model(name)
    counts = count(model, seq=512, source=512)
    found = Serving(model, 512).budget.numbers()
    assert found["weights"] == counts.number(counts.weights_bytes)
    assert found["cache"] == counts.number(counts.cache_bytes) + counts.number(counts.source_cache_bytes)


@pytest.mark.parametrize(
    ("name", "weights", "gib", "slack"),
    [
        # vLLM logs what loading took: pull request 12569 (w8a8, a scale for each row); the rest are tables of rotations
        ("llama-3-70b", "int8-rows", Fraction("67.7229"), Fraction("0.06")),
    ],
)
def test_weights_take_what_an_engine_measured(name: str, weights: str, gib: Fraction, slack: Fraction):
    found = Fraction(Serving(stored_as(named_model(name), weights), 128).budget.numbers()["weights"], GIB)
    assert 0 <= gib - found < slack


@pytest.mark.parametrize(("weights", "bits"), [("int4", 4), ("int4-g32", 4), ("int3", 3), ("nf4", 4), ("mxfp4", 4)])
def test_packed_weights_take_their_bits_and_a_little_for_scales(weights: str, bits: int):
    """Of Llama 3 8B, 6,979,321,856 weights are matrices of layers; the rest stays at 16 bits."""
    packed = 32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    found = Serving(stored_as(named_model("llama-3-8b"), weights), 128).budget.numbers()["weights"]
    for_each = Fraction(8 * (found - 2 * (8030261248 - packed)), packed)
    assert bits < for_each < bits + Fraction(3, 4)


def test_every_packing_is_known_for_every_family_with_names():
    for weights in WEIGHTS:
        for name in ("llama-3-8b", "mixtral-8x7b", "gpt2"):
            whole = Serving(named_model(name), 128).budget.numbers()["weights"]
            assert Serving(stored_as(named_model(name), weights), 128).budget.numbers()["weights"] < whole
    with pytest.raises(ValueError, match="the type of weights 'int5' is unknown; choose float64"):
        stored_as(named_model("gpt2"), "int5")


# --- the limits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["plain", "vllm", "tensorrt-llm"])
@pytest.mark.parametrize("name", ["llama-3-8b", "gemma-2-9b", "qwen3-4b"])
def test_the_longest_context_is_the_last_that_fits(name: str, engine: str):
    serving = Serving(named_model(name), 100, 3, engine=engine_named(engine))
    longest = serving.longest(H100)
    assert longest and replace(serving, seq=longest).fits(H100) and not replace(serving, seq=longest + 1).fits(H100)
    texts = serving.most_texts(H100)
    assert texts and replace(serving, batch=texts).fits(H100) and not replace(serving, batch=texts + 1).fits(H100)


def test_a_table_of_positions_ends_the_context():
    assert Serving(named_model("gpt2"), 100).longest(H100) == 1024
    with pytest.raises(ValueError, match="gpt2: 1025 positions are asked for, its table of positions has 1024"):
        Serving(named_model("gpt2"), 1025)


def test_a_source_has_the_frames_of_its_table():
    """Whisper reads 1500 frames whatever is written: the keys and values of 24 layers and 2 times 1024 columns."""
    whisper = named_model("whisper-medium")
    found = Serving(whisper, 100).budget.numbers()["cache"]
    assert found == 2 * 24 * 2 * 1024 * (1500 + 100)
    with pytest.raises(ValueError, match="a source of 100 positions is asked for, its table has 1500"):
        Serving(whisper, 100, source=100)
    with pytest.raises(ValueError, match="gpt2 reads no source"):
        Serving(named_model("gpt2"), 100, source=100)
    with pytest.raises(ValueError, match="vit-b-16 reads pictures of 197 rows, not 100 positions"):
        Serving(named_model("vit-b-16"), 100)


def test_nothing_fits_into_too_little():
    small = Device("small", "small", Rational(16 * 10**9))
    serving = Serving(named_model("llama-3-8b"), 100)
    assert (serving.fits(small), serving.longest(small), serving.most_texts(small)) == (False, 0, 0)


def test_the_fewest_devices_are_the_fewest():
    serving = Serving(named_model("llama-3-70b"), 8192)
    found = fewest_devices(serving, H100)
    assert found == Mesh(tensor=2)
    assert replace(serving, mesh=found).fits(H100) and not serving.fits(H100)
    assert fewest_devices(serving, Device("thimble", "thimble", Rational(10**6))) is None


def test_pages_round_up():
    plain, paged = (Serving(named_model("gpt2"), 33, 5, engine=engine_named(name)) for name in ("plain", "vllm"))
    assert paged.budget.numbers()["cache"] * 33 == plain.budget.numbers()["cache"] * 48


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"seq": 0}, "seq must be an integer >= 1, not 0"),
        ({"seq": 10**23}, "positions are asked for, at most 10.15 are counted; ask for fewer"),
        ({"seq": 8, "batch": -1}, "batch must be an integer >= 1, not -1"),
        ({"seq": 8, "cache": "int2"}, "the type of the cache 'int2' is unknown"),
    ],
)
def test_nonsense_is_refused(asked: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        Serving(named_model("gpt2"), **asked)


# --- the tools ------------------------------------------------------------------------------------------------------


def test_the_largest_polynomial_is_kept_and_crossing_ones_both():
    assert largest([n, 3 * n + 1, 2 * n], {}, [n]) == 3 * n + 1
    both = largest([5 * n, 2 * m, n], {}, [n, m])
    assert (
        both.xreplace({n: Rational(1), m: Rational(1)}) == 5 and both.xreplace({n: Rational(1), m: Rational(9)}) == 18
    )


def test_what_never_fills_the_memory_has_no_limit():
    serving = Serving(named_model("gpt2"), 5)
    assert last_that_fits((serving.budget,), m, Rational(10**30)) is None


# SGLang's documentation, DeepSeek V3/V3.1/R1 usage: the recommended settings, as weights, device and number
RECOMMENDED = [
    ("fp8-blocks", "h200", 8),
    ("fp8-blocks", "h100", 16),
    (None, "h200", 16),
    (None, "h100", 32),
    ("awq", "h100", 8),
]


@pytest.mark.parametrize(("weights", "device", "number"), RECOMMENDED)
def test_deepseek_v3_fits_where_an_engine_recommends_it_and_not_on_half_as_many(weights, device, number):
    model = stored_as(named_model("deepseek-v3"), weights)
    assert Serving(model, 4096, mesh=Mesh(tensor=number)).fits(device_named(device))
    assert not Serving(model, 4096, mesh=Mesh(tensor=number // 2)).fits(device_named(device))


RELEASED = Path(__file__).parents[2] / "architectures" / "configurations.json"


def released(name: str) -> Model:
    """Return a model with a tower of pictures."""
    return model_of(json.loads(RELEASED.read_text(encoding="utf-8"))[name]["config"], name)


@pytest.mark.parametrize("name", ["gemma-3-4b-it", "qwen3-vl-8b"])
def test_a_plan_of_texts_has_all_weights(name: str) -> None:
    model = released(name)
    parts = {part.name: part.bytes.xreplace(Serving(model, 64).values) for part in Serving(model, 64).budget.parts}
    counts = count(model)
    assert parts["weights"] + parts["tower"] == counts.number(counts.weights_bytes)


def test_the_weights_of_a_tower_are_a_part_of_their_own_that_texts_do_not_move() -> None:
    model = released("llava-1.5-7b")
    counts, serving = count(model), Serving(model, 1024)
    parts = {part.name: part.bytes.xreplace(serving.values) for part in serving.budget.parts}
    assert parts["weights"] + parts["tower"] == counts.number(counts.weights_bytes)
    assert parts["tower"] == 2 * 324_487_168
    texts = Serving(without_tower(model), 1024)
    assert weights_read(serving) == weights_read(texts)
    assert stored_as(model, "int4").storage.packs == "layers"
    assert Serving(stored_as(model, "int4"), 1024).tower == serving.tower
    with pytest.raises(ValueError, match="which matrices of its tower of pictures bitsandbytes packs is not known"):
        _ = Serving(stored_as(model, "nf4"), 1024).budgets
