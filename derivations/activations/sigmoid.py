r"""The sigmoid and the activations built from it: tanh, softplus, SiLU (Swish) with its slope b.

Definition   sigmoid(x) = 1 / (1 + exp(-x));   softplus(x) = log(1 + exp(x));   SiLU(x) = x sigmoid(x)
Result       sigmoid' = sigmoid (1 - sigmoid);   softplus' = sigmoid;   SiLU' = sigmoid + SiLU (1 - sigmoid)
Shapes       scalars: an activation is applied entry by entry
Assumes      x real
Source       Goodfellow, Bengio and Courville (2016), section 3.10; Ramachandran, Zoph and Le (2017)
"""

from sympy import Derivative, Expr, Integer, Limit, Rational, exp, log, oo

from derivations.language.arrays.functions import named
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.symbols import scalar

__all__ = ["sigmoid", "silu", "softplus", "swish"]

TOPIC = "activation"

GOODFELLOW = "Goodfellow, Bengio and Courville (2016), section 3.10"
RAMACHANDRAN = "Ramachandran, Zoph and Le (2017), section 4"
t, b = scalar("t"), scalar("b")
p, g = scalar("p", positive=True), scalar("g", positive=True)

sigmoid = named("sigmoid", 1 / (1 + exp(-t)), t)
softplus = named("softplus", log(1 + exp(t)), t)
silu = named("silu", t * sigmoid.formula(t), t)


def swish(slope: Expr, at: Expr = t) -> Expr:
    """Return Swish, whose gate has a slope b: t sigmoid(b t). SiLU has b = 1."""
    return at * sigmoid.formula(slope * at)


s = sigmoid.formula(t)


@result
def sigmoid_derivative() -> Derivation:
    """The slope is the value times 1 minus the value."""
    return derivation(
        "Derivative of the sigmoid: $s (1 - s)$",
        claim(
            Derivative(s, t),
            step("quotient rule", exp(-t) / (1 + exp(-t)) ** 2),
            step("common denominator", s * (1 - s)),
        ),
        source=GOODFELLOW,
    )


@result
def sigmoid_second_derivative() -> Derivation:
    """The slope grows while s < 1/2, and falls for s > 1/2."""
    return derivation(
        "Second derivative of the sigmoid: $s (1 - s) (1 - 2 s)$",
        claim(
            Derivative(s, (t, 2)),
            step("derivative", Derivative(s * (1 - s), t)),
            step("product rule", (1 - 2 * s) * Derivative(s, t)),
            step("derivative", s * (1 - s) * (1 - 2 * s)),
        ),
        source=GOODFELLOW,
    )


@result
def sigmoid_bounds() -> Derivation:
    """The value is strictly between 0 and 1; the slope is at most 1/4, which is reached at 0."""
    return derivation(
        "The sigmoid lies between 0 and 1, and its derivative is at most $1/4$",
        claim(s, step("bound", 0, ">")),
        claim(s, step("bound", 1, "<", exp(-t) / (1 + exp(-t)))),
        claim(Derivative(s, t), step("derivative", s * (1 - s))),
        # 1/4 - s (1 - s) = (s - 1/2)^2
        claim(s * (1 - s), step("bound", Rational(1, 4), "<=", (s - Rational(1, 2)) ** 2)),
        source=GOODFELLOW,
    )


@result
def sigmoid_reflection() -> Derivation:
    """The values at t and -t add up to 1, like the probabilities of two classes."""
    return derivation(
        "$sigmoid(t) + sigmoid(-t) = 1$",
        claim(
            s + sigmoid.formula(-t),
            step("common denominator", s + exp(-t) * s),
            step("common denominator", 1),
        ),
        source=GOODFELLOW,
    )


@result
def softplus_derivative() -> Derivation:
    """Softplus is an integral of the sigmoid; its second derivative is the derivative of the sigmoid."""
    return derivation(
        "Derivative of softplus: the sigmoid",
        claim(
            Derivative(softplus.formula(t), t),
            step("chain rule", exp(t) / (1 + exp(t))),
            step("exponent", s),
        ),
        claim(Derivative(softplus.formula(t), (t, 2)), step("derivative", s * (1 - s))),
        source=GOODFELLOW,
    )


@result
def softplus_reflection() -> Derivation:
    """As with ReLU, the odd part is t/2."""
    return derivation(
        "$softplus(t) - softplus(-t) = t$",
        claim(
            softplus.formula(t) - softplus.formula(-t),
            step("exponent", log(exp(t) * (1 + exp(-t))) - log(1 + exp(-t))),
            step("exponent", t),
        ),
        source=GOODFELLOW,
    )


