r"""What one block of a document declares: shapes, values, definitions and meanings of letters.

Definition   a declaration ties a name to something said of it in the same block: `X \in \mathbb{R}^{n \times d}`,
             `h = 8`, a shape in another cell of its row or in the comment beside it, "where d_k is the key dimension"
Result       declarations in the order of the block, and for shapes that stand alone, what they are the shape of
Assumes      words come from the lexicon; between a name and its shape stand at most 60 characters of one sentence
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from derivations.documents.passages import Block, Place
from derivations.documents.scope.lexicon import IF, ends_with_word
from derivations.documents.scope.mentions import example_of, general_of, mention_in
from derivations.documents.scope.phrases import said_in_words
from derivations.documents.scope.pieces import (
    Declaration,
    Mention,
    Piece,
    is_empty,
    names_before,
    piece_of,
    subjects,
)
from derivations.documents.scope.sizes import is_sizelike, size_of, written_shape
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Aggregate,
    Annotated,
    Arrow,
    Chain,
    Dots,
    List,
    Name,
    Negative,
    Node,
    Number,
    Product,
    Space,
)

__all__ = ["declared_in"]

MOST_LINKS = 16  # of a chain that declare something


def declared_in(block: Block, readings: Mapping[int, Sequence[Statement]]) -> tuple[list[Declaration], list[Mention]]:
    """Return what a block declares; `readings` holds the statements of each passage by its identity."""
    pieces = [piece_of(block, number, passage, readings) for number, passage in enumerate(block.passages)]
    found: list[Declaration] = []
    mentions: list[Mention] = []
    for number, piece in enumerate(pieces):
        for count, statement in enumerate(piece.statements):
            found.extend(_in_statement(statement, piece.statements[max(count - 16, 0) : count], pieces, number))
            mention = mention_in(statement, block, pieces, number)
            if mention is not None:
                general = general_of(mention, mentions)
                if general is not None:
                    mention = replace(mention, example_of=general.sizes)
                    found.extend(example_of(mention, general))
                mentions.append(mention)
                if not _is_stated(statement):
                    names = subjects(mention.subject)
                    found.extend(Declaration(name.key, piece.place, name, sizes=mention.sizes) for name in names)
        found.extend(said_in_words(block, pieces, number))
    return found, mentions


def _is_stated(statement: Statement) -> bool:
    """Return whether a statement is a membership, which declares by itself."""
    return statement.chain.relations[:1] == ("∈",)


def _in_statement(
    statement: Statement, before: Sequence[Statement], pieces: Sequence[Piece], number: int
) -> Iterator[Declaration]:
    chain = statement.chain
    place = statement.passage.place(chain.start)
    conditional = statement.is_equivalent or (number > 0 and ends_with_word(pieces[number - 1].text, IF))
    for link, relation in enumerate(chain.relations[:MOST_LINKS]):
        left, right = chain.sides[link], chain.sides[link + 1]
        if relation == "∈" and isinstance(right, Space):
            members = tuple(size_of(size) for size in right.sizes)
            for side in chain.sides[: link + 1]:
                names = subjects(side) or (names_before(pieces, number) if is_empty(side) else ())
                for name in (*_listed_before(before, side), *names):
                    yield Declaration(name.key, place, name, sizes=members)
        elif relation in ("=", ":=", "←"):
            for each in _equation(chain, link, left, right, place):
                if not (
                    conditional
                    and (each.definition is not None or (each.value is not None and each.value.free_symbols))
                ):
                    yield each
        elif isinstance(relation, Arrow) and isinstance(relation.above, Product):
            first, *rest = relation.above.factors
            sizes = written_shape(rest[0]) if len(rest) == 1 else None
            if isinstance(first, Name) and sizes is not None:
                yield Declaration(first.key, place, first, sizes=sizes)
    if chain.condition is not None:
        yield from _indices(chain.condition, place)
    for side in chain.sides:
        yield from _inside(side, place)


def _listed_before(before: Sequence[Statement], side: Node) -> tuple[Name, ...]:
    r"""Return Q and K of the formula `Q, K, V \in ...`, in which commas separate statements."""
    names: list[Name] = []
    if isinstance(side, Name) and side.base:
        for earlier in reversed(before):
            if earlier.chain.relations or not isinstance(earlier.chain.sides[0], Name):
                break
            names.append(earlier.chain.sides[0])
    return tuple(reversed(names))


def _equation(chain: Chain, link: int, left: Node, right: Node, place: Place) -> Iterator[Declaration]:
    if not isinstance(left, Name) or not left.base:
        return
    if isinstance(right, List) and any(isinstance(item, Dots) for item in right.items) and not right.bracket:
        yield from _indices(Chain((left, right), ("=",)), place)
        return
    if link == 0 or all(isinstance(side, Name) for side in chain.sides[:link]):
        final = next((side for side in chain.sides[link + 1 : link + MOST_LINKS] if not isinstance(side, Name)), right)
        if not isinstance(final, Number):
            yield Declaration(left.key, place, left, definition=right)
        for side in chain.sides[link + 1 : link + MOST_LINKS]:
            value = size_of(side) if is_sizelike(side) else None
            if value is not None and value != 0:
                yield Declaration(left.key, place, left, value=value)
    if link == 0:
        for side in chain.sides[1:MOST_LINKS]:
            match side:
                case Number():
                    yield Declaration(left.key, place, left, printed=side)
                case Negative(operand=Number() as number):
                    below = replace(number, text=f"-{number.text}", value=-number.value)
                    yield Declaration(left.key, place, left, printed=below)


def _indices(condition: Node, place: Place) -> Iterator[Declaration]:
    r"""Yield i of `i = 1, \dots, h` and of `i \in \{1, \dots, h\}`."""
    match condition:
        case Chain(sides=(Name(base=base) as name, _), relations=("=" | "∈",)) if len(base) == 1:
            yield Declaration(name.key, place, name, index=True)
        case Chain(sides=(List(items=items), _), relations=("=" | "∈",)):
            for item in items:
                if isinstance(item, Name) and len(item.base) == 1:
                    yield Declaration(item.key, place, item, index=True)
        case List(items=items):
            for item in items[:8]:
                if isinstance(item, Chain):
                    yield from _indices(item, place)


def _inside(side: Node, place: Place) -> Iterator[Declaration]:
    for node in side.walk():
        match node:
            case Aggregate(index=names):
                for name in names:
                    yield Declaration(name.key, place, name, index=True)
            case Annotated(of=of, note=note):
                sizes = written_shape(note, bare=True)
                if sizes is not None and len(sizes) > 1:
                    for name in subjects(of):
                        yield Declaration(name.key, place, name, sizes=sizes)
