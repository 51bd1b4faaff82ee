"""Decoders of the usual fields, which their configurations have under other names or in objects of fields."""

from __future__ import annotations

from derivations.architectures.checkpoints.plain import DBRX
from derivations.architectures.description import Norm
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.readers.plain import Decoder, Sparse, reader_of
from derivations.architectures.hugging_face.shared import Parts

__all__ = ["dbrx"]

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
