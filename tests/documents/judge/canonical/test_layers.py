"""Residual sums and heads: what is assumed is named."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last

PROJECTED = "$Q = X W_Q$, $K = X W_K$, $V = X W_V$"
HEADS = r"$\text{head}_i = \text{Attention}(Q_i, K_i, V_i)$"
ALL_HEADS = r"\text{MultiHead}(Q, K, V) = \text{Concat}(\text{head}_1, \dots, \text{head}_h) W_O"
ONE_HEAD = r"\text{head}_i = \text{Attention}(Q W_i^Q, K W_i^K, V W_i^V)"


def test_a_norm_that_is_not_defined_is_assumed_to_act_on_rows() -> None:
    finding = last(r"y = \text{LayerNorm}(x + z)")
    assert (finding.verdict, finding.result) == ("conditional", "residual.post_norm")
    assert len(finding.assumptions) == 2
    defined = r"$\text{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta$"
    made = rf"{defined} and $z = \text{{FFN}}(x)$"
    assert last(r"y = \text{LayerNorm}(x + z)", made).assumptions == ()


@pytest.mark.parametrize(
    ("formula", "result"),
    [
        (r"y = \text{LayerNorm}(x + \text{Dropout}(\text{Sublayer}(x)))", "residual.post_norm"),
        (r"x = x + \text{Dropout}(\text{Attn}(\text{LN}(x)))", "residual.pre_norm"),
    ],
)
def test_sublayers_one_after_the_other(formula: str, result: str) -> None:
    finding = last(formula)
    assert (finding.verdict, finding.result) == ("holds", result)
    assert finding.assumptions


@pytest.mark.parametrize("formula", [r"y = \text{LayerNorm}(x - z)", r"y = \text{LayerNorm}(x + x)"])
def test_another_sum_is_no_residual_sum(formula: str) -> None:
    assert last(formula).result is None


def test_letters_of_inputs_that_mean_projections_elsewhere() -> None:
    assert last(ONE_HEAD).verdict == "holds"
    finding = last(ONE_HEAD, PROJECTED)
    assert (finding.verdict, finding.result) == ("conditional", "multi_head.one_head")
    assert "inputs of the heads" in finding.assumptions[0]


def test_heads_that_are_made_of_other_letters() -> None:
    assert last(ALL_HEADS).verdict == "holds"
    assert last(ALL_HEADS, f"${ONE_HEAD}$").verdict == "holds"
    assert last(ALL_HEADS, HEADS).verdict == "conditional"
