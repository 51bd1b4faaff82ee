r"""Alternating updates: several streams of rows, of which a layer computes one and corrects the others.

Definition   m(x) = tanh(RMSNorm(x) W^R / d_model); predicted X'_s = X_s + sum_t C_s,t X_t with C_s = m(X_a) W_s^P;
             the layer gives Z = F(X'_a) for the active stream a; corrected X''_s = X'_s + (1 + k_s)(Z - X'_a) with
             k_s = m(Z) . w_s^K
Result       the active stream becomes Z + k_a (Z - X'_a); beside the layer itself, S streams need
             2 n S (2 d_model + S^2 + S + S d_model) FLOPs of products
Shapes       X, X' and X'' (n, S d_model), streams side by side; Z (n, d_model), W^R (d_model, S), W^P (S, S, S),
             W^K (S, S)
Assumes      no row is 0, at which a length has no slope: `new_streams` and `joined_streams` are not in the catalogue
Source       Baykal et al. (2023), section 3; Gemma Team (2025), Gemma 3n, as in the released code, for m
"""

from sympy import Expr, Max, Rational, sqrt, tanh

from derivations.language.arrays.arrangements import Concatenate, SumOver, column_block
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import Array, ColumnBroadcast, Variable, array
from derivations.language.arrays.functions import Hadamard, RowMean, named, square
from derivations.language.arrays.shapes import Blocks
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import d_model, epsilon, i, index, j, n, scalar, size

__all__ = ["S", "corrected_streams", "joined_streams", "new_streams", "predicted_streams", "stream_router"]

TOPIC = "residual"
BAYKAL = "Baykal et al. (2023), section 3"
S = size("S")  # streams
SIDE_BY_SIDE = Blocks(S, d_model)
LEAST = Rational(1, 10**5)  # of a mean square that is divided by
s, t, p = index("s"), index("t"), index("p")
x, y, z = scalar("x"), scalar("y"), scalar("z")
X, Z, R = array("X", n, SIDE_BY_SIDE), array("Z", n, d_model), array("R", n, S)
bounded = named("tanh", tanh(x), x)
as_large = named("as_large", x * sqrt(y) / sqrt(Max(z, LEAST)), x, y, z)


@catalogued
def stream_router(eps: Expr | int = epsilon) -> Layer:
    """Return S numbers between -1 and 1 for each row.

    Definition   R = tanh(RMSNorm(Z) W_R / d_model)
    Shapes       Z (n, d_model), W_R (d_model, S), R (n, S)
    Source       Gemma Team (2025), Gemma 3n, as in the released code
    """
    W_R, let = array("W_R", d_model, S), Equations()
    let("U")(part("router_norm", rms_norm(eps))(Z))
    P = let("P")(array("U", n, d_model) / d_model @ W_R)
    return Layer("stream_router", (Z,), (W_R,), let, let("R")(bounded(P)))


@catalogued
def predicted_streams() -> Layer:
    """Return the predicted streams, each computed from all streams.

    Definition   X'_s = X_s + sum_t C_s,t X_t, C_s = R W_P[s]
    Shapes       X and X' (n, S d_model), R (n, S), W_P (S, S, S)
    Source       Baykal et al. (2023), section 3
    """
    W_P, let = array("W_P", S, S, S), Equations()
    C = let("C", over=(s, S))(R @ W_P[s])
    read = operand_of(C, (s, p, t)), operand_of(X, (p, (t, j)))
    M = let("M")(contraction((s, p, j), (S, n, d_model), [(t, S)], 1, *read))
    P = let("P", over=(s, S))(column_block(X, s) + M[s])
    return Layer("predicted_streams", (X, R), (W_P,), let, let("X_predicted")(Concatenate(P[s], s, S)))


