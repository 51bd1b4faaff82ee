r"""A slip in a mean or a variance is wrong where the section tells the moments; what depends on more is left alone."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last

INPUTS = r"Let $E[u_i^2] = v$, $E[B_{ij}] = 0$, $E[B_{ij} B_{kl}] = \tau^2 \delta_{ik} \delta_{jl}$."
ROWS = r"Let $\mathbb{E}[F_{jk}] = 0$ and $\mathbb{E}[F_{jk}^2] = \frac{1}{d}$."
TWO = r"Let $E[a_1] = 0$, $E[c_1] = 0$, $E[a_1^2] = 1$, $E[c_1^2] = 1$ and $E[a_1 c_1] = E[a_1] E[c_1]$."
UNKNOWN = r"Let $E[u_i] = 0$ and $E[u_i^2] = v$."


@pytest.mark.parametrize(
    ("before", "right", "wrong"),
    [
        (
            INPUTS,
            r"E[(\sum_{l=1}^{d} u_l B_{lj})^2] = \sum_{k=1}^{d} \tau^2 E[u_k^2]",
            r"E[(\sum_{l=1}^{d} u_l B_{lj})^2] = \sum_{k=1}^{d} \tau^2 E[u_k]",
        ),
        (
            INPUTS,
            r"E[(\sum_{l=1}^{d} u_l B_{lj})^2] = \sum_{k=1}^{d} \tau^2 E[u_k^2]",
            r"E[(\sum_{l=1}^{d} u_l B_{lj})^2] = \sum_{k=1}^{d} \tau^2 E[u_k^4]",
        ),
        (
            ROWS,
            r"E[\sum_{l=1}^{d} F_{jl}^2] = \sum_{k=1}^{d} E[F_{jk}^2]",
            r"E[\sum_{l=1}^{d} F_{jl}] = \sum_{k=1}^{d} E[F_{jk}^2]",
        ),
        (TWO, r"\text{Var}(\sum_{j=1}^{d_k} a_1 c_1) = d_k^2", r"\text{Var}(\sum_{j=1}^{d_k} a_1 c_1) = d_k"),
        (TWO, r"\text{Var}(\sum_{j=1}^{d_k} a_1 c_1) = d_k^2", r"\text{Var}(\sum_{j=1}^{d_k - 1} a_1 c_1) = d_k^2"),
        (UNKNOWN, r"\text{Var}(\sum_{i=1}^{n} u_i) = n v", r"\text{Var}(\sum_{i=1}^{n} u_i) = n v^2"),
    ],
)
def test_a_slip_beside_what_is_told_is_wrong(before: str, right: str, wrong: str) -> None:
    assert last(right, before).verdict != "wrong"
    assert last(wrong, before).verdict == "wrong"


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        (UNKNOWN, r"\text{Var}(\sum_{i=1}^{n} u_i) = n^2 v"),  # where all entries are one
        (UNKNOWN, r"E[u_i^4] = 3 v^2"),
        (UNKNOWN, r"\text{Var}(\sum_{i=1}^{n} u_i) = \tau"),  # a letter that is set
        (UNKNOWN, r"\text{Var}(\sum_{i=1}^{n} u_i w_i) = n v^2"),  # nothing is told of w
        (UNKNOWN, r"\text{Var}(\sum_{i=1}^{n} u_i) = n v^2 \quad \text{if } v = 1"),
        (r"The $u_i$ are correlated: $E[u_i] = 0$ and $E[u_i^2] = v$.", r"\text{Var}(\sum_{i=1}^{n} u_i) = n v^2"),
        (r"Let $E[u_i] = 0$, $E[u_i^2] = v$, $E[u_i u_j] = \rho$.", r"\text{Var}(\sum_{i=1}^{n} u_i) = n v^2"),
        (r"Let $E[u_i^2] = v$. Later $E[u_i^2] = w$.", r"E[\sum_{i=1}^{n} u_i^4] = n v"),
        (r"For a mask $E[u_i^2] = v$.", r"E[\sum_{i=1}^{n} u_i] = n v"),
        (r"Signs have $E[u_i] = 0$, $E[u_i^2] = 1$.", r"E[\sum_{i=1}^{n} u_i^4] = n"),
        (r"Ternary weights have $E[u_i] = 0$, $E[u_i^2] = v$.", r"E[\sum_{i=1}^{n} u_i^4] = n v"),
        (UNKNOWN, r"\text{Var}(u_i + \epsilon_i) = v^2"),  # a noise of which nothing is told
        (UNKNOWN, r"\text{Var}(u_i + \text{noise}_i) = v^2"),
        (r"Let $E[u^{(1)}_i] = 0$, $E[(u^{(1)}_i)^2] = v$.", r"\text{Var}(\sum_{i=1}^{n} u_i) = n v^2"),
        (r"Let $E[h_i] = 0$, $E[h_i^2] = v$.", r"E[\sum_{i=1}^{n} h_i^4] = n v"),
    ],
)
def test_what_depends_on_more_is_left_alone(before: str, formula: str) -> None:
    assert last(formula, before).verdict != "wrong"
