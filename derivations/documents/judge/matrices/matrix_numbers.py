"""Quick numbers of a formula of matrices: a filter where the order of factors counts, as `sampled` is for scalars.

Definition   letters that are matrices are square, so that all their products conform: what differs for square matrices
             differs in general; others are rows, columns or numbers, or have the value that is given of them. The
             entries of a letter depend on its name alone.
             A function of which nothing is known is one of each row of its arguments, as a layer may be, and symmetric
             in them, as a kernel may be
Result       `matrix_value(node, kinds)`: a matrix, a number, or None for what is neither; `kinds` tells of every letter
             what it is
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, Literal, TypeAlias

from derivations.documents.budget import spend
from derivations.documents.judge.algebra.scalar_letters import is_size
from derivations.documents.judge.arrays.array_reading import function_word
from derivations.documents.judge.matrices.matrix_functions import (
    SIZE,
    Matrix,
    NoValue,
    determinant,
    diagonal,
    inverse,
    normalised,
    rotation,
    row_means,
    row_sums,
    slope,
    softmax,
    square,
    trace,
)
from derivations.documents.judge.matrices.matrix_values import (
    IDENTITY,
    Value,
    added,
    entries_of,
    multiplied_by_entries,
    scaled,
    times,
    transposed,
)
from derivations.documents.judge.matrices.random_entries import random_entry, row_of_function
from derivations.documents.judge.numbers.float_functions import CONSTANTS, FUNCTIONS
from derivations.documents.scope.letters import is_weight
from derivations.documents.syntax import (
    Annotated,
    Call,
    Dots,
    Fence,
    List,
    MatrixLiteral,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
    Transpose,
)

__all__ = ["KNOWN_FUNCTIONS", "Kind", "Kinds", "matrix_value"]

MOST_POWER = 4
Kind = Literal["matrix", "rotation", "row", "column", "number"]
Kinds: TypeAlias = Mapping[str, Kind | Value]  # what a letter is, or its value
MULTIPLIED = frozenset({"", "dot", "at"})


def matrix_value(node: Node, kinds: Kinds) -> Value | None:
    """Return the matrix or the number that a formula means, its letters drawn; one row of one entry is a number."""
    try:
        value = _value(node, kinds)
        return value[0][0] if isinstance(value, tuple) and len(value) == len(value[0]) == 1 else value
    except (NoValue, ArithmeticError, ValueError, TypeError, IndexError):
        return None


def _value(node: Node, kinds: Kinds) -> Value:
    spend()
    rule = _RULES.get(type(node))
    if rule is None:
        raise NoValue
    return rule(node, kinds)


def _matrix(node: Node, kinds: Kinds) -> Matrix:
    value = _value(node, kinds)
    if not isinstance(value, tuple):
        raise NoValue
    return value


def _number_of(node: Node, kinds: Kinds) -> float:
    value = _value(node, kinds)
    if isinstance(value, tuple):
        raise NoValue
    return value


# --- what formulas are made of ---


def _number(node: Number, kinds: Kinds) -> Value:
    if node.unit:
        raise NoValue
    return float(node.value)


def _name(node: Name, kinds: Kinds) -> Value:
    kind = kinds.get(node.key)
    if kind is not None and not isinstance(kind, str):
        return kind
    if node.key in CONSTANTS:
        return CONSTANTS[node.key]
    if kind is None:
        raise NoValue
    if kind == "number":
        return abs(random_entry(node.key, 0, 0)) + (8 if is_size(node) else 1)
    if node.base == "I":
        return IDENTITY  # of any size
    if kind == "rotation":
        return rotation(*(random_entry(node.key, 0, place) for place in range(SIZE)))
    rows, columns = range(1 if kind == "row" else SIZE), range(1 if kind == "column" else SIZE)
    return tuple(tuple(random_entry(node.key, row, column) for column in columns) for row in rows)


def _sum(node: Sum, kinds: Kinds) -> Value:
    if 0 in node.signs:
        raise NoValue
    terms = [scaled(float(sign), _value(term, kinds)) for term, sign in zip(node.terms, node.signs, strict=True)]
    return reduce(added, terms)


def _product(node: Product, kinds: Kinds) -> Value:
    values = [_value(each, kinds) for each in node.factors]
    matrices = sum(isinstance(each, tuple) for each in values)
    if not MULTIPLIED.issuperset(node.operators) and matrices > 1:
        if set(node.operators) != {"odot"} or matrices < len(values):
            raise NoValue  # entry by entry, beside another product
        return reduce(multiplied_by_entries, values)
    return reduce(times, values)


def _quotient(node: Quotient, kinds: Kinds) -> Value:
    return scaled(1 / _number_of(node.denominator, kinds), _value(node.numerator, kinds))


def _power(node: Power, kinds: Kinds) -> Value:
    base, exponent = _value(node.base, kinds), _number_of(node.exponent, kinds)
    if not isinstance(base, tuple):
        return float(base**exponent)
    if exponent != int(exponent) or not 0 < abs(exponent) <= MOST_POWER:
        raise NoValue
    factor: Value = square(base) if exponent > 0 else inverse(base)
    return reduce(times, [factor] * int(abs(exponent)))


def _transpose(node: Transpose, kinds: Kinds) -> Value:
    if isinstance(node.operand, Number):
        raise NoValue  # a vector of ones
    if isinstance(node.operand, Call) and _is_product(node.operand, kinds):
        return times(_name(node.operand.function, kinds), transposed(_matrix(node.operand.arguments[0], kinds)))
    return transposed(_value(node.operand, kinds))


def _fence(node: Fence, kinds: Kinds) -> Value:
    value = _value(node.inside, kinds)
    if node.bracket in ("(", "[", "{", ""):
        return value
    if node.bracket == "||" and isinstance(value, tuple):
        return math.hypot(*entries_of(value))
    raise NoValue


# --- functions ---


def _call(node: Call, kinds: Kinds) -> Value:
    word = function_word(node.function)
    if _is_product(node, kinds):
        return times(_name(node.function, kinds), _matrix(node.arguments[0], kinds))
    if (node.function.subscripts and word in _KNOWN) or node.function.primes > (word in _OF_NUMBERS):
        raise NoValue  # along an axis, of a subset, or a derivative of which nothing is known
    if word in _KNOWN and len(node.arguments) == 1:
        return _KNOWN[word](_matrix(node.arguments[0], kinds))
    if word in _SIDE_BY_SIDE:
        return _side_by_side(node, kinds)
    if word in _OF_NUMBERS and len(node.arguments) == 1:
        value = _value(node.arguments[0], kinds)
        of = slope(_OF_NUMBERS[word]) if node.function.primes else _OF_NUMBERS[word]
        return tuple(tuple(map(of, row)) for row in value) if isinstance(value, tuple) else of(value)
    rows = zip(*(_matrix(each, kinds) for each in node.arguments), strict=True)
    return tuple(row_of_function(node.function.key, each) for each in rows)


def _is_product(node: Call, kinds: Kinds) -> bool:
    """Say whether this is no function of an argument but a weight times it: `W (V)` where W is a matrix elsewhere."""
    return is_weight(node.function) and kinds.get(node.function.key) == "matrix" and len(node.arguments) == 1


def _side_by_side(node: Call, kinds: Kinds) -> Matrix:
    """Return matrices side by side; those that dots stand for are left out, on both sides of an equation."""
    items = [inner for each in node.arguments for inner in (each.items if isinstance(each, List) else (each,))]
    blocks = [_matrix(each, kinds) for each in items if not isinstance(each, Dots)]
    return tuple(tuple(entry for row in rows for entry in row) for rows in zip(*blocks, strict=True))


_KNOWN: Mapping[str, Callable[[Matrix], Value]] = {
    "softmax": softmax, "layernorm": normalised, "ln": normalised, "tr": trace, "trace": trace,
    "det": determinant, "rowsum": row_sums, "rowmean": row_means, "diag": diagonal,
}  # fmt: skip
_SIDE_BY_SIDE = frozenset({"concat", "concatenate", "cat"})
_OF_NUMBERS = {
    word: FUNCTIONS[word]
    for word in ["exp", "log", "ln", "sqrt", "sin", "cos", "relu", "tanh", "sigmoid", "gelu", "softplus", "silu"]
} | {"indicator": lambda x: float(x > 0)}
KNOWN_FUNCTIONS = frozenset({*_KNOWN, *_OF_NUMBERS, *_SIDE_BY_SIDE})
_RULES: Mapping[type[Node], Callable[[Any, Kinds], Value]] = {
    Number: _number,
    Name: _name,
    Sum: _sum,
    Product: _product,
    Negative: lambda node, kinds: scaled(-1.0, _value(node.operand, kinds)),
    Quotient: _quotient,
    Power: _power,
    Root: lambda node, kinds: math.sqrt(_number_of(node.radicand, kinds)),
    Transpose: _transpose,
    Fence: _fence,
    Annotated: lambda node, kinds: _value(node.of, kinds),
    Call: _call,
    MatrixLiteral: lambda node, kinds: tuple(tuple(_number_of(each, kinds) for each in row) for row in node.rows),
}
