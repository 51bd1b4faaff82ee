"""Caches in all, machines of latent attention, and recomputation: arithmetic by hand, and what must not agree."""

from typing import Any

import pytest

from derivations.architectures.hugging_face import model_of
from derivations.architectures.models import named_model
from derivations.costs.counts import Counts, count
from derivations.costs.key_value_caches import cached_numbers, key_value_cache
from derivations.costs.questions import decode_intensity
from derivations.language.counting.costs import count_training_flops, flops_by_part
from tests.architectures.test_kinds import GEMMA
from tests.costs.test_counts import GPT2, HIDDEN, LAYERS, LLAMA, MIXTRAL, T5, VOCAB, WIDTH

B, SEQ, SOURCE = 3, 11, 7
DEEPSEEK: dict[str, Any] = {
    **{"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"], "vocab_size": 13, "hidden_size": 10},
    **{"num_attention_heads": 3, "qk_nope_head_dim": 5, "qk_rope_head_dim": 4, "v_head_dim": 7, "kv_lora_rank": 11},
    **{"q_lora_rank": 17, "num_hidden_layers": 2, "first_k_dense_replace": 2, "intermediate_size": 19},
    **{"n_routed_experts": 8, "n_group": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 5},
}
QWEN_MOE = {
    **MIXTRAL,
    **{"model_type": "qwen2_moe", "architectures": ["Qwen2MoeForCausalLM"], "num_experts": 5},
    **{"moe_intermediate_size": HIDDEN, "shared_expert_intermediate_size": 3, "intermediate_size": HIDDEN},
}
QWEN_MOE.pop("num_local_experts")


def counted(config: dict[str, Any], **asked: Any) -> Counts:
    return count(model_of(config, "small"), **{"batch": B, "seq": SEQ, **asked})


def memory(counts: Counts) -> dict[str, Any]:
    return dict(counts.json()["memory"])


# --- caches in all --------------------------------------------------------------------------------------------------


def test_a_window_keeps_the_cache_of_its_layer_small() -> None:
    """Four layers keep all 11 positions, three keep the last 5; 3 heads of keys and values of 10 columns."""
    found = memory(counted(GEMMA))
    assert found["kv_cache_bytes"] == 2 * B * 2 * 3 * 10 * (4 * SEQ + 3 * 5)
    assert found["kv_cache_bytes"] < B * SEQ * found["kv_cache_bytes_per_token"]
    short = memory(counted(GEMMA, seq=5))
    assert short["kv_cache_bytes"] == B * 5 * short["kv_cache_bytes_per_token"]


def test_gemma_3_on_its_longest_text() -> None:
    """Five layers of 34 see everything: 2.8 GB for a sequence, 18.3 GB by the figure of one position."""
    found = memory(count(named_model("gemma-3-4b"), seq=131072, batch=16))
    assert found["kv_cache_bytes"] == 16 * 4096 * (5 * 131072 + 29 * 1024) == 44895830016
    assert 16 * 131072 * found["kv_cache_bytes_per_token"] == 292057776128


def test_keys_and_values_of_a_source_are_kept_beside() -> None:
    found = memory(counted(T5, source=SOURCE))
    assert found["kv_cache_bytes"] == 2 * B * LAYERS * 2 * 15 * SEQ
    assert found["source_kv_cache_bytes"] == 2 * B * LAYERS * 2 * 15 * SOURCE
    assert memory(counted(LLAMA))["source_kv_cache_bytes"] == 0


# --- latent attention -----------------------------------------------------------------------------------------------

QUERIES = 10 * 17 + 17 * 3 * (5 + 4) + 10 * (11 + 4)  # multiply-adds of a position up to its queries and latent row
OUTPUT = 3 * 7 * 10
NETWORK, HEAD = 3 * 10 * 19, 10 * 13


def step(own: int, of_a_pair: int) -> int:
    return 2 * B * (2 * (QUERIES + own + OUTPUT + NETWORK + of_a_pair * (SEQ + 1)) + HEAD)


