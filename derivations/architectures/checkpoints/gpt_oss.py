"""Names in the checkpoints of gpt-oss: one tensor for all experts, where columns of gate and linear half alternate."""

from derivations.architectures.checkpoints.family import Family, Stored, attention, head, norm, table

__all__ = ["GPT_OSS"]

AT, EXPERTS = "layers.{n}.self_attn", "layers.{n}.mlp.experts"
HALVES, SHIFTS = ("W_gate", "W_up"), ("b_gate", "b_up")
TOGETHER = f"{EXPERTS}.gate_up_proj"
GPT_OSS = Family(
    {
        **table("E", "embed_tokens.weight"),
        **attention("decoder.self_attention", *(f"{AT}.{letter}_proj" for letter in "qkvo")),
        "decoder.self_attention.sinks": Stored(f"{AT}.sinks"),
        **{f"decoder.experts.{W}": Stored(TOGETHER, True, HALVES, stacked=True, by_column=True) for W in HALVES},
        **{
            f"decoder.experts.{b}": Stored(f"{TOGETHER}_bias", False, SHIFTS, stacked=True, by_column=True)
            for b in SHIFTS
        },
        "decoder.experts.W_down": Stored(f"{EXPERTS}.down_proj", True, stacked=True),
        "decoder.experts.b_down": Stored(f"{EXPERTS}.down_proj_bias", stacked=True),
        "decoder.experts.W_router": Stored("layers.{n}.mlp.router.weight"),
        "decoder.experts.b_router": Stored("layers.{n}.mlp.router.bias"),
        **norm("decoder.self_attention_norm", "layers.{n}.input_layernorm"),
        **norm("decoder.feed_forward_norm", "layers.{n}.post_attention_layernorm"),
        **norm("decoder.final_norm", "norm"),
        **head(),
    },
    prefixes=("model.",),
)
