"""False for some sizes only: at n = 1, from n = 5 on, for odd or coinciding sizes, in empty ranges, off by one."""

from sympy import Eq, Ge, Integer, KroneckerDelta, Le, Mod, Sum, exp, log, sqrt

from derivations.language.arrays.arrangements import Concatenate
from derivations.language.arrays.functions import CausalMask, RowMean, RowSum, row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.results.derivation import Assumption
from derivations.language.results.statements import Conformable, Rank
from derivations.symbols import d, d_k, d_model, h, i, j, k, l, m, n
from tests.soundness.table import A, B, Table, W, a, c, over, table, total, w, x, y

NEAR_MISSES = Table()
false = NEAR_MISSES.enter
from_5_on = (Assumption(Ge(n, 5)),)
row = {"ranges": {i: n}}

NEAR_MISSES.group = "only at n = 1"
false("x_0 is not all of x once there are two", lambda: (total(x[j]), x[0]))
false("a mean of one entry", lambda: (total(x[j]) / n, x[0]))
false("the variance of one number is 0, that of two is not", lambda: (total((x[j] - total(x[k], k) / n) ** 2), 0))
false("softmax of one logit is 1", lambda: (row_softmax(x)[0], 1))
false("one row: the product with its transpose", lambda: ((W @ W.T)[0, 0], W[0, 0] ** 2))
false("1/n is 1 for one entry", lambda: (total(x[j] / n), total(x[j])))
false("n^2 = n", lambda: (n**2, n))
false("the square of a sum, one term", lambda: (total(x[j]) ** 2, total(x[j] ** 2)))
false("exp of a sum, one term", lambda: (exp(total(x[j])), total(exp(x[j]))))
false("first and last place coincide", lambda: (x[n - 1], x[0]))
false("the diagonal is everything", lambda: (total(total(W[j, k], k)), total(W[j, j])))
false("a causal mask of one position shows all", lambda: (row_softmax(W, CausalMask(n))[0, 0], row_softmax(W)[0, 0]))
false(
    "1 x 1 matrices commute",
    lambda: (W @ table(x[i] * y[j], i, j, size=(n, n)), table(x[i] * y[j], i, j, size=(n, n)) @ W),
)
false("heads of one", lambda: (total(x[j]) * n, total(x[j])))
false("the logarithm of a sum of one exponential", lambda: (log(total(exp(x[j]))), total(x[j])))

NEAR_MISSES.group = "fails at n = 1 alone"
false("1 - y_0 > 0 wants a second entry", lambda: (1 - row_softmax(x)[0], 0), "bound", ">")
false("n - 1 >= 1", lambda: (n - 1, 1), "bound", ">=")
false("(n - 1)/(n - 1) at n = 1", lambda: (over(total(exp(x[j]), last=n - 2), total(exp(x[j]), last=n - 2)), 1))
false("the unbiased variance of one number", lambda: (total(x[j] - x[j]) / (n - 1), 0))
false("a mean over the others", lambda: (total((1 - KroneckerDelta(j, 0)) * 1) / (n - 1), 1))
false("n >= 2", lambda: (n, 2), "bound", ">=")
false("n^2 > n", lambda: (n**2, n), "bound", ">")
false("log n > 0", lambda: (log(n), 0), "bound", ">")
false("the last of the others is above 0", lambda: (total(Integer(1), first=1), 0), "bound", ">")

NEAR_MISSES.group = "false from n = 5 on"
low = (n - 1) * (n - 2) * (n - 3) * (n - 4)
false("n (n - 1)(n - 2)(n - 3)(n - 4) = 0 up to n = 4", lambda: (low, 0), where=from_5_on)
false("a polynomial that is n up to 4", lambda: (n + low, n), where=from_5_on)
false("a sum over squares, right up to 4", lambda: (total(j**2), n * (n - 1) * (2 * n - 1) / 6 + low), where=from_5_on)
false("4 is not the largest size", lambda: (4 - n, 0), "bound", ">=", where=from_5_on)
false(
    "2^n is no cubic", lambda: (exp(log(2) * n), 1 + n + n * (n - 1) / 2 + n * (n - 1) * (n - 2) / 6), where=from_5_on
)
false("a bracket that opens at 5", lambda: (total(Iverson(Ge(j, 4))), 0), where=from_5_on)
false("five places are six too few", lambda: (total(Iverson(Le(j, 3))), n), where=from_5_on)
false("place 4 is outside of smaller arrays", lambda: (total(KroneckerDelta(j, 4)), 1))
false("the first four add up to all", lambda: (total(x[j] * Iverson(Le(j, 3))), total(x[j])), where=from_5_on)
false("a table of five columns", lambda: (RowSum(table(Iverson(Le(j, 3)), i, j, size=(m, n)))[0], n), where=from_5_on)

