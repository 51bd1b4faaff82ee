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
        (r"\providecommand{\tp}{^{\top}} $A\tp$", [r"A^{\top}"]),
        (
            r"\DeclarePairedDelimiter{\n}{\lVert}{\rVert} $\n{x} + \n*{y} + \n[\big]{z}$",
            [r"\lVert x\rVert  + \lVert y\rVert  + \lVert z\rVert"],
        ),
        (r"\DeclarePairedDelimiter\n{\lVert} $\n{x}$", [r"\n{x}"]),
        ("\\newenvironment{eqn}{\\begin{equation}}{\\end{equation}}\n\\begin{eqn}a\\end{eqn}", ["a"]),
        (r"$\num{2048} \times \num[a=b]{2}$ and $\SI{14}{GB}$", [r"2048 \times 2", r"14\,\text{GB}"]),
        (r"\newcommand{\num}[1]{n_{#1}} $\num{2}$", ["n_{2}"]),
        (r"\NewDocumentCommand{\prd}{m m}{#1\times #2} $\prd{2}{3}$", [r"2\times 3"]),
        (r"\DeclareDocumentCommand\dm{}{d_m} $\dm$", ["d_m"]),
        (r"$\pdv{L}{x} = \dv{y}{x}$", [r"\frac{\partial L}{\partial x} = \frac{d y}{d x}"]),
        (r"$\pdv{x} y$", [r"\pdv{x} y"]),  # of what stands behind it
        (r"\newcommand{\dv}{d_v} $\dv$", ["d_v"]),
        (r"\newcommand{\d}{\ensuremath{d_k}\xspace} $\d$", ["{d_k}"]),
        (
            r"The width \texttt{d\_model} and \verb|[batch, d_ff]|, \lstinline!h=8!.",
            ["d_model", "[batch, d_ff]", "h=8"],
        ),
        (r"\texttt{python -m name} and \verb|a\b|", []),
        (r"about 485165195 (\textbf{4.8 億}), 512→2048, 8 × 64 = 512", ["4.8 億", "512→2048", "8 × 64 = 512"]),
        (r"\includegraphics[width=0.5\textwidth]{a} \lstset{tabsize=4} \vspace{-2pt} \cite{b=3}", []),
        (r"\begin{unknown} \frac{a}{b} c = d \end{unknown}", []),
        (r"\begin{unknown} \frac{a}{b} \\ c = d \end{unknown}", []),
        (r"3 + 4 = 7\footnote{2 + 2 = 4}, and 5 × 3 = 15\\d = 6", ["3 + 4 = 7", "2 + 2 = 4", "5 × 3 = 15", "d = 6"]),
        (r"10\textsuperscript{6} = 2 × 5, 1\,024 = 2 × 512", []),
        (r"i.e.\ 1\,024 = 2 × 512", ["1024 = 2 × 512"]),
        ("\\begin{lstlisting}[language=Python]\nh = 8\n\\end{lstlisting}", ["h = 8"]),
        ("\\begin{minted}{bash}\nh=8\n\\end{minted}", []),
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
    assert [passage.text for passage in block.passages] == ["Let the matrix ", "X", " be given ."]


def test_the_term_of_an_item_stands_before_it() -> None:
    first, second = blocks(r"\item[$d_k$] the dimension of the keys \item[--] a remark")
    assert [passage.text for passage in first.passages] == ["d_k", " the dimension of the keys "]
    assert [passage.text for passage in second.passages] == ["-- a remark"]


def test_lists_and_displayed_formulas_end_what_stands_before_them() -> None:
    text = "Before\\begin{itemize}\n\\item one\n\\end{itemize}\nBehind \\[x\\] it."
    assert [(block.kind, len(block.passages)) for block in blocks(text)] == [
        ("paragraph", 1), ("item", 1), ("paragraph", 1), ("paragraph", 1), ("paragraph", 1),
    ]  # fmt: skip


def test_a_tie_is_a_space() -> None:
    (block,) = blocks("head~1 of~$8$")
    assert [passage.text for passage in block.passages] == ["head 1 of ", "8"]
