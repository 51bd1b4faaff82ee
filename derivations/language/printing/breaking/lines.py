r"""A formula as lines that fit into a width.

Definition   a formula that is too wide is broken before a relation, then before + and -, then after a comma, then
             between factors; what is then still too wide, a bracket, a fraction, a root or a matrix, holds its own
             lines in an `aligned` inside it
Result       the lines in order, each with its indentation; written one after the other they are the same formula
Assumes      widths in points at a font size of ten points, as `widths` estimates them
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from derivations.language.printing.breaking.atoms import Atom, Formula, read, written
from derivations.language.printing.breaking.widths import width
from derivations.language.printing.letters import GREEK

__all__ = ["EXCESS", "INDENT", "TextLine", "broken", "fits", "moved_left", "stacked_lines"]

INDENT = 10.0  # \quad
_EMPTY = read("{}")
EXCESS = 100.0  # the cost of a point by which a line is too wide, in lines
LEAST = 40.0  # what a bracket or a fraction is given at least
_STACKS = (("aligned",), ("gathered",))  # the environments that hold the lines of a broken formula
_GREEK = frozenset(f"\\{name}" for name in GREEK)
_FACTORS = ("bracket", "fraction", "root", "large", "word", "font", "accent", "group", "text", "rows")
_HYPHEN = r"\text{-}"
_GLUED = (r"\partial", "d", r"\mathrm{d}")  # a differential and its variable stay together


@dataclass(frozen=True)
class TextLine:
    r"""One line of a broken formula, indented by a number of \quad."""

    formula: Formula
    indent: int = 0

    @property
    def spaced(self) -> Formula:
        """The formula; a sign at the beginning of a further line keeps the space that it has between two terms."""
        sign = self.indent > 0 and self.formula[:1] != () and self.formula[0].kind == "binary"
        return (*_EMPTY, replace(self.formula[0], apart=True), *self.formula[1:]) if sign else self.formula

    @property
    def tex(self) -> str:
        """The line as LaTeX."""
        return r"\quad " * self.indent + written(self.spaced)

    @property
    def width(self) -> float:
        """The estimated width with the indentation."""
        return width(self.spaced) + INDENT * self.indent


def fits(formula: Formula, within: float) -> bool:
    """Return whether a formula fits into a width, with a margin of one per cent for errors of the estimate."""
    return 1.01 * width(formula) <= within


def broken(tex: str, first: float, rest: float | None = None) -> list[TextLine]:
    """Return a formula as lines; the first one has the width `first`, the others `rest`.

    A line may stay too wide where nothing in it can be broken.
    """
    rest = first if rest is None else rest
    return list(_lines(_stripped(read(tex)), first, rest, 0))


def moved_left(line: TextLine, within: float) -> TextLine:
    """Return a line that is too wide with less indentation, one quad at least."""
    while line.indent > 1 and not _has_room(line, within):
        line = replace(line, indent=line.indent - 1)
    return line


def _has_room(line: TextLine, within: float) -> bool:
    return fits(line.spaced, within - INDENT * line.indent)


def stacked_lines(formula: Formula) -> int:
    """Return how many lines a formula takes beyond the first one, because atoms in it contain several lines."""
    inside = sum(stacked_lines(part) for atom in formula for part in atom.parts)
    return inside + sum(atom.rows - 1 for atom in formula if atom.ends[:1] in _STACKS)


def _lines(formula: Formula, first: float, rest: float, level: int) -> Iterator[TextLine]:
    if fits(formula, first):
        yield TextLine(formula)
        return
    if level == len(_LEVELS):
        yield from _inside(formula, first, rest)
        return
    pieces = _pieces(formula, level)
    if len(pieces) == 1:
        yield from _lines(formula, first, rest, level + 1)
        return
    yield from _filled(pieces, first, rest, level)


def _inside(formula: Formula, first: float, rest: float) -> Iterator[TextLine]:
    """Break a formula inside its atoms, or between atoms such as a function and its argument, whichever costs less."""
    layouts = [[TextLine(_reshaped(formula, first))]]
    cuts = (_split(_worded(formula), may_break) for may_break in (_anywhere_but_sums, _anywhere))
    pieces = next((pieces for pieces in cuts if len(pieces) > 1), None)
    if pieces:
        layouts.append(list(_filled(pieces, first, rest, len(_LEVELS))))
    yield from min(layouts, key=lambda lines: _cost(lines, first, rest))


def _cost(lines: Sequence[TextLine], first: float, rest: float) -> float:
    """Return the cost of a layout in lines: a hyphen adds two, and the last of several lines counts twice.

    A layout that is too wide costs more than any that fits.
    """
    excess = sum(max(1.01 * line.width - (rest if number else first), 0.0) for number, line in enumerate(lines))
    hyphens = sum(written(line.formula).count(_HYPHEN) for line in lines)
    stacks = sum(stacked_lines(line.formula) for line in lines)
    return len(lines) + (len(lines) > 1) + stacks + 2 * hyphens + EXCESS * excess


def _worded(formula: Formula) -> Formula:
    """Return a formula whose texts are cut after each word."""
    words = []
    for atom in formula:
        cut = re.findall(r"(?:\\.|\S)+\s*", atom.ends[0]) if atom.kind == "text" else []
        parts = [Atom("text", rf"\text{{{word}}}", (), (word,)) for word in cut]
        words += [replace(parts[0], apart=atom.apart), *parts[1:]] if len(parts) > 1 else [atom]
    return tuple(words)


def _filled(pieces: list[Formula], first: float, rest: float, level: int) -> Iterator[TextLine]:
    """Put as many pieces on each line as fit; a piece that is too wide for a line is broken at the next level."""
    line, within = TextLine(()), first
    for piece in pieces:
        indent = line.indent if line.formula else int(within is not first)
        if not line.formula or _has_room(replace(line, formula=line.formula + piece), within):
            joined = line.formula + piece
        else:
            yield _trimmed(line)
            # a broken product goes on with a sign (Knuth, The TeXbook, chapter 18, on \\*)
            sign = read(r"\times") if _is_product(line.formula, piece[0]) else ()
            joined, within, indent = sign + piece, rest, 1
        if _has_room(TextLine(joined, indent), within):
            line = TextLine(joined, indent)
            continue
        room = within - (TextLine(joined, indent).width - width(joined))
        *before, line = _lines(_stripped(joined), room, rest - INDENT * (indent + 1), min(level + 1, len(_LEVELS)))
        for each in before:
            yield _trimmed(TextLine(each.formula, each.indent + indent))
        line, within = TextLine(line.formula, line.indent + indent), (rest if before or indent else first)
    yield _trimmed(line)


def _trimmed(line: TextLine) -> TextLine:
    return TextLine(_stripped(line.formula), line.indent)


def _stripped(formula: Formula) -> Formula:
    start, end = 0, len(formula)
    while start < end and formula[start].kind == "space":
        start += 1
    while end > start and formula[end - 1].kind == "space":
        end -= 1
    return formula[start:end]


# --- where a formula may be broken ------------------------------------------------------------------------------------


def _before_relation(_: Atom, atom: Atom) -> bool:
    return atom.kind == "relation" and atom.tex not in (r"\in", r"\to")


def _before_sum(before: Atom, atom: Atom) -> bool:
    sign = atom.tex in ("+", "-", r"\wedge", r"\vee")
    return sign and before.kind not in ("binary", "relation", "comma", "open", "space", "large")


def _after_space(before: Atom, atom: Atom) -> bool:
    return before.kind == "space" and before.tex in (r"\quad", r"\qquad", r"\;")


def _after_comma(before: Atom, atom: Atom) -> bool:
    return before.kind == "comma" or (before.kind == "space" and before.tex == r"\ ")


def _between_factors(before: Atom, atom: Atom) -> bool:
    if atom.kind == "binary":
        return before.kind not in ("relation", "comma", "open")
    nucleus = before.parts[0][-1] if before.kind == "scripts" and before.parts[0] else before
    heavy = {"bracket", "fraction", "root", "scripts", "large", "rows", "word"}
    if _is_between_words(before):
        return True
    if nucleus.kind in ("large", "word", "binary", "relation", "open", "space") or before.tex in _GLUED:
        return False
    if atom.kind == "bracket" and not atom.stretched and nucleus.kind in ("letter", "font", "text"):
        return False  # a function and its argument, or a letter and a sum that it multiplies
    return bool({before.kind, atom.kind} & heavy) and atom.kind not in ("relation", "comma", "close", "space")


def _anywhere(before: Atom, atom: Atom) -> bool:
    glued = before.tex in _GLUED or before.kind in ("binary", "relation", "space", "open")
    return not glued and atom.kind not in ("comma", "close", "space", "relation")


def _anywhere_but_sums(before: Atom, atom: Atom) -> bool:
    """Return whether a line may end here; the sign of a sum and the first factor after it stay together."""
    return _nucleus(before).kind != "large" and _anywhere(before, atom)


def _nucleus(atom: Atom) -> Atom:
    return atom.parts[0][-1] if atom.kind == "scripts" and atom.parts[0] else atom


def _is_between_words(atom: Atom) -> bool:
    """Return whether an atom is the space that the printers put between two factors one of which is a word."""
    return atom.tex == r"\,"


def _is_product(line: Formula, right: Atom) -> bool:
    """Return whether a line and the atom after it form a product, not a function value or a derivative."""
    before = _nucleus(_stripped(line)[-1])
    if before.kind in ("large", "word"):
        return False
    if before.kind == "fraction" and _nucleus(before.parts[0][-1]).tex in _GLUED:
        return False
    return (right.apart or _is_between_words(line[-1])) and all(map(_is_factor, (before, _nucleus(right))))


def _is_factor(atom: Atom) -> bool:
    if atom.kind == "letter":
        return atom.tex.isalnum() or atom.tex in _GREEK
    return atom.tex != r"\partial" and atom.kind in _FACTORS


_LEVELS = (_after_space, _before_relation, _before_sum, _after_comma, _between_factors)


def _pieces(formula: Formula, level: int) -> list[Formula]:
    return _split(formula, _LEVELS[level])


def _split(formula: Formula, may_break: Callable[[Atom, Atom], bool]) -> list[Formula]:
    pieces, start = [], 0
    for place in range(1, len(formula)):
        if may_break(formula[place - 1], formula[place]):
            pieces.append(formula[start:place])
            start = place
    return [*pieces, formula[start:]]


# --- what cannot be broken from outside -------------------------------------------------------------------------------


def _reshaped(formula: Formula, within: float) -> Formula:
    """Return a formula whose widest atoms are broken inside, one after another, until it fits or none can be broken."""
    for _ in range(len(formula)):
        if fits(formula, within):
            return formula
        places = sorted(range(len(formula)), key=lambda place: -width((formula[place],)))
        for place in places:
            atom = formula[place]
            room = max(within / 1.01 - (width(formula) - width((atom,))), LEAST)
            smaller = _narrower(atom, room)
            # each round must gain something, so that the loop does not turn in a circle
            if smaller is not None and width(smaller) < width((atom,)) - 0.1:
                first = replace(smaller[0], apart=atom.apart)
                formula = (*formula[:place], first, *smaller[1:], *formula[place + 1 :])
                break
        else:
            return formula
    return formula


def _narrower(atom: Atom, within: float) -> Formula | None:
    """Return an atom with lines inside it, or None if it has no inside that can be broken."""
    if atom.kind == "bracket":
        opening, closing = atom.ends
        around = 2 * 8.8  # two brackets of the largest size
        inside = _stacked(atom.parts[0], within - around)
        return read(rf"\left{opening} {inside} \right{closing}") if inside else None
    if atom.kind == "fraction":  # centred, so that a second line below the bar is seen to belong to the fraction
        room = within - 2.4
        above, below = (_stacked(part, room, "gathered") if width(part) > room else "" for part in atom.parts)
        if not above and not below:
            return None
        return read(rf"\frac{{{above or written(atom.parts[0])}}}{{{below or written(atom.parts[1])}}}")
    if atom.kind in ("root", "group"):
        inside = _stacked(atom.parts[0], within - 10.0)
        degree = rf"[{written(atom.parts[1])}]" if atom.kind == "root" and atom.parts[1] else ""
        return read(rf"\sqrt{degree}{{{inside}}}" if atom.kind == "root" else f"{{{inside}}}") if inside else None
    if atom.kind == "scripts" and atom.parts[0]:
        return _narrower_scripts(atom, within)
    if atom.kind in ("word", "font") and atom.parts:
        return _hyphenated(atom)
    if atom.kind == "rows" and atom.ends[:1] not in _STACKS:  # these have been broken already
        return _narrower_rows(atom, within)
    return None


def _stacked(formula: Formula, within: float, environment: str = "aligned") -> str:
    """Return lines in an environment, or an empty text where breaking does not help."""
    lines = list(_lines(formula, within, within, 0))
    if len(lines) == 1:
        only = written(lines[0].formula)
        return "" if only == written(formula) else only
    if environment == "gathered":  # centred lines need no indentation
        texts = [_unindented(line).tex for line in lines]
    else:
        texts = [f"& {(line if _has_room(line, within) else _unindented(line)).tex}" for line in lines]
    return rf"\begin{{{environment}}} " + r" \\ ".join(texts) + rf" \end{{{environment}}}"


def _unindented(line: TextLine) -> TextLine:
    """Return a line without indentation; a sign at its beginning keeps its space."""
    return TextLine(line.spaced)


def _hyphenated(atom: Atom) -> Formula | None:
    """Return the name of a function in two lines, with a hyphen before the capital nearest to its middle."""
    name = "".join(each.tex for each in atom.parts[0])
    places = [place for place in range(1, len(name)) if name[place].isupper() and name[place - 1].islower()]
    if not places:
        return None
    middle = min(places, key=lambda place: abs(2 * place - len(name)))
    macro = atom.tex.partition("{")[0]
    halves = rf"{macro}{{{name[:middle]}}}{_HYPHEN} \\ & {macro}{{{name[middle:]}}}"
    return read(rf"\begin{{aligned}} & {halves} \end{{aligned}}")


def _narrower_scripts(atom: Atom, within: float) -> Formula | None:
    base, below, above = atom.parts
    room = within - (width((atom,)) - width(base))
    if written(base) == "e" and above:  # e^{x} is exp(x)
        inside = _stacked(above, within - 40.0)
        return read(rf"\exp\left({inside or written(above)}\right)")
    # the scripts belong to the last atom of the base
    smaller = _narrower(base[-1], room)
    if smaller is None:
        return None
    scripts = "".join(f"{sign}{{{written(part)}}}" for sign, part in (("_", below), ("^", above)) if part)
    return read(written(base[:-1] + smaller) + scripts)


def _narrower_rows(atom: Atom, within: float) -> Formula | None:
    """Return an environment whose widest column is broken inside its cells."""
    name, columns = atom.ends
    small: Formula | None = None
    if name == "bmatrix":
        small = read(rf"\left[ {atom.tex.replace('{bmatrix}', '{smallmatrix}')} \right]")
        if fits(small, within):
            return small
    # rounded up: the last row may have fewer cells
    across = -(-len(atom.parts) // atom.rows)
    cells = list(atom.parts)
    for _ in range(across):
        widths = [max(width(cell) for cell in cells[start::across]) for start in range(across)]
        widest = max(range(across), key=widths.__getitem__)
        spare = within - (_rows_width(name, columns, cells, across) - widths[widest])
        for place in range(widest, len(cells), across):
            if not fits(cells[place], spare):
                cells[place] = read(_stacked(cells[place], max(spare, LEAST)) or written(cells[place]))
    stacked = read(_rows(name, columns, cells, across))
    return stacked if small is None or width(stacked) < width(small) else small


def _rows(name: str, columns: str, cells: list[Formula], across: int) -> str:
    texts = [written(cell) for cell in cells]
    rows = (" & ".join(texts[start : start + across]) for start in range(0, len(cells), across))
    options = f"{{{columns}}}" if columns else ""
    return rf"\begin{{{name}}}{options} " + r" \\ ".join(rows) + rf" \end{{{name}}}"


def _rows_width(name: str, columns: str, cells: list[Formula], across: int) -> float:
    return width(read(_rows(name, columns, cells, across)))
