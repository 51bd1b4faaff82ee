"""All parts of a formula, each with a function that replaces the part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any

from derivations.documents.canon.slips import Slip
from derivations.documents.syntax import Aggregate, Call, Name, Node

__all__ = ["Edit", "Put", "places"]

Put = Callable[[Node], Node]
Edit = tuple[Node, Slip]  # a formula with the slip that is mended in it


def places(root: Node) -> Iterator[tuple[Node, Put]]:
    """Yield every part of a formula with a function that replaces it. Parts inside names are not yielded."""
    return _below(root, _itself)


def _itself(node: Node) -> Node:
    return node


def _below(node: Node, put: Put) -> Iterator[tuple[Node, Put]]:
    yield node, put
    if isinstance(node, Name):
        return
    for each in fields(node):
        if isinstance(node, Call | Aggregate) and each.name in ("function", "index", "over"):
            continue
        for part, rebuilt in _parts(getattr(node, each.name)):
            yield from _below(part, partial(_put, node, each.name, rebuilt, put))


def _put(node: Node, name: str, rebuilt: Callable[[Node], Any], put: Put, new: Node) -> Node:
    changed: dict[str, Any] = {name: rebuilt(new)}
    return put(replace(node, **changed))


def _parts(value: Any) -> Iterator[tuple[Node, Callable[[Node], Any]]]:
    if isinstance(value, Node):
        yield value, _itself
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            for inner, rebuilt in _parts(part):
                yield inner, partial(_put_at, value, number, rebuilt)


def _put_at(value: tuple[Any, ...], number: int, rebuilt: Callable[[Node], Any], new: Node) -> tuple[Any, ...]:
    return (*value[:number], rebuilt(new), *value[number + 1 :])
