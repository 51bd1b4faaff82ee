"""PyTorch's functions as operations: those of neural networks, and those that are also methods of tensors.

A function without a row is refused by name: there is no fall-back to numbers.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import torch
import torch.nn.functional as F
from sympy import Expr, Integer, Max, Min, Rational, exp, log, pi, sqrt, tanh

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.numpy_arguments import axes_of
from numeric.lifting.doors.shared_functions import contracted, swapped
from numeric.lifting.doors.torch_losses import LOSSES, REDUCED
from numeric.lifting.doors.torch_methods import METHODS, chosen, chunks, clamped, norm, softmax
from numeric.lifting.doors.torch_operands import Table
from numeric.lifting.doors.torch_recurrent import RECURRENT
from numeric.lifting.doors.torch_windows import WINDOWS
from numeric.lifting.numbers import Scalar, as_number
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import unwritten
from numeric.lifting.trace import current

__all__ = ["FUNCTIONS"]


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    result = op.matmul(x, swapped(weight, -1, -2) if weight.ndim > 1 else weight)
    return result if bias is None else op.add(result, bias)


def _layer_norm(x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    axes = list(range(-len(normalized_shape), 0))
    distance = op.subtract(x, op.mean(x, axes, True))
    result = op.divide(distance, op.UNARY["sqrt"](op.add(op.variance(x, axes, True), eps)))
    result = result if weight is None else op.multiply(result, weight)
    return result if bias is None else op.add(result, bias)


def _rms_norm(x: Any, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    if eps is None:
        raise refuse("rms_norm with the epsilon of the number type")
    axes = list(range(-len(normalized_shape), 0))
    result = op.divide(x, op.UNARY["sqrt"](op.add(op.mean(op.UNARY["square"](x), axes, True), eps)))
    return result if weight is None else op.multiply(result, weight)


def _gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "none":
        return op.UNARY["gelu"](x)
    inner = op.FIRST + Rational(44715, 1000000) * op.FIRST**3
    return op.formula("gelu_tanh", op.FIRST * (1 + tanh(sqrt(2 / pi) * inner)) / 2, x)


def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Any:
    if dropout_p:
        raise refuse("dropout: its result is random")
    if enable_gqa:
        return NotImplemented
    width = query.shape[-1]
    factor = 1 / (Scalar(as_number(width)).sqrt()) if scale is None else scale
    scores = op.multiply(op.matmul(query, swapped(key, -1, -2)), factor)
    if is_causal:
        mask = places.band(scores.axes[-2], scores.axes[-1], 0, True)
        scores = op.hidden(scores, mask)
    if attn_mask is not None:
        scores = op.hidden(scores, attn_mask) if attn_mask.kind == "boolean" else op.add(scores, attn_mask)
    return op.matmul(op.softmax(scores, -1), value)


def _multi_head_attention(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: Any,
    num_heads: Any,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Any:
    """Return what `nn.MultiheadAttention` computes, without the weights; axes are positions, then the batch."""
    absent = (bias_k, bias_v, key_padding_mask, static_k, static_v)
    if add_zero_attn or (dropout_p and training) or any(each is not None for each in absent):
        raise refuse("multi_head_attention_forward with added keys, padding or dropout")
    if use_separate_proj_weight:
        weights = [q_proj_weight, k_proj_weight, v_proj_weight]
    else:
        weights = list(chunks(in_proj_weight, 3, 0))
    biases = [None] * 3 if in_proj_bias is None else list(chunks(in_proj_bias, 3, 0))
    batched = query.ndim == 3

    def heads(x: Any, weight: Any, bias: Any) -> Any:
        wide = _linear(x, weight, bias)  # (n, batch, d_model)
        split = places.reshape(wide, [*wide.shape[:-1], num_heads, wide.shape[-1] // num_heads])
        return op.permute(split, [1, 2, 0, 3] if batched else [1, 0, 2])

    given = zip((query, key, value), weights, biases, strict=True)
    Q, K, V = (heads(x, weight, bias) for x, weight, bias in given)
    mixed = _attention(Q, K, V, attn_mask)
    rows = op.permute(mixed, [2, 0, 1, 3] if batched else [1, 0, 2])
    joined = places.reshape(rows, [*rows.shape[:-2], rows.shape[-2] * rows.shape[-1]])
    return _linear(joined, out_proj_weight, out_proj_bias), None


def _dropout(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    if training and p:
        raise refuse("dropout in training: its result is random")
    return x


def _randomly_leaky(x: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Any:
    if training:
        raise refuse("rrelu in training: its slope is random")
    return _leaky(x, (as_number(lower) + as_number(upper)) / 2)


def _mean_beside(
    x: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Return the mean that `var_mean` and `std_mean` return together with the variance or the deviation."""
    return op.mean(x, None if isinstance(dim, bool) else axes_of(dim), keepdim)


