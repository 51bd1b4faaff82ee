"""Python: docstrings, comments, shapes beside code; notebooks, whose cells are read alike."""

import json

import pytest

from derivations.documents.passages import Place
from derivations.documents.readers import read_text
from derivations.documents.scope.sections import read_sections


def formulas(text: str) -> list[str]:
    return [passage.text for block in read_text(text, "python").blocks for passage in block.formulas]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"""Module with $a$."""\nx = "no $b$"\n', ["a"]),
        ('def f():\n    r"""\n    .. math:: \\frac{a}{b}\n    """\n', [r"\frac{a}{b}"]),
        ('def f():\n    """Of $\\\\frac{a}{b}$."""\n', [r"\frac{a}{b}"]),
        ('def f():\n    """Of $\\frac{a}{b} \\\\ c$."""\n', [r"\frac{a}{b} \\ c"]),
        ("'''One $a$\n\n    $$b$$\n    '''\n", ["a", "b"]),
        ("# $$a\n# = b$$\nx = 1\n", ["a\n= b"]),
        ("y = x @ w  # [n, d_ff]\n", ["y = x @ w", "[n, d_ff]"]),
        ("y = x  # nothing\n", []),
        ("y = x // 8  # d_k = 512 / 8\n", ["d_k = 512 / 8"]),
        ("y = x  #每頭 $d_k=64$\n", ["d_k=64"]),
        ("y = '# 2 + 2 = 5'  # noqa: E501 = 3\nz = y  # type: ignore[a=b]\n", []),
        ("# type: ignore[x, y]\n# noqa\n", []),
        ("call('''$a$''')\nx = ('$b$')\n", []),
        ("# (batch, n, d_k)\n", ["(batch, n, d_k)"]),
        ("'''$a$'''\ndef broken:\n  '''$b$'''\n   $\n(", ["a", "b"]),
    ],
)
def test_formulas_are_found(text: str, expected: list[str]) -> None:
    assert formulas(text) == expected


def test_a_notebook_has_places_in_its_cells() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# One\n", "$a$"]},
        {"cell_type": "code", "source": "%matplotlib inline\n# $b$\n"},
        {"cell_type": "raw", "source": "$c$"},
    ]
    document = read_text(json.dumps({"cells": cells}), "notebook")
    found = [(passage.text, passage.place(0)) for block in document.blocks for passage in block.formulas]
    assert found == [("a", Place(2, 2, 1)), ("b", Place(2, 4, 2))]


def test_macros_of_a_cell_hold_in_those_behind_it() -> None:
    cells = [
        {"cell_type": "markdown", "source": r"$$\newcommand{\R}{\mathbb{R}}$$"},
        {"cell_type": "markdown", "source": r"$x \in \R$"},
    ]
    (block,) = read_text(json.dumps({"cells": cells}), "notebook").blocks
    assert block.formulas[0].text == r"x \in \mathbb{R}"


def test_a_notebook_of_version_3_is_read() -> None:
    sheet = {"cells": [{"cell_type": "markdown", "source": "$a$"}, {"cell_type": "code", "input": "# $b$"}]}
    blocks = read_text(json.dumps({"worksheets": [sheet]}), "notebook").blocks
    assert [passage.text for block in blocks for passage in block.formulas] == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1, 2]", '{"cells": 3}', "[" * 100_000, '{"cells": ' + "9" * 10_000 + "}", "\0", '{"a": "\\ud800"}'],
)
def test_a_file_that_is_no_notebook_is_a_problem(text: str) -> None:
    document = read_text(text, "notebook")
    assert document.blocks == ()
    assert len(document.problems) == 1


def test_a_cell_that_is_none_is_a_problem_and_the_others_are_read() -> None:
    cells = [3, {"cell_type": "markdown", "source": {}}, {"cell_type": "markdown", "source": "$a$"}]
    document = read_text(json.dumps({"cells": cells}), "notebook")
    assert [problem.place.cell for problem in document.problems] == [1, 2]
    assert document.blocks[0].formulas[0].text == "a"


def test_a_function_is_a_section_of_its_own() -> None:
    """What a method says reaches neither the next one nor what follows the class; what the class says reaches both."""
    text = '''# $a$
class Layer:
    """$b$"""

    async def first(self):
        """$c$"""
    # $d$

    def second(self):
        """$e$"""

# $f$
'''
    document = read_text(text, "python")
    sections = read_sections(document)
    at = {
        passage.text: set(sections.reach(number))
        for block, number in zip(document.blocks, sections.of_block, strict=True)
        for passage in block.formulas
    }
    own = {
        letter: reach - set().union(*(at[each] for each in "abcdef" if each != letter)) for letter, reach in at.items()
    }
    assert all(own[letter] for letter in "cdef")
    assert at["a"] <= at["b"] <= at["c"] & at["d"] & at["e"]
    assert not at["b"] <= at["f"]


def test_the_headings_of_a_docstring_lie_in_its_function() -> None:
    text = 'def f():\n    """\n    # One\n\n    $a$\n    """\n\ndef g():\n    """$b$"""\n'
    document = read_text(text, "python")
    sections = read_sections(document)
    inner, outer = (number for block, number in zip(document.blocks, sections.of_block, strict=True) if block.formulas)
    assert not set(sections.reach(outer)) & set(sections.reach(inner)) - {0}
