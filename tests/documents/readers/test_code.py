"""Lines of code and pseudo-code: statements, comments, shapes, arrows."""

import pytest

from derivations.documents.readers import read_text


def passages(line: str, language: str = "") -> list[tuple[str, str]]:
    document = read_text(f"```{language}\n{line}\n```\n", "markdown")
    assert all(block.kind == "code" for block in document.blocks)
    return [(passage.syntax, passage.text.strip()) for block in document.blocks for passage in block.passages]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y = W2 · act(W1 · x + b1) + b2", [("plain", "y = W2 · act(W1 · x + b1) + b2")]),
        ("W1: [512, 2048] - widens", [("code", "W1"), ("prose", ":"), ("code", "[512, 2048]"), ("prose", "- widens")]),
        ("输入: [batch, n, d]", [("prose", "输入:"), ("code", "[batch, n, d]")]),
        ("层1: 放大 → [1, 10, 2048]  # 4倍", [("prose", "层1:"), ("plain", "放大 → [1, 10, 2048]"), ("prose", "4倍")]),
        ("12维的向量->W1->48维的向量", [("plain", "12维的向量->W1->48维的向量")]),
        ("计算量 ≈ 2 × n × d_ff", [("plain", "计算量 ≈ 2 × n × d_ff")]),
        ("def f(x, d=512):", [("prose", "def f(x,"), ("code", "d=512"), ("prose", "):")]),
        ("just some words", [("prose", "just some words")]),
        ("h = 8 // heads", [("code", "h = 8"), ("prose", "heads")]),
        ("h = 8 // number of heads", [("code", "h = 8"), ("prose", "number of heads")]),
        ("d_k = d_model // h", [("prose", "d_k = d_model // h")]),
        ("d_k = d_model // heads", [("prose", "d_k = d_model // heads")]),
        ("d_k = 512 // 8  # 64", [("prose", "d_k = 512 // 8  # 64")]),
        ("| -> a box", [("prose", "| -> a box")]),
    ],
)
def test_pseudo_code(line: str, expected: list[tuple[str, str]]) -> None:
    assert passages(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("h = relu(x @ w1 + b1)  # [b, n, d]", [("code", "h = relu(x @ w1 + b1)"), ("code", "[b, n, d]")]),
        ("q = self.query(x)  # [b, n]", [("code", "q"), ("prose", "= self.query(x)"), ("code", "[b, n]")]),
        (
            "def f(x, d=512, *, h: int = 8):",
            [("prose", "def f(x,"), ("code", "d=512"), ("prose", ", *,"), ("code", "h: int = 8"), ("prose", "):")],
        ),
        ("q = self.query(x)", [("prose", "q = self.query(x)")]),
        ("for i in range(n): x = 3", [("prose", "for i in range(n): x = 3")]),
        ("name = 'h = 8 # no'", [("prose", "name = 'h = 8 # no'")]),
        ("model = Model(width=3)", [("prose", "model = Model(width=3)")]),
        ("return a + b", [("prose", "return a + b")]),
        ("d_k = d_model // h  # 64", [("code", "d_k = d_model // h"), ("prose", "64")]),
        ("x = f(a,", [("prose", "x = f(a,")]),
    ],
)  # fmt: skip
def test_python(line: str, expected: list[tuple[str, str]]) -> None:
    assert passages(line, "python") == expected


@pytest.mark.parametrize("language", ["bash", "json", "yaml", "c++", "mermaid", "output"])
def test_other_languages_hold_no_formulas(language: str) -> None:
    assert passages("h = 8", language) == []
