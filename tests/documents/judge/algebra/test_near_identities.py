r"""Equations that are an identity but for one slip are wrong, with what mends them; conditions are left alone."""

from __future__ import annotations

import math

import pytest

from derivations.documents.checking import check_text
from derivations.documents.formulas import read_formula
from derivations.documents.judge.algebra.sampled import DRAWS, POSITIVE, sampled
from derivations.documents.verdicts import Finding


def said(formula: str, before: str = "So") -> Finding:
    """Return what is said of a formula in a sentence."""
    return check_text(f"{before} ${formula}$ here.", "markdown").claims[0].finding


@pytest.mark.parametrize(
    ("formula", "right"),
    [
        (r"(a + b)(a - b) = a^2 + b^2", "a^2 - b^2"),
        (r"(a + b)^2 = a^2 - 2 a b + b^2", "a^2 + 2 a b + b^2"),
        (r"1 - \frac{1}{1 + e^{-t}} = \frac{1}{1 - e^t}", r"\frac{1}{1 + e^t}"),
        (
            r"\frac{e^{S_{ij} + t_i}}{\sum_{l=1}^{m} e^{S_{il} + t_i}} = \frac{e^{S_{ij}}}{\sum_{l=1}^{m} S_{il}}",
            "e^{S",
        ),
        (r"\sum_{j=1}^{m} (u_j + v_j) = \sum_{j=1}^{m} u_j + \sum_{j=1}^{m-1} v_j", r"\sum_{j=1}^{m} v_j"),
        (
            r"\sum_{j=1}^{d} q_j k_j = \frac14 \sum_{j=1}^{d} (k_j + q_j)^2 - \frac14 \sum_{j=1}^{d} (q_j + k_j)^2",
            "(q_j - k_j)^2",
        ),
        (r"\sum_{j=1}^{n-1} c = n c", r"\sum_{j = 1}^{n} c"),
        (r"a (b + c) = a b + a c + d", "a b + a c"),
        (r"Y (Y W^V) W^O = A (Y (W^V W^O))", "Y"),
        (r"\log(\frac{1 - e^t}{1 + e^{-t}} + 0 t) = \log(e^t)", r"1 + e^t"),
        (r"\frac{g m d_k - g m d_v}{m} = g d_k + g d_v", "g d_k - g d_v"),
        (r"\frac{m d_v}{r} = \frac{m d_k r + m d_v r}{r r}", r"d_v + d_k"),
        (
            r"\frac{t (1 - \tanh(\frac{t \sqrt{2} (a t^2 + 1)}{\sqrt{\pi}}))}{2}"
            r" = \frac{t}{1 + \exp(-\frac{2 t \sqrt{2} (a t^2 + 1)}{\sqrt{\pi}})}",
            r"\exp(\frac",
        ),
        (r"\sum_{j=1}^{n} u_j \delta_{jt} + u_t = 3 \sum_{j=1}^{n} u_j \delta_{jt}", "- u_{t}"),
        (
            r"e^{t_{\text{new}}} (e^a - e^b) = e^{a + t_{\text{new}}} + e^{b + t_{\text{new}}}",
            r"-",
        ),
    ],
)
def test_a_slip_in_an_identity_is_wrong_and_is_mended(formula: str, right: str) -> None:
    finding = said(formula)
    assert finding.verdict == "wrong"
    assert right in (finding.right or "")


