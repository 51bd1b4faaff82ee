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
from derivations.documents.canon.concept import Concept, concept, letters_of
from derivations.documents.canon.role_letters import (
    GATED,
    LOGITS,
    LOW_RANK,
    NETWORK,
    NORM,
    PLACE,
    PROBABILITIES,
    QUERIES,
    ROW,
    TARGETS,
)

__all__ = ["CONCEPTS"]

CONCEPTS: tuple[Concept, ...] = (
    concept(
        "scaled dot-product attention",
        attention_forms.attention_forms,
        "attention scaleddotproductattention sdpa attn selfattention dotproductattention",
        "softmax product",
        arguments="Q K V B",
        letters=QUERIES,
    ),
    concept(
        "the dot product",
        attention_forms.dot_product_forms,
        "",
        "sum",
        left="dot",
        arguments="q k",
        letters=letters_of(q="q Q u a x", k="k K v b y"),
    ),
    concept(
        "an entry of the product of queries and keys",
        attention_forms.product_entry_forms,
        left="product entry",
        arguments="Q K",
        letters=QUERIES,
    ),
    concept(
        "the score of a query and a key",
        attention_forms.score_forms,
        "",
        "product",
        left="score",
        lenient=True,
        letters=QUERIES,
    ),
    concept("attention weights", attention_forms.weights_forms, "", "softmax", letters=QUERIES),
    concept("an attention weight", attention_forms.weight_entry_forms, "", "exp sum quotient product", letters=QUERIES),
    concept(
        "an output of attention",
        attention_forms.output_row_forms,
        "",
        "weighted-sum",
        letters=letters_of(
            A="a alpha A w p attention attentionweight attentionweights weight weights", V="v V value values"
        ),
    ),
    concept("softmax", softmax_forms.softmax_forms, "softmax", "exp sum quotient", arguments="x", letters=LOGITS),
    concept(
        "softmax of the rows of a matrix",
        softmax_forms.row_softmax_forms,
        marks="exp sum quotient",
        letters=letters_of(S="S s A a z Z l e E score scores logits", T="T tau temperature t beta alpha"),
    ),
    concept(
        "the Jacobian of softmax",
        softmax_forms.jacobian_forms,
        left="derivative",
        letters=letters_of(y="y s p a S sigma pi"),
    ),
    concept(
        "the derivative of an entry of softmax by its own input",
        softmax_forms.diagonal_forms,
        left="same place",
        letters=letters_of(y="y s p a S sigma pi"),
    ),
    concept(
        "the Jacobian of softmax",
        softmax_forms.softmax_vector_forms,
        marks="diag",
        left="matrix derivative",
        letters=letters_of(y="y s p a S"),
    ),
    concept(
        "the Jacobian of softmax, and the covariance of one draw",
        softmax_forms.softmax_vector_forms,
        marks="diag",
        lenient=True,
        letters=letters_of(y="y s p a S"),
    ),
    concept("the slope of the sigmoid", softmax_forms.slope_forms, left="slope"),
    concept(
        "log-softmax",
        softmax_forms.log_softmax_forms,
        "logsoftmax",
        "log exp sum difference",
        arguments="x",
        letters=LOGITS,
    ),
    concept(
        "log-sum-exp", softmax_forms.log_sum_exp_forms, "logsumexp lse", "log exp sum", arguments="x", letters=LOGITS
    ),
    concept(
        "the cross-entropy",
        softmax_forms.cross_entropy_forms,
        "crossentropy ce celoss",
        "log sum negative",
        letters=TARGETS,
    ),
    concept(
        "the gradient of the cross-entropy",
        softmax_forms.cross_entropy_gradient_forms,
        left="derivative",
        letters=TARGETS,
    ),
    concept(
        "the gradient of the cross-entropy by the logits",
        softmax_forms.logit_gradient_forms,
        marks="softmax",
        left="derivative",
        letters=letters_of(x="z x s o logits u a", t="t y p q Y haty"),
    ),
    concept(
        "the Kullback-Leibler divergence",
        probability_forms.divergence_forms,
        "kl dkl kldivergence kldiv",
        left="word",
        arguments="p q",
        letters=PROBABILITIES,
    ),
    concept(
        "the entropy",
        probability_forms.entropy_forms,
        "entropy",
        "log sum negative",
        lenient=True,
        letters=PROBABILITIES,
    ),
    concept("perplexity", probability_forms.perplexity_forms, "ppl perplexity", left="word", letters=PROBABILITIES),
    concept("low-rank adaptation", low_rank_forms.low_rank_forms, left="low rank", letters=LOW_RANK),
    concept(
        "the feed-forward network",
        network_forms.feed_forward_forms,
        "ffn feedforward mlp positionwisefeedforward positionwiseffn feedforwardnetwork",
        "activation product",
        arguments="X W_1 W_2 b_1 b_2",
        letters=NETWORK,
    ),
    concept(
        "the gated feed-forward network",
        network_forms.gated_forms,
        "ffnswiglu swiglu geglu reglu glu ffngeglu ffnreglu ffn",
        "activation odot",
        arguments="X",
        letters=GATED,
    ),
    concept(
        "the linear layer",
        network_forms.linear_forms,
        "linear",
        arguments="X",
        letters=letters_of(X="x X input", W="W w A", b="b"),
    ),
    *(
        concept(
            title,
            partial(network_forms.activation_forms, word),
            words,
            arguments="x",
            left="word",
            letters=letters_of(b="beta b a alpha"),
        )
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
        arguments="X",
        letters=NORM,
    ),
    concept(
        "root mean square normalisation",
        norm_forms.rms_norm_forms,
        "rmsnorm",
        "rms quotient",
        arguments="x",
        letters=ROW,
    ),
    concept("the root mean square", norm_forms.root_mean_square_forms, "rms", arguments="x", left="rms", letters=ROW),
    *(
        concept(title, forms, "", "sum quotient", left=left, letters=ROW | letters_of(X="X x z a h"))
        for title, forms, left in (
            ("the mean", norm_forms.mean_forms, "mean"),
            ("the mean of each row", partial(norm_forms.mean_along_forms, "rows"), "mean"),
            ("the mean of each column", partial(norm_forms.mean_along_forms, "columns"), "mean"),
            ("the variance", norm_forms.variance_forms, "variance"),
            ("the variance of each row", partial(norm_forms.variance_along_forms, "rows"), "variance"),
            ("the variance of each column", partial(norm_forms.variance_along_forms, "columns"), "variance"),
        )
    ),
    concept(
        "the even entries of the positional encoding",
        lambda: norm_forms.position_forms()[:1],
        "",
        "wave power",
        left="even",
        arguments="pos i",
        letters=PLACE,
    ),
    concept(
        "the odd entries of the positional encoding",
        lambda: norm_forms.position_forms()[1:],
        "",
        "wave power",
        left="odd",
        arguments="pos i",
        letters=PLACE,
    ),
    concept(
        "the width of a head",
        attention_forms.head_width_forms,
        "",
        "",
        left="width",
        letters=letters_of(h="h H n_heads num_heads n_h A h_n nheads", d_model="d_model d D n_embd hidden_size d_m C"),
    ),
    concept(
        "multi-head attention",
        attention_forms.multi_head_forms,
        "multihead multiheadattention mha mhsa mhattention",
        "concat",
        letters=letters_of(W_O="W^O W_O W_o W^o W_0 O W_{out} W", head="head h Head H Z z O"),
    ),
    concept(
        "a head",
        attention_forms.one_head_forms,
        "",
        "attention",
        left="head",
        letters=letters_of(
            X_Q="Q X q x H",
            X_K="K X k x H",
            X_V="V X v x H",
            W_Q="W^Q W_Q W_q W^q W^(Q)",
            W_K="W^K W_K W_k W^k W^(K)",
            W_V="W^V W_V W_v W^v W^(V)",
        ),
    ),
)
