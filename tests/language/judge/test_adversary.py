"""False statements that were once called proved, each beside what it mistakes for a truth: none may come back.

`FOUND` holds those that the judge accepted when it was attacked on purpose, `HARD` those that were likely to be and
were not. Every entry says where the two sides differ, or which side has no value. `TRUE` holds truths that may stay
undecided, but not be refuted.
"""

from collections.abc import Callable
from dataclasses import dataclass
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
    Integer,
    KroneckerDelta,
    Lambda,
    Le,
    Limit,
    Max,
    Mod,
    Ne,
    Rational,
    Subs,
    Sum,
    Symbol,
    asin,
    conjugate,
    cos,
    exp,
    log,
    oo,
    pi,
    sqrt,
)

from derivations.language.arrays.arrangements import (
    ColumnBlock,
    Concatenate,
    Explicit,
    PlacedBlock,
    SumOver,
    Tabulated,
)
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    RowBroadcast,
    Scaled,
    array,
    mask_array,
    token_array,
)
from derivations.language.arrays.functions import Hadamard, Interleave, Lookup, RowSum, exponential, named, row_softmax
from derivations.language.arrays.scalars import Expectation, Iverson, Rounded
from derivations.language.arrays.selection import OneHot, Pick
from derivations.language.arrays.shapes import ShapeError
from derivations.language.differentiation.adjoints import GradientError
from derivations.language.differentiation.claims import local_claims
from derivations.language.differentiation.reverse import gradient
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equation, Equations, Layer, part
from derivations.language.results.derivation import Assumption, Claim, claim, derivation, step
from derivations.language.results.statements import NullSpace, Rank, Span, SpectralNorm, Supremum
from derivations.symbols import d, h, i, index, j, k, l, m, n, scalar, size, vocab

q, v = index("q"), index("v")
a, b, c, t, u = map(scalar, ("a", "b", "c", "t", "u"))
g, p = scalar("g", positive=True), scalar("p", positive=True)
z = Symbol("z")  # nothing declared: complex
whole = size("whole")
even = Symbol("e", integer=True, even=True)
nonzero = Symbol("s", integer=True, nonzero=True)
negative = Symbol("s", integer=True, negative=True)
x, y, w = array("x", n), array("y", n), array("w", n)
A, W = array("A", n, m), array("W", n, n)
tokens, table = token_array("r", n), array("E", vocab, d)
f = Function("f", real=True)
sigma, inverse = Function("sigma", integer=True), Function("sigma_inverse", integer=True)
tau = Function("tau", integer=True)
permutation = [("sigma", "sigma_inverse", n)]
gap = named("gap", u - t, u, t)
reciprocal, one = named("reciprocal", 1 / u, u), named("one", Integer(1), u)


@dataclass(frozen=True)
class Statement:
    """One statement: why it is false (or true), its two sides, and how it is put to the judge."""

    why: str
    sides: Callable[[], tuple[Any, Any]]
    rule: str = "algebra"
    relation: str = "="
    certificate: tuple[Basic | int, ...] = ()
    setting: Callable[[], dict[str, Any]] = dict

    def level(self) -> str:
        """Return what the judge says of it; what cannot even be written down is refuted."""
        try:
            (left, right), setting = self.sides(), self.setting()
        except ShapeError:
            return "refuted"
        link = step(self.rule, right, self.relation, *self.certificate)
        return str(judge(derivation(self.why, claim(left, link), **setting)).level)


def vector(of: Any, along: Any = n) -> Tabulated:
    return Tabulated(Lambda((i,), of), along)


def matrix(of: Any, rows: Any = n, columns: Any = n) -> Tabulated:
    return Tabulated(Lambda((i, j), of), rows, columns)


def let(name: str, value: Array) -> tuple[Equation, ...]:
    equations = Equations()
    equations(name)(value)
    return tuple(equations)


def undefined_at_0() -> Array:
    """Return a layer applied to x whose entries are x_i (1/x_i)."""
    return part("p", Layer("quotient", [w], [], let("y", Hadamard(reciprocal(w), w)), y))(x)


def total(of: Basic, last: Basic = n - 1, first: Any = 0) -> Sum:
    return Sum(of, (j, first, last))


