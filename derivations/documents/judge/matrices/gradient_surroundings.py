r"""What stands around a formula of gradients: the letter whose gradient is free, formulas for gradients, scales.

Result       `letter_below` is the letter whose gradient must stand in that by another one; `gradient_forms` what the
             document gives as formulas of gradients; `matrices_by_gradient` the letters that are matrices since their
             gradients are, `scaled_letters` those that are multiplied by numbers
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise

from derivations.documents.judge.arrays.array_reading import indices_of
from derivations.documents.judge.matrices.gradient_letters import gradient_by, gradients_in, marked
from derivations.documents.judge.matrices.matrix_letters import letters_in_order, options
from derivations.documents.judge.matrices.matrix_words import LOSSES, gradient_of, word_of_product
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import flat, is_index
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node, Number, Product, Quotient, Root

__all__ = [
    "around", "gradient_forms", "head_of", "is_long", "letter_below", "matrices_by_gradient", "scaled_letters",
]  # fmt: skip

MOST_LETTERS, MOST_STATEMENTS, MOST_NODES = 24, 16, 150


def is_long(node: Node) -> bool:
    """Say whether a formula has too many parts to be followed."""
    return sum(1 for _ in islice(node.walk(), MOST_NODES + 1)) > MOST_NODES


def head_of(name: Name) -> tuple[Name, tuple[Node, ...]]:
    """Return the letter of which a name is an entry by its form, with the places; none where it has no index."""
    places = [each.key for each in flat(name.subscripts) if isinstance(each, Name) and is_index(each)]
    return indices_of(name, frozenset(places))


def gradient_forms(right: Node, scope: Scope) -> dict[str, Node]:
    """Return the formulas that the document gives for the gradients in a marked formula, and for those in them."""
    found: dict[str, Node] = {}
    pending = list(gradients_in(right))
    while pending and len(found) < MOST_LETTERS:
        name = pending.pop()
        forms = scope.definitions(_as_written(name))
        key = gradient_by(name).key
        if forms and key not in found and not is_long(forms[0]):
            found[key] = marked(forms[0], scope)
            pending += gradients_in(found[key])
    return found


def letter_below(by: Name, statement: Statement, scope: Scope) -> Name | None:
    """Return the one letter that is defined by another one, and whose gradient stands in formulas around, free.

    Those beside the formula come first. Nothing where the document defines a loss, or gives a formula without gradients
    for the gradient by that letter.
    """
    statements = [other for other in around(statement, scope) if other is not statement]
    lefts = [each.chain.sides[0] for each in statements if each.chain.relations]
    if any(isinstance(left, Name) and left.base in LOSSES - {"l"} for left in lefts) or any(
        scope.definitions(Name(loss)) for loss in LOSSES
    ):
        return None
    beside = [each for each in statements if scope.document.blocks.get(id(each.passage)) == scope.block]
    found = _defined_by(by, beside, scope) or _defined_by(by, statements, scope)
    if len(found) != 1:
        return None
    chains = [each.chain for each in statements if each.chain.relations]
    forms = [each.sides[1:] for each in chains if gradient_of(each.sides[0], scope) == found[0]]
    written = [*chain.from_iterable(forms), *scope.definitions(_as_written(found[0]))]
    return found[0] if all(any(gradients_in(marked(form, scope))) for form in written) else None


def _defined_by(by: Name, statements: Sequence[Statement], scope: Scope) -> list[Name]:
    """Return the letters whose gradients stand in formulas, and that are defined by a letter or by what it is of."""
    sides = (side for each in statements for side in each.chain.sides)
    found = dict.fromkeys(name for side in sides for name in gradients_in(marked(side, scope)))
    names = dict.fromkeys(name if scope.near_definition(name) is not None else head_of(name)[0] for name in found)
    wanted = {by, head_of(by)[0]}
    made = [(name, scope.near_definition(name)) for name in names]
    return [name for name, each in made if each is not None and not wanted.isdisjoint(letters_in_order(each))]


def _as_written(name: Name) -> Name:
    """Return the gradient by a letter as dY, which documents define."""
    return Name(name.base, name.subscripts, name.superscripts, name.primes, "d")


def matrices_by_gradient(statement: Statement, scope: Scope) -> Iterator[str]:
    """Yield the letters that are matrices: the gradient by them is a product of capitals, one of them transposed."""
    for other in around(statement, scope):
        for left, right in pairwise(other.chain.sides):
            by, word = gradient_of(left, scope), word_of_product(right, scope)
            if by is None or word is None or len(word.factors) < 2:
                continue
            capitals = all(each.name.base[:1].isupper() for each in word.factors)
            if capitals and any(each.transposed for each in word.factors):
                yield by.key


def scaled_letters(statement: Statement, scope: Scope) -> Iterator[Name]:
    """Yield the letters that are divided by numbers, or multiplied by them, in the formulas around."""
    for part in (part for other in around(statement, scope) for side in other.chain.sides for part in side.walk()):
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


def around(statement: Statement, scope: Scope) -> Iterator[Statement]:
    """Yield the statements of this block and the next, and those before in the section; no long ones."""
    blocks = (scope.document.in_block.get(block, ())[:MOST_STATEMENTS] for block in (scope.block, scope.block + 1))
    for other in (*chain.from_iterable(blocks), *scope.earlier(statement)[:MOST_STATEMENTS]):
        if not any(map(is_long, other.chain.sides)):
            yield other
