"""Hard true statements about gradients, masks and norms: the judge must prove each, and the cross-check agrees."""

import pytest
from sympy import Derivative, Gt, KroneckerDelta, Le, Lt, Sum, exp, log, sqrt

from derivations.attention.attention import scaled_dot_product_attention
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import CausalMask, RowMean, RowSum, row_softmax, square
from derivations.language.arrays.scalars import Iverson
from derivations.language.cross_check import cross_check
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Assumption
from derivations.normalisation.layer_norm import layer_norm
from derivations.softmax.softmax import softmax
from derivations.symbols import d, d_k, d_v, epsilon, i, j, k, l, m, n
from tests.soundness.table import A, M, Table, W, g, p, table, total, u, v, w, x, y

TRUTHS = Table()
true = TRUTHS.enter
D, by, delta = Derivative, "derivative", KroneckerDelta
row, square_of = {"ranges": {i: n}}, {"ranges": {i: n, k: n}}
of_softmax = {"about": softmax(), "ranges": {i: n, k: n, l: n}}
X, Y, X_hat, X_c, H, G = (array(name, n, d) for name in ("X", "Y", "X_hat", "X_c", "H", "G"))
mu, sigma2, gamma, beta = array("mu", n), array("sigma2", n), array("gamma", d), array("beta", d)
norm = {"about": layer_norm(), "ranges": {i: n, k: d, l: d, p: n}}
Q, K, V, O, S, Aw, dO = (array(name, *shape) for name, *shape in (
    ("Q", n, d_k), ("K", m, d_k), ("V", m, d_v), ("O", n, d_v), ("S", n, m), ("A", n, m), ("dO", n, d_v)
))  # fmt: skip
attention = {"about": scaled_dot_product_attention(), "ranges": {i: n, p: n, k: m, l: m, u: d_k, v: d_v}}

TRUTHS.group = "gradients"
true(
    "the gradient of a quadratic form",
    lambda: (D(total(x[j] * (W @ x)[j]), x[k]), ((W + W.T) @ x)[k]),
    by,
    ranges={k: n},
)
true(
    "the gradient of a squared error by the weights",
    lambda: (D(total(((W @ x)[j] - y[j]) ** 2), W[i, k]), 2 * ((W @ x)[i] - y[i]) * x[k]),
    by,
    **square_of,
)
true(
    "the gradient of a bilinear form by its matrix",
    lambda: (D(total(x[j] * (A @ w)[j]), A[i, k]), x[i] * w[k]),
    by,
    ranges={i: n, k: m},
)
true(
    "log-sum-exp has softmax as its gradient",
    lambda: (D(log(total(exp(x[j]))), x[k]), row_softmax(x)[k]),
    by,
    ranges={k: n},
)
true(
    "soft targets: the gradient of cross-entropy",
    lambda: (D(log(total(exp(x[j]))) * total(y[j]) - total(y[j] * x[j]), x[k]), row_softmax(x)[k] * total(y[j]) - y[k]),
    by,
    ranges={k: n},
)
true(
    "softmax at a temperature: the slope has 1/T",
    lambda: (
        D(exp(x[i] / g) / total(exp(x[j] / g)), x[k]),
        exp(x[i] / g) / total(exp(x[j] / g)) * (delta(i, k) - exp(x[k] / g) / total(exp(x[j] / g))) / g,
    ),
    by,
    **square_of,
)
true("the mean of the slopes of softmax is 0", lambda: (total(D(y[j], x[k])) / n, 0), by, **of_softmax)
true(
    "an entropy's slope before the logarithm is taken out",
    lambda: (D(total(y[j] * x[j]), x[k]), y[k] + y[k] * (x[k] - total(y[j] * x[j]))),
    by,
    **of_softmax,
)
true(
    "scores do not change other queries",
    lambda: (D(S[i, k], Q[p, u]), delta(i, p) * K[k, u] / sqrt(d_k)),
    by,
    **attention,
)
true("weights by scores", lambda: (D(O[i, v], V[k, v]), Aw[i, k]), by, **attention)
true(
    "an output by a query it does not belong to", lambda: (D(O[i, v], Q[p, u]) * (1 - delta(i, p)), 0), by, **attention
)
true(
    "the slope of a norm",
    lambda: (D(sqrt(1 + total(x[j] ** 2)), x[k]), x[k] / sqrt(1 + total(x[j] ** 2))),
    by,
    ranges={k: n},
)
true(
    "the slope of a unit vector",
    lambda: (
        D(x[i] / sqrt(g + total(x[j] ** 2)), x[k]),
        delta(i, k) / sqrt(g + total(x[j] ** 2)) - x[i] * x[k] / (g + total(x[j] ** 2)) / sqrt(g + total(x[j] ** 2)),
    ),
    by,
    **square_of,
)
true(
    "a gate times a value",
    lambda: (
        D(x[i] / (1 + exp(-x[i])), x[k]),
        delta(i, k) * (1 + x[i] * exp(-x[i]) / (1 + exp(-x[i]))) / (1 + exp(-x[i])),
    ),
    by,
    **square_of,
)
true(
    "a residual adds 1 to the slope",
    lambda: (D(x[i] + total(W[i, j] * x[j]), x[k]), delta(i, k) + W[i, k]),
    by,
    **square_of,
)

