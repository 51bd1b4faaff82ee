r"""Log-sum-exp: the smooth maximum whose gradient is softmax, and how partial sums of it are merged.

Definition   z = log sum_j exp(x_j);   (m, s) represents s exp(m), and
             (m, s) + (m', s') = (M, s exp(m - M) + s' exp(m' - M)) with M = max(m, m')
Result       dz/dx_i = softmax(x)_i;   max x <= z <= max x + log n;   merging is a commutative monoid, and exact
Shapes       x (n,), z ()
Assumes      every x_j real
Source       Boyd and Vandenberghe (2004), section 3.1.5; Milakov and Gimelshein (2018), section 3
"""

from sympy import Derivative, Expr, Ge, Integer, Lambda, Limit, Max, Sum, exp, log, oo

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import RowLogSumExp, row_softmax
from derivations.language.layers.layer import Equation, Equations
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.softmax.softmax import jacobian_as_matrix, others, total, x, y
from derivations.symbols import i, index, j, k, m, n, scalar

__all__: list[str] = []

TOPIC = "softmax"

BOYD = "Boyd and Vandenberghe (2004), section 3.1.5"
MILAKOV = "Milakov and Gimelshein (2018), section 3"
z = array("z").entry()
Partial = tuple[Expr, Expr]  # (m, s), which represents s exp(m)


def log_sum_exp_of_inputs() -> tuple[Equation, ...]:
    """Return z = log-sum-exp(x) and y = softmax(x)."""
    let = Equations()
    let("z")(RowLogSumExp(x))
    let("y")(row_softmax(x))
    return tuple(let)


@result
def log_sum_exp_gradient() -> Derivation:
    """Softmax is the gradient of log-sum-exp, and the Jacobian of softmax is its Hessian."""
    return derivation(
        "The gradient of log-sum-exp is softmax",
        claim(
            Derivative(z, x[i]),
            step("chain rule", exp(x[i]) / total(exp(x[j]))),
            step("definition", y[i]),
        ),
        claim(Derivative(z, x[i], x[k]), step("derivative", jacobian_as_matrix().entry(i, k))),
        about=log_sum_exp_of_inputs(),
        ranges={i: n, k: n},
        source=BOYD,
    )


@result
def log_sum_exp_bounds() -> Derivation:
    """A smooth maximum: it exceeds the largest input x_t by at most log n, which equal inputs reach."""
    top, c = index("t"), scalar("c")
    scaled = total(exp(x[j] - x[top]))
    below = log(1 + others(top, exp(x[j] - x[top])))
    above = log(1 + total(1 - exp(x[j] - x[top])) / scaled)
    return derivation(
        "Log-sum-exp lies between the maximum and the maximum plus $log n$",
        claim(z, step("exponent", x[top] + log(scaled)), step("bound", x[top], ">=", below)),
        claim(z, step("exponent", x[top] + log(scaled)), step("bound", x[top] + log(n), "<=", above)),
        claim(log(total(exp(c))), step("constant summand", log(n * exp(c))), step("exponent", c + log(n))),
        about=log_sum_exp_of_inputs(),
        ranges={top: n},
        assuming=[Assumption(Ge(x[top] - x[j], 0, evaluate=False), {j: n}, "$x_t$ is the largest input")],
        source=BOYD,
    )


@result
def log_sum_exp_conjugate() -> Derivation:
    """Among all positive weights, softmax maximises the mean input plus the entropy; the maximum is log-sum-exp."""
    t, w, u = array("t", n), array("w", n), array("u").entry()
    let = Equations()
    let("t")(row_softmax(w))
    let("u")(RowLogSumExp(w))

    def value(of: Array) -> Expr:
        return total(of[j] * x[j]) - total(of[j] * log(of[j]))

    # exp(excess) = softmax(x)_j / t_j, and both add up to 1; exp(a) >= 1 + a
    excess = (x[j] - z) - (w[j] - u)
    return derivation(
        "Log-sum-exp is the largest mean input plus entropy, which softmax reaches",
        claim(z, step("bound", value(t), ">=", total(t[j] * (exp(excess) - 1 - excess)))),
        claim(value(y), step("exponent", z)),
        about=(*log_sum_exp_of_inputs(), *let),
        source="Boyd and Vandenberghe (2004), section 3.3.1",
    )


