"""Names in the checkpoints of encoders with decoders: T5 and BART."""

from collections.abc import Mapping

from derivations.architectures.checkpoints.family import Family, Stored, attention, gated, head, network, norm, table

__all__ = ["BART", "T5"]


def _t5_stack(stack: str) -> Mapping[str, Stored]:
    block = f"{stack}.block.{{n}}.layer"
    last = 2 if stack == "decoder" else 1
    dense = f"{block}.{last}.DenseReluDense"
    return {
        **attention(f"{stack}.self_attention", *(f"{block}.0.SelfAttention.{letter}" for letter in "qkvo")),
        **attention(f"{stack}.cross_attention", *(f"{block}.1.EncDecAttention.{letter}" for letter in "qkvo")),
        **network(stack, f"{dense}.wi", f"{dense}.wo"),
        **gated(f"{stack}.feed_forward", f"{dense}.wi_0", f"{dense}.wi_1", f"{dense}.wo"),
        **norm(f"{stack}.self_attention_norm", f"{block}.0.layer_norm"),
        **norm(f"{stack}.cross_attention_norm", f"{block}.1.layer_norm"),
        **norm(f"{stack}.feed_forward_norm", f"{block}.{last}.layer_norm"),
        **norm(f"{stack}.final_norm", f"{stack}.final_layer_norm"),
        **table(
            f"{stack}.relative_position_bias.table",
            f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        ),
    }


T5 = Family(
    {**table("E", "shared.weight"), **_t5_stack("encoder"), **_t5_stack("decoder"), **head()},
    same=dict.fromkeys(
        ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"), "shared.weight"
    ),
    ignored=(r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight",),
)


def _bart_stack(stack: str) -> Mapping[str, Stored]:
    block, names = f"{stack}.layers.{{n}}", ("q_proj", "k_proj", "v_proj", "out_proj")
    return {
        **table(f"P_{stack}", f"{stack}.embed_positions.weight"),
        **norm(f"{stack}_embedding_norm", f"{stack}.layernorm_embedding"),
        **attention(f"{stack}.self_attention", *(f"{block}.self_attn.{name}" for name in names)),
        **attention(f"{stack}.cross_attention", *(f"{block}.encoder_attn.{name}" for name in names)),
        **network(stack, f"{block}.fc1", f"{block}.fc2"),
        **norm(f"{stack}.self_attention_norm", f"{block}.self_attn_layer_norm"),
        **norm(f"{stack}.cross_attention_norm", f"{block}.encoder_attn_layer_norm"),
        **norm(f"{stack}.feed_forward_norm", f"{block}.final_layer_norm"),
        **norm(f"{stack}.final_norm", f"{stack}.layer_norm"),
    }


BART = Family(
    {
        **table("E", "shared.weight"),
        **_bart_stack("encoder"),
        **_bart_stack("decoder"),
        **head(),
        "b_head": Stored("final_logits_bias", axes="flat"),
    },
    prefixes=("model.",),
    same=dict.fromkeys(
        ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"), "shared.weight"
    ),
    zero=("final_logits_bias",),
    ignored=(r"(encoder|decoder)\.(version|embed_positions\.weights)",),  # the latter are computed, of M2M-100
)
