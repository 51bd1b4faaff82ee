"""Formulas in plain characters: what is taken, and what is prose."""

import pytest

from derivations.documents.readers.plain import plain_formulas, snippet_syntax


def found(text: str) -> list[str]:
    return [text[start:end] for start, end in plain_formulas(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("計算量 ≈ 2 × batch_size × seq_len × d_ff", ["2 × batch_size × seq_len × d_ff"]),
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
    ],
)
def test_formulas_are_taken(text: str, expected: list[str]):
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "and/or", "pre-norm and GPT-3", "on 2017-06-12", "version 3.11.2", "a/b.txt", "input/output", "numpy>=2.0",
        "Python >= 3.11", "I/O", "24/7", "key=value", "--flag=3", "state-of-the-art", "A -> B", "encoder -> decoder",
        "pages 3-5", "1, 2, 3", "Section 3.2", "T5-3B", "[1, 2]", "size [12]", "C++", "50% - 60%", "the model = good",
        "foo@bar", "9/11", "1-2 days", "top-k/top-p", "Q&A", "x86-64", "BERT-base/large", "fp16/bf16", "fp16 + fp32",
        "120 TFLOP/s/A100", "?a=1&b=2", "x_1=2/3/path",
    ],
)  # fmt: skip
def test_prose_is_left_alone(text: str):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        ("d_model=512", "code"), ("Matrix[i, j]", "code"), ("[0.1, 0.0, 0.7]", "code"), ("x @ W", "code"),
        ("d_k", "code"), ("(n, d_k)", "code"), ("softmax(QK^T)", "plain"), ("2 × n × d", "plain"),
        ("O(n^2 d)", "plain"),
        ("torch.relu", None), ("--json", None), ("check FILE", None), ("attention.py", None), ("batch", None),
        ("{x}", None), ("import x", None), ("pip install x", None), ("", None), ("a" * 500 + "=b", None),
    ],
)  # fmt: skip
def test_snippets_are_formulas_or_not(text: str, syntax: str | None):
    assert snippet_syntax(text) == syntax
