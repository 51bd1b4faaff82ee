"""Entries of a product in words: what they sum over, said right, said wrong, and not said."""

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Finding

SHAPES = r"Let $Q, K \in \mathbb{R}^{n \times d_k}$ and $V \in \mathbb{R}^{n \times d_v}$."


def said(text: str) -> list[Finding]:
    claims = check_text(f"{SHAPES}\n\n{text}", "markdown").claims
    return [claim.finding for claim in claims if claim.finding.reason.startswith("the product sums over")]


SENTENCES = (
    "Each entry of $QK^T$ is the dot product of two ${}$-dimensional vectors.",
    "Every element of the matrix $Q K^\\top$ is a dot product of two vectors of length ${}$.",
    "$Q \\cdot K^T$ 矩陣中的每一個元素，都是由兩個 ${}$ 維向量的 **點積 (dot product)** 算出來的。",
    "$QK^T$ 的每个元素都是两个 ${}$ 维向量的点积。",
    "$QK^T$ の各要素は 2 つの ${}$ 次元ベクトルの内積である。",
)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_size_that_is_summed_over_holds_and_another_is_wrong(sentence: str) -> None:
    (right,), *slips = (said(sentence.replace("{}", size)) for size in ("d_k", "d_v", "n"))
    assert right.verdict == "holds"
    assert [(each.verdict, each.right) for (each,) in slips] == [("wrong", "d_k")] * 2


def test_numbers_are_compared_with_what_letters_are_set_to() -> None:
    found = [said(f"Let $d_k = 64$. {SENTENCES[0].replace('${}$', number)}") for number in ("64", "32")]
    assert [each.verdict for (each,) in found] == ["holds", "wrong"]


@pytest.mark.parametrize(
    "text",
    [
        "If each entry of $QK^T$ were the dot product of two $n$-dimensional vectors, it would be large.",
        "Each entry of $QK^T$ is not a dot product of two $n$-dimensional vectors.",
        "Is each entry of $QK^T$ the dot product of two $n$-dimensional vectors?",
        "Each entry of $AB$ is the dot product of two $n$-dimensional vectors.",
        "Each entry of $QK^T$ is large, as $V$ has the dot product of two $n$-dimensional vectors.",
        "Each entry of $QK^T$ is large, as is the dot product of two $n$-dimensional vectors.",
        "Each entry of $QK^T$ is the sum of two $n$-dimensional vectors.",
        "$QK^T$ 的每個元素不是兩個 $n$ 維向量的點積。",
    ],
)
def test_what_is_not_said_is_no_claim(text: str) -> None:
    assert said(text) == []
