r"""The gated feed-forward network: one projection, through an activation, multiplies another one.

Definition   P = X W_gate, U = X W_up, G = activation(P) o U, Y = G W_down (o: entry by entry)
Result       SwiGLU, GEGLU, ReGLU, GLU and the bilinear layer by their activation; as many parameters as the network
             with two matrices when 3 d_ff = 8 d_model; degree 2 in X if the activation commutes with positive factors
Shapes       X (n, d_model), W_gate and W_up (d_model, d_ff), W_down (d_ff, d_model), P, U and G (n, d_ff)
Assumes      no biases; unless a result names the activation, it may be any function, applied entry by entry
Source       Shazeer (2020); Dauphin, Fan, Auli and Grangier (2017)
"""

from sympy import Derivative, Eq, Expr, Function, KroneckerDelta, Lambda, Max, Mod, Mul, Ne, Sum

from derivations.activations.gelu import normal_distribution
from derivations.activations.sigmoid import sigmoid, silu
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import Hadamard, Named, gelu, named, relu, square, uninterpreted_function
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import batch, d_ff, d_model, i, index, j, k, l, n, scalar

__all__ = ["GATES", "gated_feed_forward"]

TOPIC = "feed_forward"

SHAZEER = "Shazeer (2020), section 2"
X, Y = array("X", n, d_model), array("Y", n, d_model)
P, U, G = (array(name, n, d_ff) for name in ("P", "U", "G"))
W_gate, W_up, W_down = array("W_gate", d_model, d_ff), array("W_up", d_model, d_ff), array("W_down", d_ff, d_model)
b_gate, b_up, b_down = array("b_gate", d_ff), array("b_up", d_ff), array("b_down", d_model)
u = index("u")  # numbers the hidden units
act = uninterpreted_function("act")  # a proof with it holds for every activation
identity = named("identity", scalar("x"), scalar("x"))

GATES: dict[str, Named] = {"GLU": sigmoid, "bilinear": identity, "ReGLU": relu, "GEGLU": gelu, "SwiGLU": silu}


@catalogued("gated_feed_forward_with_biases", biases=True)
@catalogued
def gated_feed_forward(activation: Named = silu, *, biases: bool = False) -> Layer:
    """Return the gated feed-forward network; SwiGLU unless another activation is given.

    Definition   P = X W_gate, U = X W_up, G = activation(P) o U, Y = G W_down; with `biases` each product has one added
    Shapes       X (n, d_model), W_gate and W_up (d_model, d_ff), W_down (d_ff, d_model), Y (n, d_model),
                 b_gate and b_up (d_ff,), b_down (d_model,)
    Source       Shazeer (2020), section 2; the activations are those of `GATES`
    """
    let = Equations()
    let("P")(X @ W_gate + b_gate if biases else X @ W_gate)
    let("U")(X @ W_up + b_up if biases else X @ W_up)
    let("G")(Hadamard(activation(P), U))
    let("Y")(G @ W_down + b_down if biases else G @ W_down)
    weights = (W_gate, b_gate, W_up, b_up, W_down, b_down) if biases else (W_gate, W_up, W_down)
    return Layer("gated_feed_forward", (X,), weights, let, Y)


def units(of: Expr) -> Expr:
    """Return the sum of an expression in u over all hidden units."""
    return Sum(of, (u, 0, d_ff - 1))


def features(of: Expr) -> Expr:
    """Return the sum of an expression in j over all features of the model."""
    return Sum(of, (j, 0, d_model - 1))


@result
def swiglu() -> Derivation:
    """SwiGLU, as matrices and by entries: a gate times a linear projection."""
    return derivation(
        "The SwiGLU network: $(SiLU(X W_gate) o X W_up) W_down$",
        claim(Y, step("definition", Hadamard(silu(X @ W_gate), X @ W_up) @ W_down)),
        claim(P[i, u], step("definition", features(X[i, j] * W_gate[j, u]))),
        claim(U[i, u], step("definition", features(X[i, j] * W_up[j, u]))),
        claim(G[i, u], step("definition", P[i, u] * sigmoid.formula(P[i, u]) * U[i, u])),
        claim(
            Y[i, k],
            step("matrix product", units(G[i, u] * W_down[u, k])),
            step("definition", units(P[i, u] * sigmoid.formula(P[i, u]) * U[i, u] * W_down[u, k])),
        ),
        about=gated_feed_forward(),
        ranges={i: n, u: d_ff, k: d_model},
        source=SHAZEER,
    )


