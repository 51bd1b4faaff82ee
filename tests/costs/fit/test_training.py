"""Training: Korthikanti et al. and Megatron's own script to the integer, term by term where they differ."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from sympy import Integer, Rational

from derivations.architectures.description import Model
from derivations.architectures.hugging_face import model_of
from derivations.architectures.models import named_model
from derivations.costs.counts import count
from derivations.costs.fit.hardware import device_named
from derivations.costs.fit.mesh import Mesh
from derivations.costs.fit.optimisers import OPTIMISERS, C, E, R
from derivations.costs.fit.precision import stored_as
from derivations.costs.fit.training import Training
from derivations.costs.memory import pre_norm_layer
from derivations.costs.rank_residuals import residual_bytes
from derivations.language.counting.memory_counts import partitioned_state_bytes, saved_residuals, training_state_bytes
from derivations.symbols import batch, d_ff, d_k, d_model, d_v, h, n

H100 = device_named("h100")
LLAMA_8B = 8030261248


def gpt3() -> Model:
    """GPT-3 with the padded vocabulary of Megatron, 51,200 tokens."""
    fields: dict[str, Any] = {
        **{"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 12288, "n_head": 96, "n_layer": 96},
        **{"n_positions": 2048, "vocab_size": 51200},
    }
    return model_of(fields, "gpt3")


# --- Korthikanti et al. (2022) --------------------------------------------------------------------------------------

MODELS = {  # table 3: heads, width, layers, tensor parallel ranks, micro-batch; 2048 positions
    "22B": (64, 6144, 48, 8, 4),
    "175B": (96, 12288, 96, 8, 1),
    "530B": (128, 20480, 105, 8, 1),
    "1T": (160, 25600, 128, 8, 1),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sequence", [False, True])
@pytest.mark.parametrize("recomputed", ["nothing", "attention", "blocks"])
def test_a_layer_saves_what_table_2_says(name: str, sequence: bool, recomputed: str):
    a, width, _, t, b = MODELS[name]
    s = 2048
    layer = pre_norm_layer()
    again = {
        "nothing": (),
        "attention": ("scaled_dot_product_attention_with_dropout",),
        "blocks": (layer.name,),
    }[recomputed]
    saved = saved_residuals(layer, batch=batch, recomputed=again).storages
    sizes = {n: s, batch: b, d_model: width, h: a, d_k: width // a, d_v: width // a, d_ff: 4 * width}
    found = residual_bytes(saved, {h: h / t, d_ff: d_ff / t}, t if sequence else 1)
    found = found.xreplace({symbol: Integer(value) for symbol, value in sizes.items()})
    pairs = Rational(5 * a * s, width * t)
    table = {
        ("nothing", False): 10 + Rational(24, t) + pairs,
        ("nothing", True): Rational(34, t) + pairs,
        ("attention", False): 10 + Rational(24, t),
        ("attention", True): Rational(34, t),
        ("blocks", False): Rational(2),
        ("blocks", True): Rational(2, t),
    }
    assert found == s * b * width * table[recomputed, sequence]


# --- Megatron-LM's script, run --------------------------------------------------------------------------------------
#
# megatron/training/theoretical_memory_usage.py at commit d98e8a64, August 2026: what its two functions return. Its
# activations have dropout, 1 byte of mask for each number that is dropped: 2 s b h for each layer, and s b h for the
# embedding of every micro-batch under way.

ROWS = 2048 * 12288  # s b h of GPT-3


@pytest.mark.parametrize(
    ("mesh", "micro_batches", "script", "masks"),
    [
        (Mesh(tensor=8, pipeline=8, sequence=True), 64, Fraction(10292838400), Fraction(1)),
        (Mesh(tensor=8, pipeline=8, sequence=True, chunks=3), 64, Fraction(13294916266.666668), Fraction(31, 24)),
        (Mesh(tensor=8, pipeline=8, sequence=True), 4, Fraction(5146419200), Fraction(1, 2)),
    ],
)
def test_activations_of_gpt3_are_those_of_the_script(mesh: Mesh, micro_batches: int, script: Fraction, masks: Fraction):
    training = Training(gpt3(), 2048, 1, micro_batches, mesh)
    first = training.budgets[0].numbers()["activations"]
    dropped = masks * (2 * 96 * ROWS + 8 * ROWS) / 8
    assert abs(first - (script - dropped)) < 1  # bytes, which are rounded up


def test_activations_of_one_stage_are_those_of_the_script():
    """Without a pipeline the script adds the rows of the last norm and of the head, and the loss."""
    found = Training(gpt3(), 2048, 1, 1, Mesh(tensor=8, sequence=True)).budget.numbers()
    ours = found["activations"] + found["after the layers"] + found["probabilities"]
    assert ours == 10335815680 - (2 * 96 * ROWS + ROWS) // 8


@pytest.mark.parametrize(
    ("name", "mesh", "script", "terms"),
    [
        # 6 + 12 / D bytes for each weight; 18 without the distributed optimiser
        ("llama-3-8b", Mesh(data=8, sharded=1), 60226959360, Fraction(0)),
        # of the first of 4 stages; the script has a quarter of the last norm there
        ("llama-3-70b", Mesh(tensor=8, pipeline=4, data=8, sharded=1), 17030691840, Fraction(15, 2) * 8192 / 4),
        ("mixtral-8x7b", Mesh(tensor=2, data=8), 420336967680, Fraction(0)),
        # the script divides the maps to latent rows and their norms, which every rank needs whole
        pytest.param(
            *("deepseek-v3", Mesh(tensor=8, data=8, sharded=1), 629791489920),
            -Fraction(15, 2) * Fraction(7, 8) * 61 * (7168 * (1536 + 512 + 64) + 1536 + 512),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_weights_and_optimiser_are_those_of_the_script(name: str, mesh: Mesh, script: int, terms: Fraction):
    found = Training(named_model(name), 4096, 1, 4, mesh, gradients=4).budgets[0].numbers()
    assert sum(found[part] for part in ("weights", "gradients", "float32 copy", "optimiser")) == script - terms


# --- the state ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["llama-3-8b", "gpt2", "mixtral-8x7b", "t5-small", "vit-b-16"])
def test_adam_takes_16_bytes_for_each_weight(name: str):
    model = named_model(name)
    counts = count(model)
    found = Training(model, 197).budget.numbers()
    state = sum(found[part] for part in ("weights", "gradients", "float32 copy", "optimiser"))
    assert state == counts.number(training_state_bytes(counts.total_parameters))


@pytest.mark.parametrize("stage", range(4))
def test_sharding_is_that_of_rajbhandari_and_others(stage: int):
    found = Training(named_model("llama-3-8b"), 128, mesh=Mesh(data=64, sharded=stage)).budget.numbers()
    state = sum(found[part] for part in ("weights", "gradients", "float32 copy", "optimiser"))
    assert state == partitioned_state_bytes(LLAMA_8B, 64, stage=stage)


OTHERS = {  # bytes of the state for (13, 11) matrices and (17,) vectors, by hand
    "adam": (8 * 143, 8 * 17),
    "adam-8bit": (2 * (143 + 4), 2 * (17 + 4)),
    "adafactor": (4 * (13 + 11), 4 * 17),
    "muon": (4 * 143, 8 * 17),
    "lion": (4 * 143, 4 * 17),
    "sgd": (0, 0),
}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_the_state_of_a_matrix_and_of_a_vector(name: str):
    matrix, vector = OTHERS[name]
    sizes = {E: Integer(143), R: Integer(13), C: Integer(11)}
    assert OPTIMISERS[name].matrices.xreplace(sizes) == matrix
    assert OPTIMISERS[name].others.xreplace({E: Integer(17)}) == vector


def test_muon_keeps_adam_for_tables_and_vectors():
    """Llama 3 8B: 6,979,321,856 weights in matrices of layers, 1,050,939,392 in tables, head and norms."""
    matrices = 32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    found = Training(named_model("llama-3-8b"), 128, optimiser="muon").budget.numbers()["optimiser"]
    assert found == 4 * matrices + 8 * (LLAMA_8B - matrices)


def test_adafactor_keeps_rows_and_columns_of_every_head_together():
    """A layer of Llama 3 8B: widths of Q, K, V, O and of three matrices, and two norms; two tables and a norm."""
    layer = 4 * (4096 + 4096) + 2 * (4096 + 1024) - 2 * (4096 + 4096) + 3 * (4096 + 14336) + 2 * 4096
    found = Training(named_model("llama-3-8b"), 128, optimiser="adafactor").budget.numbers()["optimiser"]
    assert found == 4 * (32 * layer + 2 * (128256 + 4096) + 4096)


# --- adapters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rank", "parameters"),
    [
        # each of 7 matrices: issue 3 of ChenDelong1999/polite-flamingo lists the factors of LLaMA 7B at rank 64
        ("llama-2-7b", 64, 32 * (4 * 2 * 262144 + 3 * (262144 + 704512))),
        ("llama-3-8b", 16, 32 * 16 * (2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14336))),
    ],
)
def test_adapters_have_two_factors_for_each_matrix(name: str, rank: int, parameters: int):
    found = Training(named_model(name), 128, rank=rank).budget.numbers()
    assert found["adapters"] == 2 * parameters and found["optimiser"] == 8 * parameters


def test_frozen_weights_may_be_packed_and_trained_ones_may_not():
    packed = stored_as(named_model("llama-3-8b"), "nf4")
    found = Training(packed, 128, rank=16).budget.numbers()
    whole = Training(named_model("llama-3-8b"), 128, rank=16).budget.numbers()
    assert found["weights"] < whole["weights"] * 0.36 and found["adapters"] == whole["adapters"]
    with pytest.raises(ValueError, match="packed weights are not trained themselves; give --lora a rank"):
        Training(packed, 128)


def test_frozen_weights_spare_a_third_of_their_products():
    """2 forward, 2 backward by the rows, and no gradient of the weights: 4 in place of 6 for each and position."""
    model, length = named_model("llama-3-8b"), 64
    all_of_it, adapters = Training(model, length), Training(model, length, rank=1, targets="attention")
    matrices = 32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 4096 * 128256
    factors = 32 * 2 * (4096 + 4096) + 32 * 2 * (4096 + 1024)
    saved = all_of_it.budget.number(all_of_it.flops) - adapters.budget.number(adapters.flops)
    assert saved == length * (2 * matrices - 6 * factors)


# --- the schedule ---------------------------------------------------------------------------------------------------


def simulated(stages: int, micro_batches: int) -> list[int]:
    """The most micro-batches under way on each stage of 1F1B, by running the schedule of Narayanan et al., figure 4."""
    most = []
    for stage in range(stages):
        warm = min(stages - stage - 1, micro_batches)
        order = ["F"] * warm + ["F", "B"] * (micro_batches - warm) + ["B"] * warm
        held = peak = 0
        for step in order:
            held += 1 if step == "F" else -1
            peak = max(peak, held)
        most.append(peak)
    return most


@pytest.mark.parametrize(("stages", "micro_batches"), [(1, 1), (1, 7), (4, 2), (4, 4), (4, 13), (8, 5)])
def test_1f1b_holds_what_a_run_of_it_holds(stages: int, micro_batches: int):
    training = Training(named_model("gpt3-125m") if stages < 5 else named_model("llama-3-8b"), 64, 1, micro_batches,
                        Mesh(pipeline=stages))  # fmt: skip
    assert [training.under_way(stage) for stage in range(stages)] == simulated(stages, micro_batches)


def test_the_most_loaded_stage_is_shown():
    training = Training(named_model("llama-3-70b"), 4096, 1, 16, Mesh(tensor=8, pipeline=4))
    assert (
        training.budget.bytes
        == max(each.bytes for each in training.budgets)
        > min(each.bytes for each in training.budgets)
    )


def test_one_stage_has_the_residuals_that_are_counted():
    for name in ("llama-3-8b", "gemma-2-9b", "gpt2"):
        model = named_model(name)
        counts = count(model, seq=256, batch=3)
        found = Training(model, 256, 3, recomputed="nothing").budget.numbers()
        assert found["activations"] + found["after the layers"] == counts.number(counts.activation_bytes)


def test_the_stages_together_save_what_one_device_saves():
    """But each stage also has its input, and the micro-batches under way: one, if there is one."""
    model = named_model("llama-3-8b")
    whole = Training(model, 256).budget.numbers()
    stages = Training(model, 256, mesh=Mesh(pipeline=4)).budgets
    parts = sum(each.numbers()["activations"] for each in stages)
    assert parts == whole["activations"]


# --- limits and refusals --------------------------------------------------------------------------------------------


def test_the_longest_text_is_the_last_that_fits():
    training = Training(named_model("qwen3-4b"), 512, optimiser="adam-8bit")
    longest = training.longest(H100)
    assert longest
    assert replace(training, seq=longest).budget.bytes <= H100.memory < replace(training, seq=longest + 9).budget.bytes


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"batch": 0}, "batch must be an integer >= 1, not 0"),
        ({"micro_batches": -3}, "micro-batches must be an integer >= 1, not -3"),
        ({"rank": 0}, "rank must be an integer >= 1, not 0"),
        ({"recomputed": "half"}, "nothing is recomputed under the name 'half'; choose nothing, attention, blocks"),
        ({"gradients": 3}, "a gradient has 2 or 4 bytes, not 3"),
        ({"targets": "heads"}, "the targets 'heads' of adapters are unknown; choose attention, all"),
    ],
)
def test_nonsense_is_refused(asked: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        Training(named_model("gpt2"), 64, **asked)
    with pytest.raises(LookupError, match="there is no optimiser 'adamw2'; there are adam"):
        Training(named_model("gpt2"), 64, optimiser="adamw2")


# --- the bound on a run ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "hours"), [("llama-3-8b", 1.3e6), ("llama-3-70b", 6.4e6)])
def test_no_run_was_faster_than_its_bound(name: str, hours: float):
    """Device hours on H100s that the model card of Llama 3 states for 15T tokens, in texts of 8192."""
    training = Training(named_model(name), 8192, recomputed="nothing")
    seconds = 15 * 10**12 / 8192 * training.budget.number(training.flops) / H100.flops["bfloat16"]
    assert 0.1 * hours < seconds / 3600 < hours
