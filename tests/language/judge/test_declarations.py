"""What was declared of a name: one name has one declaration, and a bound one stands for nothing that it excludes."""

from collections.abc import Callable
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
    IndexedBase,
    Integer,
    KroneckerDelta,
    Lambda,
    Max,
    Ne,
    Subs,
    Sum,
    Symbol,
    cos,
    exp,
    floor,
    pi,
    sqrt,
)

from derivations.language.arrays.arrangements import Concatenate, SumOver, Tabulated
from derivations.language.arrays.exponentials import row_exponentials
from derivations.language.arrays.expression import Member, Scaled, Variable, array, mask_array, token_array
from derivations.language.arrays.functions import Hadamard, named
from derivations.language.arrays.scalars import Expectation, Iverson, Variance
from derivations.language.arrays.selection import Windows
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equation, Equations, Layer, part
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.language.results.statements import Rank
from derivations.symbols import d, h, i, j, k, m, n, scalar, size

w = size("w")
x, y = array("x", n), array("y", n)
a, b, s = scalar("a"), scalar("b"), scalar("s")
z, negative, whole = Symbol("z", positive=True), Symbol("z", negative=True), Symbol("z", integer=True)
even, counting = Symbol("z", even=True), Symbol("i", integer=True, positive=True)
p, q = IndexedBase("x", positive=True, shape=(n,)), IndexedBase("x", real=True)
f, F, G = Function("f", real=True), Function("F", commutative=False), Function("G", commutative=False)
A, B, H = Symbol("A", commutative=False), Symbol("B", commutative=False), IndexedBase("H", commutative=False)
sigma = Function("sigma", integer=True, positive=True)
size_of_z = named("size_of", Abs(z), z)
above_0 = Assumption(Gt(x[j], 0), {j: n})


def equal(left: Any, right: Any, rule: str = "algebra", **setting: Any) -> str:
    """Return what the judge says of an equality."""
    return str(judge(derivation("", claim(left, step(rule, right)), **setting)).level)


def bound(left: Basic, relation: str, right: Any = 0, rule: str = "bound", **setting: Any) -> str:
    """Return what the judge says of an inequality."""
    return str(judge(derivation("", claim(left, step(rule, right, relation)), **setting)).level)


def identity() -> Layer:
    """Return a layer with a weight v: x + v."""
    u, v, let = array("u", n), array("v", n), Equations()
    return Layer("identity", [u], [v], let, let("o")(u + v))


def first_of_family() -> str:
    """Decide the first entry of a family whose index is declared to count from 1."""
    whole_array = array("Z", n)
    member = Member(whole_array, counting)
    family = Equation(member, Tabulated(Lambda((), KroneckerDelta(counting, 0))), counting, n)
    return equal(whole_array[0], 0, about=[family])


TWO_DECLARATIONS: dict[str, Callable[[], str]] = {
    "a positive and a real array": lambda: equal(Abs(p[i]), x[i], ranges={i: n}),
    "their sums": lambda: equal(Abs(Sum(p[j], (j, 0, n - 1))), Sum(x[j], (j, 0, n - 1))),
    "a definition of a positive array": lambda: equal(Abs(p[i]), -y[i], ranges={i: n}, about=[Equation(x, -y)]),
    "an integer array and a real one": lambda: equal(
        Iverson(Gt(token_array("x", n)[i], 0)), Iverson(Ge(x[i], 1)), ranges={i: n}
    ),
    "a mask and an integer array": lambda: equal(
        mask_array("x", n)[i], Iverson(Ne(token_array("x", n)[i], 0)), ranges={i: n}
    ),
    "two sizes": lambda: equal(x[0], array("x", m)[0]),
    "two sizes, one of them assumed to be larger": lambda: equal(
        Sum(x[j], (j, 0, n - 1)), Sum(array("x", m)[j], (j, 0, n - 1)), assuming=[Assumption(Ge(m, n))]
    ),
    "two ranks": lambda: equal(array("x", n, n)[i, i], x[i], ranges={i: n}),
    "axes in another order": lambda: equal(array("X", n, d)[i, j], array("X", d, n)[i, j], ranges={i: n, j: n}),
    "a definition of another size": lambda: equal(array("x", m)[0], y[0], about=[Equation(x, y)]),
    "an assumption about another size": lambda: bound(
        x[i], ">=", ranges={i: n}, assuming=[Assumption(Ge(array("x", m)[j], 0), {j: m})]
    ),
    "a weight of a part of another size": lambda: equal(
        part("p", identity())(y)[i], y[i] + array("p.v", n, n)[i, i], ranges={i: n}
    ),
    "two functions": lambda: equal(Abs(Function("f", positive=True)(a)), f(a)),
    "two symbols": lambda: equal(Abs(Symbol("q", negative=True)), -Symbol("q", real=True)),
}

