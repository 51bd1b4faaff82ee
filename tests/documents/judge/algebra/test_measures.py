"""Norms, entropies and divergences: identities hold, slips are wrong, and what is no identity is left alone."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last, verdicts


@pytest.mark.parametrize(
    "formula",
    [
        r"H(p, q) = H(p) + D_{KL}(p \| q)",
        r"D_{\text{KL}}(q \| p) = H(q, p) - H(q)",
        r"\text{KL}(P \| Q) = -H(P) + H(P, Q)",
        r"\|x\|_2 = \sqrt{\sum_i x_i^2}",
        r"\|v\|^2 = \sum_{j=1}^n v_j^2",
        r"\|x\|_1 = \sum_i |x_i|",
    ],
)
def test_identities_hold(formula: str) -> None:
    finding = last(formula)
    assert (finding.check, finding.verdict) == ("measure", "holds")


@pytest.mark.parametrize(
    "formula",
    [
        r"H(p, q) = H(p) - D_{KL}(p \| q)",
        r"D_{KL}(p \| q) = H(p) - H(p, q)",
        r"D_{KL}(p \| q) = D_{KL}(q \| p)",
        r"H(p, q) = H(q, p)",
        r"\|x\|_2 = \sum_i x_i^2",
        r"\|v\| = \sum_{j=1}^n v_j^2",
        r"\|x\|_1 = \sum_i x_i^2",
    ],
)
def test_slips_are_wrong(formula: str) -> None:
    finding = last(formula)
    assert (finding.check, finding.verdict) == ("measure", "wrong")


@pytest.mark.parametrize(
    "formula",
    [
        r"\|x - y\|^2 = \|x\|^2 + \|y\|^2 - 2 x^T y",  # the letters are vectors, and no entries
        r"\|x\| = \sum_i |x_i|",  # nothing says which norm it is
        r"\|X\|_2 = \sum_i x_i^2",
        r"\|x\| \|y\| = x \cdot y",
        r"\|x\|_2 = 1",
        r"\|q\|_2 = \sqrt{d}",
        r"\|x\|_2 = \|y\|_2",
        r"H(p) = H(q)",
        r"H(p, q) = H(p)",
        r"H(X, Y) = H(X) + H(Y)",  # of two variables together
        r"H(p) = D(p \| q)",  # no divergence by name
    ],
)
def test_what_is_no_identity_is_left_alone(formula: str) -> None:
    assert last(formula).verdict != "wrong"


def test_a_condition_is_not_wrong() -> None:
    assert verdicts(r"This is symmetric only if $H(p, q) = H(q, p)$.") == ["unknown"]
