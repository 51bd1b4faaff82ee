"""Formulas compile in pdflatex, which is what papers are set with, and what does not compile is refused."""

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
