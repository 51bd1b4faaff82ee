r"""Words inside of a formula: `\text{row } i \text{ of } Q` is read as the same words are outside of it.

Definition   factors side by side, some of which are words, are a sentence; where all of it is one phrase, the phrase
             takes their place
Result       the chain with such products read; as it was where there are none, or where a reading assumes something
"""

from __future__ import annotations

from typing import Any

from derivations.documents.sentences.phrases import FORMULA
from derivations.documents.sentences.reading import Cell, readings_of_lines, reduced
from derivations.documents.syntax import Chain, Node, Product, Words, rebuilt

__all__ = ["with_words_read"]

_MOST_FACTORS = 16


def with_words_read(chain: Chain) -> Chain:
    """Return a chain in which products of words and letters are what they say."""
    if not any(isinstance(node, Product) and _has_words(node) for node in chain.walk()):
        return chain
    return _read(chain)


def _has_words(node: Product) -> bool:
    return not any(node.operators) and any(isinstance(each, Words) for each in node.factors)


def _read(node: Any) -> Any:
    if isinstance(node, Product) and _has_words(node) and len(node.factors) <= _MOST_FACTORS:
        return _phrase(node) or rebuilt(node, _read)
    return rebuilt(node, _read)


def _phrase(node: Product) -> Node | None:
    """Return what the factors say as one phrase."""
    cells: list[Cell] = []
    for each in node.factors:
        if isinstance(each, Words):
            cells.extend(Cell(letter, each.start, each.end) for letter in f" {each.text} ")
        else:
            cells.append(Cell(FORMULA, each.start, each.end, _read(each)))
    text = "".join(cell.text for cell in cells)
    (row, unsure), *others = readings_of_lines(text)
    left = [cell for cell in reduced(cells, row, unsure) if cell.text.strip()]
    return left[0].node if len(left) == 1 and not left[0].assumptions and not others else None
