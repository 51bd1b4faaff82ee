r"""What a formula of gradients rests on: the definitions of its letters, and what else is said of the loss.

Definition   a letter is what the formulas of its block define it to be, or the "where ..." behind that; else what its
             section defines it to be, if that is one thing. Letters are followed until nothing defines them
Result       `claim_of` gives a gradient with what its letters are defined as, None where one that counts is defined
             twice; `gradient_forms` what the document gives as formulas of gradients; `letter_below` the one whose
             gradient must stand in that by another one
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from derivations.documents.judge.arrays.array_reading import indices_of
from derivations.documents.judge.matrices.gradient_entries import bound_indices, whole_letters
from derivations.documents.judge.matrices.gradient_flow import Flow
from derivations.documents.judge.matrices.gradient_kinds import Known
from derivations.documents.judge.matrices.gradient_letters import gradient_by, gradients_in, is_gradient, marked
from derivations.documents.judge.matrices.gradient_values import GradientClaim
from derivations.documents.judge.matrices.matrix_equations import has_entries, numbers_set
from derivations.documents.judge.matrices.matrix_letters import letters_in_order, options, turned_letters
from derivations.documents.judge.matrices.matrix_words import LOSSES, gradient_of
from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import flat, is_index
from derivations.documents.statements import Statement
from derivations.documents.syntax import Dots, Name, Node, Number, Product, Quotient, Root

__all__ = ["claim_of", "gradient_forms", "letter_below"]

MOST_LETTERS, MOST_STATEMENTS, MOST_NODES = 24, 16, 150


def claim_of(
    by: Name, right: Node, statement: Statement, scope: Scope, below: Name | None = None
) -> GradientClaim | None:
    """Return what is said to be the gradient by a letter, as a marked formula, with all that it rests on."""
    by, indices = _entry(by, right, scope)
    whole = whole_letters(right, indices)
    strays = {} if indices else dict(_strays(by, right, scope))
    flow = _flow_around(by, (whole, *([] if below is None else [below]), *strays.values()), scope)
    if flow is None:
        return None
    sides = (whole, *flow.made.values())
    numbers = numbers_set(letters_in_order(*sides), scope)
    sizes = {key: float(each.value) for key, each in numbers.items() if isinstance(each, Number)}
    turned, scaled = turned_letters(sides, statement, scope), frozenset(_scaled(statement, scope))
    return GradientClaim(by, right, indices, flow, Known(scope, turned, sizes, scaled), strays, below)


def _entry(by: Name, right: Node, scope: Scope) -> tuple[Name, tuple[str, ...]]:
    """Return the letter of which another one is an entry, with the indices; itself with none where it is no entry.

    It is an entry where the gradients on the right are by entries too: their letters are defined without places.
    """
    places = [each.key for each in flat(by.subscripts) if isinstance(each, Name) and is_index(each)]
    head, found = indices_of(by, frozenset(places))
    keys = tuple(each.key for each in found if isinstance(each, Name))
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
        if any(map(_is_long, definitions)):
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


def _is_long(node: Node) -> bool:
    return sum(1 for _ in islice(node.walk(), MOST_NODES + 1)) > MOST_NODES


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


def gradient_forms(right: Node, scope: Scope) -> dict[str, Node]:
    """Return the formulas that the document gives for the gradients in a marked formula, and for those in them."""
    found: dict[str, Node] = {}
    pending = list(gradients_in(right))
    while pending and len(found) < MOST_LETTERS:
        name = pending.pop()
        forms = scope.definitions(_as_written(name))
        key = gradient_by(name).key
        if forms and key not in found and not _is_long(forms[0]):
            found[key] = marked(forms[0], scope)
            pending += gradients_in(found[key])
    return found


def letter_below(by: Name, statement: Statement, scope: Scope) -> Name | None:
    """Return the one letter that is defined by another one, and whose gradient stands in formulas around, free.

    Nothing where the document defines a loss, or gives a formula without gradients for the gradient by that letter.
    """
    statements = [other.chain for other in _around(statement, scope) if other is not statement]
    lefts = [each.sides[0] for each in statements if each.relations]
    if any(isinstance(left, Name) and left.base in LOSSES - {"l"} for left in lefts) or any(
        scope.definitions(Name(loss)) for loss in LOSSES
    ):
        return None
    names = dict.fromkeys(
        name for each in statements for side in each.sides for name in gradients_in(marked(side, scope))
    )
    found = [name for name in names if by in letters_in_order(scope.near_definition(name) or Name("?"))]
    if len(found) != 1:
        return None
    forms = [each.sides[1:] for each in statements if each.relations and gradient_of(each.sides[0], scope) == found[0]]
    written = [*chain.from_iterable(forms), *scope.definitions(_as_written(found[0]))]
    return found[0] if all(any(gradients_in(marked(form, scope))) for form in written) else None


def _as_written(name: Name) -> Name:
    """Return the gradient by a letter as dY, which documents define."""
    return Name(name.base, name.subscripts, name.superscripts, name.primes, "d")


def _scaled(statement: Statement, scope: Scope) -> Iterator[Name]:
    """Yield the letters that are divided by numbers, or multiplied by them, in the formulas around."""
    for part in (part for other in _around(statement, scope) for side in other.chain.sides for part in side.walk()):
        match part:
            case Quotient(numerator=Name() as name):
                yield name
            case Product(factors=(first, Name() as name)) if _is_number(first, scope):
                yield name


def _is_number(node: Node, scope: Scope) -> bool:
    match node:
        case Number() | Root():
            return True
        case Quotient(numerator=above):
            return _is_number(above, scope)
        case Name():
            return options(node, turned=False, spoken=False, scope=scope) == ("number",)
    return False


def _around(statement: Statement, scope: Scope) -> Iterator[Statement]:
    """Yield the statements of this block and the next, and those before in the section; no long ones."""
    blocks = (scope.document.in_block.get(block, ())[:MOST_STATEMENTS] for block in (scope.block, scope.block + 1))
    for other in (*chain.from_iterable(blocks), *scope.earlier(statement)[:MOST_STATEMENTS]):
        if not any(map(_is_long, other.chain.sides)):
            yield other
