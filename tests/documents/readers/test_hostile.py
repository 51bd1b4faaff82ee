"""Documents that mean ill: deep, unclosed, repeated, self-referring; all are read to an end, in every format."""

import pytest

from derivations.documents.passages import Document
from derivations.documents.readers import FORMATS, read_text

pytestmark = pytest.mark.slow  # limits are filled, to see that reading ends

N = 3_000
HOSTILE = {
    "braces": "$" + "{" * N + "}" * N + "$",
    "quotations": "> " * N + "$x$",
    "lists": "- " * N + "$x$",
    "indented lists": "".join("  " * depth + "- x\n" for depth in range(200)),
    "links": "[](" * N,
    "parentheses": "(a+" * N + ")" * N,
    "factors": "(x)" * N + " = y",
    "dollars": "$" * N + " $$ $" * N,
    "ticks": "".join("`" * (length % 90) + " " for length in range(N // 10)),
    "stars": "*a" * N,
    "backslashes": "\\" * N + "$" + "\\$" * N,
    "tags": "<a " * N + "<!--" * N,
    "environments": "\\begin{align}\n" * N + "\\begin{comment}" + "\\begin{tabular}" * N,
    "displays": "$$ x\n" * N + "\\[ y\n\n" * N,
    "digits": "9" * N + " = x" + "1,111" * N,
    "shapes": "size [" * N + "a," * N,
    "macros": "\\def\\a{\\b\\b}\\def\\b{\\a\\a}\\newcommand{\\c}[1]{\\c{#1#1}}" + "$\\a\\c{x}$\n\n" * 20,
    "definitions": "\\newcommand{\\a}[1][" * N + "\\newcommand{\\a}{" * N,
    "tables": "|a" * 300 + "\n" + "|-" * 300 + "\n" + "|\n" * 300,
    "fences": "```\n" * N,
    "quotes": '"' * N + "\n```\n" + '"\\' * N,
    "arrows": "```\n" + "a->" * N,
    "directives": "".join(" " * (depth % 300) + ".. note::\n" for depth in range(N)),
    "adornments": "===\n" * N,
    "strings": '"""a\n' * N + "(" * N,
    "front matter": "---\n" * N,
    "control characters": "$a\0b$\f\v\x85\u2028\ud800 \r" * 100,
    "brackets of JSON": "[" * 100_000,
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", HOSTILE)
def test_the_reading_comes_to_an_end(name: str, form: str) -> None:
    assert isinstance(read_text(HOSTILE[name], form), Document)


@pytest.mark.parametrize("form", ["markdown", "latex"])
@pytest.mark.parametrize(
    "name", ["braces", "quotations", "lists", "indented lists", "links", "parentheses", "stars", "digits", "shapes"]
)
def test_what_comes_behind_is_read(name: str, form: str) -> None:
    text = HOSTILE[name] + "\n\n\n# The $end$\n"
    formulas = [formula.text for block in read_text(text, form).blocks for formula in block.formulas]
    assert formulas[-1] == "end"


def test_code_that_is_not_whole_is_read_as_far_as_it_goes() -> None:
    document = read_text('"""Of $a$."""\nx = (\n', "python")
    assert document.blocks[0].formulas[0].text == "a"
    assert len(document.problems) == 1


def test_a_line_of_fifty_million_characters_is_left_out() -> None:
    document = read_text("$a$\n\n" + "{" * 50_000_000 + "\n\n$b$", "markdown")
    assert [block.formulas[0].text for block in document.blocks] == ["a", "b"]
    assert len(document.problems) == 1
