"""Names in the checkpoints of decoders with recurrences: state spaces, short convolutions, gated linear recurrences."""

from dataclasses import replace

from derivations.architectures.checkpoints.deepseek import DEEPSEEK_V3
from derivations.architectures.checkpoints.family import (
    Family,
    Stored,
    Table,
    also,
    attention,
    fused,
    gated,
    head,
    linear,
    network,
    norm,
    table,
)
from derivations.architectures.checkpoints.llama import LLAMA, MIXTRAL, QWEN_2_EXPERTS, llama_around
from derivations.architectures.checkpoints.plain import AFTER, AT, BLOCK, GRANITE_EXPERTS, LAYERS

__all__ = [
    "BAMBA",
    "FALCON_H1",
    "GRANITE_HYBRID",
    "JAMBA",
    "KIMI_LINEAR",
    "LFM_2",
    "LFM_2_EXPERTS",
    "MAMBA",
    "MAMBA_2",
    "MINIMAX",
    "NEMOTRON_H",
    "OLMO_HYBRID",
    "QWEN_3_5",
    "QWEN_3_NEXT",
    "RECURRENT_GEMMA",
    "RWKV",
]

MIXER, NETWORK = "decoder.mixer", "decoder.feed_forward"
DELTA_B_C = ("dt", "b", "c")
GATED = ("gate_proj", "up_proj", "down_proj")


def _kernels(theirs: str, letters: str) -> Table:
    """Return the names of kernels and biases of causal convolutions, whose columns are stored side by side."""
    kernels, biases = (tuple(f"{kind}_{letter}" for letter in letters.split()) for kind in ("K", "b_K"))
    return {
        **{f"{MIXER}.{K}": Stored(f"{theirs}.weight", beside=kernels, axes="pixels") for K in kernels},
        **{f"{MIXER}.{b}": Stored(f"{theirs}.bias", beside=biases) for b in biases},
    }


def _selective(theirs: str) -> Table:
    """Return the names of a selective state space."""
    return {
        **fused(MIXER, f"{theirs}.in_proj", "U Z"),
        **_kernels(f"{theirs}.conv1d", "V"),
        **fused(MIXER, f"{theirs}.x_proj", "P B C"),
        **linear(f"{MIXER}.W_Delta", f"{theirs}.dt_proj"),
        **table(f"{MIXER}.A", f"{theirs}.A_log"),
        f"{MIXER}.D": Stored(f"{theirs}.D", axes="flat"),
        **linear(f"{MIXER}.W_O", f"{theirs}.out_proj"),
    }


def _heads(theirs: str) -> Table:
    """Return the names of a state space with heads."""
    return {
        **fused(MIXER, f"{theirs}.in_proj", "Z U J K T"),
        **_kernels(f"{theirs}.conv1d", "V B C"),
        f"{MIXER}.A": Stored(f"{theirs}.A_log", axes="flat"),
        f"{MIXER}.D": Stored(f"{theirs}.D", axes="flat"),
        f"{MIXER}.b_Delta": Stored(f"{theirs}.dt_bias"),
        **norm(f"{MIXER}.G_norm", f"{theirs}.norm"),
        **linear(f"{MIXER}.W_O", f"{theirs}.out_proj"),
    }


