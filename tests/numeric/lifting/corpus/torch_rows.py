"""Rows from PyTorch: modules, functions, reference implementations and decompositions."""

from __future__ import annotations

import torch
import torch._refs as refs
import torch.nn.functional as F
from torch import nn
from torch._decomp import decompositions

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import layer
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from tests.numeric.lifting.corpus import rows
from tests.numeric.lifting.corpus.rows import LAYER, Row

__all__ = ["SEEN", "UNSEEN"]

SEEN = (
    Row("torch.nn.Linear", lambda: nn.Linear(5, 7), lambda: layer("linear")),
    Row("torch.nn.LayerNorm", lambda: nn.LayerNorm(7), layer_norm, readings=("epsilon = 1e-05",)),
    Row("torch.nn.RMSNorm", lambda: nn.RMSNorm(7, eps=1e-6), rms_norm),
    Row("torch.nn.Embedding", lambda: nn.Embedding(11, 7), rows.looked_up),
    Row(
        "torch.nn.Embedding as the paper's",
        lambda: nn.Embedding(11, 7),
        lambda: layer("embedding"),
        "different",
        "scale sqrt(d_model)",
    ),
    Row("torch.nn.Softmax", lambda: nn.Softmax(-1), LAYER["softmax"]),
    Row("torch.nn.LogSoftmax", lambda: nn.LogSoftmax(-1), LAYER["log_softmax"]),
    Row("torch.nn.GELU", lambda: nn.GELU(), LAYER["gelu"]),
    Row("torch.nn.SiLU", lambda: nn.SiLU(), LAYER["silu"]),
    Row("torch.nn.ELU", lambda: nn.ELU(), LAYER["elu"]),
    Row("torch.nn.Softplus", lambda: nn.Softplus(), LAYER["softplus"], readings=("above 20",)),
    Row("torch.nn.Softsign", lambda: nn.Softsign(), LAYER["softsign"]),
    Row("torch.nn.Mish", lambda: nn.Mish(), LAYER["mish"]),
    Row("torch.nn.LogSigmoid", lambda: nn.LogSigmoid(), LAYER["log_sigmoid"]),
    Row(
        "torch.nn.Sequential of a feed-forward network",
        lambda: nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 5)),
        lambda: layer("feed_forward"),
    ),
    Row(
        "torch.nn.MultiheadAttention",
        lambda: nn.MultiheadAttention(21, 3, batch_first=True),
        lambda: multi_head_attention(biases=True),
        given={"need_weights": False},
    ),
    Row("torch.nn.functional.softmax", lambda: F.softmax, LAYER["softmax"], given={"dim": -1}),
    Row("torch.nn.functional.layer_norm", lambda: of_layer_norm, layer_norm),
    Row("torch.nn.functional.linear", lambda: F.linear, lambda: layer("linear")),
    Row(
        "torch.nn.functional.scaled_dot_product_attention",
        lambda: F.scaled_dot_product_attention,
        scaled_dot_product_attention,
    ),
    Row("torch.nn.functional.gelu", lambda: F.gelu, LAYER["gelu"]),
    Row("torch.nn.functional.mse_loss", lambda: F.mse_loss, rows.mean_squared_error, given={"reduction": "none"}),
)


def of_layer_norm(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


UNSEEN = (
    Row("torch._refs.softmax", lambda: refs.softmax, LAYER["softmax"], given={"dim": -1}),
    Row("torch._refs.log_softmax", lambda: refs.log_softmax, LAYER["log_softmax"], given={"dim": -1}),
    Row("torch._refs.logsumexp", lambda: refs.logsumexp, LAYER["log_sum_exp"], given={"dim": -1}),
    Row("torch._refs.nn.functional.gelu", lambda: refs.nn.functional.gelu, LAYER["gelu"]),
    Row("torch._refs.nn.functional.relu", lambda: refs.nn.functional.relu, LAYER["relu"]),
    Row("torch._refs.nn.functional.relu6", lambda: refs.nn.functional.relu6, LAYER["relu6"]),
    Row("torch._refs.nn.functional.elu", lambda: refs.nn.functional.elu, LAYER["elu"]),
    Row("torch._refs.nn.functional.mish", lambda: refs.nn.functional.mish, LAYER["mish"]),
    Row(
        "torch._refs.nn.functional.softplus",
        lambda: refs.nn.functional.softplus,
        LAYER["softplus"],
        "not followed",
        "not proved",
    ),
    Row("torch._refs.nn.functional.leaky_relu", lambda: refs.nn.functional.leaky_relu, LAYER["leaky_relu"]),
    Row("torch._refs.native_layer_norm", lambda: of_native_layer_norm, layer_norm, "not followed", "sym_eq"),
    Row(
        "torch._refs.nn.functional.layer_norm",
        lambda: of_refs_layer_norm,
        layer_norm,
        "not followed",
        "a symbolic number",
    ),
    Row("torch._refs.sigmoid", lambda: refs.sigmoid, LAYER["sigmoid"]),
    Row("torch._decomp silu", lambda: decompositions.silu, LAYER["silu"]),
    Row("torch._decomp hardswish", lambda: decompositions.hardswish, LAYER["hard_swish"]),
    Row("torch._decomp _softmax", lambda: of_softmax, LAYER["softmax"]),
    Row("torch._decomp _log_softmax", lambda: of_log_softmax, LAYER["log_softmax"]),
    Row("torch._decomp addmm", lambda: of_addmm, lambda: layer("linear")),
    Row("torch._decomp log_sigmoid_forward", lambda: decompositions.log_sigmoid_forward, LAYER["log_sigmoid"]),
    Row("torch._decomp _fused_rms_norm", lambda: of_rms_norm, rms_norm, "not followed", "stride"),
)


def of_native_layer_norm(x, weight, bias, eps=1e-5):
    return refs.native_layer_norm(x, x.shape[-1:], weight, bias, eps)[0]


def of_refs_layer_norm(x, weight, bias, eps=1e-5):
    return refs.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)


def of_softmax(x):
    return torch._decomp.decompositions._softmax(x, -1, False)


def of_log_softmax(x):
    return torch._decomp.decompositions._log_softmax(x, -1, False)


def of_addmm(x, w, b):
    return torch._decomp.decompositions.addmm(b, x, w)


def of_rms_norm(x, weight, eps=1e-6):
    return torch._decomp.decompositions._fused_rms_norm(x, x.shape[-1:], weight, eps)[0]
