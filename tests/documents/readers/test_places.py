"""Every character of every passage stands where the passage says, in all formats, however deep and however written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derivations.documents.passages import Document, Place
from derivations.documents.readers import FORMATS, read_text
from derivations.documents.readers.source import normalised

FORMULAS = ("x_i", r"\frac{a}{b}", "寬 = 高^2", r"Q K^\top", "a = b", "𝐗 W")
BITS = [
    *(f"${formula}$" for formula in FORMULAS),
    *(f"$${formula}$$" for formula in FORMULAS[:3]),
    r"\(x_1\)", "$`y_2`$", "`d_model=512`", "512→2048", "h = 8", "**bold**", "a \\* b", "[text](http://a.b/c_d)",
    "<br>", "the cost of $5 and $6", "𝒜 wide", "注意力", "\\_", "costs 3.5 GB", ":math:`z^2`", "``lit_1``",
    "![i](p.png)", "*it*", r"\emph{x}", r"\cite{a}", "% no\n", "#", "|", "> ", "-", "&", "\\\\",
]  # fmt: skip
LINES = st.lists(st.sampled_from(BITS), min_size=1, max_size=5).map(" ".join)
WRAPS = [
    "{}\n",
    "# {}\n",
    "- {}\n",
    "  1. {}\n     and $c$\n",
    "> > {}\n> lazy $d$\n",
    "\t- {}\n",
    "| a | $b$ |\n|---|---|\n| {} | \\|x\\| |\n",
    "$$\n{}\n= y\n$$\n",
    "- item\n\n  $$\n  {}\n  $$ tail\n",
    "```math\n{}\n```\n",
    "```\n{}\nW1: [512, 2048] - wide\n```\n",
    "    {}\n",
    "<div>{}</div>\n",
    "\\begin{{align}}\na &= b \\\\\n{}\n\\end{{align}}\n",
    "\\section{{{}}}\n",
    "\\item {}\n",
    "\\begin{{tabular}}{{ll}} a & {} \\\\ $b$ & c \\end{{tabular}}\n",
    ".. math::\n\n   {}\n\n   y\n",
    ".. note:: {}\n\n   more $e$\n",
    "{}\n====\n",
    "+---+---+\n| {} | b |\n+---+---+\n",
    'def f():\n    """{}\n\n    More $f$.\n    """\n    x = 1  # [a, b] {}\n',
    "# {}\n# again $g$\n",
    "'''{}'''\n",
]
DOCUMENTS = st.lists(
    st.builds(lambda wrap, line: wrap.replace("{}", line).replace("{{", "{").replace("}}", "}"),
              st.sampled_from(WRAPS), LINES),
    min_size=1, max_size=6,
).map("\n".join)  # fmt: skip
ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])


def assert_places(document: Document, texts: dict[int | None, str]) -> int:
    """Compare each character of each passage with the one at its place; return how many were compared."""
    lines = {cell: normalised(text)[0].text.split("\n") for cell, text in texts.items()}
    count = 0
    for block in document.blocks:
        assert len(block.columns) in (0, len(block.passages))
        for passage in block.passages:
            for offset, character in enumerate(passage.text):
                place = passage.place(offset)
                line = lines[place.cell][place.line - 1] + "\n"
                written = line[place.column - 1]
                tie = written == "~" and not passage.is_formula  # a space in LaTeX
                assert character == written or (tie and character == " "), (passage, offset, place)
                count += 1
    return count


@pytest.mark.slow
@pytest.mark.parametrize("form", sorted(set(FORMATS) - {"notebook"}))
@given(document=DOCUMENTS, ending=ENDINGS, mark=st.sampled_from(["", "\ufeff"]))
def test_characters_stand_where_their_passage_says(form: str, document: str, ending: str, mark: str) -> None:
    text = mark + document.replace("\n", ending)
    assert_places(read_text(text, form), {None: text})


@pytest.mark.slow
@given(
    cells=st.lists(st.tuples(DOCUMENTS, st.sampled_from(["markdown", "code", "raw"])), max_size=4), split=st.booleans()
)
def test_places_in_notebooks_count_within_the_cell(cells: list[tuple[str, str]], split: bool) -> None:
    sources = [text.splitlines(keepends=True) if split else text for text, _ in cells]
    notebook = [{"cell_type": kind, "source": source} for source, (_, kind) in zip(sources, cells, strict=True)]
    texts: dict[int | None, str] = {number: text for number, (text, _) in enumerate(cells, 1)}
    assert_places(read_text(json.dumps({"cells": notebook, "nbformat": 4}), "notebook"), texts)


@pytest.mark.slow
@pytest.mark.parametrize("form", sorted(set(FORMATS) - {"notebook"}))
@given(text=st.text(alphabet=list("$`\\()[]{}*_<>|#-+=.:!%&~^'\" \t\nax12→×寬𝒜\r\0\x0b\x0c\x85\u2028"), max_size=120))
def test_arbitrary_characters_are_read_with_their_places(form: str, text: str) -> None:
    assert_places(read_text(text, form), {None: text})


def test_the_comparison_notices_a_wrong_place() -> None:
    """The check is checked: a text with another character at the place is refused."""
    document = read_text("see $x$ here", "markdown")
    assert assert_places(document, {None: "see $x$ here"}) > 5
    with pytest.raises(AssertionError):
        assert_places(document, {None: "see $y$ here"})


def test_a_macro_stands_at_the_place_of_its_use() -> None:
    document = read_text("\\newcommand{\\R}{\\mathbb{R}}\nLet $x \\in \\R^n$.", "latex")
    (formula,) = document.blocks[0].formulas
    assert formula.text == r"x \in \mathbb{R}^n"
    use = Place(2, 12)
    assert [formula.place(offset) for offset in range(6, 16)] == [use] * 10
    assert formula.place(formula.text.index("^")) == Place(2, 14)