@pytest.mark.parametrize(
    "formula",
    [
        "n d^2 = n^2 d", "x + y = x", "4 n^2 d = 8 n d^2", "x^2 = x", r"\sigma(-x) = \sigma(x)", "n m = n + m",
        "a x + b = c x + d", "e^{-x} = x - 1", r"\sum_{i=1}^n w_i x_i = \sum_{i=1}^n x_i", "A B = B A",
        r"y_i (\delta_{ij} - y_j) = y_j \delta_{ij} - y_i y_j", r"\log p + \log q = \log r + \log s",
        "P^2 x = P x", "A (B + C) = A B + C A", "w_1 x + w_2 y = x + y", r"\sum_{j=1}^{n} c = n",
        r"\sum_{j=1}^{n} x_j = n x", r"\sin^2 t - \cos^2 t = 0", r"\sin^2 t - \cos^2 t = 1", "x^2 - 4 x = 0",
        r"\log((x - 5)^2) = 2 \log(x - 5)", r"\text{ReLU}(x) = 0", r"\text{ReLU}(x + y) = x + y", r"\sqrt{x^2} = x",
        r"\sum_{i=1}^n x_i = \sum_{j=1}^n x_j^2", r"u_i \delta_{ij} = u_i", "x / 2 + y / 2 = x",
        r"\frac{x y}{y} = z + w",
        r"\sum_{i=1}^n (x_i - \mu)(y_i - \nu) = \sum_{i=1}^n x_i y_i - \mu \sum_{i=1}^n y_i",
        r"\sum_{i=1}^n (x_i - \bar{x})(y_i - \bar{y}) = \sum_{i=1}^n x_i y_i - \bar{x} \sum_{i=1}^n y_i",
        r"\frac{d^{2}}{d t^{2}} (t^2 + t) = t^2 + t + 0 t",
        r"\frac{n (d_q + d_k)}{n} = 2 d_q + a - a + b", r"h d_k d_k = d_{model} d_k",
        r"d_{ff} n + n = 4 n d_{model} + n",
        r"\sum_{i=1}^{n} (x_i - m) = 0", r"\sum_{i=1}^{h} d_k = d_k", r"\sum_{i=1}^{n} x = \sum_{i=1}^{m} x"
    ],
)  # fmt: skip
def test_an_equation_that_may_be_a_condition_is_not_refuted(formula: str) -> None:
    assert said(formula).verdict != "wrong"


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"\frac{1}{1 + e^{-t}} + \frac{1}{1 + e^t} = 1", "proved"),
        (r"\frac{1}{1 + e^{-t}} - \frac{1}{1 + e^t} = 1", "wrong"),
        (r"\frac{1}{1 + e^{-t}} + \frac{1}{1 + t} = 1", "wrong"),
        (r"\frac{2 a}{a + b} + \frac{2 b}{a + b} = 2", "conditional"),  # a + b is not 0
        (r"\frac{2 a}{a + b} + \frac{2 b}{a - b} = 2", "wrong"),
        (r"\sum_{j=1}^{n} \frac{e^{x_j}}{\sum_{k=1}^{n} e^{x_k}} = 1", "proved"),
        (r"\sum_{j=1}^{n - 1} \frac{e^{x_j}}{\sum_{k=1}^{n} e^{x_k}} = 1", "wrong"),
        (r"\sum_j \frac{e^{x_j}}{\sum_k e^{x_k}} = 1", "proved"),
        (r"\sum_j \frac{x_j}{\sum_k e^{x_k}} = 1", "wrong"),
        (r"\cos^2 t + \sin^2 t = 1", "proved"),
        (r"e^x e^{-x} = 1", "proved"),
        (r"\frac{1}{1 + e^{-t}} = 1", "unknown"),
        (r"\frac{e^t}{1 + e^t} = 1", "unknown"),
        (r"\frac{e^{x_i}}{e^{x_j}} = 1", "unknown"),
        (r"\sum_i p_i = 1", "unknown"),
        (r"\sum_{j=1}^{n} \frac{e^{x_j}}{\sum_{k=1}^{n} e^{x_j}} = 1", "unknown"),
        (r"0 \cdot \infty = 0", "unknown"),
        (r"x^2 = 1", "unknown"),
    ],
)
def test_what_is_one_number_for_all_letters(formula: str, verdict: str) -> None:
    """A sum over k whose terms lack k is hardly meant; limits and conditions are no identities."""
    assert said(formula).verdict == verdict


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"\frac{e^{x_i - c}}{\sum_j e^{x_j - c}} = \frac{e^{x_i}}{\sum_j e^{x_j}}", "proved"),
        (r"\frac{e^{x_i - c}}{\sum_j e^{x_j - c}} = \frac{e^{x_i}}{\sum_j x_j}", "wrong"),
        (r"\log \frac{e^{x_i}}{\sum_j e^{x_j}} = x_i - \log \sum_j e^{x_j}", "proved"),
        (r"\log \frac{e^{x_i}}{\sum_j e^{x_j}} = x_i + \log \sum_j e^{x_j}", "wrong"),
        (r"\sum_i (a x_i + b y_i) = a \sum_i x_i - b \sum_i y_i", "wrong"),
        (r"\sum_k w_{ik} x_k = \sum_k x_k w_{ik}", "proved"),
        (r"\sum_i w_i x_i = \sum_i x_i", "unknown"),
        (r"\sum_i (x_i + c) = \sum_i x_i + n c", "unknown"),
        (r"\sum_i x_i = \sum_{i=1}^{n} x_i", "unknown"),
        (r"\sum_i (x_i - \mu)^2 = \sum_i x_i^2 - n \mu^2", "unknown"),
    ],
)
def test_sums_without_bounds_are_over_all_places(formula: str, verdict: str) -> None:
    assert said(formula).verdict == verdict


def test_words_make_a_condition_of_an_equation() -> None:
    assert said("(a + b)(a - b) = a^2 + b^2", "This holds only if").verdict == "unknown"