def holds(statement: Any, **ranges: Any) -> Assumption:
    """Return the assumption, its indices given by their names."""
    return Assumption(statement, {index(name): along for name, along in ranges.items()})


def given(*assuming: Assumption, **more: Any) -> Callable[[], dict[str, Any]]:
    return lambda: {"assuming": assuming, **more}


signs = Explicit([[1, -1], [-1, 1]])
mask = mask_array("V", 2)
ones, zeros, imaginary = vector(Integer(1)), vector(Integer(0)), vector(I * x[i])
heads = array("Y", h, n)
counted = [Sum(token_array(name, n)[k], (k, 0, n - 1)) for name in ("r_1", "r_2")]
wide = Concatenate(matrix(Integer(1), n, d), k, h)

FOUND = [
    # --- tactics and certificates
    Statement("e to two decimals is 2.72, not less", lambda: (Rounded(exp(1), 2), Rational(272, 100)), "rounding", "<"),
    Statement(
        "[1 0 0] v = 0 for v = (0, 1, 0): one row of L A = I is not enough",
        lambda: (NullSpace(Explicit([[1, 0, 0]])), Span()),
        "null space",
        "=",
        (Explicit([[1]]),),
    ),
    Statement(
        "norm 2, at v = (1, -1): a vector of zeros and ones is not free",
        lambda: (SpectralNorm(signs), Integer(1)),
        "quadratic form",
        "<=",
        (mask, 2 * mask[0] * mask[1], (mask[0] + mask[1]) + (mask[0] - mask[1]) ** 2),
    ),
    Statement(
        "17 at t = -1, which a positive symbol hides",
        lambda: (Supremum(Lambda(g, 1 - g * (g + 5) ** 2), -5, oo), Integer(1)),
        "supremum",
        "<=",
        (-5, 1, g * (g + 5) ** 2),
    ),
    Statement(
        "9/8 at t = 1/2, which an integer hides",
        lambda: (Supremum(Lambda(whole, 1 - whole**2 * (whole - 1)), 0, oo), Integer(1)),
        "supremum",
        "<=",
        (0, 1, whole**2 * (whole - 1)),
    ),
    Statement(
        "an index with a range hides it too",
        lambda: (Supremum(Lambda(q, 1 - q * (q + 5) ** 2), -5, oo), Integer(1)),
        "supremum",
        "<=",
        (-5, 1, q * (q + 5) ** 2),
        given(ranges={q: n}),
    ),
    Statement("e^(z+1) - e^z < 0 at z = pi I", lambda: (exp(z + 1), exp(z)), "bound", ">"),
    Statement("no real number at a = 1", lambda: (exp(1 + I * a) - exp(I * a), Integer(0)), "bound", ">="),
    Statement(
        "1 - g tends to minus infinity: what is assumed of y is assumed of g",
        lambda: (Limit(1 - g, g, oo), Integer(0)),
        "squeeze",
        "=",
        (0, exp(-g), 1 - y[0], exp(-g) - 1 + g),
        given(holds(Ge(1 - y[0], 0)), about=let("y", vector(g))),
    ),
    # --- places off their axis
    Statement("there is no row n", lambda: (Member(matrix(Integer(1), n, m), n), vector(Integer(1), m))),
    Statement(
        "nor a row q for q < 2 n",
        lambda: (Member(matrix(Integer(1), n, m), q), vector(Integer(1), m)),
        setting=given(ranges={q: 2 * n}),
    ),
    Statement("of repeated rows", lambda: (Member(RowBroadcast(x, m), q), x), setting=given(ranges={q: 2 * m})),
    Statement("of repeated columns", lambda: (Member(ColumnBroadcast(x, m).T, q), x), setting=given(ranges={q: 2 * m})),
    Statement(
        "of a matrix written out",
        lambda: (Member(Explicit([[0, 0]]), q), vector(Integer(0), 2)),
        setting=given(ranges={q: n}),
    ),
    Statement("there is no block h", lambda: (ColumnBlock(wide, h), matrix(Integer(1), n, d))),
    Statement(
        "nor a block q for q < 2 h",
        lambda: (ColumnBlock(wide, q), matrix(Integer(1), n, d)),
        setting=given(ranges={q: 2 * h}),
    ),
    Statement(
        "nothing can be placed as block h", lambda: (PlacedBlock(A, h, h), Concatenate(matrix(Integer(0), n, m), k, h))
    ),
    Statement(
        "column 2 k + 2 of an interleaving is even",
        lambda: (
            Member(Interleave(A, 2 * A).T, 2 * k + j),
            Tabulated(Lambda(l, KroneckerDelta(j, 0) * A[l, k] + 2 * KroneckerDelta(j, 1) * A[l, k]), n),
        ),
        setting=given(ranges={k: m - 1, j: 4}),
    ),
    Statement(
        "column q d + v lies in another block for v >= d",
        lambda: (Member(Concatenate(matrix(k, n, d), k, h).T, q * d + v), vector(q)),
        setting=given(ranges={q: h - 1, v: 2 * d}),
    ),
    Statement(
        "0 times a row that a token off the table names",
        lambda: (Scaled(Integer(0), Lookup(table, tokens)), matrix(Integer(0), n, d)),
    ),
    Statement("0 times a row off the matrix", lambda: (Scaled(Integer(0), Member(A, n + 5)), vector(Integer(0), m))),
    Statement("a constant function of such rows", lambda: (one(Lookup(table, tokens)), matrix(Integer(1), n, d))),
    Statement(
        "their difference",
        lambda: (gap(Lookup(table, tokens), Lookup(table, tokens)), matrix(Integer(0), n, d)),
    ),
    Statement(
        "an entry picked off its row is none, not 0",
        lambda: (Pick(A + A, tokens), RowSum(Hadamard(OneHot(tokens, m), A + A))),
    ),
    # --- what is declared and not so
    Statement("|e^(i x)| = 1", lambda: (named("modulus", Abs(exp(z)), z)(imaginary), exponential(imaginary))),
    Statement("the conjugate of i x", lambda: (named("conjugate", conjugate(z), z)(imaginary), imaginary)),
    Statement(
        "(-1)^1 = -1, though the index is called even",
        lambda: (y[even], Integer(1)),
        setting=given(about=let("y", vector((-1) ** i)), ranges={even: n}),
    ),
    Statement(
        "[0 = 0] = 1, though the index is called nonzero",
        lambda: (Sum(y[nonzero], (nonzero, 0, n - 1)), Integer(0)),
        setting=given(about=let("y", vector(KroneckerDelta(i, 0)))),
    ),
    Statement(
        "|1| = 1, though the index is called negative",
        lambda: (y[negative], -negative),
        setting=given(about=let("y", vector(Abs(i))), ranges={negative: n}),
    ),
    Statement(
        "cos(2 pi/2) = -1, though the halves are called integers",
        lambda: (w[i], Integer(1)),
        setting=lambda: {
            "about": (
                Equation(token_array("y", n), Scaled(Rational(1, 2), ones)),
                *let("w", named("turn", cos(2 * pi * u), u)(token_array("y", n))),
            ),
            "ranges": {i: n},
        },
    ),
    Statement("two symbols of one name", lambda: (Symbol("a", nonzero=True), a)),
    Statement(
        "an index that is called as the general place of the judge", lambda: (vector(index("place 1")), vector(i))
    ),
    # --- the normal form
    Statement(
        "a sum has no slope by its last index",
        lambda: (Derivative(total(f(j), a), a), Integer(0)),
        "derivative",
        "=",
        (),
        given(holds(Eq(Mod(a, 1), 0, evaluate=False)), holds(Ge(a, 0))),
    ),
    Statement(
        "a permutation of places moves no halves",
        lambda: (inverse(sigma(Rational(1, 2))), Rational(1, 2)),
        setting=given(holds(Ge(n, 2)), bijections=permutation),
    ),
    Statement(
        "nor real numbers",
        lambda: (inverse(sigma(a)), a),
        setting=given(holds(Ge(a, 0)), holds(Ge(n - 1 - a, 0)), bijections=permutation),
    ),
    Statement(
        "t at a is a in the inner point too",
        lambda: (Subs(t * Subs(Derivative(f(t), t), t, 2 * t), t, a), a * Subs(Derivative(f(t), t), t, 2 * t)),
        "derivative",
    ),
    Statement(
        "a range that holds a sum: T (f_0 + ... + f_{S-1}) at S = 2, T = 1",
        lambda: (total(f(j), counted[0] - 1) * counted[1], counted[0] * total(f(j), counted[1] - 1)),
        setting=given(*(holds(s) for r in counted for s in (Eq(Mod(r, 1), 0, evaluate=False), Ge(r, 0), Gt(r, 0)))),
    ),
    # --- what cancels in the difference of two sides
    Statement("no root at a = -1", lambda: (sqrt(a) + 1, sqrt(a)), "bound", ">"),
    Statement("no logarithm at a = -1", lambda: (log(a) + 1, log(a)), "bound", ">"),
    Statement("no quotient at a = 0", lambda: (1 / a + 1, 1 / a), "bound", ">"),
    Statement("no entry n", lambda: (x[n] + 1, x[n]), "bound", ">"),
    Statement("no real arcsine at a = 2", lambda: (asin(a) + 1, asin(a)), "bound", ">"),
    # --- definitions
    Statement(
        "y_0 is x_0, or 2 x_0: one name, defined twice",
        lambda: (y[0], 2 * x[0]),
        "definition",
        setting=lambda: {"about": (*let("y", x), *let("y", Scaled(Integer(2), x)))},
    ),
    Statement(
        "member i + 1 is i in all places: Y_1 is 0",
        lambda: (heads[1, 0], Integer(1)),
        "definition",
        setting=lambda: {
            "about": (Equation(heads[i + 1], Tabulated(Lambda(l, i), n), i, h),),
            "assuming": [holds(Ge(h, 2))],
        },
    ),
    Statement(
        "only h of the 2 h members are defined",
        lambda: (array("Y", 2 * h, n)[h, 0], x[0]),
        "definition",
        setting=lambda: {"about": (Equation(array("Y", 2 * h, n)[i], x, i, h),)},
    ),
    # --- what is undefined behind a name
    Statement(
        "a constant function of v = 1/x at x_i = 0",
        lambda: (y[i], Integer(1)),
        setting=lambda: {"about": (*let("v", reciprocal(x)), *let("y", one(array("v", n)))), "ranges": {i: n}},
    ),
    Statement(
        "0 times v",
        lambda: (y[i], Integer(0)),
        setting=lambda: {
            "about": (*let("v", reciprocal(x)), *let("y", Scaled(Integer(0), array("v", n)))),
            "ranges": {i: n},
        },
    ),
    Statement(
        "v less v",
        lambda: (y[i], Integer(0)),
        setting=lambda: {
            "about": (*let("v", reciprocal(x)), *let("y", gap(array("v", n), array("v", n)))),
            "ranges": {i: n},
        },
    ),
    Statement("0 times a layer that is not defined at x_i = 0", lambda: (Scaled(Integer(0), undefined_at_0()), zeros)),
    Statement("a constant function of that layer", lambda: (one(undefined_at_0()), ones)),
    # --- assumptions
    Statement(
        "n >= 2 for all k < m - 5 says nothing at m = 1",
        lambda: (total(Integer(1), n - 3), n - 2),
        setting=given(Assumption(Ge(n, 2), {k: m - 5})),
    ),
    Statement(
        "nor does an even n",
        lambda: (total(Integer(1), n / 2 - 1), n / 2),
        setting=given(Assumption(Eq(Mod(n, 2), 0, evaluate=False), {k: m - 5})),
    ),
    Statement(
        "W_{i,i+1} is no W_{j,i+1}, whatever the index is called",
        lambda: (W[j, index("any i") + 1], j * c),
        "assumption",
        setting=given(holds(Eq(W[i, i + 1], i * c), i=n - 1), ranges={j: n - 1, index("any i"): n - 1}),
    ),
    Statement("two functions of one name", lambda: (f(a), Function("f", positive=True)(a))),
    Statement("no matrix at a = 0", lambda: (Rank(Scaled(1 / a, W)), n), "rank of a product", "<="),
    # --- entries of blocks at one number
    Statement(
        "column 2 k + 2 of an interleaving, as one entry",
        lambda: (
            Interleave(A, 2 * A)[i, 2 * k + j],
            KroneckerDelta(j, 0) * A[i, k] + 2 * KroneckerDelta(j, 1) * A[i, k],
        ),
        setting=given(ranges={i: n, k: m - 1, j: 4}),
    ),
    Statement(
        "column q d + v for v >= d, as one entry",
        lambda: (Concatenate(Tabulated(Lambda((i, l), k), n, d), k, h)[i, q * d + v], q),
        setting=given(ranges={i: n, q: h - 1, v: 2 * d}),
    ),
    # --- names
    Statement(
        "two functions of one name, one of them in a definition",
        lambda: (y[0], f(a)),
        setting=lambda: {"about": let("y", vector(Function("f", positive=True)(a)))},
    ),
    Statement(
        "a variable that is called as the judge calls its own",
        lambda: (Subs(t * scalar("argument 1 0"), t, a), a**2),
    ),
]

