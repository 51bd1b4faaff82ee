r"""Equations that are an identity but for one slip: `(a + b)(a - b) = a^2 + b^2`.

Definition   the two sides differ for some numbers, and one edit of one of them makes the equation hold for all: a sign,
             an index, a letter, an exponent, a number. No condition is meant to be so near to an identity
Result       the side that is mended, with the slip in words; None where no edit mends it
Assumes      the letters are free: what the section defines by one another is left alone, and Kronecker's delta; words
             in front that make a condition of an equation (if, when, 若) are respected
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from derivations.documents.budget import spend
from derivations.documents.canon.edits import edits
from derivations.documents.judge.letters import bare
from derivations.documents.judge.sampled import sampled
from derivations.documents.judge.scalars import in_one_order, scalar
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name, Node, Number
from derivations.language.proof import prove_equal

__all__ = ["Mended", "mended", "slip_between"]

MOST_NODES = 80
MOST_EDITS = 2_000
CLOSE = 1e-9
DRAWS = (1, 2)
DELTAS = ("δ", "delta", "1", "I", "𝟙")
CONDITION = re.compile(
    r"(?:\b(?:if|when|where|whenever|unless|until|suppose|assume|require|solve|only|let|for|set)|条件|若|如果|假设|假設|当|當|令|要求"
    r"|もし|とき)\W{0,3}$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Mended:
    """The side of an equation that is mended, and what was wrong with it."""

    side: Node
    slip: str


def mended(statement: Statement, left: Node, right: Node, scope: Scope) -> Mended | None:
    """Return the edit that makes an identity of an equation which is none."""
    names = tuple(dict.fromkeys(each for side in (left, right) for each in _letters(side)))
    if sum(1 for side in (left, right) for _ in side.walk()) > MOST_NODES:
        return None
    if any(name.base in DELTAS for name in names) or _is_condition(statement) or _related(names, scope):
        return None
    indices = tuple(dict.fromkeys(key for side in (left, right) for key in _indices(side)))
    numbers = {side: [sampled(side, draw) for draw in DRAWS] for side in (left, right)}
    if None in numbers[left] or None in numbers[right] or all(map(_near, numbers[left], numbers[right])):
        return None
    for side, other, where in ((right, left, "right"), (left, right, "left")):
        for edit, slip in islice(edits(side, names, indices), MOST_EDITS):
            spend(5)
            same = all(_near(sampled(edit, draw), number) for draw, number in zip(DRAWS, numbers[other], strict=True))
            if same and _is_identity(edit, other, scope):
                return Mended(edit, f"{slip}, on the {where}")
    return None


def slip_between(statement: Statement, whole: Node, other: Node) -> str | None:
    """Return the slip by which two formulas of the same letters differ; None where it is no single one.

    The letters stand in the same order: another one may follow another convention.
    """
    if list(_letters(whole)) != list(_letters(other)) or sum(1 for _ in whole.walk()) > MOST_NODES:
        return None
    numbers = [(sampled(whole, draw), sampled(other, draw)) for draw in DRAWS]
    if any(None in pair or _near(*pair) for pair in numbers):
        return None
    if _is_condition(statement):
        return None
    names, indices = tuple(dict.fromkeys(_letters(whole))), tuple(dict.fromkeys(_indices(whole)))
    for first, second in ((other, whole), (whole, other)):
        for edit, slip in islice(edits(first, names, indices), MOST_EDITS // 4):
            spend(5)
            if bare(edit) == bare(second):
                return slip
    return None


def _near(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return False
    return abs(first - second) <= CLOSE * max(abs(first), abs(second), 1e-6)


def _is_identity(edit: Node, other: Node, scope: Scope) -> bool:
    """Say whether two sides are equal by algebra, and not merely the same twice, unless in other groups."""
    if not in_one_order(edit, other, scope=scope):
        return False
    first, second = scalar(edit, scope), scalar(other, scope)
    if first is None or second is None or (first == second and not _is_regrouped(edit, other)):
        return False
    return bool(prove_equal(first, second).level == "proved")


def _is_regrouped(first: Node, second: Node) -> bool:
    """Say whether two sides are one product in other groups: A (B C) and (A B) C."""
    leaves = ([each for each in side.walk() if isinstance(each, Name | Number)] for side in (first, second))
    return bool(next(leaves) == next(leaves) and bare(first) != bare(second))


def _letters(side: Node) -> Iterator[Name]:
    return (each for each in side.walk() if isinstance(each, Name) and each.base not in ("e", "π", "pi"))


def _indices(side: Node) -> Iterator[str]:
    for part in side.walk():
        if isinstance(part, Aggregate):
            yield from (each.key for each in part.index)
        elif isinstance(part, Name) and part.base != "d":
            yield from (each.key for each in part.subscripts if isinstance(each, Name) and len(each.base) == 1)


def _related(names: tuple[Name, ...], scope: Scope) -> bool:
    """Say whether the section defines one of the letters by others of them."""
    keys = {name.key for name in names}
    for name in names:
        found = scope.definition(name)
        if found is not None and any(each.key in keys for each in _letters(found)):
            return True
    return False


def _is_condition(statement: Statement) -> bool:
    """Say whether the words in front of a formula make a condition of it."""
    passages = statement.block.passages
    at = next((number for number, each in enumerate(passages) if each is statement.passage), 0)
    before = passages[at - 1].text[-40:] if at and not passages[at - 1].is_formula else ""
    return CONDITION.search(before) is not None
