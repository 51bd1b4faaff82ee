"""Right functions over NumPy and PyTorch, and what people get wrong in them: one realistic bug in each variant.

Definition   a variant is the text of a right function with one piece replaced; each differs from the layer for some
             sizes and numbers, so none may be proved
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from derivations.activations.gelu import gelu_tanh
from derivations.activations.sigmoid import silu, softplus
from derivations.catalogue import layer
from derivations.language.arrays.functions import gelu
from derivations.language.layers.layer import Layer
from tests.numeric.lifting.corpus import rows

__all__ = ["RIGHT", "Right", "variants"]


@dataclass(frozen=True)
class Right:
    """A right function, its layer, and the replacements that make it wrong."""

    name: str
    target: Callable[[], Layer]
    source: str
    wrong: tuple[tuple[str, str], ...]
    library: str = "numpy"

    def text(self, number: int | None = None) -> str:
        """Return the source, with a replacement made; it must apply once or more."""
        if number is None:
            return self.source
        old, new = self.wrong[number]
        if old not in self.source or old == new:
            raise ValueError(f"{self.name}: {old!r} is not in the source")
        return self.source.replace(old, new, 1)

    def made(self, number: int | None = None) -> Any:
        """Return the function, or one of its wrong variants."""
        space: dict[str, Any] = {"__name__": "wrong_variants"}
        head = "import math\nimport numpy as np\n"
        if self.library == "torch":
            head = "import math\nimport torch\nimport torch.nn.functional as F\n"
        exec(compile(head + self.text(number), f"{self.name}.py", "exec"), space)  # noqa: S102 - text of this module
        return space[self.name]


ATTENTION = """
def attention(Q, K, V):
    scores = Q @ K.T / np.sqrt(Q.shape[-1])
    scores = scores - np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return weights @ V
"""
ATTENTION_WRONG = (
    ("/ np.sqrt(Q.shape[-1])", ""),
    ("/ np.sqrt(Q.shape[-1])", "* np.sqrt(Q.shape[-1])"),
    ("/ np.sqrt(Q.shape[-1])", "/ Q.shape[-1]"),
    ("np.sqrt(Q.shape[-1])", "np.sqrt(Q.shape[0])"),
    ("np.sqrt(Q.shape[-1])", "np.sqrt(K.shape[0])"),
    ("np.sqrt(Q.shape[-1])", "np.sqrt(V.shape[-1])"),
    ("np.sqrt(Q.shape[-1])", "np.sqrt(2 * Q.shape[-1])"),
    ("np.sqrt(Q.shape[-1])", "8.0"),
    ("np.sum(weights, axis=-1, keepdims=True)", "np.sum(weights, axis=0, keepdims=True)"),
    ("np.sum(weights, axis=-1, keepdims=True)", "np.sum(weights)"),
    ("np.sum(weights, axis=-1, keepdims=True)", "np.mean(weights, axis=-1, keepdims=True)"),
    ("np.sum(weights, axis=-1, keepdims=True)", "np.max(weights, axis=-1, keepdims=True)"),
    ("weights / np.sum", "weights * np.sum"),
    ("np.exp(scores)", "np.exp(-scores)"),
    ("np.exp(scores)", "np.exp2(scores)"),
    ("np.exp(scores)", "np.maximum(scores, 0)"),
    ("np.exp(scores)", "scores ** 2"),
    (
        "    scores = scores - np.max(scores, axis=-1, keepdims=True)",
        "    scores = scores + np.max(scores, axis=0, keepdims=True)",
    ),
    ("scores - np.max(scores, axis=-1, keepdims=True)", "scores - np.max(scores, axis=0, keepdims=True)"),
    ("scores - np.max(scores, axis=-1, keepdims=True)", "scores / np.max(scores, axis=-1, keepdims=True)"),
    ("return weights @ V", "return scores @ V"),
    ("return weights @ V", "return weights @ V / K.shape[0]"),
    ("return weights @ V", "return weights @ V + V.mean(0)"),
    ("Q @ K.T", "(Q * Q) @ K.T"),
    ("Q @ K.T", "-Q @ K.T"),
    (
        "weights = weights / np.sum(weights, axis=-1, keepdims=True)",
        "weights = weights / (1 + np.sum(weights, axis=-1, keepdims=True))",
    ),
)
MASKED = """
def masked_attention(Q, K, V, M):
    scores = Q @ K.T / math.sqrt(K.shape[1])
    scores = np.where(M, scores, -1e9)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ V