@result
def temperature() -> Derivation:
    """At inverse temperature b the slope is the mean input, and the second derivative the variance of the inputs."""
    b = scalar("b")
    let = Equations()
    let("z")(RowLogSumExp(b * x))
    let("y")(row_softmax(b * x))
    mean = total(y[j] * x[j])
    return derivation(
        "The derivatives of log-sum-exp by the inverse temperature: mean and variance of the inputs",
        claim(Derivative(z, b), step("derivative", mean)),
        claim(
            Derivative(z, b, b),
            step("derivative", total(y[j] * x[j] ** 2) - mean**2),
            step("algebra", Sum(y[i] * (x[i] - mean) ** 2, (i, 0, n - 1))),
        ),
        about=tuple(let),
        source="Wainwright and Jordan (2008), proposition 3.1",
    )


def merged(let: Equations, name: str, left: Partial, right: Partial) -> Partial:
    """Write the equations of the merge of two partial results, m_name and s_name, and return the pair."""
    largest = let(f"m_{name}")(Tabulated(Lambda((), Max(left[0], right[0], evaluate=False)))).entry()
    scaled = left[1] * exp(left[0] - largest) + right[1] * exp(right[0] - largest)
    return largest, let(f"s_{name}")(Tabulated(Lambda((), scaled))).entry()


@result
def online_merge() -> Derivation:
    """Partial results may be merged in any order and grouping, exactly in real arithmetic.

    The identity (-inf, 0) is the limit of (m - g, 0) as g grows.
    """
    (a, b, c), g = ((scalar(f"m_{t}"), scalar(f"s_{t}")) for t in (1, 2, 3)), scalar("g", positive=True)
    orders = a[0], b[0], c[0]
    let = Equations()
    both, turned = merged(let, "12", a, b), merged(let, "21", b, a)
    first, last = merged(let, "123", both, c), merged(let, "1_23", a, merged(let, "23", b, c))
    empty = merged(let, "empty", a, (a[0] - g, Integer(0)))
    return derivation(
        "Merging the partial results of softmax is associative, commutative, exact, and has the identity $(-inf, 0)$",
        claim(both[1] * exp(both[0]), step("exponent", a[1] * exp(a[0]) + b[1] * exp(b[0]))),
        *(claim(left, step("order", right, "=", *orders)) for left, right in zip(first, last, strict=True)),
        *(claim(left, step("order", right, "=", *orders)) for left, right in zip(both, turned, strict=True)),
        *(claim(Limit(left, g, oo), step("limit laws", right)) for left, right in zip(empty, a, strict=True)),
        about=tuple(let),
        source=MILAKOV,
    )


@result
def online_tiles() -> Derivation:
    """The merged result is the sum over both tiles, relative to the larger of the two maxima."""
    u, w, (a, b) = array("u", n), array("w", m), (scalar("m_1"), scalar("m_2"))
    let = Equations()
    tiles = [(a, Sum(exp(u[j] - a), (j, 0, n - 1))), (b, Sum(exp(w[j] - b), (j, 0, m - 1)))]
    largest, summed = merged(let, "12", *tiles)
    whole = Sum(exp(u[j] - largest), (j, 0, n - 1)) + Sum(exp(w[j] - largest), (j, 0, m - 1))
    return derivation(
        "Two tiles merged give the sum over both, whatever was subtracted in each",
        claim(summed, step("exponent", whole)),
        claim(largest, step("bound", a, ">=", Max(a, b) - a)),
        claim(largest, step("bound", b, ">=", Max(a, b) - b)),
        about=tuple(let),
        source=MILAKOV,
    )
