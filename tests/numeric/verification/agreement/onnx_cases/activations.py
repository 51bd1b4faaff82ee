"""Activations and functions of rows of the ONNX cases: a table of formulas, one row for each operator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sympy import Abs, Eq, Expr, Float, Ge, Gt, Max, Min, erf, exp, log, pi, sqrt, tanh

from derivations.language.arrays.expression import Array, ColumnBroadcast, array
from derivations.language.arrays.functions import RowLogSumExp, RowSum, named, row_softmax, square
from derivations.language.arrays.routing import TopK
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.selection import OneHot
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d, n, scalar
from tests.numeric.verification.agreement.onnx_cases.case import Given, Written

__all__ = ["FORMULAS", "ROWS", "activation", "of_rows"]

x, slope, norm = scalar("x"), scalar("slope"), scalar("norm")
ALPHA, GAMMA = 1.6732632423543772, 1.0507009873554805  # of the self-normalising unit, Klambauer et al. (2017)


def where(condition: Expr, one: Expr, other: Expr) -> Expr:
    """Return a choice by brackets."""
    return Iverson(condition) * one + (1 - Iverson(condition)) * other


def below(of: Expr) -> Expr:
    """Return exp - 1 of what is negative, so that nothing overflows."""
    return exp(Min(0, of)) - 1


def softplus(of: Expr) -> Expr:
    """Return log(1 + exp(x)) without overflow."""
    return Max(0, of) + log(1 + exp(-Abs(of)))


def hard_sigmoid(alpha: Expr, beta: Expr) -> Expr:
    """Return max(0, min(1, alpha x + beta))."""
    return Max(0, Min(1, alpha * x + beta))


FORMULAS: dict[str, Callable[[Given], Expr]] = {
    "Relu": lambda g: Max(0, x),
    "Gelu": lambda g: (
        x / 2 * (1 + tanh(sqrt(2 / pi) * (x + Float(0.044715) * x**3)))
        if g.attributes.get("approximate") == b"tanh"
        else x / 2 * (1 + erf(x / sqrt(2)))
    ),
    "Elu": lambda g: Max(0, x) + Float(g.number("alpha", 1)) * below(x),
    "Selu": lambda g: Float(g.number("gamma", GAMMA)) * (Max(0, x) + Float(g.number("alpha", ALPHA)) * below(x)),
    "Celu": lambda g: Max(0, x) + Float(g.number("alpha", 1)) * below(x / Float(g.number("alpha", 1))),
    "Softplus": lambda g: softplus(x),
    "Softsign": lambda g: x / (1 + Abs(x)),
    "Mish": lambda g: x * tanh(softplus(x)),
    "HardSigmoid": lambda g: hard_sigmoid(Float(g.number("alpha", 0.2)), Float(g.number("beta", 0.5))),
    "HardSwish": lambda g: x * hard_sigmoid(Float(1) / 6, Float(0.5)),
    "ThresholdedRelu": lambda g: x * Iverson(Gt(x, Float(g.number("alpha", 1)))),
    "LeakyRelu": lambda g: where(Ge(x, 0), x, Float(g.number("alpha", 0.01)) * x),
    "PRelu": lambda g: where(Ge(x, 0), x, slope * x),
    "Swish": lambda g: x / (1 + exp(-Float(g.number("alpha", 1)) * x)),
    "Sigmoid": lambda g: 1 / (1 + exp(-x)),
    "Tanh": lambda g: tanh(x),
    "Erf": lambda g: erf(x),
}


def activation(given: Given) -> Written:
    """Write an activation, entry by entry; the last axis is the layer's, those before it are batch axes."""
    values = [np.broadcast_to(given.real(name), given.real(next(iter(given.inputs))).shape) for name in given.inputs]
    variables, arrays = (x, slope)[: len(values)], (array("x", d), array("slope", d))[: len(values)]
    let = Equations()
    let_y = let("y")(named(f"onnx_{given.operator.lower()}", FORMULAS[given.operator](given), *variables)(*arrays))
    (wanted,) = map(given.real, given.outputs)
    return Written(Layer(given.operator.lower(), arrays, (), let, let_y), values, [wanted])


def _share(given: Given, X: Array) -> Array:
    """Return every row divided by its norm, a row of zeros as it is."""
    absolute = named("absolute", Abs(x), x)
    root = named("root", sqrt(norm), norm)
    total = RowSum(absolute(X)) if given.number("p", 2) == 1 else root(RowSum(square(X)))
    return named("share", x / (norm + Iverson(Eq(norm, 0))), x, norm)(X, ColumnBroadcast(total, d))


ROWS: dict[str, Callable[[Given, Array], Array]] = {
    "Softmax": lambda g, X: row_softmax(X),
    "LogSoftmax": lambda g, X: X - ColumnBroadcast(RowLogSumExp(X), d),
    "Hardmax": lambda g, X: OneHot(TopK(X, 1)[0], d),
    "LpNormalization": _share,
}


def of_rows(given: Given) -> Written:
    """Write a function of the entries along one axis, which is moved to the last place."""
    axis = int(given.number("axis", -1))
    X = array("X", n, d)

    def laid(name: str) -> np.ndarray:
        moved = np.moveaxis(given.real(name), axis, -1)
        return moved if moved.ndim > 1 else moved[None]

    let = Equations()
    Y = let("Y")(ROWS[given.operator](given, X))
    return Written(
        Layer(given.operator.lower(), (X,), (), let, Y), list(map(laid, given.inputs)), list(map(laid, given.outputs))
    )