HARD = [
    # --- sums that count, and their ends
    Statement(
        "j <= i with j from 0: i + 1 terms, also at i = 0",
        lambda: (Sum(1, (j, 0, i - 2)), i - 1),
        setting=given(ranges={i: n}),
    ),
    Statement(
        "k < 2 n may lie beyond the last j", lambda: (total(Iverson(Le(j, k))), k + 1), setting=given(ranges={k: 2 * n})
    ),
    Statement(
        "i - k may be negative", lambda: (total(Iverson(Ge(j, i - k))), n - i + k), setting=given(ranges={i: n, k: n})
    ),
    Statement(
        "a window is cut off at the start",
        lambda: (total(Iverson(Ge(j, i - k)) * Iverson(Le(j, i))), k + 1),
        setting=given(ranges={i: n, k: n}),
    ),
    Statement("no windows where m > n", lambda: (Sum(1, (i, 0, n - m), (j, 0, m - 1)), (n - m + 1) * m)),
    Statement("0 terms minus 2 at n = 1", lambda: (total(x[j], n - 3), total(x[j]) - x[n - 1] - x[n - 2])),
    Statement(
        "f(0) + f(1) are not in the sum at i = 0",
        lambda: (total(f(j), i, 2), total(f(j), i) - f(0) - f(1)),
        setting=given(ranges={i: n}),
    ),
    Statement(
        "the inner range follows both outer indices", lambda: (Sum(1, (k, i, j), (i, 0, n - 1), (j, 0, n - 1)), n**2)
    ),
    Statement(
        "i + m reaches beyond i",
        lambda: (
            Sum(f(j), (j, 0, i + m), (i, 0, n - 1)),
            Sum(Iverson(Le(j, i)) * f(j), (j, 0, n + m - 1), (i, 0, n - 1)),
        ),
    ),
    Statement("1/j at j = 0", lambda: (total(1 / j), total(1 / j, first=1))),
    Statement(
        "a range that is empty shows nothing about n",
        lambda: (Sum(1, (j, 0, n - 3)) + x[i], n - 2 + x[i]),
        setting=given(ranges={i: n - 2}),
    ),
    Statement(
        "nor does an axis of another array",
        lambda: (Sum(1, (j, 0, n - 3)), n - 2),
        setting=given(about=let("y", vector(Integer(1), n - 2))),
    ),
    Statement(
        "weights add up to 0 where there are none",
        lambda: (RowSum(row_softmax(array("s", n - m))), Tabulated(Lambda((), 1))),
    ),
    Statement(
        "a token may lie off the row",
        lambda: (total(KroneckerDelta(j, tokens[i])), Integer(1)),
        setting=given(holds(Ge(tokens[i], 0), i=n), ranges={i: n}),
    ),
    # --- permutations
    Statement(
        "sigma moves n places, tau m",
        lambda: (total(x[sigma(tau(j))]), total(x[j])),
        "reindexing",
        "=",
        (),
        given(bijections=[*permutation, ("tau", "tau_inverse", m)]),
    ),
    Statement(
        "the first i + 1 places are not mapped to themselves",
        lambda: (total(f(sigma(j)), i), total(f(j), i)),
        "reindexing",
        "=",
        (),
        given(ranges={i: n}, bijections=permutation),
    ),
    Statement(
        "two permutations at once",
        lambda: (total(f(sigma(j)) * f(tau(j))), total(f(j) ** 2)),
        "reindexing",
        "=",
        (),
        given(bijections=[*permutation, ("tau", "tau_inverse", n)]),
    ),
    Statement(
        "sigma keeps no order",
        lambda: (Iverson(Le(sigma(i), sigma(j))), Iverson(Le(i, j))),
        setting=given(ranges={i: n, j: n}, bijections=permutation),
    ),
    # --- signs
    Statement(
        "relu(a b) at a < 0, b = 0 and beyond", lambda: (Max(0, a * b), a * Max(0, b)), setting=given(holds(Ge(b, 0)))
    ),
    Statement(
        "the last factor may be negative",
        lambda: (total(Max(0, y[j] * a)), total(y[j] * Max(0, a))),
        setting=given(holds(Gt(y[k], 0), k=n - 1)),
    ),
    Statement(
        "a positive diagonal is no positive matrix",
        lambda: (total(Max(0, W[j, i] * a)), total(W[j, i] * Max(0, a))),
        setting=given(holds(Gt(W[k, k], 0), k=n), ranges={i: n}),
    ),
    Statement("both negative", lambda: (log(a * b), log(a) + log(b)), setting=given(holds(Gt(a * b, 0)))),
    Statement(
        "both negative, under a root", lambda: (sqrt(a * b), sqrt(a) * sqrt(b)), setting=given(holds(Ge(a * b, 0)))
    ),
    Statement(
        "a may be negative",
        lambda: (log(a**2 * b), 2 * log(a) + log(b)),
        setting=given(holds(Gt(b, 0)), holds(Ne(a, 0))),
    ),
    Statement(
        "the last denominator may vanish",
        lambda: (total(x[j] / (x[j] + a)), n - total(a / (x[j] + a))),
        setting=given(holds(Ne(x[k] + a, 0), k=n - 1)),
    ),
    Statement(
        "the sign of x_i y_0 is not that of x_i y_i",
        lambda: (x[i] * y[i], Integer(0)),
        "bound",
        ">=",
        (),
        given(holds(Ge(x[i] * y[0], 0), i=n), ranges={i: n}),
    ),
    Statement(
        "an assumption on one j is none on all",
        lambda: (total(x[j]), Integer(0)),
        "bound",
        ">=",
        (),
        given(holds(Ge(x[j], 0)), ranges={j: n}),
    ),
    Statement(
        "an order certificate must be defined",
        lambda: (Max(log(a), b) + Max(-log(a), -b), Integer(0)),
        "order",
        "=",
        (log(a), b),
    ),
    # --- assumed equations
    Statement(
        "rows that add up to 0 say nothing of the diagonal",
        lambda: (total(W[j, j]), Integer(0)),
        "assumption",
        "=",
        (),
        given(holds(Eq(Sum(W[i, j], (j, 0, n - 1)), 0), i=n)),
    ),
    Statement(
        "x_i = y_i is not x_i = y_j",
        lambda: (Max(0, x[i] - y[j]), Integer(0)),
        "assumption",
        "=",
        (),
        given(holds(Eq(Max(0, x[i] - y[i]), 0), i=n), ranges={i: n, j: n}),
    ),
    Statement(
        "b = 1 only where a is not 0",
        lambda: (b, Integer(1)),
        "assumption",
        "=",
        (),
        given(holds(Eq(a, a * b, evaluate=False))),
    ),
    Statement(
        "a mean is not taken of one factor",
        lambda: (Expectation(x[0] * x[1]), c * Expectation(x[1])),
        "moments",
        "=",
        (),
        given(holds(Eq(Expectation(x[0]), c)), holds(Ge(n, 2))),
    ),
    # --- derivatives
    Statement(
        "a tie, i = j",
        lambda: (Derivative(Max(x[i], x[j]), x[i]), Iverson(Gt(x[i], x[j]))),
        "derivative",
        "=",
        (),
        given(ranges={i: n, j: n}),
    ),
    Statement(
        "b is put in after the slope is taken", lambda: (Subs(Derivative(b * t**2, t), b, t), 3 * t**2), "derivative"
    ),
    Statement(
        "the slope by both arguments",
        lambda: (
            Derivative(Function("F", real=True)(a, a), a),
            Subs(Derivative(Function("F", real=True)(a, b), a), b, a),
        ),
        "derivative",
    ),
    Statement(
        "s is a^2",
        lambda: (Derivative(array("s").entry() * a, a), array("s").entry()),
        "derivative",
        "=",
        (),
        given(about=let("s", Tabulated(Lambda((), a**2)))),
    ),
    # --- limits
    Statement(
        "which exponential wins depends on p",
        lambda: (Limit((exp(p * g) + exp(2 * g)) / (exp(2 * g) + 1), g, oo), Integer(1)),
        "limit laws",
    ),
    Statement("a may be 0", lambda: (Limit(g * exp(-(a**2) * g), g, oo), Integer(0)), "limit laws"),
    Statement("so may an entry", lambda: (Limit(total(exp(-g * x[j] ** 2)), g, oo), Integer(0)), "limit laws"),
    Statement("the root of g^2 a^2 is g |a|", lambda: (Limit(sqrt(a**2 * g**2 + 1) / g, g, oo), a), "limit laws"),
    Statement("log of 0 at a = 0", lambda: (Limit(log(g * a + 1) - log(g), g, oo), log(a)), "limit laws"),
    Statement("a function need not be continuous", lambda: (Limit(f(1 / g), g, oo), f(0)), "limit laws"),
    # --- matrices
    Statement(
        "the rank of the identity is n, not less",
        lambda: (Rank(matrix(KroneckerDelta(i, j))), n),
        "rank by trace",
        "<",
        (matrix(KroneckerDelta(i, j)),),
    ),
    Statement(
        "0/0 at a = 0",
        lambda: (Rank(matrix(a * KroneckerDelta(i, j))), n),
        "rank by trace",
        "=",
        (matrix(KroneckerDelta(i, j) / a),),
    ),
    Statement(
        "x may be 0",
        lambda: (Rank(matrix(x[i] * x[j])), Integer(1)),
        "rank by trace",
        "=",
        (matrix(KroneckerDelta(i, j) / Sum(x[k] ** 2, (k, 0, n - 1))),),
    ),
    Statement(
        "norm 2, not symmetric",
        lambda: (SpectralNorm(Explicit([[0, 2], [0, 0]])), Integer(1)),
        "quadratic form",
        "<=",
        (array("v", 2), (array("v", 2)[0] - array("v", 2)[1]) ** 2, (array("v", 2)[0] + array("v", 2)[1]) ** 2),
    ),
    # --- arrays whose entries wait
    Statement(
        "members that are summed elsewhere",
        lambda: (
            SumOver(Scaled(k, SumOver(array("H", h, n, d)[k], k, h)), k, h),
            SumOver(SumOver(Scaled(k, array("H", h, n, d)[k]), k, h), k, h),
        ),
    ),
    Statement("0/0 in a quotient of one array by itself", lambda: (named("quotient", u / t, u, t)(x, x), ones)),
    Statement("1/0 to the power 0", lambda: (named("power", u**0, u)(reciprocal(x)), ones)),
    Statement("a factor that cancels outside", lambda: (Scaled(1 / x[0], Scaled(x[0], y)), y)),
]

