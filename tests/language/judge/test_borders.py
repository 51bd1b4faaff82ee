"""Where a rule must stop: at an expectation, at a kink, at an empty range, outside of what was declared or stated.

Beside every statement that must not be proved, or not refuted, stands a near one that is true and still is proved.
"""

from typing import Any

import pytest
from sympy import (
    Abs,
    Derivative,
    Eq,
    Expr,
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
    exp,
    sqrt,
    sympify,
)

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array, token_array
from derivations.language.arrays.scalars import Expectation, Iverson, Variance
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equations
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import d, i, j, k, l, m, n, scalar, vocab

E, Var = Expectation, Variance
a, b, c, s = (scalar(name) for name in "abcs")
x, y, table, tokens = array("x", n), array("y", n), array("T", vocab, d), token_array("tok", m)
f = Function("f", real=True)
MEAN = "linearity of expectation"


def stated(relation: Any, ranges: Any = None) -> Assumption:
    return Assumption(relation, ranges or {})


def ge(left: Any, right: Any, ranges: Any = None) -> Assumption:
    return stated(Ge(left, right, evaluate=False), ranges)


def gt(left: Any, right: Any, ranges: Any = None) -> Assumption:
    return stated(Gt(left, right, evaluate=False), ranges)


def lt(left: Any, right: Any, ranges: Any = None) -> Assumption:
    return stated(Lt(left, right, evaluate=False), ranges)


def equal(left: Any, right: Any, ranges: Any = None) -> Assumption:
    return stated(Eq(left, right, evaluate=False), ranges)


def level(left: Any, relation: str, right: Any, rule: str, **setting: Any) -> str:
    return str(judge(derivation("", claim(left, step(rule, sympify(right), relation)), **setting)).level)


IN_TABLE = (ge(tokens[i], 0, {i: m}), stated(Le(tokens[i], vocab - 1, evaluate=False), {i: m}))
SHOWN = Iverson(Gt(x[0], 0))

ACROSS_EXPECTATIONS: dict[str, tuple[Expr, Any, str, dict[str, Any]]] = {
    "a bracket in a maximum": (Max(0, x[0] * SHOWN) * E(SHOWN), x[0] * SHOWN, MEAN, {}),
    "a bracket in a function": (f(SHOWN) * E(SHOWN * y[0]), SHOWN * f(1) * E(y[0]), MEAN, {}),
    "a bracket in a variance": (Min(0, -x[0] * SHOWN) * Var(SHOWN), 0, "variance", {}),
    "a bracket beside a moment": (SHOWN * E(SHOWN * y[0]), SHOWN * E(y[0]), MEAN, {}),
    "a random place": (
        Sum(KroneckerDelta(l, tokens[i]) * E(table[l, k]), (l, 0, vocab - 1)),
        E(table[tokens[i], k]),
        MEAN,
        {"assuming": IN_TABLE, "ranges": {i: m, k: d}},
    ),
    "a moment at a random place": (
        E(table[tokens[i], k]),
        0,
        "moments",
        {"assuming": (*IN_TABLE, equal(E(table[l, k]), 0, {l: vocab, k: d})), "ranges": {i: m, k: d}},
    ),
    "a random number of terms": (
        E(Sum(x[j], (j, 0, tokens[i]))),
        Sum(E(x[j]), (j, 0, tokens[i])),
        MEAN,
        {"ranges": {i: m}, "assuming": (IN_TABLE[0], stated(Le(tokens[i], n - 1, evaluate=False), {i: m}))},
    ),
    "the sign of an outcome": (E(Max(0, x[i])), E(x[i]), MEAN, {"ranges": {i: n}, "assuming": [ge(x[i], 0)]}),
    "the order of outcomes": (E(Max(x[i], y[i])), E(x[i]), MEAN, {"ranges": {i: n}, "assuming": [ge(x[i], y[i])]}),
    "the value of an outcome": (E(x[i]), 1, "moments", {"ranges": {i: n}, "assuming": [equal(x[i], 1)]}),
}


