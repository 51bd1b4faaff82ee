r"""Printed LaTeX as a list of atoms: the letters, signs, brackets, fractions and scripts that TeX sets side by side.

The printers write a small part of LaTeX, and this module reads it back, so that a formula can be measured and broken.
An atom keeps the text that it was read from; nothing here changes a formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

__all__ = ["Atom", "Formula", "expanding", "read", "written"]

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|[0-9]+|[^\\]", re.DOTALL)
_NAMED = re.compile(r"\\[A-Za-z]+$")
_SPACES = {r"\,": 1.667, r"\;": 2.778, r"\:": 2.222, r"\!": -1.667, r"\ ": 3.333, r"\quad": 10.0, r"\qquad": 20.0}
_BINARY = frozenset({"+", "-", "*", r"\cdot", r"\odot", r"\times", r"\wedge", r"\vee", r"\circ", r"\pm", r"\bmod"})
_COMPARING = r"= < > : \le \ge \ne \to \sim \approx \in \implies \iff \mapsto \leftrightarrow \leq \geq \neq"
_RELATIONS = frozenset(_COMPARING.split())
_LARGE = frozenset({r"\sum", r"\prod", r"\int"})
_FUNCTIONS = r"\log \sin \cos \tan \sinh \cosh \tanh \max \min \exp \lim \sup \inf \arg \det \ln"
_WORDS = frozenset(_FUNCTIONS.split())
_ALPHABETS = frozenset({r"\mathrm", r"\mathbf", r"\mathcal", r"\mathsf", r"\mathit", r"\mathbb", r"\boldsymbol"})
_ABOVE = r"\hat \bar \tilde \vec \dot \ddot \check \widehat \widetilde \overline \underline"
_ACCENTS = frozenset(_ABOVE.split())
_TEXTS = frozenset({r"\text", r"\textrm", r"\textit", r"\mbox"})
_OPERATORS = frozenset({r"\operatorname", r"\mathop"})
_PAIRS = {"(": ")", "[": "]", r"\{": r"\}", r"\lVert": r"\rVert", r"\lvert": r"\rvert"}


@dataclass(frozen=True)
class Atom:
    """One unit of a formula: its kind, its LaTeX text, and the formulas inside it.

    kind         letter, large, word, binary, relation, open, close, comma, space, text, group, font, accent, fraction,
                 root, bracket, scripts or rows
    parts        fraction: above, below; root: body, degree; bracket: body; scripts: base, below, above; rows: the cells
    ends         the two signs of a bracket, or the name of an environment; for a space its width in points
    apart        whether a space is typed before it: the printers put one between two factors, and none between a
                 function and its argument
    """

    kind: str
    tex: str
    parts: tuple[tuple[Atom, ...], ...] = ()
    ends: tuple[str, ...] = ()
    rows: int = 0  # of an environment
    apart: bool = False

    @property
    def stretched(self) -> bool:
        r"""Whether a bracket is as tall as its content (\left and \right)."""
        return self.kind == "bracket" and self.tex.startswith(r"\left")


Formula = tuple[Atom, ...]

_letters: ContextVar[Mapping[str, str]] = ContextVar("letters", default=MappingProxyType({}))


def read(tex: str) -> Formula:
    """Return the atoms of a printed formula.

    Raises       ValueError for braces or environments that do not match
    """
    reader = _Reader(tex)
    formula = reader.formula(())
    if reader.at < len(reader.tokens):
        raise ValueError(f"{reader.tokens[reader.at]} closes nothing in the formula {tex}")
    return formula


@contextmanager
def expanding(macros: Mapping[str, str]) -> Iterator[None]:
    """Measure the macros of letters as the letters that they stand for, inside the block."""
    before = _letters.set(macros)
    try:
        yield
    finally:
        _letters.reset(before)


def written(formula: Formula) -> str:
    """Return the LaTeX of atoms, with the spaces with which they were read."""
    text = "".join(atom.tex for atom in formula[:1])
    for before, atom in pairwise(formula):
        # the name of a macro ends before the letter of a formula that it was not read with
        named = _NAMED.search(before.tex) and atom.tex[0].isalpha()
        text += " " * bool(atom.apart or named) + atom.tex
    return text


class _Reader:
    """Reads the tokens of a formula; `at` is the position of the next token."""

    def __init__(self, tex: str) -> None:
        self.tex, self.tokens, self.at = tex, _TOKEN.findall(tex), 0

    def formula(self, stops: tuple[str, ...]) -> Formula:
        """Read atoms up to a stop token, which is not consumed, or to the end."""
        atoms: list[Atom] = []
        apart = False
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token in stops or token == "}":
                break
            if token.isspace():
                self.at += 1
            elif token in ("^", "_"):
                atoms.append(self._scripts(atoms.pop() if atoms else Atom("group", "{}", ((),))))
            else:
                atoms.append(replace(self._atom(token, stops), apart=apart))
            apart = token.isspace()
        return tuple(atoms)

    def _scripts(self, base: Atom) -> Atom:
        start = self.at
        parts: dict[str, Formula] = {"_": (), "^": ()}
        nucleus: Formula = (base,)
        if base.kind == "scripts":  # the second of two scripts
            nucleus, parts = base.parts[0], {"_": base.parts[1], "^": base.parts[2]}
        sign = self._next()
        if parts[sign]:
            raise ValueError(f"two scripts {sign} on one base in the formula {self.tex}")
        parts[sign] = self._argument()
        tex = base.tex + "".join(self.tokens[start : self.at])
        return Atom("scripts", tex, (nucleus, parts["_"], parts["^"]), apart=base.apart)

    def _next(self) -> str:
        if self.at >= len(self.tokens):
            raise ValueError(f"the formula ends too early: {self.tex}")
        self.at += 1
        return self.tokens[self.at - 1]

    def _argument(self) -> Formula:
        """Read a group in braces, or one atom."""
        while self.tokens[self.at : self.at + 1] and self.tokens[self.at].isspace():
            self.at += 1
        if self.tokens[self.at : self.at + 1] != ["{"]:
            return (self._atom(self.tokens[self.at] if self.at < len(self.tokens) else self._next(), ()),)
        return self._group()

    def _group(self) -> Formula:
        self._next()
        body = self.formula(())
        if self.at >= len(self.tokens):
            raise ValueError(f"a brace is left open in the formula {self.tex}")
        self._next()
        return body

    def _atom(self, token: str, stops: tuple[str, ...]) -> Atom:
        start = self.at
        kind, parts, ends, rows = self._read_atom(token, stops)
        return Atom(kind, "".join(self.tokens[start : self.at]), parts, ends, rows)

    def _read_atom(self, token: str, stops: tuple[str, ...]) -> tuple[str, tuple[Formula, ...], tuple[str, ...], int]:
        if token == "{":
            return "group", (self._group(),), (), 0
        if token in _PAIRS and (body := self._bracketed(token, stops)) is not None:
            return "bracket", (body,), (token, _PAIRS[token]), 0
        self._next()
        # a macro of a letter is measured as what it stands for, but written as the macro
        if token in _letters.get():
            return "group", (read(_letters.get()[token]),), (), 0
        if token in _SPACES or token == "~":
            return "space", (), (str(_SPACES.get(token, 3.333)),), 0
        if token in _TEXTS:
            return "text", (), (self._raw(),), 0
        if token in _OPERATORS:
            self._next_if("*")
            return "word", (self._argument(),), (), 0
        if token in _ALPHABETS or token in _ACCENTS:
            return "font" if token in _ALPHABETS else "accent", (self._argument(),), (token,), 0
        if token == r"\frac":
            return "fraction", (self._argument(), self._argument()), (), 0
        if token == r"\sqrt":
            degree = self._degree()
            return "root", (self._argument(), degree), (), 0
        if token == r"\left":
            return self._stretched()
        if token == r"\begin":
            return self._environment()
        return _kind(token), (), (), 0

    def _next_if(self, token: str) -> bool:
        found = self.tokens[self.at : self.at + 1] == [token]
        self.at += found
        return found

    def _bracketed(self, opening: str, stops: tuple[str, ...]) -> Formula | None:
        """Read the formula between two brackets; if the second one is missing, consume nothing and return None."""
        start = self.at
        self._next()
        body = self.formula((*stops, _PAIRS[opening]))
        if self._next_if(_PAIRS[opening]):
            return body
        # a bracket without its partner, as in a half-open interval [0, 1), is an ordinary sign
        self.at = start
        return None

    def _raw(self) -> str:
        """Read the words of a text, in which only braces matter."""
        start, depth = self.at, 0
        while True:
            token = self._next()
            depth += (token == "{") - (token == "}")
            if depth == 0:
                return "".join(self.tokens[start + 1 : self.at - 1])

    def _degree(self) -> Formula:
        if not self._next_if("["):
            return ()
        degree = self.formula(("]",))
        self._next()
        return degree

    def _stretched(self) -> tuple[str, tuple[Formula, ...], tuple[str, ...], int]:
        opening = self._next()
        body = self.formula((r"\right",))
        self._next()
        return "bracket", (body,), (opening, self._next()), 0

    def _environment(self) -> tuple[str, tuple[Formula, ...], tuple[str, ...], int]:
        name = self._raw()
        cells, rows, columns = [], 1, ""
        if name in ("array", "alignedat"):
            columns = self._raw()
        while True:
            cells.append(self.formula(("&", r"\\", r"\end")))
            token = self._next()
            rows += token == r"\\"
            if token == r"\end":
                self._raw()
                return "rows", tuple(cells), (name, columns), rows


def _kind(token: str) -> str:
    for kind, signs in (("binary", _BINARY), ("relation", _RELATIONS), ("large", _LARGE), ("word", _WORDS)):
        if token in signs:
            return kind
    if token in (",", ";"):
        return "comma"
    if token in _PAIRS:
        return "open"
    return "close" if token in _PAIRS.values() else "letter"
