"""No false mutant of a derivation is proved: twenty or more of each; all but the first few are slow."""

import random
import re
from dataclasses import replace

import pytest
from sympy import Expr, Integer, Rational, Symbol, cos, exp

from derivations.catalogue import get, names
from derivations.language.arrays.scalars import Within
from derivations.language.cross_check import cross_check
from derivations.language.results.derivation import Derivation, Step
from tests.soundness.harness import WANTED, Mutant, judged, mutants_of, shown_false
from tests.soundness.mutations import OPERATORS, Scope, mutants
from tests.soundness.report import PAGE
from tests.tiers import few

IDS = names()
BEYOND = {  # the cross-check: sizes too large to evaluate, or no values that meet the assumptions
    "feed_forward.shapes_12288",
    "feed_forward.shapes_512",
    "flops.bert_base_sequence",
    "initialisation.correlated_counterexample",
    "recurrence.delta_chunk_rows",
    "recurrence.delta_rows",
}
_TERMS = 2_000  # for one decision; what needs more counts as undecided (the page of figures allows 60,000)


def _false_mutants_are_refused(name: str, wanted: int) -> int:
    found = mutants_of(get(name), wanted).false
    proved = [str(mutant) for mutant in found if judged(mutant, _TERMS) not in ("refuted", "unknown")]
    assert not proved
    return len(found) or int(cross_check(get(name)).outcome == "not applicable")  # else nothing is labelled


@pytest.mark.parametrize("name", few(IDS))
def test_no_false_mutant_is_proved(name: str) -> None:
    assert _false_mutants_are_refused(name, WANTED) >= 1


@pytest.mark.parametrize("name", few(IDS, fast=10))
def test_the_cross_check_agrees_where_it_applies(name: str) -> None:
    found = cross_check(get(name))
    assert found.outcome == ("not applicable" if name in BEYOND else "agrees"), found.reason
    assert name in BEYOND or all(step.points for claim in found.steps for step in claim)


def test_hardly_a_result_is_beyond_the_cross_check() -> None:
    assert set(IDS) >= BEYOND
    assert len(BEYOND) <= 0.02 * len(IDS)


# --- the harness itself ----------------------------------------------------------------------------------------------


def of_softmax(step: Step, **changes: object) -> Mutant:
    """The first step of the definition of softmax, changed."""
    right = get("softmax.definition")
    return Mutant("", right, 0, 0, right.lhs, replace(step, **changes))


def test_what_is_true_is_not_labelled_false() -> None:
    right = get("softmax.definition")
    step = right.claims[0].steps[0]
    twice = replace(step, expression=2 * step.expression / 2)
    assert shown_false([of_softmax(step), of_softmax(step, expression=twice.expression)]) == [False, False]
    assert shown_false([of_softmax(step, expression=2 * step.expression)]) == [True]


def test_an_axis_of_half_a_place_shows_nothing_false() -> None:
    right = get("gradient.every_other_column")
    left, step = right.claims[0].lhs, right.claims[0].steps[0]
    (within,) = step.expression.atoms(Within)
    body, place, _ = within.args

    def counted(count: Expr) -> Mutant:
        changed = step.expression.xreplace({within: Within(body, place, count)})
        return Mutant("", right, 0, 0, left, replace(step, expression=changed))

    assert shown_false([counted(Rational(5, 2)), counted(Integer(1))]) == [False, True]


def test_the_judge_is_asked_and_would_prove_what_is_true() -> None:
    step = get("softmax.definition").claims[0].steps[0]
    assert judged(of_softmax(step)) in ("proved", "definition")
    assert judged(of_softmax(step, expression=2 * step.expression)) == "unknown"


def test_a_decision_that_needs_too_many_terms_counts_as_unknown() -> None:
    step = get("softmax.definition").claims[0].steps[0]
    assert judged(of_softmax(step), most=1) == "unknown"


def test_every_operator_breaks_something() -> None:
    broken: set[str] = set()
    for name in (
        "softmax.jacobian",
        "softmax.entries_between_0_and_1",
        "attention.gradient_q",
        "layer_norm.definition",
    ):
        derivation = get(name)
        for claim in derivation.claims:
            for expression in (claim.lhs, *(step.expression for step in claim.steps)):
                scope = Scope.of(derivation, *(step.expression for step in claim.steps), claim.lhs)
                broken |= {operator for operator, _ in mutants(expression, scope, random.Random(0))}
    a = Symbol("a", real=True)
    broken |= {operator for operator, _ in mutants(exp(a) + cos(a), Scope((), (), ()), random.Random(0))}
    assert len(OPERATORS) >= 12
    assert len(broken) >= 12, sorted(set(OPERATORS) - broken)


def test_mutants_are_the_same_in_every_run() -> None:
    derivation: Derivation = get("softmax.ratio")
    assert [str(m) for m in mutants_of(derivation).false] == [str(m) for m in mutants_of(derivation).false]


# --- the page --------------------------------------------------------------------------------------------------------


def test_the_page_tells_of_the_whole_catalogue() -> None:
    text = PAGE.read_text(encoding="utf-8")
    mutants_told, derivations = map(int, re.search(r"(\d+) mutants of (\d+) derivations", text).groups())
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| \d+ \| \d+ \|$", text, re.M)
    assert sum(int(count) for _, count, _ in rows) == derivations
    assert sum(int(count) for _, _, count in rows) == mutants_told >= 3000
    assert {topic for topic, _, _ in rows} <= {name.partition(".")[0] for name in IDS}
    assert "| proved | 0 |" in text and "| disagrees | 0 |" in text
    small = re.findall(r"^\| `?(\w+\.\w+)`? \| (\d+) \|$", text, re.M)
    assert all(int(count) < WANTED for _, count in small)
    assert mutants_told >= WANTED * (derivations - len(small))
