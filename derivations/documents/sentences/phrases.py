r"""Phrases that stand for something: "row i of $Q$", "the variance of $q \cdot k$", in a sentence around formulas.

Definition   a sentence is `Words`: its text, in which every formula is the one character `FORMULA`. A reader finds
             phrases in it, and each phrase stands for a node; it is then one such character too, so that a larger
             phrase may hold it: "the transpose of (row i of Q)". Two phrases with a copula between them are a chain
Result       `Reader(words)` yields phrases whose places are counted in `words.text`; a phrase whose node is
             a `Chain` with links is a whole statement
Assumes      a reader looks at words of a lexicon near a formula, by expressions that take linear time; a sentence has
             at most `LONGEST` characters
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from derivations.documents.syntax import Node

__all__ = ["FORMULA", "LONGEST", "OPAQUE", "Phrase", "Reader", "Words"]

FORMULA = "\ufffc"  # what stands for a formula without links, or for a phrase
OPAQUE = "\ufffd"  # what stands for any other formula: a chain with links, or what was not understood
LONGEST = 600


@dataclass(frozen=True)
class Phrase:
    """What a stretch of words stands for; `assumptions` are what the reading rests on: "行 is a row"."""

    node: Node
    start: int
    end: int
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Words:
    """A sentence; `nodes` tells what stands at each place of a `FORMULA`.

    `row` is what a row is called in Chinese characters, 行 or 列, and `unsure` says that it may be the other.
    """

    text: str
    nodes: Mapping[int, Node] = field(default_factory=dict)
    row: Literal["行", "列"] = "行"
    unsure: bool = False


Reader: TypeAlias = Callable[[Words], Iterable[Phrase]]
