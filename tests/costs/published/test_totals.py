"""Totals that authors state: exact, rounded, cut off, explained by what they count, or not explained."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from sympy import Integer

from derivations.architectures.models import named_model
from derivations.costs.published import totals
from derivations.costs.published.totals import EXPLANATIONS, Explanation, significant, stated, total


@pytest.mark.slow
def test_totals_that_are_stated_in_full_are_met_or_explained() -> None:
    exactly = [each for each in stated() if each.as_stated.isdecimal()]
    assert len(exactly) >= 18
    assert {each.verdict for each in exactly} == {"exact", "explained"}
    assert all((each.difference == 0) == (each.verdict == "exact") for each in exactly)


@pytest.mark.parametrize(
    ("name", "more"), [("gpt-j-6b", 2498560), ("gemma-2-2b", 294912), ("gemma-2-9b", 458752), ("gemma-2-27b", 589824)]
)
def test_an_explanation_is_the_difference_to_the_last_parameter(name: str, more: int) -> None:
    found = total(name)
    assert found is not None
    assert (found.verdict, found.difference) == ("explained", more)
    assert found.why.startswith(f"{more:+,}: ")


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_a_wrong_explanation_explains_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = EXPLANATIONS[name]
    wrong: Mapping[str, Any] = {name: replace(right, more=lambda subject: right.more(subject) * 2)}
    monkeypatch.setattr(totals, "EXPLANATIONS", wrong)
    found = total(name)
    assert found is not None
    assert (found.verdict, found.why) == ("not explained", "")


def test_one_parameter_more_is_not_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    right = EXPLANATIONS["gemma-2-9b"]
    off = Explanation(lambda subject: right.more(subject) + 1, right.why)
    monkeypatch.setattr(totals, "EXPLANATIONS", {"gemma-2-9b": off})
    found = total("gemma-2-9b")
    assert found is not None
    assert found.verdict == "not explained"


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("pythia-1.4b", "exact"),  # of the parameters without tables
        ("bloom-176b", "exact"),
        ("gpt2", "rounded"),
        ("bert-base", "rounded"),
        ("llama-3-405b", "cut off"),
        ("vit-b-16", "cut off"),
        ("transformer-base", "not explained"),
        ("whisper-small", "not explained"),
    ],
)
def test_verdicts(name: str, verdict: str) -> None:
    found = total(name)
    assert found is not None
    assert found.verdict == verdict


@pytest.mark.slow
def test_what_is_rounded_is_within_half_a_unit_of_the_last_digit() -> None:
    for each in stated():
        unit = 10 ** (len(str(each.stated)) - significant(each.stated))
        if each.verdict == "rounded":
            assert 0 < 2 * abs(each.difference) <= unit, each.name
        if each.verdict == "cut off":
            assert 0 < -each.difference < unit, each.name


def test_a_stated_number_that_is_wrong_is_not_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    model = named_model("gpt2")
    off = replace(model, published=(*model.published, ("value", 125000000), ("as_stated", "125M")))
    monkeypatch.setattr(totals, "named_model", lambda name: off)
    found = total("gpt2")
    assert found is not None
    assert found.verdict == "not explained"


def test_nothing_stated_is_no_total(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totals, "named_model", lambda name: replace(named_model(name), published=()))
    assert total("gpt2") is None


@pytest.mark.parametrize(("number", "digits"), [(340, 2), (7, 1), (1320000000, 3), (101, 3)])
def test_zeros_at_the_end_are_no_digits(number: int, digits: int) -> None:
    assert significant(Integer(number)) == significant(number) == digits
