"""False off the domain: negative numbers, ties, zeros, eps = 0, kinks, and conditions that are a little too weak."""

from sympy import (
    Abs,
    Derivative,
    Eq,
    Expr,
    Ge,
    Gt,
    Max,
    Min,
    Mul,
    Ne,
    Pow,
    Rational,
    cos,
    erf,
    exp,
    log,
    sin,
    sqrt,
    tanh,
)

from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import RowSum, gelu, row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.results.derivation import Assumption
from derivations.normalisation.layer_norm import layer_norm
from derivations.symbols import d, epsilon, i, j, k, m, n
from tests.soundness.table import A, M, Table, a, b, c, g, over, p, total, x, y

NEAR_MISSES = Table()
false = NEAR_MISSES.enter
row = {"ranges": {i: n}}
pair = {"ranges": {i: n, k: n}}
D, by = Derivative, "derivative"


def root(of: Expr) -> Expr:
    """Return a square root that SymPy leaves as it is."""
    return Pow(of, Rational(1, 2), evaluate=False)


NEAR_MISSES.group = "negative numbers"
false("relu(x) = x for x >= 0 only", lambda: (Max(0, x[i]), x[i]), **row)
false("|x| = x for x >= 0 only", lambda: (Abs(a), a))
false("relu(x)^2 = x^2 for x >= 0 only", lambda: (Max(0, a) ** 2, a**2))
false("relu(c x) = c relu(x) for c >= 0 only", lambda: (Max(0, c * a), c * Max(0, a)))
false("relu(x) + relu(-x) is |x|, not x", lambda: (Max(0, a) + Max(0, -a), a))
false("relu(x) - relu(-x) is x, not |x|", lambda: (Max(0, a) - Max(0, -a), Abs(a)))
false("max(c a, c b) = c max(a, b) for c >= 0 only", lambda: (Max(c * a, c * b), c * Max(a, b)))
false("sqrt(x^4) = x^2, but sqrt(x^6) is |x|^3", lambda: (root(a**6), a**3))
false("x^2 is not monotone", lambda: (a**2 - b**2, 0), "bound", ">=", assuming=[Assumption(Ge(a - b, 0))])
false("x^3 >= x from 1 on", lambda: (g**3 - g, 0), "bound", ">=")
false(
    "1/x is decreasing for x > 0 only",
    lambda: (1 / a - 1 / b, 0),
    "bound",
    "<=",
    assuming=[Assumption(Gt(a - b, 0)), Assumption(Ne(a * b, 0))],
)
false(
    "a product of nonnegatives, one of them only assumed so",
    lambda: (a * b, 0),
    "bound",
    ">=",
    assuming=[Assumption(Ge(a, 0))],
)
false("gelu is odd nowhere", lambda: (gelu.formula(-a), -gelu.formula(a)))
false("gelu(x) >= 0", lambda: (a * (1 + erf(a / sqrt(2))) / 2, 0), "bound", ">=")
false("softmax of negatives", lambda: (row_softmax(-x), row_softmax(x)))

NEAR_MISSES.group = "ties"
false("the maximum is attained once", lambda: (Iverson(Ge(a, b)) + Iverson(Ge(b, a)), 1))
false("[a = max(a, b)] + [b = max(a, b)]", lambda: (Iverson(Ge(a, Max(a, b))) + Iverson(Ge(b, Max(a, b))), 1))
false("max by strict brackets loses ties", lambda: (Max(a, b), a * Iverson(Gt(a, b)) + b * Iverson(Gt(b, a))))
false("max by weak brackets doubles ties", lambda: (Max(a, b), a * Iverson(Ge(a, b)) + b * Iverson(Ge(b, a))))
false("max(a, b) > min(a, b)", lambda: (Max(a, b) - Min(a, b), 0), "bound", ">")
false("all entries differ", lambda: (total(Iverson(Ge(x[j], x[i]))), total(Iverson(Gt(x[j], x[i])))), **row)
false("the derivative of max at a tie is no half", lambda: (D(Max(a, b), a), Rational(1, 2)), by)
false("largest minus second is above 0", lambda: (Max(a, b, c) - Max(a, b), 0), "bound", ">")

