r"""Softmax at extremes: a growing gap between inputs, and temperatures that tend to 0 or to infinity.

Definition   y = softmax(x / T): T is the temperature, b = 1/T
Result       T -> 0: uniform over the set of maxima;   T -> infinity: uniform over all entries
Shapes       x (n,), y (n,)
Assumes      every x_j real
Source       Vaswani et al. (2017), section 3.2.1; Hinton, Vinyals and Dean (2015), section 2
"""

from sympy import Expr, Ge, Gt, KroneckerDelta, Lambda, Limit, exp, oo

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import row_softmax
from derivations.language.layers.layer import Equation, Equations
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.softmax.softmax import others, softmax, total, x, y
from derivations.symbols import i, index, j, n, scalar

__all__: list[str] = []

TOPIC = "softmax"

VASWANI = "Vaswani et al. (2017), section 3.2.1"
HINTON = "Hinton, Vinyals and Dean (2015), section 2"
gap = scalar("g", positive=True)


def two_entries() -> tuple[Equation, ...]:
    """Return softmax of two inputs whose difference is g: x = (g, 0)."""
    inputs = Tabulated(Lambda((j,), gap * KroneckerDelta(j, 0)), 2)
    let = Equations()
    let("y")(row_softmax(inputs))
    return tuple(let)


@result
def saturation() -> Derivation:
    """For two inputs with a gap g, the derivative decays like exp(-g)."""
    first = array("y", 2)[0]
    slope = exp(-gap) / (1 + exp(-gap)) ** 2
    # below = exp(-g) - slope, so that 0 <= slope <= exp(-g)
    below = (2 * exp(-2 * gap) + exp(-3 * gap)) / (1 + exp(-gap)) ** 2
    return derivation(
        "Two entries a gap $g$ apart: the derivative and its limit 0",
        claim(
            first * (1 - first),
            step("definition", 1 / (1 + exp(-gap)) * (1 - 1 / (1 + exp(-gap)))),
            step("common denominator", slope),
        ),
        claim(Limit(slope, gap, oo), step("squeeze", 0, "=", 0, exp(-gap), slope, below)),
        about=two_entries(),
        source=VASWANI,
    )


@result
def saturation_bound() -> Derivation:
    """When one input leads all others by at least g, the weight of the others decays like exp(-g)."""
    top = index("t")
    z, rest = total(exp(x[j])), others(top, exp(x[j]))
    decay = exp(-gap) - exp(x[j] - x[top])
    lead = (1 - KroneckerDelta(top, j)) * (x[top] - x[j] - gap)
    return derivation(
        "A unique maximum that leads by $g$ takes at least all but $(n - 1) exp(-g)$",
        claim(
            1 - y[top],
            step("definition", 1 - exp(x[top]) / z),
            step("linearity of sums", rest / z),
            step("bound", rest / exp(x[top]), "<=", rest**2 / (z * exp(x[top]))),
            step("exponent", others(top, exp(x[j] - x[top]))),
            step("bound", others(top, exp(-gap)), "<=", others(top, decay)),
            step("constant summand", (n - 1) * exp(-gap)),
        ),
        about=softmax(),
        ranges={top: n},
        assuming=[Assumption(Ge(lead, 0, evaluate=False), {j: n}, "input $t$ leads every other by at least $g$")],
        source=VASWANI,
    )


def with_maxima() -> tuple[Equation, ...]:
    """Return y = softmax(b x), with x given by its maximum m, a mask M of the maxima, and deficits r elsewhere."""
    m, b = scalar("m"), scalar("b", positive=True)
    M, r = mask_array("M", n), array("r", n)
    let = Equations()
    inputs = let("x")(Tabulated(Lambda((j,), m - (1 - M[j]) * r[j]), n))
    let("y")(row_softmax(b * inputs))
    return tuple(let)


@result
def cold_limit() -> Derivation:
    """As the temperature 1/b tends to 0, the largest inputs share all the weight equally, whatever the inputs are."""
    b, M, r = scalar("b", positive=True), mask_array("M", n), array("r", n)

    def power(place: Expr) -> Expr:
        return M[place] + (1 - M[place]) * exp(-b * r[place])

    weights = power(i) / total(power(j))
    return derivation(
        "Cold softmax is uniform over the set of maxima",
        claim(y[i], step("indicator", weights)),
        claim(Limit(weights, b, oo), step("limit laws", M[i] / total(M[j]))),
        about=with_maxima(),
        ranges={i: n},
        assuming=[
            Assumption(Gt(total(M[j]), 0), text="$M$ shows the places of the largest input $m$, at least one"),
            Assumption(Gt(r[j], 0, evaluate=False), {j: n}, "the inputs at all other places are $m - r_j$"),
        ],
        source=HINTON,
    )


@result
def hot_limit() -> Derivation:
    """As the temperature tends to infinity, all inputs get the same weight."""
    temperature = scalar("T", positive=True)
    let = Equations()
    let("y")(row_softmax(x / temperature))
    weights = exp(x[i] / temperature) / total(exp(x[j] / temperature))
    return derivation(
        "Hot softmax is uniform over all places",
        claim(y[i], step("definition", weights)),
        claim(Limit(weights, temperature, oo), step("limit laws", 1 / n)),
        about=tuple(let),
        ranges={i: n},
        source=HINTON,
    )
