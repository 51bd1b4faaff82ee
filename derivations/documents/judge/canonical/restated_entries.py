r"""An entry that a formula defines, of a matrix that the "where ..." behind it defines by more letters.

Definition   Y_{ik} = X_{ik} - m_i, where Y = (X - m 1^T) / sqrt(s^2 + epsilon): the letters of the second formula are
             met in the first one, or in what its letters are defined by
Result       wrong where a letter is not: a Greek number that nothing defines, as epsilon, or one that is defined by a
             sum, as s, which nothing without a sum can be in its place
Assumes      the first formula has no sums and no functions that may hide a letter, no letter that the words behind it
             do not have, which may be another name, and no condition but the ranges of its indices; sizes and ones
             are left out where entries are written
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from derivations.documents.judge.algebra.scalar_letters import is_size
from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.judge.wording import source
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import flat, is_ones, is_scalar_letter
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Cases,
    Chain,
    Derivative,
    Dots,
    Entry,
    List,
    Name,
    Node,
    Power,
    Sum,
    Words,
)
from derivations.documents.verdicts import Finding

__all__ = ["check_restated_entries", "definitions_in"]

CHECK = "consistency.restated"
MOST_NODES, MOST_STATEMENTS, MOST_ROUNDS = 80, 24, 6
_HIDING = (Aggregate, Call, Cases, Derivative, Entry, List, Words)

_LEFT_OUT = re.compile(r"ignor|neglect|omit|drop|without|leav|省略|忽略|無視", re.IGNORECASE)

Definitions = Mapping[str, Node]


def check_restated_entries(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that a letter by which the words behind a formula define a matrix is not met in the one of its entries."""
    if link != 0 or len(statement.links) > 1 or scope.block + 1 not in scope.document.explaining:
        return
    left, right = statement.chain.sides
    parts = list(islice(right.walk(), MOST_NODES + 1))
    if not is_equation(statement.chain.relations[0]) or not isinstance(left, Name) or len(parts) > MOST_NODES:
        return
    if not _places(left) or any(isinstance(part, _HIDING) for part in parts) or not _is_for_all(statement.chain):
        return
    if _LEFT_OUT.search(scope.words(statement)):
        return
    explained = definitions_in(scope, scope.block + 1)
    restated = explained.get(_head(left))
    if restated is None or any(isinstance(part, Cases | Call | Entry | Words) for part in restated.walk()):
        return
    defined = {**explained, **definitions_in(scope, scope.block)} | {_head(left): right}
    met = _below(_head(left), defined)
    if any(each.key not in _below(_head(left), explained) and not is_size(each, scope) for each in _letters(right)):
        return  # another name of something
    for letter in _letters(restated):
        if letter.key not in met and _is_irreplaceable(letter, defined) and not is_size(letter, scope):
            whole = source((replace(left, subscripts=_labels(left)), restated), statement, ("=",))
            reason = f"{whole} by the words behind the formula, and {letter.key} is missing in its entries"
            yield Finding("wrong", CHECK, reason)
            return


def _is_irreplaceable(letter: Name, defined: Definitions) -> bool:
    """Say whether nothing can be written for a letter without a sum: a Greek number, or what is defined by a sum."""
    made = defined.get(letter.key)
    if made is None:
        return is_scalar_letter(letter) and len(letter.base) > 1
    return any(isinstance(part, Aggregate) for part in made.walk())


def _is_for_all(chain: Chain) -> bool:
    """Say whether a formula is for all places: it has no condition, or ranges of indices."""
    stated = chain.condition.items if isinstance(chain.condition, List) else (chain.condition,)
    return all(each is None or (isinstance(each, Chain) and any(map(_is_range, each.sides))) for each in stated)


def _is_range(node: Node) -> bool:
    return isinstance(node, List) and any(isinstance(each, Dots) for each in node.items)


def definitions_in(scope: Scope, block: int) -> dict[str, Node]:
    """Return what letters are defined as in a block, by their keys without places."""
    found: dict[str, Node] = {}
    for each in scope.document.in_block.get(block, ())[:MOST_STATEMENTS]:
        match each.chain.sides:
            case (Name() as name, made, *_) | (Power(base=Name() as name), made, *_):
                if is_equation(each.chain.relations[0]):
                    found.setdefault(_head(name), made)
    return found


def _below(key: str, defined: Definitions) -> set[str]:
    """Return the letters that are met in a definition, and in those of its letters."""
    met, new = set[str](), {key}
    for _ in range(MOST_ROUNDS):
        new = {letter.key for each in new if each in defined for letter in _letters(defined[each])} - met
        met |= new
    return met


def _letters(node: Node) -> Iterator[Name]:
    """Yield the letters of a formula without their places: no indices, no functions, no ones."""
    parts = list(node.walk())
    outside = {id(inner) for part in parts if isinstance(part, Name) for each in part.children for inner in each.walk()}
    outside |= {id(part.function) for part in parts if isinstance(part, Call)}
    outside |= {id(index) for part in parts if isinstance(part, Aggregate) for index in part.index}
    for part in parts:
        if isinstance(part, Name) and id(part) not in outside and not is_ones(part):
            yield replace(part, subscripts=_labels(part))


def _head(name: Name) -> str:
    return replace(name, subscripts=_labels(name)).key


def _labels(name: Name) -> tuple[Node, ...]:
    """Return what stands below a letter and is no place."""
    return tuple(each for each in flat(name.subscripts) if not _is_place(each))


def _places(name: Name) -> tuple[Node, ...]:
    return tuple(each for each in flat(name.subscripts) if _is_place(each))


def _is_place(node: Node) -> bool:
    """Say whether a subscript is an index: a small letter that is not upright, or a sum of one and a number."""
    if isinstance(node, Sum):
        return all(map(_is_place, node.terms[:1]))
    return isinstance(node, Name) and len(node.base) == 1 and node.base.islower() and node.font != "upright"
