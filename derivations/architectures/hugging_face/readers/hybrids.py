"""Decoders whose layers are of several kinds: state spaces beside attention, or one part alone in every layer."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Rational, sqrt

from derivations.architectures.checkpoints.recurrent import FALCON_H1, NEMOTRON_H
from derivations.architectures.description import Attention, Block, Embedding, Experts, FeedForward, Recurrent, Stack
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields, positive
from derivations.architectures.hugging_face.positions import rotary
from derivations.architectures.hugging_face.readers.gated import groups_of
from derivations.architectures.hugging_face.readers.state_spaces import HYBRID, Names, heads_of
from derivations.architectures.hugging_face.shared import (
    Parts,
    activation,
    grouped_heads,
    language_head,
    norm,
    runs,
    uniform,
)
from derivations.language.arrays.functions import Named, named
from derivations.symbols import d_ff, d_k, scalar, size

__all__ = ["falcon_h1", "nemotron_h"]

t = scalar("t")


def _numbers(f: Fields, field: str, count: int) -> list[Rational]:
    """Return a list of positive numbers; 1 for each if there is none."""
    given = f.take(field, None)
    if given is None:
        return [Rational(1)] * count
    if not isinstance(given, list) or len(given) != count:
        raise f.error(field, f"must be a list of {count} numbers")
    return [positive(f, field, each) for each in given]


def _scaled(function: Named, inner: Expr, outer: Expr) -> Named:
    """Return the function outer * f(inner * t) for an activation f."""
    if inner == outer == 1:
        return function
    name = f"{function.name}_of_{inner}_times_{outer}".replace("/", "_over_")
    return named(name, outer * function.formula(inner * t), t)


@family("falcon_h1", decoder_heads("FalconH1"), FALCON_H1)
def falcon_h1(f: Fields, kind: str) -> Parts:
    """Falcon-H1 (Zuo et al. 2025): a state space beside attention in every layer, and fixed multipliers."""
    rms = norm(f, "rms_norm_eps", "1e-5", "rms")
    heads, groups = grouped_heads(f, 8)
    biased, wide = f.flag("attention_bias", False), f.flag("mlp_bias", False)
    inner, key = (f.number(f"{each}_multiplier", "1") for each in ("attention_in", "key"))
    gate, down = _numbers(f, "mlp_multipliers", 2)
    into = f.number("ssm_in_multiplier", "1")
    for field, number, with_bias in (
        ("attention_in_multiplier", inner, biased),
        ("mlp_multipliers", down, wide),
        ("ssm_in_multiplier", into, f.take("mamba_proj_bias", False) is True),
    ):
        if with_bias and number != 1:
            raise f.error(field, "multiplies beside a bias, which is not described; only 1 is understood there")
    scores = inner**2 * key
    attention = Attention(
        *(heads, groups),
        biases=(biased,) * 4,
        positions=rotary(f),
        score_scale=None if scores == 1 else scores / sqrt(d_k),
    )
    block = Block(
        attention,
        FeedForward(
            _scaled(activation(f, "hidden_act", "silu"), gate, down), True, wide, f.size(d_ff, "intermediate_size")
        ),
        rms,
        beside=_beside(f, [into * each for each in _numbers(f, "ssm_multipliers", 5)]),
        attention_scale=inner * f.number("attention_out_multiplier", "1"),
        beside_scale=f.number("ssm_out_multiplier", "1"),
    )
    f.take("max_position_embeddings", None)
    head = replace(language_head(f, kind, tied=False), scale=f.number("lm_head_multiplier", "1"))
    embedding = Embedding(scale=f.number("embedding_multiplier", "1"))
    return Parts(head, decoder=Stack(uniform(f, block), embedding, causal=True, final_norm=rms))


def _beside(f: Fields, scales: list[Rational]) -> Recurrent:
    """Return the state space beside attention, whose width is read from a separate field."""
    columns = f.whole("mamba_d_ssm", 1024, none=True)
    before = f.flag("mamba_norm_before_gate", True)
    normed = "none" if not f.flag("mamba_rms_norm", False) else "by group before the gate" if before else "by group"
    f.only("projectors_bias", f.flag(HYBRID.biases, False))
    return heads_of(f, HYBRID, columns=columns, norm=normed, scales=scales)


LETTERS = {"M": "linear_attention", "E": "moe", "*": "full_attention", "-": "mlp"}
OLD_WORDS = {"mamba": "linear_attention", "attention": "full_attention"}
UNREAD = ("mamba_proj_bias", "mamba_ssm_cache_dtype", "moe_shared_expert_overlap", "num_hidden_layers")
NEMOTRON = Names(
    *(("ssm_state_size", 128), ("conv_kernel", 4), ("expand", 2)),
    heads=("mamba_num_heads", 128),
    head_width=("mamba_head_dim", 64),
)


@family("nemotron_h", decoder_heads("NemotronH"), NEMOTRON_H)
def nemotron_h(f: Fields, kind: str) -> Parts:
    """Nemotron-H (NVIDIA 2025): every layer is one part, a state space, attention, a network or experts."""
    f.only("num_nextn_predict_layers", 0)
    f.only("tie_word_embeddings", False)  # the library's class has a matrix of its own whatever the field says
    for name in (*UNREAD, "max_position_embeddings", "mtp_layers_block_type", "mtp_hybrid_override_pattern"):
        f.take(name, None)
    rms = norm(f, "layer_norm_epsilon", "1e-5", "rms")
    heads, groups = grouped_heads(f, 8, width=128)
    mixer = heads_of(f, NEMOTRON, expanded=False, act="mamba_hidden_act", least=f.number("time_step_min", "0.001"))
    wide, function = f.flag("mlp_bias", False), activation(f, "mlp_hidden_act", "relu2")
    network = FeedForward(function, False, wide, f.size(d_ff, "intermediate_size", 21504))
    parts: dict[str, tuple[Attention | Recurrent | None, FeedForward | Experts | None]] = {
        "linear_attention": (mixer, None),
        "full_attention": (Attention(heads, groups), None),
        "mlp": (None, network),
        "moe": (None, _routed(f, function)),
    }
    words = _words(f)
    if "moe" in words and wide:
        raise f.error("mlp_bias", "is true, and there are experts, whose biases are not described")
    layers = runs(f, [Block(*parts[each], rms) for each in words])
    return Parts(language_head(f, kind, tied=False), decoder=Stack(layers, Embedding(), causal=True, final_norm=rms))


def _words(f: Fields) -> list[str]:
    """Return the kind of every layer, as a list of words or a text of letters gives them."""
    pattern, name = f.take("hybrid_override_pattern", None), f.given("layers_block_type", ("layer_types",))
    listed = f.words(name, (*LETTERS.values(), *OLD_WORDS)) if name else None
    f.take("layer_types", None)
    if listed is None and pattern is not None:
        if not isinstance(pattern, str) or not set(pattern) <= set(LETTERS):
            raise f.error("hybrid_override_pattern", f"must be a text of the letters {' '.join(LETTERS)}")
        listed = [LETTERS[each] for each in pattern]
    return [OLD_WORDS.get(each, each) for each in listed or ["linear_attention", "moe", "full_attention", "mlp"]]


def _routed(f: Fields, function: Named) -> Experts:
    """Return the mixture of experts of two matrices each, with a shared one."""
    f.only("moe_latent_size", None)
    f.only("n_shared_experts", 1)
    experts = f.size(size("experts"), "n_routed_experts", 8, ("num_local_experts",))
    chosen = f.size(size("chosen"), "num_experts_per_tok", 2)
    width = f.size(size("d_expert"), "moe_intermediate_size", 7688)
    shared = f.size(size("d_shared"), "moe_shared_expert_intermediate_size", 7688)
    groups = groups_of(f, 1, 1)
    return Experts(
        *(experts, chosen, width, function, shared),
        scoring="sigmoid",
        normalised=f.flag("norm_topk_prob", True),
        scale=f.number("routed_scaling_factor", "1"),
        gated=False,
        buffered=True,
        groups=groups,
    )
