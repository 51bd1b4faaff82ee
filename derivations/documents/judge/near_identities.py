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
from itertools import chain, islice

from derivations.documents.budget import spend
from derivations.documents.canon.edits import Edit, edits
from derivations.documents.canon.places import places
from derivations.documents.formulas import formula_text
from derivations.documents.judge.letters import bare, put
from derivations.documents.judge.sampled import sampled
from derivations.documents.judge.scalars import in_one_order, scalar
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Fence, Name, Node, Number, Sum
from derivations.language.proof import prove_equal

__all__ = ["Mended", "is_condition", "mended", "slip_between"]

MOST_NODES = 80
MOST_EDITS = 2_000
MOST_ONE_SIDED = 1  # letters of one side alone, as cancel in an identity: more make a definition
CLOSE = 1e-9
DRAWS = (1, 2)
DELTAS = ("δ", "delta", "1", "I", "𝟙")
INFINITY = "infty"  # of which no number is equal to what stands beside it
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
    if sum(1 for side in (left, right) for _ in side.walk()) > MOST_NODES:
        return None
    one_sided = {name.base for name in _free(left)} ^ {name.base for name in _free(right)}
    names = tuple(dict.fromkeys(each for side in (left, right) for each in _letters(side)))
    if (
        len(one_sided) > MOST_ONE_SIDED
        or any(name.base in (*DELTAS, INFINITY) for name in names)
        or is_condition(statement)
        or _explained(left, right, names, scope)
    ):
        return None
    indices = tuple(dict.fromkeys(key for side in (left, right) for key in _indices(side)))
    numbers = {side: [sampled(side, draw) for draw in DRAWS] for side in (left, right)}
    if None in numbers[left] or None in numbers[right] or all(map(_near, numbers[left], numbers[right])):
        return None
    alike = _free(left) == _free(right)
    for side, other, where in ((right, left, "right"), (left, right, "left")):
        for edit, slip in islice(chain(edits(side, names, indices), _fewer_terms(side)), MOST_EDITS):
            spend(5)
            same = all(_near(sampled(edit, draw), number) for draw, number in zip(DRAWS, numbers[other], strict=True))
            if same and _is_identity(edit, other, scope, alike=alike):
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
    if is_condition(statement):
        return None
    names, indices = tuple(dict.fromkeys(_letters(whole))), tuple(dict.fromkeys(_indices(whole)))
    for first, second in ((other, whole), (whole, other)):
        for edit, slip in islice(edits(first, names, indices), MOST_EDITS // 4):
            spend(5)
            if bare(edit) == bare(second):
                return slip
    return None


def _fewer_terms(side: Node) -> Iterator[Edit]:
    """Yield a side without one of the terms of a sum in it."""
    for node, placed in places(side):
        if not isinstance(node, Sum) or 0 in node.signs:
            continue
        for at, (term, sign) in enumerate(zip(node.terms, node.signs, strict=True)):
            fewer = Sum(node.terms[:at] + node.terms[at + 1 :], node.signs[:at] + node.signs[at + 1 :])
            kept = fewer.terms[0] if fewer.signs == (1,) else fewer
            yield placed(Fence("(", kept)), f"{formula_text(term)} must not be {'added' if sign > 0 else 'subtracted'}"


def _near(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return False
    return abs(first - second) <= CLOSE * max(abs(first), abs(second), 1e-6)


def _is_identity(edit: Node, other: Node, scope: Scope, *, alike: bool) -> bool:
    """Say whether two sides are equal by algebra, and not merely the same twice, unless in other groups.

    `alike` says that the equation as it was written is one of the same letters.
    """
    if not in_one_order(edit, other, scope=scope):
        return False
    first, second = scalar(edit, scope), scalar(other, scope)
    if first is None or second is None:
        return False
    if first == second:
        return _is_regrouped(edit, other) or (alike and _is_counted(edit, other))
    return bool(prove_equal(first, second).level == "proved")


def _is_regrouped(first: Node, second: Node) -> bool:
    """Say whether two sides are one product in other groups: A (B C) and (A B) C."""
    leaves = ([each for each in side.walk() if isinstance(each, Name | Number)] for side in (first, second))
    return bool(next(leaves) == next(leaves) and bare(first) != bare(second))


def _is_counted(first: Node, second: Node) -> bool:
    """Say whether one side is a sum of equal terms that the other counts: sum_j c and n c."""
    first_sums, second_sums = (sum(isinstance(each, Aggregate) for each in side.walk()) for side in (first, second))
    return first_sums != second_sums


def _free(side: Node) -> set[Name]:
    """Return the letters of a side, without those that its sums are over."""
    return set(_letters(side)) - {name for part in side.walk() if isinstance(part, Aggregate) for name in part.index}


def _letters(side: Node) -> Iterator[Name]:
    """Yield the letters of a side, constants left out, and the labels and indices inside of them: the O of W^O."""
    names = [each for each in side.walk() if isinstance(each, Name)]
    inside = {id(part) for name in names for label in name.children for part in label.walk()}
    return (each for each in names if id(each) not in inside and each.base not in ("e", "π", "pi"))


def _indices(side: Node) -> Iterator[str]:
    for part in side.walk():
        if isinstance(part, Aggregate):
            yield from (each.key for each in part.index)
        elif isinstance(part, Name) and part.base != "d":
            yield from (each.key for each in part.subscripts if isinstance(each, Name) and len(each.base) == 1)


def _explained(left: Node, right: Node, names: tuple[Name, ...], scope: Scope) -> bool:
    """Say whether the sides may be equal since the section defines letters by others of them."""
    keys = {name.key for name in names}
    defined: dict[str, Node] = {}
    for name in names:
        found = scope.definition(name)
        if found is not None and any(each.key in keys for each in _letters(found)):
            defined[name.key] = found
    if not defined:
        return False
    first, second = (put(side, defined) for side in (left, right))
    numbers = [(sampled(first, draw), sampled(second, draw)) for draw in DRAWS]
    return any(None in pair or _near(*pair) for pair in numbers)


def is_condition(statement: Statement) -> bool:
    """Say whether the words in front of a formula make a condition of it."""
    passages = statement.block.passages
    at = statement.block.number_of(statement.passage) or 0
    before = passages[at - 1].text[-40:] if at and not passages[at - 1].is_formula else ""
    return CONDITION.search(before) is not None
