r"""Multi-head attention: heads as column blocks, the columns that each reads, and the mix by W^O.

Definition   head_i = Attention(X_Q W_i^Q, X_K W_i^K, X_V W_i^V), Y = Concat(head_1, ..., head_h) W^O
Result       Y = sum_i head_i W_i^O = sum_i A_i X_V (W_i^V W_i^O); every head reads all d_model columns
Shapes       X_Q (n, d_model), X_K and X_V (m, d_model), head_i (n, d_v), W^O (h d_v, d_model), Y (n, d_model)
Source       Vaswani et al. (2017), section 3.2.2
"""

from sympy import Derivative, Eq, Function, Integer, KroneckerDelta, Lambda, Sum, sqrt, symbols

from derivations.attention.attention import scaled_dot_product_attention
from derivations.language.arrays.arrangements import Concatenate, Explicit, SumOver, Tabulated, column_block
from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.shapes import Blocks
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equation, Equations, Layer, part
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.language.results.statements import Conformable
from derivations.symbols import d_k, d_model, d_v, h, i, index, j, m, n, size

__all__ = ["multi_head_attention"]

SECTION = "Vaswani et al. (2017), section 3.2.2"
X_Q, X_K, X_V, M = array("X_Q", n, d_model), array("X_K", m, d_model), array("X_V", m, d_model), mask_array("M", n, m)
W_Q, W_K, W_V = array("W_Q", h, d_model, d_k), array("W_K", h, d_model, d_k), array("W_V", h, d_model, d_v)
W_O = array("W_O", Blocks(h, d_v), d_model)
b_Q, b_K, b_V, b_O = array("b_Q", h, d_k), array("b_K", h, d_k), array("b_V", h, d_v), array("b_O", d_model)
r, c = index("r"), index("c")  # a row, a column
sigma = Function("sigma", integer=True)


@catalogued("multi_head_attention_with_biases", biases=True)
@catalogued("masked_multi_head_attention", masked=True)
@catalogued
def multi_head_attention(*, masked: bool = False, biases: bool = False) -> Layer:
    """Return attention with h heads, each with separate projections.

    Definition   head_i = Attention(X_Q W_i^Q, X_K W_i^K, X_V W_i^V), Y = Concat(head_1, ..., head_h) W^O
    Shapes       X_Q (n, d_model), X_K and X_V (m, d_model), W_Q and W_K (h, d_model, d_k), W_V (h, d_model, d_v),
                 W_O (h d_v, d_model), mask M (n, m), Y (n, d_model); biases b_Q, b_K (h, d_k), b_V (h, d_v), b_O
    Source       Vaswani et al. (2017), section 3.2.2
    """
    attention = part("attention", scaled_dot_product_attention(masked=masked))
    heads = (i, h)

    let = Equations()
    Q = let("Q", over=heads)(X_Q @ W_Q[i] + b_Q[i] if biases else X_Q @ W_Q[i])
    K = let("K", over=heads)(X_K @ W_K[i] + b_K[i] if biases else X_K @ W_K[i])
    V = let("V", over=heads)(X_V @ W_V[i] + b_V[i] if biases else X_V @ W_V[i])
    head = let("head", over=heads)(attention(Q[i], K[i], V[i], *([M] if masked else [])))
    projected = let("Z")(Concatenate(head[i], i, h))
    Y = let("Y")(projected @ W_O + b_O if biases else projected @ W_O)
    return Layer(
        "masked_multi_head_attention" if masked else "multi_head_attention",
        (X_Q, X_K, X_V, *([M] if masked else [])),
        (W_Q, W_K, W_V, W_O, *([b_Q, b_K, b_V, b_O] if biases else [])),
        let,
        Y,
    )


heads = multi_head_attention()
Q, K, V, head, Z, Y = (equation.variable for equation in heads.equations)
concatenated = Concatenate(head[i], i, h)


def equations() -> tuple[Equation, ...]:
    """Return the equations of the layer with the concatenation written where it is used."""
    return (*heads.until("head").equations, Equation(Y, heads.equation("Y").value.xreplace({Z: concatenated})))


# --- heads ----------------------------------------------------------------------------------------------------------


@result
def definition() -> Derivation:
    """Multi-head attention concatenates h outputs and mixes them by W^O."""
    return derivation(
        "Definition of multi-head attention",
        claim(Y, step("definition", concatenated @ W_O)),
        about=equations(),
        source=SECTION,
    )


