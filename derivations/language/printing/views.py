r"""Views: a result, a claim, a layer or an expression as LaTeX, Markdown or text.

Without `math`, `latex` returns one formula without delimiters. With it, `latex` returns a fragment: a title, the
display, and sentences with the definitions, the assumptions and the source. `math` chooses the delimiters of formulas:

    dollars     $$ ... $$ and $ ... $
    brackets    \[ ... \] and \( ... \)
    equation    an equation environment, and $ ... $
    fence       ```math ... ``` and $` ... `$, for Markdown on GitHub only
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from derivations.language.arrays.shown import view
from derivations.language.layers.layer import Equation, Layer
from derivations.language.printing.latex import LatexPrinter, latex_of
from derivations.language.printing.notation import Notation
from derivations.language.printing.page import Note, Page, Row, claim_page, display_ranges, layer_page, page, table
from derivations.language.printing.text import TextPrinter, plain
from derivations.language.printing.words import word
from derivations.language.results.derivation import Claim, Derivation

__all__ = ["MATH", "latex", "markdown", "table", "text"]

Printable: TypeAlias = Any  # a Derivation, a Claim, a Layer or an expression

MATH = {  # display and inline delimiters
    "dollars": ("$$\n{}\n$$", "${}$"),
    "brackets": ("\\[\n{}\n\\]", r"\({}\)"),
    "equation": ("\\begin{{equation}}\n{}\n\\end{{equation}}", "${}$"),
    "fence": ("```math\n{}\n```", "$`{}`$"),
}
# the comma, the full stop and the space after the first word, by language
_STOPS = {"en": (", ", ".", " "), "zh-Hant": ("，", "。", ""), "zh-Hans": ("，", "。", "")}


@view("latex")
def latex(
    shown: Printable, using: str | Notation = "ours", *, steps: bool = False, math: str | None = None, lang: str = "en"
) -> str:
    r"""Return one formula without delimiters, or with `math` a LaTeX fragment ready to `\input`.

    Raises `ValueError` for delimiters other than dollars, brackets or equation.
    """
    if math is None:
        return _formula(shown, using, steps, lang)
    display, inline = _delimiters(math, ("dollars", "brackets", "equation"))
    if isinstance(shown, Derivation | Layer):
        return _fragment(_page(shown, LatexPrinter, using, steps), r"\paragraph{{{}.}}", display, inline, _tex, lang)
    return display.format(_formula(shown, using, steps, lang)) + "\n"


@view("markdown")
def markdown(
    shown: Printable, using: str | Notation = "ours", *, steps: bool = False, math: str = "dollars", lang: str = "en"
) -> str:
    """Return a Markdown fragment: a heading, the display and the sentences below it.

    Raises `ValueError` for unknown delimiters.
    """
    display, inline = _delimiters(math, tuple(MATH))
    if isinstance(shown, Derivation | Layer):
        return _fragment(_page(shown, LatexPrinter, using, steps), "### {}", display, inline, _md, lang)
    return display.format(_formula(shown, using, steps, lang)) + "\n"


@view("text")
def text(shown: Printable, using: str | Notation = "ours", *, steps: bool = False, lang: str = "en") -> str:
    """Return plain ASCII text (except titles and words), with indices counted as in LaTeX."""
    if not isinstance(shown, Derivation | Claim | Layer):
        return TextPrinter(using).doprint(shown)
    printed = _page(shown, TextPrinter, using, steps)
    lines = [f"{printed.title} ({printed.id})"] if printed.title else []
    lines += [_text_row(row) for row in printed.rows]
    lines += [_sentence(note, plain, str, lang) for note in printed.notes]
    return "\n".join(lines) + "\n"


def _page(shown: Printable, printers: type[LatexPrinter], using: str | Notation, steps: bool) -> Page:
    if isinstance(shown, Derivation):
        return page(shown, printers, using, steps=steps)
    if isinstance(shown, Layer):
        return layer_page(shown, printers, using)
    return claim_page(shown, printers, using, steps=steps)


def _formula(shown: Printable, using: str | Notation, steps: bool, lang: str) -> str:
    if isinstance(shown, Equation):
        lines = LatexPrinter(using).lines(shown)
        return _display([Row(line.left, "=", line.right, line.ranges) for line in lines], "", lang)
    if not isinstance(shown, Derivation | Claim | Layer):
        return latex_of(shown, using)
    ranges = display_ranges(shown, LatexPrinter, using) if isinstance(shown, Derivation) else ""
    return _display(_page(shown, LatexPrinter, using, steps).rows, ranges, lang)


def _display(rows: Sequence[Row], ranges: str, lang: str) -> str:
    """Return rows as one formula; several rows are aligned at their relations, with remarks to the right."""
    printer = LatexPrinter()
    if len(rows) == 1 and not rows[0].words:
        row = rows[0]
        beside = "".join(rf", \qquad {part}" for part in (row.beside, ranges) if part)
        return f"{row.left} {row.relation} {row.right}{beside}"
    lines = []
    for row in rows:
        words = printer.words(word("if", lang) if row.words == "if" else row.words) if row.words else ""
        remark = rf"{words}\ {row.beside}" if words and row.beside else words or row.beside
        lines.append(f"{row.left} &{row.relation} {row.right}".rstrip() + (f" && {remark}" if remark else ""))
    if ranges:
        lines.append(f"& && {ranges}")
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _fragment(printed: Page, heading: str, display: str, inline: str, escape: Callable[[str], str], lang: str) -> str:
    """Return heading, display and notes, separated by blank lines."""
    parts = [heading.format(escape(printed.title)), display.format(_display(printed.rows, "", lang))]
    parts += [_sentence(note, inline.format, escape, lang) for note in printed.notes]
    return "\n\n".join(parts) + "\n"


def _sentence(note: Note, inline: Callable[[str], str], escape: Callable[[str], str], lang: str) -> str:
    lead, (comma, stop, space) = word(note.lead, lang), _STOPS[lang]
    items = [
        f"{inline(formula)} ({escape(words)})" if formula and words else inline(formula) if formula else escape(words)
        for formula, words in note.items
    ]
    colon = (": " if lang == "en" else "：") if note.lead == "source" else space
    body = comma.join(items)
    return lead[:1].upper() + lead[1:] + colon + body + ("" if body.endswith(stop) else stop)


def _text_row(row: Row) -> str:
    formula = plain(f"{row.left} {row.relation} {row.right}".rstrip())
    words = row.words if row.words in ("", "if") else f"[{row.words}]"
    remark = f"{words} {plain(row.beside)}".strip()
    return f"    {formula if row.left else '  ' + formula.lstrip()}" + (f"    {remark}" if remark else "")


def _delimiters(math: str, allowed: tuple[str, ...]) -> tuple[str, str]:
    if math not in allowed:
        raise ValueError(f"formulas cannot be marked with {math!r} here; choose one of {', '.join(allowed)}")
    return MATH[math]


def _tex(words: str) -> str:
    signs = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": "$<$", ">": "$>$"}
    return "".join(signs.get(c, f"\\{c}" if c in "_&%$#{}" else c) for c in words)


def _md(words: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#$|" else c for c in words)
