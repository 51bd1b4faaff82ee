r"""The inputs of a head's projections that are declared with the width of the outputs.

Definition   in `Attention(Q W_i^Q, K W_i^K, V W_i^V)` the letters are inputs as wide as the model; where the document
             declares `Q \in \mathbb{R}^{n \times d_k}` and `W_i^Q \in \mathbb{R}^{d_model \times d_k}`, that was
             another Q, the one of `Q K^T`
Result       the keys of such letters: a reading may leave their declarations aside
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Expr, Symbol

from derivations.documents.scope import Scope
from derivations.documents.syntax import Call, Name, Node, Product

__all__ = ["projected_letters"]

_ROLES = 3  # queries, keys and values


def projected_letters(sides: Sequence[Node], scope: Scope) -> frozenset[str]:
    """Return the inputs of a head's projections that are declared with the width of the outputs."""
    return frozenset(key for side in sides for node in side.walk() for key in _projected(node, scope))


def _projected(node: Node, scope: Scope) -> Iterator[str]:
    if not isinstance(node, Call) or len(node.arguments) != _ROLES:
        return
    for argument in node.arguments:
        match argument:
            case Product(factors=(Name() as given, Name() as weight)) if scope.document.is_weight(weight):
                wide, made = _last_size(given, scope), _last_size(weight, scope)
                if wide is not None and wide == made and not _is_model_width(wide, scope):
                    yield given.key


def _last_size(name: Name, scope: Scope) -> Expr | None:
    """Return how wide a matrix is declared to be."""
    found = (*scope.shape_candidates(name), *scope.family_candidates(name))
    sizes = found[0].declaration.sizes if found else None
    return sizes[-1] if sizes is not None and len(sizes) > 1 else None


def _is_model_width(size: Expr, scope: Scope) -> bool:
    return isinstance(size, Symbol) and scope.document.distinctions.is_called(size.name, "model width")
