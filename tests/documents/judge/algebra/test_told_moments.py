r"""What the section says of a moment is put where it stands; what it does not say, or says twice, is left alone."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Finding

SAID = r"Assume $\mathbb{E}[x_i^2] = v$ and $\operatorname{Var}(w_i) = \sigma^2$."


def said(formula: str, before: str = SAID) -> Finding:
    """Return what is said of a formula behind what is assumed."""
    return check_text(f"{before}\n\nThen ${formula}$ here.", "markdown").claims[-1].finding


@pytest.mark.parametrize(
    "formula",
    [
        r"\sum_{k=1}^{n} \operatorname{Var}(w_k) \mathbb{E}[x_k^2] = n \sigma^2 v",
        r"\sum_{k=1}^{n} 3 \mathbb{E}[x_k^2] = 3 n v",
    ],
)
def test_a_moment_is_what_the_section_says(formula: str) -> None:
    finding = said(formula)
    assert finding.verdict == "proved"
    assert any("= v" in each for each in finding.assumptions)


@pytest.mark.parametrize(
    "formula",
    [
        r"\sum_{k=1}^{n} \operatorname{Var}(w_k) \mathbb{E}[x_k^2] = n \sigma v",
        r"\sum_{k=1}^{n - 1} \operatorname{Var}(w_k) \mathbb{E}[x_k^2] = n \sigma^2 v",
        r"\sum_{k=1}^{n} \sigma \mathbb{E}[x_k^2] = n \sigma^2 v",
    ],
)
def test_a_slip_beside_it_is_wrong(formula: str) -> None:
    assert said(formula).verdict == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"\sum_{k=1}^{n} \mathbb{E}[y_k^2] = n v",
        r"\sum_{k=1}^{n} \mathbb{E}[x_k^2] = n \tau",
        r"\sum_{k=1}^{n} \mathbb{E}[x_k x_l] = n v",
        r"\sum_{k=1}^{n} \operatorname{Var}(w_k) = n \tau^4",
    ],
)
def test_what_is_not_said_is_left_alone(formula: str) -> None:
    assert said(formula).verdict == "unknown"


def test_what_is_said_twice_is_left_alone() -> None:
    both = r"Assume $\mathbb{E}[x_i^2] = v$. Later $\mathbb{E}[x_i^2] = 2 v$."
    assert said(r"\sum_{k=1}^{n} \mathbb{E}[x_k^2] = 3 n v", both).verdict == "unknown"


@pytest.mark.parametrize("formula", [r"\mathbb{E}[x_i^2] = 1", r"\mathbb{E}[x_k] = 0", r"0 = \mathbb{E}[x_k]"])
def test_what_tells_a_moment_does_not_prove_it(formula: str) -> None:
    assert said(formula, r"Assume $\mathbb{E}[x_i^2] = 1$ and $\mathbb{E}[x_i] = 0$.").verdict == "unknown"
