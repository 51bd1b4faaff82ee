"""Names in the checkpoints of Llama and of similar models: gated networks, RMS norms, rotary positions."""

from collections.abc import Mapping
from dataclasses import replace

from derivations.architectures.checkpoints.family import (
    Family,
    Stored,
    attention,
    fused,
    gated,
    head,
    in_sections,
    linear,
    norm,
    table,
)

__all__ = [
    "GEMMA",
    "GEMMA_2",
    "GEMMA_3N",
    "GEMMA_4",
    "LLAMA",
    "MIXTRAL",
    "PHI_3",
    "QWEN_2_EXPERTS",
    "QWEN_3_EXPERTS",
    "llama_around",
]


def _llama_attention(added: int = 0) -> Mapping[str, Stored]:
    at, theirs = "decoder.self_attention", "layers.{n}.self_attn"
    return {
        **attention(at, *(f"{theirs}.{letter}_proj" for letter in "qkvo")),
        **norm(f"{at}.query_norm", f"{theirs}.q_norm", added),
        **norm(f"{at}.key_norm", f"{theirs}.k_norm", added),
    }


def llama_around(added: int = 0) -> Mapping[str, Stored]:
    """Return the names of the embedding, the head and the norms of rows; `added` is added to the stored scales."""
    return {
        **table("E", "embed_tokens.weight"),
        **norm("decoder.self_attention_norm", "layers.{n}.input_layernorm", added),
        **norm("decoder.feed_forward_norm", "layers.{n}.post_attention_layernorm", added),
        **norm("decoder.final_norm", "norm", added),
        **head(),
    }


LLAMA_NETWORK = gated("decoder.feed_forward", *(f"layers.{{n}}.mlp.{name}_proj" for name in ("gate", "up", "down")))
LLAMA = Family(
    {**llama_around(), **_llama_attention(), **LLAMA_NETWORK},
    prefixes=("model.",),
    same={"lm_head.weight": "embed_tokens.weight"},
    ignored=(r"(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq",),
)
GEMMA = replace(LLAMA, weights={**llama_around(added=1), **_llama_attention(added=1), **LLAMA_NETWORK})
GEMMA_2 = replace(
    GEMMA,
    weights={
        **GEMMA.weights,
        **norm("decoder.self_attention_norm_after", "layers.{n}.post_attention_layernorm", 1),
        **norm("decoder.feed_forward_norm", "layers.{n}.pre_feedforward_layernorm", 1),
        **norm("decoder.feed_forward_norm_after", "layers.{n}.post_feedforward_layernorm", 1),
    },
)
GEMMA_4 = replace(
    LLAMA,
    weights={
        **LLAMA.weights,
        **norm("decoder.self_attention_norm_after", "layers.{n}.post_attention_layernorm"),
        **norm("decoder.feed_forward_norm", "layers.{n}.pre_feedforward_layernorm"),
        **norm("decoder.feed_forward_norm_after", "layers.{n}.post_feedforward_layernorm"),
        "decoder.gamma_E": Stored("per_layer_projection_norm.weight", axes="flat"),
        "decoder.per_layer_input.E_L": Stored("embed_tokens_per_layer.weight", as_written=True, of_layers=True),
        "decoder.per_layer_input.W_C": Stored("per_layer_model_projection.weight", of_layers=True),
        **linear("decoder.per_layer_input.W_G", "layers.{n}.per_layer_input_gate"),
        **linear("decoder.per_layer_input.W_U", "layers.{n}.per_layer_projection"),
        **norm("decoder.per_layer_input_norm_after", "layers.{n}.post_per_layer_input_norm"),
        "decoder.kappa": Stored("layers.{n}.layer_scalar"),
    },
    ignored=(*LLAMA.ignored, r"layers\.\d+\.self_attn\.(k_proj|v_proj|k_norm|v_norm)\.(weight|bias)"),
)
GEMMA_3N = replace(
    GEMMA_4,
    weights={
        **GEMMA_4.weights,
        "decoder.new_streams.W": Stored("altup_projections.{e}.weight"),
        "decoder.joined_streams.W": Stored("altup_unembed_projections.{e}.weight"),
        **linear("decoder.stream_router.W_R", "layers.{n}.altup.modality_router"),
        **norm("decoder.stream_router.router_norm", "layers.{n}.altup.router_norm"),
        **linear("decoder.stream_prediction.W_P", "layers.{n}.altup.prediction_coefs"),
        **linear("decoder.stream_correction.W_K", "layers.{n}.altup.correction_coefs", as_written=True),
        "decoder.stream_scale.gamma": Stored("layers.{n}.altup.correct_output_scale"),
        "decoder.unread_scale": Stored("layers.{n}.altup.correct_output_scale", axes="flat"),
        **linear("decoder.residual_branch.W_left", "layers.{n}.laurel.linear_left"),
        **linear("decoder.residual_branch.W_right", "layers.{n}.laurel.linear_right"),
        **norm("decoder.residual_branch.branch_norm", "layers.{n}.laurel.post_laurel_norm"),
    },
)
PHI_3 = replace(
    LLAMA,
    weights={
        **llama_around(),
        **in_sections("decoder.self_attention", "layers.{n}.self_attn.qkv_proj", "Q Q_pass", "K K_pass", "V"),
        **linear("decoder.self_attention.W_O", "layers.{n}.self_attn.o_proj"),
        **fused("decoder.feed_forward", "layers.{n}.mlp.gate_up_proj", "gate up"),
        **linear("decoder.feed_forward.W_down", "layers.{n}.mlp.down_proj"),
    },
)


def _experts(theirs: str, gate: str, up: str, down: str) -> Family:
    """Return a family whose feed-forward networks are mixtures of experts, stored one by one."""
    names = {"W_gate": gate, "W_up": up, "W_down": down}
    own = {f"decoder.experts.{W}": Stored(f"{theirs}.experts.{{e}}.{name}.weight") for W, name in names.items()}
    router = {"decoder.experts.W_router": Stored(f"{theirs}.gate.weight")}
    return replace(LLAMA, weights={**LLAMA.weights, **router, **own})


MIXTRAL = _experts("layers.{n}.block_sparse_moe", "w1", "w3", "w2")
QWEN_3_EXPERTS = _experts("layers.{n}.mlp", "gate_proj", "up_proj", "down_proj")
SHARED = (f"layers.{{n}}.mlp.shared_expert.{name}_proj" for name in ("gate", "up", "down"))
QWEN_2_EXPERTS = replace(
    QWEN_3_EXPERTS,
    weights={
        **QWEN_3_EXPERTS.weights,
        **gated("decoder.experts.shared_experts", *SHARED),
        "decoder.experts.W_shared_gate": Stored("layers.{n}.mlp.shared_expert_gate.weight"),
    },
)