TRUTHS.group = "masks"
true(
    "a masked weight is 0 where the key is hidden",
    lambda: ((1 - M[i, k]) * row_softmax(A, M)[i, k], 0),
    assuming=[Assumption(Gt(total(M[i, j], last=m - 1), 0), {i: n})],
    ranges={i: n, k: m},
)
true(
    "the visible weights are all weights",
    lambda: (total(M[i, j] * row_softmax(A, M)[i, j], last=m - 1), 1),
    assuming=[Assumption(Gt(total(M[i, j], last=m - 1), 0), {i: n})],
    **row,
)
true("the causal row i sees i + 1 keys", lambda: (RowSum(table(Iverson(Le(j, i)), i, j, size=(n, n)))[i], i + 1), **row)
true(
    "causal weights at equal scores",
    lambda: (row_softmax(0 * W, CausalMask(n))[i, k] * (i + 1), Iverson(Le(k, i))),
    **square_of,
)
true(
    "two masks after one another are their product",
    lambda: (M[i, k] * (M[i, k] * A[i, k]), M[i, k] * A[i, k]),
    ranges={i: n, k: m},
)
true(
    "hidden and visible keys together",
    lambda: (total(M[i, j] * A[i, j], last=m - 1) + total((1 - M[i, j]) * A[i, j], last=m - 1), RowSum(A)[i]),
    **row,
)
true(
    "no later key changes a causal sum",
    lambda: (D(Sum(exp(x[j]), (j, 0, i)), x[k]) * Iverson(Lt(i, k)), 0),
    by,
    **square_of,
)
true(
    "a causal average by a bracket",
    lambda: (total(Iverson(Le(j, i)) * x[j]) / (i + 1), Sum(x[j], (j, 0, i)) / (i + 1)),
    **row,
)

TRUTHS.group = "norms"
true("x^ is orthogonal to the ones", lambda: (total(X_hat[i, j], last=d - 1), 0), **norm)
true(
    "the output's mean is that of beta when gamma is 1",
    lambda: (total(Y[i, j] - gamma[j] * X_hat[i, j], last=d - 1), total(beta[j], last=d - 1)),
    **norm,
)
true("a row does not change another row's variance", lambda: (D(sigma2[i], X[p, k]) * (1 - delta(i, p)), 0), by, **norm)
true("the mean's slope", lambda: (D(mu[i], X[p, k]), delta(i, p) / d), by, **norm)
true("the variance's slope", lambda: (D(sigma2[i], X[p, k]), 2 * delta(i, p) * X_c[i, k] / d), by, **norm)
true("the variance by squares", lambda: (sigma2[i], RowMean(square(X))[i] - mu[i] ** 2), **norm)
true("a common shift changes nothing", lambda: (total(D(X_hat[i, k], X[i, l]), l, d - 1), 0), by, **norm)
true(
    "the output by beta and gamma",
    lambda: (D(Y[i, k], beta[l]) + D(Y[i, k], gamma[l]), delta(k, l) * (1 + X_hat[i, k])),
    by,
    **norm,
)
true("x^ times the root is the centred row", lambda: (X_hat[i, k] * sqrt(sigma2[i] + epsilon), X_c[i, k]), **norm)
true(
    "squares of x^ stay below d",
    lambda: (d - total(X_hat[i, j] ** 2, last=d - 1), d * epsilon / (sigma2[i] + epsilon)),
    **norm,
)


@pytest.mark.parametrize("entry", TRUTHS, ids=lambda entry: f"{entry.group}: {entry.why}")
def test_a_hard_truth_is_proved(entry) -> None:
    evidence = judge(entry.derivation)
    assert evidence.level == "proved", evidence.failures


@pytest.mark.parametrize("entry", TRUTHS, ids=lambda entry: f"{entry.group}: {entry.why}")
def test_the_cross_check_agrees(entry) -> None:
    checked = cross_check(entry.derivation)
    assert checked.outcome == "agrees", checked.reason


def test_there_are_thirty_and_no_two_are_the_same() -> None:
    assert len({(entry.group, entry.why) for entry in TRUTHS}) == len(TRUTHS) >= 30
