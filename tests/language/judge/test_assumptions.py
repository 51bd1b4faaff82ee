"""Assumptions that no values satisfy prove nothing; assumptions that some values satisfy stand in nobody's way.

Every statement here is `s = s`, which follows from anything: whether it is proved tells whether values were found.
"""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from sympy import (
    Abs,
    Basic,
    Eq,
    Function,
    Ge,
    Gt,
    IndexedBase,
    Integer,
    KroneckerDelta,
    Lambda,
    Le,
    Lt,
    Max,
    Min,
    Mod,
    Ne,
    Rational,
    Sum,
    Symbol,
    cos,
    erf,
    exp,
    log,
    sin,
    sqrt,
    tanh,
)

from derivations import catalogue
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array, token_array
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.scalars import Expectation, Iverson, Variance
from derivations.language.judge.constraints import Constraint
from derivations.language.judge.normal_form.context import Context
from derivations.language.judge.normal_form.linear import Fact, contradictory, point
from derivations.language.judge.normal_form.terms import ONE, add, constant, single, subtract
from derivations.language.judge.proof import judge
from derivations.language.judge.satisfying import satisfiable
from derivations.language.judge.solutions import Budget, solutions
from derivations.language.judge.stated import as_stated
from derivations.language.layers.layer import Equations
from derivations.language.results.derivation import RESULTS, Assumption, claim, derivation, step
from derivations.symbols import d, d_k, d_model, d_v, h, i, j, k, l, m, n, scalar
from tests.tiers import few

E, Var, delta = Expectation, Variance, KroneckerDelta
a, b, c, s = (scalar(name) for name in "abcs")
p, whole, even = scalar("p", positive=True), Symbol("K", integer=True), Symbol("e", even=True)
x, y, A, B, R = array("x", n), array("y", n), array("A", n, n), array("B", n, n), array("R", n, n)
positive = IndexedBase("w", positive=True, shape=(n,))
f, g, sigma = Function("f", real=True), Function("g", positive=True), Function("sigma", integer=True)
tokens = token_array("tok", n)
J, JK = {j: n}, {j: n, k: n}
TOTAL = Sum(x[j], (j, 0, n - 1))
SOFTMAX = exp(x[i]) / Sum(exp(x[k]), (k, 0, n - 1))
GRAM, SIGMOID = Sum(R[j, l] * R[k, l], (l, 0, n - 1)), 1 / (1 + exp(-a))
IDENTITY = Tabulated(Lambda((j, k), delta(j, k)), n, n)
TURNS = [("sigma", "sigma_inverse", n)]


def of(relation: Any) -> Any:
    return lambda left, right, ranges=None: Assumption(relation(left, right, evaluate=False), ranges or {})


eq, ne, ge, gt, le, lt = map(of, (Eq, Ne, Ge, Gt, Le, Lt))


def level(*assumed: Assumption, **setting: Any) -> str:
    ranges = setting.pop("ranges", {i: n, k: n})
    return str(judge(derivation("", claim(s, step("algebra", s)), assuming=assumed, ranges=ranges, **setting)).level)


