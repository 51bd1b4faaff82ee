"""Decoders with latent attention: DeepSeek's, with experts after the first layers, and relatives without experts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sympy import Rational, log, sqrt

from derivations.architectures.checkpoints.deepseek import DEEPSEEK_V3
from derivations.architectures.checkpoints.recurrent import KIMI_LINEAR
from derivations.architectures.description import (
    Attention,
    Block,
    Embedding,
    Experts,
    FeedForward,
    Indexer,
    Latent,
    Norm,
    Recurrent,
    Run,
    Stack,
)
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.positions import rotary_of
from derivations.architectures.hugging_face.readers.gated import groups_of
from derivations.architectures.hugging_face.shared import (
    Parts,
    activation,
    language_head,
    listed_layers,
    norm,
    runs,
    uniform,
)
from derivations.recurrences.causal_convolution import width
from derivations.recurrences.gated_delta_net import key_heads, key_width, kimi_delta_attention, value_width
from derivations.symbols import d_ff, d_k, d_model, d_v, h, size

__all__ = [
    "Defaults",
    "deepseek_v2",
    "deepseek_v3",
    "experts_replaced",
    "glm4_moe_lite",
    "kimi_linear",
    "minicpm3",
    "sarvam_mla",
    "with_experts",
    "youtu",
]


@dataclass(frozen=True)
class IndexerDefaults:
    """Defaults of the fields that concern an indexer; its columns are rotated in halves or as neighbours."""

    heads: int
    halves: bool
    columns: int = 128
    chosen: int = 2048


@dataclass(frozen=True)
class Defaults:
    """The library's defaults for latent attention and experts.

    The first `dense` layers have no experts.

    A group of experts is ranked by the sum of its `best` largest scores.
    """

    query_rank: int | None = 1536
    rotated: bool = True
    halves: bool | None = None  # None where a field says so
    scale: str = "2.5"
    shared: int = 1
    normalised: bool = True
    dense: int = 3
    groups: tuple[int | None, int | None] = (8, 4)
    best: int = 2
    eps: str = "1e-6"
    indexer: IndexerDefaults | None = None


@family("kimi_k2", decoder_heads("DeepseekV3"), DEEPSEEK_V3)
@family("deepseek_v3", decoder_heads("DeepseekV3"), DEEPSEEK_V3)
def deepseek_v3(f: Fields, kind: str) -> Parts:
    """DeepSeek-V3 (DeepSeek-AI 2024) without its prediction layers.

    Kimi K2 (Kimi Team 2025) has other sizes and one group.
    """
    for field, understood in _UNDERSTOOD.items():
        f.only(field, understood)
    _prediction_layers(f)
    return with_experts(f, kind, Defaults())


@family("sarvam_mla", decoder_heads("DeepseekV3") | decoder_heads("SarvamMLA"), DEEPSEEK_V3)
def sarvam_mla(f: Fields, kind: str) -> Parts:
    """Sarvam 105B (Sarvam AI 2026): DeepSeek-V3 with one dense layer and one group."""
    f.rename(OF_SARVAM)
    cached = (f.whole("kv_lora_rank") or 0) + (f.whole("qk_rope_head_dim") or 0)
    if f.config.get("head_dim") == cached:  # of what is kept for a position, in the first files
        f.config["head_dim"] = f.config["qk_rope_head_dim"]
    rule = f.config.get("rope_scaling")
    if isinstance(rule, dict) and rule.get("type") == "deepseek_yarn":
        f.config["rope_scaling"] = rule | {"type": "yarn"}
    for field, understood in _UNDERSTOOD.items():
        f.only(field, understood)
    _prediction_layers(f)
    return with_experts(f, kind, Defaults(query_rank=None, dense=1, groups=(1, 1)))


@family("deepseek_v32", decoder_heads("DeepseekV32"), DEEPSEEK_V3)
def deepseek_v32(f: Fields, kind: str) -> Parts:
    """DeepSeek-V3.2 (DeepSeek-AI 2025): DeepSeek-V3, where positions attend to the keys that an indexer chooses."""
    return _sparse(f, kind, Defaults(halves=False, indexer=IndexerDefaults(64, halves=True)))


@family("glm_moe_dsa", decoder_heads("GlmMoeDsa"), DEEPSEEK_V3)
def glm_moe_dsa(f: Fields, kind: str) -> Parts:
    """GLM-5 (Z.ai 2026): DeepSeek-V3.2 with one group of experts; every layer has an indexer of its own."""
    count = f.whole("num_hidden_layers", 78) or 1
    listed = f.words("indexer_types", ("full", "shared"))
    if listed is not None and (len(listed) != count or "shared" in listed):
        raise f.error("indexer_types", 'has another list than "full" for every layer, which is not understood')
    for field, understood in (("index_topk_pattern", None), ("index_topk_freq", 1), ("index_skip_topk_offset", 2)):
        f.only(field, understood)
    indexer = IndexerDefaults(32, halves=False)
    return _sparse(f, kind, Defaults(query_rank=2048, groups=(1, 1), eps="1e-5", halves=False, indexer=indexer))


def _sparse(f: Fields, kind: str, usual: Defaults) -> Parts:
    """Return a decoder in which every layer has an indexer."""
    assert usual.indexer is not None
    rotated = (("rope_interleave", True), ("indexer_rope_interleave", not usual.indexer.halves))  # fixed in the library
    for field, understood in (*_UNDERSTOOD.items(), ("mlp_bias", False), *rotated):
        f.only(field, understood)
    listed = f.words("layer_types", ("indexed_attention",))
    if listed is not None and len(listed) != f.whole("num_hidden_layers"):
        raise f.error("layer_types", f"has {len(listed)} entries, and another number of layers is given")
    dense = _listed_dense(f)
    if dense is not None:
        f.config["first_k_dense_replace"] = dense  # which the library does not read beside a list
    _prediction_layers(f)
    return with_experts(f, kind, usual)


@family("deepseek_v2", decoder_heads("DeepseekV2"), DEEPSEEK_V3)
def deepseek_v2(f: Fields, kind: str) -> Parts:
    """DeepSeek-V2 (DeepSeek-AI 2024): experts chosen by softmax, with weights that are not normalised."""
    for field, understood in (("scoring_func", "softmax"), ("moe_layer_freq", 1)):
        f.only(field, understood)
    grouped = f.choice("topk_method", {"greedy": False, "group_limited_greedy": True}, "greedy")
    f.flag("norm_topk_prob", False)  # which the library does not read
    parts = with_experts(f, kind, Defaults(scale="1", shared=2, dense=0, groups=(None, None), best=1, halves=False))
    of_all = {} if grouped else {"groups": None}
    return experts_replaced(parts, scoring="softmax", normalised=False, buffered=False, **of_all)


@family("glm4_moe_lite", decoder_heads("Glm4MoeLite"), DEEPSEEK_V3)
def glm4_moe_lite(f: Fields, kind: str) -> Parts:
    """GLM-4.7-Flash (Z.ai 2026): DeepSeek-V3 with one dense layer."""
    dense = _listed_dense(f)
    dense = 1 if dense is None else dense
    f.only("first_k_dense_replace", dense)  # which the library does not read
    return with_experts(f, kind, Defaults(query_rank=768, scale="1.8", dense=dense, groups=(1, 1), eps="1e-5"))


def _listed_dense(f: Fields) -> int | None:
    """Return the number of dense layers in the list of networks, None without a list; they must come first."""
    listed = f.words("mlp_layer_types", ("dense", "sparse"))
    if listed is None:
        return None
    dense = listed.count("dense")
    if listed != ["dense"] * dense + ["sparse"] * (len(listed) - dense):
        raise f.error("mlp_layer_types", "has a dense layer after one with experts, which is not understood")
    if len(listed) != f.whole("num_hidden_layers"):
        raise f.error("mlp_layer_types", f"has {len(listed)} entries, and another number of layers is given")
    return dense


@family("youtu", decoder_heads("Youtu"), DEEPSEEK_V3)
def youtu(f: Fields, kind: str) -> Parts:
    """Youtu-LLM (Tencent 2026): latent attention before dense networks."""
    return _dense(f, kind, Defaults())


@family("minicpm3", decoder_heads("MiniCPM3"), DEEPSEEK_V3)
def minicpm3(f: Fields, kind: str) -> Parts:
    """MiniCPM3 (Hu et al. 2024): scaled embeddings, residual sums and scores."""
    parts = _dense(f, kind, Defaults(query_rank=768, halves=True))
    assert parts.decoder is not None
    (run,) = parts.decoder.runs
    depth = f.number("scale_depth", "1.4") / sqrt(f.values[run.count])
    base = f.whole("dim_model_base", 256, none=True) or f.values[d_model]
    runs = (replace(run, blocks=tuple(replace(each, residual_scale=depth) for each in run.blocks)),)
    stack = replace(parts.decoder, runs=runs, embedding=Embedding(scale=f.number("scale_emb", "12")))
    return Parts(replace(parts.head, scale=Rational(base, f.values[d_model])), decoder=stack)


# the names of the fields in the first files of Sarvam's models, and those of DeepSeek-V3
OF_SARVAM = {"num_experts": "n_routed_experts", "num_shared_experts": "n_shared_experts", "q_head_dim": "qk_head_dim"}
# the names of the fields of Kimi Linear, and those of DeepSeek-V3
OF_KIMI = {
    "num_experts": "n_routed_experts",
    "num_shared_experts": "n_shared_experts",
    "num_experts_per_token": "num_experts_per_tok",
    "num_expert_group": "n_group",
    "moe_renormalize": "norm_topk_prob",
    "model_max_length": "max_position_embeddings",
}


@family("kimi_linear", decoder_heads("KimiLinear"), KIMI_LINEAR)
def kimi_linear(f: Fields, kind: str) -> Parts:
    """Kimi Linear (Kimi Team 2025): Kimi Delta Attention, in some layers latent attention without positions."""
    for field, other in OF_KIMI.items():
        if field in f.config:
            f.config[other] = f.take(field)
    for field, understood in (("moe_router_activation_func", "sigmoid"), ("mla_use_nope", True), *_UNDERSTOOD.items()):
        f.only(field, understood)
    for field in ("pretraining_tp", "use_grouped_topk", "rope_theta", "rope_scaling"):  # nothing is rotated
        f.take(field, None)
    f.only("tie_word_embeddings", False)  # the library's class has a matrix of its own whatever the field says
    rms = norm(f, "rms_norm_eps", "1e-5", "rms")
    f.size(d_model, "hidden_size")
    usual = Defaults(query_rank=None, rotated=False, scale="2.446", groups=(1, 1))
    count, function = listed_layers(f), activation(f, "hidden_act", "silu")
    full, linear = _latent_attention(f, usual), Recurrent(kimi_delta_attention(function, eps=rms.eps))
    kinds = _of_kimi(f, count)
    first = f.whole("first_k_dense_replace", 1, least=0) or 0
    networks = f.words("mlp_layer_types", ("dense", "sparse")) or ["dense"] * first + ["sparse"] * (count - first)
    if not len(kinds) == len(networks) == count:
        raise f.error("layer_types", f"or mlp_layer_types has another number of entries than {count} layers")
    f.whole("intermediate_size", None, none=True)
    dense = FeedForward(function, True, False, f.size(d_ff, "intermediate_size")) if "dense" in networks else None
    sparse = _experts(f, usual)
    blocks = [
        Block(full if each == "full_attention" else linear, dense if network == "dense" else sparse, rms)
        for each, network in zip(kinds, networks, strict=True)
    ]
    return _decoder(f, kind, runs(f, blocks), rms, tied=False)


def _of_kimi(f: Fields, count: int) -> list[str]:
    """Return the kind of every layer, and read the sizes of those with Kimi Delta Attention."""
    inner = f.table("linear_attn_config") or {}
    sizes = (("head_dim", key_width, 128), ("num_heads", key_heads, 32), ("short_conv_kernel_size", width, 4))
    for field, symbol, usual in sizes:
        name = {"short_conv_kernel_size": "linear_conv_kernel_dim"}.get(field, f"linear_{field}")
        if field in inner:
            f.config[name] = inner[field]
        f.size(symbol, name, usual)
    f.let(value_width, f.values[key_width])
    listed = f.words("layer_types", ("linear_attention", "full_attention"))
    if listed is not None:
        return listed
    attending = inner.get("full_attn_layers")
    if isinstance(attending, list):
        return ["full_attention" if i + 1 in attending else "linear_attention" for i in range(count)]
    return ["full_attention" if i and i % 4 == 0 else "linear_attention" for i in range(count)]


def with_experts(f: Fields, kind: str, usual: Defaults) -> Parts:
    """Return a decoder with latent attention, dense first layers and experts in the others."""
    rms = norm(f, "rms_norm_eps", usual.eps, "rms")
    f.size(d_model, "hidden_size")
    attention = _latent_attention(f, usual)
    function = activation(f, "hidden_act", "silu")
    dense = Block(attention, FeedForward(function, True, False, f.size(d_ff, "intermediate_size")), rms)
    layers = _layers(f, dense, Block(attention, _experts(f, usual), rms), usual)
    return _decoder(f, kind, layers, rms, tied=False)


def _dense(f: Fields, kind: str, usual: Defaults) -> Parts:
    """Return a decoder without experts, with scores from the table of tokens."""
    rms = norm(f, "rms_norm_eps", "1e-5" if usual.halves else "1e-6", "rms")
    f.size(d_model, "hidden_size")
    network = FeedForward(activation(f, "hidden_act", "silu"), True, False, f.size(d_ff, "intermediate_size"))
    return _decoder(f, kind, uniform(f, Block(_latent_attention(f, usual), network, rms)), rms, tied=True)


def _decoder(f: Fields, kind: str, layers: tuple[Run, ...], rms: Norm, *, tied: bool) -> Parts:
    f.whole("max_position_embeddings", None, none=True)
    f.only("attention_bias", False)
    head = language_head(f, kind, tied=tied)
    return Parts(head, decoder=Stack(layers, Embedding(), causal=True, final_norm=rms))


def experts_replaced(parts: Parts, **changes: object) -> Parts:
    """Return the same decoder with some fields of its experts changed."""
    assert parts.decoder is not None

    def changed(block: Block) -> Block:
        experts = block.feed_forward
        return replace(block, feed_forward=replace(experts, **changes)) if isinstance(experts, Experts) else block  # type: ignore[arg-type]

    runs = tuple(replace(run, blocks=tuple(map(changed, run.blocks))) for run in parts.decoder.runs)
    return replace(parts, decoder=replace(parts.decoder, runs=runs))


_UNDERSTOOD: dict[str, object] = {
    "attention_bias": False,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "moe_layer_freq": 1,
}


def _latent_attention(f: Fields, usual: Defaults) -> Attention:
    """Return attention with keys and values from one latent row, and queries from another or from the row itself."""
    f.size(h, "num_attention_heads")
    f.only("num_key_value_heads", f.values[h], None)
    f.size(d_k, "qk_nope_head_dim")
    f.size(d_v, "v_head_dim")
    turned = f.size(size("d_rotary"), "qk_rope_head_dim")
    f.only("qk_head_dim", f.values[d_k] + f.values[turned])
    f.only("head_dim", f.values[turned])
    rank = f.whole("q_lora_rank", usual.query_rank, none=True)
    latent = Latent(
        f.size(size("key_value_rank"), "kv_lora_rank"),
        None if rank is None else f.let(size("query_rank"), rank),
        turned,
        indexer=None if usual.indexer is None else _indexer(f, usual.indexer, f.values[turned]),
    )
    if latent.indexer is not None and rank is None:
        raise f.error("q_lora_rank", "is null, and an indexer reads the latent of the queries")
    if not usual.rotated:
        return Attention(h, norm=Norm("rms", Rational(1, 10**6)), score_scale=1 / sqrt(d_k + turned), latent=latent)
    table = f.table("rope_scaling") or f.table("rope_parameters") or {}
    f.table("rope_parameters")
    halves = usual.halves if usual.halves is not None else not f.flag("rope_interleave", True)
    positions = rotary_of(f, table, f.number("rope_theta", "10000"), width=turned, halves=halves)
    rule = dict(positions.scaling)
    scale = 1 / sqrt(d_k + turned)
    if rule.get("mscale_all_dim"):
        scale *= (1 + rule["mscale_all_dim"] * log(rule["factor"]) / 10) ** 2
    return Attention(h, positions=positions, norm=Norm("rms", Rational(1, 10**6)), score_scale=scale, latent=latent)


def _indexer(f: Fields, usual: IndexerDefaults, turned: int) -> Indexer:
    """Return the indexer, whose heads have columns that are not rotated."""
    columns = f.whole("index_head_dim", usual.columns) or 1
    if columns <= turned:
        raise f.error(
            "index_head_dim", f"is {columns}, of which {turned} are rotated; without others it is not described"
        )
    heads, chosen = f.size(size("index_heads"), "index_n_heads", usual.heads), size("index_keys")
    f.size(chosen, "index_topk", usual.chosen)
    return Indexer(heads, f.let(size("index_columns"), columns - turned), chosen, usual.halves, Rational(1, 10**6))


def _experts(f: Fields, usual: Defaults) -> Experts:
    """Return the routed experts, chosen by sigmoid scores, and the shared ones."""
    experts, chosen = f.size(size("experts"), "n_routed_experts", also=("num_local_experts",)), size("chosen")
    f.size(chosen, "num_experts_per_tok")
    if f.values[chosen] > f.values[experts]:
        raise f.error("num_experts_per_tok", f"is {f.values[chosen]}, more than the {f.values[experts]} experts")
    d_expert = f.size(size("d_expert"), "moe_intermediate_size")
    shared = f.whole("n_shared_experts", usual.shared, none=True, least=0)
    d_shared = f.let(size("d_shared"), shared * f.values[d_expert]) if shared else None
    found = Experts(
        experts,
        chosen,
        d_expert,
        activation(f, "hidden_act", "silu"),
        d_shared=d_shared,
        scoring="sigmoid",
        normalised=f.flag("norm_topk_prob", usual.normalised),
        scale=f.number("routed_scaling_factor", usual.scale),
        buffered=True,
    )
    return replace(found, groups=groups_of(f, *usual.groups, best=usual.best))


def _layers(f: Fields, dense: Block, sparse: Block, usual: Defaults) -> tuple[Run, ...]:
    """Return some dense layers, followed by layers with experts."""
    count = f.whole("num_hidden_layers") or 1
    first = f.whole("first_k_dense_replace", usual.dense, least=0) or 0
    pairs = [(dense, "N_dense", min(first, count)), (sparse, "N_experts", max(count - first, 0))]
    return tuple(Run((block,), f.let(size(name), number)) for block, name, number in pairs if number)


def _prediction_layers(f: Fields) -> None:
    """Omit the layers that predict tokens further ahead."""
    ahead = f.whole("num_nextn_predict_layers", 0, ("num_mtp_layers",), least=0)
    if ahead:
        f.part = "the main model, without what predicts further tokens"
        f.assumptions.append(f"{f.part} (num_nextn_predict_layers {ahead})")
