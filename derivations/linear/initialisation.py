r"""Initialisation: variances through layers with random weights, and when they neither grow nor vanish.

Definition   y_j = sum_k x_k W_kj with random weights of mean 0 and variance sigma^2
Result       Var(y_j) = d_in sigma^2 E[x^2]: kept by sigma^2 = 1/d_in, after ReLU by 2/d_in; backward d_out takes the
             place of d_in; N residual branches of variance sigma^2 add N sigma^2; means and variances of the
             components alone do not give Var(q . k) = d_k
Shapes       x (d_in,), W (d_in, d_out), y (d_out,); a residual stream x (n,) with branches f (N, n)
Assumes      finite second moments; weights uncorrelated with each other and independent of the inputs
Source       LeCun, Bottou, Orr and Muller (1998); Glorot and Bengio (2010); He, Zhang, Ren and Sun (2015)
"""

from sympy import Eq, Expr, Ge, KroneckerDelta, Lambda, Sum, Symbol, sqrt

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import relu
from derivations.language.arrays.scalars import Expectation, Variance
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import N, d_in, d_k, d_model, d_out, i, index, j, k, l, n, scalar

__all__: list[str] = []

LECUN = "LeCun, Bottou, Orr and Muller (1998), section 4.6"
GLOROT = "Glorot and Bengio (2010), section 4.2.1"
HE = "He, Zhang, Ren and Sun (2015), section 2.2"
E, Var = Expectation, Variance
x, g, h, W = array("x", d_in), array("g", d_out), array("h", d_in), array("W", d_in, d_out)
sigma, v, a = scalar("sigma", positive=True), scalar("v", positive=True), scalar("a")
p, q = index("p"), index("q")


def moment(of: Expr, value: Expr | int, ranges: dict[Symbol, Expr], text: str = "") -> Assumption:
    """Return the assumption that an expression has the given expectation, at all indices."""
    return Assumption(Eq(E(of), value, evaluate=False), {s: ranges[s] for s in ranges if of.has(s)}, text)


def random_weights(inputs: Array, weights: Array, variance: Expr) -> tuple[Assumption, ...]:
    """Return the assumption that weights have mean 0 and a variance, uncorrelated and independent of the inputs."""
    rows, columns = weights.shape
    ranges = {k: rows, l: rows, p: columns, q: columns}
    one, other = weights[k, p], weights[l, q]
    pair, text = inputs[k] * inputs[l], "the weights are drawn independently of the inputs"
    return (
        moment(one, 0, ranges, "weights have mean 0"),
        moment(one * other, variance * KroneckerDelta(k, l) * KroneckerDelta(p, q), ranges, "and are uncorrelated"),
        moment(inputs[k] * one, E(inputs[k]) * E(one), ranges, text),
        moment(pair * one * other, E(pair) * E(one * other), ranges, text),
    )


def mean_square(of: Array, value: Expr) -> Assumption:
    """Return the assumption that the entries of a vector have the given mean square."""
    return moment(of[k] ** 2, value, {k: of.shape[0]}, "the mean square of an entry")


FORWARD, BACKWARD = random_weights(x, W, sigma**2), random_weights(g, W.T, sigma**2)


def started_with(variance: Expr) -> tuple[Assumption, ...]:
    """Return the choice of a variance for the weights, as an assumption on their standard deviation sigma."""
    return (Assumption(Eq(sigma, sqrt(variance), evaluate=False)),)


@result
def fan_in_variance() -> Derivation:
    """The variance of an output: the number of inputs, times the variance of a weight, times the mean square input."""
    output = (x @ W)[j]
    return derivation(
        "A sum of $d_in$ inputs with weights of variance $sigma^2$ has variance $d_in sigma^2 E[x^2]$: $1/d_in$ "
        "keeps it",
        claim(E(output), step("moments", 0)),
        claim(
            Var(output),
            step("variance", E(output**2) - E(output) ** 2),
            step("moments", Sum(sigma**2 * E(x[k] ** 2), (k, 0, d_in - 1))),
            step("moments", d_in * sigma**2 * v),
        ),
        claim(Var(output), step("moments", v), given=started_with(1 / d_in)),
        ranges={j: d_out},
        assuming=[*FORWARD, mean_square(x, v)],
        source=LECUN,
    )


