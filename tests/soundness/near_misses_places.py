"""False because of a place: captured indices, indices out of range, deltas and brackets read one off, permutations."""

from sympy import Function, Ge, Gt, Integer, KroneckerDelta, Le, Lt, Ne, Sum, exp

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.expression import Member, Scaled
from derivations.language.arrays.functions import CausalMask, RowSum, row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.selection import OneHot
from derivations.language.results.derivation import Assumption
from derivations.symbols import d, i, j, k, l, m, n
from tests.soundness.table import A, M, Table, W, let, table, tokens, total, w, x, y

NEAR_MISSES = Table()
false = NEAR_MISSES.enter
row, square = {"ranges": {i: n}}, {"ranges": {i: n, k: n}}
sigma, inverse = Function("sigma", integer=True), Function("sigma_inverse", integer=True)
permuted = {"bijections": [("sigma", "sigma_inverse", n)]}
delta = KroneckerDelta

NEAR_MISSES.group = "captured indices"
false(
    "the i of the sum is not the i outside", lambda: (total(W[i, j] * x[j]), Sum(W[i, i] * x[i], (i, 0, n - 1))), **row
)
false(
    "a factor pulled under a sum of its own index",
    lambda: (x[j] * total(W[i, j]), total(x[j] * W[i, j])),
    ranges={i: n, j: n},
)
false("two nested sums of one index", lambda: (total(x[j] * total(W[j, k], k)), total(x[j] * total(W[j, j]))))
false("the square of a sum shares its index", lambda: (total(W[i, j] * x[j]) ** 2, total((W[i, j] * x[j]) ** 2)), **row)
false("the denominator's j is its own", lambda: (total(exp(x[j]) / total(exp(x[j]))), total(exp(x[j]) / exp(x[j]))))
false(
    "the numerator's index in the denominator",
    lambda: (exp(x[i]) / total(exp(x[j])), exp(x[i]) / total(exp(x[i]))),
    **row,
)
false(
    "a trace where a quadratic form was", lambda: (total(total(x[j] * W[j, k] * x[k], k)), total(x[j] * W[j, j] * x[j]))
)
false(
    "an index of a table that the sum takes",
    lambda: (RowSum(table(W[i, j] * x[j], i, j, size=(n, n))), table(total(W[j, j] * x[j]), i, size=(n,))),
)
false(
    "an outer index in a definition",
    lambda: (y[i], total(x[j] * W[i, j])),
    about=let("y", table(total(x[j] * W[j, l]), l, size=(n,))),
    **row,
)
false(
    "heads summed over the head that is asked for", lambda: (SumOver(Scaled(x[i], w), i, n)[0], n * x[i] * w[0]), **row
)
false(
    "a family whose member forgets its number",
    lambda: (Concatenate(table(x[i] + l, l, size=(d,)), i, n), Concatenate(table(x[0] + l, l, size=(d,)), i, n)),
)
false("a member at another number", lambda: (Member(W, i), Member(W, k)), **square)
false("three indices, two of them one", lambda: (total(total(W[i, j] * W[j, k]), k), total(W[i, j] * W[j, j])), **row)
false("x_i times a delta's other index", lambda: (delta(i, k) * x[i] * y[k], x[k] * y[i]), **square)
false("sum over i of what holds no i", lambda: (Sum(x[k], (i, 0, n - 1)), x[k]), ranges={k: n})

NEAR_MISSES.group = "places out of range"
false("the difference to the next place", lambda: (total(x[j + 1] - x[j]), x[n - 1] - x[0]))
false("x_{-1} before the first", lambda: (Sum(x[j - 1], (j, 0, n - 1)), Sum(x[j], (j, 0, n - 2))))
false("place m of an array of n", lambda: (total(x[j], last=m - 1), total(x[j]) + total(x[j], last=m - 1, first=n)))
false("row m of A", lambda: (total(A[j, 0], last=m - 1), total(A[j, 0])))
false("delta at n", lambda: (total(delta(j, n) * x[j]), x[0]))
false("delta at -1", lambda: (total(delta(j, -1)), 1))
false("i + n lies outside", lambda: (total(delta(j, i + n)), 1), **row)
false(
    "the neighbour on the right is there but once",
    lambda: (total(delta(j, i + 1) * x[j]), x[i] + total(delta(j, i + 1) * x[j]) - x[i] + delta(i, 0)),
    **row,
)
false("a token beyond the table", lambda: (total(OneHot(tokens, m)[0, j], last=m - 1), 1))
false("a token that names no row", lambda: (RowSum(OneHot(tokens, m)), table(Integer(1), i, size=(n,))))
false(
    "the smallest token is 0, not 1",
    lambda: (tokens[i], 1),
    "bound",
    ">=",
    assuming=[Assumption(Ge(tokens[i], 0), {i: n})],
    **row,
)

