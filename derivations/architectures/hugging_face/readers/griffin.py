"""RecurrentGemma: gated linear recurrences, and attention with a window in every third layer."""

from __future__ import annotations

from dataclasses import replace
from math import frexp, sqrt

from sympy import Expr, Integer, Rational

from derivations.architectures.checkpoints.recurrent import RECURRENT_GEMMA
from derivations.architectures.description import Attention, Block, Embedding, FeedForward, Recurrent, Stack
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.positions import rotary
from derivations.architectures.hugging_face.shared import (
    Parts,
    activation,
    grouped_heads,
    language_head,
    listed_layers,
    norm,
    runs,
)
from derivations.recurrences.causal_convolution import width
from derivations.recurrences.gated_recurrence import gate_width, gated_recurrence, gates
from derivations.symbols import d_ff, d_model, size

__all__ = ["recurrent_gemma"]

WORDS = ("recurrent", "attention")


@family("recurrent_gemma", decoder_heads("RecurrentGemma"), RECURRENT_GEMMA)
def recurrent_gemma(f: Fields, kind: str) -> Parts:
    """RecurrentGemma (Botev et al. 2024), a Griffin (De et al. 2024): every matrix of a network has a bias."""
    for name in ("w_init_variance_scale", "final_w_init_variance_scale", "max_position_embeddings"):
        f.take(name, None)
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    heads, groups = grouped_heads(f)
    biased = f.flag("attention_bias", False)
    window = f.let(size("window"), f.whole("attention_window_size", 2048) or 1)
    turned = rotary(f, share="0.5")
    attention = Attention(heads, groups, biases=(biased,) * 3 + (True,), positions=turned, window=window)
    f.size(width, "conv1d_width", 4)
    columns, number = f.whole("lru_width", None, none=True) or f.values[d_model], f.whole("num_attention_heads") or 1
    f.let(gates, number)
    f.let(gate_width, f.quotient("lru_width", columns, "num_attention_heads", number))
    function = activation(f, "hidden_activation", "gelu_pytorch_tanh")
    recurrent = Recurrent(gated_recurrence(function))
    f.let(d_ff, f.quotient("intermediate_size", f.whole("intermediate_size", 7680) or 2, "2", 2))
    kinds = f.words("block_types", WORDS) or ["recurrent", "recurrent", "attention"]
    mixers = [attention if each == "attention" else recurrent for each in kinds]
    network = FeedForward(function, True, True)
    blocks = [Block(mixers[i % len(mixers)], network, rms) for i in range(listed_layers(f))]
    head = replace(language_head(f, kind, tied=True), soft_cap=f.number("logits_soft_cap", "30.0"))
    embedding = Embedding(scale=_of_eight_bits(f.values[d_model]))
    return Parts(head, decoder=Stack(runs(f, blocks), embedding, causal=True, final_norm=rms))


def _of_eight_bits(columns: int) -> Expr:
    """Return the square root of the width as the library multiplies by it: rounded to bfloat16."""
    fraction, power = frexp(sqrt(columns))
    return Rational(round(fraction * 2**8), 2**8) * Integer(2) ** power
