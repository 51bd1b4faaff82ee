r"""A slip in an equation between means and variances is wrong; what holds for some variables is left alone."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.formulas import read_formula
from derivations.documents.judge.algebra.moment_slips import moment_slip

DOT = r"\sum_{j=1}^{d_k} q_j k_j"


def verdict(formula: str, before: str = "So") -> str:
    """Return what is said of a formula in a sentence."""
    return check_text(f"{before} ${formula}$ here.", "markdown").claims[0].finding.verdict


@pytest.mark.parametrize(
    "formula",
    [
        r"\text{Var}(x) = E[x^2] + E[x]^2",
        r"\text{Var}(x) = E[x]^2 - E[x^2]",
        r"\text{Var}(x + y) = \text{Var}(x) - \text{Var}(y)",
        r"\text{Var}(2 x) = 2 \text{Var}(x)",
        rf"\text{{Var}}({DOT}) = \sum_{{j=1}}^{{d_k - 1}} \text{{Var}}(q_j k_j)",
        rf"\text{{Var}}({DOT}) = E[({DOT})^2] + E[{DOT}]^2",
        rf"\text{{Var}}(\frac{{1}}{{d_k}} {DOT}) = \frac{{\text{{Var}}({DOT})}}{{d_k}}",
        r"\text{Var}(\sum_{j=1}^{d_k} q_l k_j) = \sum_{j=1}^{d_k} \text{Var}(q_j k_j)",
        r"\text{Var}(q_j k_j) = E[k_j^2] E[q_j^2] + E[k_j]^2 E[q_j]^2",
        r"E[\frac{r x}{1 + p}] = \frac{E[r x]}{1 - p}",
        r"E[\frac{x}{c}] = c E[x]",
        r"\text{Var}(\frac{x}{c}) = \frac{\text{Var}(x)}{c}",
        r"E[b x - y] = b E[x] + E[y]",
        r"E[b x + y] = b E[x] - E[y]",
        r"\text{Var}(\sum_{k=1}^{n} f_k + x) = E[(\sum_{k=1}^{n} f_k + x)] - E[\sum_{k=1}^{n} f_k + x]^2",
    ],
)
def test_a_slip_is_wrong(formula: str) -> None:
    assert verdict(formula) == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"\text{Var}(x) = E[x^2] - E[x]^2",
        r"\text{Var}(x) = E[x^2]",
        r"\text{Var}(x) = E[x] - E[x]^2",
        r"E[x^2] = E[x]^2",
        r"E[x^2] = E[x]",
        r"\text{Var}(x - y) = \text{Var}(x) + \text{Var}(y)",
        r"E[(x + y)^2] = E[x^2] + E[y^2]",
        r"\text{Var}(a x) = a^2 \text{Var}(x)",
        r"\text{Var}(\bar{x}) = \frac{\text{Var}(x)}{n}",
        r"E[(x - \mu)^2] = E[x^2] - \mu^2",
        r"\text{Var}(q_i k_i) = \text{Var}(q_i) \text{Var}(k_i)",
        rf"\text{{Var}}({DOT}) = \sum_{{j=1}}^{{d_k}} \text{{Var}}(q_j k_j)",
        rf"\text{{Var}}({DOT}) = \sum_{{j=1}}^{{d_k}} E[q_j^2] E[k_j^2]",
        rf"\text{{Var}}({DOT}) = d_k \text{{Var}}(q_1 k_1)",
        rf"\text{{Var}}({DOT}) = d_k^2 \text{{Var}}(q_j k_j)",
        rf"\text{{Var}}(\frac{{1}}{{\sqrt{{d_k}}}} {DOT}) = \frac{{\text{{Var}}({DOT})}}{{d_k}}",
        r"V(s) = E[r + V(t)]",
        r"E[\frac{r x}{1 - p}] = \frac{E[r x]}{1 - p}",
        r"E[\frac{m x}{q}] = E[x]",  # where q is the mean of m
        r"\text{Var}(b x) = b \text{Var}(x)",  # where b is 0 or 1
        r"E[(b x)^2] = b E[x^2]",
        r"E[b x + c] = b E[x] + c",
        r"E[(x - c)^2] = E[x^2] - c^2",  # where c is the mean
        r"E[y] = b E[x] + c",
        r"E[b x - y] = b E[x]",  # where y has mean 0
        r"E[\frac{m^2}{q}] = \frac{E[m]}{q}",
    ],
)
def test_what_holds_for_some_variables_is_no_mistake(formula: str) -> None:
    """Of mean 0, of 0 and 1, of one variable, of a constant: the words need not say so."""
    assert verdict(formula) != "wrong"


def test_a_condition_is_left_alone() -> None:
    assert verdict(r"\text{Var}(x) = E[x^2] + E[x]^2", "This holds only if") != "wrong"


def test_the_side_that_is_mended_is_told() -> None:
    left, right = read_formula(r"\text{Var}(x) = E[x^2] + E[x]^2", "latex").statements[0].sides
    found = moment_slip(left, right)
    assert found is not None and found[1] == "a sign is wrong, on the right"
    assert moment_slip(left, found[0]) is None


@pytest.mark.parametrize(
    "formula", [r"E[x^{99}] = E[x]", r"E[(a + b + c + u + v + w)^8] = E[a]", r"E[\frac{x}{0}] = E[x]"]
)
def test_what_is_too_large_has_no_number(formula: str) -> None:
    assert verdict(formula) == "unknown"


@pytest.mark.parametrize(
    "formula",
    [
        rf"\text{{Var}}({DOT}) = \sum_{{j=1}}^{{d_k}} \text{{Var}}(q_l k_j)",
        r"E[\sum_{j=1}^{d_k} q_l k_j] = \sum_{j=1}^{d_k} E[q_j k_j]",
    ],
)
def test_an_index_that_stands_nowhere_else_is_that_of_the_sum(formula: str) -> None:
    assert verdict(formula) == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"\text{Var}(\sum_{j=1}^{n} x_j) = \sum_{j=1}^{n} \text{Var}(x_i) = n \sigma^2",
        r"E[\sum_{j=1}^{n} x_j] = n E[x_i]",
        r"E[\sum_{j=1}^{n} x_i k_j] = E[x_i] \sum_{j=1}^{n} E[k_j]",
    ],
)  # fmt: skip
def test_an_index_may_stand_for_any_place(formula: str) -> None:
    assert verdict(formula) != "wrong"


def test_a_letter_whose_square_the_chain_has_is_not_0_or_1() -> None:
    lines = r"\text{Var}(q_i k_i) = E[q_i k_i^2] - E[q_i k_i]^2"
    assert verdict(lines) != "wrong"
    assert verdict(rf"{lines} = E[q_i^2] E[k_i^2] - E[q_i]^2 E[k_i]^2") == "wrong"


@pytest.mark.parametrize("mask", ["m", "b", "m_j"])
def test_a_mask_keeps_no_square(mask: str) -> None:
    lines = rf"E[{mask}^2 x^2] = E[{mask}^2] E[x^2] = E[{mask}] E[x^2]"
    assert verdict(lines) != "wrong"


def test_a_square_of_a_sum_that_is_lost_is_wrong() -> None:
    right = r"\text{Var}(\sum_{j=1}^{n} x_j y_j) = E[(\sum_{j=1}^{n} x_j y_j)^2] - E[\sum_{j=1}^{n} x_j y_j]^2"
    assert verdict(right) != "wrong"
    assert verdict(right.replace(")^2]", ")]")) == "wrong"


def test_a_fourth_power_is_that_of_no_mask() -> None:
    assert verdict(r"\text{Var}(q k) = E[k^4] E[q^2] - E[k]^2 E[q]^2") == "wrong"
    assert verdict(r"E[m^4 x^4] = E[m] E[x^4]") != "wrong"


@pytest.mark.parametrize(
    ("formula", "meant"),
    [
        (r"E[x_k W_{jp}] = E[W_{kp}] E[x_k]", "W_j,p"),
        (r"E[H_{ik} H_{ik}] = E[E_{jk}] E[H_{ik}]", "E_j,k"),
        (r"E[R_{ik} X_{ik}] = E[X_{ik}] E[X_{ik}]", "R_i,k"),
    ],
)
def test_an_entry_stands_for_the_one_that_only_the_other_side_has(formula: str, meant: str) -> None:
    finding = check_text(f"So ${formula}$ here.", "markdown").claims[0].finding
    assert finding.verdict == "wrong"
    assert f"{meant} belongs where" in finding.reason


@pytest.mark.parametrize(
    "formula",
    [
        r"E[q_1 k_2] = E[q] E[k]",
        r"\text{Var}(x_1) = \text{Var}(x_i)",
        r"\text{Var}(q_1 k_1) = \text{Var}(q_i k_i)",
        r"E[x_i x_j] = E[x_i]^2",
        r"E[x_1 y_1] = E[x_2] E[y_2]",
    ],
)
def test_entries_of_one_distribution_may_stand_for_one_another(formula: str) -> None:
    assert verdict(formula) != "wrong"