OPEN: dict[str, str] = {}


def _table(entries: list[Statement]) -> list[Any]:
    return [
        pytest.param(e, id=e.why, marks=[pytest.mark.xfail(strict=True, reason=OPEN[e.why])] if e.why in OPEN else [])
        for e in entries
    ]


@pytest.mark.parametrize("entry", _table(FOUND))
def test_what_was_accepted_wrongly_is_not_proved(entry: Statement) -> None:
    assert entry.level() in ("refuted", "unknown")


@pytest.mark.parametrize("entry", _table(HARD))
def test_what_looks_true_is_not_proved(entry: Statement) -> None:
    assert entry.level() in ("refuted", "unknown")


def test_the_tables_are_long_and_name_what_they_hold() -> None:
    names = [entry.why for entry in (*FOUND, *HARD)]
    assert len(FOUND) >= 55 and len(HARD) >= 45
    assert len(set(names)) == len(names)
    assert set(OPEN) <= set(names)


def test_a_name_with_two_declarations_carries_nothing_over() -> None:
    """y_i = [i = 1]: y_n is 0 for an even n, and 1 at n = 1."""
    also_n, twice = Symbol("n", integer=True, positive=True, even=True), array("y", 2 * n)
    chain = claim(twice[n], step("algebra", twice[also_n]), step("definition", 0))
    about = let("y", vector(KroneckerDelta(i, 1), 2 * n))
    assert judge(derivation("", chain, about=about)).level in ("refuted", "unknown")


