r"""What a formula of gradients rests on: the definitions of its letters.

Definition   a letter is what the formulas of its block define it to be, or the "where ..." behind that; else what its
             section defines it to be, if that is one thing. Letters are followed until nothing defines them
Result       `claim_of` gives a gradient with what its letters are defined as, None where one that counts is defined
             twice
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from derivations.documents.judge.matrices.gradient_entries import bound_indices, whole_letters
from derivations.documents.judge.matrices.gradient_flow import Flow
from derivations.documents.judge.matrices.gradient_kinds import Known
from derivations.documents.judge.matrices.gradient_letters import gradients_in, is_gradient, marked
from derivations.documents.judge.matrices.gradient_surroundings import (
    head_of,
    is_long,
    matrices_by_gradient,
    scaled_letters,
)
from derivations.documents.judge.matrices.gradient_values import GradientClaim
from derivations.documents.judge.matrices.matrix_equations import has_entries, numbers_set
from derivations.documents.judge.matrices.matrix_letters import letters_in_order, turned_letters
from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import is_index
from derivations.documents.statements import Statement
from derivations.documents.syntax import Dots, Name, Node, Number

__all__ = ["claim_of"]

MOST_LETTERS, MOST_STATEMENTS = 24, 16


def claim_of(
    by: Name, right: Node, statement: Statement, scope: Scope, below: Name | None = None
) -> GradientClaim | None:
    """Return what is said to be the gradient by a letter, as a marked formula, with all that it rests on."""
    by, indices = _entry(by, right, scope, below)
    whole = whole_letters(right, indices)
    strays = {} if indices else dict(chain(_strays(by, right, scope), _without_their_index(by, right, scope)))
    flow = _flow_around(by, (whole, *([] if below is None else [below]), *strays.values()), scope)
    if flow is None:
        return None
    sides = (whole, *flow.made.values())
    numbers = numbers_set(letters_in_order(*sides), scope)
    sizes = {key: float(each.value) for key, each in numbers.items() if isinstance(each, Number)}
    turned = turned_letters(sides, statement, scope) | frozenset(matrices_by_gradient(statement, scope))
    scaled = frozenset(scaled_letters(statement, scope))
    return GradientClaim(by, right, indices, flow, Known(scope, turned, sizes, scaled), strays, below)


def _entry(by: Name, right: Node, scope: Scope, below: Name | None) -> tuple[Name, tuple[str, ...]]:
    """Return the letter of which another one is an entry, with the indices; itself with none where it is no entry.

    It is an entry where the gradients on the right are by entries too: their letters are defined without places.
    Where there are none, it is one if `below` is defined by the whole letter.
    """
    head, found = head_of(by)
    keys = tuple(each.key for each in found if isinstance(each, Name))
    if below is not None and keys and len({*keys}) == len(found):
        made = scope.near_definition(below)
        return (head, keys) if made is not None and head in letters_in_order(made) else (by, ())
    names = tuple(gradients_in(right))
    wholes = tuple(gradients_in(whole_letters(right, keys)))
    if not names or not keys or len({*keys}) < len(found):
        return by, ()
    is_entry = [
        scope.near_definition(whole) is not None and name != whole for name, whole in zip(names, wholes, strict=True)
    ]
    return (head, keys) if all(is_entry) else (by, ())


def _strays(by: Name, right: Node, scope: Scope) -> Iterator[tuple[Name, Name]]:
    """Yield the letters of another index than that by which the gradient is taken, with those of that index.

    `dA_i = dhead_j V_i^T` has one, where `head_i` is defined and `head_j` is not.
    """
    index = [each for each in by.subscripts if isinstance(each, Name) and is_index(each)]
    names = dict.fromkeys((*gradients_in(right), *letters_in_order(right)))
    if len(index) != 1:
        return
    bound = bound_indices(right)
    for name in names:
        places = [each for each in name.subscripts if isinstance(each, Name) and is_index(each)]
        if len(places) == 1 and places[0] != index[0] and places[0].key not in bound and not is_gradient(name):
            meant = replace(name, subscripts=tuple(index[0] if each == places[0] else each for each in name.subscripts))
            if scope.definitions(meant) and not scope.definitions(name):
                yield name, meant


def _without_their_index(by: Name, right: Node, scope: Scope) -> Iterator[tuple[Name, Name]]:
    """Yield the letters of which only a family is known, and that stand for none of it, with the member that is meant.

    Beside the gradient by `V_i` the letter V is one, where `V_i = X A_i` is defined and nothing says what V is.
    """
    index = [each for each in by.subscripts if isinstance(each, Name) and is_index(each)]
    gradients = {*gradients_in(right)}
    for name in letters_in_order(right) if len(index) == 1 else ():
        member = replace(name, subscripts=(*name.subscripts, index[0]))
        made = scope.definitions(member) if member in gradients and name.base[:1].isupper() else ()
        is_known = scope.definitions(name) or scope.shape(name) is not None or name in letters_in_order(*made)
        if made and not is_known:
            yield name, member


def _flow_around(by: Name, sides: Sequence[Node], scope: Scope) -> Flow | None:
    """Return what the letters of marked formulas are defined as."""
    beside = _beside(scope)
    made: dict[str, Node] = {}
    open_letters: dict[Name, tuple[Node, ...]] = {}
    gradients = [name for side in sides for name in gradients_in(side)]
    letters_of_sides = letters_in_order(*sides)
    pending = [by, *gradients, *letters_of_sides]
    seen: set[str] = set()
    while pending and len(seen) < MOST_LETTERS:
        name = pending.pop(0)
        if name.key in seen:
            continue
        seen.add(name.key)
        definitions = _definitions(name, beside, scope)
        if any(map(is_long, definitions)):
            return None
        found = tuple(marked(each, scope) for each in definitions)
        if len(found) == 1 and name not in letters_in_order(found[0]) and not _is_of_parts(found[0]):
            made[name.key] = found[0]
        elif found:
            open_letters[name] = found
        pending += [letter for each in found for letter in (*gradients_in(each), *letters_in_order(each))]
    flow = Flow(made)
    if pending or any(name in open_letters for name in gradients):
        return None
    for name, found in open_letters.items():
        wholes = [whole for each in found if (whole := flow.whole(each)) is not None]
        letters = {*letters_in_order(*wholes)}
        counted = letters_of_sides if name == by else (by, *open_letters)
        if len(wholes) < len(found) or not letters.isdisjoint(counted):
            return None
    return flow


def _is_of_parts(node: Node) -> bool:
    """Say whether a formula has entries, sums or dots, and has no value as a whole."""
    return has_entries(node.walk()) or any(isinstance(part, Dots) for part in node.walk())


def _definitions(name: Name, beside: dict[str, dict[Node, None]], scope: Scope) -> tuple[Node, ...]:
    """Return what a letter is defined as, nearest first; nothing where only another section says it."""
    if name.key in beside:
        return tuple(beside[name.key])
    return scope.definitions(name) if scope.near_definition(name) is not None else ()


def _beside(scope: Scope) -> dict[str, dict[Node, None]]:
    """Return what this block, and the "where ..." behind it, define letters to be; "with" may begin another setting."""
    found: dict[str, dict[Node, None]] = {}
    behind = scope.block + 1
    explains = behind in scope.document.explaining and not scope.document.texts[behind].lower().startswith("with")
    blocks = (scope.block, behind) if explains else (scope.block,)
    for other in chain(*(scope.document.in_block.get(block, ())[:MOST_STATEMENTS] for block in blocks)):
        match other.chain.sides:
            case (Name() as name, made, *_) if is_equation(other.chain.relations[0]):
                found.setdefault(name.key, {})[made] = None
    return found