MAMBA = Family(
    {
        **table("E", "embeddings.weight"),
        **norm("decoder.mixer_norm", f"{LAYERS}.norm"),
        **_selective(f"{LAYERS}.mixer"),
        **norm("decoder.final_norm", "norm_f"),
        **head(),
    },
    prefixes=("backbone.", "model."),
    same={"lm_head.weight": "embeddings.weight"},
)
MAMBA_2 = also(MAMBA, _heads(f"{LAYERS}.mixer"))
_ROUTED = {f"decoder.experts.W_{ours}": theirs for ours, theirs in zip(("gate", "up", "down"), GATED, strict=True)}
JAMBA = also(
    LLAMA,
    norm("decoder.mixer_norm", f"{LAYERS}.input_layernorm"),
    _selective(f"{LAYERS}.mamba"),
    *(
        norm(f"{MIXER}.{ours}_norm", f"{LAYERS}.mamba.{theirs}_layernorm")
        for ours, theirs in zip("PBC", DELTA_B_C, strict=True)
    ),
    norm("decoder.feed_forward_norm", f"{LAYERS}.pre_ff_layernorm"),
    gated(NETWORK, *(f"{LAYERS}.feed_forward.{each}" for each in GATED)),
    {ours: Stored(f"{LAYERS}.feed_forward.experts.{{e}}.{theirs}.weight") for ours, theirs in _ROUTED.items()},
    {"decoder.experts.W_router": Stored(f"{LAYERS}.feed_forward.router.weight")},
    norm("decoder.final_norm", "final_layernorm"),
)
BAMBA = also(
    LLAMA,
    norm("decoder.mixer_norm", f"{LAYERS}.input_layernorm"),
    _heads(f"{LAYERS}.mamba"),
    norm("decoder.feed_forward_norm", f"{LAYERS}.pre_ff_layernorm"),
    gated(NETWORK, *(f"{LAYERS}.feed_forward.{each}" for each in GATED)),
    norm("decoder.final_norm", "final_layernorm"),
)
FALCON_H1 = also(
    BAMBA,
    norm("decoder.self_attention_norm", f"{LAYERS}.input_layernorm"),
)
GRANITE_HYBRID = also(
    GRANITE_EXPERTS,
    norm("decoder.mixer_norm", f"{LAYERS}.input_layernorm"),
    _heads(f"{LAYERS}.mamba"),
    fused(NETWORK, f"{LAYERS}.shared_mlp.input_linear", "gate up"),
    linear(f"{NETWORK}.W_down", f"{LAYERS}.shared_mlp.output_linear"),
)
NEMOTRON_H = also(
    MAMBA_2,
    *(linear(f"decoder.self_attention.W_{letter.upper()}", f"{LAYERS}.mixer.{letter}_proj") for letter in "qkvo"),
    network("decoder", f"{LAYERS}.mixer.up_proj", f"{LAYERS}.mixer.down_proj"),
    norm("decoder.self_attention_norm", f"{LAYERS}.norm"),
    norm("decoder.feed_forward_norm", f"{LAYERS}.norm"),
)
LFM_2 = also(
    LLAMA,
    linear("decoder.self_attention.W_O", f"{LAYERS}.self_attn.out_proj"),
    norm("decoder.self_attention.query_norm", f"{LAYERS}.self_attn.q_layernorm"),
    norm("decoder.self_attention.key_norm", f"{LAYERS}.self_attn.k_layernorm"),
    norm("decoder.self_attention_norm", f"{LAYERS}.operator_norm"),
    norm("decoder.mixer_norm", f"{LAYERS}.operator_norm"),
    fused(MIXER, f"{LAYERS}.conv.in_proj", "B C V"),
    _kernels(f"{LAYERS}.conv.conv", "T"),
    linear(f"{MIXER}.W_O", f"{LAYERS}.conv.out_proj"),
    norm("decoder.feed_forward_norm", f"{LAYERS}.ffn_norm"),
    gated(NETWORK, *(f"{LAYERS}.feed_forward.{each}" for each in ("w1", "w3", "w2"))),
    norm("decoder.final_norm", "embedding_norm"),
)
LFM_2_EXPERTS = also(
    LFM_2,
    {
        f"decoder.experts.{W}": Stored(f"{LAYERS}.feed_forward.experts.{{e}}.{theirs}.weight")
        for W, theirs in (("W_gate", "w1"), ("W_up", "w3"), ("W_down", "w2"))
    },
    {
        "decoder.experts.W_router": Stored(f"{LAYERS}.feed_forward.gate.weight"),
        "decoder.experts.b_correction": Stored(f"{LAYERS}.feed_forward.expert_bias"),
    },
)


def _delta(theirs: str, output: str = "out_proj", norm_of_heads: str = "norm") -> Table:
    """Return the names of a Gated DeltaNet without its input projections."""
    return {
        **_kernels(f"{theirs}.conv1d", "Q K V"),
        f"{MIXER}.A": Stored(f"{theirs}.A_log", axes="flat"),
        f"{MIXER}.b_Delta": Stored(f"{theirs}.dt_bias"),
        **norm(f"{MIXER}.G_norm", f"{theirs}.{norm_of_heads}"),
        **linear(f"{MIXER}.W_O", f"{theirs}.{output}"),
    }