@pytest.mark.parametrize("name", ACROSS_EXPECTATIONS)
def test_nothing_random_crosses_an_expectation(name: str) -> None:
    left, right, rule, setting = ACROSS_EXPECTATIONS[name]
    assert level(left, "=", right, rule, **setting) != "proved"


def test_constants_cross_and_identities_hold_inside() -> None:
    every = {"ranges": {i: n}}
    assert level(E(a * x[i] + 3 * y[i]), "=", a * E(x[i]) + 3 * E(y[i]), MEAN, **every) == "proved"
    assert level(E(Max(0, x[i])), "=", E(x[i] * Iverson(Gt(x[i], 0))), MEAN, **every) == "proved"
    assert level(Sum(KroneckerDelta(i, j) * E(x[j]), (j, 0, n - 1)), "=", E(x[i]), MEAN, **every) == "proved"
    assert level(E(Max(0, a) * x[i]), "=", a * E(x[i]), MEAN, assuming=[ge(a, 0)], **every) == "proved"
    assert level(E(Sum(x[j], (j, 0, n - 1))), "=", Sum(E(x[j]), (j, 0, n - 1)), MEAN) == "proved"
    assert level(SHOWN * f(SHOWN) * E(SHOWN), "=", SHOWN * f(1) * E(SHOWN), MEAN) == "proved"
    nowhere = [equal(E(x[j]), 0, {j: n})]
    assert level(E(x[i] * a), "=", 0, "moments", assuming=nowhere, **every) == "proved"


AT_KINKS: dict[str, tuple[Expr, Any, Assumption]] = {
    "relu from above": (Derivative(Max(0, a), a), 1, ge(a, 0)),
    "relu from below": (Derivative(Max(0, a), a), 0, stated(Le(a, 0, evaluate=False))),
    "the absolute value": (Derivative(Abs(a), a), 1, ge(a, 0)),
    "a maximum": (Derivative(Max(a, b), a), 1, ge(a, b)),
    "a minimum": (Derivative(Min(a, b), a), 0, ge(a, b)),
    "a bracket": (Derivative(Iverson(Ge(a, b)), a), 0, ge(a, b)),
    "an equation": (Derivative(Max(a, b), a), 0, equal(a, b)),
    "a power that ends at 0": (Derivative(sqrt(a) ** 3, a), Rational(3, 2) * sqrt(a), ge(a, 0)),
    "a root": (Derivative(sqrt(a), a), 1 / (2 * sqrt(a)), ge(a, 0)),
    "a fact that jumps": (Derivative(Max(0, a), a), 1, gt(Iverson(Ge(a, 0)), Rational(1, 2))),
}


@pytest.mark.parametrize("name", AT_KINKS)
def test_an_assumption_that_may_end_at_a_place_gives_no_slope_there(name: str) -> None:
    left, right, assumption = AT_KINKS[name]
    assert level(left, "=", right, "derivative", assuming=[assumption]) != "proved"


def test_an_assumption_about_every_entry_gives_no_slope_at_its_edge() -> None:
    left, right = Derivative(Max(0, x[i]), x[k]), KroneckerDelta(i, k)
    both = {i: n, k: n}
    assert level(left, "=", right, "derivative", assuming=[ge(x[j], 0, {j: n})], ranges=both) != "proved"
    assert level(left, "=", right, "derivative", assuming=[gt(x[j], 0, {j: n})], ranges=both) == "proved"


