r"""Residual connections around a sub-layer F, with the norm after the sum or before the sub-layer.

Definition   post-norm: S = X + F(X), Y = LayerNorm(S);   pre-norm: Y = X + F(LayerNorm(X))
Result       what is added is the sub-layer's own input; the Jacobian of the sum is 1 + F'
Shapes       X, F(X), S and Y (n, d_model)
Assumes      F keeps the shape of its input
Source       post-norm: Vaswani et al. (2017), section 3.1; pre-norm: Xiong et al. (2020); He et al. (2016)
"""

from sympy import Derivative, Expr, KroneckerDelta, Lambda, Sum

from derivations.feed_forward import feed_forward
from derivations.language.arrangements import Tabulated
from derivations.language.derivation import Derivation, claim, derivation, result, step
from derivations.language.expression import array
from derivations.language.functions import opaque
from derivations.language.layer import Equation, Equations, Layer, part
from derivations.layer_norm import layer_norm
from derivations.symbols import d_model, i, index, j, k, l, n

__all__ = ["post_norm_residual", "pre_norm_residual"]

VASWANI = "Vaswani et al. (2017), section 3.1"
X, F, S, L, Y = (array(name, n, d_model) for name in ("X", "F", "S", "L", "Y"))
network = feed_forward(opaque("act"))
sublayer, norm = part("sublayer", network), part("norm", layer_norm())


def post_norm_residual(inner: Layer) -> Layer:
    """Return a sub-layer with a residual connection around it and the norm of the sum.

    Definition   F = sublayer(X), S = X + F, Y = LayerNorm(S)
    Shapes       X, F, S and Y (n, d_model)
    Source       Vaswani et al. (2017), section 3.1
    """
    let = Equations()
    branch = let("F")(part("sublayer", inner)(X))
    total = let("S")(X + branch)
    out = let("Y")(part("norm", layer_norm())(total))
    return Layer("post_norm_residual", (X,), (), let, out)


def pre_norm_residual(inner: Layer) -> Layer:
    """Return a sub-layer of the norm of the input, with a residual connection around both.

    Definition   L = LayerNorm(X), F = sublayer(L), Y = X + F
    Shapes       X, L, F and Y (n, d_model)
    Source       Xiong et al. (2020), figure 1
    """
    let = Equations()
    normed = let("L")(part("norm", layer_norm())(X))
    branch = let("F")(part("sublayer", inner)(normed))
    out = let("Y")(X + branch)
    return Layer("pre_norm_residual", (X,), (), let, out)


def average(of: Expr) -> Expr:
    """Return the mean of an expression in j over the features."""
    return Sum(of, (j, 0, d_model - 1)) / d_model


@result
def post_norm() -> Derivation:
    """The original Transformer: the norm of the sum of the input and what the sub-layer makes of it."""
    return derivation(
        "Post-norm residual: the sub-layer's own input is added and the sum is normalised, LayerNorm(X + FFN(X))",
        claim(S, step("definition", X + sublayer(X))),
        claim(Y, step("definition", norm(X + sublayer(X)))),
        about=post_norm_residual(network),
        source=VASWANI,
    )


@result
def pre_norm() -> Derivation:
    """The later variant: the sub-layer sees the norm of the input, and the sum itself is passed on."""
    return derivation(
        "Pre-norm residual: the sub-layer sees the normalised input, X + FFN(LayerNorm(X))",
        claim(Y, step("definition", X + sublayer(norm(X)))),
        about=pre_norm_residual(network),
        source="Xiong et al. (2020), figure 1",
    )


@result
def output_is_not_the_sum() -> Derivation:
    """The sum keeps the means of both its parts; the norm, before gamma and beta, takes the mean of every row away."""
    normed = layer_norm().until("X_hat").result(S)
    return derivation(
        "The output of a post-norm sub-layer is not the sum X + F(X) but its norm, whose rows have mean 0",
        claim(
            average(S[i, j]),
            step("definition", average(X[i, j] + F[i, j])),
            step("linearity of sums", average(X[i, j]) + average(F[i, j])),
        ),
        claim(average(normed[i, j]), step("linearity of sums", 0)),
        about=[Equation(S, X + F)],
        ranges={i: n},
        source=VASWANI,
    )


@result
def per_position() -> Derivation:
    """Sub-layer, sum and norm act on each position by itself: row i of the output is that of x_i alone."""
    alone = Tabulated(Lambda((j, k), X[i, k]), 1, d_model)
    return derivation(
        "Row i of LayerNorm(X + FFN(X)) is LayerNorm(x_i + FFN(x_i))",
        claim(Y[i], step("row of a product", norm(alone + sublayer(alone))[0])),
        about=post_norm_residual(network),
        ranges={i: n},
        source=VASWANI,
    )


@result
def jacobian() -> Derivation:
    """The derivative of a sum: what the sub-layer lacks, the identity carries."""
    p = index("p")
    return derivation(
        "Jacobian of a residual connection: the identity plus the Jacobian of the sub-layer",
        claim(
            Derivative(S[i, k], X[p, l]),
            step("derivative", Derivative(X[i, k], X[p, l]) + Derivative(F[i, k], X[p, l])),
            step("derivative", KroneckerDelta(i, p) * KroneckerDelta(k, l) + Derivative(F[i, k], X[p, l])),
        ),
        about=post_norm_residual(network).until("S"),
        ranges={i: n, k: d_model, p: n, l: d_model},
        source="He, Zhang, Ren and Sun (2016), section 3",
    )