"""
MASKED_WRONG = (
    ("np.where(M, scores, -1e9)", "np.where(M, -1e9, scores)"),
    ("np.where(M, scores, -1e9)", "np.where(~M, scores, -1e9)"),
    ("np.where(M, scores, -1e9)", "np.where(M, scores, 0.0)"),
    ("np.where(M, scores, -1e9)", "np.where(M, scores, 1e-9)"),
    ("np.where(M, scores, -1e9)", "scores * M"),
    ("np.where(M, scores, -1e9)", "np.where(M, scores, -1.0)"),
    ("    scores = np.where(M, scores, -1e9)\n", ""),
    ("/ math.sqrt(K.shape[1])", ""),
    ("math.sqrt(K.shape[1])", "math.sqrt(K.shape[0])"),
    ("math.sqrt(K.shape[1])", "K.shape[1]"),
    ("weights.sum(-1, keepdims=True)", "weights.sum()"),
    ("weights.sum(-1, keepdims=True)", "(M * 1.0).sum(-1, keepdims=True)"),
    ("np.exp(scores - scores.max(-1", "np.exp(scores - scores.max(0"),
)
LAYER_NORM = """
def layer_norm(x, gamma, beta, eps):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta
"""
LAYER_NORM_WRONG = (
    ("np.sqrt(variance + eps)", "(np.sqrt(variance) + eps)"),
    ("np.sqrt(variance + eps)", "(variance + eps)"),
    ("np.sqrt(variance + eps)", "np.sqrt(variance)"),
    ("np.sqrt(variance + eps)", "np.sqrt(variance + eps ** 2)"),
    ("np.sqrt(variance + eps)", "np.sqrt(variance - eps)"),
    ("np.sqrt(variance + eps)", "np.sqrt(eps)"),
    ("np.var(x, axis=-1, keepdims=True)", "np.var(x, axis=-1, ddof=1, keepdims=True)"),
    ("np.var(x, axis=-1, keepdims=True)", "np.std(x, axis=-1, keepdims=True)"),
    ("np.var(x, axis=-1, keepdims=True)", "np.mean(x ** 2, axis=-1, keepdims=True)"),
    ("np.var(x, axis=-1, keepdims=True)", "np.sum((x - mean) ** 2, axis=-1, keepdims=True)"),
    ("np.var(x, axis=-1, keepdims=True)", "np.var(x, axis=0, keepdims=True)"),
    ("np.var(x, axis=-1, keepdims=True)", "np.var(x)"),
    ("np.var(x, axis=-1, keepdims=True)", "np.mean(np.abs(x - mean), axis=-1, keepdims=True)"),
    ("np.mean(x, axis=-1, keepdims=True)", "np.mean(x, axis=0, keepdims=True)"),
    ("np.mean(x, axis=-1, keepdims=True)", "np.sum(x, axis=-1, keepdims=True)"),
    ("np.mean(x, axis=-1, keepdims=True)", "np.mean(x)"),
    ("np.mean(x, axis=-1, keepdims=True)", "np.max(x, axis=-1, keepdims=True)"),
    ("(x - mean)", "(x + mean)"),
    ("(x - mean)", "x"),
    ("(x - mean)", "(mean - x)"),
    ("+ beta", ""),
    ("+ beta", "- beta"),
    ("gamma * (x - mean)", "(x - mean)"),
    ("gamma * (x - mean)", "(1 + gamma) * (x - mean)"),
    ("gamma * (x - mean) / np.sqrt(variance + eps) + beta", "gamma * ((x - mean) / np.sqrt(variance + eps) + beta)"),
    ("gamma * (x - mean) / np.sqrt(variance + eps) + beta", "beta * (x - mean) / np.sqrt(variance + eps) + gamma"),
)
RMS_NORM = """
def rms_norm(x, gamma, eps):
    scale = np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + eps)
    return x / scale * gamma
