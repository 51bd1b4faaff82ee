r"""The encoder: a stack of layers, each of self-attention and a feed-forward network, with post-norm residuals.

Definition   Y = LayerNorm(X + MultiHead(X, X, X)), Z = LayerNorm(Y + FFN(Y)); N such layers in sequence
Result       two sub-layers; permuting the positions permutes the output; 2 h d_model (d_k + d_v) + 2 d_model d_ff
             + d_ff + 5 d_model parameters
Shapes       X, Y, Z (n, d_model), mask M (n, n)
Assumes      no biases in the attention; the norms follow the residual sums
Source       Vaswani et al. (2017), section 3.1
"""

from sympy import Expr, Function, Lambda

from derivations.attention.multi_head import multi_head_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import Named, relu
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.normalisation.layer_norm import layer_norm
from derivations.symbols import N, d, d_ff, d_k, d_model, d_v, h, i, j, k, l, m, n

__all__ = ["encoder", "encoder_layer"]

VASWANI = "Vaswani et al. (2017), section 3.1"


@catalogued
def encoder_layer(*, masked: bool = False, biases: bool = False, activation: Named = relu) -> Layer:
    """Return one post-norm encoder layer.

    Definition   Y = LayerNorm(X + MultiHead(X, X, X)), Z = LayerNorm(Y + FFN(Y))
    Shapes       X, Y, Z (n, d_model), mask M (n, n)
    Source       Vaswani et al. (2017), section 3.1
    """
    X, M = array("X", n, d_model), mask_array("M", n, n)
    attention = part("attention", multi_head_attention(masked=masked, biases=biases))
    network = part("feed_forward", feed_forward(activation))

    let = Equations()
    A = let("A")(attention(X, X, X, *([M] if masked else [])))
    Y = let("Y")(part("attention_norm", layer_norm())(X + A))
    F = let("F")(network(Y))
    Z = let("Z")(part("feed_forward_norm", layer_norm())(Y + F))
    name = "masked_encoder_layer" if masked else "encoder_layer"
    return Layer(name, (X, M) if masked else (X,), (), let, Z)


@catalogued
def encoder(*, masked: bool = False, biases: bool = False, activation: Named = relu, final_norm: bool = False) -> Layer:
    """Return the stack of N encoder layers, with a last layer norm when `final_norm`.

    Definition   Z_0 = X, Z_l = EncoderLayer_l(Z_{l-1}) for l = 1, ..., N
    Shapes       X and Z (n, d_model), mask M (n, n)
    Source       Vaswani et al. (2017), section 3.1
    """
    X, M = array("X", n, d_model), mask_array("M", n, n)
    layers = part("layers", encoder_layer(masked=masked, biases=biases, activation=activation), count=N)
    let = Equations()
    Z = let("Z")(layers(X, *([M] if masked else [])))
    if final_norm:
        Z = let("Y")(part("final_norm", layer_norm())(Z))
    return Layer("masked_encoder" if masked else "encoder", (X, M) if masked else (X,), (), let, Z)


X, Y, A, F = (array(name, n, d_model) for name in ("X", "Y", "A", "F"))
attention, network = part("attention", multi_head_attention()), part("feed_forward", feed_forward())
first_norm, second_norm = part("attention_norm", layer_norm()), part("feed_forward_norm", layer_norm())


def counted(what: str) -> Expr:
    """Return a count of an encoder layer, as the sum of the counts of its parts."""
    norm = layer_norm().xreplace({d: d_model})
    return Count(what, multi_head_attention().xreplace({m: n})) + Count(what, feed_forward()) + 2 * Count(what, norm)


@result
def layer_definition() -> Derivation:
    """An encoder layer has two residual sums, each of which is normalised."""
    layer = encoder_layer()
    return derivation(
        "Definition of an encoder layer, with $A$ the attention of $X$ and $F$ the feed-forward network of $Y$",
        claim(Y, step("definition", first_norm(X + A))),
        claim(
            array("Z", n, d_model),
            step("definition", second_norm(Y + F)),
            step("definition", second_norm(first_norm(X + A) + F)),
        ),
        about=(layer.equation("Y"), layer.equation("Z")),
        source=VASWANI,
    )


@result
def sub_layers() -> Derivation:
    """An encoder layer has two sub-layers; each adds its own input to its output, then normalises."""
    layer = encoder_layer()
    return derivation(
        "An encoder layer has two sub-layers, each of the form $LayerNorm(x + F(x))$",
        claim(first_norm(X + A), step("definition", first_norm(X + attention(X, X, X)))),
        claim(second_norm(Y + F), step("definition", second_norm(Y + network(Y)))),
        about=(layer.equation("A"), layer.equation("F")),
        source=VASWANI,
    )


@result
def output_row() -> Derivation:
    """The second sub-layer treats every position separately: z = LayerNorm(y + FFN(y)) for row p of Y and of Z."""
    let = Equations()
    F = let("F")(network(Y))
    Z = let("Z")(second_norm(Y + F))
    y = let("y")(Tabulated(Lambda((l, j), Y[i, j]), 1, d_model))
    z = let("z")(Tabulated(Lambda((l, j), Z[i, j]), 1, d_model))
    return derivation(
        "A row of the output of an encoder layer is $LayerNorm(y + FFN(y))$, a function of the same row $y$ of "
        "$Y$ alone",
        claim(z, step("row of a product", second_norm(y + network(y)))),
        about=tuple(let),
        ranges={i: n},
        source="Vaswani et al. (2017), section 3.3",
    )


@result
def permutation_equivariance() -> Derivation:
    """Without a mask and without positions, an encoder layer ignores the order of its input."""
    sigma = Function("sigma", integer=True)
    let = Equations()
    X_P = let("X_P")(Tabulated(Lambda((k, l), X[sigma(k), l]), n, d_model))
    Y = let("Y")(first_norm(X + attention(X, X, X)))
    Y_P = let("Y_P")(Tabulated(Lambda((k, l), Y[sigma(k), l]), n, d_model))
    return derivation(
        "Permuting the positions of the input permutes what the attention sub-layer puts out",
        claim(Y_P, step("reindexing", first_norm(X_P + attention(X_P, X_P, X_P)))),
        about=tuple(let),
        bijections=[("sigma", "sigma_inverse", n)],
        source="Lee et al. (2019), property 1",
    )


@result
def parameters() -> Derivation:
    """Count the weights of one encoder layer as the sum over its parts."""
    projections = 2 * h * d_model * (d_k + d_v)
    return derivation(
        "Parameters of an encoder layer",
        claim(
            Count("parameters", encoder_layer()),
            step("count", counted("parameters")),
            step("count", projections + 2 * d_model * d_ff + d_ff + 5 * d_model),
        ),
        source=VASWANI,
    )


@result
def flops() -> Derivation:
    """Count the FLOPs of the matrix products of one encoder layer: linear in n, except for scores and weighted sums."""
    projections, scores = 4 * n * h * d_model * (d_k + d_v), 2 * n**2 * h * (d_k + d_v)
    return derivation(
        "FLOPs of the matrix products of an encoder layer, a multiply-add being 2",
        claim(
            Count("matmul FLOPs", encoder_layer()),
            step("count", counted("matmul FLOPs")),
            step("count", projections + scores + 4 * n * d_model * d_ff),
            step("algebra", 2 * n * h * (d_k + d_v) * (n + 2 * d_model) + 4 * n * d_model * d_ff),
        ),
        source="Vaswani et al. (2017), table 1",
    )
