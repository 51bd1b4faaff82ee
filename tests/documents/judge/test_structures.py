r"""Residual sums and causal masks by structure; the dot product, scores, and formulas that stand alone."""

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.judge.canonical import check_canonical
from derivations.documents.passages import Block, Passage, Place
from derivations.documents.statements import Statement
from derivations.documents.verdicts import Finding
from tests.documents.judge.trees import FakeScope

MASK = "attention.causal_weights"


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
        (r"y = x + \text{FFN}(x)", "proved", "residual.post_norm"),
        (r"\text{LayerNorm}(x + \text{Sublayer}(x))", "proved", "residual.post_norm"),
        (r"u = z + \text{MHA}(\text{LN}(z), \text{LN}(z), \text{LN}(z))", "proved", "residual.pre_norm"),
        (r"M_{ij} = \begin{cases} 0 & j \le i \\ -\infty & \text{otherwise} \end{cases}", "proved", MASK),
        (r"B_{st} = \begin{cases} -\infty & t > s \\ 0 & t \le s \end{cases}", "proved", MASK),
        (r"M_{ij} = \begin{cases} -\infty & j \le i \\ 0 & \text{otherwise} \end{cases}", "wrong", MASK),
        (r"q \cdot k = \sum_{i=1}^{d_k} q_i k_i", "proved", "dot_product.definition"),
        (r"\mathbf{a}^T \mathbf{b} = \sum_i a_i b_i", "proved", "dot_product.definition"),
        (r"q \cdot k = \sum_{i=1}^{d_k} q_i k_j", "wrong", "dot_product.definition"),
        (r"(A B^T)_{ij} = \sum_l A_{il} B_{jl}", "proved", "attention.scores"),
        (r"(Q K^T)_{ij} = \sum_l Q_{il} K_{lj}", "wrong", "attention.scores"),
        (r"s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}}", "proved", "attention.scores"),
        (r"\text{softmax}\left(\frac{Q K^T}{\sqrt{d_k}}\right)", "proved", "attention.definition"),
    ],
)  # fmt: skip
def test_what_is_said(text: str, verdict: str, result: str) -> None:
    """One finding, with the result of the catalogue that it was compared with."""
    ((finding,),) = judged(text)
    assert (finding.verdict, finding.result) == (verdict, result)


@pytest.mark.parametrize(
    "text",
    [
        r"M_{ij} = \begin{cases} 0 & i \le j \\ -\infty & i > j \end{cases}",
        r"M_{ij} = \begin{cases} 0 & j < i \\ -\infty & \text{otherwise} \end{cases}",
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
    assert [each.verdict for each in formula] == ["proved"]
    named, formula = judged(r"y_i = \text{softmax}(x)_i = \frac{x_i}{\sum_{j=1}^{n} e^{x_j}}")
    assert not any(each.verdict == "holds" for each in named)
    assert [each.verdict for each in formula] == ["wrong"]


def test_x_and_hat_x_in_either_case_are_no_mistake() -> None:
    """A letter that differs by case alone is no certain mistake."""
    assert not any(
        each.verdict == "wrong" for found in judged(r"\text{LN}(x) = \gamma \hat{X} + \beta") for each in found
    )
