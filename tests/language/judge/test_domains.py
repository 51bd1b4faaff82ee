"""What cancels when an entry is written down must not lose the condition under which it is defined."""

from collections.abc import Callable

import pytest
from sympy import Basic, Expr, Integer, Lambda, Ne, log, sqrt

from derivations.language.arrays.arrangements import Concatenate, Explicit, SumOver, Tabulated
from derivations.language.arrays.expression import Array, Member, RowBroadcast, Scaled, array
from derivations.language.arrays.functions import Hadamard, RowSum, named
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import h, i, j, k, n, scalar

a, u = scalar("a"), scalar("u")
x, W = array("x", n), array("W", h, n)
inverse, root, logarithm = named("inverse", 1 / u, u), named("root", sqrt(u), u), named("logarithm", log(u), u)


def vector(of: Expr | int) -> Array:
    return Tabulated(Lambda((i,), of), n)


def diagonal(of: Expr) -> Array:
    return Explicit([[of, 0], [0, of]])


ones, reciprocal = vector(Integer(1)), vector(1 / x[i])
nonzero = Assumption(Ne(x[i], 0), {i: n})
nowhere = Assumption(Ne(W[i, k], 0), {i: h, k: n})


def whole(value: Array) -> Equations:
    let = Equations()
    let("y")(value)
    return let


CANCELLED: dict[str, tuple[Callable[[], tuple[Basic, Basic]], Assumption]] = {
    "a product of tables": (lambda: (Hadamard(reciprocal, x), ones), nonzero),
    "a difference of tables": (lambda: (reciprocal - reciprocal, 0 * ones), nonzero),
    "a matrix product": (lambda: (RowBroadcast(reciprocal, h) @ x, Tabulated(Lambda((i,), n), h)), nonzero),
    "inside a sum of rows": (
        lambda: (RowSum(RowBroadcast(Hadamard(reciprocal, x), h)), Tabulated(Lambda((i,), n), h)),
        nonzero,
    ),
    "a function against its argument": (lambda: (Hadamard(inverse(x), x), ones), nonzero),
    "members of a family, side by side": (
        lambda: (
            Concatenate(Hadamard(Tabulated(Lambda((j,), 1 / W[i, j]), n), Member(W, i)), i, h),
            Concatenate(ones, i, h),
        ),
        nowhere,
    ),
    "members of a family, summed": (
        lambda: (SumOver(Hadamard(inverse(Member(W, i)), Member(W, i)), i, h), Scaled(h, ones)),
        nowhere,
    ),
    "a matrix written out": (lambda: (diagonal(1 / a) @ diagonal(a), diagonal(Integer(1))), Assumption(Ne(a, 0))),
}


@pytest.mark.parametrize("what", CANCELLED)
def test_a_cancelled_condition_is_asked_for(what: str) -> None:
    sides, condition = CANCELLED[what]
    left, right = sides()
    one = claim(left, step("algebra", right))
    assert judge(derivation("", one, assuming=[condition])).level == "proved"
    evidence = judge(derivation("", one))
    assert evidence.level == "unknown"
    assert "is nonzero" in evidence.failures[0]


@pytest.mark.parametrize("value", [root(x) - root(x), logarithm(x) - logarithm(x)], ids=str)
def test_roots_and_logarithms_have_domains_too(value: Array) -> None:
    assert judge(derivation("", claim(value, step("algebra", 0 * ones)))).level == "unknown"


def test_the_condition_of_a_definition_is_that_of_the_entry_in_question() -> None:
    let = whole(Hadamard(reciprocal, x))
    y = array("y", n)
    one = claim(y[0], step("algebra", 1))
    assert judge(derivation("", one, about=tuple(let))).level == "unknown"
    assert judge(derivation("", one, about=tuple(let), assuming=[Assumption(Ne(x[0], 0))])).level == "proved"
    assert judge(derivation("", one, about=tuple(let), assuming=[nonzero])).level == "proved"


def test_the_condition_of_a_family_is_kept() -> None:
    let, Y = Equations(), array("Y", h, n)
    let("Y", over=(i, h))(Hadamard(inverse(Member(W, i)), Member(W, i)))
    one = claim(Y[i, k], step("algebra", 1))
    assert judge(derivation("", one, about=tuple(let), ranges={i: h, k: n})).level == "unknown"
    assert judge(derivation("", one, about=tuple(let), ranges={i: h, k: n}, assuming=[nowhere])).level == "proved"


def test_the_condition_of_a_definition_is_kept_in_an_equality_of_arrays() -> None:
    """Y = x/x is named and used as an array: the condition is that of its definition, for every entry."""
    let = whole(Hadamard(reciprocal, x))
    one = claim(array("y", n), step("algebra", ones))
    assert judge(derivation("", one, about=tuple(let))).level == "unknown"
    assert judge(derivation("", one, about=tuple(let), assuming=[nonzero])).level == "proved"


difference = named("difference", u - a, u, a)
VANISHING = [
    Scaled(Integer(0), inverse(x)),
    difference(inverse(x), inverse(x)),
    Hadamard(vector(Integer(0)), inverse(x)),
    Scaled(Integer(0), Hadamard(reciprocal, x)),
]


@pytest.mark.parametrize("value", VANISHING, ids=str)
def test_what_vanishes_must_be_defined_too(value: Array) -> None:
    let, nothing = whole(value), vector(Integer(0))
    for left in (value, array("y", n)):
        one = claim(left, step("algebra", nothing))
        assert judge(derivation("", one, about=tuple(let))).level == "unknown"
        assert judge(derivation("", one, about=tuple(let), assuming=[nonzero])).level == "proved"


def test_a_layer_applied_to_arrays_is_looked_into() -> None:
    inside = Layer("shares", (x,), (), whole(Hadamard(Scaled(Integer(0), inverse(x)), x)), array("y", n))
    applied = part("shares", inside)(x)
    one = claim(applied, step("algebra", vector(Integer(0))))
    assert judge(derivation("", one)).level == "unknown"
    assert judge(derivation("", one, assuming=[nonzero])).level == "proved"
