"""Rows, columns and entries in words, in English, Chinese and Japanese: right, wrong, and what claims nothing."""

import re

import pytest

from derivations.documents.checking import check_text
from tests.documents.sentences.said import claims, only, verdicts

POSITIVE = ("proved", "holds", "conditional")


@pytest.mark.parametrize(
    "text",
    [
        "The $i$-th row of $Q$ is $q_i$.",
        "Row $i$ of $Q$ is $q_i$.",
        "Each row $i$ of $Q$ is $q_i$.",
        "where $\\mathbf{a}_i$ denotes the $i^{\\text{th}}$ row of the matrix $\\mathbf{A}$.",
        "$\\mathbf{x}_2$ is the second row of $\\mathbf{X}$.",
        "$Q$'s $i$-th row is the vector $q_i$.",
        "The $j$-th column of $K^T$ is the $j$-th row of $K$.",
        "$Q$ 的第 $i$ 個 row 就是 $q_i$ 向量。",
        "$K^T$ 的第 $j$ 個 column，也就是 $K$ 的第 $j$ 個 row。",
        "$Q$ 的第 $i$ 行为 $q_i$，这就是查询向量。",
        "矩阵 $Q$ 的第 $i$ 行是 $q_i$。",
        "$Q$ の第 $i$ 行は $q_i$ である。",
        "$K^T$ の $j$ 列目は $k_j$ に等しい。",
    ],
)
def test_a_line_has_its_name(text):
    """A row that is named by the small letter with its index."""
    assert only(text).finding.verdict in POSITIVE


@pytest.mark.parametrize(
    "text",
    [
        "The $i$-th row of $Q$ is $q_j$.",
        "Row $s$ of $M$ is $m_t$.",
        "The $j$-th column of $K^T$ is the $i$-th row of $K$.",
        "$Q$ 的第 $i$ 個 row 就是 $q_j$ 向量。",
        "$Q$ 的第 $i$ 行为 $q_j$，这就是查询向量。",
        "$Q$ の第 $i$ 行は $q_j$ である。",
    ],
)
def test_a_line_with_the_index_of_another_is_wrong(text):
    """The check is checked: another index, and a column taken for a row."""
    claim = only(text)
    assert claim.finding.verdict == "wrong"
    assert claim.finding.right


def test_a_line_in_traditional_chinese_may_be_a_row_or_a_column():
    """行 may be either: right under an assumption that is named, wrong where it is wrong in both readings."""
    claim = only("$Q$ 的第 $i$ 行是 $q_i$。")
    assert claim.finding.verdict == "conditional"
    assert "行 is a row" in claim.finding.assumptions
    assert verdicts("輸出矩陣 $Y$ 的第 $i$ 列（Row $i$）是 $y_i$。") == ["holds"]
    assert verdicts("$Q$ 的第 $i$ 行是 $q_j$。") == ["wrong"]
    assert verdicts("$K^T$ 的第 $j$ 行是 $K$ 的第 $j$ 列。") == ["holds"]  # in both


@pytest.mark.parametrize(
    "text",
    [
        "Here `Matrix[i, j]` is $q_i \\cdot k_j$.",
        "其中 `Matrix[i, j]` 就是 $q_i \\cdot k_j$。",
        "The entry $(i, j)$ of $QK^T$ is $q_i \\cdot k_j$.",
        "The $(i,j)^{\\text{th}}$ entry of $AB^\\top$ is $a_i \\cdot b_j$.",
        "The entry in row $i$ and column $j$ of $QK^\\top$ equals $q_i \\cdot k_j$.",
        "$QK^T$ 的第 $(i, j)$ 個元素等於 $q_i \\cdot k_j$。",
        "$QK^T$ 的第 $(i, j)$ 个元素等于 $q_i \\cdot k_j$。",
        "$QK^T$ の $(i, j)$ 成分は $q_i \\cdot k_j$ である。",
    ],
)
def test_an_entry_of_a_product_is_a_dot_product(text):
    """An entry of A B^T is a row of A times a row of B."""
    assert only(text).finding.verdict in POSITIVE


@pytest.mark.parametrize(
    "text",
    [
        "The entry $(i, j)$ of $QK^T$ is $q_j \\cdot k_i$.",
        "The $(s, t)$ entry of $AB^\\top$ is $a_t \\cdot b_s$.",
        "The entry in row $i$ and column $j$ of $QK^\\top$ equals $q_j \\cdot k_i$.",
        "$QK^T$ 的第 $(i, j)$ 個元素等於 $q_j \\cdot k_i$。",
        "$QK^T$ 的第 $(i, j)$ 个元素等于 $q_j \\cdot k_i$。",
        "$QK^T$ の $(i, j)$ 成分は $q_j \\cdot k_i$ である。",
    ],
)
def test_an_entry_with_indices_exchanged_is_wrong(text):
    """The check is checked."""
    assert only(text).finding.verdict == "wrong"