@result
def gated_variants() -> Derivation:
    """The entries of the other gates of the paper: GLU, the bilinear layer, ReGLU and GEGLU."""
    gate, up = features(X[i, j] * W_gate[j, u]), features(X[i, j] * W_up[j, u])
    entries = {
        "GLU": sigmoid.formula(gate),
        "bilinear": gate,
        "ReGLU": Max(0, gate),
        "GEGLU": gate * normal_distribution(gate),
    }
    let = Equations()
    outputs = {name: let(f"Y_{name}")(gated_feed_forward(GATES[name]).result(X)) for name in entries}
    return derivation(
        "GLU, the bilinear layer, ReGLU and GEGLU, entry by entry",
        *(
            claim(outputs[name][i, k], step("definition", units(entry * up * W_down[u, k])))
            for name, entry in entries.items()
        ),
        about=tuple(let),
        ranges={i: n, k: d_model},
        source=SHAZEER,
    )


@result
def gated_position_wise() -> Derivation:
    """Row i of the output is the same function of row i of the input, for every i and every gate."""
    return derivation(
        "Row $i$ of the gated network is the network of row $i$",
        claim(
            Y[i],
            step("row of a product", Hadamard(act(P[i]), U[i]) @ W_down),
            step("row of a product", Hadamard(act(X[i] @ W_gate), X[i] @ W_up) @ W_down),
        ),
        about=gated_feed_forward(act),
        ranges={i: n},
        source=SHAZEER,
    )


@result
def swiglu_jacobian() -> Derivation:
    """The Jacobian has two terms: the slope of SiLU times the gate weights, and its value times the up weights."""
    p = index("p")
    s = sigmoid.formula(P[i, u])
    slope, value = s + P[i, u] * s * (1 - s), P[i, u] * s
    through_gate, through_up = slope * U[i, u] * W_gate[l, u], value * W_up[l, u]
    return derivation(
        "Jacobian of the SwiGLU network",
        claim(
            Derivative(Y[i, k], X[p, l]),
            step("derivative", units(Derivative(G[i, u], X[p, l]) * W_down[u, k])),
            step(
                "product rule",
                units(
                    (slope * U[i, u] * Derivative(P[i, u], X[p, l]) + value * Derivative(U[i, u], X[p, l]))
                    * W_down[u, k]
                ),
            ),
            step(
                "derivative",
                KroneckerDelta(i, p) * units((through_gate + through_up) * W_down[u, k]),
            ),
        ),
        about=gated_feed_forward(),
        ranges={i: n, k: d_model, p: n, l: d_model},
        source=SHAZEER,
    )


@result
def gated_hidden_permutation() -> Derivation:
    """Hidden units have no order: permuting the columns of W_gate, W_up and the rows of W_down changes nothing."""
    sigma = Function("sigma", integer=True)
    gate, up = (Tabulated(Lambda((l, u), W[l, sigma(u)]), d_model, d_ff) for W in (W_gate, W_up))
    down = Tabulated(Lambda((u, k), W_down[sigma(u), k]), d_ff, d_model)
    return derivation(
        "The gated network does not change when its hidden units are permuted",
        claim(gated_feed_forward(act).result(X, W_gate=gate, W_up=up, W_down=down), step("reindexing", Y)),
        about=gated_feed_forward(act),
        bijections=[("sigma", "sigma_inverse", d_ff)],
        source=SHAZEER,
    )


