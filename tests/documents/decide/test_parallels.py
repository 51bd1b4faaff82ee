"""A label that stands with another letter than in all parallel definitions is seen, and nothing else."""

import pytest

from derivations.documents.decide.parallels import check_parallels
from tests.documents.elaborated import said


def verdicts(text):
    return [finding.verdict for finding in said(check_parallels, text)]


def lines(*formulas):
    return "\n\n".join(f"$${formula}$$" for formula in formulas)


def test_definitions_in_parallel():
    assert verdicts(lines("Q = X W_Q", "K = X W_K", "V = X W_V")) == []
    assert verdicts(lines("Q = X W_Q", "K = X W_Q", "V = X W_V")) == ["wrong"]


def test_products_in_one_formula():
    head = r"h_i = \text{Attention}(Q W_i^Q, K W_i^%s, V W_i^V)"
    assert verdicts(lines(head % "K")) == []
    assert verdicts(lines(head % "Q")) == ["wrong"]


@pytest.mark.parametrize(
    "formulas",
    [
        ("K = X W_K", "V = X W_K"),  # keys and values may be shared, and two lines are no pattern
        ("Q = X W_Q", "K = X W_P", "V = X W_V"),  # a label that is nobody's
        ("Q = X W_Q", "K = X W_Q + b", "V = X W_V"),  # another formula
    ],
)
def test_what_is_no_pattern_is_left_alone(formulas):
    assert verdicts(lines(*formulas)) == []
