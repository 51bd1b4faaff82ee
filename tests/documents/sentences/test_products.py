"""Products that are mentioned in a sentence: attention without its softmax, matrix products, transposes."""

import pytest

from tests.documents.sentences.said import claims, only, verdicts

SHAPES = "Let $Q, K \\in \\mathbb{R}^{n \\times d_k}$ and $V \\in \\mathbb{R}^{n \\times d_v}$.\n\n"


@pytest.mark.parametrize(
    "text",
    [
        "This $QK^T \\cdot V$ filters the content.",
        "這個 $QK^T \\cdot V$ 的運算過程，可以想像成是一個過濾器。",
        "### Attention weights $QK^T$ (after softmax)",
        "### 注意力權重 $QK^T$ (經 Softmax)",
        "The attention weights $QK^\\top$ tell where to look.",
        "A linear layer is $X \\cdot W$ in short.",
        "In attention we multiply $X \\cdot X^T$, as an idea.",
    ],
)
def test_what_is_left_out_is_named(text):
    """The bare product stands for attention or for its weights."""
    claim = only(text)
    assert claim.finding.verdict == "conditional"
    assert any("left out" in each or "input itself" in each for each in claim.finding.assumptions)


@pytest.mark.parametrize(
    "text",
    [
        "With the matrix product $Q \\cdot K^T$ we get all scores at once.",
        "透過 $Q \\cdot K^T$ 這一個矩陣乘法，我們就算出了分數。",
        "通过 $QK^T$ 这一次矩阵乘法得到分数。",
        "行列積 $QK^T$ でスコアを得る。",
    ],
)
def test_a_product_has_a_shape(text):
    """Known shapes that fit are named; unknown ones are nothing, and a product without an equation is not wrong."""
    assert [
        claim.finding.reason
        for claim in claims(SHAPES + text)
        if "× n" in claim.finding.reason and "d_k" not in claim.finding.reason
    ]
    assert claims(text) == []
    assert "wrong" not in verdicts(SHAPES + text.replace("K^T", "K"))


def test_a_transpose_has_a_shape():
    """What is called transposed is so."""
    assert verdicts(SHAPES + "The keys are transposed ($K^T$).")[-1] == "holds"
    assert verdicts("The keys are transposed ($K^T$).") == []


@pytest.mark.parametrize(
    "text",
    [
        "The scores $QK^T$ are scaled.",
        "We write $W^T W$ for the Gram matrix. $A A^T$ is symmetric.",
        "The attention is paid to $Q$ and $K$.",
        "$x^T y$ and $2 n d$ are numbers.",
    ],
)
def test_other_mentions_claim_nothing(text):
    """A formula that is merely mentioned."""
    assert claims(text) == []
