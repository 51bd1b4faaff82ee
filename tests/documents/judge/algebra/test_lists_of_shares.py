"""Lists of numbers that are shares: they add up to 1, as far as their digits tell."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last

SHARES = r"$p_i = \frac{e^{z_i}}{\sum_{j=1}^n e^{z_j}}$"


@pytest.mark.parametrize("formula", ["p = (0.090, 0.245, 0.655)", "p = [0.6, 0.3, 0.4]", r"p \approx (0.2, 0.3)"])
def test_what_adds_up_to_something_else_is_wrong(formula: str) -> None:
    finding = last(formula, SHARES)
    assert finding.verdict == "wrong"
    assert "add up to" in finding.reason


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        (SHARES, "p = (0.090, 0.245, 0.665)"),
        (SHARES, "p = (0.33, 0.33, 0.33)"),  # rounded
        (SHARES, r"p = (0.5, 0.2, \dots)"),  # some of them
        (SHARES, "z = (0.5, 0.2, 0.2)"),
        (SHARES, "p = (2, 3)"),  # of another p
        ("", "p = (0.5, 0.2, 0.2)"),
        (r"$p_i = e^{z_i}$", "p = (0.5, 0.2, 0.2)"),
    ],
)
def test_others_are_left_alone(before: str, formula: str) -> None:
    assert last(formula, before).verdict != "wrong"
