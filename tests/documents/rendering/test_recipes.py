r"""The recipes of docs/render.md, run as printed: the files of a section, then its commands, in an empty folder.

A recipe whose tools are not installed is skipped; what `pip install` would bring is taken from here.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.M | re.S)
COMMANDS = re.compile(r"^```bash\n(.*?)^```$", re.M | re.S)
FORMULA = r"\frac{\partial y_{i}}{\partial x_{k}} = y_{i} (\delta_{ik} - y_{k})"


@pytest.fixture
def recipes(repository: Path) -> dict[str, str]:
    """The sections of the page by their headings."""
    page = (repository / "docs" / "render.md").read_text(encoding="utf-8")
    return {heading: body for heading, _, body in (part.partition("\n") for part in page.split("\n## ")[1:])}


@pytest.fixture
def path(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the command of this checkout, and those of this environment, in front of all others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(repository))} exec {sys.executable} -m derivations.cli "$@"\n'
    (folder / "derivations").write_text(script, encoding="utf-8")
    (folder / "derivations").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]]))


def run(recipe: str, folder: Path) -> None:
    """Write the files of a recipe to a new folder and run its commands there."""
    folder.mkdir()
    for name, text in FILE.findall(recipe):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for command in commands(recipe):
        program, *arguments = shlex.split(command)
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
        ran = subprocess.run(
            [program, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


def commands(recipe: str) -> Iterator[str]:
    """Yield the commands of a recipe, except those that install."""
    (block,) = COMMANDS.findall(recipe)
    yield from (line for line in block.splitlines() if not line.startswith("pip install "))


class _Formulas(HTMLParser):
    """The texts of a page that stand in elements of the class that MathJax reads."""

    def __init__(self, classes: set[str]) -> None:
        super().__init__()
        self.classes, self.texts, self.depth = classes, list[str](), 0

    def handle_starttag(self, tag, attributes):
        inside = self.depth or self.classes & set((dict(attributes).get("class") or "").split())
        if inside and not self.depth:
            self.texts.append("")
        self.depth += bool(inside)

    def handle_endtag(self, tag):
        self.depth -= bool(self.depth)

    def handle_data(self, data):
        if self.depth:
            self.texts[-1] += data


def formulas(page: Path, *classes: str) -> str:
    parser = _Formulas(set(classes))
    parser.feed(page.read_text(encoding="utf-8"))
    return "\n".join(parser.texts)


def needed(*modules: str) -> None:
    for module in modules:
        pytest.importorskip(module)


def test_each_recipe_has_files_and_commands(recipes: dict[str, str]):
    assert set(recipes) == {
        "MkDocs", "Sphinx with MyST", "Sphinx with reStructuredText", "Jupyter Book", "Quarto", "LaTeX",
        "LaTeX in two columns", "Letters as macros",
    }  # fmt: skip
    for recipe in recipes.values():
        assert FILE.findall(recipe)
        assert any(command.startswith(("derivations render ", "derivations export ")) for command in commands(recipe))


def test_mkdocs(recipes: dict[str, str], path: None, tmp_path: Path):
    needed("mkdocs", "material", "pymdownx")
    run(recipes["MkDocs"], tmp_path / "notes")
    page = tmp_path / "notes" / "site" / "index.html"
    assert FORMULA in formulas(page, "arithmatex")
    assert "mathjax" in page.read_text(encoding="utf-8")


def test_sphinx_with_myst(recipes: dict[str, str], path: None, tmp_path: Path):
    needed("sphinx", "myst_parser")
    run(recipes["Sphinx with MyST"], tmp_path / "notes")
    page = tmp_path / "notes" / "out" / "index.html"
    assert FORMULA in formulas(page, "math")
    assert 'href="#equation-eq-softmax-jacobian"' in page.read_text(encoding="utf-8")


def test_sphinx_with_restructured_text(recipes: dict[str, str], path: None, tmp_path: Path):
    needed("sphinx")
    run(recipes["Sphinx with reStructuredText"], tmp_path / "notes")
    page = tmp_path / "notes" / "out" / "index.html"
    assert FORMULA in formulas(page, "math")
    assert 'href="#equation-eq-softmax-jacobian"' in page.read_text(encoding="utf-8")


def test_jupyter_book(recipes: dict[str, str], path: None, tmp_path: Path):
    pytest.importorskip("jupyter_book.sphinx", reason="Jupyter Book 1, which is built on Sphinx, is not installed")
    run(recipes["Jupyter Book"], tmp_path / "notes")
    assert FORMULA in formulas(tmp_path / "notes" / "_build" / "html" / "index.html", "math")


def test_a_notebook_of_a_jupyter_book(recipes: dict[str, str], path: None, tmp_path: Path):
    pytest.importorskip("jupyter_book.sphinx", reason="Jupyter Book 1, which is built on Sphinx, is not installed")
    cell = {
        "cell_type": "markdown",
        "metadata": {},
        "source": ["<!-- derivation: softmax.jacobian -->\n", "<!-- end -->\n"],
    }
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
    recipe = recipes["Jupyter Book"].replace("root: index\n", "root: index\nchapters:\n  - file: chapter\n")
    recipe = recipe.replace("title: Notes\n", 'title: Notes\nexecute:\n  execute_notebooks: "off"\n')
    recipe = (
        recipe.replace("render index.md", "render .") + f"\n<!-- file: chapter.ipynb -->\n```json\n{notebook}\n```\n"
    )
    run(recipe, tmp_path / "notes")
    assert FORMULA in formulas(tmp_path / "notes" / "_build" / "html" / "chapter.html", "math")


@pytest.mark.slow
def test_quarto(recipes: dict[str, str], path: None, tmp_path: Path):
    run(recipes["Quarto"], tmp_path / "notes")
    assert "eq-softmax-jacobian" in (tmp_path / "notes" / "notes.html").read_text(encoding="utf-8")


@pytest.mark.latex
def test_latex(recipes: dict[str, str], path: None, tmp_path: Path):
    run(recipes["LaTeX"], tmp_path / "notes")
    assert r"\newlabel{eq:softmax-jacobian}{{1}" in (tmp_path / "notes" / "main.aux").read_text(encoding="utf-8")
    assert "undefined" not in (tmp_path / "notes" / "main.log").read_text(encoding="latin-1").split("Rerun")[-1]


@pytest.mark.latex
def test_latex_in_two_columns(recipes: dict[str, str], path: None, tmp_path: Path):
    run(recipes["LaTeX in two columns"], tmp_path / "notes")
    labels = (tmp_path / "notes" / "paper.aux").read_text(encoding="utf-8")
    assert r"\newlabel{eq:softmax-jacobian}{{1}" in labels
    assert r"\newlabel{eq:gated_feed_forward_gradient}{{3}" in labels
    log = (tmp_path / "notes" / "paper.log").read_text(encoding="latin-1")
    assert "Overfull" not in log
    assert "undefined" not in log.split("Rerun")[-1]


@pytest.mark.latex
def test_letters_as_macros(recipes: dict[str, str], path: None, tmp_path: Path):
    run(recipes["Letters as macros"], tmp_path / "notes")
    assert (tmp_path / "notes" / "letters.pdf").stat().st_size > 10_000


@pytest.mark.slow
def test_a_recipe_that_fails_is_noticed(path: None, tmp_path: Path):
    recipe = "\n<!-- file: a.md -->\n```markdown\n<!-- derivation: softmax.nothing -->\n<!-- end -->\n```\n"
    with pytest.raises(AssertionError, match="the nearest are"):
        run(f"{recipe}\n```bash\npip install x\nderivations render a.md\n```\n", tmp_path / "notes")
