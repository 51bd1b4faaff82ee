"""The preface of the book: what evidence means, the conventions, the letters, and the rules that steps name."""

from collections.abc import Iterator, Mapping

from derivations.language.printing.alphabet import CONVENTIONS, LETTERS
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.notation import Notation
from derivations.language.printing.titles import marked, printed_title
from derivations.language.printing.views import escaped_latex
from derivations.language.results.levels import LEVELS

__all__ = ["preface"]

_SHOWN = ("definition", "proved")  # the levels of the results of the catalogue
_GENERAL = ""  # the letters that mean the same in every layer


def preface(using: str | Notation, rules: Mapping[str, str]) -> str:
    """Return the preface as LaTeX; `rules` gives the law of each rule by its name. The words are English."""
    printer = LatexPrinter(using)
    parts = [r"\section*{Evidence}", r"\begin{assumptions}"]
    parts += [rf"  \item \textit{{{level}}}: {escaped_latex(LEVELS[level])}" for level in _SHOWN]
    parts += [r"\end{assumptions}", r"\section*{Letters}", *_letters(printer), "", *_conventions(printer)]
    if rules:
        parts += [r"\section*{Rules}", *(_rule(name, law, printer) for name, law in rules.items())]
    return "\n".join(parts) + "\n"


def _letters(printer: LatexPrinter) -> Iterator[str]:
    for name, what in LETTERS[_GENERAL]:
        yield rf"\noindent\makebox[4em][l]{{${printer.named(name)}$}}{escaped_latex(what)}\par"


def _conventions(printer: LatexPrinter) -> Iterator[str]:
    yield from (_said(each, printer) for each in CONVENTIONS)


def _rule(name: str, law: str, printer: LatexPrinter) -> str:
    return rf"{{\raggedright\hangindent=2em \textit{{{name}}}: {_said(law, printer)}\par}}"


def _said(typed: str, printer: LatexPrinter) -> str:
    return marked(printed_title(typed, printer), "${}$".format, escaped_latex)
