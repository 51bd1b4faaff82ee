r"""The recipes of docs/render.md: a formula that was filled in arrives in what other tools build from the document.

The tools are called as their users call them; a recipe whose tool is not installed is skipped.
"""

import json
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from derivations.cli.rendering import render_command

BLOCK = "<!-- derivation: softmax.jacobian -->\n<!-- end -->\n"
FORMULA = r"\frac{\partial y_{i}}{\partial x_{k}} = y_{i} (\delta_{ik} - y_{k})"
CONFIGURATION = """
project = "p"
extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "amsmath"]
"""


def filled(folder: Path, files: dict[str, str], *options: str) -> None:
    """Write files of a project, and fill those that have blocks."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    documents = [str(folder / name) for name, text in files.items() if "derivation:" in text]
    for check in ([], ["--check"]):
        result = CliRunner().invoke(render_command, [*documents, *options, *check])
        assert result.exit_code == 0, result.output


def built(folder: Path, *command: str) -> None:
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr


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


def test_mkdocs(tmp_path: Path):
    for module in ("mkdocs", "material", "pymdownx"):
        pytest.importorskip(module)
    settings = "site_name: p\ntheme: {name: material, font: false}\n"
    settings += "markdown_extensions:\n  - pymdownx.arithmatex:\n      generic: true\n"
    filled(tmp_path, {"mkdocs.yml": settings, "docs/index.md": f"# Page\n\nText\n\n{BLOCK}\nText\n"})
    built(tmp_path, sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet")
    text = formulas(tmp_path / "site" / "index.html", "arithmatex")
    assert FORMULA in text and r"y = \operatorname{softmax}(x)" in text


def test_sphinx_with_myst(tmp_path: Path):
    for module in ("sphinx", "myst_parser"):
        pytest.importorskip(module)
    page = f"# Page\n\n{BLOCK}\nSee {{eq}}`eq-softmax-jacobian`.\n"
    filled(tmp_path, {"conf.py": CONFIGURATION, "index.md": page}, "--label", "eq")
    built(tmp_path, sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", ".", "out")
    assert FORMULA in formulas(tmp_path / "out" / "index.html", "math")
    assert 'href="#equation-eq-softmax-jacobian"' in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_sphinx_with_restructured_text(tmp_path: Path):
    pytest.importorskip("sphinx")
    page = "Page\n====\n\n.. derivation: softmax.jacobian label=eq\n.. end\n\nSee :eq:`eq-softmax-jacobian`.\n"
    filled(tmp_path, {"conf.py": 'extensions = ["sphinx.ext.mathjax"]\n', "index.rst": page})
    built(tmp_path, sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", ".", "out")
    text = formulas(tmp_path / "out" / "index.html", "math")
    assert FORMULA in text and r"y = \operatorname{softmax}(x)" in text
    assert 'href="#equation-eq-softmax-jacobian"' in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_jupyter_book(tmp_path: Path):
    pytest.importorskip("jupyter_book.sphinx", reason="Jupyter Book 1, which is built on Sphinx, is not installed")
    source = [f"{line}\n" for line in ("# Page", "", *BLOCK.splitlines())]
    cell = {"cell_type": "markdown", "metadata": {}, "source": source}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
    contents = "format: jb-book\nroot: index\nchapters:\n  - file: chapter\n"
    settings = 'title: p\nauthor: a\nexecute:\n  execute_notebooks: "off"\n'
    files = {"_toc.yml": contents, "_config.yml": settings, "index.md": f"# Book\n\n{BLOCK}", "chapter.ipynb": notebook}
    filled(tmp_path, files)
    built(tmp_path, str(Path(sys.executable).with_name("jupyter-book")), "build", ".")
    for page in ("index", "chapter"):
        assert FORMULA in formulas(tmp_path / "_build" / "html" / f"{page}.html", "math")


@pytest.mark.latex
def test_latex(tmp_path: Path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    main = "\\documentclass{article}\n\\usepackage{amsmath,amssymb}\n\\begin{document}\n\\input{softmax}\n"
    main += "See \\eqref{eq:softmax-jacobian}.\n\\end{document}\n"
    part = "Text\n% derivation: softmax.jacobian\n% end\n"
    filled(tmp_path, {"main.tex": main, "softmax.tex": part}, "--label", "eq")
    for _ in range(2):
        built(tmp_path, "pdflatex", "-halt-on-error", "-interaction=nonstopmode", "main.tex")
    assert r"\newlabel{eq:softmax-jacobian}{{1}" in (tmp_path / "main.aux").read_text(encoding="utf-8")
    assert "undefined" not in (tmp_path / "main.log").read_text(encoding="latin-1")
