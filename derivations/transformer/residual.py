r"""Residual connections around a sub-layer F, with the norm after the sum or before the sub-layer.

Definition   post-norm: S = X + F(X), Y = LayerNorm(S);   pre-norm: Y = X + F(LayerNorm(X))
Result       the sum adds the sub-layer's own input; its Jacobian is 1 + F'
Shapes       X, F(X), S and Y (n, d_model)
Assumes      F keeps the shape of its input
Source       post-norm: Vaswani et al. (2017), section 3.1; pre-norm: Xiong et al. (2020); He et al. (2016)
"""

from sympy import Derivative, Eq, Expr, KroneckerDelta, Lambda, Sum, sqrt

from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import uninterpreted_function
from derivations.language.layers.layer import Equation, Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.normalisation.layer_norm import layer_norm
from derivations.symbols import d_ff, d_model, epsilon, i, index, j, k, l, n, scalar

__all__ = ["post_norm_residual", "pre_norm_residual"]

VASWANI = "Vaswani et al. (2017), section 3.1"
X, F, S, L, Y = (array(name, n, d_model) for name in ("X", "F", "S", "L", "Y"))
X_c, X_hat, A = array("X_c", n, d_model), array("X_hat", n, d_model), array("A", d_model, d_model)
sigma2, gamma, beta = array("sigma2", n), array("gamma", d_model), array("beta", d_model)
a, b, p, q = scalar("a"), scalar("a", positive=True), index("p"), index("q")
same = KroneckerDelta(i, p) * KroneckerDelta(k, l)
network = feed_forward(uninterpreted_function("act"))
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


def norm_jacobian(out: Expr, by: Expr) -> Expr:
    """Return d y_out / d x_by of the norm, at row i of its input."""
    within = KroneckerDelta(out, by) - 1 / d_model - X_hat[i, out] * X_hat[i, by] / d_model
    return gamma[out] * within / sqrt(sigma2[i] + epsilon)


def over_q(of: Expr) -> Expr:
    """Return the sum of an expression in q over the features."""
    return Sum(of, (q, 0, d_model - 1))


def of_norm(inputs: Array) -> tuple[Equation, ...]:
    """Return the equations of the norm of a matrix: differences from the mean, variance, normalised rows."""
    names = {"X_c": X_c, "sigma2": sigma2, "X_hat": X_hat}
    return tuple(Equation(target, layer_norm().until(name).result(inputs)) for name, target in names.items())


def with_linear_sublayer(*, post: bool) -> tuple[Equation, ...]:
    """Return the equations of a block with the sub-layer F(X) = X A, the first-order form of any sub-layer."""
    normed = layer_norm().result(S if post else X, gamma=gamma, beta=beta)
    if post:
        return (Equation(S, X + X @ A), *of_norm(S), Equation(Y, normed))
    return (*of_norm(X), Equation(L, normed), Equation(Y, X + L @ A))


@result
def post_norm() -> Derivation:
    """The original Transformer normalises the sum of the input and the output of the sub-layer."""
    return derivation(
        "Post-norm residual: the sub-layer's own input is added and the sum is normalised, $LayerNorm(X + FFN(X))$",
        claim(S, step("definition", X + sublayer(X))),
        claim(Y, step("definition", norm(X + sublayer(X)))),
        about=post_norm_residual(network),
        source=VASWANI,
    )


@result
def pre_norm() -> Derivation:
    """The later variant: the sub-layer reads the norm of the input, and the sum is passed on without a norm."""
    return derivation(
        "Pre-norm residual: the sub-layer sees the normalised input, $X + FFN(LayerNorm(X))$",
        claim(Y, step("definition", X + sublayer(norm(X)))),
        about=pre_norm_residual(network),
        source="Xiong et al. (2020), figure 1",
    )


