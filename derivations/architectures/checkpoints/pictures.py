"""Names in the checkpoints of image and audio encoders."""

from collections.abc import Mapping
from dataclasses import replace

from derivations.architectures.checkpoints.encoder_decoders import BART
from derivations.architectures.checkpoints.family import (
    Family,
    Stored,
    affine,
    also,
    attention,
    fused,
    gated,
    linear,
    network,
    norm,
    table,
)

__all__ = [
    "CLIP_TEXT",
    "CLIP_VISION",
    "DINOV2",
    "DINOV3",
    "OWL_VISION",
    "QWEN2_VISION",
    "QWEN3_VISION",
    "SIGLIP_TEXT",
    "SIGLIP_VISION",
    "VIT",
    "WHISPER",
    "WHISPER_ENCODER",
]


def _kernel(ours: str, theirs: str, axes: str) -> Mapping[str, Stored]:
    return {f"{ours}.W": Stored(f"{theirs}.weight", axes=axes), f"{ours}.b": Stored(f"{theirs}.bias")}  # type: ignore[arg-type]


def _rows(ours: str, theirs: str) -> Mapping[str, Stored]:
    return {ours: Stored(theirs, as_written=True, axes="rows")}


def _layer(at: str, norms: tuple[str, str], names: tuple[str, ...]) -> Mapping[str, Stored]:
    """Return the names of a layer with norms before its attention and its network."""
    return {
        **attention("encoder.self_attention", *(f"{at}.{name}" for name in names)),
        **network("encoder", f"{at}.mlp.fc1", f"{at}.mlp.fc2"),
        **norm("encoder.self_attention_norm", f"{at}.{norms[0]}"),
        **norm("encoder.feed_forward_norm", f"{at}.{norms[1]}"),
    }


