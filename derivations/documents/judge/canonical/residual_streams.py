r"""Residual sums that leave a sub-layer out: `h = x + Attn(LN(x))`, then `y = x + FFN(LN(h))` for `h + FFN(LN(h))`.

Definition   h is a residual sum of the stream x, so that it holds x and what a sub-layer added; a second sub-layer is
             taken of h, with a norm or without, and added to the stream as it was before
Result       `stream_slip(node, scope)`: wrong, and what is added to h is right
Assumes      the second sub-layer has the name of one; where the section defines h in several ways, x is spelled as h is
"""

from __future__ import annotations

from dataclasses import replace

from derivations.documents.judge.arrays.arrays import function_word
from derivations.documents.judge.canonical.residuals import POST_NORM, SUBLAYERS, Seen, branch_of, is_norm
from derivations.documents.scope import Scope
from derivations.documents.syntax import Call, Name, Node, Sum

__all__ = ["stream_slip"]

KNOWN = SUBLAYERS - {"f"}


def stream_slip(node: Node, scope: Scope) -> Seen | None:
    """Return that a sub-layer's output is added to the stream before the last residual sum; None for all else."""
    if isinstance(node, Call) and is_norm(node) and len(node.arguments) == 1:
        seen = stream_slip(node.arguments[0], scope)
        inner = seen.right if seen is not None else None
        return (
            replace(seen, right=replace(node, arguments=(inner,))) if seen is not None and inner is not None else None
        )
    match node:
        case Sum(terms=(Name() as stream, Call() as branch), signs=(1, 1)):
            mended = 0
        case Sum(terms=(Call() as branch, Name() as stream), signs=(1, 1)):
            mended = 1
        case _:
            return None
    taken = _taken(branch)
    if taken is None or taken == stream or not _is_added_to(stream, taken, scope):
        return None
    if taken.base != stream.base and len(scope.definitions(taken)) > 1:
        return None
    terms = tuple(taken if at == mended else term for at, term in enumerate(node.terms))
    reason = f"the sub-layer is taken of {taken.key}, which is {stream.key} with another one added: that is left out"
    return Seen("wrong", reason, POST_NORM, right=replace(node, terms=terms))


def _taken(branch: Call) -> Name | None:
    """Return the letter that a sub-layer takes, with a norm before it or without."""
    if function_word(branch.function) not in KNOWN or len(branch.arguments) != 1:
        return None
    inside = branch.arguments[0]
    if isinstance(inside, Call) and is_norm(inside) and len(inside.arguments) == 1:
        inside = inside.arguments[0]
    return inside if isinstance(inside, Name) else None


def _is_added_to(stream: Name, taken: Name, scope: Scope) -> bool:
    """Say whether a letter is defined as the residual sum of a stream, or of the layer behind that of the stream."""
    made = scope.near_definition(taken)
    if isinstance(made, Call) and is_norm(made) and len(made.arguments) == 1:
        made = made.arguments[0]
    if not isinstance(made, Sum) or not branch_of(made):
        return False
    of_another_layer = stream.base == taken.base and 0 < stream.primes == taken.primes  # z'_{l-1} beside z'_l
    return stream in made.terms or of_another_layer
