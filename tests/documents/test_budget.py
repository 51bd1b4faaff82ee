"""What a formula may cost: the steps are counted, what costs more is unknown, and what follows is judged."""

from __future__ import annotations

from math import inf

import pytest

from derivations.documents import budget
from derivations.documents.budget import TooCostly, budget_of, spend
from derivations.documents.checking import check_text
from derivations.documents.formulas import read_formula
from derivations.language.judge.normal_form.context import Context

CLOCK = True  # a formula has its seconds here


def test_nothing_is_limited_outside_of_a_budget() -> None:
    spend(10**12)
    with budget_of(steps=1):
        pass
    spend(10**12)


def test_the_last_step_is_allowed_and_the_next_is_not() -> None:
    with budget_of(steps=5) as account:
        spend(3)
        spend(2)
        with pytest.raises(TooCostly, match="5 steps"):
            spend()
    assert account.spent == 6


def test_what_was_used_up_stays_so() -> None:
    with budget_of(steps=5), pytest.raises(TooCostly):
        spend(6)
        raise AssertionError("spend has to raise")
    with budget_of(steps=5) as account:
        for _ in range(3):
            with pytest.raises(TooCostly):
                spend(6)
    assert account.spent == 18


def test_a_budget_inside_another_takes_nothing_from_it() -> None:
    with budget_of(steps=5) as outer:
        with budget_of(steps=50):
            spend(40)
        spend(5)
    assert outer.spent == 5


def test_the_clock_stops_what_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(1000))
    monkeypatch.setattr(budget, "thread_time", lambda: next(ticks) / 10)
    with budget_of(seconds=1.05), pytest.raises(TooCostly, match="time"):  # one of many steps raises
        for _ in range(100 * budget.BETWEEN):
            spend()
    assert next(ticks) == 13  # the start, eleven looks, and the end


def test_a_formula_has_its_seconds_where_nothing_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(budget, "thread_time", lambda: clock[0])
    with budget_of():
        clock[0] = 0.9 * budget.MOST_SECONDS
        spend(budget.BETWEEN + 1)
        clock[0] = 1.1 * budget.MOST_SECONDS
        with pytest.raises(TooCostly, match="time"):
            spend(budget.BETWEEN + 1)


@pytest.mark.parametrize("formula", ["x", "a + b", r"\frac{a}{b + 1} = c_i^T", r"\sum_{i=1}^n x_i"])
def test_a_walk_spends_a_step_a_part(formula: str) -> None:
    (chain,) = read_formula(formula, "latex").statements
    parts = sum(1 for _ in chain.walk())
    with budget_of() as account:
        assert len(list(chain.walk())) == parts
    assert account.spent == parts > 1


TWO = r"$$ 4 \times 512^2 + 2 \times 512 \times 2048 = 1 $$" + "\n\n$7 \\times 8 = 54$\n"


def test_a_formula_over_its_budget_is_unknown_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("derivations.documents.claims.STEPS", 2)
    findings = [claim.finding for claim in check_text(TWO, "markdown").claims]
    assert [(each.verdict, each.check) for each in findings] == 2 * [("unknown", "too costly")]
    assert "several" in findings[0].reason


def test_a_decision_has_a_budget_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n\n".join([r"$7 \times 8 = 54$"] * 50)
    monkeypatch.setattr("derivations.documents.claims.STEPS", 1_000)
    verdicts = {claim.finding.verdict for claim in check_text(text, "markdown").claims}
    assert verdicts == {"wrong"}


def test_a_decision_of_the_judge_may_write_down_fewer_terms_inside() -> None:
    with budget_of():
        assert Context().budget == budget.MOST_TERMS
    assert Context().budget > budget.MOST_TERMS


def test_a_long_product_of_sines_is_left_unknown_and_the_next_formula_is_judged() -> None:
    factors = "".join(rf"\sin({number} x)\cos({number} y)" for number in range(1, 24))
    first, *_, last = check_text(f"${factors} = \\sin x$\n\n{TWO}", "markdown").claims
    assert first.finding.verdict == "unknown"  # given up by its terms, or on a slow machine by its time
    assert last.finding.verdict == "wrong"


def test_a_budget_inside_takes_no_time_of_the_one_around(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(budget, "thread_time", lambda: clock[0])
    with budget_of(seconds=1.0) as around:
        with budget_of(inf, inf):
            clock[0] += 100
            spend(10**6)
        spend(budget.BETWEEN + 1)
        clock[0] += 1.5
        with pytest.raises(TooCostly, match="time"):
            spend(budget.BETWEEN + 1)
        assert around.spent == 2 * budget.BETWEEN + 2