@result
def one_head() -> Derivation:
    """A head is attention on separate projections of inputs that have width d_model."""
    projected = array("Q", n, d_k)
    attention = scaled_dot_product_attention()
    return derivation(
        "Head $i$ is $Attention(X_Q W_i^Q, X_K W_i^K, X_V W_i^V)$; queries of width $d_k$ fit $W_i^Q$ only if "
        "$d_k = d_model$",
        claim(
            head[i],
            step("definition", attention.result(Q[i], K[i], V[i])),
            step("definition", attention.result(X_Q @ W_Q[i], X_K @ W_K[i], X_V @ W_V[i])),
        ),
        claim(Conformable(projected, W_Q[i]), step("shape", Eq(d_k, d_model), "iff")),
        about=heads.until("head"),
        ranges={i: h},
        source=SECTION,
    )


@result
def split() -> Derivation:
    """The heads split one wide projection: X W^Q is cut into blocks, each of which reads all of X."""
    wide = Concatenate(W_Q[i], i, h)
    return derivation(
        "The queries of head $i$ are block $i$ of the columns of $X_Q [W_1^Q ... W_h^Q]$",
        claim(column_block(X_Q @ wide, i), step("block product", X_Q @ W_Q[i]), step("definition", Q[i])),
        claim(X_Q @ wide, step("block product", Concatenate(Q[i], i, h))),
        about=heads.until("head"),
        ranges={i: h},
        source=SECTION,
    )


@result
def fused_projection() -> Derivation:
    """One product computes queries, keys and values of all heads of self-attention; it is cut into blocks twice."""
    X, wide, p = array("X", n, d_model), array("W", 3, d_model, size("D")), index("p")
    return derivation(
        "One product $X [W^Q W^K W^V]$ holds the queries, keys and values of all heads, $D = h d_k$ columns each",
        claim(column_block(X @ Concatenate(wide[p], p, 3), p), step("block product", X @ wide[p])),
        claim(X @ Concatenate(W_Q[i], i, h), step("block product", Concatenate(X @ W_Q[i], i, h))),
        claim(column_block(X @ Concatenate(W_K[i], i, h), i), step("block product", X @ W_K[i])),
        ranges={p: 3, i: h},
        source=SECTION,
    )


@result
def reads_all_of_d_model() -> Derivation:
    """No head is limited to a part of X: every query of every head reads all d_model columns.

    To cut X itself into h blocks, one for each head, is to set the weights of head i outside block i to 0.
    """
    block, columns = index("a"), size("q")  # one of h blocks of X, each of q columns
    cut, U = array("X", n, Blocks(h, columns)), array("U", h, columns, d_k)
    mostly_zero = Concatenate(KroneckerDelta(block, i) * U[block].T, block, h).T
    return derivation(
        "The queries of each head depend on all $d_model$ columns of $X$: the heads split what $W^Q$ gives, not $X$",
        claim(Derivative(Q[i, r, j], X_Q[r, c]), step("derivative", W_Q[i, c, j])),
        claim(column_block(cut, i) @ U[i], step("block product", cut @ mostly_zero)),
        about=heads.until("head"),
        ranges={i: h, r: n, c: d_model, j: d_k},
        source=SECTION,
    )


@result
def concat_index() -> Derivation:
    """Head i has d_v columns, those of block i."""
    unit = Tabulated(Lambda((c,), KroneckerDelta(c, d_v * i + j)), h * d_v)
    return derivation(
        "Column $j$ of head $i$ is column $(i - 1) d_v + j$ of $Concat(head_1, ..., head_h)$",
        claim(column_block(concatenated, i), step("definition", head[i])),
        claim((concatenated @ unit)[r], step("Kronecker delta", head[i, r, j])),
        ranges={i: h, r: n, j: d_v},
        source=SECTION,
    )


@result
def concat_index_of_width_64() -> Derivation:
    """With d_v = 64, head 1 has the columns 1 to 64, head 2 the columns 65 to 128."""
    eight = array("head", 8, n, 64)
    unit = Tabulated(Lambda((c,), KroneckerDelta(c, 64 * i + j)), 512)
    return derivation(
        "With eight heads of width 64, head $i$ is in the columns $64 (i - 1) + 1$ to $64 i$ of the concatenation",
        claim((Concatenate(eight[i], i, 8) @ unit)[r], step("Kronecker delta", eight[i, r, j])),
        ranges={i: Integer(8), r: n, j: Integer(64)},
        source=SECTION,
    )


