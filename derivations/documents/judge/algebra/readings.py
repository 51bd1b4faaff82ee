r"""Assumptions made when a formula is read as one of numbers. A proof of that reading depends on them.

Definition   a letter may be a vector, a sign between letters another product than that of numbers, a bracket an entire
             part, `e` an error and no constant: spelling, words in reach and definitions tell
Result       `guessed(left, right, scope, text)` are the guesses, each as an assumption in words; `text` is as written
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from derivations.documents.judge.algebra.scalar_letters import is_size
from derivations.documents.scope import Scope
from derivations.documents.syntax import Call, Fence, Name, Node, Number, Product

__all__ = ["guessed"]

_ARROWS = ("vec", "overrightarrow", "overline")
_CONSTANTS = ("e", "π", "pi")
_BOLD = re.compile(
    r"\\(?:mathbf|boldsymbol|bm|pmb|bf|vec|vect|bold|symbf|overrightarrow)(?![a-zA-Z])\s*\{?\s*(\\?[A-Za-z]+)"
)


def guessed(left: Node, right: Node, scope: Scope, text: str) -> tuple[str, ...]:
    """Return the assumptions made when two sides are read as numbers."""
    parts = [part for side in (left, right) for part in side.walk()]
    names = [part for part in parts if isinstance(part, Name)]
    return tuple(dict.fromkeys((*_vectors(names, scope, text), *_products(parts), *_others(parts, scope))))


def _vectors(names: list[Name], scope: Scope, text: str) -> Iterator[str]:
    for name in names:
        if name.accent in _ARROWS or scope.is_vector(name):
            yield f"{name.key} is a number, and no vector"
    for letter in dict.fromkeys(_BOLD.findall(text)):
        yield f"{letter} is a number, and no vector"


def _products(parts: list[Node]) -> Iterator[str]:
    """Yield the assumption that a dot, a cross or a star multiplies numbers, where letters are also juxtaposed."""
    signs = {
        sign
        for part in parts
        if isinstance(part, Product)
        for (one, other), sign in zip(pairwise(part.factors), part.operators, strict=True)
        if _has_free_letter(one) and _has_free_letter(other)
    }
    if len(signs) > 1 or "star" in signs:
        yield "every sign of a product multiplies numbers"


def _has_free_letter(node: Node) -> bool:
    """Return whether a factor, other than a number or a call, has a letter that is not spelled like a size."""
    if isinstance(node, Number | Call):
        return False
    return any(isinstance(part, Name) and not is_size(part) for part in node.walk())


def _others(parts: list[Node], scope: Scope) -> Iterator[str]:
    for part in parts:
        match part:
            case Product(factors=factors, operators=operators):
                for (first, second), sign in zip(pairwise(factors), operators, strict=True):
                    one = isinstance(second, Fence) and isinstance(second.inside, Number)
                    if isinstance(first, Name) and sign == "" and one:
                        yield f"{first.key} is a number, and no function"
            case Name(base=base) if base in _CONSTANTS and part.key == base and _is_used_otherwise(part, scope):
                yield f"{base} is the constant"
            case Fence(bracket="[" | "{", inside=Name() as inside):
                yield f"the brackets around {inside.key} change nothing"


def _is_used_otherwise(name: Name, scope: Scope) -> bool:
    """Return whether the document defines a letter that is also a constant."""
    return scope.definition(name) is not None or bool(scope.meaning(name)) or scope.value(name) is not None