NOT_COMMUTING: dict[str, Callable[[], str]] = {
    "functions": lambda: equal(F(a) * G(a), G(a) * F(a)),
    "symbols": lambda: equal(A * B, B * A),
    "entries": lambda: equal(H[0] * H[1], H[1] * H[0]),
    "sums": lambda: equal(Sum(H[j] * H[0], (j, 0, n - 1)), Sum(H[0] * H[j], (j, 0, n - 1))),
    "derivatives": lambda: equal(Derivative(F(a), a) * A, A * Derivative(F(a), a), "derivative"),
    "exponentials": lambda: equal(exp(A + B), exp(A) * exp(B)),
    "tables": lambda: equal(Tabulated(Lambda((i,), H[i] * H[0]), n), Tabulated(Lambda((i,), H[0] * H[i]), n)),
    "assumptions": lambda: equal(a, b, "assumption", assuming=[Assumption(Eq(a, b + A * B - B * A, evaluate=False))]),
    "expectations": lambda: equal(Expectation(x[0]) * A * B, B * A * Expectation(x[0]), "linearity of expectation"),
}

BOUND: dict[str, Callable[[], str]] = {
    "|z| of z > 0 used on reals": lambda: equal(size_of_z(x), x),
    "max(0, z) of z > 0": lambda: equal(named("f", Max(0, z), z)(x), x),
    "|z| of z < 0": lambda: equal(named("f", Abs(negative), negative)(x), -x),
    "floor z of an integer z": lambda: equal(named("f", floor(whole) + 1, whole)(x)[i], x[i] + 1, ranges={i: n}),
    "cos(pi z) of an even z": lambda: equal(named("f", cos(pi * even), even)(x), Tabulated(Lambda((i,), 1), n)),
    "the second of two variables": lambda: equal(named("f", a * sqrt(z**2), a, z)(x, y), Hadamard(x, y)),
    "inside another function": lambda: equal(named("g", z + 1, z)(named("f", Abs(s), s)(x)), named("f", Abs(s), s)(x)),
    "hidden by 0": lambda: equal(Scaled(Integer(0), size_of_z(x)) + x, x),
    "an assumption that is too weak": lambda: equal(size_of_z(x), x, assuming=[Assumption(Ge(x[j], -1), {j: n})]),
    "a table whose index counts from 1": lambda: equal(
        Tabulated(Lambda((counting,), KroneckerDelta(counting, 0)), n), Tabulated(Lambda((i,), Integer(0)), n)
    ),
    "blocks whose index does": lambda: equal(
        Concatenate(Tabulated(Lambda((j,), KroneckerDelta(counting, 0)), d), counting, h),
        Concatenate(Tabulated(Lambda((j,), Integer(0)), d), i, h),
    ),
    "a sum over a family": lambda: equal(
        SumOver(Tabulated(Lambda((j,), Max(counting, 1)), d), counting, h),
        SumOver(Tabulated(Lambda((j,), i), d), i, h),
    ),
    "a family of equations": first_of_family,
    "an assumption for all places": lambda: bound(x[0], ">=", assuming=[Assumption(Ge(x[counting], 0), {counting: n})]),
    "a permutation that takes the value 0": lambda: equal(
        Sum(Max(sigma(j), 1), (j, 0, n - 1)), Sum(j, (j, 0, n - 1)), bijections=[("sigma", "tau", n)]
    ),
    "a value put in": lambda: equal(Subs(Abs(z), z, s), s),
    "an entry put in": lambda: equal(Subs(Abs(z), z, x[i]), x[i], ranges={i: n}),
    "an integer put in": lambda: equal(Subs(floor(whole), whole, s), s),
}

NAMES: dict[str, Callable[[], str]] = {
    "a general place": lambda: equal(Tabulated(Lambda((i,), x[Symbol("place 1", integer=True)]), n), x),
    "the same with a no-break space": lambda: equal(
        Tabulated(Lambda((i,), x[Symbol("place\xa01", integer=True)]), n), x
    ),
    "any index": lambda: equal(x[Symbol("any i", integer=True)], x[i], ranges={i: n}),
    "an argument": lambda: equal(Subs(Symbol("argument 1 0", real=True) * a, a, b), b**2),
    "a mark of what was declared": lambda: bound(array("x\x1fpositive", n)[0], ">"),
    "a mark of an integer": lambda: equal(array("x\x1finteger", n)[0], token_array("x", n)[0]),
    "its spelling": lambda: equal(array("t (integer)", n)[0], token_array("t", n)[0]),
    "a mark of a symbol": lambda: equal(x[Symbol("\x1fplace 1", integer=True)], x[0], ranges={i: n}),
    "the largest of a row": lambda: equal(
        row_exponentials(x)[0],
        exp(x[0] - Function("largest", real=True)(Sum(Function("share", real=True)(j, x[j]), (j, 0, n - 1)))),
    ),
}

