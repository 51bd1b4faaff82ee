"""Numbers of formulas of entries: the same as those of the expression that is built, for every form they can tell."""

from __future__ import annotations

import math

import pytest

from derivations.documents.canon.concepts import CONCEPTS
from derivations.documents.canon.sampling import numbers
from derivations.documents.formulas import read_formula
from derivations.documents.judge.arrays.entry_numbers import EntryNumbers, NotEntries
from derivations.documents.judge.canonical.assigning import assignments
from derivations.documents.judge.canonical.matching import reader_of
from derivations.documents.judge.canonical.recognition import formula_of

FORMULAS = [
    ("softmax", r"y_i = \frac{e^{x_i}}{\sum_{j=1}^{n} e^{x_j}}"),
    ("softmax", r"y_i = \frac{e^{x_i / T}}{\sum_{j} \exp(x_j / T)}"),
    ("the Jacobian of softmax", r"\frac{\partial y_i}{\partial x_k} = y_i (\delta_{ik} - y_k)"),
    ("the cross-entropy", r"L = -\sum_{j=1}^{n} t_j \log y_j"),
    ("the cross-entropy", r"L = -\sum_{j=0}^{n-1} t_j \ln \hat{y}_j"),
    ("layer normalisation", r"y = \gamma \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta"),
    ("the variance", r"\sigma^2 = \frac{1}{d} \sum_{i=1}^{d} (x_i - \mu)^2"),
    ("GELU", r"\text{GELU}(x) = 0.5 x (1 + \tanh(\sqrt{2 / \pi} (x + 0.044715 x^3)))"),
    ("SiLU", r"\text{SiLU}(x) = x \text{sigmoid}(x)"),
    ("the dot product", r"q \cdot k = \sum_l q_l k_l"),
]


@pytest.mark.parametrize(("title", "text"), FORMULAS)
def test_the_numbers_are_those_of_the_expression(title: str, text: str) -> None:
    left, right = read_formula(text, "latex").statements[0].sides
    concept = next(each for each in CONCEPTS if each.title == title)
    compared = 0
    for assignment in assignments(formula_of(left, right), concept):
        try:
            quick = EntryNumbers(dict(assignment.meaning), assignment.indices).number(right)
        except NotEntries:
            continue
        shape, values = numbers(reader_of(assignment).value(right))
        assert shape == ()
        assert math.isclose(quick, values[0], rel_tol=1e-7)
        compared += 1
    assert compared


@pytest.mark.parametrize("text", [r"y = \text{softmax}(Q K^T) V", r"y = \max(x)", r"y = a \odot b", r"y = \pm a"])
def test_what_is_no_formula_of_entries_is_left_to_the_expression(text: str) -> None:
    right = read_formula(text, "latex").statements[0].sides[1]
    with pytest.raises(NotEntries):
        EntryNumbers({}, frozenset()).number(right)


def test_what_has_no_number() -> None:
    right = read_formula(r"y = \frac{1}{1 - 1} + 10^{10^{10}}", "latex").statements[0].sides[1]
    assert math.isnan(EntryNumbers({}, frozenset()).number(right))
