r"""The dot product of a query and a key with random components: its mean, its variance, and the scale sqrt(d_k).

Definition   q . k = sum_{i=1}^{d_k} q_i k_i
Result       E[q . k] = 0, Var(q . k) = d_k, Var(q . k / sqrt(d_k)) = 1
Shapes       q (d_k,), k (d_k,)
Assumes      finite second moments; q_i independent of k_i; the products q_i k_i uncorrelated; components of mean 0
             and variance 1, except where means and variances are kept
Source       Vaswani et al. (2017), section 3.2.1, footnote 4
"""

from collections.abc import Sequence

from sympy import Derivative, Eq, Expr, Ge, Gt, Integer, KroneckerDelta, Rational, Sum, exp, sqrt

from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import Hadamard, RowSum
from derivations.language.arrays.scalars import Expectation, Rounded, Variance
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d_k, i, j, n, scalar

__all__: list[str] = []

FOOTNOTE = "Vaswani et al. (2017), section 3.2.1, footnote 4"
q, k, s = array("q", d_k), array("k", d_k), array("s", n)
mu_q, mu_k = scalar("mu_q"), scalar("mu_k")
sigma_q, sigma_k = scalar("sigma_q", positive=True), scalar("sigma_k", positive=True)
E, Var = Expectation, Variance
product = (q @ k).entry()


def total(of: Expr | int) -> Expr:
    """Return the sum of an expression in j over all components."""
    return Sum(of, (j, 0, d_k - 1))


def square(of: Array) -> Expr:
    """Return the squared length of a vector."""
    return (of @ of).entry()


def moment(of: Expr, value: Expr | int, text: str = "") -> Assumption:
    """Return the assumption that a product of components has the given expectation, for all i (and j)."""
    ranges = {index: d_k for index in (i, j) if of.has(index)}
    return Assumption(Eq(E(of), value, evaluate=False), ranges, text)


INDEPENDENT = (
    moment(q[i] * k[i], E(q[i]) * E(k[i]), "$q_i$ and $k_i$ are independent"),
    moment(q[i] ** 2 * k[i] ** 2, E(q[i] ** 2) * E(k[i] ** 2), "$q_i$ and $k_i$ are independent"),
)
UNCORRELATED = (
    moment(
        q[i] * k[i] * q[j] * k[j],
        E(q[i] * k[i]) * E(q[j] * k[j]) + KroneckerDelta(i, j) * (E(q[i] ** 2 * k[i] ** 2) - E(q[i] * k[i]) ** 2),
        "products of different components are uncorrelated",
    ),
)


def components(
    mean_q: Expr | int, mean_k: Expr | int, variance_q: Expr | int, variance_k: Expr | int
) -> Sequence[Assumption]:
    """Return the assumption that all components have the given means and variances."""
    return (
        moment(q[i], mean_q),
        moment(k[i], mean_k),
        moment(q[i] ** 2, variance_q + mean_q**2, "the variance plus the square of the mean"),
        moment(k[i] ** 2, variance_k + mean_k**2, "the variance plus the square of the mean"),
    )


STANDARD = components(0, 0, 1, 1)


@result
def definition() -> Derivation:
    """The dot product is the sum of the products of the components."""
    return derivation(
        "Definition of the dot product",
        claim(q @ k, step("definition", RowSum(Hadamard(q, k)))),
        source="Vaswani et al. (2017), section 3.2.1",
    )


@result
def gradient() -> Derivation:
    """The derivative with respect to a component of the query is that component of the key."""
    return derivation(
        "Gradient of the dot product by the query: the key",
        claim(
            Derivative(product, q[i]),
            step("derivative", total(KroneckerDelta(i, j) * k[j])),
            step("Kronecker delta", k[i]),
        ),
        ranges={i: d_k},
    )


@result
def distance() -> Derivation:
    """For vectors of equal length the largest dot product belongs to the smallest distance."""
    return derivation(
        "$|q - k|^2 = |q|^2 + |k|^2 - 2 q . k$",
        claim(
            square(q - k),
            step("linearity of sums", square(q) + square(k) - 2 * product),
        ),
        claim(product, step("algebra", (square(q + k) - square(q - k)) / 4)),
    )