@result
def log_sigmoid() -> Derivation:
    """The loss of a binary classifier, in a form that does not overflow for large positive t."""
    return derivation(
        "$log sigmoid(t) = -softplus(-t)$",
        claim(log(s), step("exponent", -softplus.formula(-t))),
        source=GOODFELLOW,
    )


@result
def sigmoid_inverse() -> Derivation:
    """The logarithm of the odds is the logit."""
    odds = s / sigmoid.formula(-t)
    return derivation(
        "$log(sigmoid(t) / (1 - sigmoid(t))) = t$",
        claim(1 - s, step("common denominator", sigmoid.formula(-t))),
        claim(odds, step("common denominator", exp(t))),
        claim(log(odds), step("exponent", t)),
        source=GOODFELLOW,
    )


@result
def silu_derivative() -> Derivation:
    """The slope, by the product rule, is 1/2 at 0, above 1 for some t and below 0 for others."""
    return derivation(
        "Derivative of SiLU: $s + t s (1 - s)$",
        claim(
            Derivative(silu.formula(t), t),
            step("product rule", s + t * Derivative(s, t)),
            step("derivative", s + t * s * (1 - s)),
        ),
        source="Elfwing, Uchibe and Doya (2018), section 2",
    )


@result
def silu_reflection() -> Derivation:
    """Any gate with g(t) + g(-t) = 1 gives the odd part t/2, as for ReLU and GELU."""
    return derivation(
        "$SiLU(t) - SiLU(-t) = t$",
        claim(
            silu.formula(t) - silu.formula(-t),
            step("algebra", t * (s + sigmoid.formula(-t))),
            step("common denominator", t),
        ),
        source=RAMACHANDRAN,
    )


@result
def swish_derivative() -> Derivation:
    """The slope in terms of the value: 1/2 near 0; far from 0 it tends to 1 on one side and to 0 on the other."""
    value, gate = swish(b), sigmoid.formula(b * t)
    return derivation(
        "Derivative of $Swish_b$: $b Swish_b(t) + sigmoid(b t) (1 - b Swish_b(t))$",
        claim(
            Derivative(value, t),
            step("product rule", gate + t * Derivative(gate, t)),
            step("chain rule", gate + b * t * gate * (1 - gate)),
            step("algebra", b * value + gate * (1 - b * value)),
        ),
        source=RAMACHANDRAN,
    )


@result
def swish_limit() -> Derivation:
    """As its slope grows, the gate becomes the indicator [t > 0], and Swish becomes ReLU."""
    lost = p * exp(-g * p) / (1 + exp(-g * p))
    return derivation(
        "$Swish_g$ tends to ReLU as $g$ grows: to $p$ at $p > 0$, to 0 at $-p$, off by at most $p exp(-g p)$",
        claim(p - swish(g, p), step("algebra", lost), step("bound", p * exp(-g * p), "<=", exp(-g * p) * lost)),
        claim(Limit(swish(g, p), g, oo), step("limit laws", p)),
        claim(Limit(swish(g, -p), g, oo), step("limit laws", 0)),
        source=RAMACHANDRAN,
    )


@result
def softplus_bounds() -> Derivation:
    """Softplus lies above ReLU by at most log 2, a difference that it reaches at 0."""
    # log 2 - log(1 + exp(-p)), written as log(1 + u) with u >= 0
    gap = log(1 + (1 - exp(-p)) / (1 + exp(-p)))
    return derivation(
        "$ReLU(t) < softplus(t) <= ReLU(t) + log 2$, at $p$, at $-p$ and at 0",
        claim(softplus.formula(p), step("bound", p, ">", log(1 + exp(-p)))),
        claim(softplus.formula(p), step("bound", p + log(Integer(2)), "<=", gap)),
        claim(softplus.formula(-p), step("bound", 0, ">")),
        claim(softplus.formula(-p), step("bound", log(Integer(2)), "<=", gap)),
        claim(log(1 + exp(Integer(0), evaluate=False)), step("algebra", log(Integer(2)))),
        source=GOODFELLOW,
    )


@result
def softplus_limit() -> Derivation:
    """Softplus is a smooth ReLU: softplus(g t) / g tends to ReLU(t) as g grows."""
    return derivation(
        "$softplus(g t)/g$ tends to $ReLU(t)$ as $g$ grows, at $p$, at $-p$ and at 0",
        claim(Limit(softplus.formula(g * p) / g, g, oo), step("limit laws", p)),
        claim(Limit(softplus.formula(-g * p) / g, g, oo), step("limit laws", 0)),
        claim(Limit(softplus.formula(0) / g, g, oo), step("limit laws", 0)),
        source=GOODFELLOW,
    )