NEAR_MISSES.group = "zeros and conditions"
false("x/x = 1", lambda: (Mul(x[i], Pow(x[i], -1), evaluate=False), 1), **row)
false("(x y)/x = y", lambda: (Mul(x[i] * y[i], Pow(x[i], -1), evaluate=False), y[i]), **row)
false("x/(x y) = 1/y", lambda: (Mul(a, Pow(a * b, -1), evaluate=False), 1 / b), assuming=[Assumption(Ne(b, 0))])
false("a sum of squares may be 0", lambda: (over(total(x[j] ** 2), total(x[j] ** 2)), 1))
false("RMS without eps", lambda: (over(x[i] * sqrt(total(x[j] ** 2) / n), sqrt(total(x[j] ** 2) / n)), x[i]), **row)
false(
    "the norm of a unit vector, at 0",
    lambda: (over(sqrt(total(x[j] ** 2)), sqrt(total(x[j] ** 2))), 1),
    where=(Assumption(Eq(x[j], 0), {j: n}),),
)
false(
    "log x + log y = log(x y), both negative",
    lambda: (log(a * b), log(a) + log(b)),
    assuming=[Assumption(Gt(a * b, 0))],
)
false("log(x^2)/2 = log x", lambda: (log(a**2) / 2, log(a)), assuming=[Assumption(Ne(a, 0))])
false(
    "the root of a product of two negatives",
    lambda: (sqrt(a) * sqrt(b), sqrt(a * b)),
    assuming=[Assumption(Ge(a * b, 0))],
)
false("a >= 0 does not make 1/a", lambda: (Mul(a, Pow(a, -1), evaluate=False), 1), assuming=[Assumption(Ge(a, 0))])
false(
    "a + b != 0 says nothing of a", lambda: (Mul(a, Pow(a, -1), evaluate=False), 1), assuming=[Assumption(Ne(a + b, 0))]
)
false("a b > 0 says nothing of the sign of a", lambda: (Abs(a), a), assuming=[Assumption(Gt(a * b, 0))])
false("a^2 = 1 does not give a = 1", lambda: (a, 1), "assumption", assuming=[Assumption(Eq(a**2, 1))])
false("a b = a c does not give b = c", lambda: (b, c), "assumption", assuming=[Assumption(Eq(a * b, a * c))])
false(
    "a visible key in row 0 is none in row i",
    lambda: (total(row_softmax(A, M)[i, j], last=m - 1), 1),
    assuming=[Assumption(Gt(total(M[0, j], last=m - 1), 0))],
    **row,
)
false(
    "one visible key somewhere",
    lambda: (RowSum(row_softmax(A, M))[i], 1),
    assuming=[Assumption(Gt(total(total(M[p, j], p), j, m - 1), 0))],
    **row,
)
false(
    "a mask that hides key k hides not all of it",
    lambda: (row_softmax(A, M)[i, k], 0),
    "assumption",
    assuming=[Assumption(Eq(M[0, k], 0))],
    ranges={i: n, k: m},
)
false(
    "t sums to 1, but the loss takes t - y",
    lambda: (D(-total(y[j] * x[j]) + log(total(exp(x[j]))), x[i]), y[i] - row_softmax(x)[i]),
    by,
    assuming=[Assumption(Eq(total(y[j]), 1))],
    **row,
)
false(
    "cross-entropy: y - t only where sum t = 1",
    lambda: (D(-total(y[j] * (x[j] - log(total(exp(x[k]), k)))), x[i]), exp(x[i]) / total(exp(x[j])) - y[i]),
    by,
    **row,
)

NEAR_MISSES.group = "eps = 0"
X, Y, X_hat, sigma2, mu = array("X", n, d), array("Y", n, d), array("X_hat", n, d), array("sigma2", n), array("mu", n)
norm = {"about": layer_norm(), "ranges": {i: n, k: d}}
false("the rows of x^ have variance 1", lambda: (total(X_hat[i, j] ** 2, last=d - 1) / d, 1), **norm)
false("x^ has length sqrt(d)", lambda: (total(X_hat[i, j] ** 2, last=d - 1), d), **norm)
false("layer norm forgets a scale", lambda: (X_hat[i, k] * sqrt(sigma2[i]), X[i, k] - mu[i]), **norm)
false("the variance plus eps is the variance", lambda: (sigma2[i] + epsilon, sigma2[i]), **norm)
false("sigma^2 > 0", lambda: (sigma2[i], 0), "bound", ">", **norm)
false("x^ is at most 1", lambda: (X_hat[i, k], 1), "bound", "<=", **norm)
false("eps under the root or beside it", lambda: (1 / sqrt(g**2 + epsilon), 1 / (g + epsilon)))
false("eps is below 1", lambda: (epsilon, 1), "bound", "<=")
false(
    "twice normed is once normed",
    lambda: (X_hat[i, k] / sqrt(sigma2[i] / (sigma2[i] + epsilon) + epsilon), X_hat[i, k]),
    **norm,
)
false(
    "gamma stands outside of the root",
    lambda: (Y[i, k] - array("beta", d)[k], sqrt(array("gamma", d)[k]) * X_hat[i, k]),
    **norm,
)
false("x^ of a constant row is 0, of all others not", lambda: (X_hat[i, 0], 0), **norm)

NEAR_MISSES.group = "functions nearly the same"
false("tanh(x) < x for x > 0 only", lambda: (a - tanh(a), 0), "bound", ">=")
false("exp(x) >= 1 + x, not >= 1 + x + x^2/2", lambda: (exp(a) - 1 - a - a**2 / 2, 0), "bound", ">=")
false("cos is even, sin is not", lambda: (sin(-a) * cos(-b), sin(a) * cos(b)))
false("cos(2 a) = 2 cos^2 - 1", lambda: (cos(2 * a), 2 * cos(a) - 1))
false("erf has no factor sqrt(2)", lambda: (gelu.formula(a), a * (1 + erf(a)) / 2))
false("sigmoid(1.702 x) x is near gelu, not gelu", lambda: (gelu.formula(a), a / (1 + exp(-Rational(1702, 1000) * a))))
false("softplus is above relu", lambda: (log(1 + exp(a)), Max(0, a)))
false("tanh by sigmoid of the same argument", lambda: (tanh(a), 2 / (1 + exp(-a)) - 1))
false("sqrt(1 + x) is not 1 + x/2", lambda: (sqrt(1 + g), 1 + g / 2))
false("log(1 + x) is not x", lambda: (log(1 + g), g))
