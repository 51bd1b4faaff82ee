r"""Low-rank adaptation of a linear layer: a frozen matrix plus a trained product of two thin matrices.

Definition   Z = X A, Y = X W + b + (alpha / r) Z B
Result       the linear layer with matrix W + (alpha / r) A B; r (d_in + d_out) new parameters; a change of rank <= r
Shapes       X (n, d_in), W (d_in, d_out), b (d_out,), A (d_in, r), B (r, d_out), Z (n, r), Y (n, d_out)
Assumes      rows are positions, so that A comes first (the paper writes columns: W x + B A x)
Source       Hu, Shen, Wallis, Allen-Zhu, Li, Wang, Wang and Chen (2021), section 4.1
"""

from sympy import Derivative, Eq, KroneckerDelta, Sum

from derivations.language.arrays.expression import array
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.results.statements import Rank
from derivations.linear.linear import linear
from derivations.symbols import d_in, d_out, i, index, j, k, l, n, scalar, size

__all__ = ["low_rank_adaptation"]

HU = "Hu, Shen, Wallis, Allen-Zhu, Li, Wang, Wang and Chen (2021), section 4.1"
r, alpha = size("r"), scalar("alpha", positive=True)
X, W, b, Y = array("X", n, d_in), array("W", d_in, d_out), array("b", d_out), array("Y", n, d_out)
A, B, Z = array("A", d_in, r), array("B", r, d_out), array("Z", n, r)
adapted = W + alpha / r * (A @ B)


@catalogued
def low_rank_adaptation() -> Layer:
    """Return the linear layer with a low-rank change of its matrix.

    Definition   Z = X A, Y = X W + b + (alpha / r) Z B
    Shapes       X (n, d_in), W (d_in, d_out), b (d_out,), A (d_in, r), B (r, d_out), Y (n, d_out)
    Source       Hu, Shen, Wallis, Allen-Zhu, Li, Wang, Wang and Chen (2021), equation 3
    """
    let = Equations()
    let("Z")(X @ A)
    let("Y")(X @ W + b + alpha / r * (Z @ B))
    return Layer("low_rank_adaptation", (X,), (W, b, A, B), let, Y)


@result
def definition() -> Derivation:
    """The layer as a matrix: the change passes through r numbers at each position."""
    return derivation(
        "Definition of low-rank adaptation",
        claim(Y, step("definition", X @ W + b + alpha / r * (X @ A @ B))),
        about=low_rank_adaptation(),
        source=HU,
    )


@result
def merges() -> Derivation:
    """After training, the product of the thin matrices can be added to W: the layer then costs as much as before."""
    return derivation(
        "Low-rank adaptation is the linear layer with matrix $W + (alpha / r) A B$; the change has rank at most $r$",
        claim(
            Y,
            step("definition", X @ W + b + alpha / r * (X @ A @ B)),
            step("associativity", X @ W + alpha / r * (X @ (A @ B)) + b),
            step("distributivity", linear().result(X, W=adapted)),
        ),
        claim(Rank(A @ B), step("rank of a product", r, "<=")),
        about=low_rank_adaptation(),
        source=HU,
    )


@result
def starts_unchanged() -> Derivation:
    """B starts at 0: the layer first equals the linear layer, and of the two matrices only B has a gradient."""
    p, q = index("p"), index("q")
    start = Assumption(Eq(B[p, j], 0), {p: r, j: d_out})
    return derivation(
        "With $B = 0$ low-rank adaptation is the linear layer, whatever $A$ is",
        claim(low_rank_adaptation().result(X), step("assumption", linear().result(X)), given=(start,)),
        claim(
            Derivative(Y[i, j], A[k, p]),
            step("derivative", alpha / r * X[i, k] * B[p, j]),
            step("assumption", 0),
            given=(Assumption(Eq(B[p, j], 0)),),
        ),
        claim(
            Derivative(Y[i, j], B[p, l]),
            step("derivative", alpha / r * Sum(Z[i, q] * KroneckerDelta(p, q) * KroneckerDelta(j, l), (q, 0, r - 1))),
            step("Kronecker delta", alpha / r * Z[i, p] * KroneckerDelta(j, l)),
        ),
        about=low_rank_adaptation(),
        ranges={i: n, j: d_out, k: d_in, p: r, l: d_out},
        source=HU,
    )


@result
def parameters() -> Derivation:
    """The number of trained weights grows with the sum of the widths, that of frozen weights with their product."""
    return derivation(
        "Low-rank adaptation adds $r (d_in + d_out)$ parameters",
        claim(
            Count("parameters", low_rank_adaptation()) - Count("parameters", linear()),
            step("count", d_in * r + r * d_out),
            step("algebra", r * (d_in + d_out)),
        ),
        source=HU,
    )
