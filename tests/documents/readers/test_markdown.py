"""Markdown: which blocks there are, which formulas, and what is left alone."""

import pytest

from derivations.documents.checking import check_text
from derivations.documents.passages import Block, Place
from derivations.documents.readers import read_text


def blocks(text: str) -> tuple[Block, ...]:
    return read_text(text, "markdown").blocks


def formulas(text: str) -> list[str]:
    return [passage.text for block in blocks(text) for passage in block.formulas]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let $x$ be", ["x"]),
        ("let $ x_i $ be", ["x_i"]),
        ("with $d_k$維", ["d_k"]),
        (r"let \(x\) and \\(y\\) be", ["x", "y"]),
        (r"so \[x = y\] holds", ["x = y"]),
        ("gives $`a + b`$ here", ["a + b"]),
        ("{math}`a^2` and :math:`b`", ["a^2", "b"]),
        ("矩陣乘法。$$Y = XW + b$$根據定義", ["Y = XW + b"]),
        ("text:\n$$\na\n= b\n$$\nmore", ["a\n= b"]),
        ("$$\n- a\n+ b\n$$", ["- a\n+ b"]),
        ("> $$\n> a\n> = b\n> $$", ["a\n= b"]),
        ("- item\n  $$\n  # a\n  $$\n- next $c$", ["# a", "c"]),
        ("$$ a $$ (3)\n\n$$\na\n\nb\n$$", ["a", "a\n\nb"]),
        ("\\begin{align}\na &= b \\\\\n\n- c\n\\end{align}", ["\\begin{align}\na &= b \\\\\n\n- c\n\\end{align}"]),
        ("\\begin{equation}\na = b\n\\end{equation}", ["a = b"]),
        ("```math\n\na = b\n```", ["a = b"]),
        ("```{math}\n:label: one\n\na = b\n```", ["a = b"]),
        ("```latex\n\\frac{a}{b}\n```", [r"\frac{a}{b}"]),
        ("    $$a = b$$", ["a = b"]),
        ("<p>$a$<br>$b$</p>", ["a", "b"]),
        ("**$W_1$ (up):** $\\in A$", ["W_1", "\\in A"]),
        (r"\$5 and $x\$y$", [r"x\$y"]),
        (r"$\newcommand{\R}{\mathbb{R}}$ and $x \in \R^n$", [r"x \in \mathbb{R}^n"]),
    ],
)
def test_formulas_are_found(text: str, expected: list[str]) -> None:
    assert formulas(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "it costs $5, or $10 for two",
        "from $5 million to about $7",
        "an unclosed $x here",
        "`$PATH` and `--flag`",
        "see [the page](https://a.b/$c$?d=e) or <https://a.b/x_1=2>",
        "<!-- $x$ -->",
        "<script>\nx = 3\n</script>",
        "```bash\nx=3\n$y$\n```",
        "---\ntitle: $x$\nk = 3\n---",
        "a $\\rightarrow$ b",
    ],
)
def test_what_is_no_formula_is_left_alone(text: str) -> None:
    assert formulas(text) == []


def test_a_number_in_words_behind_a_formula_is_a_formula_of_its_own() -> None:
    """The prose repeats the number of the formula in front of it, in the same block."""
    (block,) = blocks(r"- $e^{20} \approx 485,165,195$ (**4.8 億**)")
    assert [(passage.syntax, passage.text) for passage in block.formulas] == [
        ("latex", r"e^{20} \approx 485,165,195"), ("plain", "4.8 億"),
    ]  # fmt: skip


def test_prose_has_no_markup() -> None:
    (block,) = blocks("Let **the matrix** $X$ be [given](http://a.b), *that* is\\_all.")
    assert [passage.text for passage in block.passages] == ["Let the matrix ", "X", " be [given", ", that is_all."]


def test_blocks_have_kinds() -> None:
    text = "# Head $a$\n\ntext\n\n1. item\n\n   more\n\n> quote\n\n### Low\n"
    assert [(block.kind, block.level) for block in blocks(text)] == [
        ("heading", 1), ("paragraph", 0), ("item", 0), ("item", 0), ("paragraph", 0), ("heading", 3),
    ]  # fmt: skip


def test_rows_of_tables_keep_their_columns_and_headers() -> None:
    head, row = blocks("| name | the shape |\n|---|---|\n| $Q$ and $K$ | norm \\|x\\| |\n")
    assert [passage.text for passage in head.passages] == ["name", "the shape"]
    assert row.headers == ("name", "the shape")
    assert row.columns == (0, 0, 0, 1)
    assert row.passages[-1].text == "norm |x|"


def test_an_unclosed_formula_does_not_swallow_the_document() -> None:
    assert formulas("$$ never closed\n\n$a$\n\ntext\n\n$b$") == ["a", "b"]


def test_an_environment_that_nothing_closes_goes_on_to_the_next_empty_line() -> None:
    """It is a formula that is not understood, and what stands behind is read."""
    report = check_text("We have\n\\begin{align}\na &= 3 + 4 \\\\\n\nand $2 + 2 = 5$", "markdown")
    assert [claim.finding.verdict for claim in report.claims] == ["unknown", "wrong"]
    assert "not closed" in report.claims[0].finding.reason


def test_two_stars_are_a_power_or_emphasis() -> None:
    text = "The **Q**uery and the **K**ey: v = b * v + (1 - b) * g**2, u = m / (1 - b**t), **2 * 3** = 6, 2**3 = 8"
    assert formulas(text) == ["v = b * v + (1 - b) * g**2", "u = m / (1 - b**t)", "2 * 3 = 6", "2**3 = 8"]


def test_cells_of_one_row_with_equal_text_stand_in_their_columns() -> None:
    _, row = blocks("| a | b |\n|---|---|\n| $x$ | $x$ |\n")
    assert [passage.place(0) for passage in row.passages] == [Place(3, 4), Place(3, 10)]
