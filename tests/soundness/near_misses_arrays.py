"""False for arrays: a transpose, an axis, a scale, a gradient's factor; and for moments, limits, bounds, norms."""

from sympy import Derivative, Eq, Ge, Gt, Integer, KroneckerDelta, Limit, Max, Rational, exp, log, oo, sqrt

from derivations.attention.attention import scaled_dot_product_attention
from derivations.language.arrays.arrangements import Concatenate
from derivations.language.arrays.expression import ColumnBroadcast, RowBroadcast, Scaled, array
from derivations.language.arrays.functions import (
    Hadamard,
    RowMean,
    RowSum,
    exponential,
    gelu,
    relu,
    row_softmax,
    square,
)
from derivations.language.arrays.scalars import Expectation, Rounded, Variance
from derivations.language.results.derivation import Assumption
from derivations.language.results.statements import NullSpace, Rank, Span, SpectralNorm
from derivations.softmax.softmax import softmax
from derivations.symbols import d_k, d_v, h, i, j, k, l, m, n
from tests.soundness.table import A, Table, W, a, c, g, p, table, total, u, v, w, x, y

NEAR_MISSES = Table()
false = NEAR_MISSES.enter
row, square_of = {"ranges": {i: n}}, {"ranges": {i: n, k: n}}
D, by, E = Derivative, "derivative", Expectation
Q, K, V, O, S, Aw = (array(name, *shape) for name, *shape in (
    ("Q", n, d_k), ("K", m, d_k), ("V", m, d_v), ("O", n, d_v), ("S", n, m), ("A", n, m)
))  # fmt: skip
attention = {"about": scaled_dot_product_attention(), "ranges": {i: n, k: m, u: d_k, v: d_v}}
of_softmax = {"about": softmax()}

NEAR_MISSES.group = "matrices"
false("(A B)^T = A^T B^T where the shapes allow it", lambda: ((W @ W.T).T, W.T @ W))
false("W^T W is no W W^T", lambda: (W.T @ W, W @ W.T))
false("x W is no W x", lambda: (x @ W, W @ x))
false("x W y is no y W x", lambda: (total((x @ W)[j] * y[j]), total((y @ W)[j] * x[j])))
false("the transpose of a row sum", lambda: (RowSum(W), RowSum(W.T)))
false("the mean of a product", lambda: (RowMean(Hadamard(W, W)), Hadamard(RowMean(W), RowMean(W))))
false("a row added to columns", lambda: (W + RowBroadcast(x, n), W + ColumnBroadcast(x, n)))
false(
    "the entrywise product with a diagonal",
    lambda: (Hadamard(W, ColumnBroadcast(x, n)), Hadamard(W, RowBroadcast(x, n))),
)
false("a scale of one factor scales the product once", lambda: (Scaled(a, W) @ Scaled(a, W), a * (W @ W)))
false("relu of a product", lambda: (relu(W @ W), relu(W) @ relu(W)))
false("exp entry by entry is no exp of the matrix", lambda: (exponential(W + W), exponential(W) @ exponential(W)))
false("squares entry by entry", lambda: (square(W), W @ W))
false("(W + V)^2 without the mixed terms", lambda: ((W + W.T) @ (W + W.T), W @ W + W.T @ W.T))
false("the trace of a square is no square of a trace", lambda: (total((W @ W)[j, j]), total(W[j, j] ** 2)))
false("the sum of all entries of a product", lambda: (total(RowSum(W @ W)[j]), total(RowSum(W)[j]) ** 2))
false("columns side by side in another order", lambda: (Concatenate(A, i, h) @ Concatenate(A, i, h).T, A @ A.T))
false("a symmetric part", lambda: ((W + W.T) / 2, W))
false(
    "the outer product is not symmetric",
    lambda: (table(x[i] * y[k], i, k, size=(n, n)), table(y[i] * x[k], i, k, size=(n, n))),
)

