"""False statements at the boundaries of what the judge reads: places off their axis, values off their domain.

None may come out as proved or as a definition; the truths beside them must not be refuted.
"""

from collections.abc import Callable
from typing import Any

import pytest
from sympy import Abs, Basic, Derivative, Eq, Ge, Gt, I, Integer, Lambda, Max, Mod, Ne, Rational, Sum, Symbol, exp, sqrt

from derivations.language.arrays.arrangements import Concatenate, Explicit, Tabulated, column_block
from derivations.language.arrays.expression import Array, RowBroadcast, Scaled, array, mask_array, token_array
from derivations.language.arrays.functions import CausalMask, Hadamard, Interleave, named
from derivations.language.arrays.scalars import Expectation, Iverson
from derivations.language.arrays.shapes import Blocks
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import d, h, i, index, j, k, l, m, n, scalar

c = index("c")
x, y, v = array("x", n), array("y", n), array("v", d)
A, B = array("A", n, m), array("B", n, m)
W, wide = array("W", n, Blocks(h, d)), array("Y", Blocks(h, d))
tokens = token_array("t", n)
a, b, u, w = (scalar(name) for name in ("a", "b", "u", "w"))
q = Symbol("q", nonnegative=True)
inverse = named("inverse", 1 / u, u)
ones: Array = Tabulated(Lambda((i,), 1), n)
imaginary = (Equation(y, Scaled(I, x)),)


def stretched() -> Array:
    """Return k in every column of block k."""
    return Concatenate(Tabulated(Lambda((l,), k), d), k, h)


def equal(left: Basic | int, right: Basic | int, rule: str = "algebra", **setting: Any) -> str:
    """Return what the judge says of an equality."""
    return str(judge(derivation("", claim(left, step(rule, right)), **setting)).level)


def bound(left: Basic, relation: str, **setting: Any) -> str:
    """Return what the judge says of a sign."""
    return str(judge(derivation("", claim(left, step("bound", 0, relation)), **setting)).level)


def zero_everywhere() -> Assumption:
    """Return the assumption that A is 0 below its diagonal, whose second range depends on the first index."""
    return Assumption(Eq(A[i, j], 0, evaluate=False), {i: n, j: i + 1})


def hidden_on_the_diagonal() -> str:
    """Decide with a sum of roots whose terms a fact about the diagonal of a mask does not make positive."""
    M = mask_array("M", n, n)
    inner = Sum(M[j, i] * exp(x[j]), (j, 0, n - 1))
    s = Sum(sqrt(inner), (i, 2, n - 1))
    shown = Assumption(Gt(Sum(M[j, j], (j, 0, n - 1)), 0))
    return equal(a / s + b / s, (a + b) / s, assuming=[shown, Assumption(Ge(n, 3))])


