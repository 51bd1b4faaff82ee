"""Signs that a form shows, and equalities proved order by order: what holds is proved, its neighbour is not."""

import pytest
from sympy import Basic, Expr, Ge, Gt, I, Lambda, Lt, Max, Min, Rational, Sum, Symbol, erf, exp, log, tanh

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equations
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import j, k, n, scalar, size

a, b, c, d = map(scalar, "abcd")
p, q = scalar("p", positive=True), scalar("q", positive=True)
x = array("x", n)
total = Sum(x[j], (j, 0, n - 1))


def sign(of: Expr, relation: str, *form: Expr, assuming: tuple[Assumption, ...] = ()) -> str:
    return str(judge(derivation("", claim(of, step("bound", 0, relation, *form)), assuming=assuming)).level)


SHOWN = [
    ("exp lies above its tangent", exp(a) - 1 - a, ">="),
    ("exp lies above the identity", exp(a * b) - a * b, ">"),
    ("the same, three times", 3 * exp(a) - 3 * a - 3, ">="),
    ("log of 1 + a square", log(1 + a**2), ">="),
    ("log of 1 + a positive number", log(1 + exp(a)), ">"),
    ("erf stays below 1", 1 - erf(a + b), ">"),
    ("erf stays above -1", 1 + erf(a), ">"),
    ("tanh stays below 1", 1 - tanh(a), ">"),
    ("the tail of tanh", 2 * exp(-2 * a) - 1 + tanh(a), ">="),
    ("the tail of erf", exp(-(p**2)) - 1 + erf(p), ">="),
    ("a maximum is no smaller than its parts", Max(a, b) - b, ">="),
    ("exp decays", 1 - exp(-p), ">"),
    ("exp increases", exp(a + p) - exp(a), ">"),
    ("a bias correction", 1 - Rational(999, 1000) ** n, ">"),
    ("a number below 1 and a size more", 1 - Rational(9, 10) ** (n + 1), ">"),
    ("powers of two bases", Rational(9, 10) ** n - Rational(4, 5) ** n, ">"),
    ("two exponents", 1 - Rational(4, 5) ** n * 2**-p, ">"),
    ("times a size", n - n * Rational(1, 2) ** n, ">"),
]
HIDDEN = [
    ("a base above 1", 1 - Rational(1001, 1000) ** n, ">="),
    ("an exponent of any sign", 1 - Rational(1, 2) ** a, ">="),
    ("a coefficient that outweighs the power", 1 - 3 * Rational(1, 2) ** n, ">="),
    ("powers with different exponents", Rational(9, 10) ** n - Rational(4, 5) ** size("m"), ">="),
    ("a second base that rises", 1 - Rational(4, 5) ** n * 2**p, ">="),
    ("times a number of any sign", a - a * Rational(1, 2) ** n, ">="),
    ("exp is not strictly above its tangent", exp(a) - 1 - a, ">"),
    ("exp lies below 2 + a at 0", exp(a) - 2 - a, ">="),
    ("a tangent elsewhere", exp(a) - 1 - b, ">="),
    ("log of what may be below 1", log(1 + a), ">="),
    ("log of 1 + a square may be 0", log(1 + a**2), ">"),
    ("erf may exceed 1/2", 1 - 2 * erf(a), ">"),
    ("the tail of erf at negative numbers", exp(-(a**2)) - 1 + erf(a), ">="),
    ("a tail of tanh too thin", exp(-2 * a) - 1 + tanh(a), ">="),
    ("a minimum", Min(a, b) - b, ">="),
    ("a maximum may be equal", Max(a, b) - b, ">"),
    ("exp of what may be positive", 1 - exp(-a), ">"),
    ("the wrong way", exp(a) - exp(a + p), ">"),
    ("minus a fact", 1 + a - exp(a), ">="),
]


@pytest.mark.parametrize(("of", "relation"), [case[1:] for case in SHOWN], ids=[case[0] for case in SHOWN])
def test_a_sign_is_shown(of: Expr, relation: str) -> None:
    assert sign(of, relation) == "proved"


@pytest.mark.parametrize(("of", "relation"), [case[1:] for case in HIDDEN], ids=[case[0] for case in HIDDEN])
def test_no_other_sign_is(of: Expr, relation: str) -> None:
    assert sign(of, relation) in ("unknown", "refuted")


