"""Moments in words, in four scripts: what holds under assumptions, what is wrong and what is right, and prose."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Claim


def _said(text: str) -> list[Claim]:
    """Return the claims of a text that are about moments in words: none of them is a formula alone."""
    claims = check_text(text, "markdown").claims
    return [each for each in claims if each.finding.check == "chain" and "=" not in each.text]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The variance of $q \\cdot k$ is $d_k$.", 1),
        ("The variance of the dot product of $q$ and $k$ is $d_k$.", 1),
        (
            "The dot product of $q$ and $k$ has mean 0 and variance $d_k$, so its standard deviation is $\\sqrt{d_k}$.",
            3,
        ),
        ("Their inner product between both vectors has zero mean and a variance of $n$.", 2),
        (
            "The dot product $q \\cdot k$ has variance $d_k$. Dividing by $\\sqrt{d_k}$ brings the variance back to 1.",
            2,
        ),
        ("Dividing the dot product by $\\sqrt{m}$ makes its variance $1$.", 1),
        ("Multiplying the dot product by $1 / \\sqrt{d}$ keeps the variance at 1.", 1),
        ("The variance of $q^\\top k / \\sqrt{d_k}$ is 1.", 1),
        ("Each entry of $QK^T$ has variance $d_k$.", 1),
        ("Let $d_k = 64$. The variance of the dot product is 64, and the standard deviation is 8.", 2),
        ("點積的變異數 (variance) 會是 $d_k$", 1),
        ("前面提到，$QK^T$ 中點積的「變異數」是 $d_k$。那麼，點積的**標準差**就是 $\\sqrt{d_k}$。", 2),
        ("把 $QK^T$ 的每一個元素都除以 $\\sqrt{d_k}$，就是把 $\\text{Softmax}$ 輸入的「變異數」重新調整回 1", 1),
        ("查询 $q$ 和键 $k$ 的点积的均值为0，方差为$d$。", 2),
        ("把点积除以 $\\sqrt{d_k}$ 之后，方差变回 1。", 1),
        ("$q \\cdot k$ 的方差为 $d_k$，标准差为 $\\sqrt{d_k}$。", 2),
        ("$q$ と $k$ の内積の分散は $d_k$ となる。よって標準偏差は $\\sqrt{d_k}$ である。", 2),
        ("内積は平均 0、分散 $d_k$ を持つ。", 2),
        ("各成分が独立で平均 0、分散 1 ならば、クエリとキーの内積の分散は $d_k$ になる。", 1),
        ("(假设q和k是独立的随机变量，均值为0，方差为1。那么它们的点积$q \\cdot k$，均值为0方差为$d_k$)", 2),
        ("Scaling the dot product $q \\cdot k$ by $1 / \\sqrt{d_k}$ gives variance 1.", 1),
        ("内積を $\\sqrt{d_k}$ で割ると、分散は 1 に戻る。", 1),
        ("Let $r$ be the dimension of the keys. The variance of $q \\cdot k$ is $r$.", 1),
        ("設 $r$ 是鍵向量的維度。點積的變異數是 $r$，標準差是 $\\sqrt{r}$。", 2),
        ("$r$ はキーの次元である。クエリとキーの内積の分散は $r$ である。", 1),
    ],
)
def test_what_is_said_right_holds_under_the_assumptions_of_the_catalogue(text: str, count: int) -> None:
    claims = _said(text)
    assert [each.finding.verdict for each in claims] == ["conditional"] * count
    assert all(each.finding.assumptions[0].startswith("components have mean 0 and variance 1") for each in claims)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("For a query $q$ and a key $k$ the variance of the dot product is $d_k^2$.", "d_k"),
        ("The dot product of queries and keys has mean 0 and variance $\\sqrt{d_k}$.", "d_k"),
        ("The standard deviation of $q \\cdot k$ is $d_k$.", "sqrt(d_k)"),
        ("The dot product $q \\cdot k$ has variance $d_k$. Dividing by $d_k$ brings the variance back to 1.", "1/d_k"),
        ("The variance of a dot product of queries and keys is $n^2$.", "n"),
        ("The components of $q$ and $k$ have mean 0 and variance 1. The dot product has variance $2 d_k$.", "d_k"),
        ("注意力中，點積的變異數是 $d_k$，所以標準差是 $d_k$。", "sqrt(d_k)"),
        ("查询和键的点积的方差是 $d_k^2$。", "d_k"),
        ("把查询和键的点积除以 $d_k$ 之后，方差变回 1。", "1/d_k"),
        ("クエリとキーの内積の分散は $\\sqrt{d_k}$ となる。", "d_k"),
        ("Let $r$ be the dimension of the keys. In attention the variance of $q \\cdot k$ is $r^2$.", "r"),
    ],
)
def test_the_wrong_power_is_refuted_with_what_is_right(text: str, right: str) -> None:
    wrong = [each.finding for each in _said(text) if each.finding.verdict == "wrong"]
    assert [each.right for each in wrong] == [right]


@pytest.mark.parametrize(
    "text",
    [
        "The variance of the weights is $1/d$.",
        "The variance of $w$ is $d_k$ and that of the dot product is small.",
        "If the variance of the dot product were $d_k^2$, training would be easy.",
        "The variance of the dot product is not $d_k^2$.",
        "The dot product of two random unit vectors, a query and a key, has variance $1/d$.",
        "The variance of the dot product of two unit vectors, a query and a key, is $1/d$.",
        "We normalise keys and queries. Then the dot product has variance $1/d_k$.",
        "The components of queries and keys have variance $1/d_k$. So the dot product has variance $1/d_k$.",
        "With keys of $\\mathcal{N}(0, 1/d)$ the dot product has variance $1/d$.",
        "查询和键归一化之后，点积的方差为 $1/d$。",
        "Is the variance of the dot product of queries and keys $d_k^2$?",
        "It is a mistake that the variance of the dot product of queries and keys is $d_k^2$.",
        "In scaled dot-product attention the variance is $d_k^2$.",
        "The variance of the dot product of queries and keys is proportional to $d_k^2$.",
        "The variance of the dot product is $d_k$ times larger.",
        "The components of $q$ have mean 0 and variance 1.",
        "Let $r$ be a number. In attention the variance of $q \\cdot k$ is $r^2$.",
        "Without the factor the scores have variance $d_k^2$.",
        "The dot product is large, while $q$ has variance 1.",
        "We measure the dot product $q \\cdot k$. The variance over 4 runs is 2.",
        "The products $q_i k_i$ have variance 1. The variance of $q_i k_i$ is $1$.",
        "LayerNorm makes the mean 0 and the variance 1.",
        "The mean of the dot products of a query $q$ with all keys is 3.",
        "The dot product has variance $d_k / 9$.",
        "The dot product of a query and a key has variance $d_k \\sigma^2$.",
        "We divide by $d_k$ because the variance of the weights of a query is 1.",
        "點積很大。權重的變異數是 $d_k^2$。",
        "假設點積的變異數是 $d_k^2$。",
        "點積的變異數是 $d_k$ 的兩倍。",
        "点积的方差不是 $d_k^2$。",
        "重みの分散は $d_k^2$ である。",
        "内積の分散は $d_k^2$ ではない。",
        "クエリとキーの内積の分散は $d_k^2$ ですか。",
    ],
)
def test_prose_of_other_things_gives_no_claim(text: str) -> None:
    assert _said(text) == []


def test_assumptions_that_the_text_makes_are_marked() -> None:
    text = "The components of $q$ and $k$ have mean 0 and variance 1. So the dot product has variance $d_k$."
    (claim,) = _said(text)
    assert claim.finding.assumptions[0] == "components have mean 0 and variance 1, as the text says"


def test_of_scores_nothing_is_refuted() -> None:
    """Whoever speaks of scores does not say whether they were scaled."""
    assert [each.finding.verdict for each in _said("The variance of the attention scores is $d_k$.")] == ["conditional"]
    assert _said("The variance of the attention scores is $d_k^2$.") == []


def test_a_claim_stands_where_the_words_stand() -> None:
    (claim,) = _said("Attention:\n\n- 於是，點積的變異數\n  是 $d_k$。")
    assert (claim.start.line, claim.start.column, claim.end.line) == (3, 6, 4)


def test_sums_of_moments_end_at_the_same_term() -> None:
    text = "$Var(\\sum_{i=1}^{n} q_i k_i) = \\sum_{i=1}^{%s} Var(q_i k_i)$"
    verdicts = [check_text(text % end, "markdown").claims[0].finding.verdict for end in ("n", "n - 1", "n + 1")]
    assert verdicts == ["conditional", "unknown", "unknown"]


def test_a_sum_of_ones_counts_its_terms() -> None:
    claims = check_text("$\\sum_{i=1}^{d-1} 1 = d$ and $\\sum_{i=1}^{d} 1 = d$", "markdown").claims
    assert [(each.finding.verdict, each.finding.right) for each in claims] == [
        ("wrong", r"\sum_{i = 1}^{d} 1"),
        ("proved", None),
    ]


def test_a_standard_deviation_is_the_root_of_the_variance() -> None:
    verdicts = [
        check_text(f"$\\text{{Std}}(q \\cdot k) = {right}$", "markdown").claims[0].finding
        for right in ("\\sqrt{d_k}", "d_k")
    ]
    assert [each.verdict for each in verdicts] == ["conditional", "wrong"]
    assert verdicts[1].right == r"\sqrt{d_k}"
