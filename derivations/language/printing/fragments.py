r"""One result or layer as LaTeX for a paper: a fragment to `\input`, whose formulas fit into a column.

Definition   a paragraph with the title, the steps of each claim with the names of their rules, and sentences with the
             definitions, the assumptions and the source; formulas that are too wide for a sentence are displayed
Result       LaTeX for any class with amsmath and amssymb, without overfull lines at the width asked for; a comment in
             front has the keys of its sources, for \cite
Assumes      a font size of ten points
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from derivations.language.printing.breaking.displays import Row, display, inline_fits
from derivations.language.printing.breaking.lines import broken
from derivations.language.printing.labels import label_of
from derivations.language.printing.references import BIBLIOGRAPHY, keys_of, source_in
from derivations.language.printing.statement import Statement
from derivations.language.printing.titles import marked
from derivations.language.printing.views import MATH, escaped_latex
from derivations.language.printing.words import language, word

__all__ = ["TEXT_WIDTH", "alone", "broken_view", "definitions", "fitted", "fragment", "listed", "points"]

TEXT_WIDTH = "345pt"  # of LaTeX's article at ten points
_UNITS = {"pt": 1.0, "in": 72.27, "cm": 72.27 / 2.54, "mm": 7.227 / 2.54}
_LENGTH = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(pt|in|cm|mm)")
LEAST = 200.0  # the narrowest column for which formulas can be split


def points(length: str) -> float:
    """Return a length of TeX in points.

    Raises       ValueError for anything but a number with pt, in, cm or mm, and for less than 200 points
    """
    found = _LENGTH.fullmatch(length.strip())
    if not found:
        raise ValueError(f"the width {length!r} is no length: write a number and a unit, such as 3.3in, 8.4cm or 345pt")
    width = float(found[1]) * _UNITS[found[2]]
    if width < LEAST:
        raise ValueError(f"a width of {length} is too narrow for formulas: give at least {LEAST:.0f}pt, or 2.8in")
    return width


def fragment(
    parts: Statement, width: float, *, math: str = "dollars", lang: str = "en", numbered: bool = False, label: str = ""
) -> str:
    """Return a result or a layer as a fragment; with `numbered` or a `label`, its last lines have numbers."""
    inline = MATH[math][1]
    numbered = numbered or bool(label)
    title = marked(parts.title, inline.format, escaped_latex)
    texts = [rf"\paragraph{{{title}{language(lang).stop}}}"]
    for number, rows in enumerate(_chains(parts), 1):
        name = label_of(label, parts.id.removeprefix("layer-"), number) if label else ""
        texts.append(display([*rows[:-1], replace(rows[-1], label=name)], width, numbered=numbered))
    body = [*_sentences(parts, width, inline, lang)]
    texts += ["\n".join(body)] if body else []
    keys = keys_of(parts.source)
    head = f"% \\cite{{{','.join(keys)}}}, of {BIBLIOGRAPHY.name}\n" if keys else ""
    return head + "{\\raggedright\\allowdisplaybreaks\n" + "\n\n".join(texts) + "\n\\par}\n"


def broken_view(parts: Statement, width: float, math: str, lang: str, numbered: bool, label: str) -> str:
    """Return a result as LaTeX lines that fit: its derivation, or its formulas with the assumptions."""
    if parts.proofs:
        return fragment(parts, width, math=math, lang=lang, numbered=numbered, label=label).rstrip("\n")
    own = label_of(label, parts.id) if label else ""
    displays, sentences = fitted(alone(parts), width, math=math, lang=lang, numbered=numbered, label=own)
    return "\n\n".join([*displays, *sentences])


def fitted(
    parts: Statement, width: float, *, math: str = "dollars", lang: str = "en", numbered: bool = False, label: str = ""
) -> tuple[list[str], list[str]]:
    """Return two lists for a result or a layer: its displays, and the sentences below them.

    With `numbered` or a `label` the last line has a number, which stands for all of them.
    """
    *before, last = _chains(parts)
    numbered = numbered or bool(label)
    final = [*last[:-1], replace(last[-1], label=label)]
    displays = [*(display(rows, width) for rows in before), display(final, width, numbered=numbered)]
    return displays, [*_sentences(parts, width, MATH[math][1], lang)]


def alone(parts: Statement) -> Statement:
    """Return a result without its sentences, except what it assumes; the ranges of indices stand in the display."""
    *before, last = parts.claims
    ranged = [replace(last, beside=parts.ranges)] if not last.beside else [last, Row("", "", "", parts.ranges)]
    rows = (*before, *ranged) if parts.ranges else parts.claims
    return replace(parts, claims=rows, definitions=(), members=(), ranges="", source="")


def _chains(parts: Statement) -> Sequence[Sequence[Row]]:
    """Return the rows of each display: one display with the steps of each claim, or a single one with all claims."""
    # the condition of a claim stands below its last step, because it belongs to the whole chain
    chains = [(*rows, *_condition(claim)) for rows, claim in zip(parts.proofs, parts.claims, strict=False)]
    return chains or [parts.claims]


def _condition(claim: Row) -> tuple[Row, ...]:
    return (Row("", "", "", claim.beside, claim.note),) if claim.beside else ()


def _sentences(parts: Statement, width: float, inline: str, lang: str) -> Iterator[str]:
    items = [*parts.members, parts.ranges] if parts.ranges else [*parts.members]
    if parts.definitions or items:
        yield definitions("where", parts.definitions, items, width, inline, lang)
    if parts.assumptions:
        lead = word("assuming", lang)
        signs = language(lang)
        texts = [listed(formula, words, width, inline) for formula, words in parts.assumptions]
        yield lead[:1].upper() + lead[1:] + signs.space + signs.comma.join(texts) + signs.stop
    if parts.source:
        signs = language(lang)
        yield f"{word('Source', lang)}{signs.colon}{escaped_latex(source_in(parts.source, lang))}{signs.stop}"


def definitions(lead: str, rows: Sequence[Row], items: Sequence[str], width: float, inline: str, lang: str) -> str:
    """Return definitions and ranges as a sentence, or as a display where one of them is too wide for a sentence."""
    signs = language(lang)
    start = word(lead, lang)
    start = start[:1].upper() + start[1:]
    formulas = [f"{row.left} {row.relation} {row.right}" + rf" \; {row.beside}" * bool(row.beside) for row in rows]
    if all(inline_fits(formula, width) for formula in formulas):
        shown = _listings([*formulas, *items], width)
        return start + signs.space + signs.comma.join(map(inline.format, shown)) + signs.stop
    rest = list(_listings(items, width))
    end = f"\n{word('with', lang)}{signs.space}{signs.comma.join(map(inline.format, rest))}{signs.stop}" if rest else ""
    return f"{start}\n{display(rows, width)}{end}"


def _listings(items: Iterable[str], width: float) -> Iterator[str]:
    """Yield the formulas of a list one by one; TeX may break a wide one after its commas."""
    for item in items:
        for each in item.split(r", \; "):
            yield each if inline_fits(each, width) else each.replace(", ", r", \allowbreak ")


def listed(formula: str, words: str, width: float, inline: str) -> str:
    """Return an assumption as LaTeX: a formula, on separate lines if it is too wide, its index ranges, and its words.

    TeX breaks the line between the parts.
    """
    # `page` joins a formula and the ranges of its indices with this space
    stated, between, ranges = formula.partition(r" \; (")
    rest = [inline.format(f"({ranges}")] if between else []
    rest += [f"({words})" if stated or rest else words] if words else []
    if not stated:
        return " ".join(rest)
    if inline_fits(stated, width):
        return " ".join([inline.format(stated), *rest])
    rows = r" \\ ".join(f"& {each.tex}" for each in broken(stated, width * 0.8))
    lines = inline.format(rf"\begin{{aligned}}[t] {rows} \end{{aligned}}")
    # below the lines, since it would stand beside the first of them
    return rf"{lines} \newline {' '.join(rest)}" if rest else lines
