r"""The position-wise feed-forward network.

Definition   H = X W_1 + b_1, G = activation(H), Y = G W_2 + b_2
Result       y_i = activation(x_i W_1 + b_1) W_2 + b_2, one map for every position; on column vectors
             W_2^T activation(W_1^T x + b_1) + b_2; 2 d_model d_ff + d_ff + d_model parameters
Shapes       X (n, d_model), W_1 (d_model, d_ff), b_1 (d_ff,), W_2 (d_ff, d_model), b_2 (d_model,), H and G (n, d_ff)
Assumes      rows are positions; unless a result names the activation, it may be any function, applied entry by entry
Source       Vaswani et al. (2017), section 3.3; Geva, Schuster, Berant and Levy (2021)
"""

from sympy import Derivative, Eq, Expr, Function, KroneckerDelta, Lambda, Max, Sum

from derivations.activations.gelu import normal_distribution
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import Named, gelu, named, relu, uninterpreted_function
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.language.results.statements import Conformable, Rank
from derivations.linear.convolution import convolution, kernel_of_width_1
from derivations.symbols import d_ff, d_model, i, index, j, k, l, n, scalar

__all__ = ["feed_forward"]

VASWANI = "Vaswani et al. (2017), section 3.3"
GEVA = "Geva, Schuster, Berant and Levy (2021), equation 2"
X, H, G, Y = array("X", n, d_model), array("H", n, d_ff), array("G", n, d_ff), array("Y", n, d_model)
W_1, b_1, W_2, b_2 = array("W_1", d_model, d_ff), array("b_1", d_ff), array("W_2", d_ff, d_model), array("b_2", d_model)
u = index("u")  # numbers the hidden units
act = uninterpreted_function("act")  # a proof with it holds for every activation


@catalogued("feed_forward_gelu", activation=gelu)
@catalogued
def feed_forward(activation: Named = relu, *, biases: bool = True) -> Layer:
    """Return the feed-forward network with the given activation.

    Definition   H = X W_1 + b_1, G = activation(H), Y = G W_2 + b_2; without biases H = X W_1, Y = G W_2
    Shapes       X (n, d_model), W_1 (d_model, d_ff), b_1 (d_ff,), W_2 (d_ff, d_model), b_2 (d_model,), Y (n, d_model)
    Source       Vaswani et al. (2017), equation 2; GELU: Hendrycks and Gimpel (2016); no biases: Shazeer (2020)
    """
    let = Equations()
    let("H")(X @ W_1 + b_1 if biases else X @ W_1)
    let("G")(activation(H))
    let("Y")(G @ W_2 + b_2 if biases else G @ W_2)
    return Layer("feed_forward", (X,), (W_1, b_1, W_2, b_2) if biases else (W_1, W_2), let, Y)


def hidden(unit: Expr) -> Expr:
    """Return the input of hidden unit number `unit` at position i: sum_j X_ij W_1,ju + b_1,u."""
    return Sum(X[i, j] * W_1[j, unit], (j, 0, d_model - 1)) + b_1[unit]


def units(of: Expr) -> Expr:
    """Return the sum of an expression in u over all hidden units."""
    return Sum(of, (u, 0, d_ff - 1))


@result
def definition() -> Derivation:
    """An affine map to d_ff features, an activation, and an affine map back to d_model features."""
    return derivation(
        "Definition of the feed-forward network",
        claim(H, step("definition", X @ W_1 + b_1)),
        claim(G, step("definition", act(H)), step("definition", act(X @ W_1 + b_1))),
        claim(Y, step("definition", G @ W_2 + b_2), step("definition", act(X @ W_1 + b_1) @ W_2 + b_2)),
        about=feed_forward(act),
        source="Vaswani et al. (2017), equation 2",
    )