@result
def gaussian_kernel() -> Derivation:
    """The weight before normalisation: near queries and keys get more weight, and so do long ones."""
    return derivation(
        "$exp(q . k)$ is a Gaussian of the distance, times a factor for the length of each vector",
        claim(
            exp(product),
            step("exponent", exp((square(q) + square(k) - square(q - k)) / 2)),
            step("exponent", exp(square(q) / 2) * exp(square(k) / 2) * exp(-square(q - k) / 2)),
        ),
        source="Choromanski et al. (2021), section 2",
    )


@result
def cauchy_schwarz() -> Derivation:
    """The two sides differ by a sum of squares (Lagrange), which is 0 only if q and k are parallel."""
    areas = Sum((q[i] * k[j] - q[j] * k[i]) ** 2, (j, 0, d_k - 1), (i, 0, d_k - 1)) / 2
    long = (
        Assumption(Gt(square(q), 0, evaluate=False), text="$q$ is not 0"),
        Assumption(Gt(square(k), 0, evaluate=False), text="$k$ is not 0"),
    )
    return derivation(
        "$(q . k)^2 <= |q|^2 |k|^2$; the cosine of the angle lies between $-1$ and 1",
        claim(product**2, step("bound", square(q) * square(k), "<=", areas)),
        claim(
            product**2 / (square(q) * square(k)),
            step("bound", 1, "<=", areas / (square(q) * square(k))),
            given=long,
        ),
        source="Strang (2016), section 1.2",
    )


@result
def mean() -> Derivation:
    """The mean of the dot product is 0."""
    return derivation(
        "The dot product of independent components of mean 0 has mean 0",
        claim(
            E(product),
            step("linearity of expectation", total(E(q[j] * k[j]))),
            step("moments", total(E(q[j]) * E(k[j]))),
            step("moments", 0),
        ),
        assuming=[INDEPENDENT[0], moment(q[i], 0), moment(k[i], 0)],
        source=FOOTNOTE,
    )


@result
def one_product() -> Derivation:
    """The product of two components has variance 1 if their means are 0, and 1 plus the squared means otherwise."""
    spread = E(q[i] ** 2 * k[i] ** 2) - E(q[i] * k[i]) ** 2
    independent = E(q[i] ** 2) * E(k[i] ** 2) - E(q[i]) ** 2 * E(k[i]) ** 2
    return derivation(
        "The product of two independent components of variance 1 has variance 1 when their means are 0",
        claim(
            Var(q[i] * k[i]),
            step("variance", spread),
            step("moments", independent),
            step("moments", 1),
            given=(*STANDARD,),
        ),
        claim(
            Var(q[i] * k[i]),
            step("variance", spread),
            step("moments", independent),
            step("moments", (1 + mu_q**2) * (1 + mu_k**2) - mu_q**2 * mu_k**2),
            step("algebra", 1 + mu_q**2 + mu_k**2),
            given=(*components(mu_q, mu_k, 1, 1),),
        ),
        ranges={i: d_k},
        assuming=INDEPENDENT,
        source=FOOTNOTE,
    )


@result
def variance() -> Derivation:
    """The variance of the dot product is the number of components."""
    return derivation(
        "The dot product of independent components of mean 0 and variance 1 has variance $d_k$",
        claim(
            Var(product),
            step("variance", E(product**2) - E(product) ** 2),
            step("moments", total(Var(q[j] * k[j]))),
            step("variance", total(E(q[j] ** 2 * k[j] ** 2) - E(q[j] * k[j]) ** 2)),
            step("moments", total(E(q[j] ** 2) * E(k[j] ** 2) - E(q[j]) ** 2 * E(k[j]) ** 2)),
            step("moments", total(1)),
            step("constant summand", d_k),
        ),
        assuming=[*UNCORRELATED, *INDEPENDENT, *STANDARD],
        source=FOOTNOTE,
    )


