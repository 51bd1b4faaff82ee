"""Layers that are exported as one operator of opset 23 on request: attention, RMS normalisation, rotary embedding.

Definition   a part of a layer that equals a layer of the table, at sizes of its own, is one operator; the equations
             inside it have no value of their own then. Elsewhere, and by default, operators are those of opset 18
Assumes      a row of a mask without a visible key gives zeros, which the operator leaves open: they are put in
Source       the operators of ONNX, opset 23: https://onnx.ai/onnx/operators
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache, partial, wraps
from typing import Any

from sympy import Rational

from derivations.attention.attention import scaled_dot_product_attention
from derivations.language.layers.layer import Layer
from derivations.normalisation.rms_norm import rms_norm
from derivations.positions.rotary import rotary_embedding
from derivations.symbols import epsilon
from numeric.codegen.functions import printed_functions
from numeric.codegen.naming import named
from numeric.codegen.onnx_graph import arrays as np
from numeric.codegen.onnx_graph.graph import current
from numeric.codegen.onnx_graph.numbers import exact
from numeric.codegen.onnx_graph.printer import ONNX
from numeric.codegen.onnx_graph.shapes import broadcast
from numeric.codegen.onnx_graph.tensor import Tensor, node
from numeric.codegen.plan import Unit, plan_of
from numeric.runtime.structure import instance

__all__ = ["OPSET", "SINGLE", "as_single_operator"]

OPSET = 23  # the first with operators that are layers

SINGLE = ("Attention", "RMSNormalization", "RotaryEmbedding")


def attention(Q: Tensor, K: Tensor, V: Tensor, M: Tensor | None = None) -> Tensor:
    """Return softmax(Q K^T / sqrt(d_k)) V over batch items and heads: the last leading axis counts heads."""
    given = [Q, K, V] if M is None else [Q, K, V, M]
    front = broadcast(*(x.shape[:-2] for x in given))
    items = [_of_items(x, front) for x in given]
    shape = (*items[0].shape[:-1], V.shape[-1])
    found = node("Attention", items, Q.dtype, shape).reshape(*front, Q.shape[-2], V.shape[-1])
    return found if M is None else np.where(M.max(axis=-1, keepdims=True) > 0, found, 0)


def _of_items(x: Tensor, front: tuple[Any, ...]) -> Tensor:
    """Return an array with two axes in front of its matrices."""
    whole = x.expanded((*front, *x.shape[-2:]))
    return whole.reshape(-1, front[-1] if front else 1, *x.shape[-2:])


def rms_normalization(X: Tensor, gamma: Tensor, epsilon: Any) -> Tensor | None:
    """Return gamma X / sqrt(mean(X^2) + epsilon); epsilon is an attribute, so that it must be a number."""
    if not isinstance(epsilon, float) or X.dtype != "float32":  # the operator computes the norm in float32
        return None
    return node("RMSNormalization", [X, gamma], X.dtype, X.shape, axis=-1, epsilon=epsilon)


def rotation(tables: Callable[..., Tensor], halves: bool) -> Callable[..., Tensor]:
    """Return the function that rotates pairs of columns by the angles of a table, whatever their frequencies are."""
    names = inspect.signature(tables).parameters

    def rotary(X: Tensor, **given: Any) -> Tensor:
        angle = tables(**{name: value for name, value in {"X": X, **given}.items() if name in names})
        if halves:  # both halves have the same angles
            angle = angle[..., : exact(X.shape[-1], 2)]
        cosines, sines = (each.astype(X.dtype)[None] for each in (np.cos(angle), np.sin(angle)))
        rows = X.reshape(1, -1, *X.shape[-2:])  # tables have no axes in front: all of those of X are heads
        turned = node("RotaryEmbedding", [rows, cosines, sines], X.dtype, rows.shape, interleaved=int(not halves))
        return turned.reshape(*X.shape)

    return rotary


@lru_cache(maxsize=1)
def _known() -> Mapping[str, tuple[str, Layer, Callable[..., Tensor | None]]]:
    """Return the layers that one operator computes, by name."""
    attentions = (scaled_dot_product_attention(), scaled_dot_product_attention(masked=True))
    return {each.name: ("Attention", each, attention) for each in attentions} | {
        "rms_norm": ("RMSNormalization", rms_norm(), rms_normalization)
    }


@lru_cache(maxsize=1)
def _rotations() -> Mapping[Layer, bool]:
    """Return the rotation layer that follows the angles, for both pairings of columns, and whether it pairs halves."""
    return {_after_angles(rotary_embedding(halves=halves)): halves for halves in (False, True)}


def _traced_function(layer: Layer) -> Callable[..., Tensor]:
    plan = plan_of(layer)
    return printed_functions(plan, named(plan), ONNX)[Unit(layer)].function


def _after_angles(layer: Layer) -> Layer:
    angle, *rest = layer.equations
    return Layer("turned", (*layer.inputs, angle.variable), (), rest, layer.output)


def _builder(layer: Layer) -> tuple[str, Callable[..., Tensor | None]] | None:
    """Return the operator that computes a layer, and the function that builds its node, or None."""
    if (found := _known().get(layer.name)) is not None:
        operator, known, build = found
        if instance(known, layer) is not None:
            return operator, build
        if epsilon in known.free_symbols:  # a model has the number in its equations
            for number in layer.atoms(Rational):
                if number.is_positive and instance(known.xreplace({epsilon: number}), layer) is not None:
                    return operator, partial(build, epsilon=float(number))
    if layer.parameters or len(layer.inputs) != 1 or layer.equations[0].variable.name != "angle":
        return None
    turned = _after_angles(layer)
    for rest, halves in _rotations().items():
        if instance(rest, turned) is not None:
            return "RotaryEmbedding", rotation(_traced_function(layer.until("angle")), halves)
    return None


def as_single_operator(operators: Collection[str], layer: Layer, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that traces a layer as one of `operators` if one computes it, else the given function."""
    if len(layer.outputs) != 1 or (found := _builder(layer)) is None or found[0] not in operators:
        return function
    _, build = found
    signature = inspect.signature(function)

    @wraps(function)
    def traced(*arguments: Any, **options: Any) -> Any:
        bound = signature.bind(*arguments, **options)
        bound.apply_defaults()
        output = build(**bound.arguments)
        if output is None:
            return function(*arguments, **options)
        return current().equation(layer.output.name, lambda: output)

    return traced
