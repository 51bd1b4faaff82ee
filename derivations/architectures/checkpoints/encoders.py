"""Names in the checkpoints of encoders: BERT and its relatives."""

from collections.abc import Mapping
from dataclasses import replace

from derivations.architectures.checkpoints.family import (
    Family,
    Stored,
    affine,
    also,
    attention,
    fused,
    gated,
    head,
    in_sections,
    instead,
    linear,
    network,
    norm,
    table,
)
from derivations.architectures.checkpoints.llama import LLAMA

__all__ = [
    "ALBERT",
    "BERT",
    "BERT_GENERATION",
    "DEBERTA_V2",
    "DISTILBERT",
    "ELECTRA",
    "EUROBERT",
    "JINA",
    "MEGATRON_BERT",
    "MODERNBERT",
    "MODERNBERT_DECODER",
    "MPNET",
    "NOMIC",
    "ROBERTA",
    "ROBERTA_PRE_NORM",
    "XLM_ROBERTA_XL",
]


def _bert_layer(theirs: str) -> Mapping[str, Stored]:
    return {
        **attention(
            "encoder.self_attention",
            *(f"{theirs}.attention.{each}" for each in ("self.query", "self.key", "self.value", "output.dense")),
        ),
        **network("encoder", f"{theirs}.intermediate.dense", f"{theirs}.output.dense"),
        **norm("encoder.self_attention_norm", f"{theirs}.attention.output.LayerNorm"),
        **norm("encoder.feed_forward_norm", f"{theirs}.output.LayerNorm"),
    }


