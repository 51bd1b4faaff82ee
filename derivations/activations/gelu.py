r"""GELU: its derivatives, its difference from ReLU, and its two approximations.

Definition   GELU(x) = x Phi(x) with Phi(x) = (1 + erf(x / sqrt(2))) / 2
Result       GELU'(x) = Phi(x) + x phi(x), phi(x) = exp(-x^2/2) / sqrt(2 pi); ReLU(x) - GELU(x) = |x| Phi(-|x|)
Shapes       scalars: an activation is applied entry by entry
Assumes      x real
Source       Hendrycks and Gimpel (2016)
"""

from sympy import Abs, Add, Derivative, Expr, Integer, Lambda, Limit, Rational, erf, exp, oo, pi, sqrt, tanh

from derivations.activations.sigmoid import sigmoid, swish
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import gelu, named, relu
from derivations.language.arrays.scalars import Rounded
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.language.results.statements import Supremum
from derivations.symbols import i, n, scalar

__all__ = ["gelu_sigmoid", "gelu_slope", "gelu_tanh", "normal_density", "normal_distribution", "tanh_argument"]

TOPIC = "activation"

GELU = "Hendrycks and Gimpel (2016), section 2"
x, y = array("x", n), array("y", n)
SLOPE = Rational(1702, 1000)  # of the sigmoid that is nearest to Phi
t, p, g = scalar("t"), scalar("p", positive=True), scalar("g", positive=True)


def normal_distribution(at: Expr) -> Expr:
    """Return Phi(x) = (1 + erf(x / sqrt(2))) / 2, the probability that a standard normal variable is below x."""
    return (1 + erf(at / sqrt(2))) / 2


def normal_density(at: Expr) -> Expr:
    """Return phi(x) = exp(-x^2 / 2) / sqrt(2 pi), the density of a standard normal variable."""
    return exp(-(at**2) / 2) / sqrt(2 * pi)


def gelu_slope(at: Expr) -> Expr:
    """Return GELU'(x) = Phi(x) + x phi(x)."""
    return normal_distribution(at) + at * normal_density(at)


def tanh_argument(at: Expr) -> Expr:
    """Return sqrt(2/pi) (x + 0.044715 x^3), at which tanh is nearly erf(x / sqrt(2))."""
    return sqrt(2 / pi) * at * (1 + Rational(44715, 10**6) * at**2)


gelu_tanh = named("gelu_tanh", t / 2 * (1 + tanh(tanh_argument(t))), t)
gelu_sigmoid = named("gelu_sigmoid", swish(SLOPE, t), t)


@result
def gelu_definition() -> Derivation:
    """GELU multiplies a number by the probability that a standard normal variable is below it."""
    return derivation(
        "Definition of GELU, entry by entry: $x Phi(x)$",
        claim(y[i], step("definition", x[i] * normal_distribution(x[i]))),
        about=(Equation(y, gelu(x)),),
        ranges={i: n},
        source=GELU,
    )


@result
def gelu_of_one() -> Derivation:
    """GELU makes the number -1 small; ReLU makes it 0."""
    return derivation(
        "GELU at $-1$ and 1: the negative number is damped, not set to 0",
        claim(Rounded(gelu.formula(Integer(-1)), Integer(4)), step("rounding", Rational(-1587, 10**4))),
        claim(Rounded(gelu.formula(Integer(1)), Integer(4)), step("rounding", Rational(8413, 10**4))),
        source=GELU,
    )


@result
def normal_derivative() -> Derivation:
    """The normal density is the derivative of the distribution function."""
    return derivation(
        "The derivative of $Phi$ is the normal density",
        claim(
            Derivative(normal_distribution(t), t),
            step("chain rule", normal_density(t)),
        ),
        source=GELU,
    )


@result
def gelu_derivative() -> Derivation:
    """By the product rule the slope is Phi(t) + t phi(t), which is defined everywhere, also at 0."""
    return derivation(
        "Derivative of GELU",
        claim(
            Derivative(gelu.formula(t), t),
            step("product rule", normal_distribution(t) + t * Derivative(normal_distribution(t), t)),
            step("derivative", gelu_slope(t)),
        ),
        source=GELU,
    )


@result
def gelu_second_derivative() -> Derivation:
    """GELU is smooth at 0, where ReLU has a kink: its slope has a derivative."""
    return derivation(
        "Second derivative of GELU",
        claim(
            Derivative(gelu.formula(t), (t, 2)),
            step("derivative", Derivative(gelu_slope(t), t)),
            step("product rule", 2 * normal_density(t) + t * Derivative(normal_density(t), t)),
            step("chain rule", (2 - t**2) * normal_density(t)),
        ),
        source=GELU,
    )


