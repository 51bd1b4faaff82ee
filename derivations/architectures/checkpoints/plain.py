"""Names in the checkpoints of decoders that differ from those of Llama in a few tensors."""

from collections.abc import Mapping
from dataclasses import replace

from derivations.architectures.checkpoints.family import Family, Stored, fused, linear, network, norm
from derivations.architectures.checkpoints.llama import GEMMA, LLAMA, PHI_3, QWEN_3_EXPERTS, llama_around

__all__ = [
    "AFTER",
    "GLM",
    "GLM_4",
    "GRANITE_EXPERTS",
    "HUNYUAN",
    "HYPERCLOVAX",
    "NEMOTRON",
    "OLMO_EXPERTS",
    "PERSIMMON",
    "PHI",
    "STARCODER_2",
    "UNGATED",
    "VAULTGEMMA",
]

BLOCK, AT, LAYER = "decoder.self_attention", "layers.{n}.self_attn", "layers.{n}"


def _also(family: Family, *tables: Mapping[str, Stored]) -> Family:
    """Return a family whose tables replace or join some names."""
    weights = dict(family.weights)
    for each in tables:
        weights |= each
    return replace(family, weights=weights)


UNGATED = _also(LLAMA, network("decoder", f"{LAYER}.mlp.up_proj", f"{LAYER}.mlp.down_proj"))
NEMOTRON = _also(UNGATED, llama_around(added=1))
STARCODER_2 = _also(LLAMA, network("decoder", f"{LAYER}.mlp.c_fc", f"{LAYER}.mlp.c_proj"))
AFTER = _also(
    LLAMA,
    norm(f"{BLOCK}_norm", f"{LAYER}.post_attention_layernorm"),
    norm("decoder.feed_forward_norm", f"{LAYER}.post_feedforward_layernorm"),
)
HUNYUAN = _also(
    LLAMA, norm(f"{BLOCK}.query_norm", f"{AT}.query_layernorm"), norm(f"{BLOCK}.key_norm", f"{AT}.key_layernorm")
)
GLM = _also(
    LLAMA,
    {each: stored for each, stored in PHI_3.weights.items() if each.startswith("decoder.feed_forward.")},
)
GLM_4 = _also(
    GLM,
    norm(f"{BLOCK}_norm_after", f"{LAYER}.post_self_attn_layernorm"),
    norm("decoder.feed_forward_norm_after", f"{LAYER}.post_mlp_layernorm"),
)
HALVES, SPARSE = ("W_gate", "W_up"), f"{LAYER}.block_sparse_moe"
GRANITE_EXPERTS = _also(
    LLAMA,
    {f"decoder.experts.{W}": Stored(f"{SPARSE}.input_linear.weight", beside=HALVES, stacked=True) for W in HALVES},
    {
        "decoder.experts.W_down": Stored(f"{SPARSE}.output_linear.weight", stacked=True),
        "decoder.experts.W_router": Stored(f"{SPARSE}.router.layer.weight"),
    },
    fused("decoder.experts.shared_experts", f"{LAYER}.shared_mlp.input_linear", "gate up"),
    linear("decoder.experts.shared_experts.W_down", f"{LAYER}.shared_mlp.output_linear"),
)
PHI = _also(
    LLAMA,
    linear(f"{BLOCK}.W_O", f"{AT}.dense"),
    norm(f"{BLOCK}.query_norm", f"{AT}.q_layernorm"),
    norm(f"{BLOCK}.key_norm", f"{AT}.k_layernorm"),
    network("decoder", f"{LAYER}.mlp.fc1", f"{LAYER}.mlp.fc2"),
    norm("decoder.final_norm", "final_layernorm"),
)
PERSIMMON = _also(
    PHI,
    fused(BLOCK, f"{AT}.query_key_value", "Q Q_pass K K_pass V", by_head=True),
    network("decoder", f"{LAYER}.mlp.dense_h_to_4h", f"{LAYER}.mlp.dense_4h_to_h"),
)
OLMO_EXPERTS = _also(
    QWEN_3_EXPERTS,
    {name: stored for name, stored in AFTER.weights.items() if "_norm." in name},
)
HYPERCLOVAX = _also(
    LLAMA,
    norm(f"{BLOCK}_norm_after", f"{LAYER}.post_norm1"),
    norm("decoder.feed_forward_norm_after", f"{LAYER}.post_norm2"),
)
VAULTGEMMA = _also(GEMMA, norm("decoder.feed_forward_norm", f"{LAYER}.pre_feedforward_layernorm", 1))
