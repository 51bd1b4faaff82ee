r"""A formula as statements: chains between commas and line breaks, lists, and the conditions that follow.

Definition   `Q = X W_Q, \quad K = X W_K` is two statements, `i = 1, \dots, h` one with a list, and
             `Q_i = X W_i^Q, \quad i = 1, \dots, h` one with a condition
Result       `read_formula(text, syntax)`: the statements, and where understanding stopped, if it did
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from derivations.documents.formulas.arrangement import arranged
from derivations.documents.formulas.building import listed
from derivations.documents.formulas.grammar import Reader
from derivations.documents.formulas.latex_tokens import latex_tokens
from derivations.documents.formulas.pieces import Piece, read_pieces
from derivations.documents.formulas.plain_tokens import plain_tokens
from derivations.documents.formulas.tokens import MAX_LENGTH, Stopped, stop
from derivations.documents.syntax import Chain, Dots, List, Name, Node, Number, Set, Space

__all__ = ["Reading", "Stop", "read_formula"]

Syntax = Literal["latex", "plain", "code"]


@dataclass(frozen=True)
class Stop:
    """The position where parsing stopped, and the reason. The text after it was not read."""

    offset: int
    reason: str


@dataclass(frozen=True)
class Reading:
    """The statements of a formula. If parsing stopped, they are those of the lines that were read completely."""

    statements: tuple[Chain, ...]
    stopped: Stop | None = None


def read_formula(text: str, syntax: Syntax, functions: frozenset[str] = frozenset()) -> Reading:
    """Parse a formula into its statements, in order.

    `functions` are the letters that are functions besides f, g, φ, ψ, σ and O.
    """
    pieces: list[Piece] = []
    try:
        if len(text) > MAX_LENGTH:
            stop(0, f"the formula has {len(text)} characters, more than {MAX_LENGTH}")
        tokens = latex_tokens(text) if syntax == "latex" else plain_tokens(text, code=syntax == "code")
        read_pieces(Reader(arranged(tokens, len(text)), text, syntax, functions), pieces)
    except Stopped as stopped:
        return Reading(tuple(_statements(_whole(pieces))), Stop(stopped.offset, stopped.reason))
    return Reading(tuple(_statements(pieces)))


def _whole(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces of the lines that were read to their end."""
    ends = [number for number, piece in enumerate(pieces) if piece.ends_line]
    return pieces[: ends[-1] + 1] if ends else []


def _statements(pieces: list[Piece]) -> list[Chain]:
    joined = _joined([each for piece in _tuples(pieces) for each in piece])
    chains: list[Chain] = []
    said: list[list[Node]] = []
    for piece in joined:
        for part in _implications(piece):
            if chains and (part.is_condition or _is_condition(part, chains[-1])):
                said[-1].append(_chain(part) if part.relations else part.sides[0])
                said[-1] += part.condition
                continue
            chains.append(_chain(part))
            said.append(list(part.condition))
    return [
        replace(chain, condition=listed([*([chain.condition] if chain.condition else []), *conditions]))
        if conditions
        else chain
        for chain, conditions in zip(chains, said, strict=True)
    ]


def _chain(piece: Piece) -> Chain:
    relations = tuple(piece.relations)
    return Chain(tuple(piece.sides), relations, start=piece.sides[0].start, end=piece.sides[-1].end)


