"""Canonical right sides of attention formulas: as matrices, entry by entry, and for heads."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from sympy import sqrt

from derivations.attention.attention import K, Q, V, scaled_dot_product_attention
from derivations.documents.canon.forms import Form, right
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import row_softmax
from derivations.symbols import d_k, d_v, i, j, m, n, scalar

__all__ = [
    "ONE_QUERY",
    "UNSCALED",
    "attention_forms",
    "dot_product_forms",
    "head_width_forms",
    "multi_head_forms",
    "one_head_forms",
    "one_query_forms",
    "one_query_weights_forms",
    "output_row_forms",
    "product_entry_forms",
    "score_forms",
    "weight_entry_forms",
    "weights_forms",
]

temperature = scalar("T", positive=True)
ONE_QUERY = "the query is a column, and keys are rows"
UNSCALED = "the scores are not scaled"


@cache
def attention_forms() -> tuple[Form, ...]:
    """Attention: plain, with an additive bias or mask, with another scale, and unscaled."""
    layer, bias = scaled_dot_product_attention(), array("B", n, m)
    whole = layer.result(Q, K, V)
    biased = row_softmax(Q @ K.T / sqrt(d_k) + bias) @ V
    rows = ("Q",)
    return (
        Form("attention.definition", whole, rows=rows),
        Form("attention.score_bias", biased, rows=rows),
        Form("attention.temperature", row_softmax(temperature * (Q @ K.T)) @ V, rows=rows, assumed=("another scale",)),
        Form("attention.temperature", row_softmax(Q @ K.T) @ V, rows=rows, assumed=(UNSCALED,)),
        Form("attention.score_bias", row_softmax(Q @ K.T + bias) @ V, rows=rows, assumed=(UNSCALED,)),
        Form(
            "attention.mask_is_restriction",
            row_softmax((Q @ K.T + bias) / sqrt(d_k)) @ V,
            rows=rows,
            assumed=("what is added to the scores is 0 or minus infinity",),
            condition=True,
        ),
    )


@cache
def weights_forms() -> tuple[Form, ...]:
    """The weights as a matrix."""
    return tuple(
        Form(form.result, form.value.args[0], rows=form.rows, assumed=form.assumed, condition=form.condition)
        for form in attention_forms()
    )


@cache
def one_query_forms() -> tuple[Form, ...]:
    """Attention of one query that is a column: V^T softmax(K q / sqrt(d_k))."""
    values = array("V", d_v, m)
    return tuple(replace(form, value=values @ form.value) for form in one_query_weights_forms())


@cache
def one_query_weights_forms() -> tuple[Form, ...]:
    """The attention weights of one query, which is a column, with keys as rows: softmax(K q / sqrt(d_k)).

    A column is read where positions are columns, and K as the transpose of what it is there.
    """
    scores = array("K", d_k, m).T @ array("q", d_k)
    return (
        Form(
            "attention.definition",
            row_softmax(scores / sqrt(d_k)),
            assumed=(ONE_QUERY,),
            title=ONE_QUERY,
            condition=True,
        ),
        Form("attention.temperature", row_softmax(scores), assumed=(ONE_QUERY, UNSCALED), title=ONE_QUERY),
    )


@cache
def dot_product_forms() -> tuple[Form, ...]:
    """The dot product of two vectors."""
    return (Form("dot_product.definition", right("dot_product.definition").entry()),)


@cache
def product_entry_forms() -> tuple[Form, ...]:
    """Entry (i, j) of the product of queries and keys."""
    return (Form("attention.scores", right("attention.scores").entry(i, j), ("i", "j")),)


@cache
def score_forms() -> tuple[Form, ...]:
    """The score of query i and key j, scaled or not."""
    return (Form("attention.scores", right("attention.scores", 2), ("i", "j")), *product_entry_forms())


@cache
def weight_entry_forms() -> tuple[Form, ...]:
    """The weight of key j for query i."""
    unscaled = row_softmax(Q @ K.T).entry(i, j)
    return (
        Form("attention.weights", right("attention.weights"), ("i", "j")),
        Form("attention.weights", unscaled, ("i", "j"), assumed=(UNSCALED,)),
    )


@cache
def output_row_forms() -> tuple[Form, ...]:
    """Row i of the output: the weighted sum of the values."""
    return (Form("attention.weighted_sum", right("attention.weighted_sum"), ("i",)),)


@cache
def head_width_forms() -> tuple[Form, ...]:
    """The width of a head."""
    return (Form("multi_head.head_width", right("multi_head.head_width", 0, 0), scalars=True),)


@cache
def multi_head_forms() -> tuple[Form, ...]:
    """The heads, concatenated and multiplied by W^O."""
    return (Form("multi_head.definition", right("multi_head.definition")),)


@cache
def one_head_forms() -> tuple[Form, ...]:
    """Head i: attention between the projections for this head."""
    return (Form("multi_head.one_head", right("multi_head.one_head"), ("i",)),)
