"""The words around a count in a document, which tell what is counted, from the nearest to the farthest.

Result       `said_of(statement, left, scope)`: the left side, the sentence, the block, the headings, what stands around
Assumes      a sentence ends at a full stop with a space after it, or at one of Chinese and Japanese; of a block with
             more than `MOST_PASSAGES` passages only the words next to the formula are looked at; around a heading
             stands what is right below it
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from derivations.documents.judge.costs.subjects import words_of
from derivations.documents.passages import Block, Passage
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Node

__all__ = ["Said", "said_of"]

MOST_PASSAGES, BLOCKS_BELOW = 400, 4
OF_FORMULAS = ("formula", "expression", "symbolic", "公式", "表达式", "表達式", "算式", "式", "計算式", "数式")
_NEAR = 24  # characters beside a formula that say what it counts
_END = re.compile(r"[.!?;] |[。！？；\n]")
_CLAUSE = re.compile(r"[,;:(（，；：、]")
_SENTENCE = 300  # characters on each side


@dataclass(frozen=True)
class Said:
    """Texts that tell what is counted, from the nearest to the farthest; `before` and `after` touch the formula.

    `head` is over the cell of a table in which the formula stands alone.
    """

    left: str
    before: str
    after: str
    sentence: str
    block: str
    head: str
    headers: str
    around: str

    @property
    def beside(self) -> str:
        """The words that touch the formula."""
        return self.before + self.after

    @property
    def clause(self) -> str:
        """The words that touch the formula, up to the next comma on each side."""
        return f"{_CLAUSE.split(self.before)[-1]} {_CLAUSE.split(self.after)[0]}"

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts, from the nearest to the farthest."""
        return self.left, self.clause, self.sentence, self.block, self.head, self.headers, self.around

    @property
    def near(self) -> tuple[str, ...]:
        """The texts of the block."""
        return self.left, self.sentence, self.block, self.head, self.headers


def said_of(statement: Statement, left: Node, scope: Scope, unit: str = "") -> Said:
    """Return the texts around a count. `unit`, the unit inside the formula, precedes the words after it."""
    passages = statement.block.passages
    place = next((k for k, each in enumerate(passages[:MOST_PASSAGES]) if each is statement.passage), None)
    before = _prose(passages[:place]) if place is not None else ""
    after = _prose(passages[place + 1 : MOST_PASSAGES]) if place is not None else ""
    touching = passages[place + 1] if place is not None and place + 1 < len(passages) else None
    ahead = passages[place - 1] if place else None
    behind = touching.text[:_NEAR] if touching is not None and not touching.is_formula else ""
    return Said(
        words_of(left),
        _END.split(ahead.text[-2 * _NEAR :])[-1] if ahead is not None and not ahead.is_formula else "",
        f"{unit} {_END.split(behind)[0]}" if unit else _END.split(behind)[0],
        " ".join((_END.split(before[-_SENTENCE:])[-1], unit, _END.split(after[:_SENTENCE])[0])),
        f"{before} {after}",
        _head_of(statement.block, place) if place is not None else "",
        " ".join(statement.block.headers),
        f"{scope.words(statement)}\n{_below(statement, scope)}",
    )


def _below(statement: Statement, scope: Scope) -> str:
    """Return the texts of the first blocks below a heading, or "" if the block is not a heading."""
    if statement.block.kind != "heading":
        return ""
    texts, sections = scope.document.texts, scope.document.sections.of_block
    below = range(scope.block + 1, min(scope.block + 1 + BLOCKS_BELOW, len(texts), len(sections)))
    return "\n".join(texts[each][:_SENTENCE] for each in below if sections[each] == scope.section)


def _head_of(block: Block, place: int) -> str:
    """Return the header of a cell, or all headers if it says only "formula"; "" if the cell has several passages."""
    column = block.columns[place] if place < len(block.columns) else len(block.headers)
    head = block.headers[column] if column < len(block.headers) and block.columns.count(column) == 1 else ""
    return " ".join(block.headers) if head.strip(" *_").lower() in OF_FORMULAS else head


def _prose(passages: Sequence[Passage]) -> str:
    return " ".join(passage.text for passage in passages if not passage.is_formula)