@result
def outputs_are_uncorrelated() -> Derivation:
    """Outputs share their inputs but no weights: they are uncorrelated even if the inputs are correlated."""
    output, other, differ = (x @ W)[p], (x @ W)[q], 1 - KroneckerDelta(p, q)
    return derivation(
        "Different outputs of a layer with random weights are uncorrelated, whatever the inputs",
        claim(
            differ * (E(output * other) - E(output) * E(other)),
            step("moments", differ * KroneckerDelta(p, q) * sigma**2 * E((x @ x).entry())),
            step("moments", 0),
        ),
        ranges={p: d_out, q: d_out},
        assuming=FORWARD,
        source=LECUN,
    )


@result
def xavier() -> Derivation:
    """Forward needs 1/d_in, backward 1/d_out; 2/(d_in + d_out) is a compromise, exact for both when they are equal.

    Uniform weights between -a and a have that variance when a^2 = 6/(d_in + d_out).
    """
    forward, backward, middle = (x @ W)[j], (g @ W.T)[i], 2 / (d_in + d_out)
    # a uniform variable on [-a, a] has variance a^2 / 3
    half_width = scalar("a", positive=True)
    uniform = Assumption(Eq(sigma, half_width / sqrt(3), evaluate=False), text="uniform between $-a$ and $a$")
    return derivation(
        "Weights of variance $2/(d_in + d_out)$: the factors of the variance forward and backward, which are 2 "
        "together",
        claim(
            Var(forward),
            step("moments", d_in * sigma**2 * v),
            step("assumption", d_in * middle * v),
            given=started_with(middle),
        ),
        claim(
            Var(backward),
            step("moments", d_out * sigma**2 * v),
            step("assumption", d_out * middle * v),
            given=started_with(middle),
        ),
        claim(d_in * middle + d_out * middle, step("common denominator", 2)),
        claim(
            (d_in * middle) * (d_out * middle),
            # 1 - 4 a b / (a + b)^2 = (a - b)^2 / (a + b)^2
            step("bound", 1, "<=", (d_in - d_out) ** 2 / (d_in + d_out) ** 2),
        ),
        claim(
            sigma**2 - middle,
            step("assumption", (half_width**2 - 6 / (d_in + d_out)) / 3),
            given=(uniform,),
        ),
        ranges={i: d_in, j: d_out},
        assuming=[*FORWARD, *BACKWARD, mean_square(x, v), mean_square(g, v)],
        source=GLOROT,
    )


SYMMETRIC = moment(
    relu.formula(h[k]) ** 2,
    E(relu.formula(-h[k]) ** 2),
    {k: d_in},
    "pre-activations symmetric about 0: $h_k$ and $-h_k$ have the same distribution",
)


@result
def he() -> Derivation:
    """ReLU halves the mean square of a symmetric variable; weights of variance 2/d_in compensate for it."""
    active = relu(h)
    output, positive, negative = (active @ W)[j], relu.formula(h[i]) ** 2, relu.formula(-h[i]) ** 2
    return derivation(
        "ReLU halves the mean square $v$ of symmetric pre-activations; weights of variance $2/d_in$ bring it "
        "back to $v$",
        # the two squares have equal means by symmetry, so each has half of the mean of h_i^2
        claim(positive + negative, step("algebra", h[i] ** 2)),
        claim(
            2 * E(positive),
            step("moments", E(positive) + E(negative)),
            step("linearity of expectation", E(h[i] ** 2)),
        ),
        claim(
            Var(output),
            step("moments", Sum(sigma**2 * E(active[k] ** 2), (k, 0, d_in - 1))),
            step("moments", d_in * sigma**2 * v / 2),
        ),
        claim(Var(output), step("moments", v), given=started_with(2 / d_in)),
        ranges={i: d_in, j: d_out},
        assuming=[SYMMETRIC, mean_square(h, v), *random_weights(active, W, sigma**2)],
        source=HE,
    )


