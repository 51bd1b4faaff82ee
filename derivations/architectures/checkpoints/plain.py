"""Names in the checkpoints of decoders that differ from those of Llama in a few tensors.

What one family alone has differently stands in its entry, in `hugging_face.readers.plain_decoders`.
"""

from derivations.architectures.checkpoints.deepseek import DEEPSEEK_V3
from derivations.architectures.checkpoints.family import (
    Family,
    Stored,
    also,
    fused,
    gated,
    head,
    in_sections,
    linear,
    network,
    norm,
    table,
)
from derivations.architectures.checkpoints.llama import GEMMA, LLAMA, MIXTRAL, PHI_3

__all__ = [
    "AFMOE",
    "AFTER",
    "AT",
    "BLOCK",
    "DBRX",
    "FUSED_HALVES",
    "GLM_EXPERTS",
    "GRANITE_EXPERTS",
    "HALVES",
    "LAYERS",
    "LLAMA_4",
    "MINIMAX_EXPERTS",
    "PHI",
    "STACKED",
    "UNGATED",
    "VAULTGEMMA",
]

BLOCK, AT, LAYERS = "decoder.self_attention", "layers.{n}.self_attn", "layers.{n}"
HALVES, SPARSE = ("W_gate", "W_up"), f"{LAYERS}.block_sparse_moe"

GLM_EXPERTS = also(
    LLAMA,
    {each: stored for each, stored in DEEPSEEK_V3.weights.items() if each.startswith("decoder.experts.")},
)
STACKED = {  # the matrices of all experts in one tensor
    **{
        f"decoder.experts.{W}": Stored(f"{LAYERS}.mlp.experts.gate_up_proj", beside=HALVES, stacked=True)
        for W in HALVES
    },
    "decoder.experts.W_down": Stored(f"{LAYERS}.mlp.experts.down_proj", stacked=True),
}
MINIMAX_EXPERTS = also(MIXTRAL, {"decoder.experts.b_correction": Stored(f"{SPARSE}.e_score_correction_bias")})
AFMOE = also(
    GLM_EXPERTS,
    linear(f"{BLOCK}.W_G", f"{AT}.gate_proj"),
    norm(f"{BLOCK}_norm_after", f"{LAYERS}.post_attention_layernorm"),
    norm("decoder.feed_forward_norm", f"{LAYERS}.pre_mlp_layernorm"),
    norm("decoder.feed_forward_norm_after", f"{LAYERS}.post_mlp_layernorm"),
    {
        "decoder.experts.W_router": Stored(f"{LAYERS}.mlp.router.gate.weight"),
        "decoder.experts.b_correction": Stored(f"{LAYERS}.mlp.expert_bias"),
    },
)
UNGATED = also(LLAMA, network("decoder", f"{LAYERS}.mlp.up_proj", f"{LAYERS}.mlp.down_proj"))
AFTER = also(
    LLAMA,
    norm(f"{BLOCK}_norm", f"{LAYERS}.post_attention_layernorm"),
    norm("decoder.feed_forward_norm", f"{LAYERS}.post_feedforward_layernorm"),
)
FUSED_HALVES = also(  # of a gated network, in one tensor
    LLAMA,
    {each: stored for each, stored in PHI_3.weights.items() if each.startswith("decoder.feed_forward.")},
)
GRANITE_EXPERTS = also(
    LLAMA,
    {f"decoder.experts.{W}": Stored(f"{SPARSE}.input_linear.weight", beside=HALVES, stacked=True) for W in HALVES},
    {
        "decoder.experts.W_down": Stored(f"{SPARSE}.output_linear.weight", stacked=True),
        "decoder.experts.W_router": Stored(f"{SPARSE}.router.layer.weight"),
    },
    fused("decoder.experts.shared_experts", f"{LAYERS}.shared_mlp.input_linear", "gate up"),
    linear("decoder.experts.shared_experts.W_down", f"{LAYERS}.shared_mlp.output_linear"),
)
PHI = also(
    LLAMA,
    linear(f"{BLOCK}.W_O", f"{AT}.dense"),
    norm(f"{BLOCK}.query_norm", f"{AT}.q_layernorm"),
    norm(f"{BLOCK}.key_norm", f"{AT}.k_layernorm"),
    network("decoder", f"{LAYERS}.mlp.fc1", f"{LAYERS}.mlp.fc2"),
    norm("decoder.final_norm", "final_layernorm"),
)
VAULTGEMMA = also(GEMMA, norm("decoder.feed_forward_norm", f"{LAYERS}.pre_feedforward_layernorm", 1))
ROWS = "blocks.{n}"
DBRX = Family(
    {
        **table("E", "wte.weight"),
        **in_sections(BLOCK, f"{ROWS}.norm_attn_norm.attn.Wqkv", "Q", "K", "V"),
        **linear(f"{BLOCK}.W_O", f"{ROWS}.norm_attn_norm.attn.out_proj"),
        **norm(f"{BLOCK}_norm", f"{ROWS}.norm_attn_norm.norm_1"),
        **norm("decoder.feed_forward_norm", f"{ROWS}.norm_attn_norm.norm_2"),
        "decoder.experts.W_router": Stored(f"{ROWS}.ffn.router.layer.weight"),
        **{
            f"decoder.experts.{W}": Stored(
                f"{ROWS}.ffn.experts.mlp.{name}", W == "W_down", stacked=True, axes="experts"
            )
            for W, name in (("W_gate", "w1"), ("W_up", "v1"), ("W_down", "w2"))
        },
        **norm("decoder.final_norm", "norm_f"),
        **head(),
    },
    prefixes=("transformer.",),
)
FED = f"{LAYERS}.feed_forward"
LLAMA_4 = also(
    LLAMA,
    gated("decoder.feed_forward", *(f"{FED}.{name}_proj" for name in ("gate", "up", "down"))),
    gated("decoder.experts.shared_experts", *(f"{FED}.shared_expert.{name}_proj" for name in ("gate", "up", "down"))),
    {f"decoder.experts.{W}": Stored(f"{FED}.experts.gate_up_proj", True, beside=HALVES, stacked=True) for W in HALVES},
    {
        "decoder.experts.W_down": Stored(f"{FED}.experts.down_proj", as_written=True, stacked=True),
        "decoder.experts.W_router": Stored(f"{FED}.router.weight"),
    },
)
