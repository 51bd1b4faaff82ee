r"""The activations: ReLU and GELU, their derivatives, and what sets the two apart.

Definition   ReLU(x) = max(0, x);   GELU(x) = x Phi(x) with Phi(x) = (1 + erf(x / sqrt(2))) / 2
Result       ReLU'(x) = [x > 0] off the kink at 0;   GELU'(x) = Phi(x) + x phi(x), phi(x) = exp(-x^2/2) / sqrt(2 pi)
Shapes       scalars: an activation is applied entry by entry
Assumes      x real; ReLU'(0) = 0 by convention
Source       Nair and Hinton (2010); Hendrycks and Gimpel (2016)
"""

from sympy import Abs, Add, Derivative, Expr, Gt, Integer, Max, Ne, Rational, erf, exp, pi, sqrt

from derivations.language.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.expression import array
from derivations.language.functions import Named, gelu, relu
from derivations.language.layer import Equation, Equations
from derivations.language.scalars import Iverson, Rounded
from derivations.symbols import i, n, scalar

__all__ = ["normal_density", "normal_distribution"]

GELU = "Hendrycks and Gimpel (2016), section 2"
RELU = "Nair and Hinton (2010)"
x, y = array("x", n), array("y", n)
t, p = scalar("t"), scalar("p", positive=True)


def normal_distribution(at: Expr) -> Expr:
    """Return Phi(x) = (1 + erf(x / sqrt(2))) / 2, the probability that a standard normal variable is below x."""
    return (1 + erf(at / sqrt(2))) / 2


def normal_density(at: Expr) -> Expr:
    """Return phi(x) = exp(-x^2 / 2) / sqrt(2 pi), the density of a standard normal variable."""
    return exp(-(at**2) / 2) / sqrt(2 * pi)


def applied(activation: Named) -> tuple[Equation, ...]:
    """Return the equation y = activation(x), entry by entry."""
    let = Equations()
    let("y")(activation(x))
    return tuple(let)


@result
def relu_definition() -> Derivation:
    """ReLU keeps what is positive."""
    return derivation(
        "Definition of ReLU, entry by entry",
        claim(y[i], step("definition", Max(0, x[i]))),
        about=applied(relu),
        ranges={i: n},
        source=RELU,
    )


@result
def gelu_definition() -> Derivation:
    """GELU weighs a number by the probability that a standard normal variable lies below it."""
    return derivation(
        "Definition of GELU, entry by entry: x Phi(x)",
        claim(y[i], step("definition", x[i] * normal_distribution(x[i]))),
        about=applied(gelu),
        ranges={i: n},
        source=GELU,
    )


@result
def relu_not_linear() -> Derivation:
    """The values at t and -t add up to |t|, but the value at t - t is 0: sums are not respected."""
    return derivation(
        "ReLU is not linear: ReLU(t) + ReLU(-t) = |t|, and |t| is ReLU(t - t) = 0 only at t = 0",
        claim(relu.formula(t) + relu.formula(-t), step("algebra", Abs(t))),
        claim(Max(0, Add(t, -t, evaluate=False), evaluate=False), step("algebra", 0)),
        source=RELU,
    )


@result
def relu_switches() -> Derivation:
    """What is negative becomes exactly 0, what is positive stays."""
    return derivation(
        "ReLU sends every negative number to 0 and keeps every positive number",
        claim(Max(0, -p, evaluate=False), step("algebra", 0)),
        claim(Max(0, p, evaluate=False), step("algebra", p)),
        source=RELU,
    )


@result
def gelu_of_one() -> Derivation:
    """GELU makes the number -1 small where ReLU makes it 0."""
    return derivation(
        "GELU at -1 and 1: the negative number is damped, not set to 0",
        claim(Rounded(gelu.formula(Integer(-1)), Integer(4)), step("rounding", Rational(-1587, 10**4))),
        claim(Rounded(gelu.formula(Integer(1)), Integer(4)), step("rounding", Rational(8413, 10**4))),
        source=GELU,
    )


@result
def reflection() -> Derivation:
    """ReLU and GELU share the odd part t/2; they differ by an even function."""
    return derivation(
        "ReLU and GELU both satisfy f(t) - f(-t) = t",
        claim(relu.formula(t) - relu.formula(-t), step("algebra", t)),
        claim(
            gelu.formula(t) - gelu.formula(-t),
            step("algebra", t * normal_distribution(t) + t * normal_distribution(-t)),
            step("algebra", t),
        ),
        source=GELU,
    )


@result
def relu_derivative() -> Derivation:
    """The slope is 1 where the input is positive and 0 where it is negative."""
    return derivation(
        "Derivative of ReLU",
        claim(Derivative(relu.formula(t), t), step("derivative", Iverson(Gt(t, 0)))),
        assuming=[Assumption(Ne(t, 0), text="off the kink; at 0 the convention is ReLU'(0) = 0")],
        source=RELU,
    )


@result
def normal_derivative() -> Derivation:
    """The density is the derivative of the distribution."""
    return derivation(
        "The derivative of Phi is the normal density",
        claim(
            Derivative(normal_distribution(t), t),
            step("chain rule", normal_density(t)),
        ),
        source=GELU,
    )


@result
def gelu_derivative() -> Derivation:
    """By the product rule, Phi(t) + t phi(t): defined everywhere, also at 0."""
    return derivation(
        "Derivative of GELU",
        claim(
            Derivative(gelu.formula(t), t),
            step("product rule", normal_distribution(t) + t * Derivative(normal_distribution(t), t)),
            step("derivative", normal_distribution(t) + t * normal_density(t)),
        ),
        source=GELU,
    )


@result
def gelu_second_derivative() -> Derivation:
    """Smooth where ReLU has a kink: the slope itself has a derivative."""
    slope = normal_distribution(t) + t * normal_density(t)
    return derivation(
        "Second derivative of GELU",
        claim(
            Derivative(gelu.formula(t), (t, 2)),
            step("derivative", Derivative(slope, t)),
            step("product rule", 2 * normal_density(t) + t * Derivative(normal_density(t), t)),
            step("chain rule", (2 - t**2) * normal_density(t)),
        ),
        source=GELU,
    )
