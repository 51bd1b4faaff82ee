r"""A side of a chain that differs from two others which agree is wrong, with what mends it; special values are not."""

from __future__ import annotations

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.judge.algebra.telling_apart import agree, may_agree
from derivations.documents.syntax import Node
from tests.documents.judge.claims import verdicts

SOFTMAX = r"\frac{e^{x_i + c}}{\sum_{j=1}^{n} e^{x_j + c}}"
PLAIN = r"\frac{e^{x_i}}{\sum_{j=1}^{n} e^{x_j}}"


def said(chain: str, before: str = "So") -> set[str]:
    """Return all that is said of the links of a chain."""
    return set(verdicts(f"{before} ${chain}$ here."))


@pytest.mark.parametrize(
    "chain",
    [
        rf"\frac{{e^{{x_j + c}}}}{{\sum_{{j=1}}^{{n}} e^{{x_j + c}}}} = {SOFTMAX} = {PLAIN}",
        rf"\frac{{x_i + c}}{{\sum_{{j=1}}^{{n}} e^{{x_j + c}}}} = {SOFTMAX} = {PLAIN}",
        rf"\frac{{\sum_{{j=1}}^{{n}} e^{{x_j + c}}}}{{e^{{x_i + c}}}} = {SOFTMAX} = {PLAIN}",
        rf"{SOFTMAX} = {PLAIN} = \frac{{e^{{x_i}}}}{{\sum_{{j=1}}^{{n-1}} e^{{x_j}}}} = y_i",
        r"(a + b)^2 = a^2 + 2 a b - b^2 = a^2 + b^2 + 2 a b",
        r"a (b + c) = a b + c = a b + a c",
        r"\sum_{j=1}^{n} u_j \delta_{jt} = \sum_{j=1}^{n} u_j \delta_{jj} = u_t",
        r"\sum_{j=1}^{n} (1 - \delta_{jt}) u_j = \sum_{j=1}^{n} u_j - u_t = \sum_{j=1}^{n} u_j + u_t",
        r"n (a + b) = n a + n b = \sum_{j=1}^{n} (a - b)",
    ],
)
def test_a_side_that_strays_is_wrong(chain: str) -> None:
    assert "wrong" in said(chain)


@pytest.mark.parametrize(
    "chain",
    [
        rf"{SOFTMAX} = {PLAIN} = y_i",
        r"\sum_{j=1}^{n} u_j \delta_{jt} = u_t = \sum_{l=1}^{n} u_l \delta_{lt}",
        r"n m d = m n d = n^2 d",  # the lengths may be equal
        r"n d_q + n d_k = n (d_q + d_k) = 2 n d_k",
        r"h d_k d_v = h d_v d_k = d_{model} d_k",
        r"x + y = y + x = 2 x",
        r"y_1 (1 - y_1) = y_1 - y_1^2 = y_1 y_2",
        r"p (1 - p) = p - p^2 = p q",
        r"f(x) = f(-x) = f(x)",
        r"\sum_j y_j x_j + c \sum_j y_j = \sum_j y_j (x_j + c) = \sum_j y_j x_j + c",
        r"a = b + c = c + b = a + d",
        r"\sum_i (x_i - \mu)(y_i - \nu) = \sum_i (x_i - \mu) y_i = \sum_i x_i y_i - \mu \sum_i y_i",
        r"\sum_{i=1}^n (x_i - m)(y_i - l) = \sum_{i=1}^n (x_i - m) y_i = \sum_{i=1}^n x_i y_i - m \sum_{i=1}^n y_i",
        r"\sum_i x_i (y_i - c) = \sum_i (x_i - \bar{x}) (y_i - c) = \sum_i x_i y_i - c \sum_i x_i",
        r"2 x = x + x \approx x^2",
    ],
)
def test_what_may_be_meant_for_special_values_is_left_alone(chain: str) -> None:
    assert "wrong" not in said(chain)


@pytest.mark.parametrize("before", ["This holds only if", "若"])
def test_a_condition_is_left_alone(before: str) -> None:
    assert "wrong" not in said(rf"{SOFTMAX} = {PLAIN} = \frac{{x_i}}{{\sum_{{j=1}}^{{n}} e^{{x_j}}}}", before)


def test_letters_that_are_defined_by_one_another_are_left_alone() -> None:
    text = "Let $c = a - b$.\n\nThen $a (a + b) = a a + a c = a^2 + a b$ here, and $b = a / 2$."
    assert "wrong" not in verdicts(text)


def test_code_sets_names() -> None:
    assert "wrong" not in verdicts("```python\na + b = b + a = a - b\n```")


def test_a_long_chain_ends() -> None:
    """What has more sides or parts than are compared says nothing, and fails nowhere."""
    assert "wrong" not in said(" = ".join(f"(x + {k}) - {k}" for k in range(1, 12)) + " = x + 0 x")
    assert said(" = ".join(["+".join(f"a_{{{k}}}" for k in range(99))] * 3))


@pytest.mark.parametrize(
    "side",
    [
        r"\sum_{j=1}^{v - 1} E_{jk} \delta_{t_i,j}",
        r"\sum_{j=1}^{v} E_{kk} \delta_{t_i,j}",
        r"\sum_{j=1}^{v} E_{jk} \delta_{t_j,j}",
    ],
)
def test_the_indices_of_sums_may_have_other_names(side: str) -> None:
    others = r"\sum_{l=1}^{v} E_{lk} \delta_{t_i,l} = E_{t_i,k}"
    assert "wrong" in said(f"{side} = {others}")
    assert "wrong" not in said(rf"\sum_{{j=1}}^{{v}} E_{{jk}} \delta_{{t_i,j}} = {others}")


def sides(formula: str) -> tuple[Node, ...]:
    """Return the sides of a formula."""
    return read_formula(formula, "latex").statements[0].sides


def test_sides_without_numbers_agree_with_none() -> None:
    assert not agree(*sides(r"a + b = f(c)"))
    assert may_agree(*sides(r"a + b = f(c)"))
    assert agree(*sides(r"a + b = b + a"))
    assert not may_agree(*sides(r"\frac{a}{b - b} = 2"))
