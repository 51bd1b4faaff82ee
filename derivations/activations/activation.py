r"""Activations: ReLU, its identities, and the reflection that it shares with GELU.

Definition   ReLU(x) = max(0, x)
Result       ReLU(x) = x [x > 0]; ReLU'(x) = [x > 0] off the kink at 0; ReLU(p x) = p ReLU(x) for p > 0; maxima by ReLU
Shapes       scalars: an activation is applied entry by entry
Assumes      x real; ReLU'(0) = 0 by convention
Source       Nair and Hinton (2010)
"""

from sympy import Abs, Derivative, Gt, Max, Min, Ne

from derivations.activations.gelu import GELU, normal_distribution
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import Named, gelu, relu
from derivations.language.arrays.scalars import Iverson
from derivations.language.layers.layer import Equation, Equations
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import i, n, scalar

__all__ = ["applied"]

RELU = "Nair and Hinton (2010)"
x, y = array("x", n), array("y", n)
t, p = scalar("t"), scalar("p", positive=True)


def applied(activation: Named) -> tuple[Equation, ...]:
    """Return the equation y = activation(x), entry by entry."""
    let = Equations()
    let("y")(activation(x))
    return tuple(let)


@result
def relu_definition() -> Derivation:
    """ReLU keeps the positive entries and sets the others to 0."""
    return derivation(
        "Definition of ReLU, entry by entry",
        claim(y[i], step("definition", Max(0, x[i]))),
        about=applied(relu),
        ranges={i: n},
        source=RELU,
    )


@result
def relu_not_linear() -> Derivation:
    """ReLU(t) + ReLU(-t) is |t|, but ReLU(0) is 0: ReLU does not respect sums."""
    return derivation(
        "ReLU is not linear: $ReLU(t) + ReLU(-t) = |t|$, where linearity would have $0$",
        claim(relu.formula(t) + relu.formula(-t), step("algebra", Abs(t))),
        source=RELU,
    )


@result
def relu_switches() -> Derivation:
    """Negative numbers become exactly 0, positive numbers do not change."""
    return derivation(
        "ReLU sends every negative number to 0 and keeps every positive number",
        claim(Max(0, -p, evaluate=False), step("algebra", 0)),
        claim(Max(0, p, evaluate=False), step("algebra", p)),
        source=RELU,
    )


@result
def reflection() -> Derivation:
    """ReLU and GELU share the odd part t/2; they differ by an even function."""
    return derivation(
        "ReLU and GELU both satisfy $f(t) - f(-t) = t$",
        claim(relu.formula(t) - relu.formula(-t), step("algebra", t)),
        claim(
            gelu.formula(t) - gelu.formula(-t),
            step("algebra", t * normal_distribution(t) + t * normal_distribution(-t)),
            step("algebra", t),
        ),
        source=GELU,
    )


@result
def relu_is_a_gate() -> Derivation:
    """ReLU is the input times the indicator of a positive input. Applying ReLU twice equals applying it once."""
    on = Iverson(Gt(t, 0))
    return derivation(
        "$ReLU(t) = t [t > 0]$, and $ReLU(ReLU(t)) = ReLU(t)$",
        claim(relu.formula(t), step("indicator", t * on)),
        claim(Max(0, relu.formula(t), evaluate=False), step("algebra", relu.formula(t))),
        source=RELU,
    )


@result
def relu_gives_maxima() -> Derivation:
    """With ReLU and affine maps a network can compute the maximum, minimum and distance of two numbers."""
    a, b = scalar("a"), scalar("b")
    return derivation(
        "$max(a, b) = a + ReLU(b - a)$, and $|a - b| = ReLU(a - b) + ReLU(b - a)$",
        claim(Max(a, b), step("algebra", a + relu.formula(b - a))),
        claim(Min(a, b), step("algebra", a - relu.formula(a - b))),
        claim(Abs(a - b), step("algebra", relu.formula(a - b) + relu.formula(b - a))),
        claim(Max(a, b), step("algebra", (a + b + Abs(a - b)) / 2)),
        source="Goodfellow, Warde-Farley, Mirza, Courville and Bengio (2013), section 3",
    )


@result
def relu_homogeneity() -> Derivation:
    """A positive factor may be taken out of ReLU, and of leaky ReLU with any slope; |t| is a special case."""
    b = scalar("b")
    return derivation(
        "$ReLU(p t) = p ReLU(t)$ for $p > 0$, and so for every combination of $ReLU(t)$ and $ReLU(-t)$",
        claim(relu.formula(p * t), step("algebra", p * relu.formula(t))),
        claim(
            relu.formula(p * t) - b * relu.formula(-p * t),
            step("algebra", p * (relu.formula(t) - b * relu.formula(-t))),
        ),
        source=RELU,
    )


@result
def leaky_relu() -> Derivation:
    """Leaky ReLU with any slope 1 - p < 1 on the negative side is the larger of two lines."""
    leaky, on = relu.formula(t) - (1 - p) * relu.formula(-t), Iverson(Gt(t, 0))
    return derivation(
        "Leaky ReLU: $max((1 - p) t, t) = ReLU(t) - (1 - p) ReLU(-t)$ for $p > 0$, with slope 1 above 0 and $1 - "
        "p$ below",
        claim(Max((1 - p) * t, t), step("algebra", t + relu.formula(-p * t)), step("algebra", leaky)),
        claim(
            Derivative(leaky, t),
            step("derivative", on + (1 - p) * (1 - on)),
            given=(Assumption(Ne(t, 0), text="off the kink"),),
        ),
        source="Maas, Hannun and Ng (2013), section 2",
    )


@result
def relu_derivative() -> Derivation:
    """The slope is 1 where the input is positive and 0 where it is negative."""
    return derivation(
        "Derivative of ReLU",
        claim(Derivative(relu.formula(t), t), step("derivative", Iverson(Gt(t, 0)))),
        assuming=[Assumption(Ne(t, 0), text="off the kink; at 0 the convention is $ReLU'(0) = 0$")],
        source=RELU,
    )
