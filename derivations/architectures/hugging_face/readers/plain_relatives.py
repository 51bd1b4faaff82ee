"""Decoders with the usual fields, which their configurations keep under other names or in nested objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sympy import sqrt

from derivations.architectures.checkpoints.deepseek import DEEPSEEK_V3
from derivations.architectures.checkpoints.family import also
from derivations.architectures.checkpoints.llama import LLAMA
from derivations.architectures.checkpoints.plain import AFMOE, DBRX, LLAMA_4, STACKED
from derivations.architectures.description import Attention, Block, Embedding, FeedForward, Norm, Temperature
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields, positive
from derivations.architectures.hugging_face.positions import rotary
from derivations.architectures.hugging_face.readers.deepseek import Defaults, experts_replaced, with_experts
from derivations.architectures.hugging_face.readers.gated import decoder_of, experts_of, same_biases
from derivations.architectures.hugging_face.readers.plain import Decoder, Scale, Sparse, Windows, reader_of
from derivations.architectures.hugging_face.shared import Parts, grouped_heads, listed_layers, norm, runs
from derivations.symbols import d_ff, d_model, size

__all__ = ["afmoe", "dbrx", "llama4", "ministral3", "mistral4"]

DEFAULTS_OF_DBRX = {
    "num_key_value_heads": 1,
    "intermediate_size": 3584,
    "num_local_experts": 4,
    "num_experts_per_tok": 1,
}
OF_DBRX = {
    "attn_config": {"kv_n_heads": "num_key_value_heads"},
    "ffn_config": {
        "ffn_hidden_size": "intermediate_size",
        "moe_num_experts": "num_local_experts",
        "moe_top_k": "num_experts_per_tok",
    },
}


@family("dbrx", decoder_heads("Dbrx"), DBRX)
def dbrx(f: Fields, kind: str) -> Parts:
    """DBRX (Databricks 2024): experts in every layer, clipped queries, keys and values."""
    f.only("tie_word_embeddings", False)
    width = f.take("d_model")
    f.config |= DEFAULTS_OF_DBRX  # whatever stands outside of the objects, which alone are read
    for table, names in OF_DBRX.items():
        for field, value in (f.table(table) or {}).items():
            inner = f"{table}.{field}"
            if field == "hidden_size":  # that of the model, whatever is written here
                continue
            if field == "ffn_act_fn":
                function = Fields(value if isinstance(value, dict) else {"name": "silu"}, f.name)
                f.config["hidden_act"] = function.take("name", "silu")
                function.finish()
            elif field == "moe_normalize_expert_weights":
                f.config["norm_topk_prob"] = value is not None
                if value not in (None, 1):
                    raise f.error(inner, f"is {value}; only 1, by which the weights add up to 1, or null is read")
            elif field not in ("model_type", "moe_jitter_eps", "moe_loss_weight"):
                f.config[names.get(field, field)] = value
    f.config |= {"hidden_size": width}
    decoder = Decoder(
        norm=Norm("layer", shifted=False),
        eps="1e-5",
        groups=1,
        own_width=False,
        biases=(False, False),
        clip="clip_qkv",
        sparse=Sparse(normalised=("norm_topk_prob", True)),
        renamed={"n_heads": "num_attention_heads", "n_layers": "num_hidden_layers"},
        without_effect=("max_seq_len",),
    )
    return reader_of(decoder)(f, kind)


@family("afmoe", decoder_heads("Afmoe"), AFMOE)
def afmoe(f: Fields, kind: str) -> Parts:
    """Trinity (Arcee AI 2025): gated head outputs, norms around sub-layers, positions in layers with a window."""
    decoder = Decoder(
        eps=("rms_norm_eps", "1e-5"),
        order="sandwich",
        head_width=128,
        biases=(False, False),
        query_key_norm=True,
        output_gate=True,
        windows=Windows(1024, 4, rotated="windowed", period_field="global_attn_every_n_layers"),
        sparse=Sparse(
            ("num_experts",),
            "moe_intermediate_size",
            shared_number=("num_shared_experts", 2),
            dense=("num_dense_layers", 1),
            scoring="sigmoid",
            scale=Scale("route_scale"),
            corrected=True,
        ),
    )
    parts = reader_of(decoder)(f, kind)
    assert parts.decoder is not None
    embedding = Embedding(scale=sqrt(d_model)) if f.flag("mup_enabled", False) else parts.decoder.embedding
    return replace(parts, decoder=replace(parts.decoder, embedding=embedding))


OF_MINISTRAL = {
    "rope_type": "yarn",
    "rope_theta": 1000000.0,
    "factor": 16.0,
    "original_max_position_embeddings": 16384,
    "mscale_all_dim": 1.0,
    "mscale": 1.0,
    "llama_4_scaling_beta": 0.1,
}


@family("ministral3", decoder_heads("Ministral3"), LLAMA)
def ministral3(f: Fields, kind: str) -> Parts:
    """Ministral 3 (Mistral AI 2025): queries grow with their position."""
    grown = temperature_of(f, OF_MINISTRAL)
    decoder = Decoder(
        eps=("rms_norm_eps", "1e-5"), groups=8, head_width=128, biases=(False, False), windows=Windows(listed=False)
    )
    return _replaced(reader_of(decoder)(f, kind), temperature=grown)


def temperature_of(f: Fields, usual: Mapping[str, object]) -> Temperature:
    """Return the temperature of the queries, and remove its field from the rotary parameters."""
    rule = dict(f.table("rope_parameters") or usual)
    rule.pop("max_position_embeddings", None)  # that of the model, which changes nothing here
    strength, length = (
        positive(f, f"rope_parameters.{field}", rule.get(field))
        for field in ("llama_4_scaling_beta", "original_max_position_embeddings")
    )
    del rule["llama_4_scaling_beta"]
    f.config["rope_parameters"] = rule
    return Temperature(strength, length)


@family("mistral4", decoder_heads("Mistral4"), also(DEEPSEEK_V3, STACKED))
def mistral4(f: Fields, kind: str) -> Parts:
    """Mistral Small 4 (Mistral AI 2026): latent attention whose queries grow, experts chosen by softmax."""
    turned = f.whole("qk_rope_head_dim") or 1
    columns = turned + (f.whole("qk_nope_head_dim") or 1)
    grown = temperature_of(f, OF_MISTRAL)
    rule = f.table("rope_parameters") or {}
    share = turned / columns
    if rule.get("rope_type", rule.get("type")) != "yarn" or rule.get("partial_rotary_factor", share) != share:
        raise f.error("rope_parameters", "turn other columns than the shared ones, or are not of type yarn")
    f.config["rope_parameters"] = {field: each for field, each in rule.items() if field != "partial_rotary_factor"}
    f.only("head_dim", columns)
    f.config.pop("head_dim", None)  # with the columns that are not rotated, unlike that of DeepSeek-V3
    parts = with_experts(f, kind, Defaults(query_rank=1024, scale="1", dense=0, groups=(1, 1)))
    return _replaced(experts_replaced(parts, scoring="softmax", buffered=False), temperature=grown)


OF_MISTRAL = OF_MINISTRAL | {"rope_theta": 10000.0, "factor": 128.0, "original_max_position_embeddings": 8192}


@family("llama4_text", {"Llama4ForCausalLM": "language_model", "Llama4TextModel": "none"}, LLAMA_4)
def llama4(f: Fields, kind: str) -> Parts:
    """Llama 4 (Meta 2025): chunks of positions, some layers without positions, experts that read scaled rows."""
    rms = norm(f, "rms_norm_eps", "1e-5", "rms")
    for field in ("max_position_embeddings", "router_jitter_noise", "for_llm_compressor"):
        f.take(field, None)
    heads, groups = grouped_heads(f, 8, width=128)
    count, period = listed_layers(f), f.whole("no_rope_layer_interval", 4) or 4
    turned = f.numbers("no_rope_layers", 2) or [int((i + 1) % period != 0) for i in range(count)]
    chunk = f.whole("attention_chunk_size", 8192, none=True)
    usual = ["chunked_attention" if each and chunk is not None else "full_attention" for each in turned]
    kinds = f.words("layer_types", ("chunked_attention", "full_attention")) or usual
    if min(len(turned), len(kinds)) < count:
        raise f.error("no_rope_layers", f"or layer_types has fewer entries than {count} layers")
    if chunk is not None:
        f.assumptions.append("a step is counted as if it read all positions before it, those of earlier chunks as well")
    if chunk is None and "chunked_attention" in kinds[:count]:
        raise f.error("attention_chunk_size", "is null, and there are layers with chunks")
    full = Attention(heads, groups, biases=same_biases(f.flag("attention_bias", False)))
    normed = Norm("rms", rms.eps, scaled=False) if f.flag("use_qk_norm", True) else None
    near = replace(full, positions=rotary(f, "500000", halves=False), norm=normed, norm_after=True)
    grown = Temperature(f.number("attn_scale", "0.1"), f.number("floor_scale", "8192"), first=1)
    full = replace(full, temperature=grown if f.flag("attn_temperature_tuning", True) else None)
    sparse = experts_of(f, "intermediate_size", ("num_local_experts",), normalised=False)
    shared = f.let(size("d_shared"), f.values[size("d_expert")])
    sparse = replace(sparse, d_shared=shared, scoring="sigmoid", scaled_rows=True)
    step, listed = f.whole("interleave_moe_layer_step", 1) or 1, f.take("moe_layers", None)
    if listed is not None and not (isinstance(listed, list) and all(type(each) is int for each in listed)):
        raise f.error("moe_layers", "is no list of numbers of layers")
    with_experts = range(step - 1, count, step) if listed is None else listed
    wide = f.whole("intermediate_size_mlp", 16384) or 1
    dense = FeedForward(sparse.activation, True, False, d_ff)
    if any(i not in with_experts for i in range(count)):
        f.let(d_ff, wide)

    def layer(i: int) -> Block:
        attention = near if turned[i] else full
        if kinds[i] == "chunked_attention":
            attention = replace(attention, chunk=f.let(size("chunk"), chunk or 1))
        return Block(attention, sparse if i in with_experts else dense, rms)

    return decoder_of(f, kind, runs(f, [layer(i) for i in range(count)]), rms)


def _replaced(parts: Parts, **changes: object) -> Parts:
    """Return a decoder with some fields of its attention changed."""
    assert parts.decoder is not None

    def changed(block: Block) -> Block:
        assert isinstance(block.attention, Attention)
        return replace(block, attention=replace(block.attention, **changes))  # type: ignore[arg-type]

    layers = tuple(replace(run, blocks=tuple(map(changed, run.blocks))) for run in parts.decoder.runs)
    return replace(parts, decoder=replace(parts.decoder, runs=layers))