NEAR_MISSES.group = "even and odd"
false("half of an odd size is no integer", lambda: (Sum(1, (j, 0, n / 2 - 1)) * 2, n))
false("d is even", lambda: (Mod(d, 2), 0))
false("n (n - 1)/2 pairs, n + 1 over 2 of them", lambda: (n * (n - 1) / 2, n * (n + 1) / 2 - n + Mod(n, 2)))
false("(-1)^n", lambda: ((-1) ** n, 1))
false("alternating ones cancel", lambda: (total((-1) ** j), 0))
false("an even size is no multiple of 4", lambda: (Mod(d, 4), 0), "assumption", assuming=[Assumption(Eq(Mod(d, 2), 0))])
false("h divides d_model, not d_k", lambda: (Mod(d_k, h), 0), "assumption", assuming=[Assumption(Eq(d_k, d_model / h))])
false(
    "d_model is h d_k, not h + d_k",
    lambda: (d_model, h + d_k),
    "assumption",
    assuming=[Assumption(Eq(d_k, d_model / h))],
)

NEAR_MISSES.group = "sizes that coincide"
false("n = m", lambda: (n * total(w[j], last=m - 1), m * total(w[j], last=m - 1)))
false("n + m = 2 n", lambda: (n + m, 2 * n))
false("rows and columns", lambda: (total(total(A[j, k], k, n - 1), j, m - 1), total(total(A[j, k], k, m - 1))))
false("the mean divides by m", lambda: (RowMean(A)[0], RowSum(A)[0] / n))
false("the trace of A B counts n terms, of B A m", lambda: (total((A @ B)[j, j]), total((A @ B)[j, j], last=m - 1)))
false("n m and n^2", lambda: (total(total(1, k, m - 1)), n**2))
false("d_k and d_model under the root", lambda: ((W @ W)[0, 0] / sqrt(d_k), (W @ W)[0, 0] / sqrt(d_model)))
false("conforms when the outer sizes are equal", lambda: (Conformable(A, B), Eq(n, m)), "shape", "iff")
false("rank(A B) <= n - 1", lambda: (Rank(A @ B), n - 1), "rank of a product", "<=", where=(Assumption(Ge(m, 3)),))
false("rank(W W) <= 1", lambda: (Rank(W @ W), 1), "rank of a product", "<=")
false(
    "blocks of h and of d",
    lambda: (Concatenate(table(x[i] + l, l, size=(d,)), i, n), Concatenate(table(x[0] + l, l, size=(d,)), i, n)),
)

NEAR_MISSES.group = "empty ranges and their ends"
false("a sum from 1 to n - 1 may be empty", lambda: (over(total(exp(x[j]), first=1), total(exp(x[j]), first=1)), 1))
false("an empty sum is no x_0", lambda: (Sum(x[0], (j, 1, 0)), x[0]))
false("from n to n - 1: 0, not x_n", lambda: (total(y[j], first=n), y[n - 1]))
false("from n + 1 to n - 1: 0, not -(x_n)", lambda: (Sum(1, (j, n + 1, n - 1)), -1))
false("up to i - 1 is not up to i", lambda: (Sum(x[j], (j, 0, i - 1)), Sum(x[j], (j, 0, i))), **row)
false("up to i has i + 1 terms", lambda: (Sum(1, (j, 0, i)), i), **row)
false("from i has n - i terms", lambda: (Sum(1, (j, i, n - 1)), n - i - 1), **row)
false(
    "before i and after i leave out i",
    lambda: (Sum(x[j], (j, 0, i - 1)) + Sum(x[j], (j, i + 1, n - 1)), total(x[j])),
    **row,
)
false("the two halves overlap at i", lambda: (Sum(x[j], (j, 0, i)) + Sum(x[j], (j, i, n - 1)), total(x[j])), **row)
false("a telescope ends at n", lambda: (total((j + 1) ** 2 - j**2), (n - 1) ** 2))
false("a telescope starts at 0", lambda: (Sum((j + 1) ** 2 - j**2, (j, 1, n - 1)), n**2))
false("a triangle of pairs j < k", lambda: (Sum(1, (j, 0, k - 1), (k, 0, n - 1)), n * (n + 1) / 2))
false("the window of three wants three places", lambda: (Sum(1, (j, 0, n - 3)), Sum(1, (j, 0, n - 1)) - 2))
false("shifted windows", lambda: (Sum(x[j + 1], (j, 0, n - 2)), Sum(x[j], (j, 0, n - 2))))
false("the last window starts at n - d", lambda: (Sum(1, (j, 0, n - d)), n - d + 1))
false("an average over the past divides by i + 1", lambda: (Sum(a, (j, 0, i)) / i, a), **row)
false(
    "softmax over the past leaves out the present",
    lambda: (Sum(exp(x[j]), (j, 0, i - 1)) / Sum(exp(x[j]), (j, 0, i)), 1),
    **row,
)
false(
    "reversed, but for the last place",
    lambda: (total(x[n - j - 2] * y[j], last=n - 2), total(x[j] * y[n - j - 1], last=n - 2)),
)
false("ranges of n and of n - 1", lambda: (total(c, last=n - 2), (n - 1) * c + c))