def test_a_letter_of_no_matrix_may_name_any_line():
    """Row i of M is u_i, as long as there is no matrix U."""
    assert verdicts("Row $i$ of $M$ is $u_i$.") == ["holds"]
    assert verdicts("Row $i$ of $M$ is $u_i$, a row of $U$.") == []
    assert verdicts("The entry $(s, t)$ of $M N^T$ is $u_s \\cdot w_t$.") == ["conditional"]
    assert verdicts("The entry $(s, t)$ of $M N^T$ is $u_t \\cdot w_s$.") == []


def test_numbers_with_an_index_are_no_rows():
    """Side by side they are numbers as well as vectors: nothing is said of them."""
    assert verdicts("$p_i q_j = p_j q_i$ with $P$ and $Q$") == ["unknown"]
    assert verdicts("$p_i \\cdot q_j = p_j \\cdot q_i$ with $P$ and $Q$") == ["unknown"]
    assert verdicts("$S[i, j] = p_i q_j$") == ["unknown"]


def test_a_dot_product_needs_lines_of_one_length():
    """A row of Q and a column of K^T have d_k entries; a row of K^T has n."""
    shapes = "Let $Q, K \\in \\mathbb{R}^{n \\times d_k}$.\n\n"
    right = "It is the dot product of row $i$ of $Q$ and the $j$-th column of $K^T$."
    assert verdicts(shapes + right) == ["holds", "holds"]
    assert verdicts(shapes + right.replace("column", "row")) == ["holds", "wrong"]
    assert verdicts(shapes + "它是由「$Q$ 的第 $i$ 個 row」和「$K^T$ 的第 $j$ 個 column」進行點積。") == [
        "holds",
        "holds",
    ]
    assert verdicts(right) == []


@pytest.mark.parametrize(
    "text",
    [
        "The rank of $Q$ is $r$. The norm of $q_i$ is $1$. The gradient of $Q[i, j]$ is $q_j \\cdot k_i$.",
        "If row $i$ of $Q$ were $q_j$, the scores would be mixed. Is row $i$ of $Q$ equal to $q_j$?",
        "It is not true that the $i$-th row of $Q$ is $q_j$. Row $i$ of $Q$ is not $q_j$.",
        "It would be a mistake to say that row $i$ of $Q$ is $q_j$.",
        "Twice the $i$-th row of $Q$ is $q_j$. Every row of $Q$ except row $i$ of $Q$ is $q_j$.",
        "Row $i$ of $Q$ is $q_j$ times a constant. The mean of row $i$ of $Q$ is $q_j$.",
        "The softmax of row $i$ of $S$ is $a_j$. We take row $i$ of $Q$ and row $j$ of $K$.",
        "Row $1$ of $A$ is row $3$ of $A$. The $j$-th column of $S$ is the $j$-th row of $S$.",
        "We permute the tokens so that row $i$ of $X$ is $x_j$.",
        "Row $i$ of $X$ is $x_k$ for some $k$. Row $i$ of $X$ is $x_k$, where $k$ is drawn.",
        "$\\mathbf{x}_5$ is the second row of $\\mathbf{X}$, of which we keep a part.",
        "Row $0$ of $Q$ is $q_1$, and row $t$ of $X$ is $x_{t-1}$.",
        "The first row of the table is $5$. The third column of Table 3 is empty. Row 3 of A is blank.",
        "Token $i$ attends to row $j$ of $K$, which is what counts.",
        "$Q$ 的第 $i$ 個 row 不是 $q_j$。如果 $Q$ 的第 $i$ 個 row 是 $q_j$，就錯了。",
        "除了 $Q$ 的第 $i$ 個 row，都是 $q_j$。$Q$ 的第 $i$ 個 row 是 $q_j$ 的兩倍。",
        "$Q$ の第 $i$ 行は $q_j$ ではない。$Q$ の第 $i$ 行が $q_j$ であるとすれば、矛盾する。",
        "$Q$ の第 $i$ 行は $q_j$ の定数倍である。第 3 行は空である。",
    ],
)
def test_other_sentences_claim_nothing(text):
    """Negations, suppositions, other quantities, other orders, and rows of tables."""
    assert claims(text) == []


