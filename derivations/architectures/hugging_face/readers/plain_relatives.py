"""Decoders of the usual fields, which their configurations have under other names or in objects of fields."""

from __future__ import annotations

from dataclasses import replace

from derivations.architectures.checkpoints.llama import LLAMA
from derivations.architectures.checkpoints.plain import DBRX
from derivations.architectures.description import Attention, Block, Norm, Temperature
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields, positive
from derivations.architectures.hugging_face.readers.plain import Decoder, Sparse, Windows, reader_of
from derivations.architectures.hugging_face.shared import Parts

__all__ = ["dbrx", "ministral3"]

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
    rule = dict(f.table("rope_parameters") or OF_MINISTRAL)
    rule.pop("max_position_embeddings", None)  # that of the model, which changes nothing here
    grown = Temperature(
        *(
            positive(f, f"rope_parameters.{field}", rule.get(field))
            for field in ("llama_4_scaling_beta", "original_max_position_embeddings")
        )
    )
    del rule["llama_4_scaling_beta"]
    f.config["rope_parameters"] = rule
    decoder = Decoder(
        eps=("rms_norm_eps", "1e-5"), groups=8, head_width=128, biases=(False, False), windows=Windows(listed=False)
    )
    return _replaced(reader_of(decoder)(f, kind), temperature=grown)


def _replaced(parts: Parts, **changes: object) -> Parts:
    """Return a decoder whose attention has some other fields."""
    assert parts.decoder is not None

    def changed(block: Block) -> Block:
        assert isinstance(block.attention, Attention)
        return replace(block, attention=replace(block.attention, **changes))  # type: ignore[arg-type]

    runs = tuple(replace(run, blocks=tuple(map(changed, run.blocks))) for run in parts.decoder.runs)
    return replace(parts, decoder=replace(parts.decoder, runs=runs))
