r"""Gradients in a formula as letters: `\partial L/\partial Y`, `\nabla_Y L`, `dY` and `d y` are the letter Y with a d.

Result       `marked(node, scope)` is the formula in which every gradient is one letter, entries are multiplied by the
             sign for it, and `[X > 0]` is the function "indicator" of X; `written` is the way back
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from derivations.documents.judge.matrices.matrix_words import gradient_of
from derivations.documents.scope import Scope
from derivations.documents.syntax import (
    Call,
    Chain,
    Derivative,
    Entry,
    Fence,
    Name,
    Negative,
    Node,
    Number,
    Product,
    Sum,
    rebuilt,
)

__all__ = ["gradient_by", "gradients_in", "is_gradient", "marked", "written"]

_INDICATOR = Name("indicator")
_MARK = "∂"


def gradient_by(name: Name) -> Name:
    """Return the letter for the gradient by a letter."""
    return replace(name, accent=_MARK + name.accent)


def is_gradient(name: Name) -> bool:
    """Say whether a letter of a marked formula is a gradient."""
    return name.accent.startswith(_MARK)


def gradients_in(node: Node) -> Iterator[Name]:
    """Yield the letters by which the gradients in a marked formula are taken."""
    names = (part for part in node.walk() if isinstance(part, Name) and is_gradient(part))
    return (replace(name, accent=name.accent.removeprefix(_MARK)) for name in names)


def written(node: Any, like: Node) -> Any:
    """Return a marked formula with its gradients written as one of them is, and indicators in brackets."""
    if isinstance(node, Call) and node.function == _INDICATOR:
        return Fence("[", Chain((written(node.arguments[0], like), Number("0", Fraction(0))), (">",)))
    if not isinstance(node, Name):
        return rebuilt(node, lambda each: written(each, like))
    if not is_gradient(node):
        return node
    name = replace(node, accent=node.accent.removeprefix(_MARK))
    return replace(like, by=(name,)) if isinstance(like, Derivative) else replace(name, accent="d")


def marked(node: Any, scope: Scope) -> Any:
    """Return a formula in which every gradient is a letter with a d."""
    if isinstance(node, Name | Derivative):
        by = gradient_of(node, scope)
        return gradient_by(by) if by is not None else node
    found = _indicator(node) if isinstance(node, Node) else None
    if found is not None:
        return Call(_INDICATOR, (marked(found, scope),))
    whole = rebuilt(node, lambda each: marked(each, scope))
    match whole:
        case Product():
            return _product(whole, scope)
    return whole


def _product(node: Product, scope: Scope) -> Node:
    """Return a product with `d y` and `1[X > 0]` as one factor, unless d is a size, and one sign for entries.

    The letter o between two factors is that sign as well: `dY o D`.
    """
    operators = tuple("odot" if each == "circ" else each for each in node.operators)
    factors = list(node.factors)
    for at in range(len(factors) - 2, 0, -1):
        if factors[at] == Name("o") and operators[at - 1 : at + 1] == ("", ""):
            del factors[at]
            operators = (*operators[: at - 1], "odot", *operators[at + 1 :])
    for at in range(len(factors) - 2, -1, -1):
        match factors[at : at + 2], operators[at]:
            case [Number(text="1") | Name(base="1"), Call(function=Name(base="indicator"))], "":
                factors, operators = [*factors[:at], *factors[at + 1 :]], (*operators[:at], *operators[at + 1 :])
    for at in range(len(factors) - 2, -1, -1):
        match factors[at : at + 2], operators[at]:
            case [Name(base="d", subscripts=()), Name(accent="") as name], "" if not scope.is_declared_size("d"):
                factors[at : at + 2], operators = [gradient_by(name)], (*operators[:at], *operators[at + 1 :])
    return Product(tuple(factors), operators) if len(factors) > 1 else factors[0]


def _indicator(node: Node) -> Node | None:
    r"""Return X of `[X > 0]`, `1[X > 0]`, `\mathbf{1}(X > 0)` and `1_{X > 0}`, and -X where X is below zero."""
    match node:
        case Fence(bracket="[", inside=Chain() as chain):
            pass
        case Call(function=Name(base="1" | "I"), arguments=(Chain() as chain,)):
            pass
        case Entry(of=Number(text="1") | Name(base="1"), indices=(Chain() as chain,)):
            pass
        case _:
            return None
    match chain.sides, chain.relations:
        case (inside, Number() as zero), (">" | "≥",) if zero.value == 0:
            return inside
        case (inside, Number() as zero), ("<" | "≤",) if zero.value == 0:
            return Negative(inside)
        case (first, second), (">" | "≥",):
            return Sum((first, second), (1, -1))
    return None
