"""Decoders with recurrences in some layers, described by data alone: attention is that of `plain`.

Source       beside each entry; fields, defaults and orders are those of the library `transformers`
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sympy import Expr, Integer, Rational

from derivations.architectures.checkpoints.family import Family as Names
from derivations.architectures.checkpoints.recurrent import (
    BAMBA,
    GRANITE_HYBRID,
    LFM_2,
    LFM_2_EXPERTS,
    MINIMAX,
    OLMO_HYBRID,
    QWEN_3_5,
    QWEN_3_NEXT,
)
from derivations.architectures.description import Block, Recurrent
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.readers.plain import Decoder, Recurrences, Scale, Sparse, reader_of
from derivations.architectures.hugging_face.readers.plain_decoders import FIVE, GRANITE, MLP_BIAS, NONE
from derivations.architectures.hugging_face.readers.state_spaces import HYBRID, heads_of, short
from derivations.architectures.hugging_face.shared import activation, listed_layers
from derivations.recurrences.causal_convolution import width
from derivations.recurrences.gated_delta_net import gated_delta_net, heads_of_key, key_heads, key_width, value_width
from derivations.recurrences.lightning_attention import lightning_attention
from derivations.symbols import d_model, h

__all__ = ["RECURRENT_DECODERS"]

ONE = Integer(1)
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
STARTING_RATES = tuple(f"linear_{each}" for each in ("a_log_min", "a_log_max", "dt_min", "dt_max", "dt_init_floor"))
STARTING = ("block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init", "conv_use_xavier_init")


def _adjusted(f: Fields) -> int:
    """Return the network's width: as given, or two thirds of it times a factor, rounded up to a multiple."""
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
    recurrences=Recurrences(short, "layer_types", *LISTED, numbers="full_attn_idxs", attends=lambda i, count: True),
)


def _delta(f: Fields, *, scale: Expr = ONE, eps: str | None = None) -> Recurrent:
    """Return the Gated DeltaNet that the fields describe."""
    f.size(width, "linear_conv_kernel_dim", 4)
    keys, number = f.whole("linear_num_key_heads", 16) or 1, f.whole("linear_num_value_heads", 32) or 1
    f.let(key_heads, keys)
    f.let(heads_of_key, f.quotient("linear_num_value_heads", number, "linear_num_key_heads", keys))
    f.size(key_width, "linear_key_head_dim", 128)
    f.size(value_width, "linear_value_head_dim", 128)
    function = activation(f, "hidden_act", "silu")
    return Recurrent(
        gated_delta_net(function, scale=scale, eps=Rational(eps) if eps else f.number("rms_norm_eps", "1e-6"))
    )


def _delta_or_mirrored(f: Fields) -> Recurrent:
    """Return the Gated DeltaNet of OLMo Hybrid, whose corrections may be doubled.

    Sizes that are not given follow from attention.
    """
    count, columns = f.whole("num_attention_heads") or 1, f.values[d_model]
    for field in ("linear_num_key_heads", "linear_num_value_heads"):
        f.config[field] = f.whole(field, None, none=True) or count
    keys = f.whole("linear_num_key_heads") or 1
    each = f.whole("linear_key_head_dim", None, none=True) or int(0.75 * columns / keys)
    f.config["linear_key_head_dim"] = each
    f.config["linear_value_head_dim"] = f.whole("linear_value_head_dim", None, none=True) or 2 * each
    return _delta(f, scale=Integer(2) if f.flag("linear_allow_neg_eigval", True) else ONE, eps="1e-5")


def _after_attention(f: Fields, block: Block) -> Block:
    """Return a layer of OLMo Hybrid, with norms after its sub-layers if it has attention, else before them."""
    return replace(block, order="pre") if isinstance(block.attention, Recurrent) else block


def _lightning(f: Fields) -> list[Recurrent]:
    """Return lightning attention for each layer, with decay rates that fall from layer to layer."""
    count, function = listed_layers(f), activation(f, "hidden_act", "silu")
    f.let(h, f.whole("num_attention_heads") or 1)
    small = Rational(1, 10**5)
    factors = (1 - Integer(i) / (count - 1 + small) + small for i in range(count))
    return [Recurrent(lightning_attention(function, factor=factor)) for factor in factors]


def _mixed(f: Fields, block: Block) -> Block:
    """Return a layer of MiniMax, with the scales of its kind for normalised rows and for residual branches."""
    linear, full, network = (
        (f.number(f"{kind}_alpha_factor", "1"), f.number(f"{kind}_beta_factor", "1"))
        for kind in ("linear_attn", "full_attn", "mlp")
    )
    return replace(block, mixing=(linear if isinstance(block.attention, Recurrent) else full, network))


ROUTED = Sparse(
    ("num_experts", "num_local_experts"),
    "moe_intermediate_size",
    shared="shared_expert_intermediate_size",
    shared_default=512,
    shared_gate=True,
)
QWEN = Decoder(
    groups=2,
    head_width=256,
    query_key_norm=True,
    output_gate=True,
    share="0.25",
    recurrences=Recurrences(_delta, period=("full_attention_interval", 4)),
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
    "qwen3_next": (  # Qwen Team (2025), Qwen3-Next
        "Qwen3Next",
        replace(QWEN, sparse=replace(ROUTED, normalised=("norm_topk_prob", True), listed=True)),
        QWEN_3_NEXT,
    ),
    "qwen3_5_text": (
        "Qwen3_5 Qwen3_5Text",
        replace(QWEN, groups=4, three_axes=True),
        QWEN_3_5,
    ),  # Qwen Team (2026), Qwen3.5
    "qwen3_5_moe_text": ("Qwen3_5Moe Qwen3_5MoeText", replace(QWEN, sparse=ROUTED, three_axes=True), QWEN_3_5),
    "olmo_hybrid": (  # OLMo Team (2026), OLMo Hybrid
        "OlmoHybrid",
        Decoder(
            order="after",
            own_width=False,
            query_key_norm=True,
            norm_over_all=True,
            recurrences=Recurrences(
                _delta_or_mirrored, attends=lambda i, count: i % 4 == 3 or (count < 4 and i == count - 1)
            ),
            unrotated_if_null=True,
            without_effect=STARTING_RATES,
            finish=_after_attention,
        ),
        OLMO_HYBRID,
    ),
    "minimax": (  # MiniMax (2025), MiniMax-Text-01
        "MiniMax",
        Decoder(
            eps=FIVE,
            order="normed",
            groups=8,
            biases=NONE,
            base="1000000",
            sparse=Sparse(("num_local_experts", "num_experts")),
            recurrences=Recurrences(_lightning, attends=lambda i, count: i % 2 == 0),
            finish=_mixed,
            without_effect=("block_size", "router_jitter_noise"),
        ),
        MINIMAX,
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
                buffered=("use_expert_bias", True),
                eps="1e-6",
            ),
        ),
        LFM_2_EXPERTS,
    ),
}

for model_type, (prefix, decoder, names) in RECURRENT_DECODERS.items():
    family(model_type, decoder_heads(prefix), names)(reader_of(decoder))
