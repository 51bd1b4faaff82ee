"""Names in the checkpoints of gpt-oss: one tensor for all experts of a layer, with gate and linear half together."""

from derivations.architectures.checkpoints.family import Family, Stored, attention, head, norm, table

__all__ = ["GPT_OSS"]

AT, EXPERTS = "layers.{n}.self_attn", "layers.{n}.mlp.experts.{e}"
HALVES = ("W_gate", "W_up")
GPT_OSS = Family(
    {
        **table("E", "embed_tokens.weight"),
        **attention("decoder.self_attention", *(f"{AT}.{letter}_proj" for letter in "qkvo")),
        "decoder.self_attention.sinks": Stored(f"{AT}.sinks"),
        **{f"decoder.experts.{W}": Stored(f"{EXPERTS}.gate_up_proj", True, HALVES) for W in HALVES},
        "decoder.experts.W_down": Stored(f"{EXPERTS}.down_proj", True),
        **{f"decoder.experts.{b}": Stored(f"{EXPERTS}.gate_up_proj_bias") for b in ("b_gate", "b_up")},
        "decoder.experts.b_down": Stored(f"{EXPERTS}.down_proj_bias"),
        "decoder.experts.W_router": Stored("layers.{n}.mlp.router.weight"),
        "decoder.experts.b_router": Stored("layers.{n}.mlp.router.bias"),
        **norm("decoder.self_attention_norm", "layers.{n}.input_layernorm"),
        **norm("decoder.feed_forward_norm", "layers.{n}.post_attention_layernorm"),
        **norm("decoder.final_norm", "norm"),
        **head(),
    },
    prefixes=("model.",),
)
