"""Kaplan et al. (2020): the table of parameters and FLOPs, 2 N for each token, C = 6 N D.

Definition   N is the number of weights in the matrices of all layers, without tables, biases and norms
Units        parameters; FLOPs for each token, a multiply-add being 2
Source       Kaplan, McCandlish, Henighan et al. (2020), section 2.1 and table 1
"""

from __future__ import annotations

from sympy import Expr, Integer, Rational

from derivations.costs.published.formula import HEADS, Departure, Published, Reading, Relations, letter
from derivations.symbols import d_ff, d_k, d_model, n, vocab

__all__ = ["KAPLAN"]

SECTION, TABLE = "Kaplan et al. (2020), section 2.1", "Kaplan et al. (2020), table 1, "
PRODUCTS = "matrix products, a multiply-add is 2 FLOPs"

LETTERS = (
    letter("n_layer", "layers", lambda s: s.layers),
    letter("d_model", "width of the model", d_model),
    letter("d_ff", "hidden width of the feed-forward network", d_ff),
    letter("d_attn", "width of all heads together", lambda s: s.heads * d_k),
    letter("n_ctx", "positions", n),
    letter("n_vocab", "tokens that there are", vocab),
)
layers, width, hidden, heads, context, tokens = (each.symbol for each in LETTERS)
matrices = letter("N", "weights in the matrices of all layers", lambda s: s.matrices)
seen = letter("D", "tokens", n)
rows = letter("n_ctx", "rows of the table of positions", lambda s: s.position_table / d_model)


def no(cost: str, reading: Reading, times: int = 1) -> Departure:
    """Return a `Departure`: a cost that the formula omits and that the equations count `times` times."""
    return Departure(Integer(-times), cost, reading, "left out")


def parameters(
    id: str, title: str, expression: Expr, row: str, reading: Reading, against: str, *departures: Departure
) -> Published:
    """Return an entry of the column of parameters."""
    return Published(
        id=f"kaplan.{id}",
        title=title,
        expression=expression,
        letters=(*LETTERS[:4], LETTERS[5], rows),
        units="parameters",
        convention="learned numbers",
        source=TABLE + row,
        derived=reading,
        against=against,
        departures=departures,
        relations=HEADS,
    )


def per_token(
    id: str,
    title: str,
    expression: Expr,
    row: str,
    reading: Reading,
    against: str,
    *departures: Departure,
    relations: Relations = HEADS,
) -> Published:
    """Return an entry of the column of FLOPs for each token."""
    return Published(
        id=f"kaplan.{id}",
        title=title,
        expression=expression,
        letters=LETTERS,
        units="FLOPs for each token",
        convention=PRODUCTS,
        source=TABLE + row,
        derived=reading,
        against=against,
        departures=departures,
        relations=relations,
    )


N = 2 * width * layers * (2 * heads + hidden)
half = Departure(Rational(-1, 2), "context", lambda s: s.context / n, "one of the two products, or half of the pairs")

KAPLAN: tuple[Published, ...] = (
    parameters(
        "parameters",
        "Parameters without embeddings",
        N,
        "last row, and section 2.1, equation 2.1",
        lambda s: s.parameters - s.token_table - s.position_table,
        "all parameters without the tables of tokens and positions",
        no("biases", lambda s: s.biases),
        no("norms", lambda s: s.norms),
    ),
    parameters(
        "tables",
        "Parameters of the embeddings",
        (tokens + context) * width,
        "row Embed",
        lambda s: s.token_table + s.position_table,
        "the tables of tokens and positions",
    ),
    per_token(
        "projections",
        "The four matrices of the attention",
        2 * layers * width * 3 * heads + 2 * layers * heads * width,
        "rows Attention: QKV and Attention: Project",
        lambda s: s.projections / n,
        "products with the matrices of the attention",
    ),
    per_token(
        "context",
        "The context term against all pairs of positions",
        2 * layers * context * heads,
        "row Attention: Mask",
        lambda s: s.context / n,
        "products of queries with keys and of weights with values, for every pair of positions",
        half,
    ),
    per_token(
        "visible_context",
        "The context term against visible pairs",
        2 * layers * context * heads,
        "row Attention: Mask",
        lambda s: s.visible_context / n,
        "the same for the n (n + 1) / 2 pairs that the causal mask shows",
        Departure(Integer(-1), "half of the diagonal", lambda s: s.diagonal / n, "n^2 / 2 pairs for n (n + 1) / 2"),
    ),
    per_token(
        "feed_forward",
        "The feed-forward network",
        2 * layers * 2 * width * hidden,
        "row Feedforward",
        lambda s: s.network / n,
        "products with the two matrices",
    ),
    per_token(
        "logits",
        "The scores of the tokens",
        2 * width * tokens,
        "row De-embed",
        lambda s: s.logits / n,
        "the product with the transposed table",
    ),
    per_token(
        "embedding",
        "The embeddings",
        4 * width,
        "row Embed",
        lambda s: s.sums_of_rows / n,
        "additions of the rows of the two tables",
    ),
    per_token(
        "forward",
        "A forward pass",
        2 * N + 2 * layers * context * heads,
        "last row, and section 2.1, equation 2.2",
        lambda s: s.forward / n,
        "all products, every pair of positions",
        half,
        no("logits", lambda s: s.logits / n),
    ),
    Published(
        id="kaplan.two_n",
        title="2 N for each token forward",
        expression=2 * matrices.symbol,
        letters=(matrices,),
        units="FLOPs for each token",
        convention=PRODUCTS,
        source=SECTION,
        derived=lambda s: s.forward / n,
        against="all products, every pair of positions",
        departures=(no("context", lambda s: s.context / n), no("logits", lambda s: s.logits / n)),
        any_decoder=True,
    ),
    Published(
        id="kaplan.six_n_d",
        title="C = 6 N D",
        expression=6 * matrices.symbol * seen.symbol,
        letters=(matrices, seen),
        units="FLOPs of training on one text, D = n",
        convention=PRODUCTS,
        source=SECTION,
        derived=lambda s: s.training,
        against="all products of the forward and the backward pass, every pair of positions",
        departures=(no("context", lambda s: s.context, 3), no("logits", lambda s: s.logits, 3)),
        any_decoder=True,
    ),
)
