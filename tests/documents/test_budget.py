"""What a formula may cost: the steps are counted, what costs more is unknown, and what follows is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf

import pytest
from sympy import Sum

from derivations.documents import budget
from derivations.documents.budget import Budget, TooCostly, budget_of, spend
from derivations.documents.checking import check_text
from derivations.documents.decide import identities
from derivations.documents.formulas import read_formula
from derivations.documents.proving import TERMS, work_of
from derivations.language.arrays.expression import array
from derivations.language.judge.normal_form.context import Context
from derivations.symbols import index, size

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


def limited(steps: int) -> Callable[..., object]:
    """Return what gives a formula so many steps."""
    return partial(budget_of, steps=steps)


def test_a_formula_over_its_budget_is_unknown_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("derivations.documents.checking.budget_of", limited(2))
    findings = [claim.finding for claim in check_text(TWO, "markdown").claims]
    assert [(each.verdict, each.check) for each in findings] == 2 * [("unknown", "too costly")]
    assert "several" in findings[0].reason


def test_each_formula_has_a_budget_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n\n".join([r"$7 \times 8 = 54$"] * 50)
    monkeypatch.setattr("derivations.documents.checking.budget_of", limited(1_000))
    verdicts = {claim.finding.verdict for claim in check_text(text, "markdown").claims}
    assert verdicts == {"wrong"}


def test_the_steps_count_what_a_slow_formula_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one side is compared with another again and again, the steps grow, and end."""
    budgets: list[Budget] = []

    @contextmanager
    def recorded() -> Iterator[Budget]:
        with budget_of(steps=20_000) as account:
            yield account
        budgets.append(account)

    monkeypatch.setattr("derivations.documents.checking.budget_of", recorded)
    head = r"\text{head}_i = \text{Attention}(Q W_i^Q, K W_i^K, V W_i^V)"
    shapes = r"$Q, K, V \in \mathbb{R}^{n \times d}$ and $W_i^Q, W_i^K, W_i^V \in \mathbb{R}^{d \times k}$"
    report = check_text(f"{shapes}\n\n$${' = '.join([head] * 12)}$$\n\n{TWO}", "markdown")
    assert 2_000 < max(account.spent for account in budgets) <= 20_000 + 100
    assert report.claims[-1].finding.verdict == "wrong"


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


def test_the_work_of_nested_sums_grows_with_their_terms() -> None:
    i, j, n = index("i"), index("j"), size("n")
    entry = array("A", n, n).entry(i, j)
    alone, summed = work_of(entry), work_of(Sum(entry, (j, 0, n - 1)))
    assert summed == TERMS * alone
    assert work_of(Sum(Sum(entry, (j, 0, n - 1)), (i, 0, n - 1))) == TERMS * summed
    assert work_of(entry, entry) == 2 * alone


def test_a_decision_that_costs_too_much_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    nested = r"\sum_a \sum_b \sum_c \sum_d \sum_e \sum_f "
    text = f"${nested} x_a x_b x_c x_d x_e y_f = {nested} y_f x_e x_d x_c x_b x_a$"
    asked: list[str] = []
    monkeypatch.setattr(identities, "weighed", lambda *_: asked.append("") or ("unknown", ""))
    assert [claim.finding.verdict for claim in check_text(text, "markdown").claims] == ["unknown"]
    assert not asked
    assert [c.finding.verdict for c in check_text(r"$\sum_a x_a y_a = \sum_a y_a x_a$", "markdown").claims]
    assert asked


def test_a_slow_clock_changes_no_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a computer that takes four times as long a decision is the same: the steps end it, not the seconds."""
    text = "The cross-entropy is $L = \\sum_{i=1}^n y_i \\log p_i$, and $(a + b)^2 = a^2 + b^2$."
    expected = [claim.finding for claim in check_text(text, "markdown").claims]
    clock = budget.thread_time
    monkeypatch.setattr(budget, "thread_time", lambda: 4 * clock())
    assert [claim.finding for claim in check_text(text, "markdown").claims] == expected
    assert "wrong" in {finding.verdict for finding in expected}
