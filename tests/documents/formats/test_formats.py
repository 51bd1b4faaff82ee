r"""Markdown in other formats: what each mark becomes, where a line comes from, and that nothing is lost."""

import pytest

from tests.documents.formats.latex import in_latex
from tests.documents.formats.restructured import in_restructured
from tests.documents.formats.wrapped import wrapped

TEXT = r"""## Heads of $Q$

The **width** `d_model` is 50% of $d_k$:
$$
d = 2
$$
- one
  - **two $x$**
- three

> said
| a | $b$ |
|---|---|
| 1\~2 | *c* |

```python
h = 8
```
"""


def text_of(lines: list[tuple[str, int]]) -> str:
    return "\n".join(line for line, _ in lines if line)


def test_in_latex() -> None:
    assert text_of(in_latex(TEXT)) == "\n".join(
        (r"\documentclass{ctexart}", r"\begin{document}", r"\subsection{Heads of $Q$}",
         r"The \textbf{width} \texttt{d\_model} is 50\% of $d_k$:", r"\[", "d = 2", r"\]", r"\begin{itemize}",
         r"\item one", r"\begin{itemize}", r"\item \textbf{two $x$}", r"\end{itemize}", r"\item three",
         r"\end{itemize}", r"\begin{quote}", "said", r"\end{quote}", r"\begin{tabular}{ll}", r"a & $b$ \\", r"\hline",
         r"1--2 & \emph{c} \\", r"\end{tabular}", r"\begin{lstlisting}", "h = 8", r"\end{lstlisting}",
         r"\end{document}")
    )  # fmt: skip


def test_in_restructured() -> None:
    assert text_of(in_restructured(TEXT)) == "\n".join(
        ("Heads of :math:`Q`", "-" * 36, "The **width** ``d_model`` is 50% of :math:`d_k`:", ".. math::", "   d = 2",
         "- one", "  - two :math:`x`", "- three", "..", "   said", ".. list-table::", "   :header-rows: 1", "   * - a",
         "     - :math:`b`", "   * - 1~2", "     - *c*", ".. code-block:: python", "   h = 8")
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("矩陣$W$的", "矩陣\\ :math:`W`\\ 的"),
        ("（$W$）", "（:math:`W`）"),
        ("a **b**（c）", "a **b**\\ （c）"),
        ("![a](b.png)", ".. image:: b.png"),
        ("2 * 3 | x", r"2 \* 3 \| x"),
        ("so $$a = b$$ holds", "so\n.. math:: a = b\n holds"),
    ],
)
def test_marks_stand_apart_in_restructured_text(text: str, expected: str) -> None:
    assert [line.strip() for line in text_of(in_restructured(text)).split("\n")] == [
        line.strip() for line in expected.split("\n")
    ]


def test_lines_are_broken_at_spaces_only() -> None:
    text = "- one two three $a b c$ four\n\n| a row of a table |\n\n$$\na b c d e f g h\n$$"
    lines = wrapped(text, 12)
    assert [line for line, _ in lines] == [
        "- one two", "  three $a b c$", "  four", "", "| a row of a table |", "", "$$", "a b c d e f g h", "$$",
    ]  # fmt: skip
    assert [number for _, number in lines] == [1, 1, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("change", [in_latex, in_restructured, lambda text: wrapped(text, 20)])
def test_every_line_comes_from_one(change: object) -> None:
    lines = change(TEXT)  # type: ignore[operator]
    numbers = [number for _, number in lines]
    assert numbers == sorted(numbers)
    assert {1, 3, 5, 8, 11, 12} <= set(numbers)
