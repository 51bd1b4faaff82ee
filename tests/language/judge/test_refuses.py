"""False statements that look right: the judge must not call one of them proved.

Each entry says why it is false: a value where the two sides differ, or that a side has no value. The sides are built
when the test runs, so that a rule of SymPy or a shape error shows as the failure of its own entry.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from sympy import (
    Abs,
    Basic,
    Derivative,
    Eq,
    Function,
    Ge,
    Gt,
    I,
    Indexed,
    IndexedBase,
    Integer,
    KroneckerDelta,
    Lambda,
    Le,
    Limit,
    Lt,
    Max,
    Min,
    Mul,
    Ne,
    Piecewise,
    Pow,
    Rational,
    Sum,
    Symbol,
    asin,
    atan,
    atan2,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    floor,
    log,
    oo,
    pi,
    sin,
    sinh,
    sqrt,
    tanh,
)

from derivations.attention.attention import scaled_dot_product_attention
from derivations.language.arrays.arrangements import Concatenate, Explicit, Tabulated, column_block
from derivations.language.arrays.expression import Member, Scaled, Variable, array, mask_array, token_array
from derivations.language.arrays.functions import (
    CausalMask,
    Hadamard,
    Interleave,
    RowMean,
    RowSum,
    gelu,
    named,
    relu,
    row_softmax,
    square,
)
from derivations.language.arrays.scalars import Expectation, Iverson, Rounded, Variance
from derivations.language.arrays.shapes import Blocks, ShapeError
from derivations.language.judge import proof
from derivations.language.judge.evaluate import Sample
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equation, Equations
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.language.results.statements import Conformable, Rank
from derivations.normalisation.layer_norm import layer_norm
from derivations.softmax.softmax import softmax
from derivations.symbols import d, d_k, d_v, epsilon, h, i, index, j, k, l, m, n, scalar, size
from tests.tiers import few

p, q, u, v = map(index, "pquv")
a, b, c, t = map(scalar, "abct")
g = scalar("g", positive=True)
z = Symbol("z")  # nothing declared: complex
x, y, w = array("x", n), array("y", n), array("w", m)
A, B, W = array("A", n, m), array("B", m, n), array("W", n, n)
M = mask_array("M", n, m)
f, f_complex = Function("f", real=True), Function("F")
sigma, inverse = Function("sigma", integer=True), Function("sigma_inverse", integer=True)
permutation = [("sigma", "sigma_inverse", n)]


@dataclass(frozen=True)
class False_:
    """One false statement: why it is false, its sides, and how it is put to the judge."""

    group: str
    why: str
    sides: Callable[[], tuple[Any, Any]]
    rule: str = "algebra"
    relation: str = "="
    certificate: Callable[[], tuple[Any, ...]] = tuple
    setting: dict[str, Any] = field(default_factory=dict)

    def level(self) -> str:
        """Return what the judge says of it, or that it cannot even be written down."""
        try:
            left, right = self.sides()
        except ShapeError:
            return "refuted"
        link = step(self.rule, right, self.relation, *self.certificate())
        return str(judge(derivation(self.why, claim(left, link), **self.setting)).level)


TABLE: list[False_] = []


def false(
    why: str, sides: Callable[[], tuple[Any, Any]], rule: str = "algebra", relation: str = "=", **more: Any
) -> None:
    """Enter a false statement under the current group."""
    certificate = more.pop("certificate", tuple)
    TABLE.append(False_(GROUP, why, sides, rule, relation, certificate, more))


def total(of: Basic, over: Symbol = j, last: Basic = n - 1, first: Any = 0) -> Sum:
    """Return the sum of an expression over an index."""
    return Sum(of, (over, first, last))


def let(name: str, value: Any, over: Any = None) -> tuple[Equation, ...]:
    """Return the one equation `name = value`."""
    equations = Equations()
    equations(name, over)(value)
    return tuple(equations)


def table(formula: Basic, *indices: Symbol, size: tuple[Any, ...]) -> Tabulated:
    """Return the array with the given formula for its entries."""
    return Tabulated(Lambda(indices, formula), *size)


# --- bound indices -------------------------------------------------------------------------------------------------
GROUP = "bound indices"
T = table(total(W[i, j] * W[j, k]), i, k, size=(n, n))  # W W, its sum over an index called j
in_row_i = {"ranges": {i: n}}
in_square = {"ranges": {i: n, j: n}}
false("equal numbers have no larger one", lambda: (Iverson(Gt(a, b)) + Iverson(Gt(b, a)), 1))
false("a differs from c, not from b", lambda: (Iverson(Gt(a, b)) + Iverson(Gt(b, a)), 1), assuming=[Ne(a, c)])
false("the slope of min, not max", lambda: (D(Max(a, b), a), Iverson(Lt(a, b))), "derivative", assuming=[Ne(a, b)])
false("[[i <= j] > -1] is 1", lambda: (Iverson(Gt(Iverson(Le(i, j)), -1)), Iverson(Le(i, j))), ranges={i: n, j: n})
false("[[i <= j] > 1] is 0", lambda: (Iverson(Gt(Iverson(Le(i, j)), 1)), Iverson(Le(i, j))), ranges={i: n, j: n})
false(
    "[a [i <= j] > 0] asks a", lambda: (Iverson(Gt(a * Iverson(Le(i, j)), 0)), Iverson(Le(i, j))), ranges={i: n, j: n}
)
false("the j of the place is not the j of the sum", lambda: (T[i, j], total(W[i, j] * W[j, j])), ranges={i: n, j: n})
false(
    "(W W) x takes row l of W, not its diagonal",
    lambda: ((T @ x)[i], total(x[k] * total(W[i, p] * W[p, p], p), k)),
    **in_row_i,
)
q_2 = index("place_2")
false(
    "an index called as the judge calls its own is not captured",
    lambda: (
        table(total(W[i, q_2] * W[q_2, k], q_2), i, k, size=(n, n)),
        table(total(W[i, p] * W[p, p], p), i, k, size=(n, n)),
    ),
)
false(
    "place_1 is a number of the user's, the same for all entries",
    lambda: (y, table(l, l, size=(n,))),
    about=let("y", table(index("place_1"), l, size=(n,))),
)
false(
    "a function that sums over j keeps its argument's own j",
    lambda: (named("f", total(a * x[j]), a)(y)[j], total(y[j] * x[j])),
    ranges={j: n},
)
false(
    "the k of the definition is free, that of the sum is bound",
    lambda: (total(y[0], k, 2), 3),
    about=let("y", table(k + 0 * l, l, size=(n,))),
)
false(
    "member j of a family keeps the sum over its own j",
    lambda: (Indexed(IndexedBase("F"), j, k), total(W[j, j]) * A[j, k]),
    about=let("F", Scaled(total(W[i, j]), Member(A, i)), (i, n)),
    ranges={j: n, k: m},
)
false(
    "blocks over i with a number i put in from outside",
    lambda: (
        Concatenate(table(i + 10 * k, l, size=(d,)), i, h).xreplace({k: i}).entry((u, v)),
        11 * u,
    ),
    ranges={u: h, v: d},
)
false("two sums over j multiply, they do not share j", lambda: (total(x[j]) * total(y[j]), total(x[j] * y[j])))
false("the inner j hides the outer j", lambda: (total(total(x[j]) * y[j]), total(x[j] * y[j])))
false("the inner sum over j counts n times", lambda: (Sum(Sum(x[j], (j, 0, n - 1)), (j, 0, n - 1)), total(x[j])))
false("j outside is free", lambda: (x[j] * total(y[j]), total(x[j] * y[j])), ranges={j: n})
false("rows and columns", lambda: (total(W[i, j]), total(W[j, i])), **in_row_i)
false("sum over k of a matrix at (j, k)", lambda: (total(total(A[j, k], k, m - 1)), total(total(A[k, j], k, m - 1))))
false("W_ij W_ji is no square", lambda: (total(total(W[i, j] * W[j, i]), i), total(total(W[i, j] ** 2), i)))
false("trace of a product is no product of traces", lambda: (total((W @ W)[i, i], i), total(W[i, i], i) ** 2))

# --- ranges --------------------------------------------------------------------------------------------------------
GROUP = "ranges"
false("the empty sum is 0, not -a", lambda: (Sum(a, (i, 3, 1)), -a))
false("the inner range follows the outer index: 2, not 0", lambda: (Sum(j - 1, (p, 0, j), (j, 0, 2)), 0))
false("the same, nested", lambda: (Sum(Sum(j - 1, (p, 0, j)), (j, 0, 2)), 0))
false(
    "y_0 + ... + y_u, not y_0 + ... + y_v",
    lambda: (Sum(y[p] * (KroneckerDelta(j, u) - KroneckerDelta(j, v)), (p, 0, j), (j, 0, n - 1)), 0),
    ranges={u: n, v: n},
)
false(
    "a permutation of j moves the end of the inner sum",
    lambda: (Sum(x[sigma(j)] * y[p], (p, 0, j), (j, 0, n - 1)), Sum(x[j] * y[p], (p, 0, j), (j, 0, n - 1))),
    bijections=permutation,
)
false("triangle, not square", lambda: (Sum(1, (p, 0, j), (j, 0, n - 1)), n**2))
false(
    "the triangle with the diagonal, not without",
    lambda: (Sum(x[p], (p, 0, j), (j, 0, n - 1)), Sum(x[p], (p, 0, j - 1), (j, 0, n - 1))),
)
false("n - 2 terms only where n >= 2", lambda: (Sum(1, (j, 0, n - 3)), n - 2))
false("one term too many", lambda: (total(Integer(1), last=n), n))
false("n / 2 is no last index when n is odd", lambda: (Sum(1, (j, 0, n / 2)), n / 2 + 1))
false("a real number is no last index", lambda: (Sum(1, (j, 0, g)), g + 1))
false("the last term is missing", lambda: (total(x[j]), total(x[j], last=n - 2)))
false("the first term is missing", lambda: (total(x[j]), total(x[j], first=1)))
false("n and m are two sizes", lambda: (total(f(j)), total(f(j), last=m - 1)))
r = size("r")
false(
    "a bound index that is called positive, -n to -1: 0 / 0 at n = 1",
    lambda: ((2 * total(r, r, Integer(-1), -n) + 2) / (total(r, r, Integer(-1), -n) + 1), 2),
)
false("shifted by one", lambda: (total(f(j), last=n, first=1), total(f(j))))
false(
    "mean of means of unequal counts",
    lambda: ((total(x[j]) / n + total(w[j], last=m - 1) / m) / 2, (total(x[j]) + total(w[j], last=m - 1)) / (n + m)),
)

# --- places outside of arrays --------------------------------------------------------------------------------------
GROUP = "places"
ones = let("y", table(Integer(1), l, size=(n,)))
false("there is no x_n", lambda: (total(x[j + 1]), total(x[j]) - x[0] + x[n]))
false("there is no y_{j+1} at the last j", lambda: (total(y[j + 1]), n), about=ones)
false("a defined array has no entry n either", lambda: (total(y[j], last=n), n + 1), about=ones)
false("y_n of an array of n ones", lambda: (Indexed(y.base, n) + a, 1 + a), about=ones)
false("the permutation moves 0, ..., n - 1 only", lambda: (inverse(sigma(n + 5)), n + 5), bijections=permutation)
false("x at sigma(n)", lambda: (x[sigma(n)] + a - a, 1 * x[sigma(n)]), bijections=permutation)
false("i < n does not make A_ii an entry", lambda: (A[i, i] + x[i], x[i] + A[i, i]), **in_row_i)

# --- domains of functions ------------------------------------------------------------------------------------------
GROUP = "domains"
false("sqrt(a) sqrt(b) = -sqrt(a b) at a = b = -1", lambda: (sqrt(a) * sqrt(b), sqrt(a * b)))
false("log(a b) at a = b = -1", lambda: (log(a * b), log(a) + log(b)))
false("log(a^2) at a = -1", lambda: (log(a**2), 2 * log(a)))
false("(a^b)^c at a = -1, b = 2, c = 1/2", lambda: ((a**b) ** c, a ** (b * c)))
false("(a^2)^(1/2) at a = -1", lambda: (Pow(a**2, Rational(1, 2), evaluate=False), a))
false("(a^3)^(1/3) at a = -1 is no real root", lambda: (Pow(a**3, Rational(1, 3), evaluate=False), a))
false("sqrt of a sum is no sum of sqrt", lambda: (sqrt(g + a**2), sqrt(g) + sqrt(a**2)))
false("sqrt((a - b)^2) at a < b", lambda: (Pow((a - b) ** 2, Rational(1, 2), evaluate=False), a - b))
false("log of a sum", lambda: (log(g + 1), log(g)))
false("exp of a sum is no sum", lambda: (exp(a + b), exp(a) + exp(b)))
false("exp(a b) is no power of exp(a + b)", lambda: (exp(a * b), exp(a) * exp(b)))
false("|z|^2 at z = i", lambda: (Abs(z) ** 2, z**2))
false("|a + i|^2 = a^2 + 1", lambda: (Abs(a + I, evaluate=False) ** 2, (a + I) ** 2))
false("z^2 + 1 = 0 at z = i", lambda: ((2 * z**2 + 2) / (z**2 + 1), 2))
false("1 + exp(i a) = 0 at a = pi", lambda: ((2 + 2 * exp(I * a)) / (1 + exp(I * a)), 2))
false("F^2 + 1 = 0 where F = i", lambda: ((2 * f_complex(a) ** 2 + 2) / (f_complex(a) ** 2 + 1), 2))
Z = IndexedBase("Z")
false("entries of a complex array", lambda: ((2 * Z[0] ** 2 + 2) / (Z[0] ** 2 + 1), 2))
false("log(exp(z)) at z = 2 pi i", lambda: (log(exp(z)), z))
false("sqrt(exp(2 i a)) at a = pi", lambda: (sqrt(exp(2 * I * a)), exp(I * a)))
P, Q = Symbol("P", commutative=False), Symbol("Q", commutative=False)
false("matrices do not commute", lambda: (P * Q, Q * P))
false("sin(2 a)", lambda: (sin(2 * a), 2 * sin(a)))
false("cos(a - b) has a plus", lambda: (cos(a - b), cos(a) * cos(b) - sin(a) * sin(b)))
false("sin^2 - cos^2", lambda: (sin(a) ** 2 - cos(a) ** 2, 1))
false("sin(pi/4)^2 is 1/2", lambda: (sin(pi / 4) ** 2, Rational(1, 4)))
false("tanh is odd", lambda: (tanh(-a), tanh(a)))
false("tanh(a) = 2 s(2a) - 1, not s(2a)", lambda: ((exp(a) - exp(-a)) / (exp(a) + exp(-a)), 1 / (1 + exp(-2 * a))))
false("cosh^2 + sinh^2 is cosh(2 a)", lambda: (cosh(a) ** 2 + sinh(a) ** 2, 1), "exponent")
false("sinh is odd", lambda: (sinh(-a), sinh(a)))
false("cosh' has no sign", lambda: (D(cosh(a), a), -sinh(a)), "derivative")
false("sinh is not below cosh by 1", lambda: (cosh(a) - sinh(a), 1))
false("erf is odd", lambda: (erf(-a) + erf(a), 2 * erf(a)))
false("erfc is not odd", lambda: (erfc(-a), -erfc(a)))
false("erfc' has a minus", lambda: (D(erfc(a), a), 2 * exp(-(a**2)) / sqrt(pi)), "derivative")
false("exponents add", lambda: (g**a * g**b, g ** (a * b)))

# --- division by what may vanish -----------------------------------------------------------------------------------
GROUP = "division"
false("a/a at a = 0", lambda: (Mul(a, Pow(a, -1), evaluate=False), 1))
false("0/a at a = 0", lambda: (Mul(0, Pow(a, -1), evaluate=False), 0))
false("(a^2 - b^2)/(a - b) at a = b", lambda: ((a**2 - b**2) / (a - b), a + b))
false("entry by entry x/x at x_j = 0", lambda: (named("ratio", a / b, a, b)(x, x), named("one", 1 + 0 * a, a)(x)))
false("(c x)/c at c = 0", lambda: ((x * c) / c, x))
false("a sum of x may vanish", lambda: (total(2 * x[j]) / total(x[j]), 2))
false("a row with no visible key adds up to 0", lambda: (RowSum(row_softmax(A, M))[i], 1), **in_row_i)
false("the same with a vector of masks", lambda: (total(row_softmax(x, mask_array("V", n))[j]), 1))
false(
    "an assumption on another row",
    lambda: (RowSum(row_softmax(A, M))[i], 1),
    ranges={i: n},
    assuming=[Assumption(Gt(total(M[0, j], last=m - 1), 0))],
)
false(
    "a range that may be empty, n = 1: 0 / 0",
    lambda: (
        total(2 * Iverson(Le(j, i)) * exp(x[j]), last=n - 2) / total(Iverson(Le(j, i)) * exp(x[j]), last=n - 2),
        2,
    ),
    **in_row_i,
)
false(
    "the keys before the first: 0 / 0 at i = 0",
    lambda: (
        2 * total(exp(x[j]) * Iverson(Le(j, i)), last=i - 1) / total(2 * exp(x[j]) * Iverson(Le(j, i)), last=i - 1),
        1,
    ),
    **in_row_i,
)
false("a denominator within a denominator, at a = 0", lambda: (1 / (b**2 + 1 / a), a / (a * b**2 + 1)))

# --- Kronecker deltas ----------------------------------------------------------------------------------------------
GROUP = "deltas"
mixed = {"ranges": {i: h, j: h, k: d, l: d}}
false(
    "i d + k = j d + l with k up to 2 d - 1 does not force i = j",
    lambda: (KroneckerDelta(i * d + k, j * d + l), KroneckerDelta(i, j) * KroneckerDelta(k, l)),
    ranges={i: h, j: h, k: 2 * d, l: d},
)
false(
    "without ranges nothing is known of the digits",
    lambda: (KroneckerDelta(i * d + k, j * d + l), KroneckerDelta(i, j) * KroneckerDelta(k, l)),
)
false(
    "the other radix",
    lambda: (KroneckerDelta(i * h + k, j * h + l), KroneckerDelta(i, j) * KroneckerDelta(k, l)),
    **mixed,
)
false(
    "digits swapped",
    lambda: (KroneckerDelta(i * d + k, j * d + l), KroneckerDelta(i, k) * KroneckerDelta(j, l)),
    **mixed,
)
false(
    "n a + i = 0 at a = -1/2, n = 2, i = 1: a is no integer",
    lambda: (KroneckerDelta(n * a + i, 0), KroneckerDelta(a, 0) * KroneckerDelta(i, 0)),
    **in_row_i,
)
false(
    "an entry is no integer",
    lambda: (KroneckerDelta(n * x[i] + j, 0), KroneckerDelta(x[i], 0) * KroneckerDelta(j, 0)),
    **in_square,
)
false("SymPy's delta with a range is 0 outside of it", lambda: (KroneckerDelta(i, j, (1, 3)), KroneckerDelta(i, j)))
false("k < 2 n may lie outside", lambda: (total(KroneckerDelta(j, k) * f(j)), f(k)), ranges={k: 2 * n})
false("k has no range", lambda: (total(KroneckerDelta(j, k) * f(j)), f(k)))
false("j = i + 1 is outside at the last i", lambda: (total(KroneckerDelta(j, i + 1)), 1), **in_row_i)
false("2 j = i only for even i", lambda: (total(KroneckerDelta(2 * j, i)), 1), **in_row_i)
false("delta_ij x_j is x_i delta_ij, not x_i", lambda: (KroneckerDelta(i, j) * x[j], x[i]), **in_square)
false("delta squared is delta, not 1", lambda: (KroneckerDelta(i, j) ** 2, 1), **in_square)
false("1 - delta", lambda: (total(1 - KroneckerDelta(i, j)), n), **in_row_i)
false("the trace of the identity is n", lambda: (total(KroneckerDelta(j, j)), 1))
false("all other places", lambda: (total((1 - KroneckerDelta(i, j)) * x[j]), total(x[j])), **in_row_i)
false("exp of a delta", lambda: (exp(KroneckerDelta(i, j)), KroneckerDelta(i, j) * exp(1)), **in_square)

# --- brackets and ties ---------------------------------------------------------------------------------------------
GROUP = "brackets and ties"
false("b [a > 0] and b [a >= 0] differ at a = 0", lambda: (b * Iverson(Gt(a, 0)), b * Iverson(Ge(a, 0))))
false("a [a >= 1] is 1 at a = 1", lambda: (b * a * Iverson(Ge(a, 1)), b * Max(0, a - 1) + b * Iverson(Gt(a, 1))))
false("[a > 0] and [a >= 0] differ at 0", lambda: (Iverson(Gt(a, 0)), Iverson(Ge(a, 0))))
false("a tie is neither above nor below", lambda: (Iverson(Gt(a, b)) + Iverson(Lt(a, b)), 1))
false("the same by cases", lambda: (Piecewise((1, a > 0), (0, True)), Piecewise((1, a >= 0), (0, True))))
false("integers: i <= j and j <= i overlap", lambda: (Iverson(Le(i, j)) + Iverson(Le(j, i)), 1), **in_square)
false("for real numbers a < 1 is not a <= 0", lambda: (Iverson(Lt(a, 1)), Iverson(Le(a, 0))))
false("i < j + 2 is not i <= j", lambda: (Iverson(Lt(i, j + 2)), Iverson(Le(i, j))), **in_square)
false("y is not [y != 0]", lambda: (Iverson(Ne(y[i], 0)), y[i]), about=let("y", row_softmax(x)), **in_row_i)
false("[x != 0] x is x, [x != 0] is not", lambda: (Iverson(Ne(x[i], 0)), 1), **in_row_i)
false("two masks", lambda: (M[i, j] * M[i, k], M[i, j]), ranges={i: n, j: m, k: m})
false("max of sums", lambda: (Max(a + b, c), Max(a, c) + Max(b, c)))
false("max and min swapped", lambda: (Max(a, b) - Min(a, b), a - b))
false("max(a, b) + min(a, b)", lambda: (Max(a, b) + Min(a, b), 2 * a))
false("relu is not linear", lambda: (Max(0, a + b), Max(0, a) + Max(0, b)))
false("relu(-2 a) scales by 2, not -2", lambda: (Max(0, -2 * a), -2 * Max(0, a)))
false("|a b| = a |b| for a >= 0 only", lambda: (Abs(a * b), a * Abs(b)))
false("|a + b|", lambda: (Abs(a + b), Abs(a) + Abs(b)))
false("a causal row sees i + 1 keys", lambda: (total(CausalMask(n)[i, j]), i), **in_row_i)
false("the causal mask is no symmetric one", lambda: (CausalMask(n)[i, j], CausalMask(n)[j, i]), **in_square)

# --- permutations --------------------------------------------------------------------------------------------------
GROUP = "permutations"
false(
    "sigma moves n places, not m",
    lambda: (total(f(sigma(j)), last=m - 1), total(f(j), last=m - 1)),
    bijections=permutation,
    assuming=[Assumption(Ge(n, 1, evaluate=False))],
)
false(
    "the places from 1 on are not mapped to themselves",
    lambda: (total(f(sigma(j)), first=1), total(f(j), first=1)),
    bijections=permutation,
)
false(
    "sigma(j) = k has no solution for k >= n",
    lambda: (total(KroneckerDelta(sigma(j), k)), 1),
    bijections=permutation,
    ranges={k: 2 * n},
)
false(
    "the inverse, not sigma",
    lambda: (total(KroneckerDelta(sigma(j), k) * f(j)), f(sigma(k))),
    bijections=permutation,
    ranges={k: n},
)
false("nothing says that F permutes", lambda: (total(x[0] * f(sigma(j))), total(x[0] * f(j))))
false("j as well as sigma(j)", lambda: (total(x[j] * y[sigma(j)]), total(x[j] * y[j])), bijections=permutation)
false(
    "both permuted by sigma, then by its inverse",
    lambda: (total(x[sigma(j)] * y[inverse(j)]), total(x[j] * y[j])),
    bijections=permutation,
)
false(
    "rows permuted, columns not",
    lambda: (total(total(W[sigma(i), j] * W[i, j]), i), total(total(W[i, j] ** 2), i)),
    bijections=permutation,
)

# --- expectation ---------------------------------------------------------------------------------------------------
GROUP = "expectation"
E, linearity = Expectation, "linearity of expectation"
two = {"assuming": [Assumption(Ge(n, 2))]}
false("E of a square", lambda: (E(x[0] ** 2), E(x[0]) ** 2), linearity)
false("E of a product wants independence", lambda: (E(x[0] * x[1]), E(x[0]) * E(x[1])), linearity, **two)
false("E of exp", lambda: (E(exp(x[0])), exp(E(x[0]))), linearity)
false("E of relu", lambda: (E(Max(0, x[0])), Max(0, E(x[0]))), linearity)
false("E of a quotient", lambda: (E(x[0] / (1 + x[1] ** 2)), E(x[0]) / (1 + E(x[1] ** 2))), linearity, **two)
false(
    "a random bracket stays inside",
    lambda: (E(Iverson(Gt(x[0], 0)) * x[1]), Iverson(Gt(x[0], 0)) * E(x[1])),
    linearity,
    **two,
)
false(
    "a random bracket is no constant 1 inside",
    lambda: (Iverson(Gt(x[0], 0)) * E(Iverson(Gt(x[0], 0)) * x[1]), Iverson(Gt(x[0], 0)) * E(x[1])),
    linearity,
    **two,
)
false(
    "Var of a sum has a covariance", lambda: (Variance(x[0] + x[1]), Variance(x[0]) + Variance(x[1])), "variance", **two
)
false("Var(c x) = c^2 Var(x)", lambda: (Variance(c * x[0]), c * Variance(x[0])), "variance")
false("E of a constant is the constant", lambda: (E(c), 0), linearity)
false("entries of one array may differ in distribution", lambda: (E(x[0]), E(x[1])), linearity, **two)
s = Variable("s", ()).entry()
false("a random scalar that has a definition", lambda: (E(s), s), linearity, about=let("s", x @ x))
false(
    "moments are used as assumed",
    lambda: (total(E(x[j] ** 2)), n * c),
    "moments",
    assuming=[Assumption(Eq(E(x[j]), c), {j: n})],
)
false(
    "an assumption under a rule that uses none",
    lambda: (E(x[i]), 0),
    linearity,
    ranges={i: n},
    assuming=[Assumption(Eq(E(x[j]), 0), {j: n})],
)
false(
    "the moment of a row beyond the assumed ones",
    lambda: (E(x[i]), 0),
    "moments",
    ranges={i: n},
    assuming=[Assumption(Eq(E(x[j]), 0), {j: n - 1})],
)

# --- derivatives ---------------------------------------------------------------------------------------------------
GROUP = "derivatives"
D, by = Derivative, "derivative"
double, squared = let("y", 2 * x), let("y", square(x))
false("dx_i/dx_j is no 1", lambda: (D(x[i], x[j]), 1), by, **in_square)
false("dx_i/dx_j is no 0", lambda: (D(x[i], x[j]), 0), by, **in_square)
false("dy_i/dy_i = 1, whatever defines y", lambda: (D(y[i], y[i]), 2), by, about=double, **in_row_i)
false("d(y_i^2)/dy_i = 2 y_i", lambda: (D(y[i] ** 2, y[i]), 4 * x[i] ** 3), by, about=squared, **in_row_i)
false("s = x . x depends on x", lambda: (D(s, x[i]), 0), by, about=let("s", x @ x), **in_row_i)
false("the product rule, s = x . x", lambda: (D(s * x[i], x[i]), s), by, about=let("s", x @ x), **in_row_i)
false("y depends on t by its definition", lambda: (D(y[i], t), 0), by, about=let("y", t * x), **in_row_i)
false("a sum has no derivative by its length", lambda: (D(total(x[j]), n), 0), by)
false("0 + 1 + ... + (n - 1) has none either", lambda: (D(total(j), n), 0), by)
X, R = IndexedBase("X"), IndexedBase("R")
false("a place is no argument", lambda: (D(X[R[i]], R[i]), KroneckerDelta(R[i], i)), by)
false("nor is it in the same array", lambda: (D(X[X[i]], X[i]), KroneckerDelta(X[i], i)), by)
false("relu has no derivative at 0", lambda: (D(Max(0, -a), a), Iverson(Gt(a, 0)) - 1), by)
false("|a| has no derivative at 0", lambda: (D(Abs(a), a), 2 * Iverson(Gt(a, 0)) - 1), by)
false("max(a, b) has none at a tie", lambda: (D(Max(a, b), b), 1 - Iverson(Gt(a, b))), by)
false("|z| has none anywhere", lambda: (D(Abs(z), z), 2 * Iverson(Gt(z, 0)) - 1), by)
false("the inner derivative is missing", lambda: (D(exp(2 * a), a), exp(2 * a)), by)
false("second, not first", lambda: (D(a**3, a, 2), 3 * a**2), by)
false("the quotient rule has a minus", lambda: (D(a / (1 + a**2), a), (1 + 3 * a**2) / (1 + a**2) ** 2), by)
false(
    "softmax: minus y_k",
    lambda: (D(y[i], x[k]), y[i] * (KroneckerDelta(i, k) + y[k])),
    by,
    about=softmax(),
    ranges={i: n, k: n},
)
false(
    "softmax: y_i, not y_k, stands before",
    lambda: (D(y[i], x[k]), y[k] * (KroneckerDelta(i, k) - y[k])),
    by,
    about=softmax(),
    ranges={i: n, k: n},
)
false(
    "softmax without its second term",
    lambda: (D(y[i], x[k]), KroneckerDelta(i, k) * y[i]),
    by,
    about=softmax(),
    ranges={i: n, k: n},
)
false(
    "GELU': the density is times x",
    lambda: (D(gelu.formula(a), a), (1 + erf(a / sqrt(2))) / 2 + exp(-(a**2) / 2) / sqrt(2 * pi)),
    by,
)
false("sigmoid' = s (1 - s)", lambda: (D(1 / (1 + exp(-a)), a), 1 / (1 + exp(-a)) ** 2), by)
false("tanh' = 1 - tanh^2", lambda: (D(tanh(a), a), 1 + tanh(a) ** 2), by)
false("d(x . x)/dx_i = 2 x_i", lambda: (D(total(x[j] ** 2), x[i]), 2 * total(x[j])), by, **in_row_i)
false(
    "d(x W x)/dx has two terms",
    lambda: (D(total(total(x[j] * W[j, k] * x[k]), k), x[i]), 2 * total(W[i, j] * x[j])),
    by,
    **in_row_i,
)
norm_row = {"about": layer_norm(), "ranges": {i: n, k: d, l: d}}
Xn, Xh, s2 = array("X", n, d), array("X_hat", n, d), array("sigma2", n)
false(
    "LayerNorm without the term of x^",
    lambda: (D(Xh[i, k], Xn[i, l]), (KroneckerDelta(k, l) - 1 / d) / sqrt(s2[i] + epsilon)),
    by,
    **norm_row,
)
false(
    "LayerNorm without the mean's term",
    lambda: (D(Xh[i, k], Xn[i, l]), (KroneckerDelta(k, l) - Xh[i, k] * Xh[i, l] / d) / sqrt(s2[i] + epsilon)),
    by,
    **norm_row,
)
false(
    "the variance divides by d",
    lambda: (D(s2[i], Xn[i, l]), 2 * (Xn[i, l] - total(Xn[i, j], last=d - 1) / d) / (d - 1)),
    by,
    about=layer_norm(),
    ranges={i: n, l: d},
    assuming=[Assumption(Ge(d, 2))],
)

# --- assumptions ---------------------------------------------------------------------------------------------------
GROUP = "assumptions"
false(
    "assumed below n, used below 2 n",
    lambda: (f(k), 0),
    "bound",
    ">=",
    ranges={k: 2 * n},
    assuming=[Assumption(Ge(f(i), 0), {i: n})],
)
false(
    "k < m need not be below n",
    lambda: (f(k, k), 0),
    "bound",
    ">=",
    ranges={j: n, k: m},
    assuming=[Assumption(Ge(f(i, j), 0), {i: n, j: m})],
)
false(
    "an equation for the first entries",
    lambda: (x[i], 0),
    "assumption",
    ranges={i: n},
    assuming=[Assumption(Eq(x[j], 0), {j: n - 1})],
)
false(
    "W_{i,i+1} is no W_{j,i+1}",
    lambda: (W[j, i + 1], j * c),
    "assumption",
    ranges={i: n - 1, j: n - 1},
    assuming=[Assumption(Eq(W[i, i + 1], i * c), {i: n - 1})],
)
false(
    "an equation without a range is about one place",
    lambda: (x[j], 0),
    "assumption",
    ranges={j: n},
    assuming=[Assumption(Eq(x[i], 0))],
)
false(
    "an assumption is not used under another rule",
    lambda: (x[i], 0),
    ranges={i: n},
    assuming=[Assumption(Eq(x[j], 0), {j: n})],
)
false("n >= 2 is not m >= 2", lambda: (Sum(1, (j, 0, m - 3)), m - 2), assuming=[Assumption(Ge(n, 2))])
false("nonzero is not positive", lambda: (log(a**2), 2 * log(a)), assuming=[Assumption(Ne(a, 0))])
false("b is not the a that is assumed positive", lambda: (log(b**2), 2 * log(b)), assuming=[Assumption(Gt(a, 0))])
false(
    "the sum is positive, its terms need not be",
    lambda: (x[i], 0),
    "bound",
    ">",
    ranges={i: n},
    assuming=[Assumption(Gt(total(x[j]), 0))],
)
false("a real i and an integer i", lambda: (Iverson(Lt(Symbol("i", real=True), 1)), Iverson(Le(i, 0))))
false("d need not be even", lambda: (Sum(1, (i, 0, d / 2 - 1)), d / 2))

# --- bounds --------------------------------------------------------------------------------------------------------
GROUP = "bounds"
false("log(-1)^2 = -pi^2", lambda: (log(a) ** 2, 0), "bound", ">=")
false("arcsin is not real above 1", lambda: (asin(a) ** 2, 0), "bound", ">=")
false("exp(sqrt(a)) is not real below 0", lambda: (exp(sqrt(a)), 0), "bound", ">")
false("z^2 = -1 at z = i", lambda: (z**2, 0), "bound", ">=")
false("F^2 = -1 where F = i", lambda: (f_complex(a) ** 2, 0), "bound", ">=")
false("1/q has no value at q = 0", lambda: (1 / Symbol("q", nonnegative=True), 0), "bound", ">=")
false("there is no x_n", lambda: (x[n] ** 2, 0), "bound", ">=")
false("all these ranges are empty", lambda: (Sum(exp(c), (j, 0, i), (i, -3, -1)), 0), "bound", ">", **in_row_i)
false(
    "an entry is no part of 1 - delta",
    lambda: (total(1 - KroneckerDelta(j, i) + x[j]), 0),
    "bound",
    ">",
    ranges={i: n},
    assuming=[Assumption(Ge(n, 2))],
)
false("0 at n = 1", lambda: (total((1 - KroneckerDelta(i, j)) * exp(x[j])), 0), "bound", ">", **in_row_i)
false("the empty range at i = 0", lambda: (total(Iverson(Le(j, i)), last=i - 1), 0), "bound", ">", **in_row_i)
false("a square may be 0", lambda: (a**2, 0), "bound", ">")
false("a product of two negatives is assumed nowhere", lambda: (a * b, 0), "bound", ">=")
false("a cube", lambda: (a**3, 0), "bound", ">=")
false("a difference of squares", lambda: (a**2 - b**2, 0), "bound", ">=")
false(
    "softmax is below 1 for n >= 2 only",
    lambda: (y[i], 1),
    "bound",
    "<",
    about=softmax(),
    certificate=lambda: (total((1 - KroneckerDelta(i, j)) * y[j]),),
    ranges={i: n},
)
false("the certificate is another number", lambda: (a, 0), "bound", ">=", certificate=lambda: (b**2,))
false("the certificate has the wrong sign", lambda: (-(a**2), 0), "bound", ">=", certificate=lambda: (a**2,))
false("exp is not below 1", lambda: (exp(a), 1), "bound", "<=")
false("an index starts at 0", lambda: (i, 0), "bound", ">", **in_row_i)
false("a mask may hide everything", lambda: (total(M[i, j], last=m - 1), 0), "bound", ">", **in_row_i)
false("a masked weight may be 0", lambda: (row_softmax(A, M)[i, j], 0), "bound", ">", ranges={i: n, j: m})
false("-1 is even as a power of -1 only", lambda: (Mul(-1, a**2, evaluate=False), 0), "bound", ">=")
false("the index called positive takes the value 0", lambda: (r, 0), "bound", ">", ranges={r: n})

# --- limits --------------------------------------------------------------------------------------------------------
GROUP = "limits"
false(
    "a limit does not contain its variable", lambda: (Limit(g, g, oo), g), "squeeze", certificate=lambda: (g, g, 0, 0)
)
false(
    "nor behind a name",
    lambda: (Limit(g, g, oo), y[0]),
    "squeeze",
    certificate=lambda: (g, g, 0, 0),
    about=let("y", table(g, l, size=(n,))),
)
below_1 = exp(b) * (exp(-b) - g * exp(-b))  # 1 - g
above_0 = exp(b) * (exp(-g - b) - exp(-b) + g * exp(-b))  # exp(-g) - (1 - g)
false(
    "what is assumed of g holds for no g that grows",
    lambda: (Limit(1 - g, g, oo), 0),
    "squeeze",
    certificate=lambda: (0, exp(-g), below_1, above_0),
    assuming=[Assumption(Ge(below_1, 0)), Assumption(Ge(above_0, 0))],
)
false("exp(g) grows", lambda: (Limit(exp(g), g, oo), 0), "squeeze", certificate=lambda: (0, exp(g), exp(g), 0))
false(
    "g exp(-g) is no c exp(-g)",
    lambda: (Limit(g * exp(g), g, oo), 0),
    "squeeze",
    certificate=lambda: (0, g * exp(-g), g * exp(g), g * exp(-g) - g * exp(g)),
)
false(
    "the limit is 1",
    lambda: (Limit(1 - exp(-g), g, oo), 0),
    "squeeze",
    certificate=lambda: (0, 1 - exp(-g), 1 - exp(-g), 0),
)
false(
    "the upper bound lies below",
    lambda: (Limit(exp(-g) + 1, g, oo), 0),
    "squeeze",
    certificate=lambda: (0, exp(-g), exp(-g) + 1, -1),
)

# --- rounding ------------------------------------------------------------------------------------------------------
GROUP = "rounding"
false("floor(3/2) = 1", lambda: (floor(a), a))
false("floor(2 * 3/4) = 1 and 2 floor(3/4) = 0", lambda: (floor(2 * a), 2 * floor(a)))
false("floor(-1/2) = -1", lambda: (floor(-a, evaluate=False), -floor(a)))
false("floor is not even", lambda: (floor(-a, evaluate=False), floor(a)))
false("floor(1/2) = 0 and floor(1) = 1", lambda: (floor(a), floor(b)))
false("floor is not the function that a user calls floor", lambda: (floor(a), Function("floor", real=True)(a)))
false("floor has no derivative at whole numbers", lambda: (Derivative(floor(a), a), 0))
false("floor(-1) = -1", lambda: (floor(a), 0), "bound", ">=")
false("1/0 has no whole part", lambda: (floor(1 / a), floor(1 / a)))
false("angles of (1, -1) and of (-1, 1)", lambda: (atan2(a, b), atan2(-a, -b)))
false("the angle of (-1, 0) is pi", lambda: (atan2(b, a), atan(b / a)))
false("the angles of (1, 2) and (2, 1)", lambda: (atan2(a, b), atan2(b, a)))
false("arctan of a complex number has poles", lambda: (atan(z), atan(z + 0 * a)))
chosen = Sample({}).entry("x", (0,))  # what a search for counterexamples takes for x_0
false("x_0 may be any number", lambda: (Rounded(array("x", 2)[0], Integer(0)), round(chosen)), "rounding")
false("f(1) may be any number", lambda: (Rounded(f(1), Integer(0)), 1), "rounding")
false("e^2 is 7.389", lambda: (Rounded(exp(Integer(2)), Integer(2)), Rational(738, 100)), "rounding")
false("half a unit is not below half a unit", lambda: (Rounded(Rational(1, 2), Integer(0)), 1), "rounding")
false("three decimals are not two", lambda: (Rounded(exp(Integer(2)), Integer(2)), Rational(7389, 1000)), "rounding")
false("a rounded number is not the number", lambda: (Rational(739, 100), exp(Integer(2))))
false("a bracket of a mask", lambda: (Rounded(mask_array("V", 2)[0], Integer(0)), 1), "rounding")
false("the other value of the bracket", lambda: (Rounded(mask_array("V", 2)[0], Integer(0)), 0), "rounding")

# --- rank and shapes -----------------------------------------------------------------------------------------------
GROUP = "rank and shapes"
false("one less than the inner size", lambda: (Rank(A @ B), m - 1), "rank of a product", "<=")
false("an equality", lambda: (Rank(A @ B), m), "rank of a product")
false("strictly", lambda: (Rank(A @ B), m), "rank of a product", "<")
false("rank(A B + C) has no inner size", lambda: (Rank(A @ B + W), m), "rank of a product", "<=")
false("n m = m^2 is not n = m", lambda: (Conformable(A, A), Eq(n * m + d, m * m + n)), "shape", "iff")
false("the outer sizes", lambda: (Conformable(A, B), Eq(n, n + m)), "shape", "iff")

# --- arrays --------------------------------------------------------------------------------------------------------
GROUP = "arrays"
of_heads = Concatenate(table(i, l, size=(d,)), i, h)  # 0 d times, 1 d times, ...
of_width = Concatenate(table(i, l, size=(h,)), i, d)
heads = array("H", h, n, d)
output = array("W_O", Blocks(h, d), m)
false("h blocks of d are not d blocks of h", lambda: (of_heads, of_width))
false("neither in a sum", lambda: (of_heads + of_width, of_width + of_width))
false("nor in a product", lambda: (of_heads @ of_width, of_width @ of_width))
false(
    "block by block is not place by place",
    lambda: (Concatenate(table(i, l, size=(d,)), i, h), Concatenate(table(l, l, size=(d,)), i, h)),
)
false("heads are not in reverse order", lambda: (Concatenate(heads[i], i, h), Concatenate(heads[h - 1 - i], i, h)))
false(
    "one head is not the sum over heads",
    lambda: (Concatenate(heads[i], i, h) @ output, Concatenate(heads[0], i, h) @ output),
)
false("a block of columns", lambda: (column_block(Concatenate(heads[i], i, h), u), heads[0]), ranges={u: h})
false("sines and cosines swapped", lambda: (Interleave(x, y), Interleave(y, x)))
false("(A B)^T = B^T A^T", lambda: (((A @ B) @ W).T, (A @ B).T @ W.T))
V_square = array("V", n, n)
false("A B is not B A", lambda: (W @ V_square, V_square @ W))
false("W is not symmetric", lambda: (W.T, W))
false("entrywise is not a matrix product", lambda: (Hadamard(W, W), W @ W))
false("a row is added to rows, not to columns", lambda: ((W + x).T, W.T + x))
false("(W + V) W, not W W + V", lambda: ((W + V_square) @ W, W @ W + V_square))
false("mean, not sum", lambda: (RowMean(A), RowSum(A)))
false("mean over columns, not rows", lambda: (RowMean(W), RowMean(W.T)))
false("relu(W) x is not relu(W x)", lambda: (relu(W) @ x, relu(W @ x)))
false("a written-out matrix, transposed", lambda: (Explicit([[1, 2], [3, 4]]), Explicit([[1, 3], [2, 4]])))
false("softmax of rows, not of columns", lambda: (row_softmax(W).T, row_softmax(W.T)))
false("softmax of a multiple", lambda: (row_softmax(2 * x), row_softmax(x)))
false("softmax of a shift that differs from place to place", lambda: (row_softmax(x + y), row_softmax(x)))
false("the shapes differ", lambda: (A, array("A", m, n)))
false("an array is no scalar", lambda: (x, x[0]))
false("a mask takes part", lambda: (row_softmax(A, M), row_softmax(A)))

# --- attention -----------------------------------------------------------------------------------------------------
GROUP = "attention"
Qa, Ka, Va = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v)
O, S, At, dO = array("O", n, d_v), array("S", n, m), array("A", n, m), array("dO", n, d_v)
attention = {"about": scaled_dot_product_attention(), "ranges": {i: n, p: n, k: m, u: d_k, v: d_v}}


def loss() -> Basic:
    """Return the sum of dO O over all entries."""
    return Sum(dO[q, l] * O[q, l], (q, 0, n - 1), (l, 0, d_v - 1))


def received(row: Symbol) -> Basic:
    """Return the sum over l of dO_l O_l in a row."""
    return Sum(dO[row, l] * O[row, l], (l, 0, d_v - 1))


false("dV = A^T dO, not A dO", lambda: (D(loss(), Va[k, v]), total(At[q, k] * dO[k, v], q)), by, **attention)
false("scores without the root", lambda: (S[i, k], (Qa @ Ka.T)[i, k]), **attention)
false("scores divided by d_k", lambda: (S[i, k], (Qa @ Ka.T)[i, k] / d_k), **attention)
false("weights of a query, not of a key, add up to 1", lambda: (total(At[j, k]), 1), **attention)
false(
    "dS without the row's mean",
    lambda: (D(loss(), Qa[i, u]), Sum(At[i, j] * (dO @ Va.T)[i, j] * Ka[j, u], (j, 0, m - 1)) / sqrt(d_k)),
    by,
    **attention,
)
false(
    "dQ without the root",
    lambda: (D(loss(), Qa[i, u]), Sum(At[i, j] * ((dO @ Va.T)[i, j] - received(i)) * Ka[j, u], (j, 0, m - 1))),
    by,
    **attention,
)
false(
    "dK from the keys, not the queries",
    lambda: (
        D(loss(), Ka[k, u]),
        Sum(At[j, k] * ((dO @ Va.T)[j, k] - received(j)) * Ka[k, u], (j, 0, n - 1)) / sqrt(d_k),
    ),
    by,
    **attention,
)
false(
    "two blocks of keys merge with weights, not as a mean",
    lambda: (
        total(exp(x[j]) * y[j]) / total(exp(x[j])) / 2
        + total(exp(w[j]) * w[j], last=m - 1) / total(exp(w[j]), last=m - 1) / 2,
        (total(exp(x[j]) * y[j]) + total(exp(w[j]) * w[j], last=m - 1))
        / (total(exp(x[j])) + total(exp(w[j]), last=m - 1)),
    ),
)
false(
    "the running maximum must be put back",
    lambda: (
        total(exp(x[j] - a)) + total(exp(w[j] - b), last=m - 1),
        total(exp(x[j])) * exp(-a) + total(exp(w[j]), last=m - 1) * exp(-a),
    ),
)
false("a causal row depends on itself", lambda: (D(total(Iverson(Le(j, i)) * exp(x[j])), x[i]), 0), by, **in_row_i)


@pytest.mark.parametrize("entry", TABLE, ids=lambda entry: f"{entry.group}: {entry.why}")
def test_a_false_statement_is_not_proved(entry: False_) -> None:
    assert entry.level() in ("refuted", "unknown")


def test_the_table_is_long_and_has_no_entry_twice() -> None:
    assert len(TABLE) >= 120
    assert len({(entry.group, entry.why) for entry in TABLE}) == len(TABLE)


# --- chains --------------------------------------------------------------------------------------------------------


def test_a_chain_up_and_down_does_not_prove_the_relation_of_its_ends() -> None:
    """0 <= a^2 + 1 >= -3 does not show 0 <= -3."""
    with pytest.raises(ValueError, match="point one way"):
        claim(0, step("bound", a**2 + 1, "<="), step("bound", -3, ">="))


def test_one_wrong_link_is_enough() -> None:
    chain = claim((a + b) ** 2, step("algebra", a**2 + b**2), step("algebra", a**2 + b**2 + 0 * c))
    assert judge(derivation("", chain)).level == "refuted"


def test_a_claim_without_steps_is_not_proved_by_its_neighbour() -> None:
    with pytest.raises(ValueError, match="needs steps"):
        claim(b)


def test_a_rule_that_does_not_exist_proves_nothing() -> None:
    assert judge(derivation("", claim(a, step("obviously", a)))).level == "unknown"


# --- what lies outside the language ends in unknown -----------------------------------------------------------------

vector = let("y", row_softmax(array("x", 2)))
blocks = let("y", Concatenate(table(Integer(1), l, size=(d,)), i, n))


def deep(levels: int, inner: Basic) -> Basic:
    """Return 1 + tanh(1 + tanh(... inner))."""
    for _ in range(levels):
        inner = 1 + tanh(inner)
    return inner


OUTSIDE: dict[str, tuple[Callable[[], tuple[Any, Any]], str, str, dict[str, Any]]] = {
    "equality of real numbers in a bracket": (lambda: (Iverson(Eq(a, b)), 0), "algebra", "=", {}),
    "three conditions at once": (
        lambda: (Piecewise((a, (a > 0) & (b > 0) & (c > 0)), (0, True)), 0),
        "algebra",
        "=",
        {},
    ),
    "an entry of a definition outside of its array": (
        lambda: (Indexed(IndexedBase("y"), 5), 0),
        "algebra",
        "=",
        {"about": vector},
    ),
    "a definition that calls itself": (
        lambda: (x[i], 0),
        "algebra",
        "=",
        {"about": [Equation(x, 2 * x)], "ranges": {i: n}},
    ),
    "a flat place on blocks of symbolic size": (
        lambda: (Indexed(IndexedBase("y"), i * d + k), a),
        "algebra",
        "=",
        {"about": blocks, "ranges": {i: n, k: d}},
    ),
    "a derivative by a place": (lambda: (Derivative(x[i], i), 0), "derivative", "=", {"ranges": {i: n}}),
    "a derivative of symbolic order": (lambda: (Derivative(a**2, (a, n)), 0), "derivative", "=", {}),
    "a vector and a matrix of one name": (
        lambda: (Derivative(array("W", n)[i] * W[i, j], W[i, j]), 0),
        "derivative",
        "=",
        {"ranges": {i: n, j: n}},
    ),
    "a rounded number with a symbol": (lambda: (Rounded(a, Integer(0)), 1), "rounding", "=", {}),
    "conformability of a scalar": (lambda: (Conformable(Variable("s", ()), A), Eq(n, m)), "shape", "iff", {}),
    "an exponential of an exponential of an exponential of an exponential": (
        lambda: (exp(exp(exp(exp(a)))), exp(exp(exp(exp(b))))),
        "algebra",
        "=",
        {},
    ),
    "an entry of an embedding at no place that is known": (
        lambda: (token_array("q", n)[i] + array("E", m)[token_array("q", n)[i]], a),
        "algebra",
        "=",
        {"ranges": {i: n}},
    ),
    "a trivial assumption": (lambda: (a, b), "algebra", "=", {"assuming": [Assumption(Ge(n, 1))]}),
    "expressions nested 120 deep": (lambda: (deep(120, a), deep(120, b)), "algebra", "=", {}),
}


@pytest.mark.parametrize("name", few(OUTSIDE, fast=13))
def test_what_the_judge_cannot_read_is_not_proved_and_raises_nothing(name: str) -> None:
    sides, rule, relation, setting = OUTSIDE[name]
    left, right = sides()
    assert judge(derivation(name, claim(left, step(rule, right, relation)), **setting)).level in ("refuted", "unknown")


# --- a counterexample is never found against what is true -----------------------------------------------------------

negative, nonnegative = Symbol("c_minus", negative=True), Symbol("c_plus", nonnegative=True)
TRUE: dict[str, tuple[Callable[[], tuple[Any, Any]], str, str, dict[str, Any]]] = {
    "-c exp(a) + log 2 > 0 for c < 0": (lambda: (log(2) - negative * exp(a), 0), "bound", ">", {}),
    "c^3 + c tanh(c) >= 0 for c >= 0": (
        lambda: (nonnegative**3 + nonnegative * tanh(nonnegative), 0),
        "bound",
        ">=",
        {},
    ),
    "a^2 f >= 0 for a positive function f": (
        lambda: (a**2 * Function("f_plus", positive=True)(a), 0),
        "bound",
        ">=",
        {},
    ),
    "(W W) x with a sum over j inside": (
        lambda: ((T @ x)[i], total(x[k] * total(W[i, p] * W[p, k], p), k)),
        "algebra",
        "=",
        {"ranges": {i: n}},
    ),
    "a token number is an integer": (
        lambda: (KroneckerDelta(2 * token_array("q", n)[i], 1) + cos(a), cos(a)),
        "algebra",
        "=",
        {"ranges": {i: n}},
    ),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_not_refuted(name: str) -> None:
    sides, rule, relation, setting = TRUE[name]
    left, right = sides()
    assert judge(derivation(name, claim(left, step(rule, right, relation)), **setting)).level != "refuted"


def test_a_mistake_in_the_code_of_a_rule_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def misspelt(goal: object) -> str:
        raise NameError("name 'exponnet' is not defined")

    monkeypatch.setattr(proof, "_TACTICS", dict.fromkeys(proof._TACTICS, misspelt))
    with pytest.raises(NameError):
        judge(derivation("a mistake", claim(a + b, step("algebra", b + a))))