@result
def with_relu() -> Derivation:
    """With ReLU, max(0, x W_1 + b_1) W_2 + b_2."""
    return derivation(
        "The feed-forward network with ReLU, entry by entry",
        claim(G[i, u], step("definition", Max(0, H[i, u])), step("definition", Max(0, hidden(u)))),
        claim(Y[i, k], step("definition", units(Max(0, hidden(u)) * W_2[u, k]) + b_2[k])),
        about=feed_forward(),
        ranges={i: n, k: d_model, u: d_ff},
        source="Vaswani et al. (2017), equation 2",
    )


@result
def with_gelu() -> Derivation:
    """With GELU, the hidden features are H Phi(H) entry by entry."""
    return derivation(
        "The feed-forward network with GELU, entry by entry",
        claim(G[i, u], step("definition", H[i, u] * normal_distribution(H[i, u]))),
        claim(Y[i, k], step("definition", units(H[i, u] * normal_distribution(H[i, u]) * W_2[u, k]) + b_2[k])),
        about=feed_forward(gelu),
        ranges={i: n, k: d_model, u: d_ff},
        source="Hendrycks and Gimpel (2016), section 2",
    )


@result
def position_wise() -> Derivation:
    """Row i of the output is the same function of row i of the input, for every i and every activation."""
    return derivation(
        "Row $i$ of $FFN(X)$ is $FFN(x_i)$",
        claim(
            Y[i],
            step("definition", (G @ W_2 + b_2)[i]),
            step("row of a product", G[i] @ W_2 + b_2),
            step("elementwise function", act(H[i]) @ W_2 + b_2),
            step("row of a product", act(X[i] @ W_1 + b_1) @ W_2 + b_2),
        ),
        about=feed_forward(act),
        ranges={i: n},
        source=VASWANI,
    )


@result
def positions_do_not_interact() -> Derivation:
    """No entry of row i changes when another row of the input changes."""
    other = index("p")
    return derivation(
        "Row $i$ of $FFN(X)$ does not depend on any other row of $X$",
        claim(
            (1 - KroneckerDelta(i, other)) * Derivative(Y[i, k], X[other, l]),
            step("derivative", (1 - KroneckerDelta(i, other)) * units(Derivative(G[i, u], X[other, l]) * W_2[u, k])),
            step("chain rule", 0),
        ),
        about=feed_forward(act),
        ranges={i: n, other: n, k: d_model, l: d_model},
        source=VASWANI,
    )


@result
def permutation_equivariance() -> Derivation:
    """Permuting the positions and then applying the network permutes the rows of FFN(X)."""
    sigma = Function("sigma", integer=True)
    moved = Tabulated(Lambda((i, j), X[sigma(i), j]), n, d_model)
    return derivation(
        "$FFN(P X) = P FFN(X)$ for every permutation $P$ of the positions",
        claim(
            feed_forward(act).result(moved)[i],
            step("row of a product", act(X[sigma(i)] @ W_1 + b_1) @ W_2 + b_2),
            step("definition", Y[sigma(i)]),
        ),
        about=feed_forward(act),
        ranges={i: n},
        bijections=[("sigma", "sigma_inverse", n)],
        source=VASWANI,
    )


@result
def column_form() -> Derivation:
    """For column vectors the transposed weights are on the left: W_1 x itself conforms only if d_ff = d_model."""
    x = array("x", d_model)
    return derivation(
        "On column vectors the network is $W_2^T act(W_1^T x + b_1) + b_2$; $W_1 x$ conforms only if $d_ff = d_model$",
        claim(
            act(x @ W_1 + b_1) @ W_2 + b_2,
            step("transpose of a product", act(W_1.T @ x + b_1) @ W_2 + b_2),
            step("transpose of a product", W_2.T @ act(W_1.T @ x + b_1) + b_2),
        ),
        claim(Conformable(W_1, x), step("shape", Eq(d_ff, d_model), "iff")),
        source=VASWANI,
    )


