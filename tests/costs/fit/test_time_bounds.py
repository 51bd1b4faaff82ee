"""Bounds on time: by hand, and no published measurement is faster than its bound."""

from dataclasses import dataclass

import pytest
from sympy import Rational

from derivations.architectures.models import named_model
from derivations.costs.fit.hardware import device_named, own_device
from derivations.costs.fit.inference import Serving
from derivations.costs.fit.mesh import Mesh
from derivations.costs.fit.precision import computed_type, stored_as
from derivations.costs.fit.time_bounds import decoding_bound, expected_experts, prefill_bound

A100, H100 = device_named("a100"), device_named("h100")


def test_decoding_llama_3_8b_by_hand():
    """All weights but the table of tokens, and 8192 positions of the cache; what the chip holds is not read again."""
    bound = decoding_bound(Serving(named_model("llama-3-8b"), 8192), H100, "bfloat16")
    moved = 2 * (8030261248 - 128256 * 4096) + 8192 * 131072
    assert bound.at(bound.bytes) == moved
    assert bound.seconds == (moved - H100.on_chip) / H100.bandwidth
    assert bound.limited_by == "moving bytes" and bound.tokens_per_second == 1 / bound.seconds


def test_prefill_llama_3_8b_by_hand():
    """Twice the matrices for every position, pairs once each, the head for the last position alone."""
    length = 4096
    bound = prefill_bound(Serving(named_model("llama-3-8b"), length, 3), H100, "bfloat16")
    matrices = 32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    pairs = 32 * 2 * 2 * 32 * 128 * length * (length + 1) // 2
    assert bound.at(bound.flops) == 3 * (2 * length * matrices + pairs + 2 * 4096 * 128256)
    assert bound.seconds == bound.at(bound.flops) / H100.flops["bfloat16"] and bound.limited_by == "computing"


def test_a_mixture_reads_its_chosen_experts_at_least():
    model = named_model("mixtral-8x7b")
    one, many = (Serving(model, 100, texts) for texts in (1, 64))
    bound = decoding_bound(one, A100, "bfloat16")
    assert bound.at(expected_experts(one)) == bound.at(bound.bytes) - 100 * 131072
    spread = decoding_bound(many, A100, "bfloat16")
    everything = 2 * (46702792704 - 32000 * 4096)
    assert bound.at(expected_experts(one)) < spread.at(expected_experts(many)) < everything
    assert spread.at(expected_experts(many)) > Rational(999, 1000) * everything  # 64 texts leave few experts out


def test_a_device_without_rates_gives_no_bound():
    bound = decoding_bound(Serving(named_model("gpt2"), 100), own_device(Rational(10**9)), "bfloat16")
    assert bound.seconds is None and bound.tokens_per_second is None


def test_what_generates_nothing_has_no_step_of_decoding():
    with pytest.raises(ValueError, match="bert-base generates nothing"):
        decoding_bound(Serving(named_model("bert-base"), 100), A100, "bfloat16")


# --- published measurements -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """Tokens a second that somebody published, and how they were measured."""

    model: str
    device: str
    weights: str | None
    tokens_per_second: float
    positions: int  # of the shortest cache during the measurement, which makes the bound the weakest
    tensor: int = 1
    batch: int = 1
    prefill: bool = False
    cache: str | None = None


GPT_FAST = "gpt-fast, README, tables of benchmarks: prompts of 5 tokens, one text, A100 80GB"
LLAMA_CPP = "llama.cpp, pull requests 4766 (RTX 4090) and 3084, 2891 (M2 Ultra): 7B in F16"
TENSORRT = "TensorRT-LLM 0.5.0, performance.md, H100, FP8: batch, input and output of 128"
MEASURED = [
    Measured("llama-2-7b", "a100", None, 104.9, 5),
    Measured("llama-2-7b", "a100", "int8-rows", 155.58, 5),
    Measured("llama-2-7b", "a100", "int4-g32", 196.80, 5),
    Measured("llama-2-70b", "a100", "int8-rows", 19.13, 5),
    Measured("llama-2-70b", "a100", "int4-g32", 25.25, 5),
    Measured("llama-2-7b", "a100", None, 168.84, 5, tensor=2),
    Measured("llama-2-7b", "a100", None, 254.02, 5, tensor=4),
    Measured("llama-2-7b", "a100", None, 328.43, 5, tensor=8),
    Measured("llama-2-70b", "a100", None, 21.32, 5, tensor=2),
    Measured("llama-2-70b", "a100", None, 38.01, 5, tensor=4),
    Measured("llama-2-70b", "a100", None, 62.50, 5, tensor=8),
    Measured("llama-2-70b", "a100", "int8-rows", 80.44, 5, tensor=8),
    Measured("llama-2-70b", "a100", "int4-g32", 90.77, 5, tensor=8),
    Measured("llama-2-7b", "mi250x-die", None, 76.33, 5),
    Measured("llama-2-7b", "mi250x-die", "int8-rows", 101.86, 5),
    Measured("llama-2-7b", "rtx-4090", "float16", 61.03, 1),
    Measured("llama-2-7b", "rtx-4090", "float16", 11048.22, 512, prefill=True),
    Measured("llama-2-7b", "m2-ultra", "float16", 41.35, 1),
    Measured("llama-2-7b", "m2-ultra", "float16", 1265.30, 512, prefill=True),
    Measured("gpt-j-6b", "h100", "float8", 10907, 128, batch=64, cache="float8"),
    Measured("llama-2-7b", "h100", "float8", 9193, 128, batch=64, cache="float8"),
    Measured("llama-2-70b", "h100", "float8", 3317, 128, batch=64, tensor=4, cache="float8"),
    Measured("falcon-180b", "h100", "float8", 2686, 128, batch=96, tensor=8, cache="float8"),
]


def bound_of(measured: Measured) -> float:
    model = stored_as(named_model(measured.model), measured.weights)
    mesh = Mesh(tensor=measured.tensor)
    serving = Serving(model, measured.positions, measured.batch, mesh, cache=measured.cache)
    device, computed = device_named(measured.device), computed_type(model, measured.weights)
    bound = (prefill_bound if measured.prefill else decoding_bound)(serving, device, computed)
    assert bound.tokens_per_second is not None
    return float(bound.tokens_per_second)


@pytest.mark.parametrize("measured", MEASURED, ids=lambda each: f"{each.model}-{each.device}-{each.tokens_per_second}")
def test_no_measurement_is_faster_than_its_bound(measured: Measured):
    assert measured.tokens_per_second < bound_of(measured)


def test_the_bounds_are_near_enough_to_be_of_use():
    """Well-made single-device decoding reaches more than half of its bound, so the bound is no empty one."""
    best = max(each.tokens_per_second / bound_of(each) for each in MEASURED if not each.prefill and each.tensor == 1)
    assert 0.6 < best < 1


def test_a_measurement_that_nobody_can_have_made_is_noticed():
    assert bound_of(MEASURED[0]) < 10 * MEASURED[0].tokens_per_second
