"""A corrected formula keeps the characters of its author where nothing is wrong, and is never another formula."""

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.formulas.respelling import respelled


@pytest.mark.parametrize(
    ("right", "written", "expected"),
    [
        (r"y_{i} \left( \delta_{i, k} - y_{k} \right)", r"y_i (\delta_{ik} + y_k)", r"y_i (\delta_{ik} - y_k)"),
        (
            r"\mathrm{A}(Q) = \text{softmax}\left( \frac{Q K^{T}}{\sqrt{d_{k}}} \right) V",
            r"\mathrm{A}(Q) = \mathrm{softmax}(Q K^\top) V",
            r"\mathrm{A}(Q) = \mathrm{softmax}(\frac{Q K^\top}{\sqrt{d_k}}) V",
        ),
        (
            r"\frac{e^{x_{i}}}{\sum_{j = 1}^{n} e^{x_{j}}}",
            r"s=\frac{e^{x_i}}{\sum_{j=1}^{n} x_j}",
            r"\frac{e^{x_i}}{\sum_{j=1}^{n} e^{x_j}}",
        ),
        (r"L = -\sum_{i} y_{i} \log p_{i}", r"L=\sum_i y_i\log p_i", r"L=-\sum_i y_i\log p_i"),
        ("-a + b", "a+b", "-a+b"),
        ("a + b", "-a+b", "a+b"),
        ("x^{10}", "x^2", "x^{10}"),
    ],
)
def test_only_what_differs_is_new(right: str, written: str, expected: str):
    assert respelled(right, written, "latex") == expected


def test_a_count_in_plain_text_becomes_latex():
    assert respelled("8 d_model^2", r"6 d_{model}^2", "latex") == "8 d_{model}^2"
    assert respelled("10^12 N", r"10^{11} N", "latex") == "10^{12} N"
    assert respelled("8 d_model^2", "6 d_model^2", "plain") == "8 d_model^2"


@pytest.mark.parametrize("words", ["entries that sum to 1", "token 3", "5 times", "126 million"])
def test_words_are_no_formula(words: str):
    assert respelled(words, "x^2", "latex") == words


def test_what_cannot_be_read_is_left_as_it_is():
    assert respelled(r"\frac{a}{", "a", "latex") == r"\frac{a}{"
    assert respelled("a_{i}", r"\frac{a}{", "latex") == "a_{i}"


def test_a_text_that_would_say_something_else_is_given_up():
    """The exponent has no braces, so that two digits in its place would be a power and a factor."""
    assert respelled("x^{23} + 1", "x^2+1", "latex") == "x^{23}+1"
    text = respelled(r"\frac{a}{b + c} d", r"\frac a{b-c} d", "latex")
    assert read_formula(text, "latex") == read_formula(r"\frac{a}{b + c} d", "latex")
