r"""Structures: fractions, roots, sums with bounds, braces with notes, sizes of spaces."""

from __future__ import annotations

from dataclasses import replace

from derivations.documents.formulas import applications, building, derivatives, scripts
from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.cursor import Grammar
from derivations.documents.formulas.tokens import Stopped, Token, stop
from derivations.documents.syntax import (
    Aggregate,
    Annotated,
    Call,
    Derivative,
    Name,
    Node,
    Product,
    Root,
    Space,
    Sum,
    Words,
)

__all__ = ["read_aggregate", "read_note", "read_space", "read_structure", "space_next"]


def _read_argument(reader: Grammar, listing: bool = False) -> Node:
    """Read the argument of a command: a group, or one token. With `listing`, commas may separate several items."""
    if not reader.at("{"):
        return scripts.read_script(reader)
    reader.take()
    reader.deeper()
    node = building.listed(scripts.read_clauses(reader, "}") or [reader.clause()]) if listing else reader.clause()
    reader.depth -= 1
    reader.expect("}", "the end of the argument")
    return node


def read_note(reader: Grammar, closing: str = "}") -> Node:
    """Read a note: a formula if it is one, else words."""
    opening = reader.take()
    here, depth = reader.position, reader.depth
    kind = "close" if closing == "]" else "}"
    try:
        reader.deeper()
        items = scripts.read_clauses(reader, kind)
        if items and reader.at(kind):
            reader.take()
            reader.depth = depth
            return building.flat(building.listed(items))
    except Stopped:
        pass
    reader.position, reader.depth, reader.waiting = here - 1, depth, None
    if kind == "close":
        stop(opening.start, "the note is not understood")
    reader.position = reader.group_end()
    closing_token = reader.take()
    words_of_note = " ".join(reader.text[opening.end : closing_token.start].split())
    return Words(words_of_note, start=opening.end, end=closing_token.start)


def read_structure(reader: Grammar) -> Node:
    """Read a fraction, a root, or something with a note."""
    token = reader.take()
    if token.text == "frac":
        above, below = _read_argument(reader), _read_argument(reader)
        node = derivatives.fraction(above, below, token.start, reader.end)
        if isinstance(node, Derivative) and node.of == Name("") and reader.factor_next() and not reader.at("text"):
            operand = building.unfenced(derivatives.read_operand(reader))
            return Derivative(operand, node.by, start=token.start, end=reader.end)
        return node
    if token.text == "binom":
        function = Name("binom", start=token.start, end=token.end)
        return Call(function, (_read_argument(reader), _read_argument(reader)), start=token.start, end=reader.end)
    if token.text in ("sqrt", "root"):
        degree = None
        if token.text == "sqrt" and reader.at("open", "["):
            reader.take()
            degree = reader.clause()
            reader.expect("close", "the end of the degree")
        if token.text == "root":
            radicand = building.unfenced(reader.factor())
        elif reader.at("open", "("):  # `\sqrt(d)`, whose line is too short in print
            radicand = building.unfenced(reader.brackets())
        else:
            radicand = _read_argument(reader)
        return Root(radicand, degree, start=token.start, end=reader.end)
    if token.text in ("underbrace", "overbrace"):
        of = _read_argument(reader, listing=True)
        if not (reader.accept("_") or reader.accept("^")):
            stop(reader.token.start, "the note of a brace is missing")
        note = read_note(reader) if reader.at("{") else scripts.read_script(reader)
        return Annotated(of, note, start=token.start, end=reader.end)
    note = read_note(reader) if reader.at("{") else scripts.read_script(reader)
    of = _read_argument(reader)
    if isinstance(of, Name) and of.base in words.BIG:
        return _read_aggregate_of(reader, words.BIG[of.base], (note,), None, token.start)
    if token.text == "underset" and isinstance(of, Name) and of.base in words.FUNCTIONS and not of.subscripts:
        function = replace(of, subscripts=building.subscripts([note]), start=token.start)  # the axis of a softmax
        if reader.at("open", "(") or (reader.at("open", "[") and of.base == "E"):
            return applications.read_call(reader, function, Token("word", of.base, of.start, of.end))
        return function
    return Annotated(of, note, start=token.start, end=reader.end)


def read_aggregate(reader: Grammar) -> Node:
    """Read a sum, a product, a maximum or the like. Without an operand it is a name."""
    token = reader.take()
    word = next(name for name, kind in words.BIG.items() if kind == token.text)
    below, above, _ = scripts.read_scripts(reader)
    function = Name(word, start=token.start, end=token.end)
    if (
        not below
        and above is None
        and reader.at("open")
        and token.text in ("max", "min", "sup", "inf", "argmax", "argmin")
    ) and reader.token.text in "({[":
        return Call(function, applications.read_arguments(reader), start=token.start, end=reader.end)
    if not reader.factor_next() and not reader.at("op", "-"):
        return scripts.attached(function, below, above, 0, reader.end)
    return _read_aggregate_of(reader, token.text, below, above, token.start)