@result
def variance_general() -> Derivation:
    """The variance in terms of all moments, and if all components of a vector have the same mean and variance."""
    kept = total(E(q[j] ** 2) * E(k[j] ** 2) - E(q[j]) ** 2 * E(k[j]) ** 2)
    one = (sigma_q**2 + mu_q**2) * (sigma_k**2 + mu_k**2) - mu_q**2 * mu_k**2
    return derivation(
        "Variance of the dot product, for any means and variances",
        claim(
            Var(product),
            step("variance", E(product**2) - E(product) ** 2),
            step("moments", total(E(q[j] ** 2 * k[j] ** 2) - E(q[j] * k[j]) ** 2)),
            step("moments", kept),
        ),
        claim(
            kept,
            step("moments", total(one)),
            step("constant summand", d_k * one),
            step("algebra", d_k * (sigma_q**2 * sigma_k**2 + sigma_q**2 * mu_k**2 + mu_q**2 * sigma_k**2)),
            given=(*components(mu_q, mu_k, sigma_q**2, sigma_k**2),),
        ),
        assuming=[*UNCORRELATED, *INDEPENDENT],
        source=FOOTNOTE,
    )


@result
def mean_general() -> Derivation:
    """Nonzero means add up: the mean grows like d_k, faster than the standard deviation."""
    return derivation(
        "The dot product of independent components of means $mu_q$ and $mu_k$ has mean $d_k mu_q mu_k$",
        claim(
            E(product),
            step("linearity of expectation", total(E(q[j] * k[j]))),
            step("moments", total(E(q[j]) * E(k[j]))),
            step("moments", d_k * mu_q * mu_k),
        ),
        assuming=[INDEPENDENT[0], moment(q[i], mu_q), moment(k[i], mu_k)],
        source=FOOTNOTE,
    )


@result
def expected_length() -> Derivation:
    """A vector with components of variance 1 has length near sqrt(d_k): its squared length has mean d_k."""
    return derivation(
        "A vector with components of mean square 1 has an expected squared length of $d_k$",
        claim(
            E(square(q)),
            step("linearity of expectation", total(E(q[j] ** 2))),
            step("moments", d_k),
        ),
        assuming=[moment(q[i] ** 2, 1)],
        source=FOOTNOTE,
    )


@result
def standard_deviation() -> Derivation:
    """The standard deviation grows like the square root of d_k: 8 at d_k = 64, 22.6 at d_k = 512."""
    return derivation(
        "The dot product has standard deviation $sqrt(d_k)$",
        claim(
            sqrt(Var(s[i])),
            step("variance", sqrt(E(s[i] ** 2) - E(s[i]) ** 2)),
            step("moments", sqrt(d_k)),
        ),
        claim(sqrt(d_k), step("assumption", 8), given=(Assumption(Eq(d_k, 64)),)),
        claim(Rounded(sqrt(Integer(512)), Integer(1)), step("rounding", Rational(226, 10))),
        ranges={i: n},
        assuming=[
            Assumption(
                Eq(E(s[i]), 0, evaluate=False), {i: n}, "dot_product.mean, for the dot products $s_1, ..., s_n$"
            ),
            Assumption(Eq(E(s[i] ** 2), d_k, evaluate=False), {i: n}, "dot_product.variance"),
            Assumption(Ge(Var(s[i]), 0, evaluate=False), {i: n}, "a variance is the mean of a square"),
        ],
        source=FOOTNOTE,
    )


@result
def scaled_variance() -> Derivation:
    """After division by sqrt(d_k), the dot product has variance 1 for every d_k."""
    return derivation(
        "The dot product divided by $sqrt(d_k)$ has variance 1",
        claim(
            Var(product / sqrt(d_k)),
            step("variance", Var(product) / d_k),
            step("moments", 1),
        ),
        assuming=[*UNCORRELATED, *INDEPENDENT, *STANDARD],
        source=FOOTNOTE,
    )


@result
def wrong_scaling() -> Derivation:
    """After division by d_k instead, the variance is 1/d_k: the scores vanish as d_k grows."""
    return derivation(
        "The dot product divided by $d_k$ has variance $1/d_k$",
        claim(
            Var(product / d_k),
            step("variance", Var(product) / d_k**2),
            step("moments", 1 / d_k),
        ),
        assuming=[*UNCORRELATED, *INDEPENDENT, *STANDARD],
        source=FOOTNOTE,
    )
