"""A formula split into pieces at commas and breaks, each with the break before it and its condition.

Definition   a break is a comma, a wide space, a new line, a semicolon, or a word like `and`
"""

from __future__ import annotations

from dataclasses import dataclass, field

from derivations.documents.formulas.cursor import Grammar
from derivations.documents.formulas.relations import read_relation, relation_next
from derivations.documents.formulas.tokens import stop
from derivations.documents.syntax import Arrow, Chain, Name, Node, Words

__all__ = ["Piece", "read_pieces"]

_AND = frozenset(("and", "or", "和", "與", "与", "且", "及", "または", "かつ", "および"))


@dataclass
class Piece:
    """A part of a formula between two breaks, with the break before it."""

    sides: list[Node]
    relations: list[str | Arrow]
    break_before: str  # "", "comma", "quad", "newline", "semicolon", "break"
    condition: list[Node] = field(default_factory=list)
    is_condition: bool = False
    ends_line: bool = False


def read_pieces(reader: Grammar, pieces: list[Piece]) -> None:
    """Append all pieces of a formula to a list. If parsing stops, the list keeps the pieces read so far."""
    before = ""
    conditional = False
    leading: list[Node] = []
    while not reader.at("end"):
        token = reader.token
        if token.kind in ("comma", "quad", "newline", "semicolon", "break"):
            reader.take()
            both = conditional and token.kind == "break" and token.text in _AND
            if pieces and token.kind in ("newline", "semicolon"):
                pieces[-1].ends_line = True
            before = "comma" if both else token.kind if before in ("", "comma") else before
            conditional = conditional and (both or token.kind in ("comma", "quad"))
        elif token.kind == "cond" and not pieces:
            leading += _leading(reader)
            goes_on = reader.at("comma") and reader.tokens[reader.position + 1].kind in ("dots", "number")
            if reader.at("end") or goes_on:  # nothing is said under this condition: `\text{for } i = 1, \dots, h`
                only, *leading = leading
                parts = (only.sides, only.relations) if isinstance(only, Chain) else ((only,), ())
                pieces.append(Piece(list(parts[0]), list(parts[1]), "", leading))
                leading = []
        elif token.kind == "cond":
            reader.take()
            conditional = True
            if not (reader.side_next() or relation_next(reader)):
                pieces[-1].condition.append(Words(token.text, start=token.start, end=token.end))
                before = before or "comma"
            else:
                before = before or "break"
        elif token.kind == "period":
            reader.take()
            if reader.token.kind not in ("end", "newline", "quad", "text", "break") and not reader.token.spaced:
                stop(token.start, "a period inside the formula")
            before = "semicolon"
        else:
            if pieces and not before:
                stop(token.start, f"{token.text!r} is not expected here")
            pieces.append(_piece(reader, before, conditional))
            if leading:
                pieces[-1].condition, leading = leading, []
            before = ""


def _leading(reader: Grammar) -> list[Node]:
    r"""Read a condition in front of a statement: `\forall i: x_i \ge 0`, `\text{if } i > j, ...`."""
    token = reader.take()
    if not reader.side_next():
        return [Words(token.text, start=token.start, end=token.end)]
    first = reader.side()
    if reader.accept("rel", ":") or not relation_next(reader):
        return [first]
    sides: list[Node] = [first]
    relations: list[str | Arrow] = []
    while relation_next(reader) and not reader.at("rel", ":"):
        relations.append(read_relation(reader))
        sides.append(reader.side(space=relations[-1] == "∈"))
    reader.accept("rel", ":")
    return [Chain(tuple(sides), tuple(relations), start=first.start, end=reader.end)]


def _piece(reader: Grammar, before: str, conditional: bool) -> Piece:
    clause = reader.clause()
    if isinstance(clause, Chain):
        sides, relations = list(clause.sides), list(clause.relations)
    else:
        sides, relations = [clause], []
    if not relations and before == "" and isinstance(clause, Words):
        sides = [Name(clause.text, start=clause.start, end=clause.end)]
    sides = [
        Name(side.text, start=side.start, end=side.end) if isinstance(side, Words) and relations else side
        for side in sides
    ]
    return Piece(sides, list(relations), before, is_condition=conditional)