def test_a_claim_without_steps_is_not_proved_by_its_neighbour() -> None:
    proved = claim(b, step("algebra", b))
    assert judge(derivation("", Claim(a, ()), proved)).level == "unknown"


# --- what is true is not refuted --------------------------------------------------------------------------------------

unseen = Iverson(Gt(Max(0, a), 0)) - Iverson(Gt(a, 0))  # 0, which no rule sees
even_size, prime = Symbol("e", integer=True, positive=True, even=True), Symbol("r", prime=True)
scalar_s = array("s").entry()

TRUE = [
    Statement("an even size is 2 or more", lambda: (even_size, Integer(2)), "bound", ">="),
    Statement("so is a prime", lambda: (Iverson(Ge(prime, 2, evaluate=False)), Integer(1))),
    Statement(
        "s a = a^3 has the slope 3 a^2",
        lambda: (Derivative(scalar_s * a, a), 3 * a**2 + unseen),
        "derivative",
        setting=given(about=let("s", Tabulated(Lambda((), a**2)))),
    ),
    Statement(
        "the same with entries",
        lambda: (Derivative(y[i] * x[i], x[i]), 3 * x[i] ** 2 + unseen),
        "derivative",
        setting=given(about=let("y", Hadamard(x, x)), ranges={i: n}),
    ),
    Statement(
        "the last term is put back",
        lambda: (total(f(j), i - 1), total(f(j), i) - f(i) + unseen),
        setting=given(ranges={i: n}),
    ),
    Statement("the triangle by columns", lambda: (Sum(x[k], (k, 0, j), (j, 0, n - 1)), total((n - j) * x[j]) + unseen)),
    Statement(
        "an even n has halves",
        lambda: (total(Integer(1), n / 2 - 1) + unseen, n / 2),
        setting=given(holds(Eq(Mod(n, 2), 0, evaluate=False))),
    ),
    Statement(
        "the greatest entry comes first",
        lambda: (Max(x[0], x[n - 1]) + unseen, x[0]),
        setting=given(holds(Ge(x[i], x[j]), i=n, j=n)),
    ),
]


