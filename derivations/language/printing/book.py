r"""The book: all results and layers as one LaTeX document for printing.

Definition   a title, the contents, a preface, a section for each topic, numbered results with what they define,
             assume and state, their proofs step by step, the layers, an index of letters, and the references by BibTeX
Result       LaTeX for pdflatex and lualatex; Chinese is set by lualatex with the package ctex
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from types import MappingProxyType

from derivations.language.printing.alphabet import meaning
from derivations.language.printing.breaking.displays import display
from derivations.language.printing.fragments import definitions, listed
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.letters import Name
from derivations.language.printing.notation import Notation
from derivations.language.printing.order import natural
from derivations.language.printing.page import layer_title
from derivations.language.printing.preface import preface
from derivations.language.printing.references import RULES, cited
from derivations.language.printing.statement import Statement
from derivations.language.printing.titles import marked
from derivations.language.printing.views import escaped_latex
from derivations.language.printing.words import language, word

__all__ = ["book", "entry", "section_title"]

_INLINE = "${}$"
# the id of a result, as LaTeX writes it
_ID = re.compile(r"\b[a-z]+(?:\\?_[a-z0-9]+)*\.[a-z][a-z0-9]*(?:\\?_[a-z0-9]+)*(?!\.?\w)")
_SHOWN = 6  # results that the index names for a letter
# amsmath limits matrices to 10 columns unless MaxMatrixCols is raised.
_PREAMBLE = r"""\documentclass[10pt]{{article}}
\usepackage{{iftex}}
\ifPDFTeX\usepackage[T1]{{fontenc}}\fi
{fonts}
\usepackage{{amsmath,amssymb}}
\usepackage[textwidth={width},textheight=0.8\paperheight]{{geometry}}
\usepackage[round]{{natbib}}
\usepackage[hidelinks,bookmarksdepth=1]{{hyperref}}
\newcommand{{\doi}}[1]{{\href{{https://doi.org/#1}}{{\nolinkurl{{doi:#1}}}}}}
\allowdisplaybreaks
\setcounter{{MaxMatrixCols}}{{20}}
\sloppy
\raggedbottom
\newcounter{{result}}[section]
\renewcommand{{\theresult}}{{\thesection.\arabic{{result}}}}
\setlength{{\parindent}}{{0pt}}
\setlength{{\parskip}}{{0.3\baselineskip}}
% \known{{label}}{{if this document has it}}{{otherwise}}
\makeatletter\newcommand{{\known}}[3]{{\@ifundefined{{r@#1}}{{#3}}{{#2}}}}
% no page ends after the lead of a list, or in the few lines from \together on, unless a heading stands before them
\@beginparpenalty=10000 \clubpenalty=10000 \widowpenalty=10000
\newcommand{{\together}}{{\par\if@nobreak\else\vskip 0pt plus 7\baselineskip\penalty-100\vskip 0pt plus -7\baselineskip
  \vskip 7\baselineskip\penalty9999\vskip -7\baselineskip\vskip 0pt\fi}}\makeatother
\newcommand{{\resultref}}[2]{{\known{{#1}}{{\hyperref[#1]{{{result}~\ref*{{#1}}}}}}{{\texttt{{#2}}}}}}
\newenvironment{{result}}[3]{{\together\addvspace{{1.5\bigskipamount}}\refstepcounter{{result}}\label{{#3}}%
  \raggedright{{\interlinepenalty=10000\bfseries #1~\theresult.\enspace #2{stop}}}\nobreak\ignorespaces}}{{\par}}
\newenvironment{{steps}}[1]{{\par\raggedright\textit{{#1{stop}}}\enspace\ignorespaces}}{{\par}}
\newenvironment{{assumptions}}{{\begin{{itemize}}\setlength{{\itemsep}}{{0pt}}\setlength{{\parskip}}{{0pt}}}}%
  {{\end{{itemize}}}}
\title{{{title}}}
\author{{}}
\date{{}}
{names}
\begin{{document}}
\maketitle
{{\setlength{{\parskip}}{{0pt}}\tableofcontents}}
"""
_END = r"""
\bibliographystyle{plainnat}
\bibliography{references}
\end{document}
"""


def entry(parts: Statement, width: float, lang: str = "en") -> str:
    """Return a result with its proof, or a layer, as a numbered entry of the book."""
    kind = word("Layer" if not parts.proofs else "Definition" if parts.naming else "Result", lang)
    title = marked(parts.title, _INLINE.format, escaped_latex)
    body = [] if parts.proofs else [display(parts.claims, width)]
    items = [*parts.members, parts.ranges] if parts.ranges else [*parts.members]
    if parts.definitions or items:
        lead = "let" if parts.proofs else "where"
        body.append(definitions(lead, parts.definitions, items, width, _INLINE, lang))
    if parts.assumptions:
        body.append(_assumptions(parts.assumptions, width, lang))
    if parts.proofs:
        then = word("then", lang)
        # a definition has no proof: its lines stand in the statement
        rows = [replace(row, beside="") for rows in parts.proofs for row in rows] if parts.naming else parts.claims
        body.append((then[:1].upper() + then[1:] + "\n") * bool(body) + display(rows, width))
    if parts.source:
        body.append(_source(parts.source, lang))
    statement = "\n\n".join(body).replace("\n\n\\begin{alignat", "\n\\begin{alignat")
    apart = (
        "" if statement.startswith(r"\begin") else r"\par\nobreak"
    )  # a display belongs to the paragraph of the title
    proof = _proof(parts, width, lang) if parts.proofs and not parts.naming else ""
    return f"\\begin{{result}}{{{kind}}}{{{title}}}{{{_label(parts.id)}}}{apart}\n{statement}\n\\end{{result}}\n{proof}"


def _label(name: str) -> str:
    return f"res:{name.replace('.', '-')}"


def _assumptions(assumptions: Sequence[tuple[str, str]], width: float, lang: str) -> str:
    lead = word("assume", lang)
    items = [rf"  \item {listed(formula, _referred(words), 0.8 * width, _INLINE)}" for formula, words in assumptions]
    return "\n".join([lead[:1].upper() + lead[1:], r"\begin{assumptions}", *items, r"\end{assumptions}"])


def _source(source: str, lang: str) -> str:
    signs = language(lang)
    return f"{word('Source', lang)}{signs.colon}{cited(source, partial(_prose, lang=lang), lang)}{signs.stop}"


def _prose(words: str, lang: str) -> str:
    """Return the words of a source in LaTeX; results and the gradient rules become references to their numbers."""
    if words == word(RULES, lang):
        there = word("the rules of section {}", lang).format(r"\ref{sec:gradient}")
        return rf"\known{{sec:gradient}}{{{there}}}{{{escaped_latex(words)}}}"
    return _referred(escaped_latex(words))


def _referred(latex: str) -> str:
    """Return LaTeX text with every id of a result replaced by a reference to it."""

    def reference(found: re.Match[str]) -> str:
        plain = found[0].replace("\\", "")
        return rf"\resultref{{{_label(plain)}}}{{{found[0]}}}"

    return _ID.sub(reference, latex)


def _proof(parts: Statement, width: float, lang: str) -> str:
    """Return the proof: each chain with more than one step, and the rules of the others in a sentence."""
    long = [rows for rows in parts.proofs if len(rows) > 1]
    short = dict.fromkeys(rows[0].beside for rows in parts.proofs if len(rows) == 1)
    signs = language(lang)
    by = word("by {}", lang).format(signs.comma.join(rf"${rule}$" for rule in short))
    texts = [by[:1].upper() + by[1:] + signs.stop] if short else []
    texts += [display(rows, width) for rows in long]
    body = "\n".join(texts)
    return f"\\begin{{steps}}{{{word('Proof', lang)}}}\n{body}\n\\end{{steps}}\n"


def book(
    entries: Mapping[str, str],
    letters: Mapping[str, Sequence[str]],
    using: str | Notation,
    width: str,
    lang: str = "en",
    *,
    macros: bool = False,
    rules: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the book as a LaTeX document.

    `entries` and `letters` map each name, `layer-NAME` for a layer, to its entry and to the letters in it.

    `rules` gives the law of each rule, for the preface.
    """
    title, chosen = word("The formulas of the Transformer", lang), language(lang)
    fonts = chosen.fonts
    if macros:
        fonts += "\n\\usepackage{derivations} % after definitions of your own: it leaves these alone"
    texts = [
        _PREAMBLE.format(
            fonts=fonts, stop=chosen.stop, width=width, title=title, names=_names(lang), result=word("Result", lang)
        )
    ]
    texts += [preface(using, rules)] if lang == "en" else []  # its words have no messages
    # the catalogue lists the results of a topic together; layer-NAME counts as the topic `layer`
    for topic, names in groupby(entries, key=lambda name: name.partition(".")[0].partition("-")[0]):
        texts.append(f"\n\\section{{{section_title(topic, lang)}}}\\label{{sec:{topic}}}\n")
        texts += [entries[name] for name in names]
    return "\n".join([*texts, _index(letters, using, lang), _END])


def section_title(topic: str, lang: str) -> str:
    """Return the heading of the results of a topic, or of the layers."""
    return word("Layers", lang) if topic == "layer" else layer_title(topic, lang)


def _names(lang: str) -> str:
    """Return LaTeX commands that translate the headings that LaTeX prints by itself."""
    words = {"contentsname": "Contents", "refname": "References"}
    return "\n".join(rf"\renewcommand{{\{macro}}}{{{word(english, lang)}}}" for macro, english in words.items())


def _index(letters: Mapping[str, Sequence[str]], using: str | Notation, lang: str) -> str:
    """Return the index: each letter with the first few results and layers in which it occurs."""
    printer = LatexPrinter(using)
    places: dict[str, list[str]] = {}
    meant: dict[str, dict[str, None]] = {}
    for name, own in letters.items():
        for letter in own:
            # under the printed letter: two of our names that print alike are one entry for the reader
            printed = _letter(letter, printer)
            places.setdefault(printed, []).append(_label(name))
            meant.setdefault(printed, {})[meaning(letter) * (lang == "en")] = None  # its words have no messages
    heading = word("Index of letters", lang)
    lines = [f"\n\\section*{{{heading}}}", rf"\addcontentsline{{toc}}{{section}}{{{heading}}}"]
    for letter in sorted(places, key=_alphabetical):
        what = "".join(meant[letter]) if len(meant[letter]) == 1 else ""  # not of a letter that stands for two names
        lines.append(_indexed(letter, what, places[letter], lang))
    return "\n".join(lines)


def _letter(name: str, printer: LatexPrinter) -> str:
    printed: Name = printer.notation.of(name)
    return printed.latex()


def _alphabetical(letter: str) -> tuple[str, object]:
    bare = letter.replace("\\mathrm", "").replace("\\hat", "").lstrip("\\{")
    return bare[:1].lower(), natural(bare)


def _indexed(letter: str, what: str, labels: Iterable[str], lang: str) -> str:
    """Return an entry of the index: a letter, its meaning, and where it occurs."""
    found = list(labels)
    shown = ", ".join(rf"\ref{{{label}}}" for label in found[:_SHOWN])
    if len(found) > _SHOWN:
        shown = word("{} and {} more", lang).format(shown, len(found) - _SHOWN)
    said = f"{escaped_latex(what)}: " * bool(what)
    return rf"{{\raggedright\hangindent=6em \makebox[6em][l]{{${letter}$}}{said}{shown}\par}}"