PROJECTIONS = tuple(f"self_attn.{name}_proj" for name in ("q", "k", "v", "out"))
VIT = Family(
    {
        **_kernel("stem", "embeddings.patch_embeddings.projection", "pixels"),
        **_rows("class_token", "embeddings.cls_token"),
        **_rows("distillation_token", "embeddings.distillation_token"),
        **_rows("P", "embeddings.position_embeddings"),
        **_layer(
            "encoder.layer.{n}",
            ("layernorm_before", "layernorm_after"),
            (*(f"attention.attention.{name}" for name in ("query", "key", "value")), "attention.output.dense"),
        ),
        **network("encoder", "encoder.layer.{n}.intermediate.dense", "encoder.layer.{n}.output.dense"),
        **norm("encoder.final_norm", "layernorm"),
        **affine("pooler", "pooler.dense"),
        **affine("classifier", "classifier"),
    },
    prefixes=("vit.", "deit.", "ijepa."),
)
DINOV2 = replace(
    VIT,
    weights={
        **VIT.weights,
        **_rows("mask_token", "embeddings.mask_token"),
        **_rows("registers", "embeddings.register_tokens"),
        **network("encoder", "encoder.layer.{n}.mlp.fc1", "encoder.layer.{n}.mlp.fc2"),
        **norm("encoder.self_attention_norm", "encoder.layer.{n}.norm1"),
        **norm("encoder.feed_forward_norm", "encoder.layer.{n}.norm2"),
        "encoder.self_attention_scale.gamma": Stored("encoder.layer.{n}.layer_scale1.lambda1"),
        "encoder.feed_forward_scale.gamma": Stored("encoder.layer.{n}.layer_scale2.lambda1"),
    },
)
DINOV3 = replace(
    VIT,
    weights={
        **_kernel("stem", "embeddings.patch_embeddings", "pixels"),
        **_rows("class_token", "embeddings.cls_token"),
        **_rows("registers", "embeddings.register_tokens"),
        **_rows("mask_token", "embeddings.mask_token"),
        **attention("encoder.self_attention", *(f"layer.{{n}}.attention.{name}_proj" for name in "qkvo")),
        **network("encoder", "layer.{n}.mlp.up_proj", "layer.{n}.mlp.down_proj"),
        **gated("encoder.feed_forward", *(f"layer.{{n}}.mlp.{name}_proj" for name in ("gate", "up", "down"))),
        **norm("encoder.self_attention_norm", "layer.{n}.norm1"),
        **norm("encoder.feed_forward_norm", "layer.{n}.norm2"),
        "encoder.self_attention_scale.gamma": Stored("layer.{n}.layer_scale1.lambda1"),
        "encoder.feed_forward_scale.gamma": Stored("layer.{n}.layer_scale2.lambda1"),
        **norm("encoder.final_norm", "norm"),
    },
    prefixes=("model.",),
    zero=("embeddings.register_tokens",),  # no numbers, where there are no registers
)
CLIP_TEXT = Family(
    {
        **table("E", "embeddings.token_embedding.weight"),
        **table("P", "embeddings.position_embedding.weight"),
        **_layer("encoder.layers.{n}", ("layer_norm1", "layer_norm2"), PROJECTIONS),
        **norm("encoder.final_norm", "final_layer_norm"),
        "W_embedded": Stored("text_projection.weight"),
    },
    prefixes=("text_model.",),
)
SIGLIP_TEXT = also(CLIP_TEXT, affine("pooler", "head"))
CLIP_VISION = Family(
    {
        **CLIP_TEXT.weights,
        **_kernel("stem", "embeddings.patch_embedding", "pixels"),
        "class_token": Stored("embeddings.class_embedding", as_written=True, axes="rows"),
        **norm("embedding_norm", "pre_layrnorm"),
        "W_embedded": Stored("visual_projection.weight"),
        **norm("final_norm", "post_layernorm"),
    },
    prefixes=("vision_model.",),
)
OWL_VISION = also(CLIP_VISION, norm("embedding_norm", "pre_layernorm"))
SIGLIP_VISION = replace(
    CLIP_VISION,
    weights={
        **CLIP_VISION.weights,
        **norm("encoder.final_norm", "post_layernorm"),
        **_rows("probe", "head.probe"),
        **fused("pooler_attention", "head.attention.in_proj", "Q K V"),
        **linear("pooler_attention.W_O", "head.attention.out_proj"),
        **norm("pooler_norm", "head.layernorm"),
        **linear("pooler_network.W_1", "head.mlp.fc1"),
        **linear("pooler_network.W_2", "head.mlp.fc2"),
    },
    renamed={r"\.in_proj_(weight|bias)$": r".in_proj.\1"},
)
QWEN2_VISION = Family(
    {
        **_kernel("stem", "patch_embed.proj", "pixels"),
        **fused("encoder.self_attention", "blocks.{n}.attn.qkv", "Q K V"),
        **linear("encoder.self_attention.W_O", "blocks.{n}.attn.proj"),
        **network("encoder", "blocks.{n}.mlp.fc1", "blocks.{n}.mlp.fc2"),
        **norm("encoder.self_attention_norm", "blocks.{n}.norm1"),
        **norm("encoder.feed_forward_norm", "blocks.{n}.norm2"),
    }
)
QWEN3_VISION = also(
    QWEN2_VISION,
    table("P", "pos_embed.weight"),
    network("encoder", *(f"blocks.{{n}}.mlp.linear_fc{i}" for i in (1, 2))),
)
WHISPER = replace(
    BART,
    weights={
        **BART.weights,
        **table("E", "decoder.embed_tokens.weight"),
        **_kernel("stem.conv_1", "encoder.conv1", "taps"),
        **_kernel("stem.conv_2", "encoder.conv2", "taps"),
    },
    same={"proj_out.weight": "decoder.embed_tokens.weight"},
)
WHISPER_ENCODER = Family(
    {
        "P" if ours == "P_encoder" else ours: replace(stored, name=stored.name.removeprefix("encoder."))
        for ours, stored in WHISPER.weights.items()
        if stored.name.startswith("encoder.")
    }
)
