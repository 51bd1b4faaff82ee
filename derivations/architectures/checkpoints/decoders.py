"""Names in the checkpoints of decoders whose layout differs from that of Llama."""

from dataclasses import replace

from derivations.architectures.checkpoints.family import (
    Family,
    Stored,
    attention,
    fused,
    head,
    in_sections,
    linear,
    network,
    norm,
    table,
)

__all__ = [
    "BIOGPT",
    "BLOOM",
    "CODEGEN",
    "FALCON",
    "GPT",
    "GPT_2",
    "GPT_BIGCODE",
    "GPT_J",
    "GPT_NEO",
    "GPT_NEOX",
    "MPT",
    "OPT",
    "XGLM",
]


GPT_2 = Family(
    {
        **table("E", "wte.weight"),
        **table("P", "wpe.weight"),
        **fused("decoder.self_attention", "h.{n}.attn.c_attn", "Q K V", as_written=True),
        **linear("decoder.self_attention.W_O", "h.{n}.attn.c_proj", as_written=True),
        **linear("decoder.feed_forward.W_1", "h.{n}.mlp.c_fc", as_written=True),
        **linear("decoder.feed_forward.W_2", "h.{n}.mlp.c_proj", as_written=True),
        **norm("decoder.self_attention_norm", "h.{n}.ln_1"),
        **norm("decoder.feed_forward_norm", "h.{n}.ln_2"),
        **norm("decoder.final_norm", "ln_f"),
        **head(),
    },
    prefixes=("transformer.",),
    same={"lm_head.weight": "wte.weight"},
    ignored=(r"h\.\d+\.attn\.(bias|masked_bias)",),
)
GPT_J = Family(
    {
        **table("E", "wte.weight"),
        **attention("decoder.self_attention", *(f"h.{{n}}.attn.{each}_proj" for each in ("q", "k", "v", "out"))),
        **network("decoder", "h.{n}.mlp.fc_in", "h.{n}.mlp.fc_out"),
        **norm("decoder.self_attention_norm", "h.{n}.ln_1"),
        **norm("decoder.final_norm", "ln_f"),
        **head(),
    },
    prefixes=("transformer.",),
    same={"lm_head.weight": "wte.weight"},
    ignored=(r"h\.\d+\.attn\.(bias|masked_bias|embed_positions)",),
)
CODEGEN = replace(
    GPT_J,
    weights={
        **GPT_J.weights,
        **in_sections("decoder.self_attention", "h.{n}.attn.qkv_proj", "Q Q_pass", "V", "K K_pass", parts=4),
        **linear("decoder.self_attention.W_O", "h.{n}.attn.out_proj"),
    },
    ignored=(r"(rotary_emb\.embed_positions|h\.\d+\.attn\.(causal_mask|bias|masked_bias))",),
)
GPT_NEOX = Family(
    {
        **table("E", "embed_in.weight"),
        **fused("decoder.self_attention", "layers.{n}.attention.query_key_value", "Q Q_pass K K_pass V", by_head=True),
        **linear("decoder.self_attention.W_O", "layers.{n}.attention.dense"),
        **network("decoder", "layers.{n}.mlp.dense_h_to_4h", "layers.{n}.mlp.dense_4h_to_h"),
        **norm("decoder.self_attention_norm", "layers.{n}.input_layernorm"),
        **norm("decoder.feed_forward_norm", "layers.{n}.post_attention_layernorm"),
        **norm("decoder.final_norm", "final_layer_norm"),
        **head("embed_out"),
    },
    prefixes=("gpt_neox.",),
    same={"embed_out.weight": "embed_in.weight"},
    ignored=(r"layers\.\d+\.attention\.(bias|masked_bias|rotary_emb\.inv_freq)",),
)
OPT = Family(
    {
        **table("E", "embed_tokens.weight"),
        **table("P", "embed_positions.weight"),
        "W_in": Stored("project_in.weight"),
        "W_out": Stored("project_out.weight"),
        **attention("decoder.self_attention", *(f"layers.{{n}}.self_attn.{e}_proj" for e in ("q", "k", "v", "out"))),
        **network("decoder", "layers.{n}.fc1", "layers.{n}.fc2"),
        **norm("decoder.self_attention_norm", "layers.{n}.self_attn_layer_norm"),
        **norm("decoder.feed_forward_norm", "layers.{n}.final_layer_norm"),
        **norm("decoder.final_norm", "final_layer_norm"),
        **head(),
    },
    prefixes=("model.decoder.", "decoder."),
    same={"lm_head.weight": "embed_tokens.weight"},
)
BLOOM = Family(
    {
        **table("E", "word_embeddings.weight"),
        **norm("embedding_norm", "word_embeddings_layernorm"),
        **fused("decoder.self_attention", "h.{n}.self_attention.query_key_value", "Q K V", by_head=True),
        **linear("decoder.self_attention.W_O", "h.{n}.self_attention.dense"),
        **network("decoder", "h.{n}.mlp.dense_h_to_4h", "h.{n}.mlp.dense_4h_to_h"),
        **norm("decoder.self_attention_norm", "h.{n}.input_layernorm"),
        **norm("decoder.feed_forward_norm", "h.{n}.post_attention_layernorm"),
        **norm("decoder.final_norm", "ln_f"),
        **head(),
    },
    prefixes=("transformer.",),
    same={"lm_head.weight": "word_embeddings.weight"},
)
FALCON = Family(
    {
        **table("E", "word_embeddings.weight"),
        **fused("decoder.self_attention", "h.{n}.self_attention.query_key_value", "Q K V", by_head=True),
        **linear("decoder.self_attention.W_O", "h.{n}.self_attention.dense"),
        **network("decoder", "h.{n}.mlp.dense_h_to_4h", "h.{n}.mlp.dense_4h_to_h"),
        **norm("decoder.self_attention_norm", "h.{n}.input_layernorm"),
        **norm("decoder.feed_forward_norm", "h.{n}.post_attention_layernorm"),
        **norm("decoder.final_norm", "ln_f"),
        **head(),
    },
    prefixes=("transformer.",),
    same={"lm_head.weight": "word_embeddings.weight"},
    renamed={r"(h\.\d+)\.ln_attn\.": r"\1.input_layernorm.", r"(h\.\d+)\.ln_mlp\.": r"\1.post_attention_layernorm."},
)
GPT = replace(
    GPT_2,
    weights={**GPT_2.weights, **table("E", "tokens_embed.weight"), **table("P", "positions_embed.weight")},
    same={"lm_head.weight": "tokens_embed.weight"},
)
GPT_BIGCODE = replace(
    GPT_2,
    weights={
        **GPT_2.weights,
        **fused("decoder.self_attention", "h.{n}.attn.c_attn", "Q K V", by_head=True),
        **linear("decoder.self_attention.W_O", "h.{n}.attn.c_proj"),
        **network("decoder", "h.{n}.mlp.c_fc", "h.{n}.mlp.c_proj"),
    },
)
GPT_NEO = replace(
    GPT_2,
    weights={
        **GPT_2.weights,
        **attention("decoder.self_attention", *(f"h.{{n}}.attn.attention.{e}_proj" for e in ("q", "k", "v", "out"))),
        **network("decoder", "h.{n}.mlp.c_fc", "h.{n}.mlp.c_proj"),
    },
    ignored=(r"h\.\d+\.attn\.attention\.(bias|masked_bias)",),
)
BIOGPT = replace(
    OPT,
    weights={**OPT.weights, **norm("decoder.final_norm", "layer_norm"), **head("output_projection")},
    prefixes=("biogpt.",),
    same={"output_projection.weight": "embed_tokens.weight"},
)
XGLM = replace(
    OPT,
    weights={**OPT.weights, **norm("decoder.final_norm", "layer_norm")},
    prefixes=("model.",),
    ignored=(r"embed_positions\.weights",),  # sinusoids, which are computed
)
MPT = Family(
    {
        **table("E", "wte.weight"),
        **fused("decoder.self_attention", "blocks.{n}.attn.Wqkv", "Q K V"),
        **linear("decoder.self_attention.W_O", "blocks.{n}.attn.out_proj"),
        **network("decoder", "blocks.{n}.ffn.up_proj", "blocks.{n}.ffn.down_proj"),
        **norm("decoder.self_attention_norm", "blocks.{n}.norm_1"),
        **norm("decoder.feed_forward_norm", "blocks.{n}.norm_2"),
        **norm("decoder.final_norm", "norm_f"),
        **head(),
    },
    prefixes=("transformer.",),
    same={"lm_head.weight": "wte.weight"},
)