EXISTING: dict[str, Callable[[], str]] = {
    "rank at an inner size that may be negative": lambda: bound(
        Rank(array("A", d, n - 2) @ array("B", n - 2, d)), "<=", n - 2, "rank of a product"
    ),
    "rank of windows that may not fit": lambda: bound(
        Rank(Windows(array("X", n, d), w)), "<=", n - w + 1, "rank of a product"
    ),
    "rank at an index without a range": lambda: bound(Rank(array("A", d, k)), "<=", k, "rank of a product"),
    "variance of an array of rank 0": lambda: equal(Variance(array("t").entry()), 0, "variance"),
    "expectation of its square": lambda: equal(
        Expectation(array("t").entry() ** 2), array("t").entry() ** 2, "linearity of expectation"
    ),
}


@pytest.mark.parametrize("table", [TWO_DECLARATIONS, NOT_COMMUTING, BOUND, NAMES, EXISTING])
def test_what_a_declaration_excludes_is_not_proved(table: dict[str, Callable[[], str]]) -> None:
    """No false statement of the table is proved, and none is taken for a definition."""
    assert [name for name, decide in table.items() if decide() in ("proved", "definition")] == []


TRUE: dict[str, Callable[[], str]] = {
    "a positive array is positive": lambda: bound(p[i], ">", ranges={i: n}),
    "so is its sum": lambda: equal(Abs(Sum(p[j], (j, 0, n - 1)), evaluate=False), Sum(p[j], (j, 0, n - 1))),
    "so is a product of positive functions": lambda: bound(
        Function("f", positive=True)(a) * Function("f", positive=True)(b), ">"
    ),
    "a nonnegative array has a root": lambda: equal(
        sqrt(mask_array("M", n).base[i]) ** 2, mask_array("M", n).base[i], ranges={i: n}
    ),
    "an integer function takes no value between 0 and 1": lambda: equal(
        Iverson(Gt(Function("f", integer=True)(a), 0)), Iverson(Ge(Function("f", integer=True)(a), 1))
    ),
    "an array without a stated size": lambda: equal(q[i] * 2, x[i] + x[i], ranges={i: n}),
    "one size written in two ways": lambda: equal(
        array("x", n * (n + 1))[0], array("x", n**2 + n)[0], assuming=[Assumption(Ge(n, 2))]
    ),
    "an array and a symbol of one name": lambda: equal(x[i] + Symbol("x", real=True) - x[i], Symbol("x", real=True)),
    "a weight of a part by its name": lambda: equal(part("p", identity())(y), y + array("p.v", n)),
    "other functions": lambda: equal(f(a) * f(b), f(b) * f(a)),
    "|z| where the entries are positive": lambda: equal(size_of_z(x), x, assuming=[above_0]),
    "|z| of an exponential": lambda: equal(size_of_z(named("e", exp(a), a)(x)), named("e", exp(a), a)(x)),
    "|z| of what is put in": lambda: equal(Subs(Abs(z), z, exp(s)), exp(s)),
    "an index that may be 0": lambda: equal(
        Tabulated(
            Lambda((Symbol("u", integer=True, nonnegative=True),), Symbol("u", integer=True, nonnegative=True)), n
        ),
        Tabulated(Lambda((i,), i), n),
    ),
    "a size that is large enough": lambda: bound(
        Rank(array("A", d, n - 2) @ array("B", n - 2, d)),
        "<=",
        n - 2,
        "rank of a product",
        assuming=[Assumption(Ge(n, 2))],
    ),
    "variance of a number": lambda: equal(Variance(a), 0, "variance"),
    "an array of rank 0 less itself": lambda: equal(Variance(array("t").entry() - array("t").entry()), 0, "variance"),
    "a defined scalar by its symbol": lambda: equal(
        s, a + b, about=[Equation(array("s"), Tabulated(Lambda((), a + b)))]
    ),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_a_declaration_admits_is_proved(name: str) -> None:
    """What lies beside the false statements holds."""
    assert TRUE[name]() == "proved"


def test_a_refusal_names_the_two_declarations() -> None:
    """The reason tells what has two declarations, and what does not commute."""
    seen = judge(derivation("", claim(x[0], step("algebra", array("x", m)[0])))).failures
    assert "there are two arrays x with different declarations" in seen[0]
    seen = judge(derivation("", claim(F(a) * G(a), step("algebra", G(a) * F(a))))).failures
    assert "does not commute" in seen[0]


def test_two_declarations_that_do_not_meet_are_accepted() -> None:
    """A definition that the statement does not reach may use the name for something else."""
    other = Variable("y", (m,))
    assert equal(other[0] * 2, other[0] + other[0], about=[Equation(x, y)]) == "proved"