@pytest.mark.parametrize("behind", ["only if $b = 0$", "when b is 0", "のとき", "当且仅当 $b = 0$"])
def test_words_behind_make_a_condition_of_an_equation(behind: str) -> None:
    claims = check_text(f"Now $(a + b)(a - b) = a^2 + b^2$ {behind}.", "markdown").claims
    assert claims[0].finding.verdict == "unknown"


def test_letters_that_are_defined_by_one_another_are_left_alone() -> None:
    text = "Let $c = a - b$.\n\nThen $(a + b)(a + c) = a^2 + b^2$ here."
    claims = check_text(text, "markdown").claims
    assert all(claim.finding.verdict != "wrong" for claim in claims)


@pytest.mark.parametrize(
    ("formula", "verdict"), [("Y (Y W^V) W^O = A (Y (W^V W^O))", "wrong"), ("A O = O O", "unknown")]
)
def test_a_label_is_no_letter(formula: str, verdict: str) -> None:
    """The O of W^O is not the O that the section defines by A."""
    claims = check_text(f"Let $O = A V$.\n\nThen ${formula}$ here.", "markdown").claims
    assert claims[-1].finding.verdict == verdict


SIZES = r"""Let $h$ be the number of heads and $X \in \mathbb{R}^{m \times d_{model}}$. Assuming
$d_k = \frac{d_{model}}{h}$, $d_v = \frac{d_{model}}{h}$:
"""


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"\frac{h m d_k + h m d_v}{m} = 2 h d_k", "proved"),
        (r"\frac{h m d_k + h m d_v}{m} = 3 h d_k", "wrong"),
        (r"\frac{h m d_k - h m d_v}{m} = 2 h d_k", "wrong"),
        (r"\frac{h m d_v}{m} = 2 h d_k", "wrong"),
        (r"\frac{h m d_v}{m} = h d_k", "proved"),
        (r"h m d_v + h d_k = h m d_k + h m", "unknown"),
    ],
)
def test_sizes_are_what_the_section_sets_them_to(formula: str, verdict: str) -> None:
    """A multiple of a size is not that size; what may be a relation of other sizes is left alone."""
    assert check_text(f"{SIZES}\n$${formula}$$", "markdown").claims[-1].finding.verdict == verdict


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"\frac{h m d_k + h m d_v}{m} = 2 h d_k", "conditional"),
        (r"\frac{h m d_{model} + h m d_v}{m} = 2 h d_k", "wrong"),
        (r"\frac{h m d_k + h m d_v}{m} = 3 h d_v - h d_k", "conditional"),
    ],
)
def test_a_size_may_be_set_to_the_same_twice(formula: str, verdict: str) -> None:
    text = f"{SIZES}\nAssuming $d_v = d_k$:\n\n$${formula}$$"
    assert check_text(text, "markdown").claims[-1].finding.verdict == verdict


@pytest.mark.parametrize(
    "formula",
    [
        "(Y W) A U = A (Y (W U))", "(A B)^{-1} = A^{-1} B^{-1}", "(A + B)(A - B) = A^2 - B^2",
        r"\exp(A + B) = \exp(A) \exp(B)", r"\sum_{j=1}^n a_{ij} = \sum_{j=1}^n a_{ji}",
        r"\sum_{i=1}^{n} x_{i+1} = n x_{i+1}",
    ],
)  # fmt: skip
def test_what_holds_for_numbers_is_not_proved_of_matrices_and_entries(formula: str) -> None:
    """Matrices do not commute, a_ij is not a_ji, and x_{i+1} is another entry for each i."""
    assert said(formula).verdict == "unknown"


def test_products_of_matrices_are_associative() -> None:
    assert said("A (Y W) U = A (Y (W U))").verdict == "proved"


@pytest.mark.parametrize(
    ("defined", "used", "verdict"),
    [
        ("z_1 = X W_1 + b_1", r"a = \text{ReLU}(z_1) = \text{ReLU}(X W_1 - b_1)", "wrong"),
        ("z_1 = X W_1 + b_1", r"a = \text{ReLU}(z_1) = \text{ReLU}(X W_1 + b_1)", "holds"),
        ("z_1 = X W_1 + b_1", r"a = \text{ReLU}(z_1) = \text{ReLU}(W_1 X + b_1)", "unknown"),
        ("z_1 = X W_1 + b_1", r"a = \text{ReLU}(z_1) = \text{ReLU}(x W_1 + b_1)", "unknown"),
        ("z = x - y", r"r = |z| = |y - x|", "unknown"),
        ("z = x + c", r"p = \text{softmax}(z) = \text{softmax}(x - c)", "unknown"),
    ],
)
def test_a_letter_stands_for_what_defined_it(defined: str, used: str, verdict: str) -> None:
    """Another sign is a slip; another order may be another convention, and some functions give the same for both."""
    claims = check_text(f"First ${defined}$ is made.\n\n$${used}$$", "markdown").claims
    assert claims[-1].finding.verdict == verdict


