"""Sums over an index that they do not have: wrong where their terms have another that nothing binds."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text

BEFORE = r"With $s = \sum_{i=1}^{N} a_i$ and $t = \sum_{k=1}^{N} b_k$: "
WRONG = (
    r"$c = \sum_{j=1}^{N} a_i v_i$",
    r"$p = \frac{a}{\sum_{j=1}^{N} a_i x_i}$",
    r"$c_k = \sum_{j=1}^{N} a_i b_k$",
    r"$c = \sum_{j=1}^{N} x^{(i)}$",
)
RIGHT = (
    r"$c_i = \sum_{j=1}^{N} a_i$",  # the left side has the index
    r"$c = \sum_{j=1}^{N} a_j v_j$",
    r"$N c = \sum_{j=1}^{N} c$",
    r"$c = \sum_{i=1}^{N} \sum_{j=1}^{N} a_i$",  # another sum binds it
    r"$c = \sum_{j=1}^{N} x^{(j)} a_i$",
    r"$c = \sum_{j=1}^{N} f(j) a_i$",
    r"$c = a_i + \sum_{j=1}^{N} a_i$",  # which stands outside, too
    r"$c = \sum_{l=1}^{L} d_q^2$",  # a label, and no index anywhere
    r"$c = \sum_{j \in S} a_i$",
)


def alarms(text: str) -> list[str]:
    return [
        claim.finding.check
        for claim in check_text(BEFORE + text, "markdown").claims
        if claim.finding.verdict == "wrong"
    ]


@pytest.mark.parametrize("text", WRONG)
def test_an_index_that_nothing_binds_is_found(text: str) -> None:
    assert alarms(text) == ["index"]


@pytest.mark.parametrize("text", RIGHT)
def test_what_may_be_meant_is_left_alone(text: str) -> None:
    assert alarms(text) == []