@pytest.mark.parametrize(
    ("latent", "work", "cached"),
    [
        ("expanded", step(3 * 11 * (5 + 7), 3 * (5 + 4 + 7)), 3 * (5 + 4 + 7)),
        ("absorbed", step(3 * 11 * (5 + 7), 3 * (11 + 4 + 11)), 11 + 4),
    ],
)
def test_operations_and_bytes_are_of_one_machine(latent: str, work: int, cached: int) -> None:
    counts = counted(DEEPSEEK, phase="decode", latent=latent)
    found = memory(counts)
    assert counts.number(counts.flops.matmul) == work
    assert found["kv_cache_bytes_per_token"] == 2 * 2 * cached
    assert found["kv_cache_bytes"] == B * SEQ * 2 * 2 * cached
    assert found["latent"] == latent
    assert [text for text in counts.assumptions if text.startswith(f"decoding with {latent}")]
    model = model_of(DEEPSEEK, "small")
    read = 2 * (counts.number(counts.total_parameters) + B * SEQ * 2 * cached)
    assert decode_intensity(model, batch=B, length=SEQ, latent=latent).number * read == work


def test_the_absorbed_machine_is_the_usual_one_and_others_have_none() -> None:
    usual, absorbed = (counted(DEEPSEEK, phase="decode", **asked).json() for asked in ({}, {"latent": "absorbed"}))
    assert usual == absorbed
    assert memory(counted(LLAMA, latent="expanded"))["latent"] == ""
    assert counted(LLAMA, phase="decode", latent="expanded").json() == counted(LLAMA, phase="decode").json()
    assert counted(DEEPSEEK).json()["flops"] == counted(DEEPSEEK, latent="expanded").json()["flops"]  # of a whole pass
    with pytest.raises(ValueError, match="the machine 'latent' of latent attention is unknown; choose absorbed"):
        counted(DEEPSEEK, latent="latent")
    for asked in (key_value_cache, cached_numbers):
        with pytest.raises(ValueError, match="the machine 'latent'"):
            asked(model_of(DEEPSEEK, "small"), "latent")


# --- recomputation --------------------------------------------------------------------------------------------------

PAIRS = 4 * SEQ * SEQ * WIDTH
PROJECTED = 2 * SEQ * (4 * WIDTH**2 + 2 * WIDTH * HIDDEN)


@pytest.mark.parametrize(
    ("recomputed", "again"),
    [("nothing", 0), ("attention", LAYERS * PAIRS), ("blocks", LAYERS * (PAIRS + PROJECTED))],
)
def test_what_is_computed_again_is_counted_twice(recomputed: str, again: int) -> None:
    counts = counted(GPT2, phase="training", recomputed=recomputed)
    once = 3 * (LAYERS * (PAIRS + PROJECTED) + 2 * SEQ * WIDTH * VOCAB)
    assert counts.number(counts.flops.matmul) == B * (once + again)
    assert sum(counts.number(part.total) for part in counts.parts.values()) == counts.number(counts.flops.total)
    forward = counted(GPT2, recomputed=recomputed)
    assert forward.flops == counted(GPT2).flops


@pytest.mark.parametrize("config", [GEMMA, T5, MIXTRAL, DEEPSEEK], ids=lambda config: str(config["model_type"]))
def test_blocks_again_are_all_of_the_forward_pass_between_embedding_and_head(config: dict[str, Any]) -> None:
    """The head, and what is before the first block and behind the last one, is computed once."""
    again, once = (counted(config, phase="training", recomputed=name) for name in ("blocks", "nothing"))
    inside = sum(flops.total for path, flops in flops_by_part(again.layer, B).items() if ".layers" in path)
    assert again.number(again.flops.total) - once.number(once.flops.total) == again.number(inside) > 0


def test_a_layer_may_be_computed_again_itself() -> None:
    layer = counted(GPT2).layer
    whole, once = count_training_flops(layer, recomputed=[layer.name]), count_training_flops(layer)
    assert (whole - once).matmul == flops_by_part(layer, depth=0)[""].matmul


# --- gates of shared experts ----------------------------------------------------------------------------------------


def test_training_takes_three_products_for_every_one_gates_of_shared_experts_among_them() -> None:
    """The gradient by the input of a single column is a column times a row: a product as any other."""
    forward, training = (counted(QWEN_MOE, phase=phase) for phase in ("forward", "training"))
    assert training.number(training.flops.matmul) == 3 * forward.number(forward.flops.matmul)
    without = counted({**QWEN_MOE, "mlp_only_layers": [0, 1, 2]}, phase="training")
    assert forward.components.keys() - without.components.keys() >= {"layers.ffn_shared_expert_gate"}