"""
RMS_NORM_WRONG = (
    ("np.mean(np.square(x), axis=-1, keepdims=True) + eps)", "np.mean(np.square(x), axis=-1, keepdims=True)) + eps"),
    ("np.mean(np.square(x)", "np.sum(np.square(x)"),
    ("np.mean(np.square(x)", "np.mean(np.abs(x)"),
    ("np.mean(np.square(x), axis=-1", "np.mean(np.square(x), axis=0"),
    ("np.mean(np.square(x), axis=-1, keepdims=True)", "np.mean(np.square(x))"),
    ("np.mean(np.square(x), axis=-1, keepdims=True)", "np.var(x, axis=-1, keepdims=True)"),
    ("np.mean(np.square(x), axis=-1, keepdims=True)", "np.mean(x, axis=-1, keepdims=True) ** 2"),
    ("x / scale * gamma", "x / scale"),
    ("x / scale * gamma", "x / scale * (1 + gamma)"),
    ("x / scale * gamma", "x * scale * gamma"),
    ("x / scale * gamma", "x / scale + gamma"),
    ("np.sqrt(np.mean", "(np.mean"),
    ("x / scale * gamma", "x / (scale * gamma)"),
)
FEED_FORWARD = """
def feed_forward(x, w1, b1, w2, b2):
    hidden = np.maximum(x @ w1 + b1, 0)
    return hidden @ w2 + b2
"""
FEED_FORWARD_WRONG = (
    (" + b1", ""),
    (" + b2", ""),
    ("x @ w1 + b1", "x @ w1 - b1"),
    ("np.maximum(x @ w1 + b1, 0)", "(x @ w1 + b1)"),
    ("np.maximum(x @ w1 + b1, 0)", "np.minimum(x @ w1 + b1, 0)"),
    ("np.maximum(x @ w1 + b1, 0)", "np.maximum(x @ w1, 0) + b1"),
    ("np.maximum(x @ w1 + b1, 0)", "np.maximum(x @ w1 + b1, 0.01 * (x @ w1 + b1))"),
    ("np.maximum(x @ w1 + b1, 0)", "np.tanh(x @ w1 + b1)"),
    ("np.maximum(x @ w1 + b1, 0)", "np.abs(x @ w1 + b1)"),
    ("np.maximum(x @ w1 + b1, 0)", "np.maximum(x @ w1 + b1, 1)"),
    ("np.maximum(x @ w1 + b1, 0)", "np.maximum(x @ w1 + b1, 0) ** 2"),
    ("np.maximum(x @ w1 + b1, 0)", "np.clip(x @ w1 + b1, 0, 6)"),
    ("hidden @ w2 + b2", "hidden @ w2 + b2 + x"),
    ("hidden @ w2 + b2", "np.maximum(hidden @ w2 + b2, 0)"),
    ("hidden @ w2 + b2", "hidden @ w2 * b2"),
)
SWIGLU = """
def swiglu(x, w_gate, w_up, w_down):
    gate = x @ w_gate
    gate = gate / (1 + np.exp(-gate))
    return (gate * (x @ w_up)) @ w_down
