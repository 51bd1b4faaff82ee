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


def test_what_is_multiplied_may_differ_and_powers_number_layers():
    here = ("q_t^n = h_t^{n-1} W_q^T", r"k_t^n = \tilde{h}_t^{n-1} W_%s^T", r"v_t^n = \tilde{h}_t^{n-1} W_v^T")
    assert verdicts(lines(*(each % "k" if "%" in each else each for each in here))) == []
    assert verdicts(lines(*(each % "q" if "%" in each else each for each in here))) == ["wrong"]


def test_factors_of_two_sides_of_a_chain():
    chain = r"e_{ij} = \frac{1}{\sqrt{d}} q_i^T k_j = \frac{1}{\sqrt{d}} (W^{(q)T} x_i)^T (W^{(%s)T} x_j)"
    assert verdicts(lines(chain % "k")) == []
    assert verdicts(lines(chain % "q")) == ["wrong"]
    assert verdicts(lines(r"S = q^T k = x^T W_q^T W_k x")) == []  # another number of factors


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
