r"""Derivatives of the feed-forward network: with ReLU, which makes it piecewise affine, and with GELU.

Definition   H = X W_1 + b_1, G = activation(H), Y = G W_2 + b_2
Result       dY_ik/dX_pl = delta_ip sum_u activation'(H_iu) W_1,lu W_2,uk; with ReLU activation' = [H > 0], and Y is
             affine in X as long as these brackets do not change; GELU'(x) = Phi(x) + x phi(x); the tanh form of GELU
             differs from it by at most 4.74e-4
Shapes       X (n, d_model), W_1 (d_model, d_ff), b_1 (d_ff,), W_2 (d_ff, d_model), b_2 (d_model,), H and G (n, d_ff)
Assumes      derivatives of ReLU are taken off its kinks
Source       Goodfellow, Bengio and Courville (2016), section 6.5; Hendrycks and Gimpel (2016)
"""

from sympy import Abs, Derivative, Eq, Ge, Gt, KroneckerDelta, Lambda, Lt, Ne, Rational, erf, exp, sqrt, tanh

from derivations.activations.gelu import GELU, gelu_slope, gelu_tanh, normal_distribution, tanh_argument
from derivations.feed_forward.feed_forward import W_1, W_2, G, H, X, Y, b_1, b_2, feed_forward, u, units
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import mask_array
from derivations.language.arrays.functions import Hadamard, gelu
from derivations.language.arrays.scalars import Iverson
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.results.statements import Supremum
from derivations.symbols import d_ff, d_model, i, index, j, k, l, n, scalar

__all__: list[str] = []

TOPIC = "feed_forward"

MONTUFAR = "Montufar, Pascanu, Cho and Bengio (2014), section 2"
OFF_KINKS = Assumption(Ne(H[i, u], 0), {i: n, u: d_ff}, "off the kinks of ReLU; at a kink $ReLU' = 0$ by convention")
t = scalar("t")


@result
def jacobian() -> Derivation:
    """With ReLU, the Jacobian is the product of the two matrices over the active hidden units."""
    other = index("p")
    on = Iverson(Gt(H[i, u], 0))
    return derivation(
        "Jacobian of the feed-forward network with ReLU",
        claim(
            Derivative(Y[i, k], X[other, l]),
            step("derivative", units(Derivative(G[i, u], X[other, l]) * W_2[u, k])),
            step("chain rule", units(on * Derivative(H[i, u], X[other, l]) * W_2[u, k])),
            step("derivative", units(on * KroneckerDelta(i, other) * W_1[l, u] * W_2[u, k])),
            step("linearity of sums", KroneckerDelta(i, other) * units(W_1[l, u] * on * W_2[u, k])),
        ),
        about=feed_forward(),
        ranges={i: n, k: d_model, other: n, l: d_model},
        assuming=[OFF_KINKS],
        source="Goodfellow, Bengio and Courville (2016), section 6.5",
    )


@result
def hessian() -> Derivation:
    """The slope is piecewise constant: there is no curvature between the kinks."""
    return derivation(
        "With ReLU all second derivatives of the feed-forward network are 0 off the kinks",
        claim(Derivative(Y[i, k], X[i, l], X[i, j]), step("derivative", 0)),
        about=feed_forward(),
        ranges={i: n, k: d_model, l: d_model, j: d_model},
        assuming=[OFF_KINKS],
        source="Goodfellow, Bengio and Courville (2016), section 6.3.1",
    )


@result
def affine_on_a_pattern() -> Derivation:
    """While the set of active units does not change, the network is one affine map, through these units alone."""
    s, on = mask_array("s", d_ff), Iverson(Gt(H[i, u], 0))
    weights = Tabulated(Lambda((l, u), W_1[l, u] * s[u]), d_model, d_ff)
    bias = Hadamard(b_1, s)
    return derivation(
        "With ReLU, where the units that are on have pattern $s$, $y_i = x_i W_1 diag(s) W_2 + b_1 diag(s) W_2 + b_2$",
        claim(G[i, u], step("assumption", s[u] * H[i, u])),
        claim(
            Y[i],
            step("assumption", (X[i] @ weights + bias) @ W_2 + b_2),
            step("distributivity", X[i] @ weights @ W_2 + bias @ W_2 + b_2),
            step("associativity", X[i] @ (weights @ W_2) + (bias @ W_2 + b_2)),
        ),
        about=feed_forward(),
        ranges={i: n, u: d_ff},
        assuming=[
            Assumption(Eq(s[u], on, evaluate=False), {u: d_ff}, "$s_u$ says whether unit $u$ is on at position $i$")
        ],
        source=MONTUFAR,
    )


