"""Formulas in plain characters: what is taken, and what is prose."""

import pytest

from derivations.documents.readers.plain import plain_formulas
from derivations.documents.readers.snippets import snippet_syntax


def found(text: str) -> list[str]:
    return [text[start:end] for start, end in plain_formulas(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("計算量 ≈ 2 × batch_size × seq_len × d_ff", ["2 × batch_size × seq_len × d_ff"]),
        ("參數量:4 * 512 = 2048", ["4 * 512 = 2048"]),
        ("usually four times (512→2048) as wide", ["512→2048"]),
        ("we set h = 8 and d_k = 64.", ["h = 8", "d_k = 64"]),
        ("about C ≈ 6ND of them", ["C ≈ 6ND"]),
        ("Attention(Q, K, V) = softmax(QKᵀ/√d_k) V", ["Attention(Q, K, V) = softmax(QKᵀ/√d_k) V"]),
        ("memory = 2 × 7B = 14 GB", ["memory = 2 × 7B = 14 GB"]),
        ("it takes t = 3.5 days", ["t = 3.5 days"]),
        ("W ∈ ℝ^(n×d) is", ["W ∈ ℝ^(n×d)"]),
        ("a 512 × 2048 matrix", ["512 × 2048"]),
        ("d_model/h = 64", ["d_model/h = 64"]),
        ("FFN(x) = max(0, xW₁ + b₁)W₂ + b₂", ["FFN(x) = max(0, xW₁ + b₁)W₂ + b₂"]),
        ("a tensor of shape (n, d_k) here", ["(n, d_k)"]),
        ("形状为 [batch, 10, 512] 的", ["[batch, 10, 512]"]),
        ("485,165,195 (4.8 億)", ["4.8 億"]),
        ("(y = 0.73)：", ["y = 0.73"]),
        ("1300个12288维->W1->1300个12288*4维", ["1300个12288维->W1->1300个12288*4维"]),
        ("因此 d_k ＝ 512 ÷ 8 ＝ 64。", ["d_k ＝ 512 ÷ 8 ＝ 64"]),
        ("参数量为 ４ × ５１２ ＝ 2048 个", ["４ × ５１２ ＝ 2048"]),
        ("需要 7×10^9×2 字节＝14 GB 显存", ["7×10^9×2 字节＝14 GB"]),
        ("半精度なら 70 億 × 2 バイト ＝ 14 GB になる", ["70 億 × 2 バイト ＝ 14 GB"]),
        ("计算量 6×700 亿×1.4 万亿＝5.88×10²³。", ["6×700 亿×1.4 万亿＝5.88×10²³"]),
        ("共 12 層 × 708 萬 ＝ 8496 萬個", ["12 層 × 708 萬 ＝ 8496 萬"]),
        ("共有 12 層，每層 8 個頭。", []),
        ("约 3145728 ≈ 3.1 百万 个参数", ["3145728 ≈ 3.1 百万"]),
        ("X ∈ ℝⁿˣᵈ is the input", ["X ∈ ℝⁿˣᵈ"]),
        ("e^20 ≈ 485,165,195（4.8 億）", ["e^20 ≈ 485,165,195", "4.8 億"]),
        ("the loss: -log(0.5) = 0.693", ["-log(0.5) = 0.693"]),
        ("3 heads of 2 give 3 x 2 = 6.", ["3 x 2 = 6"]),
        ("Embeddings: vocab * d_model = 50304 * 768", ["vocab * d_model = 50304 * 768"]),
        ("All: layers × heads = 12 × 12 = 144", ["layers × heads = 12 × 12 = 144"]),
        ("we take vocab * d_model = 50304 * 768", []),  # where the words begin is not said
        ("Rating: good * 3 = 3 stars", []),
        ("tokens / second = 512 / 2", []),
        ("a -log(x) = 3", []),
        ("a 3 x 2 matrix on 2 x 4090 cards", []),
        ("about 512/8 ≈ 60–70 heads", []),  # the beginning of a range is not said
        ("about 512/8 ≈ 60~70 heads", []),
    ],
)
def test_formulas_are_taken(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "and/or", "pre-norm and GPT-3", "on 2017-06-12", "version 3.11.2", "a/b.txt", "input/output", "numpy>=2.0",
        "Python >= 3.11", "I/O", "24/7", "key=value", "--flag=3", "state-of-the-art", "A -> B", "encoder -> decoder",
        "pages 3-5", "1, 2, 3", "Section 3.2", "T5-3B", "[1, 2]", "size [12]", "C++", "50% - 60%", "the model = good",
        "3億6000万 = 2", "2 = 3億6000万", "7，872×12=85，464", "1，024×2=2048", "http:4*2=8",
        "foo@bar", "9/11", "1-2 days", "top-k/top-p", "Q&A", "x86-64", "BERT-base/large", "fp16/bf16", "fp16 + fp32",
        "120 TFLOP/s/A100", "?a=1&b=2", "x_1=2/3/path",
    ],
)  # fmt: skip
def test_prose_is_left_alone(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "formula",
    [
        "FFN(P X) = P FFN(X)", "A (X W + b) = A X W + b", "A (X W + b) = (A X) W + b", "(A B)^T = B^T A^T",
        "X A^T + b", "dW = X^T dH", "dS = A o (dA - rowsum(dA o A) 1^T)", "X_c = X (I - 1 1^T/d)", "Y = t A + C",
        "exp(a + b) = exp(a) exp(b)", "A_ij = 2^t_ij / sum_l 2^t_il",
    ],
)  # fmt: skip
def test_a_formula_is_taken_to_its_end(formula: str) -> None:
    """All of it or nothing: a part of an equation says something else."""
    taken = found(f"so that {formula} for every matrix"), found(f"结果是 {formula}，因此"), found(f"({formula})")
    assert taken in (([formula],) * 3, ([],) * 3)
    assert taken[0] == [] or "sum_l" not in formula


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("7 % 4 = 3", "4 = 3"), ("C = 6 × パラメータ", "C = 6"), ("log f(t) = -g(-t)", "f(t) = -g(-t)"),
        ("y = f(入力)", "y = f"), ("f(t) = t [t > 0]", "f(t) = t"), ("y = a . b and", "y = a"),
        ("s = W (hidden + bias)", "s = W"), ("p = q ‖ r", "p = q"), ("H = p log p", "H = p"),
        ("u = a b / c d", "a b / c"), ("products alone: 1 = 6.4 ms", "1 = 6.4 ms"),
        ("run python -m docs.model_tables", "python -m docs.model_tables"),
        ("of sizes (350M, 750M, 3B)", "(350M, 750M, 3B)"), ("of shape [classes, images per class]", "images per class"),
    ],
)  # fmt: skip
def test_a_part_of_a_formula_is_left_alone(text: str, cut: str) -> None:
    """What goes on in signs that runs do not know is not taken; and what is taken is never the part alone."""
    assert cut in text
    assert cut not in found(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h = 8 (number of heads)", ["h = 8"]), ("with n = 8 I get", ["n = 8"]),
        ("h = 8 - 头数", ["h = 8"]), ("y = x - 平均", []), ("y = x - mean", []),
        ("- d_k = 64", ["d_k = 64"]), ("$$ (**4.8 億**)", []),
        ("(2 萬)", ["2 萬"]), ("10% of a, 0% of b, 70% of c", []), ("where d = 64 (512/8)", ["d = 64"]),
    ],
)  # fmt: skip
def test_prose_around_a_formula_does_not_belong_to_it(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        ("d_model=512", "code"), ("Matrix[i, j]", "code"), ("[0.1, 0.0, 0.7]", "code"), ("[-1.5, 2e-3]", "code"),
        ("x @ W", "code"),
        ("d_k", "code"), ("(n, d_k)", "code"), ("softmax(QK^T)", "plain"), ("2 × n × d", "plain"),
        ("O(n^2 d)", "plain"),
        ("torch.relu", None), ("--json", None), ("check FILE", None), ("attention.py", None), ("batch", None),
        ("{x}", None), ("import x", None), ("pip install x", None), ("", None), ("a" * 500 + "=b", None),
    ],
)  # fmt: skip
def test_snippets_are_formulas_or_not(text: str, syntax: str | None) -> None:
    assert snippet_syntax(text) == syntax
