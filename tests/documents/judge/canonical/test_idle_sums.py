"""A share of a sum whose terms are all the same: wrong for an entry whose places the terms have."""

import pytest

from tests.documents.judge.claims import last


@pytest.mark.parametrize(
    "formula",
    [
        r"B_{ab} = \frac{e^{R_{ab}}}{\sum_{c=1}^{m} e^{R_{ab}}}",
        r"B_{ab} = \frac{\exp(R_{ab} / t)}{\sum_{c} \exp(R_{ab} / t)}",
        r"p_a = \frac{r_a}{\sum_{c=1}^{m} r_a}",
    ],
)
def test_a_share_that_is_the_same_everywhere_is_wrong(formula: str) -> None:
    assert last(formula).verdict == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"B_{ab} = \frac{e^{R_{ab}}}{\sum_{c=1}^{m} e^{R_{ac}}}",
        r"u = \frac{e^{r}}{\sum_{c=1}^{m} e^{r}}",  # 1 / m, of a number
        r"p_b = \frac{1}{\sum_{c=1}^{m} 1}",
        r"\frac{e^{R_{ab}}}{\sum_{c=1}^{m} e^{R_{ab}}} = \frac{1}{m}",
    ],
)
def test_equal_weights_are_left_alone(formula: str) -> None:
    assert last(formula).verdict != "wrong"