@result
def he_leaky() -> Derivation:
    """With slope a on the negative side, (1 + a^2)/2 of the mean square remains: half for ReLU, all at a = 1."""
    leaky = relu.formula(h[i]) - a * relu.formula(-h[i])
    return derivation(
        "Leaky ReLU with slope $a$ leaves $(1 + a^2)/2$ of the mean square of what is symmetric about 0",
        claim(
            E(leaky**2),
            step("linearity of expectation", E(relu.formula(h[i]) ** 2) + a**2 * E(relu.formula(-h[i]) ** 2)),
            step("moments", (1 + a**2) / 2 * E(h[i] ** 2)),
        ),
        ranges={i: d_in},
        assuming=[SYMMETRIC],
        source=HE,
    )


@result
def query_key_variance() -> Derivation:
    """Projections of variance 1/d_model turn rows of mean square 1 into scores of variance d_k."""
    x, y = array("x", d_model), array("y", d_model)
    W_Q, W_K = array("W_Q", d_model, d_k), array("W_K", d_model, d_k)
    score = ((x @ W_Q) @ (y @ W_K)).entry()
    # E[score^2] sums over pairs of indices (k, l), (i, j), (p, q); only pairs of equal indices contribute
    rows, queries, keys = x[k] * x[l] * y[i] * y[j], W_Q[k, p] * W_Q[l, q], W_K[i, p] * W_K[j, q]
    same = KroneckerDelta(k, l) * KroneckerDelta(p, q) / d_model
    ranges = {k: d_model, l: d_model, i: d_model, j: d_model, p: d_k, q: d_k}
    text = "the weights are drawn independently"
    return derivation(
        "Scores of projected rows have variance $d_k$ when both projections have weights of variance $1/d_model$",
        claim(E(score), step("moments", 0)),
        claim(Var(score), step("variance", E(score**2) - E(score) ** 2), step("moments", d_k)),
        claim(Var(score / sqrt(d_k)), step("moments", 1)),
        assuming=[
            moment(W_Q[k, p], 0, ranges, "weights have mean 0"),
            moment(x[k] * y[i] * W_Q[k, p] * W_K[i, p], E(x[k] * y[i] * W_K[i, p]) * E(W_Q[k, p]), ranges, text),
            moment(rows * queries * keys, E(rows) * E(queries) * E(keys), ranges, text),
            moment(queries, same, ranges, "and are uncorrelated"),
            moment(keys, same.subs({k: i, l: j}), ranges, "and are uncorrelated"),
            moment(x[k] ** 2 * y[i] ** 2, 1, ranges, "mean square 1, as after a norm"),
        ],
        source="Vaswani et al. (2017), section 3.2.1, footnote 4",
    )


def stream(branches: Array) -> Expr:
    """Return entry i of a residual stream: the input plus the outputs of N branches."""
    return array("x", n)[i] + Sum(branches[k, i], (k, 0, N - 1))


def uncorrelated_branches(branches: Array, variance: Expr) -> tuple[Assumption, ...]:
    """Return the assumption of zero means and zero covariances between the input and all branches."""
    came_in, ranges = array("x", n)[i], {k: N, l: N, i: n}
    one, other = branches[k, i], branches[l, i]
    return (
        moment(came_in, 0, ranges, "means are 0"),
        moment(came_in**2, v, ranges),
        moment(one, 0, ranges, "means are 0"),
        moment(came_in * one, 0, ranges, "zero covariance"),
        moment(one * other, variance * KroneckerDelta(k, l), ranges, "zero covariance"),
    )


