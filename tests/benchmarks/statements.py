"""The statements whose proofs are timed: a derivative on the left, the textbook's answer on the right."""

from collections.abc import Callable

from sympy import Derivative, KroneckerDelta, Sum, sqrt

from derivations.attention.attention import scaled_dot_product_attention
from derivations.language.arrays.expression import ColumnBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowSum
from derivations.language.layers.layer import Equations
from derivations.language.results.derivation import Derivation, claim, derivation, step
from derivations.normalisation.layer_norm import layer_norm
from derivations.softmax.softmax import softmax
from derivations.symbols import d, d_k, d_v, epsilon, i, index, j, k, l, m, n

__all__ = ["STATEMENTS"]

p, q = index("p"), index("q")


def softmax_jacobian() -> Derivation:
    """dy_i/dx_k = y_i (delta_ik - y_k)."""
    x, y = array("x", n), array("y", n)
    right = y[i] * (KroneckerDelta(i, k) - y[k])
    return derivation(
        "", claim(Derivative(y[i], x[k]), step("quotient rule", right)), about=softmax(), ranges={i: n, k: n}
    )


def layer_norm_jacobian() -> Derivation:
    """dY_ij/dX_il = gamma_j (delta_jl - 1/d - X^_ij X^_il / d) / sqrt(sigma_i^2 + eps)."""
    X, Y, X_hat = (array(name, n, d) for name in ("X", "Y", "X_hat"))
    gamma, sigma2 = array("gamma", d), array("sigma2", n)
    right = gamma[j] * (KroneckerDelta(j, l) - 1 / d - X_hat[i, j] * X_hat[i, l] / d) / sqrt(sigma2[i] + epsilon)
    return derivation(
        "",
        claim(Derivative(Y[i, j], X[i, l]), step("chain rule", right)),
        about=layer_norm(),
        ranges={i: n, j: d, l: d},
    )


def attention_gradients() -> Derivation:
    """dV = A^T G, dS = A o (dA - rowsum(dA o A)), dQ = dS K / sqrt(d_k), dK = dS^T Q / sqrt(d_k), with dA = G V^T."""
    Q, K, V, G = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v), array("G", n, d_v)
    A, O = array("A", n, m), array("O", n, d_v)
    let = Equations()
    dA = let("dA")(G @ V.T)
    dS = let("dS")(Hadamard(A, dA - ColumnBroadcast(RowSum(Hadamard(dA, A)), m)))
    dQ, dK, dV = let("dQ")(dS @ K / sqrt(d_k)), let("dK")(dS.T @ Q / sqrt(d_k)), let("dV")(A.T @ G)
    loss = Sum(G[p, q] * O[p, q], (p, 0, n - 1), (q, 0, d_v - 1))
    return derivation(
        "",
        claim(Derivative(loss, Q[i, k]), step("chain rule", dQ[i, k])),
        claim(Derivative(loss, K[j, k]), step("chain rule", dK[j, k])),
        claim(Derivative(loss, V[j, l]), step("chain rule", dV[j, l])),
        about=(*scaled_dot_product_attention().equations, *let),
        ranges={i: n, j: m, k: d_k, l: d_v},
    )


STATEMENTS: dict[str, tuple[Callable[[], Derivation], float]] = {  # and the target, in milliseconds
    "softmax Jacobian": (softmax_jacobian, 5),
    "LayerNorm Jacobian": (layer_norm_jacobian, 20),
    "attention gradients for Q, K and V": (attention_gradients, 50),
}
