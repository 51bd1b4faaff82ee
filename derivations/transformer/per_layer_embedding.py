r"""Per-layer embedding: every layer has a separate table of narrow token rows, which a gate multiplies.

Definition   C = X_0 W^C / sqrt(d_model), L = (RMSNorm(C) + sqrt(d_E) (E_L)_{tokens}) / sqrt(2),
             Y = (phi(Z W^G) * L) W^U, where X_0 are the rows of the embedding and Z those of the layer
Result       the tables and maps of N layers are columns of one table and one map: block l of the rows of the table
             [E_1 ... E_N], and of X_0 [W_1^C ... W_N^C], is what layer l reads; where the gate is 0 the token has no
             effect; a token reads d_E of the vocab d_E entries that a layer has for tokens
Shapes       Z and X_0 (n, d_model), tokens (n,), E_L (vocab, d_E), W^C and W^G (d_model, d_E), W^U (d_E, d_model),
             gamma_E (d_E,) of the norm, one for all layers; Y (n, d_model)
Assumes      0 <= tokens_i < vocab
Source       Gemma Team (2025), Gemma 3n, as in the released code
"""

from sympy import Expr, Integer, Sum, sqrt

from derivations.language.arrays.arrangements import Concatenate, column_block
from derivations.language.arrays.expression import RowBroadcast, array, token_array
from derivations.language.arrays.functions import Hadamard, Lookup, Named, gelu
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import N, d_model, epsilon, i, index, j, k, n, size, vocab

__all__ = ["d_E", "per_layer_embedding"]

TOPIC = "embedding"

GEMMA = "Gemma Team (2025), Gemma 3n, as in the released code"
d_E = size("d_E")  # width of the row that a layer has for a token
l = index("l")
Z, X_0, tokens = array("Z", n, d_model), array("X_0", n, d_model), token_array("tokens", n)
E_L, gamma_E = array("E_L", vocab, d_E), array("gamma_E", d_E)
W_C, W_G, W_U = array("W_C", d_model, d_E), array("W_G", d_model, d_E), array("W_U", d_E, d_model)
C_hat, L, G, F, Y = (array(name, n, d_E) for name in ("C_hat", "L", "G", "F", "Y"))
T, W = array("T", N, vocab, d_E), array("W", N, d_model, d_E)  # the tables and the maps of all layers


@catalogued
def per_layer_embedding(activation: Named = gelu, *, eps: Expr | int = epsilon) -> Layer:
    """Return the rows that a layer adds at its positions, computed from the layer's narrow row for each token.

    Definition   L = (RMSNorm(X_0 W_C / sqrt(d_model)) + sqrt(d_E) E_L[tokens]) / sqrt(2), Y = (phi(Z W_G) * L) W_U
    Shapes       Z, X_0 and Y (n, d_model), tokens (n,), gamma_E (d_E,), E_L (vocab, d_E), W_C and W_G
                 (d_model, d_E), W_U (d_E, d_model)
    Assumes      0 <= tokens_i < vocab
    Source       Gemma Team (2025), Gemma 3n, as in the released code
    """
    let = Equations()
    C = let("C")(X_0 @ W_C / sqrt(d_model))
    # the scale of the norm is an input: it is one for all layers
    let("C_hat")(Hadamard(RowBroadcast(gamma_E, n), part("norm", rms_norm(eps, scaled=False))(C)))
    let("L")((C_hat + Lookup(E_L, tokens) * sqrt(d_E)) / sqrt(Integer(2)))
    let("G")(activation(Z @ W_G))
    let("F")(Hadamard(G, L))
    output = let("Y")(F @ W_U)
    return Layer("per_layer_embedding", (Z, X_0, tokens, gamma_E), (E_L, W_C, W_G, W_U), let, output)


@result
def per_layer_rows() -> Derivation:
    """In one wide table for all layers, each block of columns is the table of one layer."""
    table, maps = Concatenate(T[l], l, N), Concatenate(W[l], l, N)
    return derivation(
        "The rows and the maps of all layers are blocks of one table and of one map",
        claim(column_block(Lookup(table, tokens), k)[i, j], step("block product", Lookup(T[k], tokens)[i, j])),
        claim(column_block(X_0 @ maps, k)[i, j], step("block product", (X_0 @ W[k])[i, j])),
        ranges={i: n, j: d_E, k: N},
        source=GEMMA,
    )


@result
def per_layer_gate() -> Derivation:
    """What a layer adds is linear in the row L of the token, each column of which is multiplied by its gate."""
    read = Sum(G[i, l] * L[i, l] * W_U[l, k], (l, 0, d_E - 1))
    return derivation(
        "The row of a token is scaled column by column before it is mapped back",
        claim((Hadamard(G, L) @ W_U)[i, k], step("matrix product", read)),
        ranges={i: n, k: d_model},
        source=GEMMA,
    )


@result
def per_layer_parameters() -> Derivation:
    """A layer has a table of width d_E and three matrices, each with d_E as one of its sizes."""
    return derivation(
        "Parameters of a per-layer embedding",
        claim(Count("parameters", per_layer_embedding()), step("count", d_E * (vocab + 3 * d_model))),
        source=GEMMA,
    )
