"""What a person hands to the judge: relations that point both ways, numbers, matrices, and what is none of them."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy
import pytest
from sympy import Basic, Eq, Ge, Gt, Integer, Le, Matrix, Rational, Symbol, eye, false, true

from derivations.language.arrays.arrangements import Explicit, Tabulated
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import named, row_softmax
from derivations.language.judge.proof import judge, prove_equal
from derivations.language.layers.layer import Equation, Equations, Layer
from derivations.language.results.derivation import (
    Assumption,
    Claim,
    Derivation,
    FalseStepError,
    Step,
    claim,
    derivation,
    register,
    step,
)
from derivations.language.results.statements import Conformable
from derivations.symbols import d, i, j, k, m, n, scalar

a, b, s = scalar("a"), scalar("b"), scalar("s")
x, X, Y = array("x", n), array("X", n, d), array("Y", d, m)
_INSIDE = ("object has no attribute", "not enough values", "unhashable", "NoneType' object", "came up", "not iterable")


def chain(*steps: tuple[Any, str]) -> Claim:
    """Return a claim about s, built directly."""
    return Claim(
        s, tuple(Step("bound" if relation != "=" else "algebra", value, relation) for value, relation in steps)
    )


BOTH_WAYS = {
    "<= and >=": chain((s + 1, "<="), (s - 5, ">=")),
    "< and >": chain((s + 1, "<"), (s, ">")),
    "with an equality between": chain((s + 1, "<="), (s + 1, "="), (s - 5, ">=")),
    "an order and an equivalence": Claim(
        Conformable(X, Y), (Step("shape", Eq(d, d, evaluate=False), "iff"), Step("bound", Integer(0), "<="))
    ),
}


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_a_chain_that_points_both_ways_has_no_relation(name: str) -> None:
    """The judge itself says unknown, with a sentence; the claim has no relation, and it cannot be registered."""
    wrong = derivation("both ways", BOTH_WAYS[name])
    evidence = judge(wrong)
    assert evidence.level == "unknown"
    assert all("point one way" in failure for failure in evidence.failures)
    with pytest.raises(ValueError, match="point one way"):
        _ = wrong.relation
    with pytest.raises(FalseStepError, match="point one way"):
        register(wrong, "inputs.both_ways")


@pytest.mark.parametrize(
    ("steps", "relation"),
    [
        ([(s, "=")], "="),
        ([(s + 1, "<=")], "<="),
        ([(s + 1, "<"), (s + 1, "="), (s + 2, "<=")], "<"),
        ([(s, ">="), (s - 1, ">=")], ">="),
        ([(s, "="), (s - 1, ">"), (s - 2, ">=")], ">"),
    ],
)
def test_a_chain_that_points_one_way_has_a_relation(steps: list[Any], relation: str) -> None:
    """Equalities and orders of one direction make one relation; one of them strict makes it strict."""
    stated = derivation("one way", chain(*steps))
    assert stated.relation == relation
    assert judge(stated).level == "proved"


@pytest.mark.parametrize("relation", ["~", "!=", "->", "==", "<=>", ""])
def test_an_unknown_relation_is_not_proved(relation: str) -> None:
    assert judge(derivation("", Claim(s, (Step("algebra", s, relation),)))).level == "unknown"


def test_evidence_does_not_outlive_what_it_was_given_for() -> None:
    """Ranges are fixed, a changed derivation is judged anew, and a pickled one has the same parts."""
    right = derivation("", claim(x[i], step("algebra", x[i])), ranges={i: n})
    assert right.evidence.level == "proved"
    for change in (lambda: right.ranges.pop(i), lambda: right.ranges.update({i: m}), lambda: right.ranges.clear()):
        with pytest.raises(TypeError, match="ranges of a derivation are fixed"):
            change()
    assert replace(right, ranges={}).evidence.level == "unknown"
    assert replace(right, claims=[claim(x[i], step("algebra", x[i] + 1))]).evidence.level == "refuted"
    again = pickle.loads(pickle.dumps(right))
    assert again == right and again.ranges == {i: n} and hash(again.ranges) == hash(right.ranges)


def test_evidence_of_another_derivation_is_no_evidence() -> None:
    """A derivation keeps the evidence that the judge gave for that very object, and takes no other."""
    right, wrong = (derivation("", claim(s, step("algebra", s + number))) for number in (0, 1))
    assert judge(right) is right.evidence
    wrong.__dict__.update(right.__dict__ | {"claims": wrong.claims, "evidence": right.evidence})
    assert wrong.evidence.level == judge(wrong).level == "refuted"
    assert pickle.loads(pickle.dumps(right)).evidence.level == "proved"


def test_lists_that_change_later_change_nothing() -> None:
    """A derivation keeps what it was built from."""
    steps = [step("algebra", s)]
    stated = derivation("", Claim(s, steps))
    steps[0] = step("algebra", s + 1)
    assert stated.rhs == s
    assert judge(stated).level == "proved"


ACCEPTED: dict[str, Callable[[], str]] = {
    "a Python integer on the left": lambda: prove_equal(3, Integer(3)).level,
    "on both sides": lambda: prove_equal(3, 3).level,
    "a fraction": lambda: prove_equal(Fraction(1, 2), Rational(1, 2)).level,
    "a number of NumPy": lambda: prove_equal(numpy.int64(3), 3).level,
    "a matrix that can change": lambda: prove_equal(Matrix([[1, 2]]), Explicit([[1, 2]])).level,
    "a matrix in a product": lambda: prove_equal(Explicit(eye(2)) @ Explicit([[a], [b]]), Matrix([a, b])).level,
    "a number as the side of a step": lambda: judge(derivation("", Claim(s - s, (Step("algebra", 0),)))).level,
    "an index by its name": lambda: judge(derivation("", claim(x[i], step("algebra", x[i])), ranges={"i": n})).level,
    "a number of values": lambda: (
        judge(derivation("", claim(X[i, j], step("algebra", X[i, j])), ranges={i: n, "j": d})).level
    ),
    "an assumption that is true as it stands": lambda: (
        judge(derivation("", claim(s, step("algebra", s)), assuming=[Assumption(Gt(n, 0))])).level
    ),
    "the same as a truth value": lambda: (
        judge(derivation("", claim(s, step("algebra", s)), assuming=[Assumption(True)])).level
    ),
    "a relation by itself": lambda: judge(derivation("", claim(s, step("bound", 0, ">=")), assuming=Ge(s, 0))).level,
    "one definition by itself": lambda: (
        judge(
            derivation(
                "", claim(array("y", n)[i], step("definition", x[i])), about=Equation(array("y", n), x), ranges={i: n}
            )
        ).level
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_has_a_plain_meaning_is_accepted(name: str) -> None:
    assert ACCEPTED[name]() in ("proved", "definition")


def test_a_false_assumption_proves_nothing() -> None:
    """From an assumption that is false as it stands nothing follows, be it said by SymPy or by Python."""
    for statement in (Gt(0, n), n == m, false):
        evidence = judge(derivation("", claim(s, step("algebra", s)), assuming=[Assumption(statement)]))
        assert evidence.level == "unknown"
        assert "false as it stands" in evidence.failures[0]


class Unhashable:
    """An object of no meaning here that cannot even be hashed."""

    __hash__ = None  # type: ignore[assignment]


ODD: list[Any] = [
    None,
    True,
    "x",
    b"x",
    [1, 2],
    (1, 2),
    {1: 2},
    {1, 2},
    object(),
    Unhashable(),
    numpy.array([1, 2]),
    numpy.bool_(True),
    Eq(a, b),
    true,
    Matrix([[1, 2], [3, 4]]),
    float("nan"),
    Symbol,
    Integer(0),
    X,
    Conformable(X, Y),
    Assumption(Ge(n, 2)),
    claim(s, step("algebra", s)),
]

DOORS: dict[str, Callable[[Any], Any]] = {
    "left": lambda odd: prove_equal(odd, x[0]),
    "right": lambda odd: prove_equal(s, odd),
    "context": lambda odd: prove_equal(s, s, odd),
    "rule": lambda odd: prove_equal(s, s, None, odd),
    "bound": lambda odd: judge(derivation("", claim(s, step("bound", odd, "<=")))),
    "certificate": lambda odd: judge(derivation("", claim(s**2, step("bound", 0, ">=", odd)))),
    "order": lambda odd: judge(derivation("", claim(s, step("order", s, "=", s, odd)))),
    "relation": lambda odd: judge(derivation("", Claim(s, (Step("algebra", s, odd),)))),
    "steps": lambda odd: judge(derivation("", Claim(s, odd))),
    "one step": lambda odd: judge(derivation("", Claim(s, (odd,)))),
    "claims": lambda odd: judge(derivation("", odd)),
    "given": lambda odd: judge(derivation("", claim(s, step("algebra", s), given=(odd,)))),
    "assumption": lambda odd: judge(derivation("", claim(s, step("algebra", s)), assuming=[Assumption(odd)])),
    "assuming": lambda odd: judge(derivation("", claim(s, step("algebra", s)), assuming=odd)),
    "ranges": lambda odd: judge(derivation("", claim(s, step("algebra", s)), ranges=odd)),
    "size of a range": lambda odd: judge(derivation("", claim(x[i], step("algebra", x[i])), ranges={i: odd})),
    "ranges of an assumption": lambda odd: Assumption(Le(x[i], 0), odd),
    "about": lambda odd: judge(derivation("", claim(s, step("algebra", s)), about=odd)),
    "bijections": lambda odd: judge(derivation("", claim(s, step("algebra", s)), bijections=[odd])),
    "judge": judge,
    "register": lambda odd: register(odd, "inputs.odd"),
    "id": lambda odd: register(derivation("", claim(s, step("algebra", s))), odd),
    "name": lambda odd: array(odd, n),
    "size": lambda odd: array("x", odd),
    "place": lambda odd: X[0, odd],
    "row": lambda odd: X[odd],
    "name of an equation": lambda odd: Equations()(odd)(x),
    "value of an equation": lambda odd: Equations()("y")(odd),
    "index of a family": lambda odd: Equations()("y", over=(odd, n))(x),
    "inputs of a layer": lambda odd: Layer("layer", odd, [], [], x),
    "equations of a layer": lambda odd: Layer("layer", [x], [], odd, x),
    "a softmax": row_softmax,
    "a formula": lambda odd: named("f", odd, a),
    "a variable": lambda odd: named("f", a, odd),
    "a table": lambda odd: Tabulated(odd, n),
    "a value of a size": lambda odd: derivation("", claim(n, step("algebra", n))).at(n=odd),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_has_no_meaning_is_answered_in_a_sentence(door: str) -> None:
    """Every door either accepts an odd object, or says in one sentence what is wanted; no message comes from inside."""
    for odd in ODD:
        try:
            found = DOORS[door](odd)
        except (TypeError, ValueError) as error:
            said = [str(error)]
        else:
            said = [*getattr(found, "failures", ()), getattr(found, "reason", "")]
        assert not [text for text in said if any(inside in text for inside in _INSIDE)], odd


def test_a_value_outside_a_declaration_is_refused() -> None:
    """A size is an integer >= 1 in every view of a result."""
    counted = derivation("", claim(n, step("algebra", n)))
    assert isinstance(counted.at(n=7), Derivation)
    for value in (0, -1, Fraction(1, 2), "7"):
        with pytest.raises(ValueError, match="n cannot be"):
            counted.at(n=value)


def test_a_side_is_what_it_was() -> None:
    """Nothing is changed on the way in but its type."""
    assert step("algebra", 3).expression == Integer(3)
    assert isinstance(Claim(Matrix([[1]]), (step("algebra", Explicit([[1]])),)).lhs, Explicit)
    assert isinstance(Step("algebra", x).expression, Basic)
    assert Derivation("", "", (), ranges={"k": 5}).ranges == {k: Integer(5)}