def test_words_inside_of_a_formula_are_read():
    r"""`\text{row } i \text{ of } Q` is a row in a display formula too."""
    lines = r"(Q \text{ 的第 } i \text{ 個 row}) \cdot (K^T \text{ 的第 } j \text{ 個 column})"
    right = rf"$$R[i, j] = {lines} = q_i \cdot k_j$$"
    assert verdicts(right) == ["holds", "conditional"]
    english = r"$$R[i, j] = (\text{row } i \text{ of } Q) \cdot (\text{column } j \text{ of } K^\top) = q_i \cdot k_j$$"
    assert verdicts(english) == ["holds", "conditional"]
    assert verdicts(english.replace("q_i", "q_s").replace("k_j", "k_i").replace("q_s", "q_j"))[1] == "wrong"


@pytest.mark.slow
def test_a_row_is_a_weighted_sum_of_rows():
    """Row i of W V: weights of row i, each with the row that it weighs."""
    text = "Row 1 of $O$ = ($W_{1,1}$ · row 1 of $V$) + ($W_{1,2}$ · row 2 of $V$) + ($W_{1,3}$ · row 3 of $V$)"
    assert verdicts(text) == ["holds"]
    assert verdicts(text.replace("W_{1,2}", "W_{1,4}")) == ["wrong"]
    assert verdicts(text.replace("W_{1,2}", "W_{2,1}").replace("W_{1,3}", "W_{3,1}")) == []
    weighed = " + ".join(f"(權重 $W_{{1,{each}}}$ $\\cdot$ $V$的第{each}行)" for each in "12")
    chinese = f"$O$ 的第 1 行 = {weighed} + ... + (權重 $W_{{1,L}}$ $\\cdot$ $V$的第L行)"
    assert verdicts(chinese) == ["conditional"]
    numbers = "第 1 個字的新向量 = (0.1 · 第1個字的內容) + (0.7 · 第2個字的內容) + (0.2 · 第3個字的內容)"
    assert verdicts(numbers) == ["conditional"]
    assert verdicts(numbers.replace("0.7", "0.9")) == []


def test_a_row_belongs_to_its_token():
    """Row 2 is the content of word 2; of another word it may be where a part is kept."""
    assert verdicts("$V$ 的第 2 行 = 第 2 個字的內容") == ["conditional"]
    assert verdicts("Row $i$ of $V$ is the content of word $i$.") == ["conditional"]
    assert verdicts("Row $i$ of $V$ is the content of word $j$.") == ["wrong"]
    assert verdicts("Row 2 of $V$ is the content of word 5.") == []
    assert verdicts("Row 2 of $V$ is the content of word 3.") == []


def test_a_row_is_made_of_its_own_row():
    """A linear layer works row by row; a product from the left does not."""
    equation = "We compute $Y = XW + b$."
    for text in (
        "The $i$-th row of the output matrix depends only on the $i$-th row of the input.",
        "輸出矩陣的第 $i$ 列（Row $i$）僅由輸入矩陣的第 $i$ 列決定。",
        "输出的第 $i$ 行只取决于输入的第 $i$ 行。",
        "出力の第 $i$ 行は入力の第 $i$ 行のみに依存する。",
    ):
        assert verdicts(f"{equation} {text}")[-1] == "holds"
        assert len(verdicts(f"{equation.replace('XW + b', 'A X')} {text}")) == 1
    assert verdicts(f"{equation} Row $i$ of $Y$ is determined solely by row $j$ of $X$.")[-1] == "wrong"


@pytest.mark.parametrize("form", ["latex", "restructuredtext", "python", "markdown"])
def test_sentences_are_read_in_every_format(form):
    """The entry of a product, told wrongly; the claim stands where the sentence does."""
    text = r"The :math:`(i,j)` entry of :math:`QK^T` is :math:`q_j \cdot k_i`."
    if form != "restructuredtext":
        text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    if form == "python":
        text = f'def attend():\n    r"""Attend.\n\n    {text}\n    """\n'
    (claim,) = check_text(text, form).claims
    assert claim.finding.verdict == "wrong"
    line = text.splitlines()[claim.start.line - 1]
    assert line[claim.start.column - 1 :].startswith("The ")


def test_a_spoken_claim_takes_the_place_of_a_mention():
    """One claim for a stretch: the product inside of the sentence is no claim of its own."""
    shapes = "Let $Q, K \\in \\mathbb{R}^{n \\times d_k}$.\n\n"
    text = "The entry $(i, j)$ of the matrix product $QK^T$ is $q_i \\cdot k_j$."
    found = claims(shapes + text)
    assert [claim.start.line for claim in found] == [1, 3]
    assert len(found) == 2


def test_marks_of_the_reader_in_a_document_are_harmless():
    """The characters that stand for formulas may stand in a document."""
    for mark in "\ufffb\ufffc\ufffd":
        assert claims(f"Row {mark} of {mark} is {mark}, and row $i$ of {mark} is $q_j$.") == []
