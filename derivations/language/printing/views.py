r"""Views: a result, a claim, a layer or an expression as LaTeX, Markdown or text.

Without `math`, `latex` returns one formula without delimiters, with the ranges of its indices and what it assumes. With
it, `latex` returns a fragment: a title, the display, and sentences with definitions, assumptions and source. `math`
chooses the delimiters of formulas:

    dollars     $$ ... $$ and $ ... $
    brackets    \[ ... \] and \( ... \)
    equation    an equation environment, and $ ... $
    fence       ```math ... ``` and $` ... `$, for Markdown on GitHub only
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from derivations.language.arrays.shown import view
from derivations.language.layers.layer import Equation, Layer
from derivations.language.printing.github import for_github
from derivations.language.printing.latex import LatexPrinter, latex_of
from derivations.language.printing.notation import Notation
from derivations.language.printing.page import (
    Note,
    Page,
    Printers,
    Row,
    claim_page,
    display_conditions,
    layer_page,
    page,
    printer_for,
    table,
)
from derivations.language.printing.text import TextPrinter, plain
from derivations.language.printing.titles import marked
from derivations.language.printing.words import language, word
from derivations.language.results.derivation import Claim, Derivation
from derivations.language.results.titles import title_parts

__all__ = [
    "MATH", "delimiters", "display_of", "escaped_latex", "escaped_markdown", "latex", "markdown", "page_as_markdown",
    "table", "text",
]  # fmt: skip

Printable: TypeAlias = Any  # a Derivation, a Claim, a Layer or an expression

Delimit: TypeAlias = Callable[[str], str]  # a formula between its delimiters

MATH = {  # display and inline delimiters
    "dollars": ("$$\n{}\n$$", "${}$"),
    "brackets": ("\\[\n{}\n\\]", r"\({}\)"),
    "equation": ("\\begin{{equation}}\n{}\n\\end{{equation}}", "${}$"),
    "fence": ("```math\n{}\n```", "$`{}`$"),
}


@view("latex")
def latex(
    shown: Printable, using: str | Notation = "ours", *, steps: bool = False, math: str | None = None, lang: str = "en"
) -> str:
    r"""Return one formula without delimiters, or with `math` a LaTeX fragment ready to `\input`.

    Raises `ValueError` for delimiters other than dollars, brackets or equation.
    """
    if math is None:
        return _formula(shown, using, steps, lang)
    display, inline = delimiters(math, ("dollars", "brackets", "equation"))
    if isinstance(shown, Derivation | Layer):
        heading = r"\paragraph{{{}" + language(lang).stop + "}}"
        printed = _page(shown, partial(LatexPrinter, lang=lang), using, steps)
        return _fragment(printed, heading, display, inline, escaped_latex, lang)
    return display(_formula(shown, using, steps, lang)) + "\n"


@view("markdown")
def markdown(
    shown: Printable, using: str | Notation = "ours", *, steps: bool = False, math: str = "dollars", lang: str = "en"
) -> str:
    """Return a Markdown fragment: a heading, the display and the sentences below it.

    Raises `ValueError` for unknown delimiters.
    """
    if isinstance(shown, Derivation | Layer):
        return page_as_markdown(_page(shown, partial(LatexPrinter, lang=lang), using, steps), math, lang)
    display, _ = delimiters(math)
    return display(_formula(shown, using, steps, lang)) + "\n"


def page_as_markdown(printed: Page, math: str = "dollars", lang: str = "en") -> str:
    """Return the Markdown of a page whose formulas are printed already, as `markdown` does."""
    display, inline = delimiters(math)
    return _fragment(printed, "### {}", display, inline, escaped_markdown, lang)


@view("text")
def text(shown: Printable, using: str | Notation = "ours", *, steps: bool = False, lang: str = "en") -> str:
    """Return plain ASCII text (except titles and words), with indices counted as in LaTeX."""
    if not isinstance(shown, Derivation | Claim | Layer):
        return TextPrinter(using, lang=lang).doprint(shown)
    printed = _page(shown, partial(TextPrinter, lang=lang), using, steps)
    lines = [f"{printed.title} ({printed.id})" if printed.id else printed.title] if printed.title else []
    lines += [_text_row(row) for row in printed.rows]
    lines += [_sentence(note, plain, str, lang) for note in printed.notes]
    return "\n".join(lines) + "\n"


def _page(shown: Printable, printers: Printers, using: str | Notation, steps: bool) -> Page:
    if isinstance(shown, Derivation):
        return page(shown, printers, using, steps=steps)
    if isinstance(shown, Layer):
        return layer_page(shown, printers, using)
    return claim_page(shown, printers, using, steps=steps)


def _formula(shown: Printable, using: str | Notation, steps: bool, lang: str) -> str:
    if isinstance(shown, Equation):
        lines = LatexPrinter(using, lang=lang).lines(shown)
        return display_of([Row(line.left, "=", line.right, line.ranges) for line in lines])
    if not isinstance(shown, Derivation | Claim | Layer):
        return latex_of(shown, using, lang=lang)
    printers = partial(LatexPrinter, lang=lang)
    rows = _page(shown, printers, using, steps).rows
    if not isinstance(shown, Derivation):
        return display_of(rows)
    return display_of(rows, display_conditions(shown, printer_for(shown, printers, using)))


def display_of(rows: Sequence[Row], conditions: Sequence[str] = ()) -> str:
    """Return rows as one formula; several rows are aligned at their relations, with remarks to the right.

    `conditions`, of all rows, stand after a single one, and below several.
    """
    printer = LatexPrinter()
    if len(rows) == 1 and not rows[0].words:
        row = rows[0]
        beside = "".join(rf", \qquad {part}" for part in (row.beside, *conditions) if part)
        return f"{row.left} {row.relation} {row.right}{beside}"
    lines = []
    for row in rows:
        words = printer.words(row.words) if row.words else ""
        remark = rf"{words}\ {row.beside}" if words and row.beside else words or row.beside
        lines.append(f"{row.left} &{row.relation} {row.right}".rstrip() + (f" && {remark}" if remark else ""))
    lines += [f"& && {part}" for part in conditions]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _fragment(
    printed: Page, heading: str, display: Delimit, inline: Delimit, escape: Callable[[str], str], lang: str
) -> str:
    """Return heading, display and notes, separated by blank lines."""
    parts = [heading.format(marked(printed.heading, inline, escape)), display(display_of(printed.rows))]
    parts += [_sentence(note, inline, escape, lang) for note in printed.notes]
    return "\n\n".join(parts) + "\n"


def _sentence(note: Note, inline: Callable[[str], str], escape: Callable[[str], str], lang: str) -> str:
    lead, signs = word(note.lead, lang), language(lang)
    texts = ((formula, marked(title_parts(words), inline, escape)) for formula, words in note.items)
    items = [
        f"{inline(formula)} ({words})" if formula and words else inline(formula) if formula else words
        for formula, words in texts
    ]
    between = signs.colon if note.lead == "Source" else signs.space
    body = signs.comma.join(items)
    return lead[:1].upper() + lead[1:] + between + body + ("" if body.endswith(signs.stop) else signs.stop)


def _text_row(row: Row) -> str:
    formula = plain(f"{row.left} {row.relation} {row.right}".rstrip())
    # words alone are the name of a rule; words before a formula, such as "if", need no brackets
    words = f"[{row.words}]" if row.words and not row.beside else row.words
    remark = f"{words} {plain(row.beside)}".strip()
    return f"    {formula if row.left else '  ' + formula.lstrip()}" + (f"    {remark}" if remark else "")


def delimiters(math: str, allowed: Sequence[str] = tuple(MATH)) -> tuple[Delimit, Delimit]:
    """Return two functions that put delimiters around a displayed formula and around an inline formula.

    Raises `ValueError` for unknown delimiters, or ones that are not allowed here.
    """
    if math not in allowed:
        raise ValueError(f"formulas cannot be marked with {math!r} here; choose one of {', '.join(allowed)}")
    display, inline = MATH[math]
    if math == "fence":
        return lambda formula: display.format(for_github(formula)), lambda formula: inline.format(for_github(formula))
    return display.format, inline.format


def escaped_latex(words: str) -> str:
    """Return words with the special characters of LaTeX escaped."""
    signs = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": "$<$", ">": "$>$"}
    return "".join(signs.get(c, f"\\{c}" if c in "_&%$#{}" else c) for c in words)


def escaped_markdown(words: str) -> str:
    """Return words with the special characters of Markdown escaped."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#$|" else c for c in words)