NEVER: dict[str, list[Assumption]] = {
    "a sine": [gt(sin(a), 1)],
    "a cosine": [lt(cos(a * b), -1)],
    "a sine and a cosine": [eq(sin(a) ** 2 + cos(a) ** 2, 2)],
    "an exponential": [lt(exp(a), 0)],
    "the exponential of less than 0": [lt(a, 0), gt(exp(a), 1)],
    "a hyperbolic tangent": [eq(tanh(b), 1)],
    "an error function": [ge(erf(a), 1)],
    "a logarithm": [gt(log(p), 0), lt(p, 1)],
    "a root": [eq(sqrt(a), -1)],
    "a reciprocal": [eq(1 / a, 0)],
    "an entry of the softmax": [gt(SOFTMAX, 1)],
    "a sigmoid": [ge(SIGMOID, 1)],
    "a square": [lt(a**2, 0)],
    "two squares": [eq(a**2 + b**2, -1)],
    "a product on the circle": [eq(a**2 + b**2, 1), gt(a * b, 1)],
    "a product of positives": [gt(a, 0), gt(b, 0), lt(a * b, 0)],
    "a triangle": [gt(a, 0), gt(b, 0), gt(c, 0), gt(a, b + c), gt(b, a + c)],
    "a cycle": [lt(a, b), lt(b, c), lt(c, a)],
    "three lines": [eq(a + b, 3), eq(a - b, 1), eq(a + 2 * b, 5)],
    "two values": [eq(a, 1), eq(a, 2)],
    "an absolute value": [gt(Abs(a + b), Abs(a) + Abs(b))],
    "a maximum": [lt(Max(a, b), a)],
    "a minimum": [gt(Min(a, b), a)],
    "a bracket": [eq(Iverson(Gt(a, 0)), Rational(1, 2))],
    "two brackets": [eq(Iverson(Gt(a, 0)), 1), eq(Iverson(Gt(-a, 0)), 1)],
    "sizes": [ge(n, 2), lt(n, 2)],
    "an even and odd size": [eq(Mod(n, 2), 0), eq(Mod(n, 2), 1)],
    "half a size": [eq(2 * n, 2 * m + 1)],
    "sizes of heads": [eq(d_k * h, d_model), lt(d_model, h)],
    "a place": [ge(i, n)],
    "two places": [eq(delta(i, k), 1), lt(i, k)],
    "an integer": [eq(2 * whole, 1)],
    "an integer between 0 and 1": [gt(whole, 0), lt(whole, 1)],
    "a declared sign": [lt(p, 0)],
    "a declared parity": [eq(even, 3)],
    "a declared array": [eq(Sum(positive[j], (j, 0, n - 1)), 0)],
    "all and the first": [gt(x[j], 0, J), lt(x[0], 0)],
    "a sum of positives": [gt(x[j], 0, J), eq(TOTAL, 0)],
    "weights": [ge(x[j], 0, J), eq(TOTAL, 1), ge(n, 2), gt(x[j], Rational(2, 3), J)],
    "a matrix and its entry": [eq(A[j, k], 0, JK), eq(A[0, 0], 1)],
    "two matrices": [eq(A, B), eq(A[0, 0], 1), eq(B[0, 0], 2)],
    "a negative Gram matrix": [eq(GRAM, -delta(j, k), JK)],
    "an orthogonal row": [eq(GRAM, delta(j, k), JK), eq(R[0, j], 0, J)],
    "tokens": [eq(Sum(tokens[j], (j, 0, n - 1)), 0), gt(tokens[j], 0, J)],
    "two values of a function": [eq(f(0), 0), eq(f(0), 1)],
    "a function at equals": [eq(a, b), eq(f(a), 1), eq(f(b), 2)],
    "a positive function": [lt(g(a), 0)],
    "moments": [eq(E(x[j]), 2, J), eq(E(x[j] ** 2), 1, J)],
    "linear moments": [eq(E(x[j]), 0, J), eq(E(2 * x[j]), 1, J)],
    "a variance": [lt(Var(x[j]), 0, J)],
    "the mean of an exponential": [gt(exp(E(x[0])), E(exp(x[0])))],
}
SOMETIMES: dict[str, list[Assumption]] = {
    "a sine": [eq(sin(a), 1)],
    "an exponential": [eq(exp(a), 2)],
    "a hyperbolic tangent": [eq(tanh(a), Rational(1, 2))],
    "a sigmoid": [eq(SIGMOID, Rational(1, 3))],
    "an entry of the softmax": [gt(SOFTMAX, Rational(1, 2)), eq(n, 5)],
    "a root that has no formula": [eq(a * exp(a), 1)],
    "the second of two roots": [eq(a**3 - 2 * a, 0), gt(a, 1)],
    "a circle": [eq(a**2 + b**2, 1), gt(a * b, Rational(2, 5))],
    "a chain": [lt(a, b), lt(b, c), lt(c, s)],
    "a narrow band": [gt(a, Rational(314, 100)), lt(b, Rational(315, 100)), gt(b, a)],
    "three lines": [eq(a + b + c, 6), eq(a - b + 2 * c, 5), eq(2 * a + b - c, 1)],
    "a small number": [lt(p, Rational(1, 1000))],
    "a maximum": [eq(Max(0, a), 0), lt(a, 0)],
    "a bracket": [eq(Iverson(Gt(a, b)), 0), gt(a, 2)],
    "a multiple": [eq(Mod(n, 64), 0)],
    "sizes of heads": [eq(d_k, d_model / h), eq(d_v, d_model / h), eq(d_model, 4096), eq(h, 32)],
    "a quotient of sizes": [eq(n, 34 * d_model / (5 * h))],
    "a square size": [eq(n, whole**2), gt(whole, 4)],
    "a large size": [eq(n, 10**6), eq(TOTAL, 1)],
    "a large size and its places": [eq(n, 512), eq(Sum(j * x[j], (j, 0, n - 1)), 1)],
    "weights": [gt(x[j], Rational(1, 3), J), eq(TOTAL, 1), eq(n, 2)],
    "declared weights": [eq(Sum(positive[j], (j, 0, n - 1)), 1), eq(n, 5)],
    "a doubly stochastic matrix": [
        eq(Sum(A[j, l], (l, 0, n - 1)), 1, J),
        eq(Sum(A[l, j], (l, 0, n - 1)), 1, J),
        gt(A[j, k], 0, JK),
        eq(n, 3),
    ],
    "an orthogonal matrix": [eq(GRAM, delta(j, k), JK), ge(n, 2), gt(R[0, 1], 0)],
    "an orthogonal array": [eq(R @ R.T, IDENTITY), eq(n, 3)],
    "an inverse": [eq(A @ B, IDENTITY), eq(A[0, 0], 2)],
    "a positive definite matrix": [gt(A[0, 0] * A[1, 1] - A[0, 1] ** 2, 0), eq(A[0, 1], 1), ge(n, 2)],
    "a largest entry": [ge(x[i], x[j] + 1 - delta(i, j), J), ge(n, 3)],
    "decreasing entries": [gt(x[j], x[j + 1], {j: n - 1}), ge(n, 3)],
    "a unit vector": [eq(Sum(x[j] ** 2, (j, 0, n - 1)), 1), ge(n, 2)],
    "tokens": [ge(tokens[j], 0, J), lt(tokens[j], m, J), ne(tokens[0], tokens[1]), ge(n, 2)],
    "a function": [eq(f(a), f(-a)), gt(f(a), 2)],
    "a falling function": [lt(f(b), f(a)), lt(a, b), gt(f(b), 7)],
    "moments": [eq(E(x[j]), 3, J), eq(Var(x[j]), 2, J)],
    "a chance": [eq(E(x[j]), a, J), eq(E(x[j] ** 2), a, J), gt(a, 0), lt(a, 1)],
    "a fourth moment": [eq(E(x[0]), 0), eq(E(x[0] ** 2), 1), eq(E(x[0] ** 4), 3)],
    "a third moment": [eq(E(x[0]), 0), eq(E(x[0] ** 2), 1), gt(E(x[0] ** 3), 0)],
    "a correlation": [eq(E(x[j] * x[k]), (1 + delta(j, k)) / 2, JK), eq(E(x[j]), 0, J), ge(n, 2)],
    "an exponential moment": [eq(E(exp(x[0])), 2)],
}


