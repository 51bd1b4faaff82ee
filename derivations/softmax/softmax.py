r"""Softmax: its entries and its Jacobian.

Definition   y_i = exp(x_i) / sum_{j=1}^{n} exp(x_j)
Result       dy_i/dx_k = y_i (delta_ik - y_k);   on the diagonal y_i (1 - y_i)
Shapes       x (n,), y (n,), Jacobian (n, n)
Assumes      n a positive integer, every x_j real
Source       Bridle (1990); Goodfellow, Bengio and Courville (2016), section 6.2.2.3
"""

from sympy import Derivative, Expr, Ge, Integer, KroneckerDelta, Lambda, Mul, Pow, Rational, Sum, exp, log

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.scalars import Rounded
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Claim, Derivation, claim, derivation, result, step
from derivations.symbols import i, j, k, n, scalar

__all__ = ["softmax"]

BRIDLE = "Bridle (1990)"
GOODFELLOW = "Goodfellow, Bengio and Courville (2016), section 6.2.2.3"
x, y = array("x", n), array("y", n)


@catalogued
def softmax() -> Layer:
    """Return softmax as a layer.

    Definition   y_i = exp(x_i) / sum_{j=1}^{n} exp(x_j)
    Shapes       x (n,), y (n,)
    Source       Bridle (1990)
    """
    let = Equations()
    let("y")(row_softmax(x))
    return Layer("softmax", (x,), (), let, y)


def total(of: Expr) -> Expr:
    """Return the sum of an expression in j over all indices."""
    return Sum(of, (j, 0, n - 1))


def others(than: Expr, of: Expr) -> Expr:
    """Return the sum of an expression in j over all indices except one."""
    return total((1 - KroneckerDelta(than, j)) * of)


@result
def definition() -> Derivation:
    """The entries of softmax."""
    return derivation(
        "Definition of softmax",
        claim(y[i], step("definition", exp(x[i]) / total(exp(x[j])))),
        about=softmax(),
        ranges={i: n},
        source=BRIDLE,
    )


@result
def sums_to_one() -> Derivation:
    """The entries are weights: they add up to 1."""
    return derivation(
        "The entries of softmax sum to 1",
        claim(
            Sum(y[i], (i, 0, n - 1)),
            step("definition", Sum(exp(x[i]) / total(exp(x[j])), (i, 0, n - 1))),
            step("linearity of sums", Sum(exp(x[i]), (i, 0, n - 1)) / total(exp(x[j]))),
            step("algebra", 1),
        ),
        about=softmax(),
        source=BRIDLE,
    )


@result
def entries_between_0_and_1() -> Derivation:
    """Every entry is in (0, 1]; it is below 1 exactly when there are at least two entries."""
    rest = others(i, y[j])
    return derivation(
        "The entries of softmax lie between 0 and 1, and below 1 exactly when $n >= 2$",
        claim(y[i], step("bound", 0, ">")),
        claim(y[i], step("bound", 1, "<=", rest)),
        claim(y[i], step("bound", 1, "<", rest), given=(Assumption(Ge(n, 2)),)),
        claim(softmax().at(n=1).result(array("x", 1)).entry(0), step("algebra", 1)),
        about=softmax(),
        ranges={i: n},
        source=BRIDLE,
    )


@result
def shift_invariance() -> Derivation:
    """Adding one number to all inputs changes nothing, so the maximum can be subtracted before the exponentials."""
    c = scalar("c")
    let = Equations()
    z = let("z")(row_softmax(Tabulated(Lambda((j,), x[j] + c), n)))
    # SymPy would cancel the factor, which is what this step shows
    above, below = (Mul(exp(c), of, evaluate=False) for of in (exp(x[i]), total(exp(x[j]))))
    return derivation(
        "Softmax does not change when one number is added to every input",
        claim(
            z[i],
            step("definition", exp(x[i] + c) / total(exp(x[j] + c))),
            step("exponent", Mul(above, Pow(below, -1, evaluate=False), evaluate=False)),
            step("algebra", exp(x[i]) / total(exp(x[j]))),
            step("definition", y[i]),
        ),
        about=[*let, *softmax().equations],
        ranges={i: n},
        source="Goodfellow, Bengio and Courville (2016), equation 6.33",
    )


@result
def ratio() -> Derivation:
    """The ratio of two entries depends only on the difference of the two inputs."""
    return derivation(
        "The ratio of two entries is the exponential of the difference of the inputs",
        claim(
            y[i] / y[k],
            step("definition", exp(x[i]) / exp(x[k])),
            step("exponent", exp(x[i] - x[k])),
        ),
        about=softmax(),
        ranges={i: n, k: n},
        source=BRIDLE,
    )


@result
def order_preserved() -> Derivation:
    """A larger input has the larger entry."""
    whole = total(exp(x[j]))
    return derivation(
        "Softmax keeps the order of its inputs",
        claim(y[i], step("bound", y[k], ">=", (exp(x[i]) - exp(x[k])) / whole)),
        about=softmax(),
        ranges={i: n, k: n},
        assuming=[Assumption(Ge(x[i] - x[k], 0, evaluate=False), text="input $i$ is at least input $k$")],
        source=BRIDLE,
    )