BERT_EMBEDDING = {
    **table("E", "embeddings.word_embeddings.weight"),
    **table("P", "embeddings.position_embeddings.weight"),
    **table("T", "embeddings.token_type_embeddings.weight"),
    **norm("embedding_norm", "embeddings.LayerNorm"),
}
BERT = Family(
    {
        **BERT_EMBEDDING,
        **_bert_layer("encoder.layer.{n}"),
        **affine("pooler", "pooler.dense"),
        **affine("transform", "cls.predictions.transform.dense"),
        **norm("transform_norm", "cls.predictions.transform.LayerNorm"),
        **head("cls.predictions.decoder"),
        **affine("next_sentence", "cls.seq_relationship"),
        **affine("classifier", "classifier"),
    },
    prefixes=("bert.", "ernie.", "splinter."),
    same={
        "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
        "cls.predictions.bias": "cls.predictions.decoder.bias",
        **instead("classifier", "cls.seq_relationship"),  # of a model that scores only the next sentence
        **instead("classifier", "qa_outputs"),  # of one that scores where an answer begins and ends
    },
    ignored=(  # heads that the model does not have, and a copy of the biases of the scores, which is not added
        *(r"embeddings\.position_ids", r"pooler\.dense\.(weight|bias)", r"cls\.seq_relationship\.(weight|bias)"),
        *(r"cls\.predictions\.transform\..*", r"cls\.predictions(\.decoder)?\.bias"),
    ),
)
ROBERTA = Family(
    {
        **BERT_EMBEDDING,
        **_bert_layer("encoder.layer.{n}"),
        **affine("pooler", "pooler.dense"),
        **affine("classifier", "classifier"),
        **affine("transform", "lm_head.dense"),
        **norm("transform_norm", "lm_head.layer_norm"),
        **head("lm_head.decoder"),
    },
    prefixes=("roberta.", "data2vec_text."),
    same={
        "lm_head.decoder.weight": "embeddings.word_embeddings.weight",
        "lm_head.bias": "lm_head.decoder.bias",
        **instead("pooler.dense", "classifier.dense"),
        **instead("classifier", "classifier.out_proj"),
        **instead("classifier", "qa_outputs"),
    },
    ignored=(
        *(r"embeddings\.position_ids", r"pooler\.dense\.(weight|bias)"),
        *(r"lm_head\.(dense|layer_norm)\..*", r"lm_head(\.decoder)?\.bias"),
    ),
)
DISTILBERT = Family(
    {
        **BERT_EMBEDDING,
        **attention(
            "encoder.self_attention",
            *(f"transformer.layer.{{n}}.attention.{each}_lin" for each in ("q", "k", "v", "out")),
        ),
        **network("encoder", "transformer.layer.{n}.ffn.lin1", "transformer.layer.{n}.ffn.lin2"),
        **norm("encoder.self_attention_norm", "transformer.layer.{n}.sa_layer_norm"),
        **norm("encoder.feed_forward_norm", "transformer.layer.{n}.output_layer_norm"),
        **affine("pooler", "pre_classifier"),
        **affine("classifier", "classifier"),
        **affine("transform", "vocab_transform"),
        **norm("transform_norm", "vocab_layer_norm"),
        **head("vocab_projector"),
    },
    prefixes=("distilbert.",),
    same={"vocab_projector.weight": "embeddings.word_embeddings.weight", **instead("classifier", "qa_outputs")},
    ignored=(r"embeddings\.position_ids", r"vocab_(transform|layer_norm)\..*", r"vocab_projector\.bias"),
)
LAYER = "encoder.layer.{n}"
MEGATRON_BERT = replace(
    BERT,
    weights={
        **BERT.weights,
        **norm("encoder.self_attention_norm", f"{LAYER}.attention.ln"),
        **norm("encoder.feed_forward_norm", f"{LAYER}.ln"),
        **norm("encoder.final_norm", "encoder.ln"),
    },
)
ROBERTA_PRE_NORM = replace(
    ROBERTA,
    prefixes=("roberta_prelayernorm.",),
    weights={
        **ROBERTA.weights,
        **norm("encoder.self_attention_norm", f"{LAYER}.attention.LayerNorm"),
        **norm("encoder.feed_forward_norm", f"{LAYER}.intermediate.LayerNorm"),
        **norm("encoder.final_norm", "LayerNorm"),
    },
)
MPNET = replace(
    ROBERTA,
    prefixes=("mpnet.",),
    weights={
        **ROBERTA.weights,
        **attention("encoder.self_attention", *(f"{LAYER}.attention.attn.{letter}" for letter in "qkvo")),
        **norm("encoder.self_attention_norm", f"{LAYER}.attention.LayerNorm"),
        **table("encoder.relative_position_bias.table", "encoder.relative_attention_bias.weight"),
    },
)
OF_HEADS = f"{LAYER}.attention.self"
NEW_HEAD = "lm_predictions.lm_head"
DEBERTA_V2 = replace(
    BERT,
    prefixes=("deberta.",),
    weights={
        **BERT.weights,
        **attention(
            "encoder.self_attention",
            *(f"{OF_HEADS}.query_proj", f"{OF_HEADS}.key_proj", f"{OF_HEADS}.value_proj"),
            f"{LAYER}.attention.output.dense",
        ),
        **fused("encoder.self_attention", f"{OF_HEADS}.pos_key_proj", "KR", by_head=True),
        **fused("encoder.self_attention", f"{OF_HEADS}.pos_query_proj", "QR", by_head=True),
        **table("encoder.R", "encoder.rel_embeddings.weight"),
        **norm("encoder.distance_norm", "encoder.LayerNorm"),
    },
    same={
        **BERT.same,
        **instead("cls.predictions.transform.dense", f"{NEW_HEAD}.dense"),
        **instead("cls.predictions.transform.LayerNorm", f"{NEW_HEAD}.LayerNorm"),
        f"{NEW_HEAD}.bias": "cls.predictions.decoder.bias",
    },
    ignored=(*BERT.ignored, r"(lm|mask)_predictions\..*"),  # the second one tells replaced tokens
)
XLM_ROBERTA_XL = replace(
    ROBERTA,
    weights={
        **ROBERTA.weights,
        **norm("encoder.self_attention_norm", f"{LAYER}.attention.self_attn_layer_norm"),
        **norm("encoder.feed_forward_norm", f"{LAYER}.LayerNorm"),
        **norm("encoder.final_norm", "encoder.LayerNorm"),
    },
)
BERT_GENERATION = replace(
    BERT,
    weights={
        **BERT.weights,
        **{name.replace("encoder.", "decoder."): stored for name, stored in BERT.weights.items()},
        **head("lm_head.decoder"),
    },
    prefixes=("bert.",),
    same={
        "lm_head.decoder.weight": "embeddings.word_embeddings.weight",
        "lm_head.bias": "lm_head.decoder.bias",
    },
)
ELECTRA = replace(
    BERT,
    weights={
        **BERT.weights,
        **affine("embedding_projection", "embeddings_project"),
        **affine("pooler", "classifier.dense"),
        **affine("transform", "generator_predictions.dense"),
        **norm("transform_norm", "generator_predictions.LayerNorm"),
        **head("generator_lm_head"),
    },
    prefixes=("electra.",),
    same={
        "generator_lm_head.weight": "embeddings.word_embeddings.weight",
        **instead("generator_predictions.dense", "discriminator_predictions.dense"),
        **instead("classifier", "discriminator_predictions.dense_prediction"),
        **instead("classifier", "classifier.out_proj"),
        **instead("classifier", "qa_outputs"),
    },
)
EUROBERT = replace(
    LLAMA, weights={name.replace("decoder.", "encoder."): stored for name, stored in LLAMA.weights.items()}
)
MODERNBERT = Family(
    {
        **table("E", "embeddings.tok_embeddings.weight"),
        **norm("embedding_norm", "embeddings.norm"),
        **in_sections("encoder.self_attention", "layers.{n}.attn.Wqkv", "Q", "K", "V"),
        **linear("encoder.self_attention.W_O", "layers.{n}.attn.Wo"),
        **norm("encoder.self_attention_norm", "layers.{n}.attn_norm"),
        **norm("encoder.feed_forward_norm", "layers.{n}.mlp_norm"),
        **fused("encoder.feed_forward", "layers.{n}.mlp.Wi", "gate up"),
        **linear("encoder.feed_forward.W_down", "layers.{n}.mlp.Wo"),
        **norm("encoder.final_norm", "final_norm"),
        **affine("transform", "head.dense"),
        **norm("transform_norm", "head.norm"),
        **head("decoder"),
    },
    prefixes=("model.",),
    same={"decoder.weight": "embeddings.tok_embeddings.weight"},
)
MODERNBERT_DECODER = also(
    replace(
        MODERNBERT, weights={name.replace("encoder.", "decoder."): each for name, each in MODERNBERT.weights.items()}
    ),
    attention(
        "decoder.self_attention", *(f"layers.{{n}}.attn.{each}" for each in ("q_proj", "k_proj", "v_proj", "Wo"))
    ),
    affine("transform", "lm_head.dense"),
    norm("transform_norm", "lm_head.norm"),
)
TURNED = "encoder.layers.{n}"  # a layer of an encoder with rotary positions
AROUND = {
    **norm("embedding_norm", "emb_ln"),
    **norm("encoder.self_attention_norm", f"{TURNED}.norm1"),
    **norm("encoder.feed_forward_norm", f"{TURNED}.norm2"),
}
JINA = also(
    ROBERTA,
    AROUND,
    in_sections("encoder.self_attention", f"{TURNED}.mixer.Wqkv", "Q Q_pass", "K K_pass", "V"),
    linear("encoder.self_attention.W_O", f"{TURNED}.mixer.out_proj"),
    network("encoder", f"{TURNED}.mlp.fc1", f"{TURNED}.mlp.fc2"),
)
NOMIC = replace(
    also(
        BERT,
        AROUND,
        in_sections("encoder.self_attention", f"{TURNED}.attn.Wqkv", "Q Q_pass", "K K_pass", "V"),
        linear("encoder.self_attention.W_O", f"{TURNED}.attn.out_proj"),
        gated("encoder.feed_forward", *(f"{TURNED}.mlp.{name}" for name in ("fc12", "fc11", "fc2"))),
        norm("transform_norm", "cls.predictions.transform.layer_norm"),
    ),
    prefixes=("nomic_bert.",),
)
ONCE = "encoder.albert_layer_groups.0.albert_layers.0"  # the layer that is applied again and again
ALBERT = Family(
    {
        **BERT_EMBEDDING,
        **affine("embedding_projection", "encoder.embedding_hidden_mapping_in"),
        **attention(
            "encoder.self_attention", *(f"{ONCE}.attention.{each}" for each in ("query", "key", "value", "dense"))
        ),
        **network("encoder", f"{ONCE}.ffn", f"{ONCE}.ffn_output"),
        **norm("encoder.self_attention_norm", f"{ONCE}.attention.LayerNorm"),
        **norm("encoder.feed_forward_norm", f"{ONCE}.full_layer_layer_norm"),
        **affine("pooler", "pooler"),
        **affine("transform", "predictions.dense"),
        **norm("transform_norm", "predictions.LayerNorm"),
        **head("predictions.decoder"),
        **affine("next_sentence", "sop_classifier.classifier"),
        **affine("classifier", "classifier"),
    },
    prefixes=("albert.",),
    same={
        "predictions.decoder.weight": "embeddings.word_embeddings.weight",
        "predictions.bias": "predictions.decoder.bias",
        **instead("classifier", "qa_outputs"),
    },
    ignored=(*(r"embeddings\.position_ids", r"pooler\.(weight|bias)", r"predictions\..*", r"sop_classifier\..*"),),
)