def _join(arrays: Any, dim: int = 0, axis: Any = None) -> Any:
    return places.concatenate(list(arrays), dim if axis is None else axis)


def _embedding(
    numbers: Any, weight: Any, padding_idx: Any = None, max_norm: Any = None, *more: Any, **options: Any
) -> Any:
    if max_norm is not None:
        raise refuse("embedding with max_norm, which writes into the table")
    return places.gathered(weight, numbers)


FUNCTIONS: Table = {
    **LOSSES,
    **RECURRENT,
    **WINDOWS,
    F.linear: _linear,
    F.layer_norm: _layer_norm,
    F.gelu: _gelu,
    F.silu: lambda x, inplace=False: op.UNARY["silu"](x),
    F.relu: lambda x, inplace=False: op.UNARY["relu"](x),
    F.softplus: lambda x, beta=1.0, threshold=20.0: _softplus(x, beta, threshold),
    torch.selu: op.UNARY["selu"],
    torch.broadcast_tensors: lambda *arrays: _together(arrays),
    torch.binary_cross_entropy_with_logits: lambda x, y, weight=None, pos_weight=None, reduction=0: _logit_loss(
        x, y, weight, pos_weight, reduction
    ),
    F.logsigmoid: op.UNARY["log_sigmoid"],
    F.softmax: softmax,
    F.log_softmax: METHODS["log_softmax"],
    F.dropout: _dropout,
    F.embedding: _embedding,
    F.scaled_dot_product_attention: _attention,
    F.multi_head_attention_forward: _multi_head_attention,
    F.glu: lambda x, dim=-1: _glu(x, dim),
    torch.inner: lambda a, b: contracted(a, b, ((-1,), (-1,))) if a.ndim and b.ndim else op.multiply(a, b),
    torch.trace: lambda x: op.einsum("ii->", x),
    torch.cdist: lambda a, b, p=2.0, **more: norm(
        op.subtract(op.inserted(a, [a.ndim - 1]), op.inserted(b, [b.ndim - 2])), p, -1
    ),
    torch.special.xlog1py: lambda x, y: op.x_log_y(x, op.add(y, 1)),
    torch.rrelu: _randomly_leaky,
    torch.var_mean: lambda *given, **more: (METHODS["var"](*given, **more), _mean_beside(*given, **more)),
    torch.std_mean: lambda *given, **more: (METHODS["std"](*given, **more), _mean_beside(*given, **more)),
    torch.linalg.multi_dot: lambda arrays: reduce(op.matmul, arrays),
    torch.einsum: lambda text, *arrays: op.einsum(
        text, *(arrays[0] if isinstance(arrays[0], list | tuple) else arrays)
    ),
    torch.topk: lambda x, k, dim=-1, largest=True, sorted=True: _largest(x, k, dim, largest),
    torch.sort: lambda x, dim=-1, descending=False, stable=False: _largest(x, x.shape[dim], dim, descending),
    torch.argsort: lambda x, dim=-1, descending=False, stable=False: _largest(x, x.shape[dim], dim, descending)[1],
    torch.cat: _join,
    torch.concat: _join,
    torch.stack: lambda arrays, dim=0: places.stack(list(arrays), dim),
    torch.where: chosen,
    torch.logaddexp: op.log_add_exp,
    torch.xlogy: op.x_log_y,
    torch.special.xlogy: op.x_log_y,
    torch.special.entr: op.UNARY["entr"],
    torch.kl_div: lambda x, y, reduction=1, *, log_target=False: REDUCED[reduction](op.divergence(x, y, log_target)),
    torch.addmm: lambda bias, a, b, *, beta=1, alpha=1: op.add(
        op.multiply(bias, beta), op.multiply(op.matmul(a, b), alpha)
    ),
    torch.addbmm: lambda bias, a, b, *, beta=1, alpha=1: op.add(
        op.multiply(bias, beta), op.multiply(op.einsum("bij,bjk->ik", a, b), alpha)
    ),
    torch.baddbmm: lambda bias, a, b, *, beta=1, alpha=1: (
        op.multiply(op.matmul(a, b), alpha)
        if beta == 0
        else op.add(op.multiply(bias, beta), op.multiply(op.matmul(a, b), alpha))
    ),
    torch.empty_like: lambda x, **more: unwritten(op.constant(Integer(0), x.axes)),
    torch.zeros_like: lambda x, **more: op.constant(Integer(0), x.axes),
    torch.ones_like: lambda x, dtype=None, **more: op.constant(
        Integer(1), x.axes, "boolean" if dtype is torch.bool else ""
    ),
    torch.full_like: lambda x, value, **more: op.constant(as_number(value), x.axes),
    torch.tensordot: lambda a, b, dims=2: _tensordot(a, b, dims),
    torch.linalg.det: places.determinant,
    torch.linalg.inv: places.inverse,
    torch.linalg.slogdet: places.log_determinant,
    torch.linalg.solve: lambda a, b: places.solved(a, b),
    torch.linalg.vector_norm: lambda x, ord=2, dim=None, keepdim=False, **more: norm(x, ord, dim, keepdim),
    torch.negative: op.UNARY["negative"],
    torch.nn.functional.elu: lambda x, alpha=1.0, inplace=False: _elu(x, alpha),
    torch.nn.functional.leaky_relu: lambda x, negative_slope=0.01, inplace=False: _leaky(x, negative_slope),
    torch.nn.functional.hardtanh: lambda x, min_val=-1.0, max_val=1.0, inplace=False: clamped(x, min_val, max_val),
    torch.nn.functional.softsign: lambda x: op.formula("softsign", op.FIRST / (1 + abs(op.FIRST)), x),
    torch._C._nn.hardswish: lambda x: op.formula("hard_swish", op.FIRST * _clipped(op.FIRST + 3, 0, 6) / 6, x),
    torch._C._nn.hardsigmoid: lambda x: op.formula("hard_sigmoid", _clipped(op.FIRST + 3, 0, 6) / 6, x),
    torch._C._nn.relu6: lambda x: op.formula("relu6", _clipped(op.FIRST, 0, 6), x),
    torch.nn.functional.mish: lambda x, inplace=False: _mish(x),
}