@result
def jacobian() -> Derivation:
    """The derivative of every entry with respect to every input."""
    z = total(exp(x[j]))
    return derivation(
        "Jacobian of softmax",
        claim(
            Derivative(y[i], x[k]),
            step("quotient rule", (KroneckerDelta(i, k) * exp(x[i]) * z - exp(x[i]) * exp(x[k])) / z**2),
            step("algebra", exp(x[i]) / z * (KroneckerDelta(i, k) - exp(x[k]) / z)),
            step("definition", y[i] * (KroneckerDelta(i, k) - y[k])),
        ),
        about=softmax(),
        ranges={i: n, k: n},
        source=BRIDLE,
    )


@result
def jacobian_diagonal() -> Derivation:
    """The derivative of an entry with respect to its own input."""
    return derivation(
        "Derivative of an entry of softmax by its own input",
        claim(
            Derivative(y[i], x[i]),
            step("quotient rule", y[i] * (1 - y[i])),
        ),
        about=softmax(),
        ranges={i: n},
        source=BRIDLE,
    )


@result
def log_jacobian() -> Derivation:
    """The logarithm of an entry is its input minus log-sum-exp, and its derivative is a Kronecker delta minus y."""
    return derivation(
        "Derivative of log softmax",
        claim(log(y[i]), step("exponent", x[i] - log(total(exp(x[j]))))),
        claim(Derivative(log(y[i]), x[k]), step("derivative", KroneckerDelta(i, k) - y[k])),
        about=softmax(),
        ranges={i: n, k: n},
        source=GOODFELLOW,
    )


def jacobian_as_matrix() -> Array:
    """Return diag(y) - y y^T."""
    diagonal = Tabulated(Lambda((i, k), KroneckerDelta(i, k) * y[i]), n, n)
    return diagonal - Tabulated(Lambda((i, k), y[i] * y[k]), n, n)


@result
def jacobian_matrix() -> Derivation:
    """The Jacobian as a matrix: diag(y) - y y^T."""
    derivatives: Array = Tabulated(Lambda((i, k), Derivative(y[i], x[k])), n, n)
    return derivation(
        "Jacobian of softmax as a matrix, $diag(y) - y y^T$",
        claim(derivatives, step("quotient rule", jacobian_as_matrix())),
        about=softmax(),
        source=BRIDLE,
    )


@result
def two_class_is_sigmoid() -> Derivation:
    """Softmax of two inputs is the sigmoid of their difference."""
    two = array("x", 2)
    first = softmax().at(n=2).result(two).entry(0)
    return derivation(
        "Softmax of two inputs is the sigmoid of their difference",
        claim(
            first,
            step("definition", exp(two[0]) / (exp(two[0]) + exp(two[1]))),
            step("exponent", 1 / (1 + exp(-(two[0] - two[1])))),
        ),
        source=GOODFELLOW,
    )


def of_numbers(*inputs: int) -> tuple[Expr, ...]:
    """Return the entries of softmax of some numbers."""
    whole = sum(exp(Integer(value)) for value in inputs)
    return tuple(exp(Integer(value)) / whole for value in inputs)


def rounded(number: Expr, decimals: int, value: Rational | int) -> Claim:
    """Return the claim that a number, rounded to some decimals, has the given value."""
    return claim(Rounded(number, Integer(decimals)), step("rounding", value))


@result
def example_close_inputs() -> Derivation:
    """For the inputs 2 and 1 neither entry is near 1, and the derivative is far from 0."""
    first, second = of_numbers(2, 1)
    return derivation(
        "Softmax of $[2, 1]$, with its derivative",
        rounded(exp(Integer(2)), 2, Rational(739, 100)),
        rounded(exp(Integer(1)), 2, Rational(272, 100)),
        rounded(exp(Integer(2)) + exp(Integer(1)), 2, Rational(1011, 100)),
        rounded(first, 2, Rational(73, 100)),
        rounded(second, 2, Rational(27, 100)),
        rounded(first * (1 - first), 3, Rational(197, 1000)),
    )


@result
def example_distant_inputs() -> Derivation:
    """For the inputs 20 and 10 one entry is near 1, and the derivative is 0.000045 (not 0.000049)."""
    first, second = of_numbers(20, 10)
    return derivation(
        "Softmax of $[20, 10]$, with its derivative",
        rounded(exp(Integer(20)), 0, 485165195),
        rounded(exp(Integer(10)), 0, 22026),
        rounded(exp(Integer(20)) + exp(Integer(10)), 0, 485187222),
        rounded(first, 5, Rational(99995, 10**5)),
        rounded(second, 5, Rational(5, 10**5)),
        rounded(first * (1 - first), 6, Rational(45, 10**6)),
    )
