r"""Multi-head attention."""

from derivations.attention import scaled_dot_product_attention
from derivations.language.expression import Concatenate, array, mask_array
from derivations.language.layer import Equations, Layer, part
from derivations.language.shapes import Blocks
from derivations.symbols import d_k, d_model, d_v, h, i, m, n

__all__ = ["multi_head_attention"]


def multi_head_attention(*, masked: bool = False, biases: bool = False) -> Layer:
    """Return attention with h heads, each with projections of its own.

    Definition   head_i = Attention(X_Q W_i^Q, X_K W_i^K, X_V W_i^V), Y = Concat(head_1, ..., head_h) W^O
    Shapes       X_Q (n, d_model), X_K and X_V (m, d_model), W_Q and W_K (h, d_model, d_k), W_V (h, d_model, d_v),
                 W_O (h d_v, d_model), mask M (n, m), Y (n, d_model); biases b_Q, b_K (h, d_k), b_V (h, d_v), b_O
    Source       Vaswani et al. (2017), section 3.2.2
    """
    X_Q, X_K, X_V, M = array("X_Q", n, d_model), array("X_K", m, d_model), array("X_V", m, d_model), mask_array("M", n, m)
    W_Q, W_K, W_V = array("W_Q", h, d_model, d_k), array("W_K", h, d_model, d_k), array("W_V", h, d_model, d_v)
    W_O = array("W_O", Blocks(h, d_v), d_model)
    b_Q, b_K, b_V, b_O = array("b_Q", h, d_k), array("b_K", h, d_k), array("b_V", h, d_v), array("b_O", d_model)
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