@result
def concat_is_sum() -> Derivation:
    """W^O adds the heads, each multiplied by its own rows: no product of two heads occurs."""
    rows = column_block(W_O.T, i).T
    h_1, h_2, w_11, w_12, w_21, w_22 = symbols("h_1 h_2 w_11 w_12 w_21 w_22", real=True)
    mixed = Explicit([[h_1 * w_11 + h_2 * w_21, h_1 * w_12 + h_2 * w_22]])
    return derivation(
        "$Concat(head_1, ..., head_h) W^O = sum_i head_i W_i^O$, $W_i^O$ being block $i$ of the rows of $W^O$",
        claim(
            concatenated @ W_O,
            step("block product", Tabulated(Lambda((r, c), Sum((head[i] @ rows)[r, c], (i, 0, h - 1))), n, d_model)),
        ),
        claim(
            Explicit([[h_1, h_2]]) @ Explicit([[w_11, w_12], [w_21, w_22]]),
            step("matrix product", mixed),
        ),
        source=SECTION,
    )


@result
def sum_of_circuits() -> Derivation:
    """Each head adds one term, in which its four matrices occur as two products."""
    rows = column_block(W_O.T, i).T
    A = row_softmax(X_Q @ (W_Q[i] @ W_K[i].T) @ X_K.T / sqrt(d_k))
    return derivation(
        "Multi-head attention is a sum over heads: $sum_i A_i X_V (W_i^V W_i^O)$, $A_i$ from $X_Q (W_i^Q "
        "W_i^K^T) X_K^T$",
        claim(Y, step("block product", SumOver(A @ (X_V @ (W_V[i] @ rows)), i, h))),
        about=equations(),
        source="Elhage et al. (2021), A Mathematical Framework for Transformer Circuits",
    )


@result
def head_permutation() -> Derivation:
    """The heads are a set: permuting them only permutes their weights."""
    rows = Concatenate(column_block(W_O.T, sigma(i)), i, h).T
    return derivation(
        "Multi-head attention does not change when the heads are permuted, with the blocks of rows of $W^O$",
        claim(Concatenate(head[sigma(i)], i, h) @ rows, step("reindexing", concatenated @ W_O)),
        bijections=[("sigma", "sigma_inverse", h)],
        source=SECTION,
    )


@result
def single_head() -> Derivation:
    """With one head, multi-head attention is attention with projections before and after it."""
    only = array("W_O", d_v, d_model)
    W_Q, W_K, W_V = (array(name, 1, d_model, width) for name, width in (("W_Q", d_k), ("W_K", d_k), ("W_V", d_v)))
    attention = scaled_dot_product_attention()
    return derivation(
        "Multi-head attention with $h = 1$ is $Attention(X_Q W^Q, X_K W^K, X_V W^V) W^O$",
        claim(
            Y,
            step("block product", attention.result(X_Q @ W_Q[0], X_K @ W_K[0], X_V @ W_V[0]) @ only),
        ),
        about=heads.at(h=1),
        source=SECTION,
    )


@result
def effective_biases() -> Derivation:
    """Two of four biases have an effect: the key bias cancels, the value biases are one more bias of the output."""
    attention = scaled_dot_product_attention()
    queries, keys, values = X_Q @ W_Q[i] + b_Q[i], X_K @ W_K[i], X_V @ W_V[i]
    return derivation(
        "The biases of the keys have no effect; those of the values add $Concat(b_1^V, ..., b_h^V) W^O$ to $b^O$",
        claim(
            attention.result(queries, keys + b_K[i], values + b_V[i]),
            step("exponent", attention.result(queries, keys, values + b_V[i])),
            step("distributivity", attention.result(queries, keys, values) + b_V[i]),
        ),
        claim(
            Concatenate(head[i] + b_V[i], i, h) @ W_O + b_O,
            step("distributivity", concatenated @ W_O + (Concatenate(b_V[i], i, h) @ W_O + b_O)),
        ),
        ranges={i: h},
        source="Namazifar, Hazarika and Hakkani-Tur (2023)",
    )