@result
def gelu_below_relu() -> Derivation:
    """GELU is below ReLU by |t| times the probability of exceeding |t|, which is the same on both sides of 0."""
    missing = p * normal_distribution(-p)
    return derivation(
        "$ReLU(t) - GELU(t) = |t| Phi(-|t|) > 0$ for all $t$ other than 0",
        claim(relu.formula(p) - gelu.formula(p), step("algebra", missing)),
        claim(missing, step("bound", 0, ">", p / 2 * (1 - erf(p / sqrt(2))))),
        claim(relu.formula(-p) - gelu.formula(-p), step("algebra", missing)),
        source=GELU,
    )


@result
def gelu_limit() -> Derivation:
    """As the variance of the normal variable shrinks, the gate becomes the indicator [t > 0], and GELU becomes ReLU."""
    a = g * p / sqrt(2)
    tail, reach = exp(-(a**2)), 1 - erf(a)
    return derivation(
        "$t Phi(g t)$ tends to $ReLU(t)$ as $g$ grows: to $p$ at $p > 0$, to 0 at $-p$, off by at most $p "
        "exp(-(g p)^2 / 2) / 2$",
        claim(
            Limit(p * normal_distribution(g * p), g, oo),
            # 0 <= 1 - erf(a) <= exp(-a^2) for a >= 0
            step("squeeze", p, "=", p - p / 2 * tail, p, p / 2 * (tail - reach), p / 2 * reach),
        ),
        claim(
            Limit(-p * normal_distribution(-g * p), g, oo),
            step("squeeze", 0, "=", -p / 2 * tail, 0, p / 2 * (tail - reach), p / 2 * reach),
        ),
        source=GELU,
    )


@result
def gelu_slopes_reflect() -> Derivation:
    """The slopes at t and -t add up to 1, as for every f with f(t) - f(-t) = t: the slope at 0 is 1/2."""
    return derivation(
        "$GELU'(t) + GELU'(-t) = 1$",
        claim(
            Derivative(gelu.formula(t) - gelu.formula(-t), t),
            step("derivative", Add(gelu_slope(t), gelu_slope(-t), evaluate=False)),
            step("algebra", 1),
        ),
        source=GELU,
    )


@result
def gelu_tanh_is_a_gate() -> Derivation:
    """The tanh form is the input times a sigmoid, as SiLU is: the sigmoid of twice the argument of tanh."""
    return derivation(
        "The tanh form of GELU is $t sigmoid(2 u)$, $u = sqrt(2/pi) (t + 0.044715 t^3)$",
        claim(tanh(t), step("algebra", 2 * sigmoid.formula(2 * t) - 1)),
        claim(gelu_tanh.formula(t), step("algebra", t * sigmoid.formula(2 * tanh_argument(t)))),
        source=GELU,
    )


@result
def gelu_sigmoid_error() -> Derivation:
    """The largest error of the sigmoid form of GELU, which is forty times that of the tanh form."""
    largest = Supremum(Lambda(t, Abs(gelu.formula(t) - gelu_sigmoid.formula(t))))
    tail_erf, tail_sigmoid = exp(-(t**2) / 2), exp(-SLOPE * t)
    below_erf, below_sigmoid = 1 - erf(t / sqrt(2)), tail_sigmoid / (1 + tail_sigmoid)
    # far out, the bound h: over = h - (GELU - sigmoid form) and under = h + (GELU - sigmoid form), both >= 0
    far = exp(t * (1 - SLOPE)) + exp(t * (1 - t / 2)) / 2
    over = (exp(t) - t) * tail_sigmoid + t * tail_sigmoid * below_sigmoid + exp(t) * tail_erf / 2 + t / 2 * below_erf
    under = (exp(t) - t) * tail_erf / 2 + t / 2 * (tail_erf - below_erf) + exp(t) * tail_sigmoid + t * below_sigmoid
    return derivation(
        "$t sigmoid(1.702 t)$ differs from GELU by at most 0.0204, and by more than 0.0203 near 2.27",
        claim(largest, step("supremum", Rational(204, 10**4), "<=", 8, far, over, under)),
        claim(largest, step("supremum", Rational(203, 10**4), ">=", Rational(227, 100))),
        source=GELU,
    )
