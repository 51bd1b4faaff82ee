"""Every page renders on GitHub: its formulas hold nothing that GitHub refuses."""

from pathlib import Path

import pytest

from derivations.language.printing.github import ABSENT, REFUSED, for_github, refusals
from docs.build import formulas, pages


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in pages()])
def test_github_renders_every_formula(path: Path):
    text = path.read_text(encoding="utf-8")
    assert refusals(formulas(text)) == []


def test_the_formulas_of_a_page_are_found():
    page = "Where $`y \\in \\mathbb{R}`$.\n\n```math\na \\\\\nb\n```\n\n| $`\\|x\\|`$ | `$x$` |\n"
    assert formulas(page) == [r"y \in \mathbb{R}", "a \\\\\nb", "|x|"]
    assert sum(len(formulas(path.read_text(encoding="utf-8"))) for path in pages()) > 2000


@pytest.mark.parametrize("macro", REFUSED + ABSENT)
def test_a_refused_macro_is_named(macro: str):
    (found,) = refusals([r"y = x", rf"y = \{macro}{{softmax}}(x)"])
    assert found.startswith(f"\\{macro} is ")


def test_a_formula_that_is_read_as_html_is_refused():
    assert refusals(["a < b", "a <= b"]) == []
    assert refusals(["a <b"]) == ["<b is read as an HTML tag: a <b"]


def test_large_formulas_and_large_pages_are_refused():
    assert refusals(["x_{i}" * 999]) == []
    assert refusals(["x_{i}" * 999, "x_{i}" * 999, "x"]) == [
        "the page has 2001 opening braces, more than 2000: move a part to a page of its own"
    ]
    assert refusals(["x_{i}" * 1000])[0].startswith("there are more than 1000 opening braces")


@pytest.mark.parametrize(
    ("formula", "written"),
    [
        (r"x_{i}^{2}", r"x_i^2"),
        (r"Q K^{\top} V^{\top}", r"Q K^\top V^\top"),
        (r"K^{\top}V", r"K^{\top}V"),  # \topV is another macro
        (r"x_{ij} e^{-x} d_{\mathrm{ff}}", r"x_{ij} e^{-x} d_\mathrm{ff}"),
        (r"x \in \mathbb{R}^{n}", r"x \in \mathbb R^n"),
        (r"\text{a\_{b}}", r"\text{a\_{b}}"),
        (r"\operatorname{top}_{k}(x)", r"\mathrm{top}_k(x)"),
        (
            r"\mathrm{GELU}_{\tanh}(x)",
            r"\mathrm{GELU}_{\tanh}(x)",
        ),  # a function
    ],
)
def test_a_formula_for_github_has_fewer_braces(formula: str, written: str):
    assert for_github(formula) == written