if hasattr(F, "rms_norm"):
    FUNCTIONS[F.rms_norm] = _rms_norm


for _name, _rule in METHODS.items():  # torch.exp is the method exp, and so on
    for _space in (torch, torch.Tensor, torch.special, F):
        _found = getattr(_space, _name, None)
        if callable(_found):
            FUNCTIONS.setdefault(_found, _rule)


FUNCTIONS[torch.where] = chosen


FUNCTIONS[torch.special.erf] = op.UNARY["erf"]


FUNCTIONS[torch.special.expit] = op.sigmoid


FUNCTIONS[torch.special.ndtr] = op.UNARY["ndtr"]


def _softplus(x: Any, beta: Any, threshold: Any) -> Any:
    current().read(f"softplus above {threshold:g}, where PyTorch returns its argument, as log(1 + exp(x))")
    if beta == 1:
        return op.UNARY["softplus"](x)
    slope = as_number(beta)
    return op.formula("softplus_of_slope", log(1 + exp(slope * op.FIRST)) / slope, x)


def _together(arrays: Any) -> tuple[Any, ...]:
    axes = op.broadcast_shape(*(a.axes for a in arrays))
    return tuple(op.broadcast_to(a, axes) for a in arrays)


def _logit_loss(x: Any, y: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    terms = op.cross_entropy_of_logits(x, y)
    if pos_weight is not None:  # of the ones: y log(1 + exp(-x)) once more for each unit above 1
        more = op.multiply(op.subtract(pos_weight, 1), y)
        terms = op.add(terms, op.multiply(more, op.UNARY["softplus"](op.negate(x))))
    return REDUCED[reduction](terms if weight is None else op.multiply(terms, weight))


def _glu(x: Any, dim: int) -> Any:
    first, second = chunks(x, 2, dim)
    return op.multiply(first, op.sigmoid(second))


def _clipped(value: Expr, low: int, high: int) -> Expr:
    return Min(high, Max(low, value))


def _elu(x: Any, alpha: Any) -> Any:
    return op.formula("elu", Max(0, op.FIRST) + Min(0, as_number(alpha) * (exp(op.FIRST) - 1)), x)


def _leaky(x: Any, slope: Any) -> Any:
    return op.formula("leaky_relu", Max(0, op.FIRST) + as_number(slope) * Min(0, op.FIRST), x)


def _mish(x: Any) -> Any:
    return op.formula("mish", op.FIRST * tanh(log(1 + exp(op.FIRST))), x)


class _Largest(tuple[Any, ...]):
    """The pair (values, indices) of the largest entries."""

    values = property(operator.itemgetter(0))
    indices = property(operator.itemgetter(1))


def _largest(x: Any, count: Any, dim: int, largest: bool) -> _Largest:
    current().read("of equal entries the one at the smaller place first, which PyTorch leaves open")
    values, numbers = places.largest(x if largest else op.negate(x), as_number(count), dim)
    return _Largest((values if largest else op.negate(values), numbers))


def _tensordot(a: Any, b: Any, dims: Any) -> Any:
    return contracted(a, b, dims)
