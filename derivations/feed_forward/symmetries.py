r"""Symmetries of the feed-forward network, which change weights but not outputs, and its hidden units in blocks.

Definition   H = X W_1 + b_1, G = activation(H), Y = G W_2 + b_2
Result       the same Y after permuting hidden units (any activation), scaling them by positive numbers (ReLU), changing
             their signs (odd activations), copying them; blocks of hidden units are networks that add up
Shapes       X (n, d_model), W_1 (d_model, d_ff), b_1 (d_ff,), W_2 (d_ff, d_model), b_2 (d_model,)
Assumes      unless a result names the activation, it may be any function, applied entry by entry
Source       Goodfellow, Bengio and Courville (2016), section 8.2.2
"""

from sympy import Expr, Function, Lambda, exp, tanh

from derivations.feed_forward.feed_forward import W_1, W_2, X, Y, act, b_1, b_2, feed_forward, u
from derivations.language.arrays.arrangements import Concatenate, SumOver, Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import Named, named, relu
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.symbols import d_ff, d_model, h, i, index, k, l, scalar, size

__all__: list[str] = []

TOPIC = "feed_forward"

GOODFELLOW = "Goodfellow, Bengio and Courville (2016), section 8.2.2"
MEGATRON = "Shoeybi et al. (2019), section 3"
c = array("c", d_ff)


def network(activation: Named, first: Expr, bias: Expr, second: Expr) -> Array:
    """Return the network whose hidden unit u has the given input weights, bias and output weights."""
    weights = {
        "W_1": Tabulated(Lambda((l, u), first), d_model, d_ff),
        "b_1": Tabulated(Lambda((u,), bias), d_ff),
        "W_2": Tabulated(Lambda((u, k), second), d_ff, d_model),
    }
    return feed_forward(activation).result(X, **weights)


@result
def hidden_permutation() -> Derivation:
    """Hidden units have no order: they may be renumbered together with their input and output weights."""
    sigma = Function("sigma", integer=True)
    return derivation(
        "The feed-forward network does not change when its hidden units are permuted",
        claim(
            network(act, W_1[l, sigma(u)], b_1[sigma(u)], W_2[sigma(u), k]),
            step("reindexing", Y),
        ),
        about=feed_forward(act),
        bijections=[("sigma", "sigma_inverse", d_ff)],
        source=GOODFELLOW,
    )


@result
def relu_scale_symmetry() -> Derivation:
    """ReLU commutes with a positive factor, alpha for all units or exp(c_u) for each; W_2 is divided by it."""
    t, alpha = scalar("t"), scalar("alpha", positive=True)
    # every positive number is an exponential, and the judge sees that this one is positive
    factor = exp(c[u])
    return derivation(
        "With ReLU: $W_1 -> alpha W_1$, $b_1 -> alpha b_1$, $W_2 -> W_2/alpha$ keeps the network, for every "
        "$alpha > 0$",
        claim(relu.formula(alpha * t), step("algebra", alpha * relu.formula(t))),
        claim(
            feed_forward().result(X, W_1=alpha * W_1, b_1=alpha * b_1, W_2=W_2 / alpha),
            step("algebra", Y),
        ),
        claim(network(relu, factor * W_1[l, u], factor * b_1[u], W_2[u, k] / factor), step("algebra", Y)),
        about=feed_forward(),
        source=GOODFELLOW,
    )


@result
def sign_symmetry() -> Derivation:
    """An odd activation commutes with a change of sign."""
    odd = named("tanh", tanh(scalar("t")), scalar("t"))
    return derivation(
        "With tanh: $W_1 -> -W_1$, $b_1 -> -b_1$, $W_2 -> -W_2$ keeps the network",
        claim(feed_forward(odd).result(X, W_1=-W_1, b_1=-b_1, W_2=-W_2), step("algebra", Y)),
        about=feed_forward(odd),
        source="Bishop (2006), section 5.1.1",
    )


@result
def positive_homogeneity() -> Derivation:
    """A ReLU network without biases commutes with positive factors: FFN(alpha X) = alpha FFN(X)."""
    alpha = scalar("alpha", positive=True)
    plain = feed_forward(biases=False)
    return derivation(
        "Without biases, $FFN(alpha X) = alpha FFN(X)$ for every $alpha > 0$, with ReLU",
        claim(plain.result(alpha * X), step("algebra", alpha * Y)),
        about=plain,
    )


@result
def copied_units() -> Derivation:
    """A wider network that computes the same function: r copies of every unit, each with 1/r of its output weight."""
    r, copy = size("r"), index("p")
    wide = {
        "W_1": Concatenate(W_1, copy, r),
        "b_1": Concatenate(b_1, copy, r),
        "W_2": Concatenate((W_2 / r).T, copy, r).T,
    }
    return derivation(
        "With every hidden unit $r$ times, each copy going out with $W_2 / r$, the network stays the same",
        claim(feed_forward(act).at(d_ff=r * d_ff).result(X, **wide), step("block product", Y)),
        about=feed_forward(act),
        source="Chen, Goodfellow and Shlens (2016), section 2",
    )


@result
def tensor_parallel() -> Derivation:
    """With the hidden units in h blocks, one for each device, each block is a network, and the outputs add up."""
    first, bias, second = array("W_1", h, d_model, d_ff), array("b_1", h, d_ff), array("W_2", h, d_ff, d_model)
    whole = {
        "W_1": Concatenate(first[i], i, h),
        "b_1": Concatenate(bias[i], i, h),
        "W_2": Concatenate(second[i].T, i, h).T,
    }
    one = act(X @ first[i] + bias[i]) @ second[i]
    return derivation(
        "A network with $h$ blocks of hidden units is the sum of $h$ networks, one for each block, and one bias $b_2$",
        claim(
            feed_forward(act).at(d_ff=h * d_ff).result(X, **whole),
            step("block product", SumOver(one, i, h) + b_2),
        ),
        source=MEGATRON,
    )