def test_what_holds_nearby_gives_slopes() -> None:
    for left, right, assumption in (
        (Derivative(Max(0, a), a), 1, gt(a, 0)),
        (Derivative(Max(0, a), a), Iverson(Gt(a, 0)), stated(Ne(a, 0))),
        (Derivative(Max(a, b), a), 1, gt(a, b)),
        (Derivative(Abs(a), a), -1, lt(a, 0)),
        (Derivative(sqrt(a) ** 3, a), Rational(3, 2) * sqrt(a), gt(a, 0)),
        (Derivative(a * Max(0, b), a), b, ge(b, 0)),
        (Derivative((a - b) ** 2, a), 2 * (a - b), equal(a, b)),
        (Derivative(Max(0, a) ** 2, a), 2 * Max(0, a), stated(Ne(a, 0))),
    ):
        assert level(left, "=", right, "derivative", assuming=[assumption]) == "proved"


def test_an_assumption_about_a_range_that_may_be_empty_says_nothing() -> None:
    many = s + Sum(exp(x[j]), (j, 0, n - 2))
    assert level(many, ">", 0, "bound", assuming=[gt(s, 0, {j: n - 1})]) != "proved"
    assert level(s, ">", 0, "bound", assuming=[gt(s, 0, {j: n - 1})], ranges={i: n - 1}) != "proved"
    assert level(s, ">", 0, "bound", assuming=[gt(s, 0, {j: n})]) == "proved"
    assert level(s, ">", 0, "bound", assuming=[gt(s, 0, {j: n - 1}), ge(n, 2)]) == "proved"
    assert level(x[i], ">", 0, "bound", assuming=[gt(x[j], 0, {j: n - 1})], ranges={i: n - 1}) == "proved"
    assert level(a, "=", a, "algebra", ranges={i: Integer(0)}) == "unknown"


def test_a_step_with_an_index_of_its_own_says_nothing_of_an_empty_range() -> None:
    """s = s - x_i + x_i > 0 would be a chain over no i at n = 1."""
    steps = (step("algebra", s - x[i] + x[i]), step("bound", 0, ">"))
    chain = derivation("", claim(s, *steps), ranges={i: n - 1}, assuming=[gt(s, 0, {j: n - 1})])
    assert judge(chain).level != "proved"


