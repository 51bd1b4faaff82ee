"""Equations between formulas of the same letters are decided by the judge, under every typing."""

import pytest

from derivations.documents.decide.identities import check_identities
from tests.documents.elaborated import said


def verdicts(text):
    return [finding.verdict for finding in said(check_identities, text)]


@pytest.mark.parametrize(
    "formula",
    [
        r"(a + b)^2 = a^2 + 2 a b + b^2",
        r"(\mathbf{A} \mathbf{B})^T = \mathbf{B}^T \mathbf{A}^T",
        r"\frac{e^{x_i + c}}{\sum_j e^{x_j + c}} = \frac{e^{x_i} e^c}{e^c \sum_j e^{x_j}}",
        r"\sum_{i,j} a_{ij}^2 = \sum_i \sum_j a_{ij} a_{ij}",
        r"\|\mathbf{x} - \mathbf{y}\|^2 = (\mathbf{x} - \mathbf{y})^T (\mathbf{x} - \mathbf{y})",
        r"x^{-\frac{1}{2}} x = x^{\frac{1}{2}}",
        r"\frac{4 B S T D}{4 B S D + 4 B T D} = \frac{S T D}{S D + T D}",
    ],
)
def test_what_holds_is_proved_or_left(formula):
    assert set(verdicts(f"$$s = {formula}$$")) <= {"proved", "holds"}


def test_some_of_them_are_proved():
    assert verdicts(r"$$s = (\mathbf{A} \mathbf{B})^T = \mathbf{B}^T \mathbf{A}^T$$") == ["proved"]


def test_a_first_link_is_wrong_where_terms_are_missing():
    """Other first links may be conditions on their letters, unless all are declared arrays."""
    assert verdicts("$$(a + b)^2 = 4$$") == []  # a condition
    assert verdicts("$$(a + b)^2 = a^2 + b^2$$") == ["wrong"]
    assert verdicts(r"$$\log(a + b) = \log a + \log b$$") == []


@pytest.mark.parametrize(
    "formula",
    [
        r"(a + b)^2 = a^2 + b^2",
        r"12 d^2 + 13 d + 16 d^2 + 19 d = 28 d^2 + 29 d",
        r"(\mathbf{A} \mathbf{B})^T = \mathbf{A}^T \mathbf{B}^T",  # B^T A^T is one edit away
    ],
)
def test_what_does_not_hold_is_wrong(formula):
    assert verdicts(f"$$s = {formula}$$") == ["wrong"]


@pytest.mark.parametrize(
    "formula",
    [
        r"\frac{n (n - 1)}{n - 1} = n",
        r"\operatorname{tr}(\mathbf{A} \mathbf{B}) = \operatorname{tr} \mathbf{A} \operatorname{tr} \mathbf{B}",
        r"AB = BA",  # right for numbers
        r"- \sum_j y_j (o_j - \log \sum_k e^{o_k}) = \log \sum_k e^{o_k} - \sum_j y_j o_j",  # the y_j add up to 1
    ],
)
def test_what_holds_under_a_condition_or_another_reading_is_neither_proved_nor_wrong(formula):
    assert verdicts(f"$$s = {formula}$$") == []


@pytest.mark.parametrize(
    "formula",
    [
        r"(a + i b)(c + i d) = a c - b d + i (a d + b c)",  # the imaginary unit
        r"\log_2 x + \log y = \ln x + \ln y",
        r"1 - \sigma(2 x) + y = \sigma(-2 x) + y",  # right of the sigmoid, which nothing names here
        r"W1 x + b = W 1 x - b",  # the number may belong to the name
    ],
)
def test_what_may_be_read_otherwise_is_left_alone(formula):
    assert verdicts(f"$$s = {formula}$$") == []


def test_a_slope_is_not_the_function():
    assert verdicts(r"$$s = \tanh'(x) + 1 = 1 + \tanh(x)$$") == []
    assert verdicts(r"$$s = 2 \tanh'(x) = 2 (1 - \tanh(x)^2)$$") == []


def test_the_documents_definitions_are_put_in():
    text = "$$q_j = U x_j$$\n\n$$k_j = V x_j$$\n\n"
    right = r"$$s (q_j + k_i) = s (U x_j + V x_i)$$"
    wrong = r"$$s (q_j + k_i) = s (U x_j - V x_i)$$"
    assert verdicts(text + right) == ["holds"]
    assert verdicts(text + wrong) == ["wrong"]


def test_a_name_with_two_definitions_is_left_alone():
    text = "$$q_j = U x_j$$\n\n$$q_j = V x_j$$\n\n$$s (q_j + 1) = s (U x_j - 1)$$"
    assert verdicts(text) == []