def _read_aggregate_of(reader: Grammar, kind: str, below: tuple[Node, ...], above: Node | None, start: int) -> Node:
    """Read what is summed: factors up to the next plus."""
    reader.deeper()
    reader.integrals += kind == "integral"
    body = reader.product()
    reader.integrals -= kind == "integral"
    reader.depth -= 1
    last = body.factors[-2:] if isinstance(body, Product) else ()
    if kind == "integral" and last and isinstance(last[1], Name) and last[1].accent == "d":
        assert isinstance(body, Product)
        rest, variable = building.product(body.factors[:-1], body.operators[:-1]), replace(last[1], accent="")
        return Aggregate(
            kind, rest, (variable,), building.listed(below) if below else None, above, start=start, end=reader.end
        )
    if kind == "integral" and len(last) == 2 and last[0] == Name("d") and isinstance(last[1], Name):
        assert isinstance(body, Product)
        if len(body.factors) > 2:
            rest = building.product(body.factors[:-2], body.operators[:-2])
            lower = building.listed(below) if below else None
            return Aggregate(kind, rest, (last[1],), lower, above, start=start, end=reader.end)
    return building.aggregate(kind, below, above, body, start)


def space_next(reader: Grammar) -> bool:
    r"""Return whether a letter after `\in` is a space of numbers: R and `N_+`, but not `N(v)` or `C_j`."""
    if not reader.at("letter") or reader.token.text not in "RNZC":
        return False
    kinds = [token.kind for token in reader.tokens[reader.position + 1 : reader.position + 4]]
    part = kinds[1:2] in (["op"], ["rel"]) or kinds[1:] in (["{", "op"], ["{", "rel"])
    return part if kinds[0] == "_" else kinds[0] != "open"


def read_space(reader: Grammar, token: Token) -> Node:
    r"""Read the sizes of a space, `\mathbb{R}^{n \times d}`."""
    sizes: list[Node] = []
    letter = token.text + _read_part(reader)
    if reader.at("^") and "op+" in [each.kind + each.text for each in reader.tokens[reader.position + 1 :][:2]]:
        reader.take()  # `\mathbb{R}^+`
        letter += _part_sign(reader)
    if reader.accept("^"):
        grouped = reader.at("{") or reader.at("open", "(")
        if grouped:
            closing = "}" if reader.take().kind == "{" else "close"
            sizes.append(_read_size(reader))
            while reader.accept("op", "times") or reader.accept("comma") or reader.accept("letter", "x"):
                sizes.append(_read_size(reader))
            reader.expect(closing, "the end of the sizes")
        else:
            sizes.append(scripts.read_script(reader))
            while reader.syntax != "latex" and reader.at("op", "times") and not _space_behind(reader):
                reader.take()
                sizes.append(reader.factor())
    return Space(letter + _read_part(reader), tuple(sizes), start=token.start, end=reader.end)


def _read_part(reader: Grammar) -> str:
    r"""Read the restriction of a space of numbers: `\mathbb{R}_+`, `\mathbb{R}_{\ge 0}`."""
    return _part_sign(reader) if reader.accept("_") else ""


def _part_sign(reader: Grammar) -> str:
    grouped = reader.at("{")
    place = reader.take().start if grouped else reader.token.start
    said = reader.take()
    compared = said.kind == "rel" and reader.at("number")
    part = said.text + (reader.take().text if compared else "")
    if part not in ("+", ">0", "≥0"):
        stop(place, "this part of a space is not known")
    if grouped:
        reader.expect("}", "the end of the part")
    return part


def _space_behind(reader: Grammar) -> bool:
    """Return whether another space follows the sign here, as in a product of spaces."""
    return reader.tokens[reader.position + 1].kind == "space"


def _read_size(reader: Grammar) -> Node:
    """Read one size of an array."""
    reader.deeper()
    start, sign = reader.token.start, reader.sign()
    terms, signs = [reader.product(sizes=True)], [sign]
    while reader.at("op", "+") or reader.at("op", "-"):
        signs.append(reader.sign())
        terms.append(reader.product(sizes=True))
    reader.depth -= 1
    if len(terms) > 1 and reader.at("op", "times"):
        stop(start, "a sum of sizes without brackets")
    return terms[0] if len(terms) == 1 else Sum(tuple(terms), tuple(signs), start=start, end=reader.end)
