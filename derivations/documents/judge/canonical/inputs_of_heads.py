r"""The letters Q, K and V of multi-head attention, where the document uses them for something else as well.

Definition   in `MultiHead(Q, K, V)` and `Attention(Q W_i^Q, K W_i^K, V W_i^V)` they are inputs as wide as the model; in
             `Q = X W_Q` and in `Q K^T / \sqrt{d_k}` they are what the projections make of these
Result       what must be assumed of the letters for the formula to hold; nothing where they are used in one way
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from derivations.documents.canon.role_letters import KEY_WIDTHS
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node, Product, Transpose

__all__ = ["other_inputs"]

LETTERS = ("Q", "K", "V")


def other_inputs(statement: Statement, left: Node, right: Node, scope: Scope) -> tuple[str, ...]:
    """Return the assumptions about the inputs of one head, or of all heads together."""
    if isinstance(right, Call):
        inputs = [each.factors[0] for each in right.arguments if isinstance(each, Product)]
        names = [each for each in inputs if isinstance(each, Name) and each.base in LETTERS]
        if any(_is_projected(name, statement, scope) for name in names):
            said = _together(names)
            return (f"{said} are here the inputs of the heads, and not what the projections make of them",)
    elif isinstance(left, Call):
        arguments = [each for each in left.arguments if isinstance(each, Name)]
        made = _definition_of_heads(right, scope)
        if made is not None and arguments and not set(arguments) & set(made.walk()):
            return (f"the heads are made of {_together(arguments)}",)
    return ()


def _together(names: Sequence[Name]) -> str:
    *first, last = dict.fromkeys(name.key for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def _is_projected(name: Name, statement: Statement, scope: Scope) -> bool:
    """Return whether a letter denotes a projected input elsewhere in the document."""
    definition = scope.definition(name)
    if isinstance(definition, Product) and any(scope.document.is_weight(factor) for factor in definition.factors):
        return True
    shape = scope.shape(name)
    if shape and str(shape[-1]) in KEY_WIDTHS.split():
        return True
    others = (side for other in scope.document.used_in(name, statement) for side in other.chain.sides)
    return any(name in pair for side in others for pair in _scores(side))


def _scores(side: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the letters Q and K of every product Q K^T in a formula."""
    for part in side.walk():
        match part:
            case Product(factors=(Name() as query, Transpose(operand=Name() as key), *_)):
                yield query, key


def _definition_of_heads(right: Node, scope: Scope) -> Node | None:
    """Return the definition of the heads that a right side joins, or None."""
    for part in right.walk():
        if isinstance(part, Name) and part.base.lower() in ("head", "h", "z") and part.subscripts:
            return scope.near_definition(part)
    return None
