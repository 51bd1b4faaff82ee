"""Whether the formula itself or one declaration is to blame for shapes that do not fit.

Definition   a declaration is suspected if the formula fits without it, and no other statement needs it as it stands;
             it is blamed if the shape that it should have breaks nothing else, and the formula is written as others
             are; where a letter meets itself, `W W` for `X W`, the formula has a slip, and which one is not known
Result       `diagnose`; where both may be the mistake, the formula is wrong and the declaration contested
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sympy import Expr

from derivations.documents.judge.shapes.fitting import Fit, fit, is_equation, read_sides
from derivations.documents.judge.shapes.repairs import ones_exchanged, repairs
from derivations.documents.scope import Scope
from derivations.documents.scope.shape import UNKNOWN, Shape
from derivations.documents.statements import Statement
from derivations.documents.syntax import Chain, Name, Node, Transpose

__all__ = ["Diagnosis", "diagnose"]


@dataclass(frozen=True)
class Diagnosis:
    """Why a formula does not fit: a repaired formula, or the declaration that is or may be to blame."""

    repair: tuple[Node, ...] | None = None
    blamed: Name | None = None
    contested: Name | None = None
    sizes: tuple[Expr | None, ...] | None = None  # that the declaration should have


def diagnose(sides: Sequence[Node], found: Fit, statement: Statement, scope: Scope, code: bool) -> Diagnosis:
    """Decide whether a formula is mistaken or a declaration that it contradicts."""
    if any(clash.left == clash.right for clash in found.clashes):
        return Diagnosis()
    for exchanged in ones_exchanged(sides, found.clashes):
        if not fit(exchanged, scope, code).clashes:
            return Diagnosis(exchanged)
    repair = next((each for each in repairs(sides, found.clashes) if not fit(each, scope, code).clashes), None)
    if any(clash.kind == "quotient" for clash in found.clashes):
        return Diagnosis(repair)
    suspects: list[tuple[int, Name, tuple[Expr | None, ...]]] = []
    for key, name in found.inference.met.items():
        candidates = scope.shape_candidates(name)
        if not candidates or candidates[0].far or read_sides(sides, scope, {key: UNKNOWN}, code).clashes:
            continue
        if not _supported(name, statement, scope):
            suspects.extend(_alternatives(name, sides, found, statement, scope, code))
    if not suspects:
        return Diagnosis(repair)
    suspects.sort(key=lambda suspect: suspect[0])
    rank, name, sizes = suspects[0]
    if len(suspects) > 1 and suspects[1][0] == rank:
        return Diagnosis(repair)
    if repair is None or (_restores(sides, repair, statement, scope) is False):
        return Diagnosis(None, blamed=name, sizes=sizes)
    if _restores(sides, repair, statement, scope):
        return Diagnosis(repair)
    return Diagnosis(repair, contested=name, sizes=sizes)


def _restores(sides: Sequence[Node], repair: Sequence[Node], statement: Statement, scope: Scope) -> bool | None:
    """Return True if a repair makes a formula follow the convention around it, False if it breaks it, else None."""
    turned, left = (_turned_weights(each, scope) for each in (sides, repair))
    if turned != left:
        return turned > left
    own, new = (scope.document.votes_of(Chain(tuple(each))) for each in (sides, repair))
    if (len(own) > 1) != (len(new) > 1):
        return len(own) > 1
    others = scope.document.votes.everywhere.copy()
    others.subtract(scope.document.votes_of(statement.chain))
    usual = others["rows"] - others["columns"]
    before, after = own["rows"] - own["columns"], new["rows"] - new["columns"]
    if before == after:
        return False if before * usual > 0 else None
    return (after - before) * usual > 0 if usual else None


def _turned_weights(sides: Sequence[Node], scope: Scope) -> int:
    parts = (part for side in sides for part in side.walk())
    return sum(isinstance(part, Transpose) and scope.document.is_weight(part) for part in parts)


def _supported(name: Name, statement: Statement, scope: Scope) -> bool:
    """Return whether another statement fits with the declared shape of a name, but not with its axes swapped."""
    mine = scope.shape_candidates(name)[0].declaration
    for other in scope.document.used_in(name, statement):
        theirs = scope.at(other)
        candidates = theirs.shape_candidates(name)
        if not candidates or candidates[0].declaration is not mine:
            continue
        chain = other.chain
        for link, relation in enumerate(chain.relations):
            if is_equation(relation):
                sides = chain.sides[link : link + 2]
                found = fit(sides, theirs, other.passage.syntax == "code")
                if found.clashes or found.aside or name.key not in found.inference.met:
                    continue
                reversed_sizes = Shape(tuple(reversed(mine.sizes or ())))
                if (
                    len(reversed_sizes.sizes) < 2
                    or read_sides(sides, theirs, {name.key: reversed_sizes}, False).clashes
                ):
                    return True
    return False


def _alternatives(
    name: Name, sides: Sequence[Node], found: Fit, statement: Statement, scope: Scope, code: bool
) -> Iterator[tuple[int, Name, tuple[Expr | None, ...]]]:
    """Yield the likeliest other shape of a letter that makes a formula fit, with its rank.

    The shape has its axes swapped, or one axis changed.
    """
    declared = scope.shape_candidates(name)[0].declaration.sizes
    attempts: list[tuple[int, tuple[Expr | None, ...]]] = []
    if declared is None:
        return
    if len(declared) > 1:
        attempts.append((0, tuple(reversed(declared))))
    for clash in found.clashes:
        for ours, other in ((clash.left_size, clash.right_size), (clash.right_size, clash.left_size)):
            for axis, size in enumerate(declared):
                if size == ours:
                    changed = (*declared[:axis], other, *declared[axis + 1 :])
                    attempts.append((1 if len(declared) == 1 else 2 + (len(set(changed)) < len(changed)), changed))
    attempts.sort(key=lambda attempt: attempt[0])
    readings = [(rank, sizes, read_sides(sides, scope, {name.key: Shape(sizes)}, code)) for rank, sizes in attempts]
    readings.sort(key=lambda reading: bool(reading[2].inference.conditions))
    for rank, sizes, reading in readings:
        choice = {name.key: Shape(sizes)}
        if sizes != declared and not reading.clashes:
            if not _breaks_others(name, sides, choice, statement, scope):
                yield rank, name, sizes
            return


def _breaks_others(
    name: Name, sides: Sequence[Node], choice: dict[str, Shape], statement: Statement, scope: Scope
) -> bool:
    """Return whether another shape of a letter breaks a related formula that fits without this change."""
    for using in [name, *(side for side in sides[:1] if isinstance(side, Name))]:
        for other in scope.document.used_in(using, statement):
            theirs = scope.at(other)
            for link, relation in enumerate(other.chain.relations):
                pair = other.chain.sides[link : link + 2]
                if not is_equation(relation) or not read_sides(pair, theirs, choice, False).clashes:
                    continue
                if not read_sides(pair, theirs, {}, False).clashes:
                    return True
    return False