@pytest.mark.parametrize("entry", TRUE, ids=lambda entry: entry.why)
def test_what_is_true_is_not_refuted(entry: Statement) -> None:
    assert entry.level() in ("proved", "unknown")


# --- entries inside formulas ----------------------------------------------------------------------------------------


def layer(value: Array, *inputs: Array) -> Layer:
    """Return the layer of one equation Y = value."""
    return Layer("one equation", list(inputs), [], let("Y", value), array("Y", *value.shape))


READS_ITS_INPUT: dict[str, Callable[[], Array]] = {
    "a table": lambda: vector(x[i] ** 2),
    "a scalar factor": lambda: Scaled(x[0], w),
    "a function": lambda: named("product", u * x[0], u)(w),
    "a matrix written out": lambda: Explicit([[x[0], 0], [0, x[0]]]),
}


@pytest.mark.parametrize("how", READS_ITS_INPUT)
def test_a_gradient_does_not_overlook_entries_in_formulas(how: str) -> None:
    """Y = x_0 w depends on x; a gradient dx = 0 must come from nowhere."""
    with pytest.raises((GradientError, ShapeError)):
        gradient(layer(READS_ITS_INPUT[how](), x, w))


def test_claims_about_a_gradient_do_not_overlook_them_either() -> None:
    try:
        found = judge(local_claims(layer(Scaled(x[0], w), x, w))).level
    except (GradientError, ShapeError):
        return
    assert found in ("refuted", "unknown")


@pytest.mark.parametrize("how", READS_ITS_INPUT)
def test_a_layer_applied_to_z_does_not_read_x(how: str) -> None:
    z_n, w_n = array("z", n), array("w", n)
    value = READS_ITS_INPUT[how]()
    try:
        applied = part("p", layer(value, x, w))(z_n, w_n)
    except ShapeError:
        return
    assert judge(derivation("", claim(applied, step("algebra", value)))).level in ("refuted", "unknown")