@result
def column_form_512() -> Derivation:
    """Of weights stored as (512, 2048) and (2048, 512), only the transposes can multiply column vectors."""
    x, hidden_x, first, second = array("x", 512), array("g", 2048), array("W_1", 512, 2048), array("W_2", 2048, 512)
    return derivation(
        "Weights $W_1$ (512, 2048) and $W_2$ (2048, 512) take columns of width 512 and 2048 only when transposed",
        claim(Conformable(first, x), step("shape", Eq(2048, 512, evaluate=False), "iff")),
        claim(Conformable(second, hidden_x), step("shape", Eq(512, 2048, evaluate=False), "iff")),
        claim(Conformable(first.T, x), step("shape", Eq(512, 512, evaluate=False), "iff")),
        claim(Conformable(second.T, hidden_x), step("shape", Eq(2048, 2048, evaluate=False), "iff")),
    )


@result
def is_convolution() -> Derivation:
    """The network is two convolutions of kernel width 1 with the activation between them."""
    K_1, K_2 = kernel_of_width_1("K_1", W_1), kernel_of_width_1("K_2", W_2)
    return derivation(
        "The feed-forward network is two convolutions of kernel width 1, with the activation between them",
        claim(convolution(X, K_1.target, b_1), step("matrix product", X @ W_1 + b_1), step("definition", H)),
        claim(act(H), step("definition", G)),
        claim(convolution(G, K_2.target, b_2), step("matrix product", G @ W_2 + b_2), step("definition", Y)),
        about=(K_1, K_2, *feed_forward(act).equations),
        source=VASWANI,
    )


@result
def key_value_memory() -> Derivation:
    """Column u of W_1 is a key that is matched with the input; row u of W_2 is the value that it adds."""
    match = (X[i] @ W_1.T[u]).entry()
    return derivation(
        "The feed-forward network is a sum of values, the rows of $W_2$, weighed by how the input matches keys, "
        "the columns of $W_1$",
        claim(
            Y[i, k],
            step("matrix product", units(G[i, u] * W_2[u, k]) + b_2[k]),
            step("definition", units(act.formula(match + b_1[u]) * W_2[u, k]) + b_2[k]),
        ),
        about=feed_forward(act),
        ranges={i: n, k: d_model},
        source=GEVA,
    )


@result
def key_value_memory_without_biases() -> Derivation:
    """Without biases, the weight of a value depends only on how well the input matches its key."""
    match = (X[i] @ W_1.T[u]).entry()
    return derivation(
        "Without biases the network is $sum_u act(x . k_u) v_u$, with $k_u$ column $u$ of $W_1$ and $v_u$ row "
        "$u$ of $W_2$",
        claim(
            Y[i, k],
            step("matrix product", units(G[i, u] * W_2[u, k])),
            step("definition", units(act.formula(match) * W_2[u, k])),
        ),
        about=feed_forward(act, biases=False),
        ranges={i: n, k: d_model},
        source=GEVA,
    )


@result
def without_activation_is_affine() -> Derivation:
    """Without the activation, two layers are one affine map, of rank at most d_ff and at most d_model."""
    identity = named("identity", scalar("x"), scalar("x"))
    return derivation(
        "Without an activation the feed-forward network is one affine map, with matrix $W_1 W_2$ of rank at most "
        "$d_ff$",
        claim(
            Y,
            step("definition", (X @ W_1 + b_1) @ W_2 + b_2),
            step("distributivity", X @ W_1 @ W_2 + b_1 @ W_2 + b_2),
            step("associativity", X @ (W_1 @ W_2) + (b_1 @ W_2 + b_2)),
        ),
        claim(Rank(W_1 @ W_2), step("rank of a product", d_ff, "<=")),
        claim(Rank(W_1 @ W_2), step("rank of a product", d_model, "<=")),
        about=feed_forward(identity),
        source="Goodfellow, Bengio and Courville (2016), section 6.1",
    )
