r"""Residual sums by structure; the dot product, scores, and formulas that stand alone."""

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.judge.canonical.canonical import check_canonical
from derivations.documents.passages import Block, Passage, Place
from derivations.documents.statements import Statement
from derivations.documents.verdicts import Finding
from tests.documents.judge.trees import FakeScope


def judged(text: str) -> list[list[Finding]]:
    """Return what is found, link by link; a formula without links is one."""
    passage = Passage("latex", text, ((0, Place(1, 1)),))
    statements = [
        Statement(chain, passage, Block("paragraph", (passage,))) for chain in read_formula(text, "latex").statements
    ]
    return [list(check_canonical(each, link, FakeScope())) for each in statements for link in each.links or (None,)]


@pytest.mark.parametrize(
    ("text", "verdict", "result"),
    [
        (r"y = x + \text{FFN}(x)", "holds", "residual.post_norm"),
        (r"\text{LayerNorm}(x + \text{Sublayer}(x))", "holds", "residual.post_norm"),
        (r"u = z + \text{MHA}(\text{LN}(z), \text{LN}(z), \text{LN}(z))", "holds", "residual.pre_norm"),
        (r"q \cdot k = \sum_{i=1}^{d_k} q_i k_i", "holds", "dot_product.definition"),
        (r"\mathbf{a}^T \mathbf{b} = \sum_i a_i b_i", "holds", "dot_product.definition"),
        (r"q \cdot k = \sum_{i=1}^{d_k} q_i k_j", "wrong", "dot_product.definition"),
        (r"(A B^T)_{ij} = \sum_l A_{il} B_{jl}", "holds", "attention.scores"),
        (r"(Q K^T)_{ij} = \sum_l Q_{il} K_{lj}", "wrong", "attention.scores"),
        (r"s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}}", "holds", "attention.scores"),
        (r"\text{softmax}\left(\frac{Q K^T}{\sqrt{d_k}}\right)", "holds", "attention.definition"),
    ],
)  # fmt: skip
def test_what_is_said(text: str, verdict: str, result: str) -> None:
    """One finding, with the result of the catalogue that it was compared with."""
    ((finding,),) = judged(text)
    assert (finding.verdict, finding.result) == (verdict, result)


@pytest.mark.parametrize(
    "text",
    [
        r"y = x + \text{FFN}(z)",
        r"f(x) = x + f(x)",
        r"q \cdot k = \sum_i w_i q_i k_i",
        r"e_{ij} = q_i^T k_j / d",
        r"\text{softmax}(x)",
        r"Q K^T",
        r"1 - y_t = 1 - \frac{e^{x_t}}{\sum_{j=1}^{n} e^{x_j}}",
    ],
)
def test_nothing_is_said(text: str) -> None:
    """Other formulas may be meant."""
    assert judged(text) == [[]]


def test_a_name_for_a_function_that_the_next_link_gives() -> None:
    """The first link of y_i = softmax(x)_i = ... holds; it does not where the next link is wrong."""
    named, formula = judged(r"y_i = \text{softmax}(x)_i = \frac{e^{x_i}}{\sum_{j=1}^{n} e^{x_j}}")
    assert [each.verdict for each in named] == ["holds"]
    assert [each.verdict for each in formula] == ["holds"]
    named, formula = judged(r"y_i = \text{softmax}(x)_i = \frac{x_i}{\sum_{j=1}^{n} e^{x_j}}")
    assert not any(each.verdict == "holds" for each in named)
    assert [each.verdict for each in formula] == ["wrong"]


def test_x_and_hat_x_in_either_case_are_no_mistake() -> None:
    """A letter that differs by case alone is no certain mistake."""
    assert not any(
        each.verdict == "wrong" for found in judged(r"\text{LN}(x) = \gamma \hat{X} + \beta") for each in found
    )


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (r"PE_{(pos, 2i)} = \sin(pos / 10000)", "wrong"),
        (r"PE_{(pos, 2i)} = \sin(\theta)", None),
        (r"PE_{(pos, 2i)} = \sin(pos \, \omega_i)", None),
        (r"d_k = d_v / h", "wrong"),
        (r"d_h = d_k / h", None),  # where d_k is the width of all keys together
        (r"d_k = d_{model} / h", "holds"),
        (r"\text{ReLU}(z_{i1}) = \max(0, z_{j1})", "wrong"),
        (r"\text{ReLU}(z_{i1}) = \max(0, z_{i1})", "holds"),
        (r"y_i = \text{softmax}(x)_j = \frac{e^{x_i}}{\sum_j e^{x_j}}", "wrong"),
        (r"y_i = \text{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}", "holds"),
        (r"y_i = \text{softmax}(x_i) = \frac{e^{x_i}}{\sum_j e^{x_j}}", "conditional"),
    ],
)
def test_indices_and_widths_must_be_those_that_are_meant(text, verdict) -> None:
    """What the structure tells, and what it leaves alone because another letter may stand for what is missing."""
    found = [each for link in judged(text)[:1] for each in link]
    assert ([each.verdict for each in found] or [None]) == [verdict]
