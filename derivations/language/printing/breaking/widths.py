r"""How wide TeX sets a formula, estimated from its atoms.

Definition   the sum of the widths of the characters and of the spaces that TeX puts between atoms of two classes;
             fractions are as wide as their wider part, scripts are smaller, stretched brackets widen with their height
Result       points, at the font size of ten points; the estimate is at least TeX's width, and a few per cent above it
Source       Knuth, The TeXbook (1986), chapter 18 and appendix G
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from derivations.language.printing.breaking.atoms import Atom, Formula
from derivations.language.printing.breaking.fonts import SCALES, italic, sign, upright

__all__ = ["DISPLAY", "TEXT", "text_width", "width"]

DISPLAY, TEXT, SCRIPT, SMALLEST = range(4)  # the styles of TeX

_MACRO = re.compile(r"\\([A-Za-z]+ ?|.)")  # a sign in a text, such as \textasciicircum
_LIMITS = (r"\lim", r"\max", r"\min", r"\sup", r"\inf")
_THIN, _MEDIUM, _THICK = 1.667, 2.222, 2.778
_CLASSES = {
    **{"large": "op", "word": "op", "binary": "bin", "relation": "rel", "open": "open", "close": "close"},
    "comma": "punct",
}
# space between two atoms, by their classes; from the table of chapter 18; a small letter: not in scripts
_SPACES = {
    "ord": {"op": "1", "bin": "m", "rel": "k", "inner": "t"},
    "op": {"ord": "1", "op": "1", "rel": "k", "inner": "t"},
    "bin": {"ord": "m", "op": "m", "open": "m", "inner": "m"},
    "rel": {"ord": "k", "op": "k", "open": "k", "inner": "k"},
    "close": {"op": "1", "bin": "m", "rel": "k", "inner": "t"},
    "punct": dict.fromkeys(("ord", "op", "rel", "open", "close", "punct", "inner"), "t"),
    "inner": {"ord": "t", "op": "1", "bin": "m", "rel": "k", "open": "t", "punct": "t", "inner": "t"},
}
_SCRIPTS = 2.5  # what Chinese typesetting puts between a Chinese character and a letter or formula
_AMOUNTS = {"1": _THIN, "t": _THIN, "m": _MEDIUM, "k": _THICK}
_PAREN = ((10, 3.89), (12, 4.59), (18, 5.98), (24, 7.37), (30, 7.92), (1e9, 8.76))  # height and width of ( in cmex10
_SQUARE = ((10, 2.78), (12, 4.17), (18, 4.73), (24, 5.28), (30, 5.84), (1e9, 6.67))


def text_width(words: str) -> float:
    """Return the width of words in the upright font, with the extra space between Chinese and other characters."""
    neighbours = pairwise(f"x{words}x")
    beside = sum(left.isascii() != right.isascii() and " " not in (left, right) for left, right in neighbours)
    return sum(map(upright, words)) + _SCRIPTS * beside


@cache
def width(formula: Formula, style: int = DISPLAY) -> float:
    """Return the width of a formula in a style, in points."""
    total, before = 0.0, ""
    classes = _classes(formula)
    for atom, kind in zip(formula, classes, strict=True):
        if atom.kind == "space":
            total += float(atom.ends[0])
            continue
        left, right = kind if isinstance(kind, tuple) else (kind, kind)
        space = _SPACES.get(before, {}).get(left, "")
        if space and (style < SCRIPT or space == "1"):
            total += _AMOUNTS[space] * SCALES[style]
        total += _width(atom, style)
        before = right
    return total


def _classes(formula: Formula) -> list[str | tuple[str, str]]:
    """Return the class of each atom: a binary sign without a term on both sides is an ordinary one."""
    found: list[str | tuple[str, str]] = [_class(atom) for atom in formula]
    kinds = [place for place, atom in enumerate(formula) if atom.kind != "space"]
    before = "none"
    for number, place in enumerate(kinds):
        after = found[kinds[number + 1]] if number + 1 < len(kinds) else "none"
        after = after[0] if isinstance(after, tuple) else after
        own = found[place]
        # a minus without a term before it is a sign and takes no space (The TeXbook, appendix G, rules 5 and 6)
        if own == "bin" and (
            before in ("none", "bin", "op", "rel", "open", "punct") or after in ("rel", "close", "punct", "none")
        ):
            found[place] = own = "ord"
        before = own[1] if isinstance(own, tuple) else own
    return found


def _class(atom: Atom) -> str | tuple[str, str]:
    if atom.kind == "scripts" and atom.parts[0]:
        return _class(atom.parts[0][-1])
    if atom.kind == "bracket":
        return "inner" if atom.stretched else ("open", "close")
    if atom.kind == "rows":
        return "ord" if atom.ends[0] in ("aligned", "gathered", "alignedat") else "inner"
    if atom.tex in (r"\ldots", r"\cdots"):
        return "inner"
    return _CLASSES.get(atom.kind, "ord")


def _width(atom: Atom, style: int) -> float:
    scale = SCALES[style]
    if atom.kind == "letter":
        return italic(atom.tex) * scale
    if atom.kind in ("binary", "relation", "open", "close", "comma"):
        return sign(atom.tex) * scale
    if atom.kind == "large":
        return 14.45 if style == DISPLAY else 10.56 * scale
    if atom.kind == "text":
        return text_width(_MACRO.sub("m", atom.ends[0])) * scale
    if atom.kind in ("word", "font"):
        return _upright_width(atom, style)
    if atom.kind == "fraction":
        return max(width(part, min(style + 1 + (style == TEXT), SMALLEST)) for part in atom.parts) + 2.4
    if atom.kind == "root":
        return width(atom.parts[0], style) + (10.0 if _height(atom.parts[0], style) > 11 else 8.34) * scale
    if atom.kind == "scripts":
        return _scripts_width(atom, style)
    if atom.kind == "bracket":
        return width(atom.parts[0], style) + sum(_bracket_width(end, atom, style) for end in atom.ends)
    if atom.kind == "rows":
        return _rows_width(atom)
    return sum(width(part, style) for part in atom.parts)  # a group, an accent


def _upright_width(atom: Atom, style: int) -> float:
    if not atom.parts:
        return text_width(atom.tex[1:]) * SCALES[style]
    if atom.ends[:1] == (r"\mathbb",):
        return 7.23 * len(atom.parts[0]) * SCALES[style]
    bold = 1.2 if atom.ends[:1] == (r"\mathbf",) else 1.0
    return sum(
        upright(each.tex) * SCALES[style] * bold
        if each.kind in ("letter", "binary") and len(each.tex) == 1 and not each.tex.isdigit()
        else width((each,), style)
        for each in atom.parts[0]
    )


def _scripts_width(atom: Atom, style: int) -> float:
    base, *scripts = atom.parts
    small = SMALLEST if style >= SCRIPT else SCRIPT
    widths = [width(script, small) for script in scripts]
    limits = style == DISPLAY and base and (base[-1].kind == "large" or base[-1].tex in _LIMITS)
    if limits:
        # limits stand above and below a large operator in a display, not beside it
        return max(width(base, style), *widths)
    return width(base, style) + max(widths) + 0.5


def _bracket_width(end: str, atom: Atom, style: int) -> float:
    if not atom.stretched:
        return sign(end) * SCALES[style]
    if end == ".":
        return 1.2
    table = _PAREN if end in "()" else _SQUARE
    needed = 1.15 * _height(atom.parts[0], style)  # in doubt the next size
    return next(wide for height, wide in table if needed <= height) * max(SCALES[style], 0.8)


def _rows_width(atom: Atom) -> float:
    """Return the width of an environment: the widest cell of each column, and the space between columns."""
    count = atom.rows
    across = -(-len(atom.parts) // count)
    columns = [atom.parts[start::across] for start in range(across)]  # exact where all rows have as many cells
    name = atom.ends[0]
    style = DISPLAY if name in ("aligned", "gathered", "alignedat") else SCRIPT if name == "smallmatrix" else TEXT
    cells = sum(max(width(cell, style) for cell in column) for column in columns)
    between = {"aligned": 0.0, "gathered": 0.0, "alignedat": 0.0, "smallmatrix": 2.8}.get(name, 10.0)
    around = {"aligned": 0.0, "gathered": 0.0, "alignedat": 0.0, "smallmatrix": 3.4, "cases": 11.3}.get(name, 14.0)
    return cells + between * (across - 1) + around + 3.4 * (name == "aligned")


# --- heights: only as exact as the choice of a bracket needs ----------------------------------------------------------


def _height(formula: Formula, style: int) -> float:
    """Return about twice the greater distance from the axis of a formula to its top or bottom."""
    up, down = _extent(formula, style)
    return 2 * max(up - 2.5, down + 2.5) * 0.901


def _extent(formula: Iterable[Atom], style: int) -> tuple[float, float]:
    extents = [_atom_extent(atom, style) for atom in formula]
    return max((up for up, _ in extents), default=0.0), max((down for _, down in extents), default=0.0)


@cache
def _atom_extent(atom: Atom, style: int) -> tuple[float, float]:
    scale = SCALES[style]
    if atom.kind == "fraction":
        inside = min(style + 1 + (style == TEXT), SMALLEST)
        (top, under), (over, bottom) = (_extent(part, inside) for part in atom.parts)
        if style == DISPLAY:
            return max(6.77, under + 3.7) + top, max(6.86, over + 0.7) + bottom
        return (max(3.94, under + 3.0) + top) * 1.0, (max(3.45, over - 1.7) + bottom) * 1.0
    if atom.kind == "scripts":
        return _scripts_extent(atom, style)
    if atom.kind == "large":
        return (9.5, 4.5) if style == DISPLAY else (7.5 * scale, 2.5 * scale)
    if atom.kind == "rows":
        half = sum(
            max(sum(_extent(cell, TEXT)) for cell in atom.parts[row : row + 1]) + 2.5 for row in range(atom.rows)
        )
        return max(half, 12.0 * atom.rows) / 2 + 2.5, max(half, 12.0 * atom.rows) / 2 - 2.5
    if atom.kind in ("bracket", "root", "group", "accent", "font", "word"):
        up, down = _extent(atom.parts[0], style) if atom.parts else (7.0 * scale, 2.0 * scale)
        more = {"root": 4.0, "accent": 2.5}.get(atom.kind, 0.0)
        return max(up + more, 7.5 * scale), max(down, 2.5 * scale if atom.kind == "bracket" else 0.0)
    if atom.tex.isalpha() and atom.tex in "acemnorsuvwxz":
        return 4.4 * scale, 0.0
    return 7.0 * scale, (2.2 if atom.tex in "gjpqy" or atom.tex.startswith("\\") else 0.0) * scale


def _scripts_extent(atom: Atom, style: int) -> tuple[float, float]:
    base, below, above = atom.parts
    up, down = _extent(base, style)
    small = SMALLEST if style >= SCRIPT else SCRIPT
    scale = SCALES[style]
    if style == DISPLAY and base and (base[-1].kind == "large" or base[-1].tex in _LIMITS):
        over, under = sum(_extent(above, small)), sum(_extent(below, small))
        return up + (over + 3.0 if above else 0.0), down + (under + 4.0 if below else 0.0)
    if above:
        up = max(up, max(4.2 * scale, up - 2.7) + _extent(above, small)[0])
    if below:
        down = max(down, max(1.5 * scale, down + 0.5) + _extent(below, small)[1])
    return up, down
