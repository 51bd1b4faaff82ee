"""Parallel definitions: `Q = X W_Q`, `K = X W_K` and `V = X W_V` differ only in their letters and labels.

Definition   definitions of a section are parallel if their right sides are one formula but for labels, indices, and the
             letters without labels; a pair is the letter on the left with the labels on the right, or a letter with
             those of what multiplies it. Two sides of a chain are parallel if they are products of as many factors
Result       wrong where three pairs or more are seen, or those of a chain, all others agree, and this one has the label
             of another letter
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from derivations.documents.budget import spend
from derivations.documents.conditions import is_condition
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Fence, Name, Node, Power, Product, Quotient, Transpose, Words, rebuilt
from derivations.documents.verdicts import Finding

__all__ = ["check_parallels"]

CHECK = "parallel"
LEAST, AROUND = 3, 12
ROLES = frozenset("qkvofgcuz")  # queries, keys, values, outputs, and the gates of a recurrent layer
ANY = Words("")  # in the place of a label or an index
Pair = tuple[frozenset[str], frozenset[str]]


def check_parallels(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Compare the labels of a definition with those of the definitions that are parallel to it."""
    if link is not None and statement.chain.relations[link] in ("=", ":="):
        yield from _along(*statement.chain.sides[link : link + 2])
    if link != 0 or statement.chain.relations[0] not in ("=", ":=") or is_condition(statement):
        return
    left, right = _base(statement.chain.sides[0]), statement.chain.sides[1]
    inside = [pair for pair in map(_multiplied, _products(right)) if pair is not None]
    odd = _odd(inside)
    if odd is not None:
        yield _finding(odd)
    if not isinstance(left, Name) or not _labels_in(right):
        return
    own = (_letters(left), _labels_in(right))
    form = _bare(right)
    pairs = [own]
    for other in scope.document.around(statement, AROUND, AROUND):
        first, *rest = other.chain.sides
        first = _base(first)
        if other is statement or not rest or not isinstance(first, Name) or other.section != statement.section:
            continue
        spend(50)
        if first != left and _bare(rest[0]) == form:
            pairs.append((_letters(first), _labels_in(rest[0])))
    if _odd(list(dict.fromkeys(pairs))) == own:
        yield _finding(own)


def _along(left: Node, right: Node) -> Iterator[Finding]:
    """Compare two sides, factor by factor: `q k^T = (x W_q) (x W_k)^T`."""
    ones, others = _factors(left), _factors(right)
    pairs = [
        (_letters(one), _labels_in(other)) for one, other in zip(ones, others, strict=False) if isinstance(one, Name)
    ]
    if len(ones) == len(others) == len(pairs) and all(labels for _, labels in pairs):
        odd = _odd(pairs, least=2)
        if odd is not None:
            yield _finding(odd)


def _factors(node: Node) -> list[Node]:
    """Return the factors of a product that are arrays, each without its brackets and its transpose."""
    match node:
        case Quotient(numerator=above):
            return _factors(above)
        case Product(factors=factors):
            return [each for each in map(_bared, factors) if isinstance(each, Name | Product)]
    return []


def _bared(node: Node) -> Node:
    match node:
        case Transpose(operand=inner) | Fence(inside=inner):
            return _bared(inner)
    return node


def _finding(odd: Pair) -> Finding:
    letters, labels = ("".join(sorted(each)) for each in odd)
    return Finding(
        "wrong", CHECK, f"the label {labels} stands with {letters}, and all others stand with their own letter"
    )


def _odd(pairs: list[Pair], least: int = LEAST) -> Pair | None:
    """Return the only pair whose letter does not match its labels, if another pair has these labels, or None."""
    apart = [pair for pair in pairs if not pair[0] & pair[1]]
    if len(pairs) < least or len(apart) != 1:
        return None
    others = [pair for pair in pairs if pair is not apart[0]]
    return apart[0] if any(apart[0][1] == labels for _, labels in others) else None


def _products(node: Node) -> Iterator[tuple[Node, Node]]:
    for part in node.walk():
        if isinstance(part, Product):
            yield from zip(part.factors, part.factors[1:], strict=False)


def _multiplied(pair: tuple[Node, Node]) -> Pair | None:
    """Return a letter without labels and the labels of the weights that multiply it."""
    first, second = (each.operand if isinstance(each, Transpose) else each for each in pair)
    if isinstance(first, Name) and isinstance(second, Name) and not _labels(first) and _labels(second):
        return frozenset({first.base.lower()}), _labels(second)
    return None


def _base(node: Node) -> Node:
    """Return the base of a power of a name, since the n of `k^n` may be an index such as the number of a layer."""
    return node.base if isinstance(node, Power) and isinstance(node.base, Name) else node


def _letters(name: Name) -> frozenset[str]:
    return frozenset({name.base.lower()}) | _labels(name)


def _labels(name: Name) -> frozenset[str]:
    """Return the labels of a name: single letters that name a role, such as the Q of W_Q."""
    inner = (each.inside if isinstance(each, Fence) else each for each in (*name.superscripts, *name.subscripts))
    if not name.base[:1].isupper() and name.base != "w":
        return frozenset()  # sizes may be shared
    return frozenset(each.base.lower() for each in inner if isinstance(each, Name) and each.base.lower() in ROLES)


def _labels_in(node: Node) -> frozenset[str]:
    return frozenset(label for part in node.walk() if isinstance(part, Name) for label in _labels(part))


def _bare(node: Any) -> Any:
    """Return a formula in which all labels and indices, and all letters without a label, are replaced by blanks."""
    node = _base(node)
    if isinstance(node, Name):
        base = node.base if _labels(node) else ""
        return Name(base, (ANY,) * len(node.subscripts), (ANY,) * len(node.superscripts))
    return rebuilt(node, _bare)