NEAR_MISSES.group = "softmax and attention"
false(
    "the output averages values, not keys",
    lambda: (O[i, v], total(Aw[i, j] * V[i, v], last=m - 1)),
    **{**attention, "ranges": {i: n, v: d_v}},
    where=(Assumption(Ge(m, n)),),
)
false(
    "scores of keys by queries",
    lambda: (S[i, k] * sqrt(d_k), total(Q[k, u] * K[i, u], u, d_k - 1)),
    **{**attention, "ranges": {i: n, k: m}},
)
false("the scale is a root", lambda: (S[i, k] * d_k, (Q @ K.T)[i, k]), **attention)
false("temperature in the wrong place", lambda: (row_softmax(Scaled(a, x)), Scaled(a, row_softmax(x))))
false(
    "softmax of a sum is no product of softmaxes",
    lambda: (row_softmax(x + y), Hadamard(row_softmax(x), row_softmax(y))),
)
false("softmax of a mean", lambda: (row_softmax((x + y) / 2), (row_softmax(x) + row_softmax(y)) / 2))
false("the log of softmax without the log-sum-exp", lambda: (log(y[i]), x[i]), **of_softmax, **row)
false("log-sum-exp is above the maximum, not below", lambda: (log(total(exp(x[j]))), x[i]), "bound", "<=", **row)
false("log-sum-exp without log n", lambda: (log(total(exp(0 * x[j]))), 0))
false(
    "y_i (1 - y_i) < 1/4",
    lambda: (y[i] * (1 - y[i]), Rational(1, 4)),
    "bound",
    "<",
    where=(Assumption(Eq(n, 2)), Assumption(Eq(array("x", n)[0], array("x", n)[1]))),
    certificate=lambda: ((y[i] - Rational(1, 2)) ** 2,),
    **of_softmax,
    **row,
)
false("y_i <= 1/2", lambda: (y[i], Rational(1, 2)), "bound", "<=", **of_softmax, **row)
false("y_i >= 1/n", lambda: (y[i], 1 / n), "bound", ">=", **of_softmax, **row)
false("entropy is at least 1", lambda: (-total(y[j] * log(y[j])), 1), "bound", ">=", **of_softmax)
false("a key's weights add up to 1", lambda: (total(Aw[j, k]), 1), **{**attention, "ranges": {k: m}})

NEAR_MISSES.group = "gradients"
false(
    "dS without the softmax's mean", lambda: (D(y[i], x[k]), y[i] * KroneckerDelta(i, k)), by, **of_softmax, **square_of
)
false(
    "the Jacobian of softmax has columns that add up to 1",
    lambda: (total(D(y[j], x[k])), 1),
    by,
    **of_softmax,
    ranges={k: n},
)
false(
    "the Hessian of log-sum-exp is its gradient's square",
    lambda: (D(log(total(exp(x[j]))), x[i], x[k]), row_softmax(x)[i] * row_softmax(x)[k]),
    by,
    **square_of,
)
false("d(W x)/dW has x", lambda: (D((W @ x)[i], W[i, k]), x[i]), by, **square_of)
false("d(W x)/dx is W, not W^T", lambda: (D((W @ x)[i], x[k]), W[k, i]), by, **square_of)
false(
    "a quadratic form has both halves", lambda: (D(total(x[j] * (W @ x)[j]), x[k]), 2 * (W @ x)[k]), by, ranges={k: n}
)
false("d|x|^2/dx", lambda: (D(total(x[j] ** 2), x[k]), x[k]), by, ranges={k: n})
false(
    "the bias gets the sum over rows",
    lambda: (D(total(total(w[k] + A[j, k], j), k, m - 1), w[l]), 1),
    by,
    ranges={l: m},
)
false("relu' is [x > 0], not x [x > 0]", lambda: (D(Max(0, a), a) * a, a), by)
false(
    "gelu' without its second term",
    lambda: (D(gelu.formula(a), a), gelu.formula(a) / a),
    by,
    assuming=[Assumption(Gt(a, 0))],
)
false("the mean divides each share by n", lambda: (D(total(x[j]) / n, x[k]), 1), by, ranges={k: n})
false(
    "the variance's slope",
    lambda: (D(total((x[j] - total(x[p], p) / n) ** 2) / n, x[k]), 2 * x[k] / n),
    by,
    ranges={k: n},
)
false("the norm's slope", lambda: (D(sqrt(1 + total(x[j] ** 2)), x[k]), x[k]), by, ranges={k: n})
false(
    "a residual passes on 1 beside the branch",
    lambda: (D(x[i] + Max(0, 1 + x[i] ** 2), x[k]), 2 * x[i] * KroneckerDelta(i, k)),
    by,
    **square_of,
)

