"""The concepts that formulas are compared with, as data: the words and marks they are met by, their letters and forms.

Definition   a concept is met by a word on the left (`Attention(Q, K, V) = ...`), or by marks of the right side where
             the left is a mere letter; `letters` are the usual letters of a role, those of the first roles taken first
Assumes      words in small letters without spaces; letters as `Name.key` spells them
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from derivations.documents.canon import attention_forms, network_forms, norm_forms, softmax_forms
from derivations.documents.canon.forms import Form

__all__ = ["CONCEPTS", "KEY_WIDTHS", "OTHER_SIZES", "Concept", "Left"]

Left = Literal[
    "any",
    "word",
    "derivative",
    "same place",
    "slope",
    "even",
    "odd",
    "width",
    "mean",
    "variance",
    "head",
    "rms",
    "dot",
    "product entry",
    "score",
]
Letters = dict[str, tuple[str, ...]]


def _split(**letters: str) -> Letters:
    return {role: tuple(words.split()) for role, words in letters.items()}


@dataclass(frozen=True)
class Concept:
    """A concept; `marks` must all be on the right where no word on the left tells it, `left` is what stands there."""

    title: str
    forms: Callable[[], tuple[Form, ...]]
    words: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    marks: frozenset[str] = frozenset()
    left: Left = "any"
    letters: Letters = field(default_factory=dict)
    lenient: bool = False  # other formulas are right as well, so that none is a slip of this one


def _concept(
    title: str, made: Callable[[], tuple[Form, ...]], words: str = "", marks: str = "", **more: object
) -> Concept:
    arguments = tuple(str(more.pop("arguments", "")).split())
    letters = more.pop("letters", {})
    left, lenient = more.pop("left", "any"), bool(more.pop("lenient", False))
    return Concept(title, made, tuple(words.split()), arguments, frozenset(marks.split()), left, letters, lenient)  # type: ignore[arg-type]


KEY_WIDTHS = "d_k d_key d_q d_qk d_h d_head d_K d head_dim d_{head} dim_k dk D C depth"
QUERIES = _split(
    Q="Q q query queries Query Queries", K="K k key keys Key Keys", V="V v value values Value Values",
    d_k=KEY_WIDTHS, B="M B mask Mask bias",
)  # fmt: skip
LOGITS = _split(x="x z s o a u e l logits scores v y", T="T tau temperature t beta alpha")
TARGETS = _split(y="haty hatp p q a pi y", t="t y p q")
NETWORK = _split(
    X="x X input h H z Z u a", W_1="W_1 W1 w_1 w1 W_in W^1 W^(1) W_up U_1", b_1="b_1 b1 b^1 b^(1) b_in b_up",
    W_2="W_2 W2 w_2 w2 W_out W^2 W^(2) W_down U_2", b_2="b_2 b2 b^2 b^(2) b_out b_down",
)  # fmt: skip
GATED = _split(
    X="x X input h", W_gate="W_gate W_g W_G W_1 w1 W1 W", W_up="W_up W_u W_U W_3 w3 W3 V",
    W_down="W_down W_d W_D W_2 w2 W2 W_o",
)  # fmt: skip
NORM = _split(
    X="x X z a h", mu="mu m E mean", sigma="sigma s std", epsilon="epsilon eps", gamma="gamma g w a alpha",
    beta="beta b", X_hat="hatx hatX hatz hata",
)  # fmt: skip
ROW = _split(
    x="x a z X h",
    mu="mu barx m mean",
    d="d H n N D d_model m K C",
    gamma="gamma g w",
    epsilon="epsilon eps",
    sigma="sigma",
)
PLACE = _split(pos="pos p position t k m", i="i j k", d_model="d_model d D d_emb d_m dim")

CONCEPTS: tuple[Concept, ...] = (
    _concept(
        "scaled dot-product attention",
        attention_forms.attention_forms,
        "attention scaleddotproductattention sdpa attn selfattention dotproductattention",
        "softmax product",
        arguments="Q K V B",
        letters=QUERIES,
    ),
    _concept(
        "the dot product",
        attention_forms.dot_product_forms,
        "",
        "sum",
        left="dot",
        arguments="q k",
        letters=_split(q="q Q u a x", k="k K v b y"),
    ),
    _concept(
        "an entry of the product of queries and keys",
        attention_forms.product_entry_forms,
        left="product entry",
        arguments="Q K",
        letters=QUERIES,
    ),
    _concept(
        "the score of a query and a key",
        attention_forms.score_forms,
        "",
        "product",
        left="score",
        lenient=True,
        letters=QUERIES,
    ),
    _concept("attention weights", attention_forms.weights_forms, "", "softmax", letters=QUERIES),
    _concept(
        "an attention weight", attention_forms.weight_entry_forms, "", "exp sum quotient product", letters=QUERIES
    ),
    _concept(
        "an output of attention",
        attention_forms.output_row_forms,
        "",
        "weighted-sum",
        letters=_split(A="a alpha A w p attention", V="v V value values"),
    ),
    _concept("softmax", softmax_forms.softmax_forms, "softmax", "exp sum quotient", arguments="x", letters=LOGITS),
    _concept(
        "the Jacobian of softmax",
        softmax_forms.jacobian_forms,
        left="derivative",
        letters=_split(y="y s p a S sigma pi"),
    ),
    _concept(
        "the derivative of an entry of softmax by its own input",
        softmax_forms.diagonal_forms,
        left="same place",
        letters=_split(y="y s p a S sigma pi"),
    ),
    _concept(
        "the Jacobian of softmax", softmax_forms.softmax_vector_forms, marks="diag", letters=_split(y="y s p a S")
    ),
    _concept("the slope of the sigmoid", softmax_forms.slope_forms, left="slope"),
    _concept(
        "log-softmax",
        softmax_forms.log_softmax_forms,
        "logsoftmax",
        "log exp sum difference",
        arguments="x",
        letters=LOGITS,
    ),
    _concept(
        "log-sum-exp", softmax_forms.log_sum_exp_forms, "logsumexp lse", "log exp sum", arguments="x", letters=LOGITS
    ),
    _concept(
        "the cross-entropy",
        softmax_forms.cross_entropy_forms,
        "crossentropy ce celoss",
        "log sum negative",
        letters=TARGETS,
    ),
    _concept(
        "the gradient of the cross-entropy",
        softmax_forms.cross_entropy_gradient_forms,
        "",
        "",
        left="derivative",
        letters=TARGETS,
    ),
    _concept(
        "the feed-forward network",
        network_forms.feed_forward_forms,
        "ffn feedforward mlp positionwisefeedforward positionwiseffn feedforwardnetwork",
        "activation product",
        arguments="X W_1 W_2 b_1 b_2",
        letters=NETWORK,
    ),
    _concept(
        "the gated feed-forward network",
        network_forms.gated_forms,
        "ffnswiglu swiglu geglu reglu glu ffngeglu ffnreglu ffn",
        "activation odot",
        arguments="X",
        letters=GATED,
    ),
    _concept(
        "the linear layer",
        network_forms.linear_forms,
        "linear",
        arguments="X",
        letters=_split(X="x X input", W="W w A", b="b"),
    ),
    *(
        _concept(
            title,
            partial(network_forms.activation_forms, word),
            words,
            arguments="x",
            left="word",
            letters=_split(b="beta b a alpha"),
        )
        for title, word, words in (
            ("ReLU", "relu", "relu"),
            ("GELU", "gelu", "gelu"),
            ("the sigmoid", "sigmoid", "sigmoid sigma logistic"),
            ("SiLU", "silu", "silu swish"),
            ("softplus", "softplus", "softplus"),
        )
    ),
    _concept(
        "layer normalisation",
        norm_forms.layer_norm_forms,
        "layernorm ln layernormalization layernormalisation norm",
        "mu sigma quotient",
        arguments="X",
        letters=NORM,
    ),
    _concept(
        "root mean square normalisation", norm_forms.rms_norm_forms, "rmsnorm", arguments="x", left="word", letters=ROW
    ),
    _concept("the root mean square", norm_forms.root_mean_square_forms, "rms", arguments="x", left="rms", letters=ROW),
    _concept("the mean", norm_forms.mean_forms, "", "sum quotient", left="mean", letters=ROW | _split(X="x X z a h")),
    _concept(
        "the variance",
        norm_forms.variance_forms,
        "",
        "sum quotient",
        left="variance",
        letters=ROW | _split(X="x X z a h"),
    ),
    _concept(
        "the even entries of the positional encoding",
        lambda: norm_forms.position_forms()[:1],
        "",
        "wave power",
        left="even",
        arguments="pos i",
        letters=PLACE,
    ),
    _concept(
        "the odd entries of the positional encoding",
        lambda: norm_forms.position_forms()[1:],
        "",
        "wave power",
        left="odd",
        arguments="pos i",
        letters=PLACE,
    ),
    _concept(
        "the width of a head",
        attention_forms.head_width_forms,
        "",
        "",
        left="width",
        letters=_split(h="h H n_heads num_heads n_h A h_n nheads", d_model="d_model d D n_embd hidden_size d_m C"),
    ),
    _concept(
        "multi-head attention",
        attention_forms.multi_head_forms,
        "multihead multiheadattention mha mhsa mhattention",
        "concat",
        letters=_split(W_O="W^O W_O W_o W^o W_0 O W_{out} W", head="head h Head H Z z O"),
    ),
    _concept(
        "a head",
        attention_forms.one_head_forms,
        "",
        "attention",
        left="head",
        letters=_split(
            X_Q="Q X q x H",
            X_K="K X k x H",
            X_V="V X v x H",
            W_Q="W^Q W_Q W_q W^q W^(Q)",
            W_K="W^K W_K W_k W^k W^(K)",
            W_V="W^V W_V W_v W^v W^(V)",
        ),
    ),
)

#: Letters that mean another size, so that they stand for the width of the keys only where that is the same.
OTHER_SIZES: Mapping[str, str] = {
    "d_model": "model width", "d_m": "model width", "d_embed": "model width", "d_emb": "model width",
    "d_ff": "hidden width", "d_v": "value width", "n": "sequence length", "L": "sequence length",
    "h": "number of heads",
}  # fmt: skip
