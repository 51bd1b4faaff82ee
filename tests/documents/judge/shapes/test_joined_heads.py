r"""The matrix behind heads side by side has as many rows as all of them have columns."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import verdicts

HEADS = r"$\text{MultiHead}(X) = \text{Concat}(\text{head}_1, \dots, \text{head}_h) W^O$"


@pytest.mark.parametrize(
    "text",
    [
        HEADS + r" with $W^O \in \mathbb{R}^{d_v \times d_{model}}$.",
        HEADS + r" with $W^O \in \mathbb{R}^{d_k \times d_{model}}$.",
        r"Each of the $c$ heads has $w = E/c$ entries. $M = \mathrm{Concat}(H_1, \dots, H_c) O$ with "
        r"$O \in \mathbb{R}^{w \times E}$.",
    ],
)
def test_the_rows_of_one_head_are_too_few(text: str) -> None:
    assert verdicts(text)[-1] == "wrong"


@pytest.mark.parametrize(
    "text",
    [
        HEADS + r" with $W^O \in \mathbb{R}^{h d_v \times d_{model}}$.",
        HEADS + r" with $W^O \in \mathbb{R}^{d_{model} \times d_{model}}$.",
        HEADS + r" with $W^O \in \mathbb{R}^{d \times d}$.",
        HEADS + r" with $W_i^V \in \mathbb{R}^{d \times d_v/h}$ and $W^O \in \mathbb{R}^{d_v \times d}$.",
        r"With $d_h = d_k / h$: " + HEADS + r" with $W^O \in \mathbb{R}^{d_k \times d}$.",
        r"$O = \text{head} W^O$ with $W^O \in \mathbb{R}^{d_v \times d_{model}}$.",
        r"$W^O \in \mathbb{R}^{d_v \times d_{model}}$.",
    ],
)
def test_other_rows_are_left_alone(text: str) -> None:
    assert verdicts(text)[-1] != "wrong"
