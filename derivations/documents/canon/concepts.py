"""The concepts that formulas are compared with, as data."""

from __future__ import annotations

from functools import partial

from derivations.documents.canon import (
    attention_forms,
    low_rank_forms,
    network_forms,
    norm_forms,
    probability_forms,
    softmax_forms,
)
from derivations.documents.canon.concept import Concept, concept

__all__ = ["CONCEPTS", "OTHER_SIZES"]

#: Letters that mean another size than the width of the keys.
OTHER_SIZES = frozenset({"d_model", "d_m", "d_embed", "d_emb", "d_ff", "d_v", "n", "L", "h"})

CONCEPTS: tuple[Concept, ...] = (
    concept(
        "scaled dot-product attention",
        attention_forms.attention_forms,
        "attention scaleddotproductattention sdpa attn selfattention dotproductattention",
        "softmax product",
    ),
    concept("the dot product", attention_forms.dot_product_forms, "", "sum", left="dot"),
    concept("an entry of the product of queries and keys", attention_forms.product_entry_forms, left="product entry"),
    concept("the score of a query and a key", attention_forms.score_forms, "", "product", left="score"),
    concept("attention weights", attention_forms.weights_forms, "", "softmax"),
    concept("the weights of one query", attention_forms.one_query_weights_forms, "", "softmax", left="one query"),
    concept("attention of one query", attention_forms.one_query_forms, "", "softmax transpose", left="one query"),
    concept("an attention weight", attention_forms.weight_entry_forms, "", "exp sum quotient product"),
    concept("an output of attention", attention_forms.output_row_forms, "", "weighted-sum"),
    concept("softmax", softmax_forms.softmax_forms, "softmax", "exp sum quotient"),
    concept("softmax of the rows of a matrix", softmax_forms.row_softmax_forms, marks="exp sum quotient"),
    concept("the Jacobian of softmax", softmax_forms.jacobian_forms, left="derivative"),
    concept("the derivative of an entry of softmax by its own input", softmax_forms.diagonal_forms, left="same place"),
    concept("the Jacobian of softmax", softmax_forms.softmax_vector_forms, marks="diag", left="matrix derivative"),
    concept(
        "the Jacobian of softmax, and the covariance of one draw", softmax_forms.softmax_vector_forms, marks="diag"
    ),
    concept("the slope of the sigmoid", softmax_forms.slope_forms, left="slope"),
    concept("log-softmax", softmax_forms.log_softmax_forms, "logsoftmax", "log exp sum difference"),
    concept("log-softmax", softmax_forms.log_softmax_forms, marks="exp sum", left="log entry"),
    concept("log-sum-exp", softmax_forms.log_sum_exp_forms, "logsumexp lse", "log exp sum"),
    concept("the cross-entropy", softmax_forms.cross_entropy_forms, "crossentropy ce celoss", "log sum negative"),
    concept("the gradient of the cross-entropy", softmax_forms.cross_entropy_gradient_forms, left="derivative"),
    concept(
        "the gradient of the cross-entropy by the logits",
        softmax_forms.logit_gradient_forms,
        marks="softmax",
        left="derivative",
    ),
    concept(
        "the Kullback-Leibler divergence", probability_forms.divergence_forms, "kl dkl kldivergence kldiv", left="word"
    ),
    concept("the entropy", probability_forms.entropy_forms, "entropy", "log sum negative"),
    concept("perplexity", probability_forms.perplexity_forms, "ppl perplexity", left="word"),
    concept("low-rank adaptation", low_rank_forms.low_rank_forms, left="low rank"),
    concept(
        "the feed-forward network",
        network_forms.feed_forward_forms,
        "ffn feedforward mlp positionwisefeedforward positionwiseffn feedforwardnetwork",
        "activation product",
    ),
    concept(
        "the gated feed-forward network",
        network_forms.gated_forms,
        "ffnswiglu swiglu geglu reglu glu ffngeglu ffnreglu ffn",
        "activation odot",
    ),
    concept("the linear layer", network_forms.linear_forms, "linear"),
    *(
        concept(title, partial(network_forms.activation_forms, word), words, left="word")
        for title, word, words in (
            ("ReLU", "relu", "relu"),
            ("GELU", "gelu", "gelu"),
            ("the sigmoid", "sigmoid", "sigmoid sigma logistic"),
            ("SiLU", "silu", "silu swish"),
            ("softplus", "softplus", "softplus"),
        )
    ),
    concept(
        "layer normalisation",
        norm_forms.layer_norm_forms,
        "layernorm ln layernormalization layernormalisation norm",
        "mu sigma quotient",
    ),
    concept("root mean square normalisation", norm_forms.rms_norm_forms, "rmsnorm", "rms quotient"),
    concept("the root mean square", norm_forms.root_mean_square_forms, "rms", left="rms"),
    concept("the mean", norm_forms.mean_forms, "", "sum quotient", left="mean"),
    concept("the mean of each row", partial(norm_forms.mean_along_forms, "rows"), "", "sum quotient", left="mean"),
    concept(
        "the mean of each column", partial(norm_forms.mean_along_forms, "columns"), "", "sum quotient", left="mean"
    ),
    concept("the variance", norm_forms.variance_forms, "", "sum quotient", left="variance"),
    concept(
        "the variance of each row",
        partial(norm_forms.variance_along_forms, "rows"),
        "",
        "sum quotient",
        left="variance",
    ),
    concept(
        "the variance of each column",
        partial(norm_forms.variance_along_forms, "columns"),
        "",
        "sum quotient",
        left="variance",
    ),
    concept("the standard deviation", norm_forms.deviation_forms, "sigma std", "sum quotient", left="deviation"),
    concept(
        "the even entries of the positional encoding",
        lambda: norm_forms.position_forms()[:1],
        "",
        "wave power",
        left="even",
    ),
    concept(
        "the odd entries of the positional encoding",
        lambda: norm_forms.position_forms()[1:],
        "",
        "wave power",
        left="odd",
    ),
    concept("the width of a head", attention_forms.head_width_forms, "", "", left="width"),
    concept(
        "multi-head attention",
        attention_forms.multi_head_forms,
        "multihead multiheadattention mha mhsa mhattention",
        "concat",
    ),
    concept("a head", attention_forms.one_head_forms, "", "attention", left="head"),
)
