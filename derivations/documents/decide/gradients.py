r"""Stated gradients, compared with those that follow from the document's own definitions.

Definition   where the document gives `C = A B`, the gradient of a loss by A is that of sum(G * (A B)), in which G
             stands for the gradient by C; `dA` and `\\nabla_A L` are read as the gradient of the loss by A
Result       holds where the judge proves a stated gradient under every typing; wrong where it is refuted under every
             one, and an edit of it is proved
Assumes      every gradient has the shape of what it is taken by
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from derivations.documents.decide.identities import decisions_of, is_equation, verdict_of
from derivations.documents.elaborate.expanding import definition_of, expanded_to, letters_in
from derivations.documents.elaborate.letters import letters_of
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Derivative, Name, Node, Sum, rebuilt
from derivations.documents.verdicts import Finding

__all__ = ["check_stated_gradients"]

CHECK = "gradient"
LOSSES = frozenset({"L", "J", "calL", "ℓ", "ell", "l", "E", "loss", "Loss", "C"})


def check_stated_gradients(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Compare a stated gradient with the one that follows from the document's own definitions."""
    if link is None or not is_equation(statement, link):
        return
    left, right = statement.chain.sides[0], statement.chain.sides[link + 1]
    by = _gradient_by(left)
    sides = None if by is None else _with_definitions(by, right, scope)
    if sides is None:
        return
    typings, found = decisions_of(sides, scope, "derivative")
    if found:
        what = "the gradient that follows from what the document defines"
        yield from verdict_of(found, sides, typings, scope, CHECK, "derivative", what)


def _gradient_by(node: Node) -> Name | None:
    """Return the variable of a gradient of a loss, or None if a node is not such a gradient."""
    match node:
        case Derivative(of=Name() as of, by=(Name() as by,)) if _is_loss(of):
            return by
        case Name(accent="d"):
            return Name(node.base, node.subscripts, node.superscripts, node.primes, "", node.font)
    return None


def _is_loss(name: Name) -> bool:
    return name.base in LOSSES and not any(isinstance(each, Name) and each.base.isdigit() for each in name.subscripts)


def _with_definitions(by: Name, right: Node, scope: Scope) -> tuple[Node, ...] | None:
    """Return the gradient that follows from the definitions, and the stated one in the same letters, or None."""
    gradients = {part: of for part in right.walk() if (of := _gradient_by(part)) is not None and of.key != by.key}
    if not gradients:
        return None
    letters = letters_of((right, by))
    summed = {name for part in right.walk() if isinstance(part, Aggregate) for name in part.index}
    if any(summed & {*of.subscripts} for of in gradients.values()):
        return None  # of one entry nothing is summed over the others
    names = {of.key: Name(f"grad {of.key}", of.subscripts and (), (), 0, "", of.font) for of in gradients.values()}
    terms: list[Node] = []
    for of in {each.key: each for each in gradients.values()}.values():
        formula = definition_of(of, letters, scope)
        if formula is None or by.key not in letters_in(formula):
            return None
        terms.append(Call(Name("inner"), (names[of.key], formula)))
    whole = terms[0] if len(terms) == 1 else Sum(tuple(terms), (1,) * len(terms))
    stated = _put(right, {part: names[of.key] for part, of in gradients.items()})
    stated = expanded_to(stated, letters_in(whole), scope)
    return None if stated is None else (Derivative(whole, (by,)), stated)


def _put(node: Any, new: Mapping[Node, Node]) -> Any:
    if isinstance(node, Node) and node in new:
        return new[node]
    return rebuilt(node, lambda each: _put(each, new))