def _tuples(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """Split `q, k = x W, x U` into one equation for each name before the relation."""
    number = 0
    while number < len(pieces):
        first = number
        while number < len(pieces) and not pieces[number].relations and isinstance(pieces[number].sides[0], Name):
            number += 1
        count = number - first + 1
        group = pieces[first : number + count]
        pairs = list(zip(group[:count], group[count - 1 :], strict=False))
        if count > 1 and len(pairs) == count and _is_tuple(group, count, pieces[number + count :]):
            middle = group[count - 1]
            names = [*(piece.sides[0] for piece in group[: count - 1]), middle.sides[0]]
            values = [middle.sides[1], *(piece.sides[0] for piece in group[count:])]
            yield [
                Piece([name, value], list(middle.relations), group[0].break_before if not place else "comma")
                for place, (name, value) in enumerate(zip(names, values, strict=True))
            ]
            number += count
        else:
            yield pieces[first : number + 1]
            number += 1


def _is_tuple(group: list[Piece], count: int, following: list[Piece]) -> bool:
    """Return whether these pieces are `count` names, one relation and `count` sides, separated by commas."""
    middle, behind = group[count - 1], group[count:]
    return (
        len(group) == 2 * count - 1
        and len(middle.relations) == 1
        and middle.relations[0] in ("=", ":=", "≈", "←")
        and isinstance(middle.sides[0], Name)
        and all(piece.break_before == "comma" and not piece.is_condition for piece in group[1:])
        and not any(piece.relations or isinstance(piece.sides[0], Dots) for piece in behind)
        and not (following and following[0].break_before == "comma" and not following[0].relations)
    )


def _joined(pieces: list[Piece]) -> list[Piece]:
    r"""Join pieces separated by commas into lists: `i = 1, \dots, h` on the right, `Q, K \in S` on the left."""
    joined: list[Piece] = []
    for number, piece in enumerate(pieces):
        last = joined[-1] if joined else None
        if last and piece.break_before == "comma" and not last.condition:
            if not piece.relations and _goes_on(last, piece, pieces[number + 1 :]):
                last.sides[-1] = _longer(last.sides[-1], piece.sides[0])
                continue
            subjects = not last.relations and not last.is_condition and _subjects(last.sides[0])
            if piece.relations and subjects and isinstance(piece.sides[0], Name) and piece.sides[0].base:
                piece.sides[0] = _longer(last.sides[0], piece.sides[0])
                piece.break_before = last.break_before
                joined[-1] = piece
                continue
        joined.append(Piece(list(piece.sides), list(piece.relations), piece.break_before, list(piece.condition),
                             piece.is_condition))  # fmt: skip
    return joined


def _goes_on(last: Piece, piece: Piece, following: list[Piece]) -> bool:
    """Return whether a side without a relation continues the list before it."""
    before, side = last.sides[-1], piece.sides[0]
    items = before.items if isinstance(before, List) and not before.bracket else (before,)
    if isinstance(side, Dots) or any(isinstance(item, Dots) for item in items):
        return True
    if not last.relations:
        return _subjects(before) and isinstance(side, Name) and _subject_ahead(following, piece)
    numbers = all(isinstance(item, Number) for item in (*items, side))
    dots_ahead = bool(following) and following[0].break_before == "comma" and isinstance(following[0].sides[0], Dots)
    dots_later = len(following) > 1 and following[1].break_before == "comma" and isinstance(following[1].sides[0], Dots)
    return numbers or dots_ahead or (dots_later and not following[0].relations)


def _subject_ahead(following: list[Piece], piece: Piece) -> bool:
    """Return whether the names after a piece lead to a relation that they are the subjects of, or to dots."""
    for each in following[:20]:
        if each.break_before != "comma":
            return False
        if each.relations or isinstance(each.sides[0], Dots):
            return True
        if not isinstance(each.sides[0], Name):
            return False
    return False


def _subjects(node: Node) -> bool:
    if isinstance(node, List) and not node.bracket:
        return all(isinstance(item, Name | Dots) for item in node.items)
    return isinstance(node, Name)


def _longer(before: Node, side: Node) -> Node:
    items = before.items if isinstance(before, List) and not before.bracket else (before,)
    return List((*items, side), start=before.start, end=side.end)


def _implications(piece: Piece) -> list[Piece]:
    r"""Split `a = b \Rightarrow c = d` into two statements, the first one the condition of the second."""
    parts: list[Piece] = []
    sides, relations = [piece.sides[0]], []  # type: ignore[var-annotated]
    for between, side in zip(piece.relations, piece.sides[1:], strict=True):
        if between in ("⇒", "⇔") and len(piece.relations) > 1:
            parts.append(Piece(sides, relations, piece.break_before, is_condition=piece.is_condition))
            sides, relations = [side], []
        else:
            sides.append(side)
            relations.append(between)
    parts.append(Piece(sides, relations, piece.break_before, list(piece.condition), piece.is_condition))
    for earlier, later in pairwise(parts):
        if earlier.relations:
            later.condition = [_chain(earlier), *later.condition]
    return parts


def _is_condition(piece: Piece, chain: Chain) -> bool:
    r"""Return whether a chain restricts letters of the chain before it: `i = 1, \dots, h`, `x > 0`, `j \neq i`."""
    if not chain.relations or len(piece.relations) < 1:
        return False
    subject = piece.sides[1] if len(piece.relations) == 2 and piece.relations[0] in ("<", "≤") else piece.sides[0]
    names = subject.items if isinstance(subject, List) else (subject,)
    letters = {node for node in chain.walk() if isinstance(node, Name)}
    if not all(isinstance(name, Name) and (name in letters) for name in names):
        return False
    side, relation = piece.sides[-1], piece.relations[-1]
    if relation == "=":
        ranged = isinstance(side, List) and any(isinstance(item, Dots) for item in side.items)
        return len(piece.relations) == 1 and ranged
    if relation == "∈":
        return isinstance(side, Set | List) or (isinstance(side, Space) and side.letter in "NZ")
    return relation in ("<", "≤", ">", "≥", "≠") and any(each in ("=", ":=", "≈") for each in chain.relations)
