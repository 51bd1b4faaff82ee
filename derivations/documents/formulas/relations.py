r"""Relations between sides: signs, arrows with notes, and signs with something written over them."""

from __future__ import annotations

from derivations.documents.formulas import building, scripts, structures
from derivations.documents.formulas.cursor import Grammar
from derivations.documents.syntax import Arrow, Name, Node, Words

__all__ = ["decorated_relation", "read_relation", "relation_next"]


def relation_next(reader: Grammar) -> bool:
    """Return whether a relation or an arrow comes next."""
    token = reader.token
    if token.kind in ("rel", "arrow"):
        return True
    return token.kind == "cmd" and (token.text == "xrightarrow" or decorated_relation(reader) >= 0)


def decorated_relation(reader: Grammar) -> int:
    r"""Return where the relation stands in `\overset{\text{def}}{=}`, or -1."""
    if reader.token.text not in ("overset", "stackrel", "underset") or reader.tokens[reader.position + 1].kind != "{":
        return -1
    here = reader.position
    reader.position += 1
    second = reader.group_end() + 1
    reader.position = here
    kinds = [token.kind for token in reader.tokens[second : second + 3]]
    if kinds[:1] in (["rel"], ["arrow"]):
        return second
    return second + 1 if kinds in (["{", "rel", "}"], ["{", "arrow", "}"]) else -1


def read_relation(reader: Grammar) -> str | Arrow:
    """Read a relation or an arrow."""
    token = reader.take()
    if token.kind == "rel":
        return token.text
    if token.kind == "arrow":
        notes, power, _ = scripts.read_scripts(reader)
        return Arrow(power, building.listed(notes) if notes else None, start=token.start, end=reader.end)
    if token.text == "xrightarrow":
        below = structures.read_note(reader, "]") if reader.at("open", "[") else None
        above = structures.read_note(reader) if reader.at("{") else None
        above = None if above == Words("") else above
        reader.accept("quad")
        return Arrow(above, below, start=token.start, end=reader.end)
    reader.position -= 1
    place = decorated_relation(reader)
    reader.position += 1
    note = structures.read_note(reader)
    relation = reader.tokens[place]
    reader.position = place + 2 if reader.at("{") else place + 1
    if relation.kind == "arrow":
        return Arrow(note, start=token.start, end=reader.end)
    defined = relation.text == "=" and isinstance(note, Name | Words) and _spelled(note).startswith("def")
    return ":=" if defined else relation.text


def _spelled(node: Node) -> str:
    return node.base if isinstance(node, Name) else node.text if isinstance(node, Words) else ""
