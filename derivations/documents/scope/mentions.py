r"""Shapes that stand alone, and the arrays that have them: `| $Q$ | $(n \times d)$ |`, "W1: [512, 2048]", comments.

Assumes      between a letter and its shape stand at most 60 characters of one sentence, and a word for shapes or none
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sympy import Symbol

from derivations.documents.passages import Block
from derivations.documents.scope.lexicon import SHAPE_WORDS, has_word
from derivations.documents.scope.pieces import (
    FARTHEST,
    NEAR,
    PHRASE_END,
    Declaration,
    Mention,
    Piece,
    is_empty,
    names_before,
)
from derivations.documents.scope.sizes import size_of, written_shape
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Entry,
    List,
    Name,
    Node,
    Number,
    Product,
    Space,
    Transpose,
    Words,
)

__all__ = ["example_of", "general_of", "mention_in"]

_SENTENCE_END = re.compile(r"[。！？!?\n]|\.\s|[;；]")
_AND = re.compile(r"\band\b|[和與与及]|\bet\b|\bund\b|\by\b")  # after which another one is spoken of
_LABEL = re.compile(
    r"([A-Za-z_][A-Za-z_0-9]*|[\u3040-\u30ff\u4e00-\u9fff]{1,8})\s*(?:shape|的形狀|的形状|の形状)?\s*[:：]\s*$"
)


def mention_in(statement: Statement, block: Block, pieces: Sequence[Piece], number: int) -> Mention | None:
    """Return the mention for a statement that is a bare shape, or None for any other statement."""
    chain = statement.chain
    piece = pieces[number]
    if chain.relations == ("∈",) and is_empty(chain.sides[0]) and isinstance(chain.sides[1], Space):
        members = [size_of(size) for size in chain.sides[1].sizes]
        names = names_before(pieces, number)
        known = tuple(size for size in members if size is not None)
        return Mention(statement, known, names[0]) if names and len(known) == len(members) else None
    if len(chain.relations) == 1 and chain.relations[0] == ":":
        sizes = None if _is_numbered(chain.sides[1]) else written_shape(chain.sides[1])
        return None if sizes is None else Mention(statement, sizes, chain.sides[0])
    if chain.relations == ("=",) and isinstance(chain.sides[0], Entry) and chain.sides[0].indices == (Words("shape"),):
        sizes = written_shape(chain.sides[1])
        return None if sizes is None else Mention(statement, sizes, chain.sides[0].of)
    if chain.relations or len(piece.statements) != 1:
        return None
    side = chain.sides[0]
    sizes = written_shape(side, bare=isinstance(side, Product))
    if sizes is None or (len(sizes) < 2 and not _is_array_comment(block, side)):
        return None
    return Mention(statement, sizes, _subject_of(block, pieces, number))


def _is_array_comment(block: Block, side: Node) -> bool:
    """Return whether a list of one size stands in brackets in code: [n], and not [q1]."""
    return block.kind == "code" and isinstance(side, List) and side.bracket == "[" and not _is_numbered(side)


def _is_numbered(side: Node) -> bool:
    """Return whether a list has one member, which is called by a letter and a number."""
    match side:
        case List(items=(Name(key=key),)):
            return re.fullmatch(r"[a-z]_?\d+", key) is not None
    return False


def _subject_of(block: Block, pieces: Sequence[Piece], number: int) -> Node | None:
    if block.kind == "code":
        return _labelled(pieces, number) or _assigned(pieces, number)
    if block.kind == "row":
        inside = _beside(pieces, number)
        return inside if inside is not None else _first_cell(pieces, number)
    bare = isinstance(pieces[number].alone, Product)
    return _beside(pieces, number) or (None if bare else _labelled(pieces, number)) or _behind(pieces, number)


def _beside(pieces: Sequence[Piece], number: int) -> Node | None:
    """Return the formula before a shape, if only words for shapes are between them in one sentence."""
    between = ""
    for earlier in reversed(pieces[max(number - NEAR, 0) : number]):
        if earlier.cell != pieces[number].cell:
            return None
        if earlier.statements:
            words = between.strip().lower()
            near = not words.strip("()（）:： ") or has_word(words, SHAPE_WORDS)
            return earlier.alone if near and earlier.alone is not None and not _is_shape(earlier.alone) else None
        between = earlier.text + between
        if len(between) > FARTHEST or _SENTENCE_END.search(between):
            return None
    return None


def _is_shape(node: Node) -> bool:
    bare = isinstance(node, Product) and "times" in node.operators
    return written_shape(node, bare) is not None or isinstance(node, Number)


def _labelled(pieces: Sequence[Piece], number: int) -> Node | None:
    """Return the word before a colon: `W1: [512, 2048]`, `x shape: [batch, n, d]`."""
    before = pieces[number - 1].text if number else ""
    match = _LABEL.search(before[-FARTHEST:])
    return Name(match.group(1)) if match else None


def _assigned(pieces: Sequence[Piece], number: int) -> Node | None:
    """Return the left side of a line of code, for the shape in the comment beside it."""
    for earlier in reversed(pieces[max(number - NEAR, 0) : number]):
        if earlier.statements:
            chain = earlier.statements[-1].chain
            if _is_shape(chain.sides[0]):
                return None
            return chain.sides[0] if chain.relations[:1] in ((), ("=",)) else None
    return None


def _first_cell(pieces: Sequence[Piece], number: int) -> Node | None:
    """Return the one formula of the first cell of a row."""
    first = [piece for piece in pieces[: min(number, 16)] if piece.cell == pieces[0].cell and piece.statements]
    if pieces[number].cell == pieces[0].cell or len(first) != 1:
        return None
    return first[0].alone if first[0].alone is not None and not _is_shape(first[0].alone) else None


def _behind(pieces: Sequence[Piece], number: int) -> Node | None:
    """Return X of "an `n x d` matrix X": the formula directly after, with a word for arrays between them."""
    if number + 2 >= len(pieces) or not pieces[number + 2].statements:
        return None
    words = pieces[number + 1].text.strip().lower()
    near = 0 < len(words) <= 30 and has_word(words, SHAPE_WORDS) and not PHRASE_END.search(words)
    near = near and not _AND.search(words)
    subject = pieces[number + 2].alone
    return subject if near and isinstance(subject, Name | Transpose | Entry) else None


def general_of(mention: Mention, before: Sequence[Mention]) -> Mention | None:
    """Return `[batch, seq, d]` for its example `[1, 10, 512]` in the same block."""
    if mention.subject is not None or any(size.free_symbols for size in mention.sizes):
        return None
    return next((each for each in before[:16] if len(each.sizes) == len(mention.sizes)), None)


def example_of(mention: Mention, general: Mention) -> Iterator[Declaration]:
    """Yield the values of letters in an example, such as d = 512."""
    place = mention.statement.passage.place(mention.statement.chain.start)
    for letter, number in zip(general.sizes, mention.sizes, strict=True):
        if isinstance(letter, Symbol):
            yield Declaration(letter.name, place, value=number)
