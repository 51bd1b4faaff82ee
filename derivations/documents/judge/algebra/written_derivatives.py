r"""Derivatives that are written out: `\frac{\partial}{\partial x} x^T A x`, `\frac{d}{dx_i} \log \sum_j e^{x_j}`.

Definition   the derivative of a formula, not of a letter, by one letter, with all that is claimed to be equal to it
             made of the letters of that formula: then nothing is hidden that the letter could depend on
Result       `written_derivative(left, right)`: the formula that is derived and the letter; None for all else
Assumes      an operator in front of a product, `\frac{d}{dx} x^T y`, stands before all of it
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from derivations.documents.judge.numbers.letters import bare
from derivations.documents.scope import Scope
from derivations.documents.syntax import Aggregate, Call, Derivative, Entry, Name, Node, Number, Product

__all__ = ["WrittenDerivative", "is_settled", "letters_of_numbers", "written_derivative"]


@dataclass(frozen=True)
class WrittenDerivative:
    """A formula, and the letter by which it is derived."""

    of: Node
    by: Name


def is_settled(found: WrittenDerivative, scope: Scope) -> bool:
    """Say whether no letter of what is derived is defined by the one by which it is derived."""
    letter = _plain(found.by)
    others = {_plain(name): replace(name, subscripts=()) for name in letters_of_numbers(found.of)}
    made = (part for key, name in others.items() if key != letter for part in _parts_of_definitions(name, scope))
    return not any(isinstance(part, Name) and _plain(part) == letter for part in made)


def _parts_of_definitions(name: Name, scope: Scope) -> Iterator[Node]:
    for defined in scope.definitions(name):
        yield from defined.walk()


def written_derivative(left: Node, right: Node) -> WrittenDerivative | None:
    """Return what is derived, if a left side is the derivative of a formula, and the right side has its letters."""
    found = _whole(left)
    if found is None or len(found.by) != 1 or isinstance(bare(found.of), Name) or isinstance(right, Number):
        return None
    by = found.by[0]
    if not isinstance(by, Name) or any(
        isinstance(part, Derivative) for each in (found.of, right) for part in each.walk()
    ):
        return None
    own = {_plain(name) for name in letters_of_numbers(found.of)}
    if _plain(by) not in own or not {_plain(name) for name in letters_of_numbers(right)} <= own:
        return None
    return WrittenDerivative(found.of, by)


def _whole(left: Node) -> Derivative | None:
    """Return a derivative with all that its operator stands before."""
    match left:
        case Derivative():
            return left
        case Product(factors=(Derivative(of=of, by=(by,)) as first, *others)) if of.start > by.end:
            factors = (*(of.factors if isinstance(of, Product) else (of,)), *others)
            operators = (*(of.operators if isinstance(of, Product) else ()), *left.operators)
            return replace(first, of=Product(factors, operators))
    return None


def letters_of_numbers(node: Node) -> Iterator[Name]:
    """Yield the letters of a formula that stand for numbers and arrays: no functions, no indices."""
    match node:
        case Name():
            yield node
        case Entry(of=of):
            yield from letters_of_numbers(of)
        case Call(arguments=arguments):
            yield from (name for each in arguments for name in letters_of_numbers(each))
        case Aggregate(index=index):
            bound, ends = {each.key for each in index}, (node.body, node.lower, node.upper)
            yield from (name for each in ends if each for name in letters_of_numbers(each) if name.key not in bound)
        case _:
            yield from (name for child in node.children for name in letters_of_numbers(child))


def _plain(name: Name) -> str:
    """Return the letter of an entry."""
    return replace(name, subscripts=()).key