NEAR_MISSES.group = "moments"
two = {"ranges": {i: n, k: n}}
means = [Assumption(Eq(E(x[i]), 0), {i: n}), Assumption(Eq(E(x[i] ** 2), 1), {i: n})]
false("E[x^4] = 1 does not follow", lambda: (E(x[i] ** 4), 1), "moments", assuming=means, **row)
false(
    "E[x_i x_k] = delta wants uncorrelated entries",
    lambda: (E(x[i] * x[k]), KroneckerDelta(i, k)),
    "moments",
    assuming=means,
    seen=False,
    **two,
)
false(
    "the variance of a sum of n entries is n, not n^2",
    lambda: (Variance(total(x[j])), n**2),
    "moments",
    assuming=means,
    where=(Assumption(Ge(n, 2)),),
)
false("Var(x + c) = Var(x) + c", lambda: (Variance(x[i] + c), Variance(x[i]) + c), "variance", **row)
false("Var(2 x) = 2 Var(x)", lambda: (Variance(2 * x[i]), 2 * Variance(x[i])), "variance", **row)
false("E[x^2] = Var(x)", lambda: (E(x[i] ** 2), Variance(x[i])), "variance", **row)
false("E[1/x] = 1/E[x]", lambda: (E(1 / (1 + x[i] ** 2)), 1 / (1 + E(x[i]) ** 2)), "linearity of expectation", **row)
false("E[|x|] = |E[x]|", lambda: (E(Max(x[i], -x[i])), Max(E(x[i]), -E(x[i]))), "linearity of expectation", **row)

NEAR_MISSES.group = "limits, ranks, norms"
half = Rational(1, 2)
false(
    "exp(-g) tends to 0, not to 1",
    lambda: (Limit(exp(-g), g, oo), 1),
    "squeeze",
    certificate=lambda: (0, exp(-g), exp(-g), 0),
)
false(
    "1/(1 + exp(-g)) tends to 1, not to 1/2",
    lambda: (Limit(1 / (1 + exp(-g)), g, oo), half),
    "squeeze",
    certificate=lambda: (half, half + exp(-g), 1 / (1 + exp(-g)) - half, exp(-g)),
)
false(
    "a squeeze from above alone",
    lambda: (Limit(1 + exp(-g), g, oo), 0),
    "squeeze",
    certificate=lambda: (0, exp(-g), 1 + exp(-g), 0),
)
false(
    "n - 1 is the rank of the identity",
    lambda: (Rank(table(KroneckerDelta(i, k), i, k, size=(n, n))), n - 1),
    "trace of an idempotent",
    certificate=lambda: (table(KroneckerDelta(i, k), i, k, size=(n, n)),),
)
false(
    "the rank of an outer product is n",
    lambda: (Rank(table(x[i] * x[k], i, k, size=(n, n))), n),
    "trace of an idempotent",
    certificate=lambda: (table(KroneckerDelta(i, k), i, k, size=(n, n)),),
)
false(
    "the null space of a matrix of ones is the span of ones",
    lambda: (NullSpace(table(Integer(1), i, k, size=(n, n))), Span(table(Integer(1), i, size=(n,)))),
    "null space",
    certificate=lambda: (table(KroneckerDelta(i, k), i, k, size=(n, n)), table(1 / n, i, size=(n,))),
)
false(
    "the identity has no null space",
    lambda: (NullSpace(table(KroneckerDelta(i, k), i, k, size=(n, n))), Span(table(Integer(1), i, size=(n,)))),
    "null space",
    certificate=lambda: (table(KroneckerDelta(i, k), i, k, size=(n, n)), table(0 * i, i, size=(n,))),
)
false(
    "the norm of 2 I is at most 1",
    lambda: (SpectralNorm(table(2 * KroneckerDelta(i, k), i, k, size=(n, n))), 1),
    "quadratic form",
    "<=",
    certificate=lambda: (x, total(x[j] ** 2), total(3 * x[j] ** 2)),
)
false("pi to two decimals is not 3.15", lambda: (Rounded(log(Integer(23)), Integer(2)), Rational(315, 100)), "rounding")
false("sqrt(2) to three decimals", lambda: (Rounded(sqrt(2), Integer(3)), Rational(1415, 1000)), "rounding")
false("e^-10 to five decimals is not 0", lambda: (Rounded(exp(Integer(-10)), Integer(5)), 0), "rounding")
