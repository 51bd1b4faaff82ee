"""What the spelling of a name suggests: a weight, a bias, a number or an index.

Assumes      W and U are weights, b is a bias, Greek letters and those that count are numbers, if nothing is declared
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr

from derivations.documents.scope.functions import BY_ENTRY, folded
from derivations.documents.scope.sizes import size_of
from derivations.documents.syntax import (
    Call,
    Fence,
    List,
    Name,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Transpose,
)

__all__ = [
    "flat", "is_bias", "is_gain", "is_index", "is_ones", "is_scalar_letter", "is_weight", "label_of", "last_index",
    "of_entries",
]  # fmt: skip

_GREEK = frozenset({"alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "lambda", "kappa", "sigma", "omega"})


def flat(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return i and j of the subscripts `ij`, `i,j` and `(i, j)`."""
    found: list[Node] = []
    for node in nodes:
        match node:
            case Product(factors=factors, operators=operators) if not any(operators):
                found.extend(factors)
            case List(items=items):
                found.extend(items)
            case Fence(inside=inside):
                found.extend(flat((inside,)))
            case _:
                found.append(node)
    return tuple(found)


def is_index(node: Node) -> bool:
    """Return whether a node can be an index: a number, or a letter that is not a matrix."""
    match node:
        case Number() | Sum():
            return True
        case Name(base=base, subscripts=()):
            return (len(base) == 1 and not base.isupper()) or base in ("pos", "N", "L", "T")
    return False


def is_weight(node: Node) -> bool:
    """Return whether a node has a letter that usually stands for a matrix of weights."""
    inner = node.operand if isinstance(node, Transpose) else node
    return isinstance(inner, Name) and inner.base.rstrip("0123456789") in ("W", "w", "U", "weight", "weights")


def is_bias(name: Name) -> bool:
    """Return whether a name has a letter that usually stands for a bias."""
    return name.base.rstrip("0123456789") in ("b", "bias")


def is_gain(node: Node) -> bool:
    """Return whether a node has a name that is usual for the gains of a normalisation."""
    return isinstance(node, Name) and node.base in ("gamma", "g", "gain", "scale")


def is_ones(node: Node) -> bool:
    r"""Return whether a node is a vector of ones, `\mathbf{1}`, transposed or not."""
    inner = node.operand if isinstance(node, Transpose) else node
    return isinstance(inner, Name) and inner.base == "1" and inner.font == "bold"


def of_entries(node: Node) -> bool:
    r"""Return whether a node is computed by entries: a fraction by arrays, a number plus an array, `1 - \sigma(P)`."""
    match node:
        case Fence(inside=inside):
            return of_entries(inside)
        case Sum(terms=terms):
            return any(isinstance(term, Number) for term in terms) or any(map(of_entries, terms))
        case Quotient(numerator=above, denominator=below):
            return of_entries(below) or of_entries(above)
        case Power(base=base, exponent=exponent):
            return isinstance(base, Name) and base.base == "e" and not isinstance(exponent, Number)
        case Call(function=function):
            return folded(function) in BY_ENTRY
    return False


def is_scalar_letter(name: Name) -> bool:
    """Return whether a letter is likely a number: Greek ones, and those that count or scale."""
    return name.base in _GREEK or (not name.subscripts and name.base in "cgkmnprst")


def last_index(node: Node) -> Expr | None:
    r"""Return the subscript of a name as a size, such as h for `\text{head}_h`, or None."""
    if isinstance(node, Name) and len(node.subscripts) == 1:
        return size_of(node.subscripts[0])
    return None


def label_of(node: Node) -> str:
    """Return the letters of a node for an assumption: `X W_1`; "it" for what has none."""
    match node:
        case Name():
            return node.key
        case Transpose(operand=operand):
            return f"{label_of(operand)}^T"
        case Product(factors=factors):
            return " ".join(map(label_of, factors))
    return "it"
