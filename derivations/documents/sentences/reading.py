r"""Statements in words: a sentence is read from the inside outwards, until phrases with a copula between them are left.

Definition   every formula of a sentence is a phrase; a reader joins phrases and words to a larger phrase, which takes
             their place; what then stands with a copula between it is a chain, as if "=" stood there
Result       `spoken` yields the statements of a block, each with what its reading assumes, once for every reading
             where 行 and 列 may both be rows
Assumes      of formulas with a copula between them nothing is read unless the first is an entry or one is in words:
             "the rank of $Q$ is $r$" says nothing of Q
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from derivations.documents.denials import denies
from derivations.documents.passages import Block
from derivations.documents.sentences.copulas import is_doubted, is_explained, is_left_whole, relation_between
from derivations.documents.sentences.joined import FILLER, Sentence, joined, sentences
from derivations.documents.sentences.phrases import FORMULA, OPAQUE, Phrase, Words
from derivations.documents.sentences.registry import READERS
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Chain, Entry, Node, Product, rebuilt
from derivations.documents.syntax import List as Listed

__all__ = ["Cell", "Spoken", "readings_of_lines", "reduced", "spoken"]

_ROUNDS = 8
_SPACES = (FORMULA, OPAQUE, FILLER, "~")  # a mark that stands for no formula, and the space of LaTeX
_MOST_PHRASES = 64  # in one sentence
_TOLD = re.compile(  # words without which no phrase is read
    r"\b(?:rows?|col(?:umn)?s?|entry|element|component|coefficient|transpose|softmax|word|token|position)(?![a-z])"
    r"|(?:dot|inner|scalar)\s?-?product|[行列]|row|column|softmax|元素|[成分]分|要素|條目|条目|[轉转]置|転置|[點点內内]積|[点内]积"
    r"|ドット積|點乘|点乘|第.{0,8}[字詞词語语]|番目",
    re.IGNORECASE,
)
_GLOSS = re.compile(r"(?P<line>[行列])\s{0,3}[（(]\s{0,3}(?P<kind>row|column)\b", re.IGNORECASE)
_ONE_READING = re.compile(
    r"[\u3040-\u30ff这个为与进转点数维阵说们对输应该时积间开关]"
)  # simplified Chinese, Japanese: 行 is a row


@dataclass(frozen=True)
class Spoken:
    """A statement in words; its passage is the text of its block, `doubted` says that the sentence may not mean it."""

    statement: Statement
    assumptions: tuple[str, ...] = ()
    doubted: bool = False


@dataclass(frozen=True)
class Cell:
    """A character of a sentence with where it stands in the text of the block, or what it stands for."""

    text: str
    start: int
    end: int
    node: Node | None = None
    assumptions: tuple[str, ...] = ()
    in_words: bool = False


def spoken(block: Block, statements: Mapping[int, Sequence[Statement]], section: int, number: int) -> Iterator[Spoken]:
    """Yield what the words of a block say, given the statements of its formulas by the identity of their passages."""
    if all(passage.is_formula for passage in block.passages):
        return
    whole = joined(block)
    if not whole.spans and not _TOLD.search(whole.passage.text):
        return
    for sentence in sentences(whole, statements):
        entry = any(isinstance(node, Entry) for node in sentence.nodes.values())
        if len(sentence.statements) > _MOST_PHRASES or not (entry or _TOLD.search(sentence.text)):
            continue
        doubted = is_doubted(sentence.text) or denies(sentence.text)
        for row, unsure in readings_of_lines(sentence.text):
            cells = reduced(_cells(sentence), row, unsure)
            for told, relations, behind in _chains(cells):
                sides = tuple(cell.node for cell in told if cell.node is not None)
                chain = Chain(sides, relations, start=told[0].start, end=told[-1].end)
                said = tuple(dict.fromkeys(each for cell in told for each in cell.assumptions))
                yield Spoken(
                    Statement(chain, whole.passage, block, section, number), said, doubted or is_explained(behind)
                )


def readings_of_lines(text: str) -> tuple[tuple[Literal["行", "列"], bool], ...]:
    """Return what a row may be called, and whether that is unsure."""
    gloss = _GLOSS.search(text)
    if gloss:
        is_row = gloss["kind"].lower() == "row"
        return (("行" if (gloss["line"] == "行") == is_row else "列", False),)
    if _ONE_READING.search(text) or not re.search("[行列]", text):
        return (("行", False),)
    return ("行", True), ("列", True)


# --- from the inside outwards ---


def _cells(sentence: Sentence) -> list[Cell]:
    """Return a sentence as cells, a formula as one, its node where it stands in the text of the block."""
    cells: list[Cell] = []
    for place, sign in enumerate(sentence.text):
        at = sentence.start + place
        if place in sentence.statements and sign in (FORMULA, OPAQUE):
            node = _shown(sentence.statements[place], at)
            cells.append(Cell(OPAQUE if node is None else FORMULA, at, at + 1, node))
        elif sign == FILLER and cells and cells[-1].text in (FORMULA, OPAQUE):
            cells[-1] = replace(cells[-1], end=at + 1)
        else:
            cells.append(Cell(" " if sign in _SPACES else sign, at, at + 1))
    return cells


def _shown(statements: Sequence[Statement], at: int) -> Node | None:
    """Return what a formula shows that states nothing: one thing, or several apart by commas."""
    if not statements or any(each.chain.relations or each.chain.condition for each in statements):
        return None
    sides = tuple(_moved(each.chain.sides[0], at) for each in statements)
    return sides[0] if len(sides) == 1 else Listed(sides, start=sides[0].start, end=sides[-1].end)


def _moved(node: Any, offset: int) -> Any:
    """Return a node that stands so much further on."""
    moved = rebuilt(node, lambda each: _moved(each, offset))
    return replace(moved, start=node.start + offset, end=node.end + offset) if isinstance(node, Node) else moved


def reduced(cells: list[Cell], row: Literal["行", "列"] = "行", unsure: bool = False) -> list[Cell]:
    """Return a sentence in which the largest phrases are one cell each."""
    for _ in range(_ROUNDS):
        text = "".join(cell.text for cell in cells)
        nodes = {place: cell.node for place, cell in enumerate(cells) if cell.node is not None}
        words = Words(text, nodes, row, unsure)
        found = _apart([phrase for reader in READERS for phrase in reader(words)])
        if not found:
            break
        for phrase in reversed(found):
            cells[phrase.start : phrase.end] = [_joined(phrase, cells[phrase.start : phrase.end])]
    return cells


def _apart(phrases: list[Phrase]) -> list[Phrase]:
    """Return phrases that do not overlap: of those that do the first, the longest."""
    chosen: list[Phrase] = []
    for phrase in sorted(phrases, key=lambda each: (each.start, -each.end)):
        if not chosen or phrase.start >= chosen[-1].end:
            chosen.append(phrase)
    return chosen


def _joined(phrase: Phrase, cells: Sequence[Cell]) -> Cell:
    start, end = cells[0].start, cells[-1].end
    node = replace(phrase.node, start=start, end=end)
    said = (*(each for cell in cells for each in cell.assumptions), *phrase.assumptions)
    return Cell(FORMULA, start, end, node, tuple(dict.fromkeys(said)), in_words=True)


# --- chains of phrases ---


def _chains(cells: Sequence[Cell]) -> Iterator[tuple[Sequence[Cell], tuple[str, ...], str]]:
    """Yield the phrases that copulas hold together, with their relations and what stands behind; a phrase alone too."""
    text = "".join(cell.text for cell in cells)
    places = [place for place, cell in enumerate(cells) if cell.node is not None]
    at = 0
    while at < len(places):
        end, relations = at, []
        while end + 1 < len(places) and (relation := relation_between(text, places[end], places[end + 1])):
            relations.append(relation)
            end += 1
        told = [cells[place] for place in places[at : end + 1]]
        whole = at == end or is_left_whole(text, places[at], places[end], in_words=told[0].in_words)
        if whole and _says_something(told):
            yield told, tuple(relations), text[places[end] + 1 :]
        at = end + 1


def _says_something(told: Sequence[Cell]) -> bool:
    if len(told) == 1:
        return told[0].in_words and isinstance(told[0].node, Product | Call)
    return isinstance(told[0].node, Entry) or any(cell.in_words for cell in told)
