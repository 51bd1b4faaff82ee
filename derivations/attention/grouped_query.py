r"""Grouped-query attention: g heads of keys and values, each shared by r heads of queries.

Definition   head_ab = Attention(X_Q W_ab^Q, X_K W_a^K, X_V W_a^V), Y = sum_a Concat(head_a1, ..., head_ar) W_a^O
Result       r = 1 is multi-head attention, g = 1 multi-query attention; keys, values and so the cache are 1/r of those
             of multi-head attention with h = g r heads; queries and output cost the same
Shapes       X_Q (n, d_model), X_K and X_V (m, d_model), W_Q (g, r, d_model, d_k), W_K (g, d_model, d_k),
             W_V (g, d_model, d_v), W_O (g, r d_v, d_model), Y (n, d_model)
Assumes      h = g r
Source       Shazeer (2019), section 3; Ainslie et al. (2023), section 2.2
"""

from sympy import Expr, Integer

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import heads
from derivations.attention.multi_head_costs import renamed
from derivations.language.arrays.arrangements import Concatenate, SumOver, column_block
from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.shapes import Blocks
from derivations.language.counting.costs import Count
from derivations.language.counting.operations import entries
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equation, Equations, Layer, part
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.symbols import d_k, d_model, d_v, h, index, m, n, size

__all__ = ["grouped_query_attention", "query_group"]

TOPIC = "multi_head"

SHAZEER = "Shazeer (2019), section 3"
AINSLIE = "Ainslie et al. (2023), section 2.2"
g, r = size("g"), size("r")  # groups; heads of queries in each
a, b = index("a"), index("b")  # a group; a head of queries in it
X_Q, X_K, X_V, M = array("X_Q", n, d_model), array("X_K", m, d_model), array("X_V", m, d_model), mask_array("M", n, m)
W_Q, W_O = array("W_Q", g, r, d_model, d_k), array("W_O", g, Blocks(r, d_v), d_model)
W_K, W_V = array("W_K", g, d_model, d_k), array("W_V", g, d_model, d_v)
Y = array("Y", n, d_model)


def query_group(*, masked: bool = False) -> Layer:
    """Return attention of the r heads of queries of one group, with the keys and values that they share.

    Definition   head_b = Attention(X_Q W_b^Q, K, V), Y = Concat(head_1, ..., head_r) W^O
    Shapes       X_Q (n, d_model), K (m, d_k), V (m, d_v), W_Q (r, d_model, d_k), W_O (r d_v, d_model), mask M (n, m),
                 Y (n, d_model); the weights are inputs, because each group has its own
    Source       Shazeer (2019), section 3
    """
    attention = part("attention", scaled_dot_product_attention(masked=masked))
    K, V = array("K", m, d_k), array("V", m, d_v)
    W_Q, W_O = array("W_Q", r, d_model, d_k), array("W_O", Blocks(r, d_v), d_model)
    mask = [M] if masked else []

    let = Equations()
    Q = let("Q", over=(b, r))(X_Q @ W_Q[b])
    head = let("head", over=(b, r))(attention(Q[b], K, V, *mask))
    Y = let("Y")(Concatenate(head[b], b, r) @ W_O)
    return Layer("masked_query_group" if masked else "query_group", (X_Q, K, V, *mask, W_Q, W_O), (), let, Y)


@catalogued("masked_grouped_query_attention", masked=True)
@catalogued
def grouped_query_attention(*, masked: bool = False) -> Layer:
    """Return attention with g heads of keys and values and g r heads of queries.

    Definition   K_a = X_K W_a^K, V_a = X_V W_a^V, Y_a = Concat(head_a1, ..., head_ar) W_a^O, Y = sum_a Y_a
    Shapes       X_Q (n, d_model), X_K and X_V (m, d_model), W_Q (g, r, d_model, d_k), W_K (g, d_model, d_k),
                 W_V (g, d_model, d_v), W_O (g, r d_v, d_model), mask M (n, m), Y (n, d_model)
    Source       Ainslie et al. (2023), section 2.2
    """
    group = part("group", query_group(masked=masked))
    mask = [M] if masked else []

    let = Equations()
    K = let("K", over=(a, g))(X_K @ W_K[a])
    V = let("V", over=(a, g))(X_V @ W_V[a])
    written = let("Z", over=(a, g))(group(X_Q, K[a], V[a], *mask, W_Q[a], W_O[a]))
    Y = let("Y")(SumOver(written[a], a, g))
    name = "masked_grouped_query_attention" if masked else "grouped_query_attention"
    return Layer(name, (X_Q, X_K, X_V, *mask), (W_Q, W_K, W_V, W_O), let, Y)


