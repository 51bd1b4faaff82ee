r"""An index that stands twice below one letter is a slip where the rest of the chain tells that two belong there."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text

DEFINED = r"Let $A_{ij} = \frac{e^{S_{ij}}}{\sum_{l=1}^{m} e^{S_{il}}}$."


def verdicts(formula: str, before: str = "So") -> list[str]:
    """Return what is said of the links of the last chain."""
    claims = check_text(f"# A\n\n{before}\n\n$$\n{formula}\n$$\n", "markdown").claims
    return [claim.finding.verdict for claim in claims if claim.start.line > 5]


@pytest.mark.parametrize(
    "formula",
    [
        r"\mu_i = \frac{1}{d} \sum_{j=1}^{d} X_{ii}",
        r"\sigma_i^2 = \frac{1}{d} \sum_{j=1}^{d} (X_{ii} - \mu_i)^2",
        r"m_{p} = \frac{1}{w} \sum_{q=1}^{w} H_{pp}",
        r"\operatorname{Var}(\sum_{l=1}^{d} x_l W_{jj}) = E[(\sum_{l=1}^{d} x_l W_{lj})^2] - \mu^2",
        r"\sum_{j=1}^{v} E_{kk} \delta_{t_i, j} = \sum_{l=1}^{v} E_{lk} \delta_{t_i, l}",
        r"\sum_{j=1}^{v} E_{jj} \delta_{t_i, j} = \sum_{l=1}^{v} E_{lk} \delta_{t_i, l}",
    ],
)
def test_an_index_that_stands_twice_is_wrong(formula: str) -> None:
    assert "wrong" in verdicts(formula)


@pytest.mark.parametrize(
    "formula",
    [
        r"\mu_i = \frac{1}{d} \sum_{j=1}^{d} X_{ij}",
        r"t = \sum_{j=1}^{n} X_{jj}",
        r"\sum_{j=1}^{n} X_{jj} = \sum_{l=1}^{n} X_{ll}",
        r"\sum_{j=1}^{n} X_{ii} = n X_{ii}",
        r"c_i = \sum_{j=1}^{n} \delta_{ii} x_j",
        r"c_i = \sum_{j=1}^{n} x_i",
        r"y_j = \sum_{l=1}^{d} x_l W_{lj} - \sum_{l=1}^{d} x_l W_{jj}",
        r"\sum_{l=1}^{d} x_l (W_{lj} - W_{jj}) = \sum_{l=1}^{d} x_l W_{lj} - \sum_{l=1}^{d} x_l W_{jj}",
        r"\sum_{i=1}^{n} \sum_{j=1}^{n} C_{ij} = \sum_{i=1}^{n} C_{ii} + \sum_{i \neq j} C_{ij}",
        r"\sum_{i=1}^{n} \sum_{j=1}^{n} X_{ii} = n \sum_{i=1}^{n} X_{ii}",
        r"\sum_{j=1}^{m} A_{ij} = \sum_{j=1}^{m} \frac{e^{S_{ij}}}{\sum_{l=1}^{m} e^{S_{il}}}",
    ],
)
def test_diagonals_and_constant_terms_are_left_alone(formula: str) -> None:
    assert "wrong" not in verdicts(formula, DEFINED)


def test_an_entry_is_as_it_is_defined() -> None:
    formula = r"\sum_{j=1}^{m} A_{jj} = \sum_{j=1}^{m} \frac{e^{S_{ij}}}{\sum_{l=1}^{m} e^{S_{il}}}"
    assert verdicts(formula, DEFINED) == ["wrong"]
    assert verdicts(formula) == ["unknown"]


def test_a_condition_is_left_alone() -> None:
    text = r"This holds only if $\mu_i = \frac{1}{d} \sum_{j=1}^{d} X_{ii}$ here."
    assert "wrong" not in [claim.finding.verdict for claim in check_text(text, "markdown").claims]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (r"\mathrm{d}b_{i} = \sum_{j=1}^{n} \mathrm{d}H_{jj}", True),
        (r"\mathrm{d}b_{2,i} = \sum_{j=1}^{n} \mathrm{d}Y_{j j}", True),
        (r"\mu_i = \frac{1}{d} \sum_j X_{jj}", True),
        (r"\mu = \frac{1}{d} \sum_j X_{jj}", False),
        (r"t_k = \sum_j A_{jj}", False),
    ],
)
def test_the_index_of_what_is_named_belongs_into_the_sum(formula: str, expected: bool) -> None:
    finding = check_text(f"So ${formula}$ here.", "markdown").claims[0].finding
    assert (finding.verdict == "wrong") is expected