@pytest.mark.parametrize("line", ["v = A @ v", "v = v @ A", "x = x + x"])
def test_a_name_of_code_may_be_set_anew(line: str) -> None:
    claims = check_text(f"```python\nA = v\n{line}\n```", "markdown").claims
    assert all(claim.finding.verdict != "wrong" for claim in claims)


def number(formula: str, draw: int) -> float | None:
    """Return the number of a formula in one draw of its letters."""
    return sampled(read_formula(formula, "latex").statements[0].sides[0], draw)


def test_numbers_have_signs_only_where_a_draw_has_them() -> None:
    assert all((number("x", draw) or 0) > 0 for draw in POSITIVE)
    assert (number("x", DRAWS[-2]) or 0) < 0


def test_what_is_not_real_is_no_number_and_what_is_unknown_is_none() -> None:
    assert math.isnan(number(r"\log(-1)", 1) or 0)
    assert math.isnan(number(r"\frac{x}{x - x}", 1) or 0)
    assert number("f(x, y)", 1) is None


def test_free_indices_of_a_delta_are_alike_in_some_draws_only() -> None:
    assert {number(r"\delta_{ij}", draw) for draw in DRAWS} == {0.0, 1.0}
    assert all(number(r"\delta_{ii}", draw) == 1 for draw in DRAWS)
    assert all(number(r"\sum_{j=1}^{n} u_j \delta_{jt} - u_t", draw) == 0 for draw in DRAWS)


def test_no_two_letters_have_the_same_numbers() -> None:
    """Sizes are drawn apart: `d_{model}` is no `h` in all draws."""
    sizes = [
        tuple(number(name, draw) for draw in DRAWS) for name in ("h", "n", "m", "d_k", "d_v", "d_{model}", "d_{ff}")
    ]
    assert len(set(sizes)) == len(sizes)


def test_numbers_of_formulas_depend_on_names_alone() -> None:
    total = number(r"\sum_{j=1}^{2} q_j", 1)
    assert total == number(r"\sum_{l=1}^{2} q_l", 1) != number(r"\sum_{l=1}^{2} q_l", 2)
    assert number("K^T", 1) is None


def test_numbers_of_entries_depend_on_the_place_and_not_on_where_they_are_written() -> None:
    assert number(r"r_{\text{new}} - r_{\text{new}}", 1) == 0
    shifted = number(r"\sum_{j=1}^{2} x_{j + 1}", 1)
    assert shifted == number("x_{2} + x_{3}", 1)


@pytest.mark.parametrize(
    "formula",
    [
        r"\exp(u + v) = \exp(u) v",
        r"\exp(\sum_{i=1}^{n} a_i + b) = \exp(\sum_{i=1}^{n} a_i) (b)",
        r"\frac{\sum_{q=1}^{n} W_{qc} (T_q - r)}{\sum_{q=1}^{n} e^{T_q - r}}"
        r" = \frac{\sum_{q=1}^{n} W_{qc} e^{T_q}}{\sum_{q=1}^{n} e^{T_q}}",
        r"\sum_{j=1}^{n} e^{u_j - u_t} = e^{-u_t} \sum_{j=1}^{n} (1 - \delta_{jt}) e^{u_j}",
        r"\frac{1 + \frac{1}{1 + e^{-u}}}{1 + e^{u}} = 1",
    ],
)
def test_exponentials_deltas_and_shares_that_are_lost(formula: str) -> None:
    assert said(formula).verdict == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"\exp(u + v) = \exp(u) e^v",
        r"\exp(u) v = c",
        r"\exp(u) v = \exp(w) v",
        r"\sum_{j=1}^{n} (1 - \delta_{jt}) u_j = \sum_{j=1}^{n} u_j - u_t",
        r"\sum_{j=1}^{n} (p_j - \delta_{jt}) v_j = \sum_{j=1}^{n} p_j v_j - v_t",
        r"\frac{\sum_{q=1}^{n} W_q (T_q - r)}{\sum_{q=1}^{n} (T_q - r)} = \frac{\sum_{q=1}^{n} W_q T_q}{n}",
        r"\frac{1 - \frac{1}{1 + e^{u}}}{1 + e^{-u}} = \frac{1}{4}",
        r"\frac{e^u + \frac{1}{1 + e^v}}{1 + e^u} = 1",
    ],
)
def test_exponentials_and_deltas_of_other_equations_are_left_alone(formula: str) -> None:
    assert said(formula).verdict != "wrong"