# --- between one head of keys and h of them -------------------------------------------------------------------------

grouped = grouped_query_attention()
as_many_heads = renamed(heads.xreplace({h: g * r}), "multi_head_attention_with_g_r_heads")


def head(group: Expr, number: Expr) -> Array:
    """Return a head of queries: attention to the keys and values of its group."""
    return scaled_dot_product_attention().result(X_Q @ W_Q[group][number], X_K @ W_K[group], X_V @ W_V[group])


def cache(layer: Layer) -> Expr:
    """Return the number of entries in a cache of keys and values at all m positions, from their shapes in the layer."""
    return entries(layer.shapes["K"]) + entries(layer.shapes["V"])


@result
def grouped_query() -> Derivation:
    """Heads in groups share keys and values: the cache is 1/r as large, queries and output cost the same.

    With one head in each group it is multi-head attention.
    """
    first_W_Q, first_W_O = array("W_Q", g, 1, d_model, d_k), array("W_O", g, Blocks(Integer(1), d_v), d_model)
    U_Q, U_O = array("U_Q", g, d_model, d_k), array("U_O", Blocks(g, d_v), d_model)
    rows = column_block(W_O[a].T, b).T
    return derivation(
        "Grouped-query attention: $g r$ heads of queries, $g$ of keys and values, whose cache is $1/r$ as large",
        claim(Y, step("block product", SumOver(SumOver(head(a, b) @ rows, b, r), a, g))),
        claim(
            part("grouped", renamed(grouped.at(r=1), "grouped_query_attention_with_groups_of_one"))(
                X_Q, X_K, X_V, W_Q=first_W_Q, W_K=W_K, W_V=W_V, W_O=first_W_O
            ),
            step(
                "block product",
                part("heads", heads.xreplace({h: g}))(X_Q, X_K, X_V, W_Q=U_Q, W_K=W_K, W_V=W_V, W_O=U_O),
            ),
        ),
        claim(cache(grouped), step("algebra", g * m * (d_k + d_v)), step("algebra", cache(as_many_heads) / r)),
        claim(
            Count("parameters", grouped),
            step("count", g * (r + 1) * d_model * (d_k + d_v)),
            step("count", Count("parameters", as_many_heads) - g * (r - 1) * d_model * (d_k + d_v)),
        ),
        claim(
            Count("matmul FLOPs", grouped),
            step("count", Count("matmul FLOPs", as_many_heads) - 2 * g * (r - 1) * m * d_model * (d_k + d_v)),
        ),
        about=[
            *grouped.equations,
            Equation(U_Q[a], first_W_Q[a][0], a, g),
            Equation(U_O, Concatenate(column_block(first_W_O[a].T, 0), a, g).T),
        ],
        source=AINSLIE,
    )


@result
def multi_query() -> Derivation:
    """All heads of queries share one head of keys and values: the cache and both projections do not grow with them."""
    one = renamed(grouped.at(g=1), "multi_query_attention")
    own_W_Q, own_W_O = array("W_Q", 1, r, d_model, d_k), array("W_O", 1, Blocks(r, d_v), d_model)
    own_W_K, own_W_V = array("W_K", 1, d_model, d_k), array("W_V", 1, d_model, d_v)
    K, V = X_K @ own_W_K[0], X_V @ own_W_V[0]
    shared = scaled_dot_product_attention().result(X_Q @ own_W_Q[0][b], K, V)
    return derivation(
        "Multi-query attention: $r$ heads of queries read one head of keys and values, whose cache is $1/r$ as large",
        claim(Y, step("block product", Concatenate(shared, b, r) @ own_W_O[0])),
        claim(cache(one), step("algebra", m * (d_k + d_v)), step("algebra", cache(heads.xreplace({h: r})) / r)),
        claim(Count("parameters", one), step("count", (r + 1) * d_model * (d_k + d_v))),
        about=one,
        source=SHAZEER,
    )