@pytest.mark.parametrize("name", few(NEVER, fast=12))
def test_nothing_is_proved_where_no_values_satisfy_the_assumptions(name: str) -> None:
    assert level(*NEVER[name]) == "unknown"


@pytest.mark.parametrize("name", SOMETIMES)
def test_what_some_values_satisfy_stands_in_nobodys_way(name: str) -> None:
    assert level(*SOMETIMES[name]) == "proved"


def test_the_evidence_names_the_assumptions() -> None:
    false = derivation("", claim(s, step("algebra", s)), assuming=[gt(sin(a), 1)])
    (reason,) = judge(false).failures
    assert "no values satisfy the assumptions sin(a) > 1" in reason


def test_definitions_and_permutations_count() -> None:
    let = Equations()
    square, shares = let("y")(Tabulated(Lambda((l,), x[l] ** 2), n)), let("P")(row_softmax(array("X", n, d)))
    about = tuple(let)
    assert level(eq(square[0], -1), about=about) == "unknown"
    assert level(eq(shares[0, 0], 0), about=about) == "unknown"
    assert level(gt(shares[0, 0], Rational(1, 2)), gt(square[j], 4, J), about=about) == "proved"
    assert level(gt(Sum(x[sigma(j)], (j, 0, n - 1)), TOTAL), bijections=TURNS) == "unknown"
    assert level(ne(sigma(0), 0), ge(n, 2), bijections=TURNS) == "proved"


