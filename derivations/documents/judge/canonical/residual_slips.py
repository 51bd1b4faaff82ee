r"""Slips in residual sums under a norm: a sub-layer's output is subtracted, or one letter stands in the sum twice.

Definition   a sub-layer, called by its name, makes z of x: by a formula in reach, or in the sum itself
Result       `residual_slip(node, scope)`: wrong are Norm(x - z), Norm(x + x) and Norm(z + z), and Norm(x + z) is right
Assumes      letters are free; f is any function, so that x - f(x) may be meant, and norm(x - z) may be a distance
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from derivations.documents.judge.arrays.arrays import function_word
from derivations.documents.judge.canonical.residuals import POST_NORM, SUBLAYERS, Seen, branch_of, is_norm
from derivations.documents.scope import Scope
from derivations.documents.scope.sizes import fold_key
from derivations.documents.syntax import Call, Name, Node, Sum

__all__ = ["residual_slip"]

KNOWN = SUBLAYERS - {"f"}
DISTANCE = "norm"
MOST_USES = 24


def residual_slip(node: Node, scope: Scope) -> Seen | None:
    """Return what is wrong with a residual sum inside a norm, or None if nothing certainly is."""
    if not (isinstance(node, Call) and is_norm(node) and len(node.arguments) == 1):
        return None
    if function_word(node.function) == DISTANCE:
        return None
    inner = node.arguments[0]
    if not isinstance(inner, Sum) or len(inner.terms) != 2:
        return None
    slip, pair = "", None
    match inner.terms:
        case (Name() as one, Name() as other) if one == other:
            pair, slip = _first(_partners(one, scope), scope), f": {one.key} stands in the sum twice"
        case (Name() as one, Name() as other) if -1 in inner.signs:
            pair, slip = _first(((one, other), (other, one)), scope), ", not subtracted"
        case (Name(), Call()) | (Call(), Name()) if -1 in inner.signs:
            return _of_call(node, inner)
    if pair is None:
        return None
    stream, output = pair
    reason = f"{output.key} is what a sub-layer makes of {stream.key}, and is added to it{slip}"
    return Seen("wrong", reason, POST_NORM, right=replace(node, arguments=(Sum(pair, (1, 1)),)))


def _of_call(norm: Call, inner: Sum) -> Seen | None:
    """Judge Norm(x - F(x)) and Norm(F(x) - x)."""
    added = replace(inner, signs=(1, 1))
    called = {function_word(part.function) for part in inner.walk() if isinstance(part, Call)}
    if branch_of(added) != "plain" or not called <= KNOWN:
        return None
    reason = "what a sub-layer makes of its input is added to it, not subtracted"
    return Seen("wrong", reason, POST_NORM, right=replace(norm, arguments=(added,)))


def _first(pairs: Iterable[tuple[Name, Name]], scope: Scope) -> tuple[Name, Name] | None:
    """Return the first pair in which a sub-layer computes the second letter from the first."""
    return next((pair for pair in pairs if _input(pair[1], scope) == pair[0]), None)


def _partners(name: Name, scope: Scope) -> Iterator[tuple[Name, Name]]:
    """Yield pairs of an input and an output: a letter with its source, and with the letters computed from it."""
    source = _input(name, scope)
    if source is not None:
        yield source, name
    for number in scope.document.users.get(fold_key(name.key), [])[:MOST_USES]:
        left = scope.document.kept[number].chain.sides[0]
        if isinstance(left, Name) and left != name:
            yield name, left


def _input(name: Name, scope: Scope) -> Name | None:
    """Return the letter from which a sub-layer computes another one, or None."""
    made = scope.near_definition(name)
    while isinstance(made, Call) and function_word(made.function) in KNOWN and made.arguments:
        made = made.arguments[0]
        if isinstance(made, Name):
            return made
    return None