NEAR_MISSES.group = "deltas and brackets one off"
false("[j < i] for [j <= i]", lambda: (total(Iverson(Lt(j, i)) * x[j]), total(Iverson(Le(j, i)) * x[j])), **row)
false("[j <= i] + [j >= i] counts i twice", lambda: (total(Iverson(Le(j, i)) + Iverson(Ge(j, i))), n), **row)
false("[j < i] + [j > i] leaves out i", lambda: (total(Iverson(Lt(j, i)) + Iverson(Gt(j, i))), n), **row)
false("[j <= i] for [i <= j]", lambda: (total(Iverson(Le(j, i)) * x[j]), total(Iverson(Le(i, j)) * x[j])), **row)
false(
    "[i <= j][j <= k] is no [i <= k]",
    lambda: (Iverson(Le(i, j)) * Iverson(Le(j, k)), Iverson(Le(i, k))),
    ranges={i: n, j: n, k: n},
)
false("the window of width 2 has 3 places", lambda: (total(Iverson(Le(i - 1, j)) * Iverson(Le(j, i))), 2), **row)
false("the band is cut off at the ends", lambda: (total(Iverson(Le(j, i + 1))), i + 2), **row)
false("[i != k] is 1 - delta, not delta", lambda: (Iverson(Ne(i, k)), delta(i, k)), **square)
false(
    "delta_ij delta_jk = delta_ik delta_jk", lambda: (delta(i, j) * delta(j, k), delta(i, k)), ranges={i: n, j: n, k: n}
)
false("sum_j delta_ij delta_kj is delta_ik, not 1", lambda: (total(delta(i, j) * delta(k, j)), 1), **square)
false("delta_{i+1,k+1} is delta_ik, not delta_{i+1,k}", lambda: (delta(i + 1, k + 1), delta(i + 1, k)), **square)
false("delta_{2i,k} is no delta_{i,k}", lambda: (delta(2 * i, k), delta(i, k)), **square)
false("the reversed identity", lambda: (delta(i, n - k), delta(i, n - 1 - k)), **square)
false("(1 - delta)^2 = 1 - 2 delta", lambda: ((1 - delta(i, k)) ** 2, 1 - 2 * delta(i, k)), **square)
false("exp of a bracket is no bracket", lambda: (exp(Iverson(Le(i, k))), Iverson(Le(i, k)) * exp(1)), **square)
false("a causal entry above the diagonal", lambda: (CausalMask(n)[i, k], Iverson(Le(i, k))), **square)
false(
    "a strict causal mask hides the diagonal too",
    lambda: (row_softmax(W, CausalMask(n))[i, i] * total(Iverson(Lt(j, i)) * exp(W[i, j])), exp(W[i, i])),
    **row,
)
false(
    "the masked softmax divides by what is seen",
    lambda: (row_softmax(A, M)[i, k] * total(exp(A[i, j]), last=m - 1), M[i, k] * exp(A[i, k])),
    ranges={i: n, k: m},
)

NEAR_MISSES.group = "permutations"
false("sigma is no inverse of itself", lambda: (sigma(sigma(i)), i), "reindexing", **permuted, **row)
false("x permuted is not x", lambda: (x[sigma(i)], x[i]), "reindexing", **permuted, **row)
false(
    "weights follow the values",
    lambda: (total(x[sigma(j)] * y[sigma(j)]), total(x[sigma(j)] * y[j])),
    "reindexing",
    **permuted,
)
false(
    "a partial sum is not permuted into itself",
    lambda: (Sum(x[sigma(j)], (j, 0, i)), Sum(x[j], (j, 0, i))),
    "reindexing",
    **permuted,
    **row,
)
false(
    "a causal row sees other keys",
    lambda: (total(Iverson(Le(sigma(j), i)) * x[j]), total(Iverson(Le(j, i)) * x[j])),
    "reindexing",
    **permuted,
    **row,
)
false(
    "softmax at sigma(i) of x is not at i",
    lambda: (row_softmax(x)[sigma(i)], row_softmax(x)[i]),
    "reindexing",
    **permuted,
    **row,
)
false(
    "rows permuted, and columns by the inverse",
    lambda: (total(W[sigma(j), inverse(j)]), total(W[j, j])),
    "reindexing",
    **permuted,
)
false("delta with one permuted index", lambda: (delta(sigma(i), k), delta(i, k)), "reindexing", **permuted, **square)
false(
    "the place is permuted, the weight by place is not",
    lambda: (total(j * x[sigma(j)]), total(j * x[j])),
    "reindexing",
    **permuted,
)
false("sum over sigma(j) + 1", lambda: (total(x[sigma(j)] * (sigma(j) + 1)), total(x[j] * j)), "reindexing", **permuted)
