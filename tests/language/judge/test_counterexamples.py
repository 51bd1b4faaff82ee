"""Counterexamples: where a step is false, the judge says so by values inside the assumptions, and by none outside."""

from sympy import Basic, Eq, Expr, Ge, Integer, Lambda, Max, Mod, Rational, Sum, exp

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array
from derivations.language.arrays.scalars import Rounded
from derivations.language.judge.proof import StepEvidence, judge, prove_equal
from derivations.language.layers.layer import Equations
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import d, i, j, k, n, pos, scalar

x, a, b = array("x", n), scalar("a"), scalar("b")


def decided(left: Basic, right: Expr | int, rule: str = "algebra", **setting: object) -> StepEvidence:
    return judge(derivation("", claim(left, step(rule, right)), **setting)).claims[0][0]


def test_a_wrongly_rounded_number_is_refuted() -> None:
    assert decided(Rounded(exp(Integer(1)), Integer(2)), Rational(272, 100), "rounding").level == "proved"
    evidence = decided(Rounded(exp(Integer(1)), Integer(2)), Rational(271, 100), "rounding")
    assert evidence.level == "refuted"
    assert evidence.reason == "the left side is 2.72, the right side 2.71"
    assert decided(Rounded(-exp(Integer(1)), Integer(1)), Rational(-28, 10), "rounding").level == "refuted"


def test_a_half_rounds_neither_way() -> None:
    for value in (0, 1):
        assert decided(Rounded(Rational(1, 2), Integer(0)), value, "rounding").level == "unknown"


def test_sizes_are_multiples_where_that_is_assumed() -> None:
    even = [Assumption(Eq(Mod(d, 2), 0, evaluate=False))]
    half = Sum(1, (j, 0, d / 2 - 1))
    assert decided(half, d / 2, assuming=even).level == "proved"
    evidence = decided(half, d / 2 + 1, assuming=even)
    assert evidence.level == "refuted"
    assert "d = " in evidence.reason
    assert int(dict(evidence.counterexample.values)["d"]) % 2 == 0 if evidence.counterexample else False


def test_the_range_of_an_index_may_depend_on_another() -> None:
    ranges = {j: n - k, k: n}
    assert decided(x[j + k], x[k + j], ranges=ranges).level == "proved"
    evidence = decided(x[j + k], x[j], ranges=ranges)
    assert evidence.level == "refuted"
    assert evidence.counterexample is not None
    values = {name: int(value) for name, value in evidence.counterexample.values}
    assert values["j"] + values["k"] - 1 <= values["n"]  # both count from 1, as in the text


def test_the_scalars_of_definitions_are_named() -> None:
    let = Equations()
    top = let("top")(Tabulated(Lambda((), Max(a, b)))).entry()
    least = let("least")(Tabulated(Lambda((), -Max(-a, -b)))).entry()
    evidence = decided(top, least, about=tuple(let))
    assert evidence.level == "refuted"
    assert "a = " in evidence.reason
    assert "top = " not in evidence.reason


def test_no_counterexample_is_taken_from_outside_the_assumptions() -> None:
    """X_i = |x_i| is false, but not where x is nonnegative; there it may stay undecided, not refuted."""
    wrong = decided(Max(x[i], -x[i]), x[i], ranges={i: n})
    assert wrong.level == "refuted"
    assumed = [Assumption(Ge(x[i], 0), {i: n})]
    assert decided(Max(x[i], -x[i]), x[i], ranges={i: n}, assuming=assumed).level != "refuted"


def test_indices_count_from_one_as_in_the_text() -> None:
    """The entry that is named is the one that the index of the text reads; positions count from 0, there and here."""
    evidence = decided(x[i], x[i] * 2, ranges={i: n})
    place = dict(evidence.counterexample.values)["i"] if evidence.counterexample else ""
    assert f"x_{place} = " in evidence.reason and "[" not in evidence.reason and place != "0"
    beside = decided(x[pos], x[pos] * 2, ranges={pos: n})
    place = dict(beside.counterexample.values)["pos"] if beside.counterexample else ""
    assert f"x_{place} = " in beside.reason
    constant = decided(pos + 1, pos + 2, ranges={pos: 1})
    assert "pos = 0" in constant.reason


def test_an_entry_of_two_arrays_is_named_by_its_place() -> None:
    X, Y = array("X", n, d), array("Y", n, d)
    evidence = prove_equal(X @ Y.T, Y @ X.T)
    assert evidence.counterexample is not None and evidence.counterexample.place == (2, 1)
    assert " in entry (2, 1) the left side is " in evidence.reason and "place" not in evidence.reason
    assert " in entry 1 the left side is " in prove_equal(x, 2 * x).reason


def test_two_shapes_are_said_before_an_entry() -> None:
    X = array("X", n, d)
    assert prove_equal(X, X.T).reason.startswith("the left side has shape (n, d), the right side (d, n): at ")
    assert "shape" not in prove_equal(X, 2 * X).reason


def test_evidence_is_printed_as_a_sentence() -> None:
    assert str(prove_equal(x, x)) == "proved"
    assert str(prove_equal(x, 2 * x)).startswith("refuted: at n = ")
    assert str(prove_equal(a, b, rule="nosuch")).startswith("unknown: there is no rule")
    evidence = judge(derivation("", claim(x, step("algebra", 2 * x))))
    first, second = str(evidence).splitlines()
    assert first == "refuted" and second.startswith("claim 1, step 1 (algebra): refuted: at n = ")
    assert repr(evidence).startswith("Evidence(")


def test_an_index_without_a_range_is_named_on_either_side() -> None:
    hint = r"j has no range (say how many values it has: ranges={j: n})"
    for left, right in ((x[j], Integer(1)), (Sum(x[i], (i, 0, n - 1)), x[j])):
        evidence = decided(left, right)
        assert evidence.level == "unknown" and evidence.reason.endswith(hint)
    assert "no range" not in decided(x[j], 2 * x[j], ranges={j: n}).reason
    assert "no range" not in decided(Sum(x[j], (j, 0, n - 1)), a).reason


def test_a_counterexample_is_of_ordinary_size_where_one_is_found() -> None:
    """The first values that refute it here give a power of e with an exponent beyond a million."""
    t, c = scalar("t"), scalar("c", positive=True)
    value = exp(-exp(-2 * c * t))
    evidence = decided(value, -value)
    assert evidence.level == "refuted"
    assert evidence.counterexample is not None
    assert not evidence.counterexample.extreme
    assert abs(float(evidence.counterexample.left)) > 1e-6


def test_extreme_values_refute_where_there_are_no_others() -> None:
    """A side that is never small is refuted all the same."""
    evidence = decided((a**2 + 1) * 10**12, (a**2 + 2) * 10**12)
    assert evidence.level == "refuted"
    assert evidence.counterexample is not None
    assert evidence.counterexample.extreme