@result
def residual_growth() -> Derivation:
    """Every branch adds its variance: it grows linearly with depth, or by sigma^2 in all with factors 1/sqrt(N)."""
    f = array("f", N, n)
    out, damped = stream(f), array("x", n)[i] + Sum(f[k, i] / sqrt(N), (k, 0, N - 1))
    return derivation(
        "$N$ residual branches of variance $sigma^2$, uncorrelated with all before, make a variance $v$ into $v "
        "+ N sigma^2$",
        claim(
            Var(out),
            step("variance", E(out**2) - E(out) ** 2),
            step("moments", v + Sum(sigma**2, (k, 0, N - 1))),
            step("constant summand", v + N * sigma**2),
        ),
        claim(Var(damped), step("moments", v + sigma**2)),
        ranges={i: n},
        assuming=uncorrelated_branches(f, sigma**2),
        source="Radford, Wu, Child, Luan, Amodei and Sutskever (2019), section 2.3",
    )


@result
def residual_doubling() -> Derivation:
    """Branches without a damping factor keep the variance of their input: each sum then has twice the variance."""
    f = array("f", n)
    entry = array("x", n)
    ranges = {i: n}
    return derivation(
        "A residual branch of the same variance, uncorrelated with its input, doubles the variance",
        claim(
            Var(entry[i] + f[i]),
            step("variance", Var(entry[i]) + Var(f[i]) + 2 * (E(entry[i] * f[i]) - E(entry[i]) * E(f[i]))),
            step("moments", Var(entry[i]) + Var(f[i])),
            step("moments", 2 * v),
        ),
        ranges={i: n},
        assuming=[
            moment(entry[i] * f[i], E(entry[i]) * E(f[i]), ranges, "zero covariance"),
            moment(entry[i] ** 2, v + E(entry[i]) ** 2, ranges, "the variance plus the square of the mean"),
            moment(f[i] ** 2, v + E(f[i]) ** 2, ranges, "the variance plus the square of the mean"),
        ],
        source="Zhang, Dauphin and Ma (2019), section 2",
    )


@result
def correlated_counterexample() -> Derivation:
    """Components of mean 0 and variance 1, q_i independent of k_i: with one sign common to all, Var(q . k) is d_k^2."""
    s, t = array("s", 1), array("t", 1)
    common_q, common_k = Tabulated(Lambda((i,), s[0]), d_k), Tabulated(Lambda((i,), t[0]), d_k)
    c = array("c", d_k)
    signs = (
        moment(s[0], 0, {}, "$s$ and $t$ are fair signs"),
        moment(t[0], 0, {}),
        moment(s[0] ** 2, 1, {}),
        moment(t[0] ** 2, 1, {}),
        moment(s[0] * t[0], E(s[0]) * E(t[0]), {}, "$s$ and $t$ are independent"),
        moment(s[0] ** 2 * t[0] ** 2, E(s[0] ** 2) * E(t[0] ** 2), {}),
    )
    of_c = (
        moment(c[i] ** 2, 1, {i: d_k}, "every $c_i$ is a sign"),
        moment(c[i] ** 2 * c[j] ** 2, 1, {i: d_k, j: d_k}),
    )
    return derivation(
        "$Var(q . k)$ is $d_k^2$ when all $q_i$ are one sign and all $k_i$ another, and 0 when $q = k$ has signs "
        "as components",
        claim(E(common_q[i]), step("moments", 0)),
        claim(Var(common_q[i]), step("moments", 1)),
        claim(
            Var((common_q @ common_k).entry()),
            # q . k = d_k s t
            step("variance", d_k**2 * Var(s[0] * t[0])),
            step("moments", d_k**2),
        ),
        claim(
            d_k**2,
            step("bound", d_k, ">", d_k * (d_k - 1)),
            given=(Assumption(Ge(d_k, 2)),),
        ),
        # c . c = d_k for all signs, a constant
        claim(Var((c @ c).entry()), step("moments", 0), given=of_c),
        ranges={i: d_k},
        assuming=signs,
        source="Vaswani et al. (2017), section 3.2.1, footnote 4",
    )
