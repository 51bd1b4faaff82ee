"""Attention that words call scaled, and whose scores are not: wrong, but where the section goes on to scale them."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last

UNSCALED = r"\text{Attention}(Q, K, V) = \text{softmax}(Q K^T) V"


@pytest.mark.parametrize(
    ("heading", "before", "verdict"),
    [
        ("Scaled dot-product attention", "", "wrong"),
        ("Scaled Dot-Product Attention", "It is computed as follows:", "wrong"),
        ("缩放点积注意力", "", "wrong"),
        ("スケール化内積アテンション", "", "wrong"),
        ("Dot-product attention", "", "conditional"),
        ("Scaled dot-product attention", "Without the scaling we have:", "conditional"),
        (
            "Scaled dot-product attention",
            r"It is $\text{softmax}\left(\frac{Q K^T}{\sqrt{d_k}}\right) V$, where other people take:",
            "conditional",
        ),
    ],
)
def test_what_is_called_scaled_is_scaled(heading: str, before: str, verdict: str) -> None:
    assert last(UNSCALED, before, heading).verdict == verdict


def test_weights_alone_may_be_a_step() -> None:
    assert last(r"A = \text{softmax}(Q K^T)", "", "Scaled dot-product attention").verdict == "conditional"
