r"""A learned residual branch beside a sub-layer: the rows themselves and a map of low rank.

Definition   L = X + norm(X W_left W_right)
Result       2 r d_model parameters beside those of the norm, against d_model^2 of a full map
Shapes       X and L (n, d_model), W_left (d_model, r), W_right (r, d_model)
Source       Menghani et al. (2024), section 2; the norm as in the released code of Gemma 3n
"""

from sympy import Expr

from derivations.language.arrays.expression import array
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.language.results.statements import Rank
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import d_model, epsilon, n, size

__all__ = ["augmented_residual", "r_A"]

TOPIC = "residual"
MENGHANI = "Menghani et al. (2024), section 2"
r_A = size("r_A")  # rank of the learned residual branch
X = array("X", n, d_model)
W_left, W_right = array("W_left", d_model, r_A), array("W_right", r_A, d_model)


@catalogued
def augmented_residual(eps: Expr | int = epsilon) -> Layer:
    """Return the rows plus the norm of a map of low rank.

    Definition   L = X + RMSNorm(X W_left W_right)
    Shapes       X and L (n, d_model), W_left (d_model, r_A), W_right (r_A, d_model)
    Source       Menghani et al. (2024), section 2
    """
    let = Equations()
    H = let("H")(X @ W_left)
    B = let("B")(H @ W_right)
    L = let("L")(X + part("branch_norm", rms_norm(eps))(B))
    return Layer("augmented_residual", (X,), (W_left, W_right), let, L)


@result
def low_rank_branch() -> Derivation:
    """Two thin maps are one map of rank at most r_A, with fewer parameters while 2 r_A < d_model."""
    layer = augmented_residual()
    return derivation(
        "A residual branch of rank $r_A$: $2 r_A d_model$ parameters, and those of the norm",
        claim(Rank(W_left @ W_right), step("rank of a product", r_A, "<=")),
        claim(Count("parameters", layer), step("count", 2 * r_A * d_model + d_model)),
        source=MENGHANI,
    )
