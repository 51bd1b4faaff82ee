r"""Rows of formulas as one display that fits into a width.

Definition   rows stand below one another, aligned at their relations; where that leaves too little room, the left side
             has a line of its own and the right side follows, indented. What belongs to a row, the name of a rule or a
             condition, stands to the right of its last line if it fits there, and below it otherwise
Result       the lines of an `alignat*{2}`: page breaks are allowed between them
Assumes      a font size of ten points
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from derivations.language.printing.breaking.atoms import read
from derivations.language.printing.breaking.lines import EXCESS, INDENT, TextLine, broken, moved_left, stacked_lines
from derivations.language.printing.breaking.widths import width

__all__ = ["Row", "display", "inline_fits"]

_RELATION = 13.4  # the equals sign with the spaces on both sides
_GAP = 20.0  # \qquad, between a formula and what belongs to it
_NUMBER = 35.0  # an equation number and the space before it
_LEAST = 0.5  # the share of the width that right sides need, to be aligned at their relations


@dataclass(frozen=True)
class Row:
    r"""One row: left side, relation, right side and a remark (`beside`), all in LaTeX.

    `note` says the same as `beside` in a sentence, for the case that it does not fit beside the row; `label` is the
    label of a numbered row, or an empty text for a number without one.
    """

    left: str
    relation: str
    right: str
    beside: str = ""
    note: str = ""
    label: str | None = None


@dataclass(frozen=True)
class _Line:
    """One line of a display: the text before and after the sign &, the estimated width, and the row's remark."""

    before: str
    after: str
    width: float
    start: float = 0.0  # where the sign & stands
    beside: str = ""
    note: str = ""
    label: str | None = None


def inline_fits(tex: str, within: float) -> bool:
    """Return whether a formula is short enough to stand in a sentence: TeX breaks lines only between its terms."""
    return width(read(tex)) <= within / 2 and r"\begin" not in tex


def display(rows: Sequence[Row], within: float, *, numbered: bool = False) -> str:
    """Return rows as a display of LaTeX, without lines that are wider than `within`, in points.

    With `numbered`, a row that has a label is numbered, at its last line.
    """
    room = within - _NUMBER if numbered else within
    layouts = [_aligned(rows, room), _hanging(rows, room)]
    lines = min(layouts, key=lambda lines: sum(_cost(line, room) for line in lines))
    environment = "alignat" if numbered else "alignat*"
    *body, (last, end) = [(_together(texts), note) for texts, note in (_texts(line, room, numbered) for line in lines)]
    text = "".join(f"{each} \\\\\n" + rf"\intertext{{{note}}}" * bool(note) for each, note in body)
    return f"\\begin{{{environment}}}{{2}}\n{text}{last}\n\\end{{{environment}}}" + f"\n{end}" * bool(end)


def _together(texts: Sequence[str]) -> str:
    """Join lines without a page break: a formula, and the name of its rule below it."""
    return " \\\\*\n".join(texts)


def _cost(line: _Line, within: float) -> float:
    """Return the cost of a line: its height in lines, and a penalty for its excess width.

    Fewer lines are better, but no line may be too wide: one point too many costs as much as 100 lines.
    """
    return 1 + stacked_lines(read(f"{line.before} {line.after}")) + EXCESS * max(1.01 * line.width - within, 0.0)


def _texts(line: _Line, within: float, numbered: bool) -> tuple[list[str], str]:
    """Return a line as text, with its remark at the right margin, or below the line if it does not fit.

    In a numbered display the margin of a line with a number is taken: what belongs to it stands at the margin below.
    The second of two texts is a sentence below the lines.
    """
    formula = f"{line.before} & {line.after}".strip()
    silent = r" \notag" * numbered
    labelled = numbered and line.label is not None
    number = rf" \label{{{line.label}}}" * bool(line.label) if labelled else silent
    if not line.beside:
        return [formula + number], ""
    needed = 1.01 * width(read(line.beside))
    remark = rf"\tag*{{${line.beside}$}}"
    stated = bool(line.before or line.after)  # a condition has no formula: it stands where a formula would
    if 1.01 * line.width + needed + _GAP <= within and not (labelled and stated):
        return [f"& \\qquad {line.beside}{number}" if labelled else f"{formula} {remark}"], ""
    if line.note:
        return [formula + number], line.note
    if needed + _GAP <= within and (stated or not labelled):
        return [formula + number, f"& {remark}"], ""
    below = broken(line.beside, within - line.start - 2 * INDENT)
    lines = [rf"& \qquad {each.tex}" for each in below]
    return [formula + silent, *(each + silent for each in lines[:-1]), lines[-1] + number], ""


def _aligned(rows: Sequence[Row], within: float) -> list[_Line]:
    left = max(width(read(row.left)) for row in rows)
    lines = []
    for row in rows:
        relation = _relation(row)
        # a wide left side makes this layout costly, and the other one is then chosen
        first = max(within - left - relation, within * _LEAST if left < within * _LEAST else 1.0)
        found = broken(row.right, first, first + relation - INDENT) if row.right else [TextLine(())]
        lines += _of_row(
            row,
            [
                _Line(row.left, f"{row.relation} {found[0].tex}".strip(), left + relation + found[0].width, left),
                *(_Line("", each.tex, left + each.width, left) for each in map(_after_relation, found[1:])),
            ],
        )
    return lines


def _relation(row: Row) -> float:
    """Return the width of the relation sign of a row, which differs between signs, with the spaces on both sides."""
    return width(read(row.relation)) + _RELATION - width(read("=")) if row.relation else _RELATION


def _after_relation(line: TextLine) -> TextLine:
    """Indent a further line of a right side; a line that begins with a relation is aligned with the first relation."""
    return TextLine(line.formula, 0 if line.formula[0].kind == "relation" else line.indent + 1)


def _hanging(rows: Sequence[Row], within: float) -> list[_Line]:
    lines = []
    for row in rows:
        whole = f"{row.left} {row.relation} {row.right}"
        if row.left and 1.01 * width(read(whole)) <= within:
            lines += _of_row(row, [_Line("", whole, width(read(whole)))])
            continue
        before = [_Line("", each.tex, each.width) for each in broken(row.left, within)] if row.left else []
        relation = _relation(row)
        room = within - INDENT - relation
        found = broken(row.right, room, room + relation - INDENT) if row.right else []
        after = []
        if found:
            first = rf"\quad {row.relation} {found[0].tex}"
            after = [_Line("", first, INDENT + relation + found[0].width)]
            moved = (TextLine(each.formula, _after_relation(each).indent + 1) for each in found[1:])
            after += [_Line("", each.tex, each.width) for each in (moved_left(line, within) for line in moved)]
        lines += _of_row(row, [*before, *after])
    return lines


def _of_row(row: Row, lines: Sequence[_Line]) -> list[_Line]:
    """Return the lines of a row, the last of which has its remark and its number."""
    lines = lines or [_Line("", "", 0.0)]
    return [*lines[:-1], replace(lines[-1], beside=row.beside, note=row.note, label=row.label)]
