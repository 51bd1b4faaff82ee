"""Gemma, Gemma 2 and Gemma 3: token rows times sqrt(d_model), and the changes of each release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sympy import Rational, sqrt

from derivations.activations.gelu import gelu_tanh
from derivations.architectures.checkpoints.llama import GEMMA, GEMMA_2
from derivations.architectures.checkpoints.plain import VAULTGEMMA
from derivations.architectures.description import Attention, Block, Embedding, Head, Norm, Stack
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import REQUIRED, Fields
from derivations.architectures.hugging_face.positions import rotary, rotary_of, table_of_kind
from derivations.architectures.hugging_face.readers.gated import (
    KINDS,
    decoder_of,
    gated_feed_forward,
    kinds_of_layers,
    same_biases,
    window_of,
)
from derivations.architectures.hugging_face.shared import Parts, grouped_heads, language_head, norm, runs, uniform
from derivations.language.arrays.functions import gelu
from derivations.symbols import d_model

__all__ = ["cap", "gemma", "gemma2", "gemma3", "vaultgemma"]


@family("gemma", decoder_heads("Gemma"), GEMMA)
def gemma(f: Fields, kind: str) -> Parts:
    """Gemma (Gemma Team 2024a): token rows times sqrt(d_model)."""
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    heads, groups = grouped_heads(f, required=True, width=256)
    attention = Attention(heads, groups, biases=same_biases(f.flag("attention_bias", False)), positions=rotary(f))
    newer = f.take("hidden_activation", None) is not None
    feed_forward = gated_feed_forward(
        f, field="hidden_activation" if newer else "hidden_act", default="gelu_pytorch_tanh"
    )
    if feed_forward.activation == gelu and f.take("hidden_act", None) == "gelu":
        f.assumptions.append('hidden_act "gelu" is read as its approximation by tanh, as the releases mean it')
        feed_forward = replace(feed_forward, activation=gelu_tanh)
    parts = decoder_of(f, kind, uniform(f, Block(attention, feed_forward, rms)), rms, tied=True)
    return _scaled(parts)


def _scaled(parts: Parts) -> Parts:
    """Return the same parts with token rows times sqrt(d_model)."""
    assert parts.decoder is not None
    return replace(parts, decoder=replace(parts.decoder, embedding=Embedding(scale=sqrt(d_model))))


@family("gemma2", decoder_heads("Gemma2"), GEMMA_2)
def gemma2(f: Fields, kind: str) -> Parts:
    """Gemma 2 (Gemma Team 2024b): norms before and after sub-layers, capped scores, a window in every other layer."""
    rms, attention, head = _gemma(f, kind, groups=None, caps=("50.0", "30.0"))
    f.only("sliding_window_size", f.config.get("sliding_window"))  # another name of the same
    f.only("hidden_act", f.config.get("hidden_activation"))
    full = replace(attention, positions=rotary(f))
    return _alternating(f, head, rms, full, full, kinds_of_layers(f, lambda i: i % 2 == 0))


@family("vaultgemma", decoder_heads("VaultGemma"), VAULTGEMMA)
def vaultgemma(f: Fields, kind: str) -> Parts:
    """VaultGemma (Sinha et al. 2025): Gemma 2 without norms after sub-layers."""
    parts = gemma2(f, kind)
    assert parts.decoder is not None
    runs_before = tuple(
        replace(run, blocks=tuple(replace(block, order="pre") for block in run.blocks)) for run in parts.decoder.runs
    )
    return replace(parts, decoder=replace(parts.decoder, runs=runs_before))


@family("gemma3_text", {"Gemma3ForCausalLM": "language_model", "Gemma3TextModel": "none"}, GEMMA_2)
def gemma3(f: Fields, kind: str) -> Parts:
    """Gemma 3 (Gemma Team 2025): norms of queries and keys, five layers with a window for each one without."""
    rms, attention, head = _gemma(f, kind, groups=4, caps=(None, None))
    listed = f.take("layer_types", None) is not None
    pattern = f.whole("sliding_window_pattern", None if listed else 6, ("_sliding_window_pattern",), none=True) or 6
    tables = f.table("rope_parameters") or {}
    by_kind = any(each in tables for each in KINDS)
    base, local = f.number("rope_theta", "1000000"), f.number("rope_local_base_freq", "10000")
    scaling = f.table("rope_scaling") or {}
    of_full = {**table_of_kind(f, tables, KINDS[0]), **scaling} if by_kind else scaling or tables
    of_local = table_of_kind(f, tables, KINDS[1]) if by_kind else {}
    attention = replace(attention, norm=rms)
    full = replace(attention, positions=rotary_of(f, of_full, base))
    near = replace(attention, positions=rotary_of(f, of_local, local))
    return _alternating(f, head, rms, full, near, kinds_of_layers(f, lambda i: (i + 1) % pattern != 0))


def _gemma(
    f: Fields, kind: str, *, groups: int | None, caps: tuple[str | None, str | None]
) -> tuple[Norm, Attention, Head]:
    """Return the norm, the attention without positions, and the head."""
    f.whole("max_position_embeddings", None, none=True)
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    heads, shared = grouped_heads(f, groups, required=groups is None, width=256)
    scale = 1 / sqrt(f.number("query_pre_attn_scalar", "256"))
    of_scores, of_output = cap(f, "attn_logit_softcapping", caps[0]), cap(f, "final_logit_softcapping", caps[1])
    biases = same_biases(f.flag("attention_bias", False))
    attention = Attention(heads, shared, biases=biases, score_scale=scale, soft_cap=of_scores)
    return rms, attention, replace(language_head(f, kind, tied=True), soft_cap=of_output)


def cap(f: Fields, field: str, default: str | None) -> Rational | None:
    """Return the bound of a soft cap, or None if there is no cap."""
    capped = f.take(field, default) is not None
    return f.number(field, default or REQUIRED) if capped else None


def _alternating(f: Fields, head: Head, rms: Norm, full: Attention, near: Attention, kinds: Sequence[str]) -> Parts:
    """Return layers with norms before and after sub-layers, and with a window where `kinds` has one."""
    feed_forward = gated_feed_forward(f, field="hidden_activation", default="gelu_pytorch_tanh")
    window = window_of(f, 4096)
    if window is None and KINDS[1] in kinds:
        raise f.error("sliding_window", "is null, and there are layers with a window")
    of_kind = {
        KINDS[0]: Block(full, feed_forward, rms, "sandwich"),
        KINDS[1]: Block(replace(near, window=window), feed_forward, rms, "sandwich"),
    }
    layers = runs(f, [of_kind[each] for each in kinds])
    embedding = Embedding(scale=sqrt(d_model))
    return Parts(head, decoder=Stack(layers, embedding, causal=True, final_norm=rms))
