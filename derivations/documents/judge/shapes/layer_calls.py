r"""Layers applied one after another: `high = relu(linear1(x))`, `y = linear2(high)`.

Definition   a layer call is a call of a known layer on a name, or on a layer call; at least one layer is affine, called
             `linear`, `fc`, `dense` or `proj` with a number or a label
Result       holds where the document gives the sizes of every affine layer, `linear1 = nn.Linear(512, 2048)`, and each
             takes in what the one before gives out; conditional where it does not say what an affine layer is; nothing
             where the sizes do not agree
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from derivations.documents.judge.wording import source
from derivations.documents.scope import Scope
from derivations.documents.scope.functions import KEEPS_SHAPE, folded
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node, Number
from derivations.documents.verdicts import Finding

__all__ = ["check_layer_calls"]

_CHECK = "layers"
_AFFINE = frozenset({"linear", "fc", "dense", "proj", "projection", "outproj", "inproj", "affine"})
_MOST_STEPS = 8
_Sizes = tuple[int, int]  # taken in, given out


def check_layer_calls(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that a name is given to what layers make of another name."""
    chain = statement.chain
    if link is None or chain.relations[link] not in ("=", ":=", "←"):
        return
    left, right = chain.sides[link], chain.sides[link + 1]
    if not isinstance(left, Name) or (left in right.walk() and statement.passage.syntax != "code"):
        return
    calls = _calls(right)
    affine = [call.function for call in calls if _is_affine(call)]
    if not affine:
        return
    sizes = [_sizes(function, scope) for function in affine]
    known = [each for each in sizes if each is not None]
    inner = _made(calls[-1].arguments[0], scope)
    widths = [*known[::-1]] if inner is None else [inner, *known[::-1]]
    if any(before[1] != behind[0] for before, behind in pairwise(widths)):
        return
    reason = f"{source((left,), statement)} names what known layers make of {source(calls[-1].arguments, statement)}"
    unsaid = tuple(f"{name.key} is an affine map" for name, size in zip(affine, sizes, strict=True) if size is None)
    yield Finding("conditional" if unsaid else "holds", _CHECK, reason, assumptions=unsaid)


def _calls(node: Node) -> list[Call]:
    """Return the layers of a layer call, the last one first; none where something else is called."""
    found: list[Call] = []
    while isinstance(node, Call) and len(node.arguments) == 1:
        if not (_is_affine(node) or folded(node.function).rstrip("0123456789") in KEEPS_SHAPE):
            return []
        found.append(node)
        node = node.arguments[0]
    return found if isinstance(node, Name) else []


def _is_affine(call: Call) -> bool:
    word = folded(call.function)
    return word.rstrip("0123456789") in _AFFINE or word.startswith("linear")


def _sizes(function: Name, scope: Scope) -> _Sizes | None:
    """Return the sizes by which the document makes an affine layer."""
    match scope.definition(function):
        case Call(arguments=(Number(value=taken), Number(value=given), *_)) as made if _is_affine(made):
            return int(taken), int(given)
    return None


def _made(name: Node, scope: Scope) -> _Sizes | None:
    """Return the sizes of the last affine layer of those that made a name, step by step."""
    for _ in range(_MOST_STEPS):
        definition = scope.near_definition(name) if isinstance(name, Name) else None
        calls = _calls(definition) if definition is not None else []
        for call in calls:
            if _is_affine(call):
                return _sizes(call.function, scope)
        if not calls:
            return None
        name = calls[-1].arguments[0]
    return None