def test_known_inequalities_are_of_real_numbers() -> None:
    z = Symbol("z")
    assert sign(exp(z) - 1 - z, ">=") != "proved"
    assert sign(exp(I * a) - I * a, ">") != "proved"


def test_a_logarithm_that_has_a_sign_is_defined() -> None:
    """The difference p + log 2 - log(1 + exp(p)), whose form hides that 2 / (1 + exp(-p)) is positive."""
    form = log(1 + (1 - exp(-p)) / (1 + exp(-p)))
    assert sign(p + log(2) - log(1 + exp(p)), ">=", form) == "proved"
    assert sign((p + log(2) - log(1 + exp(p))).xreplace({p: a}), ">=", form.xreplace({p: a})) == "refuted"


def test_a_sum_of_what_is_assumed_positive_is_positive() -> None:
    positive, weak = Assumption(Gt(x[k], 0), {k: n}), Assumption(Ge(x[k], 0, evaluate=False), {k: n})
    assert sign(total, ">", assuming=(positive,)) == "proved"
    assert sign(total, ">", assuming=(weak,)) == "unknown"
    assert sign(Sum(x[j], (j, 0, n - 2)), ">", assuming=(positive,)) == "unknown"  # empty for n = 1
    assert sign(total, ">", assuming=(Assumption(Gt(x[k], 0), {k: n - 1}),)) != "proved"
    shares = claim(Sum(x[j] / total, (j, 0, n - 1)), step("algebra", 1))
    assert judge(derivation("", shares, assuming=[positive])).level == "proved"
    assert judge(derivation("", shares, assuming=[weak])).level == "unknown"


# --- every order ----------------------------------------------------------------------------------------------------


def nested() -> tuple[Equations, list[Expr]]:
    """Return max(max(a, b), c), max(a, max(b, c)) and max(b, c), each under a name."""
    let, names = Equations(), []
    for name, left, right in (("p", a, b), ("q", b, c)):
        names.append(let(f"m_{name}")(Tabulated(Lambda((), Max(left, right)))).entry())
    left = let("m_l")(Tabulated(Lambda((), Max(names[0], c)))).entry()
    right = let("m_r")(Tabulated(Lambda((), Max(a, names[1])))).entry()
    return let, [left, right, names[1]]


def ordered(left: Basic, right: Basic, *numbers: Expr, about: Equations | None = None) -> str:
    one = claim(left, step("order", right, "=", *numbers))
    return str(judge(derivation("", one, about=tuple(about or ()))).level)


def test_an_equality_may_be_proved_order_by_order() -> None:
    let, (left, right, inner) = nested()
    assert ordered(left, right, a, b, c, about=let) == "proved"
    assert ordered(left, right, a, c, about=let) == "unknown"  # the place of b is open
    assert ordered(left, inner, a, b, c, about=let) == "refuted"  # holds in four of the six orders


def test_an_order_is_of_two_to_four_real_numbers() -> None:
    assert ordered(Max(a, b) + Min(a, b), a + b, a, b) == "proved"
    assert ordered(Max(a, b) - Min(a, b), a - b, a, b) == "refuted"
    assert ordered(a, a) == "unknown"
    assert ordered(a, a, a) == "unknown"
    assert ordered(a, a, a, b, c, d, p) == "unknown"
    assert ordered(a, a, a, Symbol("z")) == "unknown"
    assert str(judge(derivation("", claim(a, step("order", a + p, "<=", a, p)))).level) == "unknown"


def test_assumptions_hold_in_every_order() -> None:
    known = (Assumption(Lt(a, b)),)
    one = claim(Max(a, b), step("algebra", b))
    assert judge(derivation("", one, assuming=known)).level == "proved"
    assert judge(derivation("", one)).level == "refuted"


def test_a_stated_bound_of_sizes_and_something_more() -> None:
    """With n >= w, the n - w + 1 windows of width w are never less than none."""
    w = size("w")
    count = claim(Sum(1, (j, 0, n - w)), step("constant summand", n - w + 1))
    assert judge(derivation("", count, assuming=[Assumption(Ge(n - w, 0))])).level == "proved"
    assert judge(derivation("", count, assuming=[Assumption(Ge(n - w, -1))])).level == "proved"
    assert judge(derivation("", count, assuming=[Assumption(Ge(n - w, -2))])).level != "proved"
    assert judge(derivation("", count)).level != "proved"
