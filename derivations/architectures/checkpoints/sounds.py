"""Names in the checkpoints of encoders of raw audio: wav2vec 2.0 and its relatives."""

from collections.abc import Mapping

from derivations.architectures.checkpoints.family import (
    OLD_ENDINGS,
    Family,
    Stored,
    affine,
    also,
    attention,
    head,
    linear,
    network,
    norm,
    table,
)

__all__ = ["wav2vec2"]

LAYER = "encoder.layers.{n}"
ENCODER = Family(
    {
        "mask_token": Stored("masked_spec_embed", as_written=True, axes="rows"),
        **norm("stem.norm", "feature_projection.layer_norm"),
        **affine("stem.projection", "feature_projection.projection"),
        **norm("embedding_norm", "encoder.layer_norm"),
        **attention("encoder.self_attention", *(f"{LAYER}.attention.{each}_proj" for each in ("q", "k", "v", "out"))),
        **network("encoder", f"{LAYER}.feed_forward.intermediate_dense", f"{LAYER}.feed_forward.output_dense"),
        **norm("encoder.self_attention_norm", f"{LAYER}.layer_norm"),
        **norm("encoder.feed_forward_norm", f"{LAYER}.final_layer_norm"),
        **norm("encoder.final_norm", "encoder.layer_norm"),
        **linear("encoder.self_attention.W_gate", f"{LAYER}.attention.gru_rel_pos_linear"),
        "encoder.self_attention.gate_scale": Stored(f"{LAYER}.attention.gru_rel_pos_const", axes="flat"),
        **table("encoder.relative_position_bias.table", "encoder.layers.0.attention.rel_attn_embed.weight"),
        **head(),
        **affine("classifier", "classifier"),
    },
    prefixes=("wav2vec2.", "hubert.", "unispeech.", "unispeech_sat.", "data2vec_audio.", "wavlm."),
    renamed={
        **OLD_ENDINGS,
        r"\.weight_g$": ".parametrizations.weight.original0",
        r"\.weight_v$": ".parametrizations.weight.original1",
    },
)


def _convolution(ours: str, theirs: str) -> Mapping[str, Stored]:
    return {f"{ours}.W": Stored(f"{theirs}.weight", axes="taps"), f"{ours}.b": Stored(f"{theirs}.bias")}


def wav2vec2(convolutions: int, *, normed_weights: bool) -> Family:
    """Return the names of a model with the given number of convolutions in its stem.

    Positions come from one convolution if `normed_weights`, else from several.
    """
    conv = "encoder.pos_conv_embed.conv"
    several = _convolution("positions.convolution", "encoder.pos_conv_embed.layers.{n}.conv")
    one = {
        "positions.convolution.W": Stored(f"{conv}.parametrizations.weight.original1", axes="taps"),
        "positions.convolution.gamma": Stored(f"{conv}.parametrizations.weight.original0", axes="flat"),
        "positions.convolution.b": Stored(f"{conv}.bias"),
    }
    stem: dict[str, Stored] = {}
    for number in range(convolutions):
        theirs = f"feature_extractor.conv_layers.{number}"
        stem |= _convolution(f"stem.conv_{number + 1}", f"{theirs}.conv")
        stem |= norm(f"stem.norm_{number + 1}", f"{theirs}.layer_norm")
    return also(ENCODER, stem, one if normed_weights else several)
