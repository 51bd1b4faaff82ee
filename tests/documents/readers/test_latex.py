"""LaTeX: its structure, its macros, and what is not read."""

import pytest

from derivations.documents.passages import Block
from derivations.documents.readers import read_text


def blocks(text: str) -> tuple[Block, ...]:
    return read_text(text, "latex").blocks


def formulas(text: str) -> list[str]:
    return [passage.text for block in blocks(text) for passage in block.formulas]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"$a$ \(b\) \[c\] $$d$$", ["a", "b", "c", "d"]),
        ("$a % $no$\n + b$ % $c$", ["a \n + b"]),
        (r"50\% of $x$", ["x"]),
        (r"\begin{equation}a\end{equation}", ["a"]),
        (r"\newcommand{\R}{\mathbb{R}} $\R^n$", [r"\mathbb{R}^n"]),
        (r"\newcommand*\vect[1]{\mathbf{#1}} $\vect{x} + \vect y$", [r"\mathbf{x} + \mathbf{y}"]),
        (r"\newcommand{\n}[2][q]{#1_{#2}} $\n{i} \n[k]{j}$", ["q_{i} k_{j}"]),
        (r"\def\s#1#2{#1\cdot #2} $\s{a}b$", [r"a\cdot b"]),
        (r"\DeclareMathOperator{\sm}{softmax} $\sm x$", [r"\operatorname{softmax} x"]),
        (r"\newcommand{\a}{\b c}\newcommand{\b}{\beta} $\a$", [r"\beta  c"]),
        ("\\def\\be{\\begin{equation}}\\def\\ee{\\end{equation}}\n\\be a \\ee", ["a"]),
        (r"\newcommand{\d}{\ensuremath{d_k}\xspace} $\d$", ["{d_k}"]),
        (r"\verb|$x$| and \begin{verbatim}$y$\end{verbatim} $z$", ["z"]),
        (r"\begin{comment}$y$\end{comment} $z$", ["z"]),
        (r"\documentclass{a} $no$ \begin{document}$x$\end{document} $no$", ["x"]),
        (r"\input{other} \include{more} $x$", ["x"]),
    ],
)
def test_formulas_are_found(text: str, expected: list[str]) -> None:
    assert formulas(text) == expected


@pytest.mark.parametrize(
    "text",
    [r"\def\a{\a\a} $\a$", r"\def\a{\b}\def\b{\a} $\a$", r"\newcommand{\a}[1]{\a{#1#1}} $\a{x}$"],
)
def test_a_macro_without_end_stays_as_it_is_written(text: str) -> None:
    (formula,) = formulas(text)
    assert formula.startswith(r"\a")


def test_macros_that_multiply_end_soon() -> None:
    """Eleven macros of which each writes the next one twice: what they write has a bound for the document."""
    names = zip("abcdefghijk", "bcdefghijkl", strict=True)
    definitions = "".join(rf"\def\{name}{{\{inner} \{inner}}}" for name, inner in names)
    found = formulas(definitions + r"\def\l{xxxxxxxxxx}" + "\n\n$\\a$" * 50)
    assert len(found) == 50
    assert sum(map(len, found)) < 200_000
    assert found[-1] == r"\a"


def test_blocks_have_kinds_and_levels() -> None:
    items = r"\begin{itemize}\item first \item[$b$] second\end{itemize}"
    text = r"\section{One $a$} Text.\subsection*{Two}" + f"\n\nMore.\n\n{items}"
    assert [(block.kind, block.level) for block in blocks(text)] == [
        ("heading", 2), ("paragraph", 0), ("heading", 3), ("paragraph", 0), ("item", 0), ("item", 0),
    ]  # fmt: skip


def test_rows_of_tables() -> None:
    text = r"\begin{tabular}{l|l} name & shape \\ \hline $Q$ & $(n \times d)$ \\ \end{tabular} behind"
    head, row, behind = blocks(text)
    assert (head.kind, row.kind, behind.kind) == ("row", "row", "paragraph")
    assert row.headers == ("name", "shape")
    assert row.columns == (0, 1)


def test_prose_has_no_commands() -> None:
    (block,) = blocks(r"Let \emph{the matrix} $X$ be given~\cite{a}.")
    assert [passage.text for passage in block.passages] == ["Let the matrix ", "X", " be given~."]
