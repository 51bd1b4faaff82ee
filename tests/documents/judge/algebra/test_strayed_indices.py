r"""Terms with the index of another sum are called wrong; a place that may be any, and a sum of equal terms, are not."""

import pytest

from tests.documents.judge.claims import last


@pytest.mark.parametrize(
    "formula", [
        r"\sum_{i=1}^{n} y_{j} = \sum_{i=1}^{n} \frac{e^{x_{i}}}{\sum_{j=1}^{n} e^{x_{j}}}",
        r"\sum_{p=1}^{m} a_{q} v_{q} = \sum_{q=1}^{m} v_{q} a_{q} - c",
    ],
)  # fmt: skip
def test_terms_with_the_index_of_another_sum_are_wrong(formula: str) -> None:
    finding = last(formula)
    assert (finding.verdict, finding.check) == ("wrong", "consistency.index")


@pytest.mark.parametrize(
    "formula", [
        r"\sum_{i=1}^{n} y_{j} = 1",
        r"\sum_{i=1}^{n} y_{j} = n y_{j}",
        r"\sum_{i=1}^{n} A_{ij} = \sum_{j=1}^{n} B_{j}",
        r"\sum_{i=1}^{n} \sum_{j=1}^{n} y_{j} = n \sum_{j=1}^{n} y_{j}",
        r"\sum_{i=1}^{n} c = \sum_{j=1}^{n} c",
        r"g_j = \sum_{i=1}^{n} x_{j} + \sum_{k} x_{k}",
    ],
)  # fmt: skip
def test_a_place_that_may_be_any_is_none(formula: str) -> None:
    assert last(formula).check != "consistency.index"
