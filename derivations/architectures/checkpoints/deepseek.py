"""Names in the checkpoints of DeepSeek-V3: latent attention, a dense network in the first layers, then experts."""

from derivations.architectures.checkpoints.family import Family, Stored, fused, gated, head, linear, norm, table

__all__ = ["DEEPSEEK_V3"]

AT, THEIRS, MLP = "decoder.self_attention", "layers.{n}.self_attn", "layers.{n}.mlp"
EXPERTS = {"W_gate": "gate_proj", "W_up": "up_proj", "W_down": "down_proj"}
DEEPSEEK_V3 = Family(
    {
        **table("E", "embed_tokens.weight"),
        **linear(f"{AT}.W_DQ", f"{THEIRS}.q_a_proj"),
        **norm(f"{AT}.query_norm", f"{THEIRS}.q_a_layernorm"),
        **fused(AT, f"{THEIRS}.q_b_proj", "UQ QR", by_head=True),
        **fused(AT, f"{THEIRS}.q_proj", "Q R", by_head=True),
        **fused(AT, f"{THEIRS}.kv_a_proj_with_mqa", "DKV KR"),
        **norm(f"{AT}.key_value_norm", f"{THEIRS}.kv_a_layernorm"),
        **fused(AT, f"{THEIRS}.kv_b_proj", "UK UV", by_head=True),
        **linear(f"{AT}.W_O", f"{THEIRS}.o_proj"),
        **fused(f"{AT}.indexer", f"{THEIRS}.indexer.wq_b", "R Q", by_head=True),
        **linear(f"{AT}.indexer.W_K", f"{THEIRS}.indexer.wk"),
        **norm(f"{AT}.indexer.key_norm", f"{THEIRS}.indexer.k_norm"),
        **linear(f"{AT}.indexer.W_w", f"{THEIRS}.indexer.weights_proj"),
        **gated("decoder.feed_forward", *(f"{MLP}.{name}_proj" for name in ("gate", "up", "down"))),
        **gated("decoder.experts.shared_experts", *(f"{MLP}.shared_experts.{n}_proj" for n in ("gate", "up", "down"))),
        **{f"decoder.experts.{W}": Stored(f"{MLP}.experts.{{e}}.{name}.weight") for W, name in EXPERTS.items()},
        "decoder.experts.W_router": Stored(f"{MLP}.gate.weight"),
        "decoder.experts.b_correction": Stored(f"{MLP}.gate.e_score_correction_bias"),
        **norm("decoder.self_attention_norm", "layers.{n}.input_layernorm"),
        **norm("decoder.feed_forward_norm", "layers.{n}.post_attention_layernorm"),
        **norm("decoder.final_norm", "norm"),
        **head(),
    },
    prefixes=("model.",),
)
