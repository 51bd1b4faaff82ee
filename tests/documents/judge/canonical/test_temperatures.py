"""A temperature divides: what multiplies by it is wrong where the text calls it so."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last


@pytest.mark.parametrize(
    ("before", "formula", "verdict"),
    [
        (r"With a temperature $\tau$:", r"p_i = \frac{\exp(\tau z_i)}{\sum_j \exp(\tau z_j)}", "wrong"),
        ("温度 $T$：", r"p_i = \frac{e^{z_i T}}{\sum_j e^{z_j T}}", "wrong"),
        (r"With a temperature $\tau$:", r"p_i = \frac{\exp(z_i / \tau)}{\sum_j \exp(z_j / \tau)}", "holds"),
        (r"With an inverse temperature $\beta$:", r"p_i = \frac{\exp(\beta z_i)}{\sum_j \exp(\beta z_j)}", "holds"),
        (r"With the inverse temperature $T$:", r"p_i = \frac{\exp(T z_i)}{\sum_j \exp(T z_j)}", "holds"),
        ("", r"p_i = \frac{\exp(T z_i)}{\sum_j \exp(T z_j)}", "holds"),
    ],
)
def test_scores_are_divided_by_a_temperature(before: str, formula: str, verdict: str) -> None:
    assert last(formula, before).verdict == verdict