def test_a_conclusion_that_needs_its_assumptions_is_proved() -> None:
    def bound(left: Any, relation: str, right: Any, *assumed: Assumption) -> str:
        statement = claim(left, step("bound", Integer(right), relation))
        return str(judge(derivation("", statement, assuming=assumed, ranges={i: n})).level)

    assert bound(x[i], "<=", 1, ge(x[j], 0, J), eq(TOTAL, 1)) == "proved"
    assert bound(a + b, ">", 0, gt(a, 0), gt(b, 0)) == "proved"
    assert bound(a + b, ">", 0, gt(a, 0), gt(b, 0), lt(a + b, 0)) == "unknown"


def test_values_are_found_for_every_result_of_the_catalogue() -> None:
    results = [RESULTS[name]() for name in catalogue.names()]
    stated = [as_stated(result, one) for result in results for one in result.claims if one.given or result.assumptions]
    assert len(stated) > 300
    assert [result.id for result, one in stated if not satisfiable(result, one)] == []


def found(*relations: tuple[str, Any]) -> dict[Any, Basic] | None:
    return next(solutions([Constraint(*each) for each in relations], {}, Budget()), None)


def test_equations_are_solved_exactly() -> None:
    assert found(("=", a + 2 * b - 5), ("=", 3 * a - b - 1)) == {a: 1, b: 2}
    assert found(("=", exp(a) - 2)) == {a: log(2)}
    assert found(("=", a**2 - 2), (">", a)) == {a: sqrt(2)}
    assert found(("=", 2 * whole - 1)) is None
    assert found(("=", a - b), ("!=", b - a)) is None


def test_a_root_without_a_formula_lies_where_the_other_relations_hold() -> None:
    near = found(("=", a**3 + a - 1), (">", a))
    assert near is not None
    assert abs(near[a] - Rational(6823278, 10**7)) < Rational(1, 10**6)
    assert found(("=", a**3 + a - 1), (">", -a)) is None


def test_inequalities_have_a_point_or_a_contradiction() -> None:
    """x + y <= 1 with x, y > 1/3 holds at the point that is found; with x, y > 1/2 a combination of the facts is 0."""
    one, (u, v) = Context(), (single(("t", number)) for number in (1, 2))

    def above(p: Any, least: Fraction) -> Fact:
        return Fact(subtract(p, constant(least)), True)

    def at_most_1() -> Fact:
        return Fact(subtract(ONE, add(u, v)))

    found = point([above(u, Fraction(1, 3)), above(v, Fraction(1, 3)), at_most_1()], one)
    assert found is not None
    assert len(found) == 2
    assert all(value > Fraction(1, 3) for value in found.values())
    assert sum(found.values()) <= 1
    half = [above(u, Fraction(1, 2)), above(v, Fraction(1, 2)), at_most_1()]
    assert point(half, one) is None
    assert contradictory(half, one)


def test_the_search_comes_to_an_end() -> None:
    budget = Budget()
    unknowns = [scalar(f"z_{number}") for number in range(23)]
    relations = [Constraint(">", sin(u * v) - 1) for u, v in pairwise(unknowns)]
    assert list(solutions(relations, {}, budget)) == []
    assert budget.left > -1000
