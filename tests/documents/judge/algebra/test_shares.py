r"""Sums of entries that were defined as shares of their own sum."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last, verdicts

WEIGHTS = r"$a_{ij} = \frac{\exp(q_i^\top k_j)}{\sum_{l=1}^{n} \exp(q_i^\top k_l)}$"
COLUMNS = r"$a_{ij} = \frac{\exp(s_{ij})}{\sum_{l} \exp(s_{lj})}$"
MASKED = r"$a_{ij} = \frac{m_{ij} e^{s_{ij}}}{\sum_{l=1}^{n} m_{il} e^{s_{il}}}$"
CAUSAL = r"$a_{ij} = \frac{m_{ij} e^{s_{ij}}}{\sum_{l=1}^{i} m_{il} e^{s_{il}}}$"
EVEN = WEIGHTS + r". For equal scores $a_{ij} = \frac{1}{n}$."
VECTOR = r"$p_i = \frac{e^{z_i}}{\sum_{j=1}^{V} e^{z_j}}$"


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        (WEIGHTS, r"\sum_j a_{ij} = 1"),
        (WEIGHTS, r"\sum_{j=1}^{n} a_{ij} = 1"),
        (COLUMNS, r"\sum_i a_{ij} = 1"),
        (VECTOR, r"\sum_i p_i = 1"),
        (r"$w_i = \frac{x_i}{\sum_j x_j}$", r"\sum_{i} w_i = 1"),
    ],
)
def test_all_shares_are_one(before: str, formula: str) -> None:
    assert last(formula, before).verdict == "holds"


@pytest.mark.parametrize(
    ("before", "formula", "right"),
    [
        (WEIGHTS, r"\sum_j a_{ij} = 0.9", "1"),
        (WEIGHTS, r"\sum_i a_{ij} = 1", r"\sum_{j} a_{i, j} = 1"),
        (COLUMNS, r"\sum_j a_{ij} = 1", r"\sum_{i} a_{i, j} = 1"),
        (VECTOR, r"\sum_i p_i = 0", "1"),
        (WEIGHTS, r"\sum_{j=1}^{n-1} a_{ij} = 1", r"\sum_{j = 1}^{n} a_{i, j} = 1"),
        (MASKED, r"\sum_{j=1}^{n-1} a_{ij} = 1", r"\sum_{j = 1}^{n} a_{i, j} = 1"),
        (EVEN, r"\sum_{j=1}^{n-1} a_{ij} = 1", r"\sum_{j = 1}^{n} a_{i, j} = 1"),
        (WEIGHTS, r"\sum_{j=1}^{n} a_{jj} = 1", r"\sum_{j} a_{i, j} = 1"),
        (MASKED, r"\sum_j a_{ii} = 1", r"\sum_{j} a_{i, j} = 1"),
    ],
)
def test_another_sum_or_another_number_is_wrong(before: str, formula: str, right: str) -> None:
    found = last(formula, before)
    assert (found.verdict, found.right) == ("wrong", right)


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        (WEIGHTS, r"\sum_{j \le i} a_{ij} = 1"),  # a part of the places
        (WEIGHTS, r"\sum_{j=1}^{m} a_{ij} = 0.9"),
        (WEIGHTS, r"\sum_{j=1}^{m} a_{ij} = 1"),
        (r"$w_i = \frac{x_i}{\sum_{j=1}^{n} x_j}$", r"\sum_{i=1}^{n-1} w_i = 1"),  # the last may be 0
        (WEIGHTS, r"\sum_j b_{ij} = 2"),
        (f"{WEIGHTS} or {COLUMNS}", r"\sum_i a_{ij} = 1"),  # defined in two ways
        (r"$a_{ij} = \frac{s_{ij}}{\sum_l t_{il}}$", r"\sum_i a_{ij} = 1"),  # no share
        ("", r"\sum_i a_{ij} = 1"),
        (CAUSAL, r"\sum_{j=1}^{i-1} a_{ij} = 1"),  # a mask may spare the diagonal
        (WEIGHTS, r"\sum_j a_{jj} = 2"),
        (r"$p_{ij} = \frac{e^{s_{ij}}}{\sum_k \sum_l e^{s_{kl}}}$", r"\sum_i p_{ii} = 1"),
        (r"$a_{ii} = \frac{e^{s_i}}{\sum_l e^{s_l}}$", r"\sum_j a_{jj} = 1"),
    ],
)
def test_nothing_is_said_of_other_sums(before: str, formula: str) -> None:
    assert last(formula, before).verdict == "unknown"


def test_a_condition_is_no_claim() -> None:
    assert last(r"\sum_i p_i = 2", f"{VECTOR}. If").verdict != "holds"


def test_a_chain_that_ends_with_one_is_read_to_its_end() -> None:
    chain = r"\sum_{j=1}^{n-1} a_{ij} = \sum_{j=1}^{n} \frac{e^{s_{ij}}}{\sum_{l=1}^{n} e^{s_{il}}} = 1"
    said = verdicts(rf"Let $a_{{ij}} = \frac{{e^{{s_{{ij}}}}}}{{\sum_{{l=1}}^{{n}} e^{{s_{{il}}}}}}$. Then ${chain}$.")
    assert said[1:] == ["wrong", "proved"]
