"""Numbers in compiled source while it is traced: a size is a SymPy expression, until an operator needs its value.

Definition   the names that compiled source knows as `math`, `float`, `max` ... take Python's numbers and expressions of
             sizes; `value_of` puts an expression into the graph, as operators on the lengths of axes of its inputs
Raises       TypeError where a number that is not known decides how many operators there are
"""

from __future__ import annotations

import builtins
import math
from functools import reduce
from typing import Any

import numpy as np
from sympy import Add, Expr, Float, Integer, Max, Min, Mul, Number, Pow, Rational, Symbol, floor, fraction, sympify
from sympy import cos as cosine
from sympy import exp as exponential
from sympy import log as logarithm
from sympy import pi as sympy_pi
from sympy import sin as sine
from sympy import sqrt as square_root
from sympy import tanh as hyperbolic_tangent

from numeric.codegen.onnx_graph.graph import Dim, Graph, Value, current
from numeric.codegen.onnx_graph.operators import BINARY, ENTRYWISE

__all__ = ["bounded", "cos", "e", "exp", "log", "pi", "sin", "sqrt", "tanh", "value_of", "vector_of"]

pi, e = sympy_pi, math.e  # a root such as sqrt(2/pi) stays one


def _function(name: str, symbolic: Any) -> Any:
    def apply(x: Any) -> Any:
        if isinstance(x, Expr):
            return symbolic(x)
        return x.apply(name) if hasattr(x, "apply") else getattr(math, name)(x)

    apply.__name__ = name
    return apply


_sqrt = _function("sqrt", square_root)


def sqrt(x: Any) -> Any:
    """Return the square root; the root of an integer that is no square stays symbolic, and the graph computes it."""
    return square_root(x) if isinstance(x, int) and x >= 0 and math.isqrt(x) ** 2 != x else _sqrt(x)


exp = _function("exp", exponential)
log = _function("log", logarithm)
sin = _function("sin", sine)
cos = _function("cos", cosine)
tanh = _function("tanh", hyperbolic_tangent)


def real(x: Any) -> Any:
    """Return a number as `float` does; an expression of sizes is returned unchanged."""
    return x if isinstance(x, Expr) else builtins.float(x)


def whole(x: Any) -> Any:
    """Return a number as `int` does; an expression of sizes is returned unchanged."""
    return x if isinstance(x, Expr) else builtins.int(x)


def exact(above: Any, below: Any) -> Any:
    """Return a quotient of sizes without a remainder.

    Raises       ValueError where there is one
    """
    if isinstance(above, Expr) or isinstance(below, Expr):
        return above / below
    if above % below:
        raise ValueError(f"{above} is not a multiple of {below}")
    return above // below


def largest(*given: Any) -> Any:
    """Return the largest of numbers."""
    return Max(*given) if any(isinstance(x, Expr) for x in given) else builtins.max(*given)


def least(*given: Any) -> Any:
    """Return the least of numbers."""
    return Min(*given) if any(isinstance(x, Expr) for x in given) else builtins.min(*given)


def bounded(*bounds: Any) -> Any:
    """Return a range; raise TypeError if one of its bounds is an expression of sizes."""
    for each in bounds:
        if isinstance(each, Expr):
            names = ", ".join(sorted(symbol.name for symbol in each.free_symbols))
            raise TypeError(f"the number of its operators depends on {each}; give {names} a value")
    return builtins.range(*bounds)


# Into the graph

WHOLE = {Add: BINARY["add"], Mul: BINARY["multiply"], Max: BINARY["maximum"], Min: BINARY["minimum"]}
REAL = {
    exponential: ENTRYWISE["exp"],
    logarithm: ENTRYWISE["log"],
    sine: ENTRYWISE["sin"],
    cosine: ENTRYWISE["cos"],
    hyperbolic_tangent: ENTRYWISE["tanh"],
    floor: ENTRYWISE["floor"],
}


def value_of(number: Any, dtype: str) -> Value:
    """Return a number, or an expression of sizes, as a value without axes."""
    graph = current()
    if not isinstance(number, Expr):
        return graph.constant(np.asarray(number, dtype))
    if number.is_Rational or number.is_Float or number.is_NumberSymbol:
        return graph.constant(np.asarray(int(number) if number.is_integer else float(number), dtype))
    if dtype == "int64":
        return _whole(graph, number)
    if number.is_integer and not number.has(Float) and _is_whole(number):
        return graph.node("Cast", [_whole(graph, number)], dtype, (), to=dtype)
    return _real(graph, number, dtype)


