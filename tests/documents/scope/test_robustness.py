r"""Whatever stands in a document, its scopes and the remarks on shapes end without an exception."""

import random

import pytest

from derivations.documents.decide.remarks import remark_on
from tests.documents.scope.written import read

FORMULAS = r"""W_1 | X | x_i | K^T | \in \mathbb{R}^{n \times d} | \in \mathbb{R}^{0 \times 1/0} | ^{-1} | n \times d
\in \mathbb{R}^{n^2 \times -1} | = | + | \cdot | \odot | \text{softmax}( | ) | \frac{ | }{ | } | ( | [ | ] | , | : | \to
\begin{bmatrix} a & b \\ c & d \end{bmatrix} | d_k | h = 8 | d_{model} | (n \times d) | 512 | 0 | = 0 | \max(0, | 1/0
\text{Concat}( | \text{head}_1, \dots, \text{head}_h | \text{Attention}(Q, K, V) | \underbrace{x}_{(1 \times 5)} | e^{
\xrightarrow{W (5 \times 7)} | x^{x^{x}} | 10^{10^{10}} | d = d | d = 2 d | n = d | d = n | f = f g | g = g f | \sqrt{
\sum_{k=1}^{n} | k_k"""
PIECES = [piece.strip() for line in FORMULAS.split("\n") for piece in line.split("|")]
WORDS = ["where ", " is the shape ", " the number of heads ", " vector ", " 的維度是 ", "，", "：", "| ", "\n\n# A\n\n"]


@pytest.mark.parametrize("seed", range(12))
def test_nothing_ends_in_an_exception(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        text = ""
        for _ in range(chance.randint(1, 8)):
            formula = " ".join(chance.choice(PIECES) for _ in range(chance.randint(1, 6)))
            text += f"{chance.choice(WORDS)}${formula}$"
        _judge(text)


def test_letters_that_are_set_to_each_other_end() -> None:
    shapes = "$X \\in \\mathbb{R}^{a \\times b}$, $Y \\in \\mathbb{R}^{c \\times a}$, $Z = X Y$"
    _judge(f"$a = b c$, $b = a c$, $c = a b$, {shapes}")


def _judge(text: str) -> None:
    statements, scopes = read(text, whole=False)
    for statement in statements:
        for link in statement.links or (None,):
            assert isinstance(list(remark_on(statement, link, scopes.at(statement))), list)
