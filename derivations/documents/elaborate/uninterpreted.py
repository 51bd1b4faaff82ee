r"""Parts of unknown meaning, replaced by letters. Parts with the same text become the same letter.

Definition   a function that nobody knows, a list, a matrix written out stand for a letter named by their text; the
             indices in the text are its places, so that `p(x_t | x_{<t})` under a sum over t is an entry at t
Result       `with_letters(sides, letters)`: sides in which such letters stand
Assumes      letters of different texts may be equal, as those of f(x + y) and f(y + x) are: nothing is refuted by them
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from derivations.documents.elaborate.functions import STATISTICS, is_known, word_of
from derivations.documents.elaborate.kinds import UNINTERPRETED
from derivations.documents.elaborate.letters import Letters
from derivations.documents.elaborate.values import NotElaborated
from derivations.documents.formulas import formula_text
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Cases,
    Chain,
    Fence,
    List,
    MatrixLiteral,
    Name,
    Node,
    Set,
    Words,
    rebuilt,
)

__all__ = ["letters_for", "refuse_mixed_expectations", "with_letters"]

_PLACE = Name("·")


def with_letters(sides: Sequence[Node], letters: Letters) -> tuple[Node, ...]:
    """Return sides in which every part of unknown meaning is replaced by a letter."""

    def of(node: Any) -> Any:
        match node:
            case Call(function=function) if is_known(node) or _is_statistic(function):
                return replace(node, arguments=tuple(map(of, node.arguments)))
            case Fence(bracket="⟨", inside=List()):
                return rebuilt(node, lambda each: replace(each, items=tuple(map(of, each.items))))
            case Call() | List() | MatrixLiteral() | Cases() | Set() | Words() | Fence(inside=List()):
                return _letter(node, letters)
            case Name():
                return node
        return rebuilt(node, of)

    return tuple(map(of, sides))


def refuse_mixed_expectations(sides: Sequence[Node]) -> None:
    """Raise NotElaborated for expectations over different distributions, or over one that their bodies use.

    An expectation is read without what it is over, so that E_p[x^2] - E_q[x]^2 would be a variance.
    """
    parts = (part for side in sides for part in side.walk())
    found = [part for part in parts if isinstance(part, Aggregate) and part.kind == "expectation"]
    if len({(part.index, part.over) for part in found}) > 1:
        raise NotElaborated(found[1], "expectations over different things")
    for part in found:
        if _is_over_what_it_reads(part):
            raise NotElaborated(part, "an expectation over a distribution that it reads")


def _is_over_what_it_reads(expectation: Aggregate) -> bool:
    """Return whether the body uses the distribution: log p(x) under E_{x ~ p} or E_{p(x)}, P / Q under E_{x ~ P}."""
    over = (*expectation.index, *(expectation.over.walk() if expectation.over else ()))
    drawn_from = expectation.over.sides[-1] if isinstance(expectation.over, Chain) else None
    read = list(expectation.body.walk())
    functions = {part.function.base for part in read if isinstance(part, Call)}
    return drawn_from in read or any(isinstance(part, Name) and part.base in functions for part in over)


def _is_statistic(function: Name) -> bool:
    """Return whether a function without subscripts is a statistic of an array, such as Var of x."""
    return word_of(function) in STATISTICS and not function.subscripts


def letters_for(side: Node, letters: Letters) -> frozenset[Name]:
    """Return the letters that replace the parts of unknown meaning in a side."""
    (whole,) = with_letters((side,), letters)
    return frozenset(part for part in whole.walk() if isinstance(part, Name) and part.font == UNINTERPRETED)


def _letter(node: Node, letters: Letters) -> Name:
    """Return the letter that replaces a part. Its indices are the first two indices in the part."""
    places: list[Node] = []

    def of(part: Any) -> Any:
        match part:
            case Name() if part.key in letters.indices and not part.subscripts:
                places.append(part)
                return _PLACE
            case Name():
                letter, at = letters.split(part)
                places.extend(at)
                return replace(letter.name, subscripts=(*letter.name.subscripts, *[_PLACE] * len(at)))
            case Call(function=function, arguments=arguments):
                return Call(of(function), tuple(map(of, arguments)))
            case Aggregate():
                return part
        return rebuilt(part, of)

    text = formula_text(of(node), "plain")
    return Name(text, tuple(places[:2]), font=UNINTERPRETED, start=node.start, end=node.end)
