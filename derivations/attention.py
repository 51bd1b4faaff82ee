r"""Scaled dot-product attention."""

from sympy import sqrt

from derivations.language.expression import array, mask_array
from derivations.language.functions import row_softmax
from derivations.language.layer import Equations, Layer
from derivations.symbols import d_k, d_v, m, n

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(*, masked: bool = False) -> Layer:
    """Return scaled dot-product attention, with a mask of visible keys when `masked`.

    Definition   S = Q K^T / sqrt(d_k), A = softmax of the rows of S, O = A V
    Shapes       Q (n, d_k), K (m, d_k), V (m, d_v), mask M (n, m), O (n, d_v)
    Assumes      a row of M with no visible key gives a row of zeros
    Source       Vaswani et al. (2017), equation 1
    """
    Q, K, V, M = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v), mask_array("M", n, m)
    let = Equations()
    S = let("S")(Q @ K.T / sqrt(d_k))
    A = let("A")(row_softmax(S, M if masked else None))
    O = let("O")(A @ V)  # noqa: E741 - the paper's letter
    if masked:
        return Layer("masked_scaled_dot_product_attention", (Q, K, V, M), (), let, O)
    return Layer("scaled_dot_product_attention", (Q, K, V), (), let, O)
