"""Sums, products, fractions, powers and brackets of arrays, with the shapes they have in the language.

Assumes      vectors have no direction of their own: with `columns`, v^T w is a number and v w^T a matrix, without it
             the other way round
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sympy import Expr, Integer, Lambda, Rational, nan, oo, sqrt, zoo

from derivations.documents import syntax
from derivations.documents.judge.arrays.array_functions import FUNCTIONS
from derivations.documents.judge.arrays.array_reading import NotRead, Reading, Value, function_word, rank
from derivations.documents.syntax import Call, Name, Node
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, Plus, Product, Scaled, Transpose
from derivations.language.arrays.functions import Elementwise, Hadamard, named
from derivations.symbols import index, scalar

__all__ = ["OPERATIONS"]

ENTRYWISE = frozenset({"odot", "star", "circ", "otimes"})
LARGEST_EXPONENT = 10**6
_x = scalar("x")


def _sum(reader: Reading, node: syntax.Sum) -> Value:
    whole: Value | None = None
    for sign, term in zip(node.signs, node.terms, strict=True):
        if sign == 0:
            raise NotRead("plus or minus is two formulas")
        value = reader.value(term)
        value = value if sign > 0 else _negative(value)
        whole = value if whole is None else _added(whole, value)
    if whole is None:
        raise NotRead("an empty sum")
    return whole


def _product(reader: Reading, node: syntax.Product) -> Value:
    node = _applied(reader, node)
    groups = node.between(ENTRYWISE)
    if len(groups) > 1 and any(isinstance(group, syntax.Product) for group in groups):
        operators = tuple(each for each in node.operators if each in ENTRYWISE)
        return _product(reader, syntax.Product(tuple(syntax.Fence("(", group) for group in groups), operators))
    whole, raised = _factor(reader, node.factors[0])
    for operator, part in zip(node.operators, node.factors[1:], strict=True):
        other, other_raised = _factor(reader, part)
        _check_direction(reader, whole, raised, other, other_raised)
        made = _multiplied(reader, whole, raised, operator, other, other_raised)
        raised = other_raised if rank(whole) == 2 else raised
        whole = made
    return whole


def _applied(reader: Reading, node: syntax.Product) -> syntax.Product:
    """Return a product in which the name of a function before brackets is applied to their content."""
    factors, operators = list(node.factors), list(node.operators)
    for at in range(len(factors) - 2, -1, -1):
        name, behind = factors[at], factors[at + 1]
        if not isinstance(name, Name) or not isinstance(behind, syntax.Fence) or operators[at]:
            continue
        if function_word(name) in FUNCTIONS and name.key not in reader.meaning:
            factors[at : at + 2] = [Call(name, (behind.inside,))]
            del operators[at]
    return syntax.Product(tuple(factors), tuple(operators))


def _check_direction(reader: Reading, left: Value, raised: bool, right: Value, right_raised: bool) -> None:
    """Raise NotRead for a column vector before a matrix, or a row vector after one."""
    if rank(left) == 1 and rank(right) == 2 and raised is not reader.columns:
        raise NotRead("a column vector in front of a matrix")
    if rank(left) == 2 and rank(right) == 1 and right_raised is reader.columns:
        raise NotRead("a row vector after a matrix")


def _factor(reader: Reading, node: Node) -> tuple[Value, bool]:
    """Return a factor, and whether it is a transposed vector."""
    while isinstance(node, syntax.Fence) and node.bracket in ("(", "["):
        node = node.inside
    if isinstance(node, syntax.Annotated):
        return _factor(reader, node.of)
    if isinstance(node, syntax.Transpose):
        value = reader.value(node.operand)
        if isinstance(value, Array) and len(value.shape) == 1:
            return value, True
        return (Transpose(value) if isinstance(value, Array) else value), False
    return reader.value(node), False


def _multiplied(reader: Reading, left: Value, raised: bool, operator: str, right: Value, right_raised: bool) -> Value:
    if not isinstance(left, Array) or not isinstance(right, Array):
        if not isinstance(left, Array) and not isinstance(right, Array):
            return left * right
        return Scaled(left, right) if isinstance(right, Array) else Scaled(right, left)
    if operator == "oplus":
        raise NotRead("a direct sum")
    if operator in ENTRYWISE:
        return Hadamard(left, right)
    if len(left.shape) == len(right.shape) == 1:
        if raised and right_raised:
            raise NotRead("two transposed vectors side by side")
        if (right_raised if reader.columns else raised) and operator != "dot":
            a, b = index("a_outer"), index("b_outer")
            return Tabulated(Lambda((a, b), left.entry(a) * right.entry(b)), left.shape[0], right.shape[0])
        if operator in ("dot", "at") or raised or right_raised:
            return Product(left, right).entry()
        raise NotRead("two vectors side by side")
    made = Product(left, right)
    return made if made.shape else made.entry()


def _negative_of(reader: Reading, node: syntax.Negative) -> Value:
    return _negative(reader.value(node.operand))


def _quotient(reader: Reading, node: syntax.Quotient) -> Value:
    above, below = reader.value(node.numerator), reader.value(node.denominator)
    if isinstance(below, Array):
        if not isinstance(above, Array):
            raise NotRead("a number divided by an array")
        y = scalar("y")
        return Elementwise(named("quotient", _x / y, _x, y), above, below)
    return above / below if isinstance(above, Array) else _checked(above / below)


def _power(reader: Reading, node: syntax.Power) -> Value:
    base, exponent = reader.value(node.base), reader.scalar(node.exponent)
    if isinstance(exponent, Rational) and abs(exponent) > 64:
        raise NotRead("a large exponent")
    if isinstance(base, Array):
        return Elementwise(named("power", _x**exponent, _x), base) if base.shape else base.entry() ** exponent
    if isinstance(base, Rational) and isinstance(exponent, Rational) and abs(base) > LARGEST_EXPONENT:
        raise NotRead("a large power")
    return _checked(base**exponent)


def _root(reader: Reading, node: syntax.Root) -> Value:
    degree = reader.scalar(node.degree) if node.degree is not None else Integer(2)
    value = reader.value(node.radicand)
    if isinstance(value, Array):
        return Elementwise(named("root", _x ** (1 / degree), _x), value)
    return value ** (1 / degree)


def _transpose(reader: Reading, node: syntax.Transpose) -> Value:
    value = reader.value(node.operand)
    return Transpose(value) if isinstance(value, Array) and len(value.shape) == 2 else value


def _fence(reader: Reading, node: syntax.Fence) -> Value:
    if node.bracket in ("(", "[", "{"):
        return reader.value(node.inside)
    value = reader.value(node.inside)
    if node.bracket == "||" and isinstance(value, Array) and len(value.shape) == 1:
        return sqrt(Product(value, value).entry())
    raise NotRead(f"brackets {node.bracket}")


def _negative(value: Value) -> Value:
    return Scaled(Integer(-1), value) if isinstance(value, Array) else -value


def _added(left: Value, right: Value) -> Value:
    if isinstance(left, Array) and isinstance(right, Array):
        if len(left.shape) == 1 and len(right.shape) == 2:
            return right + left
        return left + right if len(left.shape) == 2 and len(right.shape) == 1 else Plus(left, right)
    if isinstance(left, Array) or isinstance(right, Array):
        array, number = (left, right) if isinstance(left, Array) else (right, left)
        return Elementwise(named("shift", _x + number, _x), array)
    return left + right


def _checked(value: Expr) -> Expr:
    if value.has(nan, zoo, oo, -oo):
        raise NotRead("a division by zero")
    return value


OPERATIONS: Mapping[type[Node], Callable[[Reading, Any], Value]] = {
    syntax.Sum: _sum,
    syntax.Product: _product,
    syntax.Negative: _negative_of,
    syntax.Quotient: _quotient,
    syntax.Power: _power,
    syntax.Root: _root,
    syntax.Transpose: _transpose,
    syntax.Fence: _fence,
    syntax.Annotated: lambda reader, node: reader.value(node.of),
}
