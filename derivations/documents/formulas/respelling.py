r"""A corrected formula in the spelling of its author, in which only the corrected parts change.

Definition   both formulas are read. Where they say the same the author's characters stay; where they differ the
             smallest differing part is put in, and what the author wrote elsewhere keeps its spelling inside it
Result       a text that reads as the corrected formula, which is checked: a text that does not is given up for the
             corrected one as it is. What is right may be plain text, `8 d_model^2`, where the author wrote LaTeX
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from typing import Any, Literal

from derivations.documents.formulas.printing import formula_text
from derivations.documents.formulas.statements import read_formula
from derivations.documents.syntax import Chain, Name, Node, Number, Sum, Words, rebuilt

__all__ = ["respelled"]

Syntax = Literal["latex", "plain"]
SIGNS = {1: "+", -1: "-", 0: r"\pm "}
SIGN = re.compile(r"[+\-−]|\\pm\b ?|±")
SHORT_SCRIPT = re.compile(r"([_^])\{(\w)\}")
WORD = re.compile(r"(?<![\\_^{A-Za-z])[a-z]{3,}")  # outside of commands, scripts and braces: no LaTeX of letters
FIRST_MARK = 0xE000  # of the private characters, which stand for the author's parts while a formula is printed


def respelled(right: str, written: str, syntax: Syntax) -> str:
    r"""Return a corrected formula that keeps the author's characters wherever both formulas are the same.

    >>> respelled(r"y_{i} \left( 1 - y_{k} \right)", r"y_i ( 1+y_k )", "latex")
    'y_i ( 1-y_k )'
    """
    old = _read(written, syntax)
    new = None if old is None else _read_right(right, old, syntax)
    if new is None or old is None:
        return right
    if isinstance(old, Chain) and not isinstance(new, Chain):
        old = old.sides[-1]  # what is right is one side alone
    author = _Author(written, syntax, old)
    spelled = (author.edited(old, new), author.printed(new))
    return next((text for text in spelled if _read(text, syntax) == new), right)


def _read(text: str, syntax: Syntax) -> Node | None:
    """Return the only statement of a text, as one side if it has no relations, or None."""
    reading = read_formula(text, syntax)
    if reading.stopped is not None or len(reading.statements) != 1:
        return None
    chain = reading.statements[0]
    return chain if chain.relations or chain.condition else chain.sides[0]


def _read_right(text: str, author: Node, syntax: Syntax) -> Node | None:
    """Return the parsed correction: read as plain text if it has no command, no brace and no unknown word."""
    if syntax == "latex" and not set(text) & set("\\{"):
        plain = _read(text, "plain")
        known = {part.key for part in author.walk() if isinstance(part, Name)}
        if plain is not None and all(_is_told(part, known) for part in plain.walk()):
            return plain
    return None if syntax == "latex" and WORD.search(text) else _read(text, syntax)


def _is_told(part: Node, known: Set[str]) -> bool:
    """Return whether a part of plain text can be read safely.

    A name must be one letter or a name that the author uses, a number must be digits without a unit, and words are not
    safe.
    """
    match part:
        case Name():
            return len(part.base) == 1 or part.key in known
        case Number():
            return part.text.isdigit() and not part.unit
    return not isinstance(part, Words)


class _Author:
    """A formula as its author wrote it."""

    def __init__(self, text: str, syntax: Syntax, formula: Node) -> None:
        self.text, self.syntax = text, syntax
        self.spellings: dict[Any, str] = {}
        for node in formula.walk():
            if node.start < node.end:
                self.spellings.setdefault(_key(node), text[node.start : node.end])

    def edited(self, old: Node, new: Node) -> str:
        """Return the author's text of `old`, with the parts that differ in `new` replaced."""
        if old == new:
            return self.text[old.start : old.end]
        if not _are_alike(old, new):
            return self.printed(new)
        signs = _exchanged_signs(old, new)
        pairs = sorted(zip(old.children, new.children, strict=True), key=lambda pair: pair[0].start)
        pieces, done = [], old.start
        for before, after in pairs:
            if before.start < done:
                return self.printed(new)  # the parts are not written one after another
            between = self.text[done : before.start]
            pieces += [_with_sign(between, signs.get(id(before))), self.edited(before, after)]
            done = before.end
        return "".join([*pieces, self.text[done : old.end]])

    def printed(self, new: Node) -> str:
        """Return a new part as printed text, with the author's spelling of the parts that the author wrote."""
        marks: dict[str, str] = {}

        def marked(value: Any) -> Any:
            if isinstance(value, Node) and (spelling := self._spelling(value)) is not None:
                mark = chr(FIRST_MARK + len(marks))
                marks[mark] = spelling
                return Name(mark)
            return value if isinstance(value, Name) else rebuilt(value, marked)

        text = formula_text(marked(new), self.syntax)
        if self.syntax == "latex" and not SHORT_SCRIPT.search(self.text):
            text = SHORT_SCRIPT.sub(r"\1\2", text)
        return "".join(marks.get(each, each) for each in text)

    def _spelling(self, part: Node) -> str | None:
        """Return the author's text for a part, or None if that text does not read as this part alone."""
        spelling = self.spellings.get(_key(part))
        found = None if spelling is None else _read(spelling, self.syntax)
        return spelling if found is not None and _key(found) == _key(part) else None


def _key(node: Node) -> Any:
    return node.key if isinstance(node, Name) else node


def _are_alike(old: Node, new: Node) -> bool:
    """Return whether two nodes differ only inside their children, or in the signs between them."""
    if type(old) is not type(new) or not old.children or len(old.children) != len(new.children):
        return False
    parts: Iterator[Node] = iter(new.children)

    def taken(value: Any) -> Any:
        return next(parts) if isinstance(value, Node) else rebuilt(value, taken)

    filled = rebuilt(old, taken)
    if isinstance(filled, Sum) and isinstance(new, Sum):
        filled = replace(filled, signs=new.signs)
    return bool(filled == new)


def _exchanged_signs(old: Node, new: Node) -> Mapping[int, str]:
    """Return the new signs of the terms whose sign changes, by the `id` of the term."""
    if not isinstance(old, Sum) or not isinstance(new, Sum):
        return {}
    signs = zip(old.terms, old.signs, new.signs, strict=True)
    exchanged = {id(term): SIGNS[after] for term, before, after in signs if before != after}
    if id(old.terms[0]) in exchanged and new.signs[0] == 1:
        exchanged[id(old.terms[0])] = ""
    return exchanged


def _with_sign(between: str, sign: str | None) -> str:
    """Return the text in front of a term with its sign replaced."""
    if sign is None:
        return between
    if not SIGN.search(between):
        return between + sign
    return SIGN.sub(lambda _: sign, between, count=1)