FALSE: dict[str, Callable[[], str]] = {
    "a size names a place behind the last one": lambda: equal(CausalMask(m).entry(n, 0), 1),
    "a table has no such place either": lambda: equal(Tabulated(Lambda((i,), 0 * i), m).entry(n), 0),
    "a fact about a diagonal is none about columns": hidden_on_the_diagonal,
    "an odd column of an interleaving is not 0": lambda: equal(
        Interleave(A, B).entry(i, 2 * k - 1), 0, ranges={i: n, k: m}
    ),
    "nor is one three places on": lambda: equal(Interleave(A, B).entry(i, 2 * k + 3), 0, ranges={i: n, k: m}),
    "half a block is no block": lambda: equal(
        wide[i * d / 2], i / 2, "definition", about=(Equation(wide, stretched()),), ranges={i: h}
    ),
    "exp of an imaginary entry is not positive": lambda: bound(exp(y[0]), ">", about=imaginary),
    "its square is not nonnegative": lambda: bound(y[0] ** 2, ">=", about=imaginary),
    "nor its own maximum with 0": lambda: equal(Max(0, y[0] ** 2), y[0] ** 2, about=imaginary),
    "nor its own absolute square": lambda: equal(Abs(y[0]) ** 2, y[0] ** 2, about=imaginary),
    "a bracket of a random entry stays inside E": lambda: equal(
        Expectation(Iverson(Ne(x[0], 0)) * x[0]), Iverson(Ne(x[0], 0)) * Expectation(x[0]), "linearity of expectation"
    ),
    "a bracket of an entry is no constant for a derivative": lambda: equal(
        Derivative(x[0] * Iverson(Ne(x[0], 0)), x[0]), Iverson(Ne(x[0], 0)), "derivative"
    ),
    "an assumption holds where its ranges say": lambda: equal(
        A[0, i], 0, "assumption", ranges={i: n}, assuming=[zero_everywhere(), Assumption(Eq(n, m, evaluate=False))]
    ),
    "a multiple of 5/2 need not be even": lambda: equal(
        Iverson(Gt(d / 2, 2)), Iverson(d / 2 >= 3), assuming=[Assumption(Eq(Mod(d, Rational(5, 2)), 0, evaluate=False))]
    ),
    "an assumption on n says nothing of m": lambda: equal(
        Iverson(2 * i <= m - 2), 1, ranges={i: m / 2}, assuming=[Assumption(Eq(Mod(n, 2), 0, evaluate=False))]
    ),
    "a real array is none of integers, whatever its name": lambda: equal(
        token_array("x", 5)[0] * Iverson(Gt(array("x", 5)[0], 0)),
        token_array("x", 5)[0] * Iverson(array("x", 5)[0] >= 1),
    ),
    "x times 1/x is not 1 at 0": lambda: equal(Hadamard(x, inverse(x)), ones),
    "1/x - 1/x is not 0 at 0": lambda: equal(inverse(x) - inverse(x), Scaled(Integer(0), x)),
    "a row off the matrix": lambda: equal(RowBroadcast(v, n).entry(n + 3, c), v[c], ranges={c: d}),
    "a table off its table": lambda: equal(ones.entry(n + 3), 1),
    "a mask off its positions": lambda: equal(CausalMask(n).entry(n + 3, n + 1), 1),
    "a column off its block": lambda: equal(
        column_block(W, Integer(0)).entry(i, d + 0), column_block(W, Integer(1)).entry(i, 0), ranges={i: n}
    ),
    "a column off a written matrix": lambda: equal(Explicit([[1, 2]]).entry(0, i + 2), 0, ranges={i: n}),
    "the slope of a root at 0": lambda: equal(Derivative(sqrt(q), q) * sqrt(q), Rational(1, 2), "derivative"),
    "the slope of a norm at 0": lambda: equal(
        Derivative(sqrt(a**2 + b**2), a) * sqrt(a**2 + b**2), a, "derivative"
    ),
}  # fmt: skip

TRUE: dict[str, Callable[[], str]] = {
    "x [x != 0] = x": lambda: equal(x[0] * Iverson(Ne(x[0], 0)), x[0]),
    "[t != 0] + [t = 0] = 1": lambda: equal(Iverson(Ne(tokens[0], 0)) + Iverson(Eq(tokens[0], 0)), 1),
    "-z^2 >= 0 for imaginary z": lambda: bound(-(Symbol("z", imaginary=True) ** 2), ">="),
}


@pytest.mark.parametrize("why", FALSE)
def test_what_is_false_at_a_boundary_is_not_proved(why: str) -> None:
    assert FALSE[why]() in ("refuted", "unknown")


@pytest.mark.parametrize("why", TRUE)
def test_what_is_true_at_a_boundary_is_not_refuted(why: str) -> None:
    assert TRUE[why]() in ("proved", "unknown")


def test_masks_are_constants_for_an_expectation() -> None:
    M = mask_array("M", n)
    assert equal(Expectation(M[0] * x[0]), M[0] * Expectation(x[0]), "linearity of expectation") == "proved"


def test_an_even_size_makes_halves_whole() -> None:
    even = [Assumption(Eq(Mod(d, 2), 0, evaluate=False))]
    half = Sum(1, (j, 0, d / 2 - 1))
    assert equal(half, d / 2, assuming=even) == "proved"
    assert equal(half, d / 2) == "unknown"
