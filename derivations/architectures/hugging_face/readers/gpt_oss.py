"""gpt-oss: attention with sinks, windows in every other layer, experts with biases and bounded activations."""

from __future__ import annotations

from dataclasses import replace

from sympy import Max, Min, exp

from derivations.architectures.checkpoints.gpt_oss import GPT_OSS
from derivations.architectures.description import Attention, Block, Experts
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.positions import rotary, turn_by
from derivations.architectures.hugging_face.readers.gated import (
    KINDS,
    decoder_of,
    kinds_of_layers,
    same_biases,
    window_of,
)
from derivations.architectures.hugging_face.shared import Parts, grouped_heads, norm, runs
from derivations.language.arrays.functions import Named, named
from derivations.symbols import scalar, size

__all__ = ["gpt_oss"]

t = scalar("t")
OF_GPT_OSS: dict[str, object] = {
    **{"rope_type": "yarn", "rope_theta": 150000.0, "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0},
    **{"truncate": False, "original_max_position_embeddings": 4096},
}


@family("gpt_oss", decoder_heads("GptOss"), GPT_OSS)
def gpt_oss(f: Fields, kind: str) -> Parts:
    """gpt-oss (OpenAI 2025): every head has a sink, every matrix of an expert a bias."""
    rms = norm(f, "rms_norm_eps", "1e-5", "rms")
    heads, groups = grouped_heads(f, 8, width=64)
    f.whole("initial_context_length", None, none=True)
    turn_by(f, OF_GPT_OSS)
    attention = Attention(
        heads,
        groups,
        biases=same_biases(f.flag("attention_bias", True)),
        positions=rotary(f, "150000"),
        sinks=True,
    )
    full = Block(attention, _experts(f), rms)
    window = window_of(f, 128)
    kinds = kinds_of_layers(f, lambda i: i % 2 == 0)
    if window is None and KINDS[1] in kinds:
        raise f.error("sliding_window", "is null, and there are layers with a window")
    near = replace(full, attention=replace(attention, window=window))
    return decoder_of(f, kind, runs(f, [near if each == KINDS[1] else full for each in kinds]), rms)


def _experts(f: Fields) -> Experts:
    """Return experts with the gate m sigmoid(a m), m = min(x, c).

    Their linear half is clipped to [-c, c], plus 1.
    """
    f.only("hidden_act", "silu")
    experts = f.size(size("experts"), "num_local_experts", also=("num_experts",))
    chosen = f.size(size("chosen"), "num_experts_per_tok", also=("experts_per_token",))
    if f.values[chosen] > f.values[experts]:
        raise f.error("num_experts_per_tok", f"is {f.values[chosen]}, more than the {f.values[experts]} experts")
    slope, bound = f.number("swiglu_alpha", "1.702"), f.number("swiglu_limit", "7.0")
    gate: Named = named("bounded_swish", Min(t, bound) / (1 + exp(-slope * Min(t, bound))), t)
    linear: Named = named("bounded_linear", Max(-bound, Min(t, bound)) + 1, t)
    d_expert = f.size(size("d_expert"), "intermediate_size")
    return Experts(experts, chosen, d_expert, gate, biases=True, linear_activation=linear)
