r"""Attention of one query: a row or a column, with a label or without, its softmax with the index it is taken over."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text


def verdict(formula: str) -> str:
    return check_text(f"So ${formula}$ here.", "markdown").claims[0].finding.verdict


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (r"o = \text{softmax}\left(\frac{q K^T}{\sqrt{d_k}}\right) V", "holds"),
        (r"o_t = \text{softmax}\left(\frac{q_t K^T}{\sqrt{d_k}}\right) V", "holds"),
        (r"a_i = \text{softmax}\left(\frac{q_i K^T}{\sqrt{d_k}}\right)", "holds"),
        (r"\alpha = \text{softmax}\left(\frac{K q}{\sqrt{d_k}}\right)", "conditional"),
        (r"\alpha = \text{softmax}\left(\frac{K^T q}{\sqrt{d_k}}\right)", "holds"),
        (r"o_t = V^T \text{softmax}\left(\frac{K q_t}{\sqrt{d_k}}\right)", "conditional"),
        (r"\alpha_{ij} = \text{softmax}_j(e_{ij})", "holds"),
        (r"a_{t,s} = \text{softmax}_s\left(\frac{q_t^T k_s}{\sqrt{d_k}}\right)", "holds"),
    ],
)
def test_what_is_right_is_seen(formula: str, expected: str) -> None:
    assert verdict(formula) == expected


@pytest.mark.parametrize(
    "formula",
    [
        r"A = \text{softmax}(K Q / \sqrt{d_k})",
        r"A = \text{softmax}(K Q^T / \sqrt{d_k})",
        r"\alpha_{ij} = \text{softmax}_i\left(\frac{q_i \cdot k_j}{\sqrt{d_k}}\right)",
        r"o_i = \text{softmax}\left(\frac{q_i K^T}{d_k}\right) V",
        r"a = \text{softmax}\left(\frac{q_i \cdot k_i}{\sqrt{d_k}}\right)",
    ],
)
def test_slips_are_wrong(formula: str) -> None:
    assert verdict(formula) == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"o_s = \text{softmax}\left(\frac{q_t K^T}{\sqrt{d_k}}\right) V",
        r"o_t = \text{softmax}\left(\frac{q_t K_{\le t}^T}{\sqrt{d_k}}\right) V_{\le t}",
        r"\alpha_{ij} = \text{softmax}_l(e_{ij})",
    ],
)
def test_another_label_is_not_taken_for_its_own(formula: str) -> None:
    assert verdict(formula) in ("unknown", "wrong")
