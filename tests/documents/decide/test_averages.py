"""Averages: how many terms are added, and what they are divided by."""

import pytest

from derivations.documents.checking import check_text


def _checks(right: str) -> list[str]:
    claims = check_text(f"$R = {right}$", "markdown").claims
    return [claim.finding.check for claim in claims if claim.finding.verdict == "wrong"]


@pytest.mark.parametrize("right", [r"\frac{1}{n} \sum_{i=2}^{n} \ell(y_i, z_i)", r"-\frac{1}{N} \sum_{i=0}^{N} g(u_i)"])
def test_one_term_more_or_less_than_it_is_divided_by_is_wrong(right: str) -> None:
    assert _checks(right) == ["average"]


@pytest.mark.parametrize(
    "right",
    [
        r"\frac{1}{n} \sum_{i=1}^{n} \ell(y_i, z_i)",
        r"\frac{1}{n} \sum_{i=0}^{n-1} \ell(y_i, z_i)",
        r"\frac{1}{n} \sum_{t=2}^{n} \ell(y_t, y_{t-1})",
        r"\frac{1}{m} \sum_{i=2}^{n} \ell(y_i, z_i)",
    ],
)
def test_an_average_or_a_shifted_index_is_let_be(right: str) -> None:
    assert _checks(right) == []
