r"""Attention as a smoother with a kernel, and kernels that make it linear in the number of keys.

Definition   O_i = sum_j kappa(q_i, k_j) v_j / sum_j kappa(q_i, k_j)
Result       kappa(q, k) = exp(q . k / sqrt(d_k)) is attention, a Gaussian kernel when all keys have one norm;
             kappa(q, k) = phi(q) . phi(k) needs only Phi_K^T V and Phi_K^T 1, whose sizes do not grow with the keys
Shapes       Q (n, d_k), K (m, d_k), V (m, d_v), features Phi_Q (n, r) and Phi_K (m, r), O (n, d_v)
Assumes      the kernels of a query do not sum to 0
Source       Nadaraya (1964); Watson (1964); Tsai et al. (2019); Katharopoulos et al. (2020), section 3.2
"""

from sympy import Eq, Expr, Le, Ne, Sum, Symbol, exp, sqrt, symbols

from derivations.attention.attention import A, K, O, Q, V, attention, c, dot, over_keys, values
from derivations.language.arrays.expression import Array, ColumnBroadcast, array
from derivations.language.arrays.functions import RowSum, named
from derivations.language.arrays.scalars import Iverson
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d_k, d_v, i, index, j, k, l, m, n, scalar, size

__all__ = ["linear_attention"]

TOPIC = "attention"

SMOOTHER = "Nadaraya (1964); Watson (1964); Tsai, Bai, Yamada, Morency and Salakhutdinov (2019)"
KATHAROPOULOS = "Katharopoulos, Vyas, Pappas and Fleuret (2020), section 3.2"
r = size("r")
Phi_Q, Phi_K = array("Phi_Q", n, r), array("Phi_K", m, r)
p = index("p")


@catalogued
def linear_attention() -> Layer:
    """Return attention whose kernel is a product of features; it sums over the keys before it reads a query.

    Definition   H = Phi_K^T V, z = Phi_K^T 1, O_i = phi(q_i)^T H / phi(q_i)^T z
    Shapes       features Phi_Q (n, r) and Phi_K (m, r), V (m, d_v), H (r, d_v), z (r,), O (n, d_v)
    Assumes      phi(q_i)^T z is not 0
    Source       Katharopoulos et al. (2020), section 3.2
    """
    above, below = symbols("x y", real=True)
    quotient = named("quotient", above / below, above, below)

    let = Equations()
    state = let("H")(Phi_K.T @ V)
    sums = let("z")(RowSum(Phi_K.T))
    normaliser = let("s")(Phi_Q @ sums)
    output = let("O")(quotient(Phi_Q @ state, ColumnBroadcast(normaliser, d_v)))
    return Layer("linear_attention", (Phi_Q, Phi_K, V), (), let, output)


# --- kernels of queries and keys ------------------------------------------------------------------------------------


def kernel(key: Expr) -> Expr:
    """Return the kernel of query i and a key for which the smoother is attention."""
    return exp(dot(i, key) / sqrt(d_k))


@result
def kernel_smoother() -> Derivation:
    """Attention is the Nadaraya-Watson estimate at the point q_i, from values v_j observed at k_j."""
    return derivation(
        "Attention is a kernel smoother: $o_i = sum_j kappa(q_i, k_j) v_j / sum_j kappa(q_i, k_j)$",
        claim(
            O[i, c],
            step("definition", over_keys(A[i, j] * V[j, c], j)),
            step("definition", over_keys(kernel(j) / over_keys(kernel(l)) * V[j, c], j)),
            step("linearity of sums", over_keys(kernel(j) * V[j, c], j) / over_keys(kernel(l))),
        ),
        about=attention,
        ranges={i: n, c: d_v},
        source=SMOOTHER,
    )


def square_norm(key: Expr) -> Expr:
    """Return the squared norm of a key."""
    return Sum(K[key, p] ** 2, (p, 0, d_k - 1))