@catalogued
def corrected_streams(active: int = 0) -> Layer:
    """Return the predicted streams, each corrected by the prediction error of the active stream.

    Definition   X''_s = X_s + (1 + k_s)(Z - X_a), k_s = R w_s
    Shapes       X and X'' (n, S d_model), Z (n, d_model), R (n, S), W_K (S, S)
    Source       Baykal et al. (2023), section 3
    """
    W_K, let = array("W_K", S, S), Equations()
    D = let("D")(Z - column_block(X, active))
    K = let("K", over=(s, S))(R @ W_K[s])
    C = let("C", over=(s, S))(column_block(X, s) + D + Hadamard(ColumnBroadcast(K[s], d_model), D))
    return Layer("corrected_streams", (X, Z, R), (W_K,), let, let("X_corrected")(Concatenate(C[s], s, S)))


def _sized(let: Equations, rows: Variable, like: Array) -> Array:
    """Return the rows scaled so that each has the mean square of the same row of `like`."""
    wanted = let("ms")(RowMean(square(like)))
    own = let("ms_s", over=(s, S - 1))(RowMean(square(rows[s])))
    given = (ColumnBroadcast(each, d_model) for each in (wanted, own[s]))
    return let("Y", over=(s, S - 1))(as_large(rows[s], *given))[s]


def new_streams() -> Layer:
    """Return the streams before the first layer: the rows, and S - 1 linear maps of them scaled to the same size.

    Definition   X_0 = Z, X_s = P_s sqrt(mean(Z^2)) / sqrt(max(mean(P_s^2), 10^-5)), P_s = Z W_s
    Shapes       Z (n, d_model), W (S - 1, d_model, d_model), X (n, S d_model)
    Source       Gemma Team (2025), Gemma 3n, as in the released code
    """
    W, let = array("W", S - 1, d_model, d_model), Equations()
    P = let("P", over=(s, S - 1))(Z @ W[s])
    rows = ColumnConcatenation(Z, Concatenate(_sized(let, P, Z), s, S - 1))
    return Layer("new_streams", (Z,), (W,), let, let("X")(ColumnRange(rows, 0, SIDE_BY_SIDE)))


def joined_streams() -> Layer:
    """Return one row for each position: the mean of the first stream and of maps of the others, scaled to its size.

    Definition   Z = (X_0 + sum_s P_s sqrt(mean(X_0^2)) / sqrt(max(mean(P_s^2), 10^-5))) / S, P_s = X_s W_s
    Shapes       X (n, S d_model), W (S - 1, d_model, d_model), Z (n, d_model)
    Source       Gemma Team (2025), Gemma 3n, as in the released code
    """
    W, let = array("W", S - 1, d_model, d_model), Equations()
    first = let("X_0")(column_block(X, 0))
    rest = let("X_rest")(ColumnRange(X, d_model, Blocks(S - 1, d_model)))
    P = let("P", over=(s, S - 1))(column_block(rest, s) @ W[s])
    others = SumOver(_sized(let, P, first), s, S - 1)
    return Layer("joined_streams", (X,), (W,), let, let("Z")((first + others) / S))


@result
def active_stream() -> Derivation:
    """The active stream becomes the output of the layer plus k times its prediction error."""
    A, k = array("A", n, d_model), scalar("k")  # the predicted rows of the active stream, and its correction
    return derivation(
        "The active stream becomes the output of the layer, plus $k$ times what the prediction was wrong by",
        claim((A + (1 + k) * (Z - A))[i, j], step("algebra", (Z + k * (Z - A))[i, j])),
        ranges={i: n, j: d_model},
        source=BAYKAL,
    )


@result
def stream_costs() -> Derivation:
    """The weights that the streams add to a layer, and the FLOPs of their prediction and correction."""
    router, predicted, corrected = stream_router(), predicted_streams(), corrected_streams()
    return derivation(
        "Parameters of the streams of a layer, and the products of prediction and correction",
        claim(Count("parameters", router), step("count", S * d_model + d_model)),
        claim(Count("parameters", predicted), step("count", S**3)),
        claim(Count("parameters", corrected), step("count", S**2)),
        claim(Count("matmul FLOPs", predicted), step("count", 2 * n * S**3 + 2 * n * S**2 * d_model)),
        claim(Count("matmul FLOPs", corrected), step("count", 2 * n * S**2)),
        source=BAYKAL,
    )
