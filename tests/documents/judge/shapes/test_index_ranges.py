r"""The index of a sum goes as far as the axis at its place: through the other axis is wrong, and all else is left."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Finding

DECLARED = r"Let $X \in \mathbb{R}^{n \times d}$ and $A \in \mathbb{R}^{n \times n}$."


def said(formula: str, declared: str = DECLARED) -> Finding:
    """Return what is said of a formula behind its declarations."""
    claims = check_text(f"{declared} Then ${formula}$ here.", "markdown").claims
    return next(claim.finding for claim in claims if claim.text == formula)


@pytest.mark.parametrize(
    "formula",
    [
        r"c_i = \sum_{j=1}^{d} X_{ji}",
        r"c_i = \sum_{j=1}^{n} X_{ij}",
        r"c_{ik} = \sum_{j=1}^{n} A_{ij} X_{kj}",
        r"c_{i} = \frac{1}{d} \sum_{k=1}^{d} X_{ki}^2",
    ],
)
def test_an_index_that_goes_through_the_other_axis_is_wrong(formula: str) -> None:
    found = said(formula)
    assert (found.verdict, found.check) == ("wrong", "shapes.range")
    assert "X is n × d" in found.reason


@pytest.mark.parametrize(
    "formula",
    [
        r"c_i = \sum_{j=1}^{d} X_{ij}",
        r"c_j = \sum_{i=1}^{n} X_{ij}",
        r"c_i = \sum_{j=1}^{i} X_{ij}",  # a part of the axis
        r"c_i = \sum_{j=1}^{k} X_{ij}",
        r"c_i = \sum_{j=1}^{3} X_{ji}",
        r"c_{ik} = \sum_{j=1}^{n} A_{ij} X_{jk}",
        r"c_i = \sum_{j=1}^{n} A_{ji}",
        r"c = \sum_{j=1}^{n} X_{jj}",
        r"c_i = \sum_{j=1}^{n} Z_{ij}",
    ],
)
def test_an_index_within_its_axis_is_left(formula: str) -> None:
    assert said(formula).verdict != "wrong"


def test_a_letter_that_is_declared_twice_is_not_told() -> None:
    twice = r"Let $X \in \mathbb{R}^{n \times d}$." + "\n\n" + r"Later $X \in \mathbb{R}^{d \times n}$."
    assert said(r"c_i = \sum_{j=1}^{n} X_{ij}", twice).verdict != "wrong"
