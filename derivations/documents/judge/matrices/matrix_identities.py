r"""Equations of matrices that are an identity but for one slip: `(A B)^T = A^T B^T`, `C (A B) = A (B C)`.

Definition   the two sides differ for some matrices, and one edit of one of them makes the equation hold for all of
             them: a transpose, the order of factors, a sign, one letter for another. What the section defines a letter
             to be is put in: with A = f(X) the sides of g(X - A) = g(X + f(X)) are one sign apart
Result       wrong with the side that is mended; holds where the sides are equal and not the same twice; else nothing
Assumes      the letters are free, and no sentence makes a condition of the equation. A letter of which nothing is known
             may be a number, a row, a column or a matrix, and the sides must differ for each of them, and where `W (X)`
             is a map. What would be the same twice is a property that some matrices have, as A B = B A, and no slip
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, TypeGuard

from derivations.documents.budget import current_budget
from derivations.documents.canon.matrix_slips import indices_of as indices_below
from derivations.documents.canon.matrix_slips import matrix_edits
from derivations.documents.canon.places import Edit
from derivations.documents.judge.algebra.conditions import SPECIAL, is_condition
from derivations.documents.judge.algebra.scalar_letters import is_of_differences
from derivations.documents.judge.arrays.array_reading import function_word, indices_of
from derivations.documents.judge.matrices.matrix_equations import COST, Equation, has_entries, numbers_set, unfolded
from derivations.documents.judge.matrices.matrix_letters import ORTHOGONAL, letters_in_order, readings
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.judge.wording import source
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import is_weight
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Call,
    Chain,
    Fence,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Transpose,
    Words,
    rebuilt,
)
from derivations.documents.verdicts import Finding

__all__ = ["check_matrix_identities"]

CHECK = "matrices"
MOST_NODES, MOST_EDITS = 60, 300
_EXACT = frozenset({"tr", "trace", "det", "concat", "concatenate", "cat"})


def check_matrix_identities(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that two formulas of matrices are equal, or the slip by which they are not."""
    if link is None or statement.chain.relations[link] not in ("=", "≡") or statement.passage.syntax == "code":
        return
    left, right = statement.chain.sides[link : link + 2]
    if isinstance(left, Name) or isinstance(right, Name) or not _is_of_matrices(left, right):
        return
    if any(isinstance(part, Quotient) and is_of_differences(part) for side in (left, right) for part in side.walk()):
        return
    budget = current_budget()
    if budget.steps - budget.spent < COST or is_condition(statement):
        return
    names = (*letters_in_order(left, right), *_namings(left, right, statement, scope))
    if not any(name.base[:1].isupper() for name in names):
        return  # numbers and vectors
    meant = tuple(_identities(statement.chain.condition, names))
    equation = _equation(names, (left, right), meant, statement, scope)
    if not equation.kinds:
        return
    if not equation.differ(left, right):
        if (
            _is_algebra(left, right)
            and bare(left) != bare(right)
            and equation.agreeing(right, [(left, "")]) is not None
        ):
            yield Finding("holds", CHECK, "both sides are equal for matrices of random numbers")
        return
    maps = _as_maps(left), _as_maps(right)
    if _speaks_of_special_matrices(statement, scope) or (maps != (left, right) and not equation.differ(*maps)):
        return
    found = _slip(left, right, (*names, *meant), equation)
    if found is not None:
        side, slip = found
        shown = source((side,), statement)
        yield Finding("wrong", CHECK, f"the two sides differ, and are equal if mended: {slip}", shown)


def _is_of_matrices(*sides: Node) -> bool:
    """Say whether two sides are short, with products, transposes or functions, and without entries."""
    parts = [part for side in sides for part in islice(side.walk(), MOST_NODES + 1)]
    return (
        len(parts) <= MOST_NODES
        and any(isinstance(part, Product | Transpose | Call) for part in parts)
        and not has_entries(parts)
    )


def _is_algebra(*sides: Node) -> bool:
    """Say whether two sides are made of products, sums and transposes, and of functions that are known exactly."""
    calls = (part for side in sides for part in side.walk() if isinstance(part, Call))
    return all(function_word(call.function) in _EXACT for call in calls)


