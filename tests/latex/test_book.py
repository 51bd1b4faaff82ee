"""The exported book and its fragments: no line is too wide, no page too long, at the width of a page and a column."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from derivations.catalogue import layers, results
from derivations.language.differentiation.reverse import gradient
from derivations.language.judge.rules import laws
from derivations.language.printing.breaking.atoms import read
from derivations.language.printing.breaking.widths import width
from derivations.language.printing.export import Layout, Pages, pages_of, write_pages
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.page import layer_page, page

pytestmark = [pytest.mark.latex, pytest.mark.slow]

Typeset = Callable[..., str]

PAPER = r"""\documentclass[%s]{article}
\usepackage{amsmath,amssymb}
\usepackage[%s]{geometry}
\begin{document}
%s
\end{document}
"""
PAGES = {"345pt": "", "3.3in": "twocolumn,10pt"}
EXPORTS = [("345pt", "ours"), ("3.3in", "ours"), ("3.3in", "structure")]  # the last one has the longest words
FAULT = re.compile(r"^(?:Overfull \\[hv]box|Missing character|! ).*", re.MULTILINE)


def faults(log: str) -> list[str]:
    """Lines that are too wide, pages that are too long, characters that are lost."""
    return FAULT.findall(log)


LEAD = re.compile(r"Assume|Then|Let|with|(?:Result|Definition|Layer) [\d.]+ .*|\d+ +[A-Z][a-z -]+")


def last_lines(pdf: Path) -> list[str]:
    """The last line of each page, above its number, which a program of Poppler reads."""
    program = shutil.which("pdftotext")
    if program is None:
        pytest.skip("no `pdftotext` on the PATH: install poppler-utils")
    text = subprocess.run([program, "-layout", pdf, "-"], capture_output=True, encoding="utf-8", check=True).stdout
    pages = [page.split("\n") for page in text.split("\f")]
    return [[line.strip() for line in page if line.strip()][-2:][0] for page in pages if any(map(str.strip, page))]


def leads(pdf: Path) -> list[str]:
    """What stands at the foot of a page and belongs to the next one: a heading, or the lead of what follows."""
    return [line for line in last_lines(pdf) if LEAD.fullmatch(line)]


def paper(pages: Pages, sentence: str = "") -> str:
    """A paper of one or of two columns that reads every file by `\\input`, and a sentence among them."""
    width = pages.layout.width
    column = f"textwidth={width}" if width == "345pt" else f"columnsep=0.2in,textwidth={2 * 3.3 + 0.2}in"
    lines = [rf"\input{{latex/{name}.tex}}" for name in pages.tex]
    lines[10:10] = [sentence] * bool(sentence)
    return PAPER % (PAGES[width], column, "\n".join(lines))


@pytest.fixture(scope="module", params=EXPORTS, ids=" ".join)
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Pages]:
    folder = tmp_path_factory.mktemp("exported")
    within, notation = request.param
    pages = pages_of(results(), layers(), notation, layout=Layout(within, label="eq"), rules=laws())
    write_pages(folder, pages)
    return folder, pages


def test_no_line_of_the_book_is_too_wide(exported: tuple[Path, Pages], typeset: Typeset):
    folder, pages = exported
    assert faults(typeset(folder / "derivations.tex")) == []
    assert len(pages.entries) == len(results()) + len(layers())
    assert leads(folder / "derivations.pdf") == []


@pytest.mark.parametrize("lead", ["Assume", r"\textbf{Result 1.2. Softmax}", r"\section{Multi-head}"])
def test_a_lead_at_the_foot_of_a_page_is_found(lead: str, tmp_path: Path, typeset: Typeset):
    document = PAPER % ("10pt", "textwidth=345pt", rf"text\par {lead}\newpage text")
    (tmp_path / "feet.tex").write_text(document, encoding="utf-8")
    typeset(tmp_path / "feet.tex")
    assert len(leads(tmp_path / "feet.pdf")) == 1


def test_no_line_of_a_paper_with_every_fragment_is_too_wide(exported: tuple[Path, Pages], typeset: Typeset):
    """Each file is read by `\\input`, as a paper of one or of two columns reads it."""
    folder, pages = exported
    (folder / "paper.tex").write_text(paper(pages, r"See \eqref{eq:softmax-jacobian}."), encoding="utf-8")
    assert faults(typeset(folder / "paper.tex")) == []


@pytest.mark.parametrize("width", PAGES)
def test_no_line_of_a_gradient_is_too_wide(width: str, tmp_path: Path, typeset: Typeset):
    """The gradients of all layers, which only who asks for them finds in the book: as files of a paper, and there."""
    backward = {f"{name}_gradient": gradient(layer) for name, layer in layers().items()}
    pages = pages_of({}, {name: each for name, each in backward.items() if each.equations}, layout=Layout(width))
    write_pages(tmp_path, pages)
    assert len(pages.tex) == len(layers()) - 1  # positional encoding has none
    (tmp_path / "paper.tex").write_text(paper(pages), encoding="utf-8")
    for document in ("paper.tex", "derivations.tex"):
        assert faults(typeset(tmp_path / document)) == []


def test_a_line_that_is_too_wide_is_found(tmp_path: Path, typeset: Typeset):
    """The check is checked: a formula of 40 terms on one line, and a box that is longer than a page."""
    wide = r"\begin{alignat*}{2} y & = " + " + ".join(f"x_{{{n}}}" for n in range(40)) + r" \end{alignat*}"
    for planted in (wide, r"\vbox{\vspace*{60cm} x}"):
        (tmp_path / "wide.tex").write_text(PAPER % ("10pt", "textwidth=345pt", planted), encoding="utf-8")
        assert len(faults(typeset(tmp_path / "wide.tex"))) == 1


def test_the_macros_of_a_folder_are_loaded_without_a_warning(tmp_path: Path, typeset: Typeset):
    """As docs/render.md says it; a letter that is defined before stays."""
    layout = Layout("3.3in", macros=True)
    write_pages(tmp_path / "column", pages_of({"attention.scores": results()["attention.scores"]}, {}, layout=layout))
    own = r"\newcommand{\dvdk}{d_{\mathrm{key}}}\usepackage{column/derivations}"
    text = PAPER.replace(r"\begin{document}", own + "\n" + r"\begin{document}")
    document = tmp_path / "letters.tex"
    document.write_text(text % ("10pt", "textwidth=3.3in", r"\input{column/latex/attention.scores}"), encoding="utf-8")
    log = typeset(document)
    assert "Warning" not in log
    assert faults(log) == []


def test_citations_and_references_are_found(tmp_path: Path, typeset: Typeset):
    """A book of two topics, with BibTeX: no citation and no reference is undefined, in pdflatex and in lualatex."""
    if shutil.which("bibtex") is None:
        pytest.skip("no `bibtex` on the PATH")
    chosen = {name: result for name, result in results().items() if result.topic in ("dot_product", "memory")}
    write_pages(tmp_path, pages_of(chosen, {"feed_forward": layers()["feed_forward"]}))
    document = tmp_path / "derivations.tex"
    typeset(document)
    run = subprocess.run(["bibtex", "derivations"], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stdout
    assert "Warning" not in run.stdout, run.stdout
    typeset(document)
    for program in ("pdflatex", "lualatex"):
        log = typeset(document, program)
        assert faults(log) == []
        assert "undefined" not in log
        assert "multiply defined" not in log
        assert document.with_suffix(".pdf").stat().st_size > 10_000


@pytest.mark.parametrize("lang", ["zh-Hans", "zh-Hant"])
def test_the_book_is_set_in_chinese(lang: str, tmp_path: Path, typeset: Typeset):
    """No character is lost and no line too wide, by lualatex with the package ctex."""
    if shutil.which("kpsewhich") is None:
        pytest.skip("no `kpsewhich` on the PATH")
    for package in ("ctex.sty", "luatexja.sty", "bsmi00lp.ttf"):
        if not subprocess.run(["kpsewhich", package], capture_output=True, check=False).stdout:
            pytest.skip(f"TeX does not find {package}: install texlive-lang-chinese and texlive-lang-japanese")
    chosen = {name: result for name, result in results().items() if result.topic in ("softmax", "multi_head")}
    for within in PAGES:
        write_pages(tmp_path, pages_of(chosen, layers(), lang=lang, layout=Layout(within)))
        assert faults(typeset(tmp_path / "derivations.tex", "lualatex")) == []


def printed_formulas() -> Iterator[str]:
    """Every formula of the catalogue, as it is printed in one line."""
    pages = [page(result, LatexPrinter, "ours", steps=True) for result in results().values()]
    pages += [layer_page(layer, LatexPrinter, "ours") for layer in layers().values()]
    for each in pages:
        for row in each.rows:
            yield from filter(None, (row.left, row.right, row.beside))
        for note in each.notes:
            yield from (formula for formula, _ in note.items if formula)


def test_widths_are_estimated_as_tex_sets_them(tmp_path: Path, typeset: Typeset):
    """At most 3 points too little, which the lines leave free; less than a twentieth too much on average."""
    formulas = list(dict.fromkeys(printed_formulas()))
    boxes = [rf"\setbox0\hbox{{$\displaystyle {formula}$}}\typeout{{W \the\wd0}}" for formula in formulas]
    preamble = r"\setcounter{MaxMatrixCols}{20}" + "\n"
    text = PAPER % ("10pt", "textwidth=345pt", preamble + "\n".join(boxes) + "\nx")
    (tmp_path / "widths.tex").write_text(text, encoding="utf-8")
    set_widths = [float(each) for each in re.findall(r"^W ([\d.]+)pt", typeset(tmp_path / "widths.tex"), re.MULTILINE)]
    assert len(set_widths) == len(formulas) > 2000
    estimates = [width(read(formula)) for formula in formulas]
    assert max(wide - found for wide, found in zip(set_widths, estimates, strict=True)) < 3.0
    assert sum(estimates) < 1.05 * sum(set_widths)