@result
def output_is_not_the_sum() -> Derivation:
    """The sum keeps the means of both terms; the norm, before gamma and beta, removes the mean of every row."""
    normed = layer_norm().until("X_hat").result(S)
    return derivation(
        "The output of a post-norm sub-layer is not the sum $X + F(X)$ but its norm, whose rows have mean 0",
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
    """Sub-layer, sum and norm act on each position separately: row i of the output depends only on x_i."""
    alone = Tabulated(Lambda((j, k), X[i, k]), 1, d_model)
    return derivation(
        "Row $i$ of $LayerNorm(X + FFN(X))$ is $LayerNorm(x_i + FFN(x_i))$",
        claim(Y[i], step("row of a product", norm(alone + sublayer(alone))[0])),
        about=post_norm_residual(network),
        ranges={i: n},
        source=VASWANI,
    )


@result
def jacobian() -> Derivation:
    """The derivative of a sum: the identity is added to the Jacobian of the sub-layer."""
    return derivation(
        "Jacobian of a residual connection: the identity plus the Jacobian of the sub-layer",
        claim(
            Derivative(S[i, k], X[p, l]),
            step("derivative", Derivative(X[i, k], X[p, l]) + Derivative(F[i, k], X[p, l])),
            step("derivative", same + Derivative(F[i, k], X[p, l])),
        ),
        about=post_norm_residual(network).until("S"),
        ranges={i: n, k: d_model, p: n, l: d_model},
        source="He, Zhang, Ren and Sun (2016), section 3",
    )


@result
def post_norm_jacobian() -> Derivation:
    """Every gradient passes through the norm: the identity, too, is divided by s and projected."""
    return derivation(
        "Jacobian of a post-norm block: that of the norm at $S$, times the identity plus that of the sub-layer",
        claim(
            Derivative(Y[i, k], X[p, l]),
            step("chain rule", KroneckerDelta(i, p) * over_q(norm_jacobian(k, q) * (KroneckerDelta(q, l) + A[l, q]))),
        ),
        about=with_linear_sublayer(post=True),
        ranges={i: n, k: d_model, p: n, l: d_model},
        source="Xiong et al. (2020), section 3",
    )


@result
def pre_norm_jacobian() -> Derivation:
    """One path has no norm: the identity is unchanged, and only the branch is divided by s."""
    return derivation(
        "Jacobian of a pre-norm block: the identity plus that of the sub-layer times that of the norm at $X$",
        claim(
            Derivative(Y[i, k], X[p, l]),
            step("derivative", same + over_q(Derivative(L[i, q], X[p, l]) * A[q, k])),
            step("chain rule", same + KroneckerDelta(i, p) * over_q(norm_jacobian(q, l) * A[q, k])),
        ),
        about=with_linear_sublayer(post=False),
        ranges={i: n, k: d_model, p: n, l: d_model},
        source="Xiong et al. (2020), section 3",
    )


@result
def paths() -> Derivation:
    """A stack of residual blocks is a sum over all paths through it, each of which takes or skips every branch."""
    B, identity = array("B", d_model, d_model), Tabulated(Lambda((k, l), KroneckerDelta(k, l)), d_model, d_model)
    return derivation(
        "Two residual blocks with linear branches: $(I + A)(I + B) = I + A + B + A B$, four paths",
        claim(X + X @ A + (X + X @ A) @ B, step("distributivity", X + X @ A + X @ B + X @ A @ B)),
        claim((identity + A) @ (identity + B), step("distributivity", identity + A + B + A @ B)),
        source="Veit, Wilber and Belongie (2016), section 3",
    )


@result
def gated_branch() -> Derivation:
    """With a branch factor that starts at 0, the block starts as the identity."""
    return derivation(
        "A branch with a factor $a$ has Jacobian $I + a F'$, so the block is the identity at $a = 0$",
        claim(
            Derivative((X + a * F)[i, k], X[p, l]),
            step("derivative", same + a * Derivative(F[i, k], X[p, l])),
        ),
        claim(Derivative((X + a * F)[i, k], a), step("derivative", F[i, k])),
        claim(X + a * F, step("assumption", X), given=(Assumption(Eq(a, 0)),)),
        about=[Equation(F, sublayer(X))],
        ranges={i: n, k: d_model, p: n, l: d_model},
        source="Bachlechner et al. (2021), section 3",
    )


@result
def branch_ignores_scale() -> Derivation:
    """The branch of a pre-norm block does not grow with the stream, so later blocks change the stream less and less."""
    seen = gamma[q] * X_c[i, q] / sqrt(sigma2[i] + epsilon / b**2) + beta[q]
    normed = part("norm", layer_norm())(b * X, gamma=gamma, beta=beta)
    return derivation(
        "In a pre-norm block of $a X$, $a > 0$, the branch sees $LayerNorm(X; epsilon / a^2)$: the factor acts on "
        "$epsilon$ alone",
        claim(Y[i, k], step("algebra", b * X[i, k] + over_q(seen * A[q, k]))),
        about=(*of_norm(X), Equation(L, normed), Equation(Y, b * X + L @ A)),
        ranges={i: n, k: d_model},
        source="Ba, Kiros and Hinton (2016), section 5.1",
    )


@result
def weighted_residual() -> Derivation:
    """A larger factor on the stream acts like a smaller one on the branch: only their ratio matters, up to epsilon."""
    return derivation(
        "$LayerNorm(a X + F; epsilon) = LayerNorm(X + F/a; epsilon / a^2)$ for every $a > 0$, up to $gamma$ and $beta$",
        claim(L[i, k], step("algebra", X_c[i, k] / sqrt(sigma2[i] + epsilon / b**2))),
        about=(
            Equation(S, X + F / b),
            *of_norm(S),
            Equation(L, layer_norm().until("X_hat").result(b * X + F)),
        ),
        ranges={i: n, k: d_model},
        source="Wang et al. (2022), DeepNet",
    )


@result
def fixed_rows_add_up() -> Derivation:
    """Vectors that are added to every position may be added once, at the end of the residual path."""
    first, second, W, e = array("b", d_model), array("c", d_model), array("W", d_model, d_ff), array("e", d_ff)
    return derivation(
        "Fixed rows that meet in a residual sum are added once; a product takes one into its bias",
        claim((X + first) + (F + second), step("algebra", X + F + (first + second))),
        claim((X + first) @ W + e, step("distributivity", X @ W + (first @ W + e))),
        source=VASWANI,
    )