def vector_of(lengths: Any) -> Value:
    """Return lengths as one value with an axis, for operators that take a shape."""
    graph, lengths = current(), list(lengths)
    if not any(isinstance(each, Expr) and each.free_symbols for each in lengths):
        return graph.constant(np.asarray([int(each) for each in lengths], np.int64))
    parts = [_single(graph, each) for each in lengths]
    return parts[0] if len(parts) == 1 else graph.node("Concat", parts, "int64", (len(parts),), axis=0)


def _single(graph: Graph, length: Dim) -> Value:
    """Return a length as a value with one axis of length 1."""
    if not isinstance(length, Expr) or not length.free_symbols:
        return graph.constant(np.asarray([int(length)], np.int64))
    if isinstance(length, Symbol) and graph.lengths.get(length, (None, None))[1] is not None:
        value, axis = graph.lengths[length]
        assert axis is not None
        return graph.node("Shape", [value], "int64", (1,), start=axis, end=axis + 1)
    zero = graph.constant(np.asarray([0], np.int64))
    return graph.node("Unsqueeze", [value_of(length, "int64"), zero], "int64", (1,))


def _is_whole(number: Expr) -> bool:
    """Return whether every step of an expression is a whole number."""
    if isinstance(number, floor):
        return all(map(_is_whole, fraction(number.args[0])))
    if isinstance(number, Pow):
        return bool(number.exp.is_Integer and number.exp > 0 and _is_whole(number.base))
    return isinstance(number, Symbol | Integer) or (type(number) in WHOLE and all(map(_is_whole, number.args)))


def _whole(graph: Graph, number: Expr) -> Value:
    if isinstance(number, Symbol):
        return _length(graph, number)
    if isinstance(number, floor) or not _is_whole(number):
        above, below = fraction(number.args[0] if isinstance(number, floor) else number)
        if below == 1 or not (_is_whole(above) and _is_whole(below)):
            raise TypeError(f"the size {number} is not computed in whole numbers")
        return graph.node(BINARY["floor_divide"], [value_of(above, "int64"), value_of(below, "int64")], "int64", ())
    if isinstance(number, Pow):
        return _joined(graph, BINARY["multiply"], [value_of(number.base, "int64")] * int(number.exp), "int64")
    return _joined(graph, WHOLE[type(number)], [value_of(each, "int64") for each in number.args], "int64")


def _length(graph: Graph, size: Symbol) -> Value:
    if size not in graph.lengths:
        raise TypeError(f"no axis of an input has the length {size}; give {size} a value")
    value, axis = graph.lengths[size]
    if axis is None:
        return value
    return graph.node("Squeeze", [_single(graph, size)], "int64", ())


def _joined(graph: Graph, operator: str, values: list[Value], dtype: str) -> Value:
    return reduce(lambda one, other: graph.node(operator, [one, other], dtype, ()), values)


def _real(graph: Graph, number: Expr, dtype: str) -> Value:
    if type(number) in WHOLE:
        above, below = fraction(number) if isinstance(number, Mul) else (number, sympify(1))
        if below != 1:
            return graph.node(BINARY["divide"], [value_of(above, dtype), value_of(below, dtype)], dtype, ())
        return _joined(graph, WHOLE[type(number)], [value_of(each, dtype) for each in number.args], dtype)
    if isinstance(number, Pow):
        if number.exp == Rational(1, 2):
            return graph.node(ENTRYWISE["sqrt"], [value_of(number.base, dtype)], dtype, ())
        if isinstance(number.exp, Number) and number.exp < 0:
            one = graph.constant(np.asarray(1, dtype))
            return graph.node(BINARY["divide"], [one, value_of(1 / number, dtype)], dtype, ())
        given = [value_of(number.base, dtype), value_of(number.exp, dtype)]
        return graph.node(BINARY["power"], given, dtype, ())
    if type(number) in REAL:
        return graph.node(REAL[type(number)], [value_of(number.args[0], dtype)], dtype, ())
    raise TypeError(f"the number {number} has no operator")
