r"""Identities of means and variances are seen to hold, with what they assume; what holds for no moments is not."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Finding

CENTRED = "Let the components be independent with mean 0 and variance 1."


def finding(formula: str, before: str = "Then") -> Finding:
    """Return what is said of the last formula of a section."""
    return check_text(f"{before}\n\n${formula}$", "markdown").claims[-1].finding


@pytest.mark.parametrize(
    "formula",
    [
        r"\text{Var}(X) = E[X^2] - E[X]^2",
        r"\text{Var}(X) = \mathbb{E}[(X - \mathbb{E}[X])^2]",
        r"\text{Var}(a X) = a^2 \text{Var}(X)",
        r"E[X] E[X] = E[X]^2",
    ],
)
def test_what_holds_for_one_variable_holds(formula: str) -> None:
    found = finding(formula)
    assert (found.verdict, found.assumptions) == ("holds", ())


@pytest.mark.parametrize(
    ("formula", "assumed"),
    [
        (r"\text{Var}(X + Y) = \text{Var}(X) + \text{Var}(Y)", "X and Y are independent"),
        (r"\text{Var}(X Y) = E[X^2] E[Y^2] - E[X]^2 E[Y]^2", "X and Y are independent"),
        (r"\text{Var}(\sum_{i=1}^{n} x_i) = \sum_{i=1}^{n} \text{Var}(x_i)", "the entries of x are independent"),
        (r"\text{Var}(q \cdot k) = \sum_{i=1}^{d_k} \text{Var}(q_i k_i)", "independent"),
        (r"E[q \cdot k] = \sum_i E[q_i k_i]", "independent"),
    ],
)
def test_several_variables_are_independent(formula: str, assumed: str) -> None:
    found = finding(formula)
    assert found.verdict == "conditional"
    assert any(assumed in each or {*assumed.split()} <= {*each.split()} for each in found.assumptions)


@pytest.mark.parametrize(
    "formula",
    [
        r"\text{Var}(q_i k_i) = \text{Var}(q_i) \text{Var}(k_i)",
        r"\text{Var}(q_i) \text{Var}(k_i) = 1",
        r"E[q_i^2] E[k_i^2] = 1",
    ],
)
def test_a_mean_of_0_is_assumed_where_the_section_says_so(formula: str) -> None:
    assert finding(formula, CENTRED).verdict == "conditional"
    assert finding(formula).verdict == "unknown"


@pytest.mark.parametrize(
    "formula",
    [
        r"\text{Var}(X Y) = \text{Var}(X) \text{Var}(Y)",
        r"\text{Var}(X) = E[X^2]",
        r"\text{Var}(a X) = a \text{Var}(X)",
        r"E[X Y] = E[X] E[Z]",
        r"E[x_k W_{jp}] = E[W_{kp}] E[x_k]",
        r"E[X^2] = E[X]^2",
        r"E[X] = 0",
    ],
)
def test_what_holds_for_some_moments_is_not_said_to_hold(formula: str) -> None:
    assert finding(formula).verdict in ("unknown", "wrong")


@pytest.mark.parametrize("formula", [r"E[x_k W_{jp}] = E[W_{kp}] E[x_k]", r"E[q_i k_i] = E[q_i]^2"])
def test_that_both_sides_are_0_says_nothing(formula: str) -> None:
    assert finding(formula, CENTRED).verdict in ("unknown", "wrong")


def test_a_moment_that_is_set_is_no_claim_of_equality() -> None:
    assert finding(r"E[x_i^2] = 1", CENTRED).verdict == "unknown"