def _as_maps(node: Any) -> Any:
    """Return a formula in which `W (X)` is the map of X by a weight, X W, and no product."""
    inner = rebuilt(node, _as_maps)
    match inner:
        case Call(function=weight, arguments=(first,)) if is_weight(weight):
            return Fence("(", Product((first, weight), ("",)))
    return inner


# --- what letters are ---


def _equation(
    names: Sequence[Name], sides: Sequence[Node], meant: Sequence[Name], statement: Statement, scope: Scope
) -> Equation:
    near = {name.key: made for name in names if (made := _defined_here(name, scope)) is not None}
    known = {name.key: made for name in names if (made := scope.definition(name)) is not None} | near
    known |= numbers_set(names, scope)
    whole = [unfolded(side, defined) for side in sides for defined in (near, known)]
    letters = letters_in_order(*sides, *whole, *meant)
    return Equation(tuple(readings(letters, sides, statement, scope)), near, known)


def _defined_here(name: Name, scope: Scope) -> Node | None:
    """Return what this section defines a letter to be, if that is one thing."""
    before, behind = scope.document.definitions.around(name.key, scope.section, scope.block)
    found = dict.fromkeys(each.definition for each in (*before, *behind) if each.definition is not None)
    return next(iter(found)) if len(found) == 1 else None


def _namings(left: Node, right: Node, statement: Statement, scope: Scope) -> Iterator[Name]:
    """Yield the letters around that are defined as a part of one of the sides: A, where A = f(X) and f(X) stands."""
    parts = {bare(part) for side in (left, right) for part in side.walk() if not isinstance(part, Name)}
    behind = scope.document.in_block.get(scope.block + 1, ())[:8]
    for other in (*behind, *scope.earlier(statement)[:16]):
        match other.chain.sides:
            case (Name() as name, made, *_) if other.chain.relations[0] in ("=", ":=") and bare(made) in parts:
                yield name


def _speaks_of_special_matrices(statement: Statement, scope: Scope) -> bool:
    """Say whether the text around speaks of matrices with properties of their own; a row of a table stands alone."""
    before, behind = (0, 0) if statement.block.kind == "row" else (12, 3)
    texts = scope.document.texts[max(scope.block - before, 0) : scope.block + behind + 1]
    return any(SPECIAL.search(ORTHOGONAL.sub("", text[:2000])) for text in texts)


def _identities(condition: Node | None, names: Sequence[Name]) -> Iterator[Name]:
    r"""Yield I of a condition `I_{ij} = \delta_{ij}` that says nothing of the letters of the equation behind it."""
    match condition:
        case Chain(sides=(Name(base="I") as entry, right), relations=("=",)):
            parts = [*right.walk()]
        case _:
            return
    words = " ".join(part.text for part in parts if isinstance(part, Words))
    spoken = {each.base for each in (entry, *letters_in_order(right))} | {*re.findall("[A-Za-z]+", words)}
    deltas = [part for part in parts if isinstance(part, Name) and part.base == "delta" and len(part.subscripts) == 2]
    indices = (each for delta in deltas[:1] for each in delta.subscripts)
    whole, places = indices_of(entry, frozenset(each.key for each in indices if isinstance(each, Name)))
    if len(places) == 2 and spoken.isdisjoint(name.base for name in names):
        yield whole


# --- slips ---


def _slip(left: Node, right: Node, letters: Sequence[Name], equation: Equation) -> Edit | None:
    """Return the edit of a side by which it becomes equal to the other, and not merely the same once more."""
    letters = (*dict.fromkeys(letters), *indices_below(letters))
    parts = [part for side in (left, right) for part in side.walk()]
    others = tuple(dict.fromkeys(part for part in parts if isinstance(part, Root) or _is_inverse(part)))
    for side, other, where in ((right, left, "right"), (left, right, "left")):
        same = bare(other)
        edits = islice(matrix_edits(side, (*letters, *others)), MOST_EDITS)
        found = equation.agreeing(other, (each for each in edits if bare(each[0]) != same))
        if found is not None:
            return found[0], f"{found[1]}, on the {where}"
    return None


def _is_inverse(node: Node) -> TypeGuard[Power]:
    match node:
        case Power(base=Name(), exponent=Negative(operand=Number(value=one))):
            return one == 1
        case Power(base=Name(), exponent=Number(value=one)):
            return one == -1
    return False