def gaussian(key: Expr) -> Expr:
    """Return the Gaussian kernel of query i and a key, of variance sqrt(d_k)."""
    return exp(-Sum((Q[i, p] - K[key, p]) ** 2, (p, 0, d_k - 1)) / (2 * sqrt(d_k)))


@result
def gaussian_kernel() -> Derivation:
    """A dot product is a distance and two norms: the query's norm cancels, and so does a common norm of the keys."""

    # q . k = (|q|^2 + |k|^2 - |q - k|^2) / 2, and the factor of |q|^2 cancels
    def weighted(key: Symbol) -> Expr:
        return exp(square_norm(key) / (2 * sqrt(d_k))) * gaussian(key)

    rho = scalar("rho")
    same = Assumption(Eq(square_norm(j), rho), {j: m}, "all keys have the same norm")
    return derivation(
        "Attention weights are those of a Gaussian kernel of variance $sqrt(d_k)$ when all keys have the same norm",
        claim(
            A[i, j],
            step("definition", kernel(j) / over_keys(kernel(l))),
            step("exponent", weighted(j) / over_keys(weighted(l))),
            step("assumption", gaussian(j) / over_keys(gaussian(l))),
        ),
        about=attention,
        ranges={i: n, j: m},
        assuming=[same],
        source=SMOOTHER,
    )


# --- kernels that are products of features --------------------------------------------------------------------------


@result
def linear_attention_is_exact() -> Derivation:
    """The kernels need not be formed: by associativity, keys and values are multiplied first."""
    kernels = Phi_Q @ Phi_K.T
    whole = over_keys(kernels[i, l])
    return derivation(
        "With the kernel $phi(q) . phi(k)$, the smoother over $m$ keys is $phi(q_i)^T (Phi_K^T V) / phi(q_i)^T "
        "(Phi_K^T 1)$",
        claim(kernels @ V, step("associativity", Phi_Q @ (Phi_K.T @ V))),
        claim(over_keys(kernels[i, j] * V[j, c], j) / whole, step("order of summation", O[i, c])),
        about=linear_attention(),
        ranges={i: n, c: d_v},
        assuming=[Assumption(Ne(whole, 0), {}, "the kernels of query $i$ do not sum to 0")],
        source=KATHAROPOULOS,
    )


@result
def linear_attention_cost() -> Derivation:
    """With keys and values multiplied first, the cost is 2 (n + m) r d_v, without a term in n m."""
    count = Count("matmul FLOPs", linear_attention())
    return derivation(
        "The products of linear attention grow with $n + m$, those of attention with $n m$",
        claim(count, step("count", 2 * (n + m) * r * d_v + 2 * n * r)),
        claim(Count("matmul FLOPs", attention), step("count", 2 * n * m * (d_k + d_v))),
        source=KATHAROPOULOS,
    )


@result
def causal_linear_attention() -> Derivation:
    """Under the causal mask the past is one matrix, to which each position adds a term: a recurrent layer."""
    features = array("Phi_K", n, r)
    past = Iverson(Le(j, i, evaluate=False)) * (Phi_Q @ features.T)[i, j] * values[j, c]

    def state(of_keys: Array, of_values: Array, last: Expr) -> Expr:
        return Sum(of_keys[j, k] * of_values[j, c], (j, 0, last))

    return derivation(
        "Causal linear attention reads one matrix, the sum of $phi(k_j) v_j^T$ over the past; a position adds one term",
        claim(
            Sum(past, (j, 0, n - 1)),
            step("indicator", Sum(Phi_Q[i, k] * state(features, values, i), (k, 0, r - 1))),
        ),
        claim(
            state(features, values, i),
            step("linearity of sums", state(features, values, i - 1) + features[i, k] * values[i, c]),
        ),
        ranges={i: n, c: d_v, k: r},
        source="Katharopoulos, Vyas, Pappas and Fleuret (2020), section 3.4",
    )