@result
def patterns_are_convex() -> Derivation:
    """A unit that is not negative at two inputs is not negative at any input between them: the pieces are convex."""
    a = scalar("a", positive=True)
    between = ((a * X[i] + (1 - a) * X[k]) @ W_1 + b_1)[u]
    at_both = (
        Assumption(Ge(H[i, u], 0, evaluate=False), text="unit $u$ is not negative at $x_i$"),
        Assumption(Ge(H[k, u], 0, evaluate=False), text="and not at $x_k$"),
    )
    return derivation(
        "A hidden unit that is not negative at two inputs is not negative at any input between them",
        claim(
            between,
            step("distributivity", a * H[i, u] + (1 - a) * H[k, u]),
            step("bound", 0, ">="),
        ),
        about=feed_forward(),
        ranges={i: n, k: n, u: d_ff},
        assuming=[*at_both, Assumption(Lt(a, 1))],
        source=MONTUFAR,
    )


@result
def gelu_derivative() -> Derivation:
    """GELU' = Phi + x phi is defined everywhere. In the Jacobian it replaces the indicator that ReLU has."""
    p = index("p")
    return derivation(
        "Derivative of GELU, $Phi(x) + x phi(x)$, and the Jacobian of the feed-forward network with GELU",
        claim(
            Derivative(gelu.formula(t), t),
            step("product rule", normal_distribution(t) + t * Derivative(normal_distribution(t), t)),
            step("derivative", gelu_slope(t)),
        ),
        claim(
            Derivative(Y[i, k], X[p, l]),
            step("derivative", units(Derivative(G[i, u], X[p, l]) * W_2[u, k])),
            step("chain rule", units(gelu_slope(H[i, u]) * Derivative(H[i, u], X[p, l]) * W_2[u, k])),
            step("derivative", KroneckerDelta(i, p) * units(W_1[l, u] * gelu_slope(H[i, u]) * W_2[u, k])),
        ),
        about=feed_forward(gelu),
        ranges={i: n, k: d_model, p: n, l: d_model},
        source=GELU,
    )


@result
def gelu_tanh_error() -> Derivation:
    """The largest error of the tanh form of GELU, reached near 2.7.

    Beyond 6 both forms are nearly t: 1 - erf(x) <= exp(-x^2) and 1 - tanh(x) <= 2 exp(-2 x), each times t <= exp(t).
    """
    error = gelu.formula(t) - gelu_tanh.formula(t)
    largest, inner = Supremum(Lambda(t, Abs(error))), tanh_argument(t)
    below_erf, below_tanh = 1 - erf(t / sqrt(2)), 1 - tanh(inner)
    tail_erf, tail_tanh = exp(-(t**2) / 2), exp(-2 * inner)
    far = exp(t * (1 - 2 * (inner / t))) + exp(t * (1 - t / 2)) / 2
    # with h = far: over = h - error and under = h + error, each a sum of terms >= 0
    over = (exp(t) - t) * tail_tanh + t / 2 * (2 * tail_tanh - below_tanh) + exp(t) * tail_erf / 2 + t / 2 * below_erf
    under = (exp(t) - t) * tail_erf / 2 + t / 2 * (tail_erf - below_erf) + exp(t) * tail_tanh + t / 2 * below_tanh
    return derivation(
        "The tanh form of GELU differs from GELU by at most 4.74e-4, and by more than 4.73e-4 near 2.7",
        claim(largest, step("supremum", Rational(474, 10**6), "<=", 6, far, over, under)),
        claim(largest, step("supremum", Rational(473, 10**6), ">=", Rational(27, 10))),
        source=GELU,
    )
