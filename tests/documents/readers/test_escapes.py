"""Backslashes written for a generator of pages, and places that stay those of the file."""

import pytest

from derivations.documents.readers import read_text


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (r"$$a &= b \\\\ c &= d$$", r"a &= b \\ c &= d"),
        (r"$$a &= b \\ c &= d$$", r"a &= b \\ c &= d"),
        (r"$i \in \\{1, 2\\}$", r"i \in \{1, 2\}"),
        (r"$\mathbf{q}\_{:d} + x\_{i}$", r"\mathbf{q}_{:d} + x_{i}"),
        (r"$x \leftarrow f(learning\_rate)$", r"x \leftarrow f(learning\_rate)"),
        (r"$\text{batch\_size}\_{i}$", r"\text{batch\_size}_{i}"),
    ],
)
def test_a_formula_reads_as_mathematics_does(text: str, formula: str) -> None:
    """The formula has one level of backslashes, and each of its characters stands where the place says."""
    (passage,) = (each for block in read_text(text, "markdown").blocks for each in block.formulas)
    assert passage.text == formula
    assert all(text[passage.place(at).column - 1] == character for at, character in enumerate(formula))


def test_two_ends_of_lines_stay_in_latex() -> None:
    """Only pages in Markdown are written for a generator."""
    (block,) = read_text(r"$$a \\\\ b$$", "latex").blocks
    assert block.formulas[0].text == r"a \\\\ b"


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        (r"see \[12\] and \[a\_1 to a\_n\]", []),
        (r"where dY o \[A \> 0\] is", ["A > 0"]),
        (r"so \[x_1 = y\] holds", ["x_1 = y"]),
        (r"so \[\text{a\_b} = y\] holds", [r"\text{a\_b} = y"]),
    ],
)
def test_escaped_brackets_are_brackets(text: str, formulas: list[str]) -> None:
    """A bracket with a backslash encloses a formula, unless what it encloses is escaped text."""
    assert [each.text for block in read_text(text, "markdown").blocks for each in block.formulas] == formulas