@result
def gated_scale_symmetry() -> Derivation:
    """The projection W_up has no activation: a factor for each hidden unit may move from it to W_down."""
    a = array("a", d_ff)
    up = Tabulated(Lambda((l, u), a[u] * W_up[l, u]), d_model, d_ff)
    down = Tabulated(Lambda((u, k), W_down[u, k] / a[u]), d_ff, d_model)
    return derivation(
        "$W_up diag(a)$ and $diag(a)^{-1} W_down$ give the same gated network, for every activation and all "
        "$a_u$ nonzero",
        claim(gated_feed_forward(act).result(X, W_up=up, W_down=down), step("linearity of sums", Y)),
        about=gated_feed_forward(act),
        assuming=[Assumption(Ne(a[u], 0), {u: d_ff}, "no factor is 0")],
        source=SHAZEER,
    )


@result
def bilinear_is_quadratic() -> Derivation:
    """Without an activation every output is a quadratic form of the input: not linear, in spite of the name."""
    a, p = scalar("a"), index("p")
    form = units(W_gate[l, u] * W_up[p, u] * W_down[u, k])
    return derivation(
        "The bilinear layer is a quadratic form in every row of its input: $f(a X) = a^2 f(X)$",
        claim(
            Y[i, k],
            step("definition", units(P[i, u] * U[i, u] * W_down[u, k])),
            step("order of summation", Sum(X[i, l] * X[i, p] * form, (p, 0, d_model - 1), (l, 0, d_model - 1))),
        ),
        claim(gated_feed_forward(identity).result(a * X), step("linearity of sums", a**2 * Y)),
        about=gated_feed_forward(identity),
        ranges={i: n, k: d_model},
        source=SHAZEER,
    )


@result
def reglu_of_equal_weights() -> Derivation:
    """If both matrices are equal, ReGLU squares positive numbers and sets the others to 0: it is squared ReLU."""
    squared = named("squared_relu", Max(0, scalar("x")) ** 2, scalar("x"))
    return derivation(
        "ReGLU with $W_up = W_gate$ is the network with squared ReLU",
        claim(
            gated_feed_forward(relu).result(X, W_up=W_gate),
            step("indicator", square(relu(X @ W_gate)) @ W_down),
            step("definition", feed_forward(squared, biases=False).result(X, W_1=W_gate, W_2=W_down)),
        ),
        source="So, Manke, Liu, Dai, Shazeer and Le (2021), section 3",
    )


@result
def swiglu_parameters() -> Derivation:
    """Three matrices instead of two; a hidden unit costs 3 d_model parameters and 6 d_model FLOPs at each position."""
    gated = gated_feed_forward()
    products = Count("matmul FLOPs", gated, batch)
    return derivation(
        "Parameters of the gated network, and the FLOPs of its products",
        claim(Count("parameters", gated), step("count", 3 * d_model * d_ff)),
        claim(products, step("count", 6 * batch * n * d_model * d_ff)),
        claim(products, step("count", 2 * batch * n * Count("parameters", gated))),
        source=SHAZEER,
    )


@result
def swiglu_parameter_match() -> Derivation:
    """With two thirds of the usual 4 d_model hidden units, three matrices have as many parameters as two."""
    narrow, wide = 8 * d_model / 3, 4 * d_model
    gated, plain = gated_feed_forward().at(d_ff=narrow), feed_forward(biases=False).at(d_ff=wide)
    return derivation(
        "A gated network with $d_ff = 8 d_model / 3$ has as many parameters as two matrices with $d_ff = 4 d_model$",
        claim(
            Count("parameters", gated),
            # unevaluated: SymPy would turn both products into 8 d_model^2
            step("count", Mul(3, d_model, narrow, evaluate=False)),
            step("algebra", Mul(2, d_model, wide, evaluate=False)),
            step("count", Count("parameters", plain)),
        ),
        claim(Count("parameters", plain), step("count", 8 * d_model**2)),
        claim(Count("matmul FLOPs", gated), step("count", Count("matmul FLOPs", plain))),
        assuming=[Assumption(Eq(Mod(8 * d_model, 3, evaluate=False), 0), text="3 divides $8 d_model$")],
        source=SHAZEER,
    )