"""
SWIGLU_WRONG = (
    ("np.exp(-gate)", "np.exp(gate)"),
    ("gate / (1 + np.exp(-gate))", "1 / (1 + np.exp(-gate))"),
    ("gate / (1 + np.exp(-gate))", "gate / (1 - np.exp(-gate))"),
    ("gate / (1 + np.exp(-gate))", "gate * (1 + np.exp(-gate))"),
    ("gate / (1 + np.exp(-gate))", "np.maximum(gate, 0)"),
    ("gate / (1 + np.exp(-gate))", "gate / (1 + np.exp(-1.702 * gate))"),
    ("gate * (x @ w_up)", "gate + (x @ w_up)"),
    ("gate * (x @ w_up)", "gate * (x @ w_gate)"),
    ("gate * (x @ w_up)", "(x @ w_up)"),
    ("gate * (x @ w_up)", "gate * gate * (x @ w_up)"),
)
GELU = """
def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
"""
GELU_WRONG = (
    ("np.sqrt(2 / np.pi)", "np.sqrt(np.pi / 2)"),
    ("np.sqrt(2 / np.pi)", "2 / np.pi"),
    ("0.044715", "0.44715"),
    ("x**3", "x**2"),
    ("0.5 * x", "x"),
    ("(1 + np.tanh", "(1 - np.tanh"),
    ("0.5 * x * (1", "0.5 * (1"),
    ("x + 0.044715 * x**3", "x - 0.044715 * x**3"),
)
SOFTMAX = """
def softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return np.exp(shifted) / np.exp(shifted).sum(axis=-1, keepdims=True)
"""
SOFTMAX_WRONG = (
    (".sum(axis=-1, keepdims=True)", ".sum(axis=0, keepdims=True)"),
    (".sum(axis=-1, keepdims=True)", ".sum()"),
    ("x.max(axis=-1, keepdims=True)", "x.max(axis=0, keepdims=True)"),
    ("np.exp(shifted) / np.exp(shifted)", "np.exp(shifted) / np.exp(x)"),
    ("np.exp(shifted) / np.exp(shifted)", "shifted / shifted"),
    ("np.exp(shifted) /", "np.exp(shifted) ** 2 /"),
    ("return np.exp(shifted)", "return np.exp(2 * shifted)"),
)
LOG_SOFTMAX = """
def log_softmax(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
"""
LOG_SOFTMAX_WRONG = (
    ("shifted - np.log", "shifted + np.log"),
    ("shifted - np.log", "x - np.log"),
    ("np.log(np.sum", "np.log2(np.sum"),
    ("np.log(np.sum", "np.log(np.mean"),
    ("np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))", "np.sum(shifted, axis=-1, keepdims=True)"),
    ("np.exp(shifted)", "np.exp(x)"),
)
TORCH_HEADS = """
def heads(x, w_q, w_k, w_v, w_o, h):
    n = x.shape[0]
    q, k, v = ((x @ w).view(n, h, -1).transpose(0, 1) for w in (w_q, w_k, w_v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    mask = torch.tril(torch.ones(n, n, dtype=torch.bool))
    scores = scores.masked_fill(~mask, float("-inf"))
    out = torch.softmax(scores, dim=-1) @ v
    return out.transpose(0, 1).reshape(n, -1) @ w_o
"""
TORCH_HEADS_WRONG = (
    ("math.sqrt(q.size(-1))", "math.sqrt(x.size(-1))"),
    ("math.sqrt(q.size(-1))", "math.sqrt(h)"),
    ("math.sqrt(q.size(-1))", "q.size(-1)"),
    ("/ math.sqrt(q.size(-1))", ""),
    (".view(n, h, -1).transpose(0, 1)", ".reshape(-1, h, n).permute(1, 2, 0)"),
    (".view(n, h, -1).transpose(0, 1)", ".view(n, -1, h).permute(2, 0, 1)"),
    ("masked_fill(~mask", "masked_fill(mask"),
    ("torch.ones(n, n, dtype=torch.bool))", "torch.ones(n, n, dtype=torch.bool), diagonal=1)"),
    ("torch.tril(", "torch.triu("),
    ('float("-inf")', "0.0"),
    ('float("-inf")', "-10.0"),
    ("dim=-1", "dim=-2"),
    ("dim=-1", "dim=0"),
    ("out.transpose(0, 1).reshape(n, -1)", "out.reshape(n, -1)"),
    ("out.transpose(0, 1).reshape(n, -1)", "out.permute(1, 2, 0).reshape(n, -1)"),
    ("@ v\n", "@ k\n"),
    ("(w_q, w_k, w_v)", "(w_q, w_q, w_v)"),
    ("(w_q, w_k, w_v)", "(w_q, w_v, w_k)"),
    ('    scores = scores.masked_fill(~mask, float("-inf"))\n', ""),
)
TORCH_LINEAR = """
def linear(x, weight, bias):
    return F.linear(x, weight, bias)
"""
TORCH_LINEAR_WRONG = (
    ("F.linear(x, weight, bias)", "F.linear(x, weight)"),
    ("F.linear(x, weight, bias)", "F.linear(x, weight, bias) + bias"),
    ("F.linear(x, weight, bias)", "F.linear(x, weight, -bias)"),
    ("F.linear(x, weight, bias)", "F.linear(x + 1, weight, bias)"),
    ("F.linear(x, weight, bias)", "F.linear(x, 2 * weight, bias)"),
)
TORCH_RMS = """
def torch_rms(x, weight, eps):
    variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
    return weight * (x * torch.rsqrt(variance + eps))
"""
TORCH_RMS_WRONG = (
    ("torch.rsqrt(variance + eps)", "torch.rsqrt(variance)"),
    ("torch.rsqrt(variance + eps)", "torch.sqrt(variance + eps)"),
    ("torch.rsqrt(variance + eps)", "(torch.rsqrt(variance) + eps)"),
    ("pow(2)", "pow(3)"),
    ("mean(-1, keepdim=True)", "mean(0, keepdim=True)"),
    ("mean(-1, keepdim=True)", "sum(-1, keepdim=True)"),
    ("weight * (x", "(1 + weight) * (x"),
)
TORCH_GELU = """
def torch_gelu(x):
    return F.gelu(x)
"""
TORCH_GELU_WRONG = (
    ("F.gelu(x)", 'F.gelu(x, approximate="tanh")'),
    ("F.gelu(x)", "F.silu(x)"),
    ("F.gelu(x)", "F.relu(x)"),
    ("F.gelu(x)", "x * torch.sigmoid(1.702 * x)"),
    ("F.gelu(x)", "x * 0.5 * (1 + torch.erf(x))"),
    ("F.gelu(x)", "0.5 * (1 + torch.erf(x / math.sqrt(2)))"),
)
TORCH_NORM_RESIDUAL = """
def normed(h, x, w, b, gamma, beta, eps):
    y = h @ w + b
    return F.layer_norm(y + x, (x.shape[-1],), gamma, beta, eps)
"""
TORCH_NORM_RESIDUAL_WRONG = (
    ("y + x", "y"),
    ("y + x", "y - x"),
    ("y + x", "y + 2 * x"),
    ("F.layer_norm(y + x, (x.shape[-1],), gamma, beta, eps)", "x + F.layer_norm(y, (x.shape[-1],), gamma, beta, eps)"),
    ("(x.shape[-1],), gamma, beta", "(x.shape[-1],), beta, gamma"),
    ("(x.shape[-1],), gamma, beta", "(x.shape[-1],), gamma, None"),
    ("h @ w + b", "h @ w"),
)
SOFTPLUS = """
def plus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)
"""
SOFTPLUS_WRONG = (
    ("np.maximum(x, 0)", "np.minimum(x, 0)"),
    ("np.maximum(x, 0)", "x"),
    ("-np.abs(x)", "np.abs(x)"),
    ("np.log1p", "np.log"),
)
EMBEDDING = """
def look_up(tokens, table):
    return table[tokens] * np.sqrt(table.shape[1])
"""
EMBEDDING_WRONG = (
    (" * np.sqrt(table.shape[1])", ""),
    ("table.shape[1]", "table.shape[0]"),
    ("* np.sqrt", "/ np.sqrt"),
    ("np.sqrt(table.shape[1])", "table.shape[1]"),
)
del silu, gelu

RIGHT = (
    Right("attention", lambda: layer("scaled_dot_product_attention"), ATTENTION, ATTENTION_WRONG),
    Right("masked_attention", lambda: layer("masked_scaled_dot_product_attention"), MASKED, MASKED_WRONG),
    Right("layer_norm", lambda: layer("layer_norm"), LAYER_NORM, LAYER_NORM_WRONG),
    Right("rms_norm", lambda: layer("rms_norm"), RMS_NORM, RMS_NORM_WRONG),
    Right("feed_forward", lambda: layer("feed_forward"), FEED_FORWARD, FEED_FORWARD_WRONG),
    Right("swiglu", lambda: layer("gated_feed_forward"), SWIGLU, SWIGLU_WRONG),
    Right("gelu", lambda: rows.elementwise(gelu_tanh), GELU, GELU_WRONG),
    Right("softmax", rows.softmax_of_rows, SOFTMAX, SOFTMAX_WRONG),
    Right("log_softmax", rows.log_softmax, LOG_SOFTMAX, LOG_SOFTMAX_WRONG),
    Right("heads", rows.causal_heads, TORCH_HEADS, TORCH_HEADS_WRONG, "torch"),
    Right("linear", lambda: layer("linear"), TORCH_LINEAR, TORCH_LINEAR_WRONG, "torch"),
    Right("torch_rms", lambda: layer("rms_norm"), TORCH_RMS, TORCH_RMS_WRONG, "torch"),
    Right("torch_gelu", rows.LAYER["gelu"], TORCH_GELU, TORCH_GELU_WRONG, "torch"),
    Right("normed", rows.residual_norm, TORCH_NORM_RESIDUAL, TORCH_NORM_RESIDUAL_WRONG, "torch"),
    Right("plus", lambda: rows.elementwise(softplus), SOFTPLUS, SOFTPLUS_WRONG),
    Right("look_up", lambda: layer("embedding"), EMBEDDING, EMBEDDING_WRONG),
)


def variants(library: str = "") -> list[tuple[Right, int]]:
    """Return all wrong variants, of one library or of both."""
    return [(right, number) for right in RIGHT if library in ("", right.library) for number in range(len(right.wrong))]
