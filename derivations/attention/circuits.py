r"""The circuits of a head: the products of its weights that matter, and their ranks.

Result       scores X (W_Q W_K^T) Y^T / sqrt(d_k), output A Y (W_V W_O): a head depends only on two matrices of
             d_model^2 numbers, of rank at most d_k and d_v; the scale is not part of them
Shapes       X (n, d_model), Y (m, d_model), W_Q and W_K (d_model, d_k), W_V (d_model, d_v), W_O (d_v, d_model)
Assumes      no biases (except where the result has them), no rotary positions, no norms of queries and keys
Source       Elhage et al. (2021), A Mathematical Framework for Transformer Circuits
"""

from sympy import Eq, Expr, KroneckerDelta, Lambda, sqrt

from derivations.attention.attention import EQUATION_1, W_K, W_Q, W_V, K, Q, S, V, X, Y, attention
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import row_softmax
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.results.statements import Rank
from derivations.symbols import d_k, d_model, d_v, i, j, m, n

__all__: list[str] = []

TOPIC = "attention"

ELHAGE = "Elhage et al. (2021), A Mathematical Framework for Transformer Circuits"
W_O = array("W_O", d_v, d_model)
b_Q, b_K = array("b_Q", d_k), array("b_K", d_k)
A = array("A", n, m)


@result
def scores_rank() -> Derivation:
    """For any number of positions, the matrix of scores has rank at most d_k."""
    return derivation(
        "The rank of the scores is at most $d_k$",
        claim(S, step("definition", (Q / sqrt(d_k)) @ K.T)),
        claim(Rank((Q / sqrt(d_k)) @ K.T), step("rank of a product", d_k, "<=")),
        about=attention,
        source="Bhojanapalli, Yun, Rawat, Reddi and Kumar (2020)",
    )


@result
def scale_folds_into_queries() -> Derivation:
    """The factor 1 / sqrt(d_k) need not be computed: W_Q and the bias of the queries can absorb it."""
    projected = X @ W_Q + b_Q, Y @ W_K + b_K
    folded = X @ (W_Q / sqrt(d_k)) + b_Q / sqrt(d_k)
    return derivation(
        "With $W_Q / sqrt(d_k)$ and $b_Q / sqrt(d_k)$ in place of $W_Q$ and $b_Q$ the scores need no scale",
        claim(
            projected[0] @ projected[1].T / sqrt(d_k),
            step("associativity", (projected[0] / sqrt(d_k)) @ projected[1].T),
            step("distributivity", folded @ projected[1].T),
        ),
        claim(
            attention.result(*projected, V),
            step("distributivity", row_softmax(folded @ projected[1].T) @ V),
        ),
        source=EQUATION_1,
    )


@result
def query_key_circuit() -> Derivation:
    """The scores depend on queries and keys only through one matrix, W_Q W_K^T."""
    return derivation(
        "The scores depend on $W_Q$ and $W_K$ through $W_Q W_K^T$ alone, whose rank is at most $d_k$",
        claim(
            (X @ W_Q) @ (Y @ W_K).T / sqrt(d_k),
            step("transpose of a product", (X @ W_Q) @ (W_K.T @ Y.T) / sqrt(d_k)),
            step("associativity", X @ (W_Q @ W_K.T) @ Y.T / sqrt(d_k)),
        ),
        claim(Rank(W_Q @ W_K.T), step("rank of a product", d_k, "<=")),
        source=ELHAGE,
    )


@result
def value_output_circuit() -> Derivation:
    """The output depends on values and the output projection only through one matrix, W_V W_O."""
    return derivation(
        "The output of a head depends on $W_V$ and $W_O$ through $W_V W_O$ alone, whose rank is at most $d_v$",
        claim(
            (A @ (Y @ W_V)) @ W_O,
            step("associativity", (A @ Y) @ (W_V @ W_O)),
            step("associativity", A @ (Y @ (W_V @ W_O))),
        ),
        claim(
            attention.result(X @ W_Q, Y @ W_K, Y @ W_V) @ W_O,
            step("associativity", attention.result(X @ W_Q, Y @ W_K, Y) @ (W_V @ W_O)),
        ),
        claim(Rank(W_V @ W_O), step("rank of a product", d_v, "<=")),
        source=ELHAGE,
    )


def identity(name: str, places: Expr) -> tuple[Array, Assumption]:
    """Return a square matrix and the assumption that it is the identity."""
    matrix = array(name, places, places)
    unit = Eq(matrix[i, j], KroneckerDelta(i, j))
    return matrix, Assumption(unit, {i: places, j: places}, f"${name}$ is the identity")


@result
def change_of_basis() -> Derivation:
    """The weights of a head are not unique: an invertible R may act on queries and keys, an invertible T on values."""
    R, R_inverse = array("R", d_k, d_k), array("R_inverse", d_k, d_k)
    T, T_inverse = array("T", d_v, d_v), array("T_inverse", d_v, d_v)
    (unit_k, for_keys), (unit_v, for_values) = identity("I_k", d_k), identity("I_v", d_v)
    return derivation(
        "$W_Q R$, $W_K R^{-T}$ and $W_V T$, $T^{-1} W_O$ give the head that $W_Q$, $W_K$, $W_V$, $W_O$ give: "
        "$I_k = R R^{-1}$, $I_v = T T^{-1}$",
        claim(
            (W_Q @ R) @ (W_K @ R_inverse.T).T,
            step("transpose of a product", W_Q @ (R @ R_inverse) @ W_K.T),
        ),
        claim(W_Q @ unit_k @ W_K.T, step("assumption", W_Q @ W_K.T), given=(for_keys,)),
        claim((W_V @ T) @ (T_inverse @ W_O), step("associativity", W_V @ (T @ T_inverse) @ W_O)),
        claim(W_V @ unit_v @ W_O, step("assumption", W_V @ W_O), given=(for_values,)),
        source=ELHAGE,
    )


@result
def biased_scores() -> Derivation:
    """With biases, the scores get a term of the query alone, which has no effect, and a term of the key alone."""
    scores, circuit = (X @ W_Q + b_Q) @ (Y @ W_K + b_K).T, array("C", n, m)
    of_query, of_key = array("u", n), array("v", m)
    without = Tabulated(Lambda((i, j), (circuit[i, j] + of_key[j]) / sqrt(d_k)), n, m)
    return derivation(
        "With biases, a term of the query alone and a term of the key alone join the scores; the first has no effect",
        claim(
            scores,
            step("distributivity", Tabulated(Lambda((i, j), circuit[i, j] + of_key[j] + of_query[i]), n, m)),
        ),
        claim(row_softmax(scores / sqrt(d_k)), step("exponent", row_softmax(without))),
        about=[
            Equation(circuit, X @ (W_Q @ W_K.T) @ Y.T),
            Equation(of_query, (X @ W_Q + b_Q) @ b_K),
            Equation(of_key, (Y @ W_K) @ b_Q),
        ],
        source="Namazifar, Hazarika and Hakkani-Tur (2023)",
    )