_DELTA = f"{LAYERS}.linear_attn"
_AROUND = (
    llama_around(added=1),
    norm("decoder.mixer_norm", f"{LAYERS}.input_layernorm", 1),
    norm(f"{BLOCK}.query_norm", f"{AT}.q_norm", 1),
    norm(f"{BLOCK}.key_norm", f"{AT}.k_norm", 1),
    fused(BLOCK, f"{AT}.q_proj", "Q G", by_head=True),
    _delta(_DELTA),
)
QWEN_3_NEXT = also(
    QWEN_2_EXPERTS,
    *_AROUND,
    fused(MIXER, f"{_DELTA}.in_proj_qkvz", "Q K V Z", by_head=True),
    fused(MIXER, f"{_DELTA}.in_proj_ba", "B T", by_head=True),
)
QWEN_3_5 = replace(
    also(
        QWEN_2_EXPERTS,
        *_AROUND,
        fused(MIXER, f"{_DELTA}.in_proj_qkv", "Q K V"),
        *(linear(f"{MIXER}.W_{ours}", f"{_DELTA}.in_proj_{theirs}") for ours, theirs in zip("ZBT", "zba", strict=True)),
    ),
    ignored=(*QWEN_2_EXPERTS.ignored, r"mtp\..*"),  # what predicts further tokens
)
OLMO_HYBRID = replace(
    also(
        AFTER,
        norm("decoder.mixer_norm", f"{LAYERS}.input_layernorm"),
        _delta(_DELTA, "o_proj", "o_norm"),
        *(_kernels(f"{_DELTA}.{letter}_conv1d", letter.upper()) for letter in "qkv"),
        *(
            linear(f"{MIXER}.W_{ours}", f"{_DELTA}.{theirs}_proj")
            for ours, theirs in zip("QKVBTZ", "qkvbag", strict=True)
        ),
    ),
    renamed={r"\battention_layer_norm\b": "input_layernorm", r"\bfeedforward_layer_norm\b": "post_attention_layernorm"},
    # after a recurrence the norm before the network has the name of the one after attention
    same={**AFTER.same, f"{LAYERS}.post_attention_layernorm.weight": f"{LAYERS}.post_feedforward_layernorm.weight"},
)
KIMI_LINEAR = replace(
    also(
        DEEPSEEK_V3,
        norm("decoder.mixer_norm", f"{LAYERS}.input_layernorm"),
        *(_kernels(f"{AT}.{letter}_conv1d", letter.upper()) for letter in "qkv"),
        *(
            linear(f"{MIXER}.W_{ours}", f"{AT}.{theirs}_proj")
            for ours, theirs in zip("QKVBFTUZO", ("q", "k", "v", "b", "f_a", "f_b", "g_a", "g_b", "o"), strict=True)
        ),
        {f"{MIXER}.A": Stored(f"{AT}.A_log", axes="flat"), f"{MIXER}.b_Delta": Stored(f"{AT}.dt_bias")},
        norm(f"{MIXER}.G_norm", f"{AT}.o_norm"),
        {
            f"decoder.experts.{W}": Stored(f"{LAYERS}.mlp.experts.{{e}}.{theirs}.weight")
            for W, theirs in (("W_gate", "w1"), ("W_up", "w3"), ("W_down", "w2"))
        },
    ),
    renamed={r"\.block_sparse_moe\.": ".mlp."},
)
MINIMAX = replace(
    also(
        MIXTRAL,
        norm("decoder.mixer_norm", f"{LAYERS}.input_layernorm"),
        fused(MIXER, f"{AT}.qkv_proj", "Q K V", by_head=True),
        linear(f"{MIXER}.W_Z", f"{AT}.output_gate"),
        norm(f"{MIXER}.G_norm", f"{AT}.norm"),
        linear(f"{MIXER}.W_O", f"{AT}.out_proj"),
    ),
    ignored=(*MIXTRAL.ignored, r"layers\.\d+\.self_attn\.(slope_rate|(query|key|diagonal)_decay)"),
)
_MIXED = "blocks.{n}"


def _mixing(ours: str, theirs: str) -> Table:
    """Return the names of the mixing weights and the projections of one RWKV sub-layer."""
    names = {"R": "receptance", "K": "key", "V": "value", "O": "output"}
    return {
        **{f"{ours}.mu_{X}": Stored(f"{theirs}.time_mix_{name}", axes="flat") for X, name in names.items()},
        **{f"{ours}.W_{X}": Stored(f"{theirs}.{name}.weight") for X, name in names.items()},
    }


RWKV = Family(
    {
        **table("E", "embeddings.weight"),
        **norm("embedding_norm", "blocks.0.pre_ln"),
        **norm("decoder.mixer_norm", f"{_MIXED}.ln1"),
        **_mixing(MIXER, f"{_MIXED}.attention"),
        f"{MIXER}.c": Stored(f"{_MIXED}.attention.time_decay", axes="flat"),
        f"{MIXER}.u": Stored(f"{_MIXED}.attention.time_first", axes="flat"),
        **norm("decoder.feed_forward_norm", f"{_MIXED}.ln2"),
        **_mixing("decoder.channel_mixer", f"{_MIXED}.feed_forward"),
        **norm("decoder.final_norm", "ln_out"),
        **head("head"),
    },
    prefixes=("rwkv.",),
    same={"head.weight": "embeddings.weight"},
)
_AT = f"{LAYERS}.temporal_block"
RECURRENT_GEMMA = also(
    LLAMA,
    norm("decoder.self_attention_norm", f"{LAYERS}.temporal_pre_norm", 1),
    norm("decoder.mixer_norm", f"{LAYERS}.temporal_pre_norm", 1),
    norm("decoder.feed_forward_norm", f"{LAYERS}.channel_pre_norm", 1),
    norm("decoder.final_norm", "final_norm", 1),
    gated(NETWORK, *(f"{LAYERS}.mlp_block.{each}" for each in GATED)),
    attention("decoder.self_attention", *(f"{_AT}.{letter}_proj" for letter in "qkvo")),
    linear(f"{MIXER}.W_Z", f"{_AT}.linear_y"),
    linear(f"{MIXER}.W_U", f"{_AT}.linear_x"),
    _kernels(f"{_AT}.conv_1d", "V"),
    *(
        {
            f"{MIXER}.W_{ours}": Stored(f"{_AT}.rg_lru.{theirs}_gate_weight", as_written=True, stacked=True),
            f"{MIXER}.b_{ours}": Stored(f"{_AT}.rg_lru.{theirs}_gate_bias", axes="flat"),
        }
        for ours, theirs in (("I", "input"), ("R", "recurrent"))
    ),
    {f"{MIXER}.A": Stored(f"{_AT}.rg_lru.recurrent_param", axes="flat")},
    linear(f"{MIXER}.W_O", f"{_AT}.linear_out"),
)
