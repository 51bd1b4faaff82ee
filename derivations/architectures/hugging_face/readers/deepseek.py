"""DeepSeek-V3: latent attention, and experts after the first layers."""

from __future__ import annotations

from sympy import Rational, log, sqrt

from derivations.architectures.description import (
    Attention,
    Block,
    Embedding,
    Experts,
    FeedForward,
    Latent,
    Norm,
    Run,
    Stack,
)
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.positions import rotary_of
from derivations.architectures.hugging_face.readers.gated import check_groups
from derivations.architectures.hugging_face.shared import Parts, activation, language_head, norm
from derivations.symbols import d_ff, d_k, d_model, d_v, h, size

__all__ = ["deepseek_v3"]


@family("deepseek_v3", decoder_heads("DeepseekV3"))
def deepseek_v3(f: Fields, kind: str) -> Parts:
    """DeepSeek-V3 (DeepSeek-AI 2024), the main model."""
    for field, understood in _UNDERSTOOD.items():
        f.only(field, understood)
    f.whole("max_position_embeddings", None, none=True)
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    f.size(d_model, "hidden_size")
    attention = _latent_attention(f)
    function = activation(f, "hidden_act", "silu")
    dense = Block(attention, FeedForward(function, True, False, f.size(d_ff, "intermediate_size")), rms)
    sparse = Block(attention, _experts(f), rms)
    layers = _layers(f, dense, sparse)
    _prediction_layers(f)
    head = language_head(f, kind, tied=False)
    return Parts(head, decoder=Stack(layers, Embedding(), causal=True, final_norm=rms))


_UNDERSTOOD: dict[str, object] = {
    "attention_bias": False,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "moe_layer_freq": 1,
}


def _latent_attention(f: Fields) -> Attention:
    """Return attention with keys and values from one latent row, and queries from another or from the row itself."""
    f.size(h, "num_attention_heads")
    f.only("num_key_value_heads", f.values[h], None)
    f.size(d_k, "qk_nope_head_dim")
    f.size(d_v, "v_head_dim")
    turned = f.size(size("d_rotary"), "qk_rope_head_dim")
    f.only("qk_head_dim", f.values[d_k] + f.values[turned])
    f.only("head_dim", f.values[turned])
    rank = f.whole("q_lora_rank", 1536, none=True)
    latent = Latent(
        f.size(size("key_value_rank"), "kv_lora_rank"),
        None if rank is None else f.let(size("query_rank"), rank),
        turned,
    )
    table = f.table("rope_scaling") or f.table("rope_parameters") or {}
    f.table("rope_parameters")
    positions = rotary_of(
        f, table, f.number("rope_theta", "10000"), width=turned, halves=not f.flag("rope_interleave", True)
    )
    rule = dict(positions.scaling)
    scale = 1 / sqrt(d_k + turned)
    if rule.get("mscale_all_dim"):
        scale *= (1 + rule["mscale_all_dim"] * log(rule["factor"]) / 10) ** 2
    return Attention(h, positions=positions, norm=Norm("rms", Rational(1, 10**6)), score_scale=scale, latent=latent)


def _experts(f: Fields) -> Experts:
    """Return the routed experts, chosen by sigmoid scores, and the shared ones."""
    experts, chosen = f.size(size("experts"), "n_routed_experts", also=("num_local_experts",)), size("chosen")
    f.size(chosen, "num_experts_per_tok")
    if f.values[chosen] > f.values[experts]:
        raise f.error("num_experts_per_tok", f"is {f.values[chosen]}, more than the {f.values[experts]} experts")
    d_expert = f.size(size("d_expert"), "moe_intermediate_size")
    shared = f.whole("n_shared_experts", 1, none=True, least=0)
    d_shared = f.let(size("d_shared"), shared * f.values[d_expert]) if shared else None
    found = Experts(
        experts,
        chosen,
        d_expert,
        activation(f, "hidden_act", "silu"),
        d_shared=d_shared,
        scoring="sigmoid",
        normalised=f.flag("norm_topk_prob", True),
        scale=f.number("routed_scaling_factor", "2.5"),
    )
    check_groups(f, 8, 4)
    return found


def _layers(f: Fields, dense: Block, sparse: Block) -> tuple[Run, ...]:
    """Return some dense layers, followed by layers with experts."""
    count = f.whole("num_hidden_layers") or 1
    first = f.whole("first_k_dense_replace", 3, least=0) or 0
    pairs = [(dense, "N_dense", min(first, count)), (sparse, "N_experts", max(count - first, 0))]
    return tuple(Run((block,), f.let(size(name), number)) for block, name, number in pairs if number)


def _prediction_layers(f: Fields) -> None:
    """Omit the layers that predict tokens further ahead."""
    ahead = f.whole("num_nextn_predict_layers", 0, ("num_mtp_layers",), least=0)
    if ahead:
        f.part = "the main model, without what predicts further tokens"
        f.assumptions.append(f"{f.part} (num_nextn_predict_layers {ahead})")
