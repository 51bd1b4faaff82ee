r"""Reads sizes as polynomials, and written shapes as the sizes of their axes.

Definition   a size is a polynomial in letters with rational coefficients; the letter of `d_{model}` is
             Symbol("d_model"), named by the key of the name
Result       `written_shape` reads `(n \times d_k)`, `[batch, n, d]`, `2 \times 3` as the sizes of the axes
Assumes      budgets: sizes of more than 24 nodes, powers above 8 and powers of sums are none
"""

from __future__ import annotations

from itertools import islice

from sympy import Expr, Integer, Rational, Symbol

from derivations.documents.syntax import (
    Annotated,
    Fence,
    List,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Words,
)

__all__ = ["fold_key", "is_sizelike", "size_of", "written_shape"]

_MOST_NODES = 24
_MOST_POWER = 8
_MOST_DIGITS = 30
_MOST_AXES = 6
_WIDTH_UNITS = ("维", "維", "次元", "dimensions")


def size_of(node: Node) -> Expr | None:
    """Return the size that a node denotes, as a polynomial, or None if it is not a size."""
    if len(list(islice(node.walk(), _MOST_NODES + 1))) > _MOST_NODES:
        return None
    return _size(node)


def _size(node: Node) -> Expr | None:
    match node:
        case Number(value=value):
            short = max(abs(value.numerator), value.denominator) < 10**_MOST_DIGITS
            return Rational(value.numerator, value.denominator) if short else None
        case Name(base=base) if base:
            return Symbol(node.key)
        case Words(text=text) if text.strip().isidentifier():
            return Symbol(text.strip())
        case Fence(bracket="(", inside=inside):
            return _size(inside)
        case Negative(operand=operand):
            inner = _size(operand)
            return None if inner is None else -inner
        case Product(factors=factors, operators=operators):
            if not set(operators) <= {"", "dot", "times", "star"}:
                return None
            return _combined(factors, (1,) * len(factors), product=True)
        case Sum(terms=terms, signs=signs):
            return None if 0 in signs else _combined(terms, signs, product=False)
        case Quotient(numerator=above, denominator=below):
            top, bottom = _size(above), _size(below)
            return None if top is None or bottom is None or bottom == 0 else top / bottom
        case Power(base=Name() | Number() as base, exponent=Number(value=value)) if (
            value.denominator == 1 and 0 < value <= _MOST_POWER
        ):
            inner = _size(base)
            return None if inner is None else inner ** int(value)
    return None


def _combined(nodes: tuple[Node, ...], signs: tuple[int, ...], product: bool) -> Expr | None:
    total: Expr = Integer(1) if product else Integer(0)
    for node, sign in zip(nodes, signs, strict=True):
        inner = _size(node)
        if inner is None:
            return None
        total = total * inner if product else total + sign * inner
    return total


def written_shape(node: Node, bare: bool = False) -> tuple[Expr, ...] | None:
    r"""Return the sizes of `(n \times d)`, `[batch, n, d]`, `(n, d)`; with `bare`, also of `n \times d` and `512`."""
    match node:
        case Annotated(of=of):
            return written_shape(of, bare)
        case Fence(bracket="(" | "[", inside=inside):
            found = written_shape(inside, bare=True)
            return found if found is not None and (len(found) > 1 or bare) else None
        case List(items=items, bracket="(" | "[") if 1 <= len(items) <= _MOST_AXES:
            return _all_sizes(items)
        case List(items=items, bracket="") if bare and 1 < len(items) <= _MOST_AXES:
            return _all_sizes(items)
        case Product(factors=factors, operators=operators) if _has_width_unit(factors):
            return _counted(factors, operators)
        case Product(factors=factors, operators=operators) if bare and "times" in operators:
            return _all_sizes(_split(factors, operators))
    if bare and is_sizelike(node):
        alone = size_of(node)
        return None if alone is None else (alone,)
    return None


def _split(factors: tuple[Node, ...], operators: tuple[str, ...]) -> tuple[Node, ...]:
    groups: list[list[Node]] = [[factors[0]]]
    for operator, factor in zip(operators, factors[1:], strict=True):
        if operator == "times":
            groups.append([factor])
        else:
            groups[-1].append(factor)
    return tuple(g[0] if len(g) == 1 else Product(tuple(g), ("",) * (len(g) - 1)) for g in groups)


def _has_width_unit(factors: tuple[Node, ...]) -> bool:
    return any(isinstance(factor, Number) and factor.unit in _WIDTH_UNITS for factor in factors)


def _counted(factors: tuple[Node, ...], operators: tuple[str, ...]) -> tuple[Expr, ...] | None:
    """Return (1300, 512 * 4) of "1300 vectors of 512 * 4 dimensions", as Chinese and Japanese write it."""
    sizes: list[Expr] = []
    for operator, factor in zip(("", *operators), factors, strict=True):
        match factor:
            case Words():
                continue
            case Number(value=value) if value.denominator == 1:
                if operator == "":
                    sizes.append(Integer(value.numerator))
                else:
                    sizes[-1] = sizes[-1] * Integer(value.numerator)
            case _:
                return None
    return tuple(sizes) if 1 <= len(sizes) <= _MOST_AXES else None


def _all_sizes(nodes: tuple[Node, ...]) -> tuple[Expr, ...] | None:
    if len(nodes) > _MOST_AXES or not all(map(is_sizelike, nodes)):
        return None
    sizes = [size_of(node) for node in nodes]
    known = tuple(size for size in sizes if size is not None and size != 0)  # (0, 1) is an interval
    return known if len(known) == len(sizes) else None


def is_sizelike(node: Node) -> bool:
    """Return whether a node could be a size: letters and whole numbers, no negative number and no decimal."""
    for part in islice(node.walk(), _MOST_NODES + 1):
        match part:
            case Number(value=value, unit=unit):
                if value.denominator != 1 or value < 0 or unit:
                    return False
            case Name() | Fence() | Product() | Sum() | Quotient() | Power():
                pass
            case Words(text=text) if text.strip().isidentifier():
                pass
            case _:
                return False
    return True


def fold_key(key: str) -> str:
    """Return a key without the underscore before digits, so that `W_1` and `W1` have the same key, but not `w_1`."""
    head, line, tail = key.partition("_")
    return head + tail if line and tail.isdigit() else key
