r"""Starting weights that are not random: branches that start at zero, and hidden units that start equal.

Definition   Y = tanh(X W_1 + b_1) W_2 + b_2 with hidden units u and o of equal weights; X + FFN(X) with W_2, b_2 = 0
Result       equal units have equal gradients, so that only random starts separate them; a zero branch is the identity
Shapes       X (n, d_model), W_1 (d_model, d_ff), b_1 (d_ff,), W_2 (d_ff, d_model), b_2 (d_model,)
Assumes      any loss whose derivative by the output is an array C (n, d_model)
Source       Goodfellow, Bengio and Courville (2016), section 8.4; Zhang, Dauphin and Ma (2019)
"""

from sympy import Derivative, Eq, Expr, Integer, Lambda, Sum, tanh

from derivations.feed_forward.feed_forward import W_1, W_2, G, X, Y, b_1, feed_forward, u
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import named, uninterpreted_function
from derivations.language.results.derivation import Assumption, Claim, Derivation, claim, derivation, result, step
from derivations.symbols import d_ff, d_model, i, index, j, k, l, n, scalar

__all__: list[str] = []

TOPIC = "initialisation"


@result
def zero_branch() -> Derivation:
    """A branch whose last matrix starts at 0 adds 0: a stack of such blocks starts as the identity."""
    nothing, zero = Tabulated(Lambda((i, k), Integer(0)), d_ff, d_model), Tabulated(Lambda((k,), Integer(0)), d_model)
    branch = feed_forward(uninterpreted_function("act")).result(X, W_2=nothing, b_2=zero)
    return derivation(
        "With $W_2 = 0$ and $b_2 = 0$ a residual feed-forward block is the identity, whatever $W_1$ and $b_1$ are",
        claim(X + branch, step("algebra", X)),
        source="Zhang, Dauphin and Ma (2019), section 3",
    )


@result
def equal_units_stay_equal() -> Derivation:
    """Hidden units that start equal get equal gradients and stay equal: random starts make them differ."""
    t, other = scalar("t"), index("o")
    network, C = feed_forward(named("tanh", tanh(t), t)), array("C", n, d_model)
    loss = Sum(C[i, j] * Y[i, j], (j, 0, d_model - 1), (i, 0, n - 1))

    def slope(unit: Expr, through: Expr | int) -> Expr:
        back = C[i, j] * W_2[unit, j] * (1 - G[i, unit] ** 2)
        return Sum(back * through, (j, 0, d_model - 1), (i, 0, n - 1))

    def out(unit: Expr) -> Expr:
        return Sum(C[i, k] * G[i, unit], (i, 0, n - 1))

    def equal(one: Expr, two: Expr, of_one: Expr, of_two: Expr) -> Claim:
        return claim(
            Derivative(loss, one),
            step("derivative", of_one),
            step("assumption", of_two),
            step("derivative", Derivative(loss, two)),
        )

    return derivation(
        "Two hidden units with equal weights have equal gradients (for tanh, and every loss $sum_ij C_ij Y_ij$)",
        equal(W_1[l, other], W_1[l, u], slope(other, X[i, l]), slope(u, X[i, l])),
        equal(b_1[other], b_1[u], slope(other, 1), slope(u, 1)),
        equal(W_2[other, k], W_2[u, k], out(other), out(u)),
        about=network,
        ranges={u: d_ff, other: d_ff, l: d_model, k: d_model},
        assuming=[
            Assumption(Eq(W_1[l, other], W_1[l, u], evaluate=False), {l: d_model}, "equal weights in"),
            Assumption(Eq(b_1[other], b_1[u], evaluate=False), text="equal biases"),
            Assumption(Eq(W_2[other, k], W_2[u, k], evaluate=False), {k: d_model}, "equal weights out"),
        ],
        source="Goodfellow, Bengio and Courville (2016), section 8.4",
    )