weights, whole = IndexedBase("p", positive=True, shape=(n,)), Function("f", integer=True)
positive_function = Function("g", positive=True)
ALL = Sum(weights[j], (j, 0, n - 1))
NOT_FALSE: dict[str, tuple[Any, str, Any, str, dict[str, Any]]] = {
    "a positive array": (Abs(ALL, evaluate=False), "=", ALL, "algebra", {}),
    "an entry of it": (weights[i], ">", 0, "bound", {"ranges": {i: n}}),
    "an integer function": (
        Iverson(Gt(whole(a), 0, evaluate=False)), "=", Iverson(Ge(whole(a), 1, evaluate=False)), "algebra", {}
    ),
    "a positive function": (Abs(positive_function(a), evaluate=False), "=", positive_function(a), "algebra", {}),
    "an equation without symbols": (f(0) * a, "=", 0, "algebra", {"assuming": [equal(f(0), 0)]}),
    "a slope at the edge of a bracket": (
        Derivative(x[i] * Iverson(Ge(x[i], 0)), x[i]), "=", Iverson(Gt(x[i], 0)), "derivative", {"ranges": {i: n}}
    ),
    "a sum of -1 places": (Sum(j, (j, 0, n - 3)), "=", (n - 3) * (n - 2) / 2, "algebra", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_FALSE)
def test_no_counterexample_lies_outside_of_what_was_declared_or_stated(name: str) -> None:
    left, relation, right, rule, setting = NOT_FALSE[name]
    assert level(left, relation, right, rule, **setting) != "refuted"


def test_counterexamples_are_still_found_inside() -> None:
    assert level(weights[i], "<", 0, "bound", ranges={i: n}) == "refuted"
    assert level(positive_function(a), "<=", 0, "bound") == "refuted"
    assert level(f(0) * a, "=", a, "algebra") == "refuted"
    assert level(Derivative(Abs(a), a), "=", 1, "derivative") == "refuted"
    assert level(Derivative(x[i] * Iverson(Ge(x[i], 0)), x[i]), "=", 5, "derivative", ranges={i: n}) == "refuted"
    assert level(Sum(j, (j, 0, n - 2)), "=", n * (n - 1), "algebra") == "refuted"


def test_two_symbols_of_one_name_give_no_counterexample() -> None:
    other = Symbol("a", positive=True)
    assert level(Abs(other, evaluate=False) + a - a, "=", other, "algebra") != "refuted"


negative = Symbol("q", negative=True)
CONTRADICTORY: dict[str, list[Assumption]] = {
    "signs": [gt(a, 0), lt(a, 0)],
    "two values": [equal(a, 1), equal(a, 2)],
    "sizes": [ge(n, 3), stated(Le(n, 2, evaluate=False))],
    "two sizes": [equal(n, 2), equal(n, 3)],
    "half a size": [equal(2 * n, 5)],
    "no size": [lt(n, 1)],
    "entries": [gt(x[j], 0, {j: n}), lt(x[j], 0, {j: n})],
    "an entry and all": [gt(x[i], 0), lt(x[j], 0, {j: n})],
    "a cycle": [lt(a, b), lt(b, c), lt(c, a)],
    "a declaration": [ge(negative, 1)],
    "a square": [lt(a**2, 0)],
    "a square and its root": [gt(a, 2), lt(a**2, 1)],
    "a product": [gt(a, 0), lt(b, 0), gt(a * b, 0)],
    "a product that is 1": [equal(a * b, 1), equal(a, 0)],
    "a sum": [gt(x[j], 0, {j: n}), stated(Le(Sum(x[j], (j, 0, n - 1)), 0, evaluate=False))],
    "weights that are 0": [equal(Sum(x[j], (j, 0, n - 1)), 1), equal(x[j], 0, {j: n})],
    "an exponential": [lt(exp(a), 0)],
    "a moment": [lt(E(x[j] ** 2), 0, {j: n})],
    "two moments": [equal(E(x[j]), 0, {j: n}), equal(E(x[j]), 1, {j: n})],
    "a corner": [ge(a, 0), stated(Le(a, 0, evaluate=False)), stated(Ne(a, 0))],
}
SATISFIABLE: dict[str, list[Assumption]] = {
    "signs": [gt(a, 0), lt(b, 0)],
    "weights": [equal(Sum(x[j], (j, 0, n - 1)), 1), ge(x[j], 0, {j: n})],
    "a large size": [equal(n, 64)],
    "different sizes": [equal(a, n - m), gt(a, 0)],
    "a corner": [ge(a, 0), stated(Le(a, 0, evaluate=False))],
    "a chain": [lt(a, b), lt(b, c)],
    "moments": [equal(E(x[j]), 0, {j: n}), equal(E(x[j] * x[l]), KroneckerDelta(j, l), {j: n, l: n})],
    "an even size": [equal(Mod(n, 2), 0)],
    "a range that may be empty": [gt(a, 0, {j: n - 1}), lt(a, 0)],
}


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_nothing_is_proved_of_what_cannot_be(name: str) -> None:
    evidence = judge(derivation("", claim(s, step("algebra", s)), assuming=CONTRADICTORY[name], ranges={i: n}))
    assert evidence.level == "unknown"
    assert "no values satisfy the assumptions" in evidence.failures[0]


@pytest.mark.parametrize("name", SATISFIABLE)
def test_what_can_be_is_not_taken_for_a_contradiction(name: str) -> None:
    assert level(s, "=", s, "algebra", assuming=SATISFIABLE[name], ranges={i: n}) == "proved"


def test_the_definitions_count_among_what_contradicts() -> None:
    let = Equations()
    square = let("y")(Tabulated(Lambda((l,), x[l] ** 2), n))
    below = [lt(square[j], 0, {j: n})]
    assert level(s, "=", s, "algebra", assuming=below, about=tuple(let)) == "unknown"
