"""What the printers emit is LaTeX for KaTeX and for pdflatex, in every notation."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from derivations.catalogue import layers
from derivations.language.printing.latex import latex_of
from derivations.language.printing.notation import NOTATIONS
from derivations.language.printing.views import latex
from tests.language.printing.printed import ARRAYS, COUNTING, SCALARS

pytestmark = pytest.mark.latex

DOCUMENT = r"""\documentclass{article}
\usepackage{amsmath,amssymb}
\begin{document}
%s
\end{document}
"""


def formulas() -> dict[str, str]:
    cases = [case[0] for case in [*SCALARS, *COUNTING, *ARRAYS]]
    printed = {f"{name} {place}": latex_of(e, name) for name in NOTATIONS for place, e in enumerate(cases)}
    return printed | {f"{name} {layer}": latex(built, name) for name in NOTATIONS for layer, built in layers().items()}


def test_every_notation_renders_in_katex(katex: Callable[[Mapping[str, str]], dict[str, str]]):
    assert katex(formulas()) == {}


@pytest.mark.slow
def test_every_notation_compiles_in_pdflatex(pdflatex: Callable[[Path], str | None], tmp_path: Path):
    display = [rf"\[ {formula} \]" for formula in formulas().values()]
    fragments = [latex(layer, math="equation") for layer in layers().values()]
    document = tmp_path / "notations.tex"
    document.write_text(DOCUMENT % "\n\n".join([*display, *fragments]), encoding="utf-8")
    assert pdflatex(document) is None
