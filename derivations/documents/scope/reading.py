"""Collects what the blocks of a document declare into its scopes, in one pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sympy import Symbol

from derivations.documents.passages import Document
from derivations.documents.scope.conventions import Convention
from derivations.documents.scope.declarations import declared_in
from derivations.documents.scope.document import Scopes
from derivations.documents.scope.filing import family_of
from derivations.documents.scope.lexicon import WHERE, starts_with_word
from derivations.documents.scope.pieces import Declaration
from derivations.documents.scope.sections import read_sections
from derivations.documents.scope.sizes import fold_key
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name

__all__ = ["read_scopes"]

MOST_OF_AN_END = 200  # characters of a passage that are kept beside a formula


def read_scopes(document: Document, statements: Sequence[Statement], convention: Convention | None = None) -> Scopes:
    """Return what a document declares, from its blocks and the statements that were read from its formulas.

    Assumes      a convention that is given holds where the products of a section do not tell it
    """
    sections = read_sections(document)
    blocks = {id(passage): number for number, block in enumerate(document.blocks) for passage in block.passages}
    scopes = Scopes(sections, blocks, given=convention, kept=list(statements))
    readings: dict[int, list[Statement]] = defaultdict(list)
    for statement in statements:
        readings[id(statement.passage)].append(statement)
    for number, block in enumerate(document.blocks):
        found, mentions = declared_in(block, readings)
        _file(scopes, found, sections.of_block[number], number)
        text = " ".join(_ends(passage.text) for passage in block.passages if not passage.is_formula)
        scopes.texts.append(text)
        if block.passages and not block.passages[0].is_formula and starts_with_word(block.passages[0].text, WHERE):
            scopes.explaining.add(number)
        if block.kind == "heading":
            scopes.headings[sections.of_block[number]] = text
        for mention in mentions:
            scopes.mentions[id(mention.statement.chain)] = mention
            scopes.shapes_written[sections.of_block[number]].append((number, mention.sizes))
            if mention.subject is not None:
                scopes.sizes_declared.add((mention.sizes, sections.of_block[number]))
    for number, statement in enumerate(statements):
        place = blocks.get(id(statement.passage), 0)
        scopes.in_block[place].append(statement)
        _use(scopes, number, statement, sections.of_block[place] if sections.of_block else 0)
    _keep_sizes(scopes)
    return scopes


def _ends(text: str) -> str:
    """Return a passage, or only the beginning and the end of a long one, as these are beside formulas."""
    return text if len(text) <= 2 * MOST_OF_AN_END else f"{text[:MOST_OF_AN_END]} {text[-MOST_OF_AN_END:]}"


def _file(scopes: Scopes, found: Iterable[Declaration], section: int, block: int) -> None:
    """Store declarations by their kind.

    A shape of several axes that contains its letter, such as d × d for d, is left out. A vector q of R^q is kept.
    """
    for each in found:
        if each.sizes is not None:
            if len(each.sizes) > 1 and any(size and Symbol(each.key) in size.free_symbols for size in each.sizes):
                continue
            scopes.shapes.add(each, section, block)
            scopes.sizes_declared.add((each.sizes, section))
            known = tuple(size for size in each.sizes if size is not None)
            scopes.letters[section].update(getattr(s, "name", "") for size in known for s in size.free_symbols)
            if len(known) == len(each.sizes):
                scopes.shapes_written[section].append((block, known))
            scopes.distinctions.together([size for size in each.sizes if size is not None])
            if each.name is not None and family_of(each.name):
                scopes.families.setdefault(family_of(each.name), each.name)
        elif each.value is not None:
            scopes.values.add(each, section, block)
        elif each.definition is not None:
            scopes.definitions.add(each, section, block)
            if each.name is not None and family_of(each.name):
                scopes.defined_families.setdefault(family_of(each.name), each.name)
        elif each.printed is not None:
            scopes.printed.add(each, section, block)
        elif each.index:
            scopes.indices.add((each.key, section))
        elif each.vector:
            scopes.vectors.add(each, section, block)
        elif each.meaning:
            scopes.meanings.add(each, section, block)
            if each.stated:
                scopes.said_at[each.key, each.place] = each.meaning
            scopes.distinctions.called(each.key, each.meaning)
            if each.name is not None:
                for meaning in each.meaning:
                    scopes.called[meaning].setdefault(each.key, each.name)


def _use(scopes: Scopes, number: int, statement: Statement, section: int) -> None:
    """Record the names that a statement uses, which are indices, and on which side of products its weights are."""
    scopes.numbers[id(statement.chain)] = number
    keys: dict[str, None] = {}
    for side in statement.chain.sides:
        labels = {id(each) for node in side.walk() if isinstance(node, Name) for each in _labels(node)}
        for node in side.walk():
            if isinstance(node, Name):
                if id(node) not in labels:
                    keys[fold_key(node.key)] = None
                for index in node.subscripts:
                    if isinstance(index, Name) and len(index.base) == 1 and index.base in "ijlmrst":
                        scopes.indices.add((index.key, section))
    for key in keys:
        scopes.users[key].append(number)
    votes = scopes.votes_of(statement.chain)
    scopes.votes.add(votes, scopes.blocks.get(id(statement.passage), 0), section)


def _labels(name: Name) -> Iterator[Name]:
    """Yield the capital letters that are labels of a name, as Q in `W^Q`. They do not use the letter."""
    for each in (*name.subscripts, *name.superscripts):
        if isinstance(each, Name) and each.base.isupper() and not each.subscripts:
            yield each


def _keep_sizes(scopes: Scopes) -> None:
    """Remove values with letters that are neither sizes nor numbers, as they only look like values of sizes."""
    sizes = scopes.distinctions
    numbers = {each.key for each in scopes.values.declarations if each.value is not None and each.value.is_number}
    for number, each in enumerate(scopes.values.declarations):
        if each.value is None or not each.value.free_symbols:
            continue
        letters = {each.key, *(getattr(symbol, "name", "") for symbol in each.value.free_symbols)}
        if not all(sizes.is_size(letter) or letter in numbers for letter in letters):
            scopes.values.declarations[number] = replace(each, value=None)
