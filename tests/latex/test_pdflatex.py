"""The exported document compiles in pdflatex, which is what papers are set with."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.latex, pytest.mark.slow]

Pdflatex = Callable[[Path], str | None]

DOCUMENT = r"""\documentclass{article}
\usepackage{amsmath}
\begin{document}
\[ %s \]
\end{document}
"""


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """The folder that `derivations export` writes."""
    folder = tmp_path_factory.mktemp("exported")
    command = [sys.executable, "-m", "derivations.cli", "export", str(folder)]
    run = subprocess.run(command, cwd=repository, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stderr
    return folder


def test_the_exported_document_compiles(pdflatex: Pdflatex, exported: Path):
    assert pdflatex(exported / "derivations.tex") is None
    assert (exported / "derivations.pdf").stat().st_size > 10_000


def test_one_broken_formula_breaks_the_exported_document(pdflatex: Pdflatex, exported: Path):
    text = (exported / "derivations.tex").read_text(encoding="utf-8")
    assert text.count(r"\end{document}") == 1
    broken = exported / "broken.tex"
    broken.write_text(text.replace(r"\end{document}", "\\[ \\frac{1}{ \\]\n\\end{document}"), encoding="utf-8")
    assert pdflatex(broken) is not None


def test_a_sound_formula_passes(pdflatex: Pdflatex, tmp_path: Path):
    document = tmp_path / "document.tex"
    document.write_text(DOCUMENT % r"y_{i} = \frac{1}{1 + \exp\left(-x_{i}\right)}", encoding="utf-8")
    assert pdflatex(document) is None


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        (r"\frac{1}{", "!"),
        (r"\softmaxx{x}", "Undefined control sequence"),
        (r"\text{d_model}", "Missing $ inserted"),
        (r"\begin{align} a &= b \end{align}", "Erroneous nesting of equation structures"),
        ("x\n\ny", "Missing $ inserted"),
        (r"\text{\char200}", "Missing character"),
        (r"x \text{ of \ref{nowhere}}", "undefined"),
    ],
)
def test_a_broken_formula_is_refused(pdflatex: Pdflatex, tmp_path: Path, formula: str, complaint: str):
    document = tmp_path / "document.tex"
    document.write_text(DOCUMENT % formula, encoding="utf-8")
    assert complaint in (pdflatex(document) or "")
