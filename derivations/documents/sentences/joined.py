"""The text of a block as one, and its sentences: what is said in words runs across formulas.

Definition   `joined(block)` puts the passages of a block one after another, cells of a table apart by a bar; a sentence
             is what stands between two ends of sentences, with every formula masked by as many characters as it has
Result       places in a sentence are places in the joined text, less where the sentence starts
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from derivations.documents.passages import Block, Passage, Place
from derivations.documents.sentences.phrases import FORMULA, LONGEST, OPAQUE
from derivations.documents.statements import Statement
from derivations.documents.syntax import Node

__all__ = ["FILLER", "FORMULAS", "Joined", "Sentence", "joined", "sentences"]

FILLER = "\ufffb"
_BAR = " | "
_ABBREVIATED = (r"e\.g", r"i\.e", "vs", "cf", "Fig", "Eq", "Sec", "std", "dev")
_ABBREVIATIONS = "".join(rf"(?<!\b{word}\.)" for word in _ABBREVIATED)
_END = re.compile(rf"[。！？!?；;|]|\n\s*\n|\.(?=\s|$){_ABBREVIATIONS}(?<!\.\.\.)")

#: A formula in the text of a sentence, for expressions.
FORMULAS = f"[{FORMULA}{OPAQUE}]{FILLER}*"


@dataclass(frozen=True)
class Joined:
    """A block as one passage of prose; `spans` are the formulas with where they stand in it."""

    passage: Passage
    spans: tuple[tuple[Passage, int, int], ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence: its text with formulas masked, where it starts, and what stands at the start of each formula.

    `written` is the text with its formulas, as long as `text`; `nodes` holds the formulas that are one node without
    relations, `statements` all that were understood.
    """

    text: str
    written: str
    start: int
    nodes: Mapping[int, Node] = field(default_factory=dict)
    statements: Mapping[int, tuple[Statement, ...]] = field(default_factory=dict)


def joined(block: Block) -> Joined:
    """Return the passages of a block as one."""
    texts: list[str] = []
    runs: list[tuple[int, Place]] = []
    spans: list[tuple[Passage, int, int]] = []
    length = 0
    before: Passage | None = None
    for number, passage in enumerate(block.passages):
        if before is not None:
            between = _between(block, number, before, passage)
            if between:
                texts.append(between)
                runs.append((length, before.place(len(before.text))))
                length += len(between)
        texts.append(passage.text)
        runs.extend((length + offset, place) for offset, place in passage.runs)
        if passage.is_formula:
            spans.append((passage, length, length + len(passage.text)))
        length += len(passage.text)
        before = passage
    return Joined(Passage("prose", "".join(texts), tuple(runs) or ((0, Place(1, 1)),)), tuple(spans))


def _between(block: Block, number: int, before: Passage, passage: Passage) -> str:
    if number < len(block.columns) and block.columns[number] != block.columns[number - 1]:
        return _BAR
    if before.is_formula != passage.is_formula:
        return ""
    return "\n\n" if before.display or passage.display else " "


def sentences(whole: Joined, statements: Mapping[int, Sequence[Statement]]) -> Iterator[Sentence]:
    """Yield the sentences of a block, given the statements by the identity of the passage they were read from.

    Assumes      what is longer than any sentence is none, and is left out
    """
    pieces: list[str] = []
    at = 0
    places: list[int] = []
    for passage, start, end in whole.spans:
        mark = OPAQUE if _alone(statements.get(id(passage), ())) is None else FORMULA
        pieces += (whole.passage.text[at:start], (mark + FILLER * (end - start - 1))[: end - start])
        places.append(start)
        at = end
    text = "".join((*pieces, whole.passage.text[at:]))
    begin = 0
    for end in (*(match.end() for match in _END.finditer(text)), len(text)):
        if text[begin:end].strip() and end - begin - text.count(FILLER, begin, end) <= LONGEST:
            inside = whole.spans[bisect_left(places, begin) : bisect_left(places, end)]
            said = {start - begin: tuple(statements.get(id(passage), ())) for passage, start, _ in inside}
            nodes = {place: node for place, each in said.items() if (node := _alone(each)) is not None}
            yield Sentence(text[begin:end], whole.passage.text[begin:end], begin, nodes, said)
        begin = end


def _alone(statements: Sequence[Statement]) -> Node | None:
    """Return the one side of a formula that states nothing."""
    if len(statements) != 1 or statements[0].chain.relations:
        return None
    return statements[0].chain.sides[0]
