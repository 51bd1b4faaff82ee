"""Decoders with recurrences in some layers, described by data alone: attention is that of `plain`.

Source       beside each entry; fields, defaults and orders are those of the library `transformers`
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from derivations.architectures.checkpoints.family import Family as Names
from derivations.architectures.checkpoints.recurrent import BAMBA, GRANITE_HYBRID, LFM_2
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.readers.plain import Decoder, Recurrences, Scale, Sparse, reader_of, runs
from derivations.architectures.hugging_face.readers.plain_decoders import FIVE, GRANITE, MLP_BIAS
from derivations.architectures.hugging_face.readers.state_spaces import HYBRID, heads_of, short

__all__ = ["RECURRENT_DECODERS"]

HEADS = Recurrences(partial(heads_of, names=HYBRID), recurrent=("linear_attention", "mamba"))
LISTED = ("conv",), ("full_attention",)
UNREAD = (
    "block_dim",
    "block_norm_eps",
    "conv_dim",
    "conv_dim_out",
    "num_heads",
    "theta",
    "use_pos_enc",
    "block_use_swiglu",
)
STARTING = ("block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init", "conv_use_xavier_init")


def _adjusted(f: Fields) -> int:
    """Return the width of the network: two thirds of the field times a factor, rounded up to a multiple, if asked."""
    found, multiple = (
        f.whole("intermediate_size", 12288, ("block_ff_dim",)) or 1,
        f.whole("block_multiple_of", 256) or 1,
    )
    factor = f.take("block_ffn_dim_multiplier", 1.0)
    if not f.flag("block_auto_adjust_ff_dim", True):
        return found
    found = int(2 * found / 3)  # as the library rounds
    if factor is None:
        return found
    found = int(f.number("block_ffn_dim_multiplier", "1") * found)
    return multiple * -(-found // multiple)


LIQUID = Decoder(
    eps=("norm_eps", "1e-5"),
    groups=8,
    biases=(False, False),
    query_key_norm=True,
    base="1000000",
    tied=True,
    only={"tie_embedding": (True,)},
    recurrences=Recurrences(short, "layer_types", *LISTED, numbers="full_attn_idxs", attends=True),
)

# model_type: the prefix of the library's classes, the family, and the names of its weights in checkpoints
RECURRENT_DECODERS: dict[str, tuple[str, Decoder, Names]] = {
    "bamba": (  # IBM, Princeton, CMU and UIUC (2024), Bamba-9B
        "Bamba",
        Decoder(
            eps=FIVE,
            groups=8,
            network_biases=MLP_BIAS,
            share="0.5",
            recurrences=replace(HEADS, numbers="attn_layer_indices"),
            without_effect=("z_loss_coefficient",),
        ),
        BAMBA,
    ),
    "granitemoehybrid": (  # IBM (2025), Granite 4.0
        "GraniteMoeHybrid",
        replace(
            GRANITE,
            network_biases=False,
            positions=("position_embedding_type", "rope"),
            sparse=Sparse(shared="shared_intermediate_size", shared_default=1024, optional=True),
            recurrences=HEADS,
        ),
        GRANITE_HYBRID,
    ),
    "lfm2": (  # Liquid AI (2025), LFM2
        "Lfm2",
        replace(LIQUID, network_width=_adjusted, without_effect=(*UNREAD, *STARTING)),
        LFM_2,
    ),
    "lfm2_moe": (  # Liquid AI (2025), LFM2-8B-A1B
        "Lfm2Moe",
        replace(
            LIQUID,
            sparse=Sparse(
                ("num_experts",),
                "moe_intermediate_size",
                ("norm_topk_prob", True),
                dense=("num_dense_layers", 2),
                scoring="sigmoid",
                scale=Scale("routed_scaling_factor"),
                corrected=True,
            ),
            without_effect=("use_expert_bias",),
        ),
        LFM_2,
    ),
}

for model_type, (prefix, decoder, names) in RECURRENT_DECODERS.items():
    family(model_type, decoder_heads(prefix), names, runs=runs(decoder))(reader_of(decoder))
