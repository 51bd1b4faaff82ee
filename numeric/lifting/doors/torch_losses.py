"""PyTorch's losses and shrinkage functions that are not written in Python, by their formulas.

The numbers of a reduction are PyTorch's: 0 keeps the terms, 1 takes their mean, 2 their sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from sympy import Expr, Gt, Lt, Max, Min, exp, log

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.torch_operands import Table
from numeric.lifting.numbers import as_number
from numeric.lifting.trace import current

__all__ = ["LOSSES", "REDUCED", "of_classes"]

REDUCED: Table = {0: lambda x: x, 1: op.mean, 2: op.summed}
X, Y = op.FIRST, op.SECOND


def _of_difference(name: str, near: Callable[[Expr, Expr], Expr], far: Callable[[Expr, Expr], Expr]) -> Any:
    """Return the rule of a loss of r = |x - y| that is one formula up to a number and another one above it."""

    def rule(x: Any, y: Any, reduction: int = 1, number: Any = 1) -> Any:
        distance, bound = op.UNARY["absolute"](op.subtract(x, y)), as_number(number)
        parts = [op.formula(f"{name}_{kind}", f(X, bound), distance) for kind, f in (("near", near), ("far", far))]
        return REDUCED[reduction](op.where(op.compare(distance, bound, Lt), *parts))

    return rule


def _poisson(x: Any, y: Any, log_input: bool, full: bool, eps: float, reduction: int) -> Any:
    if full:
        return NotImplemented
    if log_input:
        return REDUCED[reduction](op.subtract(op.UNARY["exp"](x), op.multiply(y, x)))
    return REDUCED[reduction](op.subtract(x, op.multiply(y, op.UNARY["log"](op.add(x, as_number(eps))))))


def _ranking(one: Any, other: Any, y: Any, margin: float = 0.0, reduction: int = 1) -> Any:
    gap = op.multiply(op.negate(y), op.subtract(one, other))
    return REDUCED[reduction](op.UNARY["relu"](op.add(gap, as_number(margin))))


def _cosine(x: Any, y: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    least = as_number(eps) ** 2
    squares = [op.extremum(op.summed(op.multiply(v, v), [dim]), least, True) for v in (x, y)]
    return op.divide(op.summed(op.multiply(x, y), [dim]), op.UNARY["sqrt"](op.multiply(*squares)))


def _group_norm(x: Any, groups: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *more: Any) -> Any:
    parts = places.reshape(x, [x.shape[0], groups, -1])
    distance = op.subtract(parts, op.mean(parts, [-1], True))
    scaled = op.divide(distance, op.UNARY["sqrt"](op.add(op.variance(parts, [-1], True), as_number(eps))))
    result = places.reshape(scaled, list(x.shape))
    behind = list(range(1, x.ndim - 1))
    result = result if weight is None else op.multiply(result, op.inserted(weight, behind) if behind else weight)
    return _with(result, op.inserted(bias, behind) if behind and bias is not None else bias)


def _threshold(x: Any, least: Any, value: Any, inplace: bool = False) -> Any:
    return op.where(op.compare(x, as_number(least), Gt), x, as_number(value))


def _with(x: Any, bias: Any) -> Any:
    return x if bias is None else op.add(x, bias)


def _binary_cross_entropy(x: Any, y: Any, weight: Any = None, reduction: int = 1) -> Any:
    current().read("logarithms below -100, where PyTorch gives -100, as they are")
    of_ones = op.x_log_y(y, x)
    of_zeros = op.x_log_y(op.subtract(1, y), op.subtract(1, x))
    terms = op.negate(op.add(of_ones, of_zeros))
    return REDUCED[reduction](terms if weight is None else op.multiply(terms, weight))


def of_classes(x: Any, target: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100) -> Any:
    """Return the negative log probabilities of the given classes, reduced; with weights the mean is a weighted mean."""
    if ignore_index >= 0 or x.ndim > 2:
        return NotImplemented
    current().read(f"the classes as counted from 0: none is {ignore_index}, which PyTorch ignores")
    terms = op.negate(op.removed(places.picked(x, op.inserted(target, [target.ndim]), target.ndim), [target.ndim]))
    if weight is None:
        return REDUCED[reduction](terms)
    weights = places.gathered(weight, target)
    terms = op.multiply(terms, weights)
    return op.divide(op.summed(terms), op.summed(weights)) if reduction == 1 else REDUCED[reduction](terms)


def _cross_entropy(
    x: Any,
    target: Any,
    weight: Any = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:
    """Return the cross-entropy of logits with classes, or with probabilities."""
    along = min(x.ndim, 2) - 1
    logarithms = op.log_softmax(x, along)
    if label_smoothing or (weight is not None and target.kind == "real"):
        return NotImplemented
    if target.kind != "real":
        return of_classes(logarithms, target, weight, reduction, ignore_index)
    return REDUCED[reduction](op.negate(op.summed(op.multiply(target, logarithms), [along])))


LOSSES: Table = {
    torch._C._nn.cross_entropy_loss: _cross_entropy,
    torch._C._nn.nll_loss_nd: of_classes,
    torch._C._nn.mse_loss: lambda x, y, reduction=1: REDUCED[reduction](op.UNARY["square"](op.subtract(x, y))),
    torch._C._nn.l1_loss: lambda x, y, reduction=1: REDUCED[reduction](op.UNARY["absolute"](op.subtract(x, y))),
    torch._C._nn.smooth_l1_loss: _of_difference("smooth_l1", lambda r, b: r**2 / (2 * b), lambda r, b: r - b / 2),
    torch._C._nn.huber_loss: _of_difference("huber", lambda r, b: r**2 / 2, lambda r, b: b * (r - b / 2)),
    torch.poisson_nll_loss: _poisson,
    torch.margin_ranking_loss: _ranking,
    torch._C._nn.soft_margin_loss: lambda x, y, reduction=1: REDUCED[reduction](
        op.formula("soft_margin", log(1 + exp(-X * Y)), x, y)
    ),
    torch.cosine_similarity: _cosine,
    torch.group_norm: _group_norm,
    torch.clamp_min: lambda x, least: op.extremum(x, least, True),
    torch.clamp_max: lambda x, most: op.extremum(x, most, False),
    torch.celu: lambda x, alpha=1.0: op.formula(
        "celu", Max(0, X) + Min(0, as_number(alpha) * (exp(X / as_number(alpha)) - 1)), x
    ),
    torch._C._nn.softshrink: lambda x, by=0.5: op.formula(
        "soft_shrink", Max(0, X - as_number(by)) + Min(0, X + as_number(by)), x
    ),
    torch.threshold: _threshold,
    torch.lerp: lambda x, y, weight: op.add(x, op.multiply(op.subtract(y, x), weight)),
    torch.bilinear: lambda x, y, weight, bias=None: _with(op.einsum("...i,kij,...j->...k", x, weight, y), bias),
    torch._C._nn.binary_cross_entropy: _binary_cross_entropy,
}
