"""Functions of libraries beside another writing of each, and what people get wrong in them.

Definition   a pair is the text of a function as code has it, and the text of the same mathematics written otherwise; a
             wrong variant is the first text with one piece replaced, and differs for some sizes and numbers
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sympy import Symbol

from derivations.language.arrays.expression import Variable
from derivations.symbols import d, m, n, size

__all__ = ["PAIRS", "Pair"]

c, h, k, p = (size(name) for name in "chkp")
HEAD = """
import math
import numpy as np
import torch
import torch.nn.functional as F
import scipy.special
"""


@dataclass(frozen=True)
class Pair:
    """A function, the other writing, the shapes of its arguments, and replacements that make the function wrong."""

    name: str
    source: str
    other: str
    shapes: dict[str, Any]
    wrong: tuple[tuple[str, str], ...]

    def function(self, number: int | None = None) -> Callable[..., Any]:
        """Return the function, or one of its wrong variants."""
        text = self.source
        if number is not None:
            old, new = self.wrong[number]
            if old not in text or old == new:
                raise ValueError(f"{self.name}: {old!r} is not in the source")
            text = text.replace(old, new, 1)
        return self._made(text)

    def written_otherwise(self) -> Callable[..., Any]:
        """Return the other writing."""
        return self._made(self.other)

    def _made(self, text: str) -> Any:
        space: dict[str, Any] = {"__name__": "pairs"}
        exec(compile(HEAD + text, f"{self.name}.py", "exec"), space)  # noqa: S102 - text of this module
        return space["f"]


PAIRS = (
    Pair(
        "convolution",
        "def f(x, w, b):\n    return F.conv1d(x, w, b)",
        """
def f(x, w, b):
    T = x.shape[2] - 2
    taps = [np.einsum("nct,oc->not", x[:, :, i : i + T], w[:, :, i]) for i in range(3)]
    return taps[0] + taps[1] + taps[2] + b[:, None]
""",
        {"x": (n, c, d), "w": (k, c, 3), "b": (k,)},
        (
            ("conv1d(x, w, b)", "conv1d(x, w)"),
            ("conv1d(x, w, b)", "conv1d(x, torch.flip(w, (2,)), b)"),
            ("conv1d(x, w, b)", "conv1d(x, w, -b)"),
            ("F.conv1d(x", "F.conv1d(x.abs()"),
        ),
    ),
    Pair(
        "causal convolution of each channel",
        """
def f(x, w):
    padded = F.pad(x, (2, 0))
    return F.conv1d(padded, w, groups=x.shape[1])
""",
        """
def f(x, w):
    back = np.pad(x, ((0, 0), (0, 0), (2, 0)))
    T = x.shape[2]
    return back[..., :T] * w[:, 0, 0, None] + back[..., 1 : T + 1] * w[:, 0, 1, None] + x * w[:, 0, 2, None]
""",
        {"x": (n, c, d), "w": (c, 1, 3)},
        (("(2, 0)", "(1, 1)"), ("(2, 0)", "(0, 2)"), ("(padded, w", "(padded, w.flip(2)")),
    ),
    Pair(
        "convolution with steps",
        "def f(x, w):\n    return F.conv2d(x, w, stride=2, padding=1)",
        """
def f(x, w):
    P = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    H, W = x.shape[2], x.shape[3]
    y = 0
    for i in range(3):
        for j in range(3):
            y = y + np.einsum("nchw,oc->nohw", P[:, :, i : i + H : 2, j : j + W : 2], w[:, :, i, j])
    return y
""",
        {"x": (n, c, 2 * h, 2 * p), "w": (k, c, 3, 3)},
        (("w, stride", "w.transpose(2, 3), stride"), ("F.conv2d(x", "F.conv2d(x.flip(3)")),
    ),
    Pair(
        "largest of windows",
        "def f(x):\n    return F.max_pool2d(x, 2)",
        """
def f(x):
    rows = np.maximum(x[:, :, 0::2], x[:, :, 1::2])
    return np.maximum(rows[..., 0::2], rows[..., 1::2])
""",
        {"x": (n, c, 2 * h, 2 * p)},
        (
            ("max_pool2d", "avg_pool2d"),
            ("F.max_pool2d(x, 2)", "-F.max_pool2d(-x, 2)"),
            ("(x, 2)", "(x.relu(), 2)"),
        ),
    ),
    Pair(
        "largest of windows that overlap",
        "def f(x):\n    return F.max_pool1d(x, 3, stride=1, padding=1)",
        """
def f(x):
    before = np.concatenate([x[..., :1], x[..., :-1]], axis=-1)
    after = np.concatenate([x[..., 1:], x[..., -1:]], axis=-1)
    return np.maximum(np.maximum(before, x), after)
""",
        {"x": (n, c, d)},
        (("max_pool1d(x, 3", "avg_pool1d(x, 3"), ("x, 3", "F.pad(x[..., :-1], (1, 0)), 3")),
    ),
    Pair(
        "means of windows",
        "def f(x):\n    return F.avg_pool1d(x, 2)",
        "def f(x):\n    return (x[..., 0::2] + x[..., 1::2]) / 2",
        {"x": (n, c, 2 * p)},
        (("avg_pool1d(x, 2)", "avg_pool1d(x, 2) * 2"), ("avg_pool1d(x, 2)", "max_pool1d(x, 2)")),
    ),
    Pair(
        "means of parts",
        "def f(x):\n    return F.adaptive_avg_pool2d(x, (2, 1))",
        """
def f(x):
    half = x.shape[2] // 2
    return np.stack([np.mean(x[:, :, :half], axis=(2, 3)), np.mean(x[:, :, half:], axis=(2, 3))], 2)[..., None]
""",
        {"x": (n, c, 2 * h, p)},
        (("adaptive_avg_pool2d", "adaptive_max_pool2d"), ("(x, (", "(x.flip(2), (")),
    ),
    Pair(
        "padding by what stands at the other end",
        "def f(x):\n    return F.pad(x, (1, 2), mode='circular')",
        "def f(x):\n    return np.concatenate([x[..., -1:], x, x[..., :2]], axis=-1)",
        {"x": (n, c, d)},
        (("circular", "reflect"), ("circular", "replicate"), ("(1, 2), mode='circular'", "(1, 2)")),
    ),
    Pair(
        "mirrored padding",
        "def f(x):\n    return np.pad(x, ((0, 0), (2, 1)), mode='reflect')",
        "def f(x):\n    return np.concatenate([x[:, 2:3], x[:, 1:2], x, x[:, -2:-1]], axis=1)",
        {"x": (n, d)},
        (("reflect", "symmetric"), ("reflect", "edge"), ("reflect", "wrap")),
    ),
    Pair(
        "cell of an LSTM",
        """
def f(x, h, c, w_x, w_h, b_x, b_h):
    return torch.lstm_cell(x, (h, c), w_x, w_h, b_x, b_h)[0]
""",
        """
def f(x, h, c, w_x, w_h, b_x, b_h):
    z = x @ w_x.T + h @ w_h.T + (b_x + b_h)
    D = h.shape[1]
    i, f, g, o = (z[:, k * D : (k + 1) * D] for k in range(4))
    new = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
    return np.tanh(new) / (1 + np.exp(-o))
""",
        {"x": (n, m), "h": (n, d), "c": (n, d), "w_x": (4 * d, m), "w_h": (4 * d, d), "b_x": (4 * d,), "b_h": (4 * d,)},
        (("(h, c)", "(c, h)"), ("[0]", "[1]"), ("b_x, b_h)[", "b_x, b_x)["), ("b_x, b_h)[", "b_x)[")),
    ),
    Pair(
        "cell of a GRU",
        "def f(x, h, w_x, w_h, b_x, b_h):\n    return torch.gru_cell(x, h, w_x, w_h, b_x, b_h)",
        """
def f(x, h, w_x, w_h, b_x, b_h):
    D = h.shape[1]
    a, e = x @ w_x.T + b_x, h @ w_h.T + b_h
    r, z = (1 / (1 + np.exp(-(a[:, k * D : (k + 1) * D] + e[:, k * D : (k + 1) * D]))) for k in range(2))
    return (1 - z) * np.tanh(a[:, 2 * D :] + r * e[:, 2 * D :]) + z * h
""",
        {"x": (n, m), "h": (n, d), "w_x": (3 * d, m), "w_h": (3 * d, d), "b_x": (3 * d,), "b_h": (3 * d,)},
        (
            ("gru_cell(x, h, w_x, w_h, b_x, b_h)", "gru_cell(x, h, w_x, w_h, b_h, b_x)"),
            ("gru_cell(x, h", "gru_cell(x, -h"),
            ("torch.gru_cell(x", "torch.gru_cell(2 * x"),
        ),
    ),
    Pair(
        "Huber's loss",
        "def f(x, y):\n    return F.huber_loss(x, y, delta=2.0)",
        """
def f(x, y):
    r = np.abs(x - y)
    return np.where(r <= 2, (x - y) ** 2 / 2, 2 * (r - 1)).mean()
""",
        {"x": (n, d), "y": (n, d)},
        (
            ("delta=2.0", "delta=1.0"),
            ("delta=2.0", "delta=2.0, reduction='sum'"),
            ("huber_loss(x, y, delta", "smooth_l1_loss(x, y, beta"),
        ),
    ),
    Pair(
        "router of the two largest",
        """
def f(x, gate):
    weights, _ = torch.topk(x @ gate, 2, dim=-1)
    return F.softmax(weights, dim=-1)
""",
        """
def f(x, gate):
    logits = x @ gate
    order = np.argsort(-logits, axis=-1, kind="stable")[:, :2]
    e = np.exp(np.take_along_axis(logits, order, axis=-1))
    return e / e.sum(-1, keepdims=True)
""",
        {"x": (n, d), "gate": (d, k)},
        (
            ("dim=-1)\n", "dim=-1, largest=False)\n"),
            ("F.softmax(weights, dim=-1)", "F.softmax(weights, dim=0)"),
            ("F.softmax(weights, dim=-1)", "torch.sigmoid(weights)"),
            ("torch.topk(x @ gate", "torch.topk(F.softmax(x @ gate, -1)"),
        ),
    ),
    Pair(
        "filter of numbers",
        """
TAPS = torch.tensor([[[0.25, 0.5, 0.25]]], dtype=torch.float64)


def f(x):
    return F.conv1d(x, TAPS)
""",
        "def f(x):\n    return (x[..., :-2] + 2 * x[..., 1:-1] + x[..., 2:]) / 4",
        {"x": (n, 1, d)},
        (("0.25, 0.5, 0.25", "0.25, 0.5, 0.125"), ("0.25, 0.5, 0.25", "0.5, 0.25, 0.25"), ("0.5,", "-0.5,")),
    ),
    Pair(
        "sinusoids written into an array",
        """
def f(x):
    pe = np.empty(x.shape)
    positions = np.arange(x.shape[0])[:, None]
    rates = np.exp(np.arange(0, x.shape[1], 2) * (-math.log(10000.0) / x.shape[1]))
    pe[:, 0::2] = np.sin(positions * rates)
    pe[:, 1::2] = np.cos(positions * rates)
    return x + pe
""",
        """
def f(x):
    angles = np.arange(x.shape[0])[:, None] * 10000.0 ** (-np.arange(0, x.shape[1], 2) / x.shape[1])
    return x + np.stack([np.sin(angles), np.cos(angles)], -1).reshape(x.shape)
""",
        {"x": (n, 2 * p)},
        (
            ("= np.sin", "= np.cos"),
            ("1::2] =", "0::2] ="),
            ("10000.0", "1000.0"),
            ("-math.log", "math.log"),
            ("(0, x.shape[1], 2)", "(0, x.shape[1] // 2)"),
        ),
    ),
    Pair(
        "rows written one after another",
        """
def f(x, h, W):
    out = np.zeros((3, x.shape[1]))
    for t in range(3):
        h = np.tanh(x[t] + h @ W)
        out[t] = h
    return out
""",
        """
def f(x, h, W):
    first = np.tanh(x[0] + h @ W)
    second = np.tanh(x[1] + first @ W)
    return np.stack([first, second, np.tanh(x[2] + second @ W)])
""",
        {"x": (3, d), "h": (d,), "W": (d, d)},
        (("out[t] = h", "out[0] = h"), ("x[t]", "x[0]"), ("h @ W", "W @ h"), ("range(3)", "range(2)")),
    ),
    Pair(
        "linear biases",
        """
def f(q, k, v, slope):
    i = torch.arange(q.shape[0])
    rel = i[None, :] - i[:, None]
    scores = q @ k.T / math.sqrt(q.size(-1)) + slope * rel
    return scores.masked_fill(rel > 0, float("-inf")).softmax(-1) @ v
""",
        """
def f(q, k, v, slope):
    T = q.shape[0]
    s = q @ k.T / np.sqrt(q.shape[1]) + slope * np.arange(T)[None]
    e = np.where(np.tril(np.ones((T, T))) == 1, np.exp(s), 0)
    return e / e.sum(-1, keepdims=True) @ v
""",
        {"q": (n, d), "k": (n, d), "v": (n, m), "slope": Symbol("slope", positive=True)},
        (
            ("+ slope", "- slope"),
            ("rel > 0", "rel < 0"),
            ("rel > 0", "rel >= 1 - 1"),
            ("q.size(-1)", "v.size(-1)"),
            ("softmax(-1)", "softmax(0)"),
        ),
    ),
    Pair(
        "loss of pairs",
        """
def f(x, y, scale):
    x = x / x.norm(dim=-1, keepdim=True)
    y = y / y.norm(dim=-1, keepdim=True)
    return F.cross_entropy(scale * x @ y.t(), torch.arange(x.shape[0]))
""",
        """
def f(x, y, scale):
    x, y = (v / np.sqrt((v**2).sum(1, keepdims=True)) for v in (x, y))
    s = scale * (x @ y.T)
    return np.log(np.exp(s).sum(1)).mean() - np.trace(s) / s.shape[0]
""",
        {"x": (n, d), "y": (n, d), "scale": Symbol("scale", positive=True)},
        (("y.t()", "x.t()"), ("scale * x", "x"), ("y = y / y.norm(dim=-1, keepdim=True)", "y = y * 1")),
    ),
    Pair(
        "polynomial",
        "def f(a, x):\n    return np.polyval(a, x)",
        "def f(a, x):\n    return a[0] * x**2 + a[1] * x + a[2]",
        {"a": (3,), "x": (n,)},
        (("polyval(a, x)", "polyval(a[::-1], x)"), ("np.polyval(a, x)", "np.polyval(a[1:], x)")),
    ),
    Pair(
        "Chebyshev's polynomial",
        "def f(x):\n    return scipy.special.eval_chebyt(3, x)",
        "def f(x):\n    return x * (4 * x**2 - 3)",
        {"x": (n,)},
        (("chebyt", "chebyu"), ("(3,", "(4,"), ("chebyt", "legendre")),
    ),
    Pair(
        "chosen classes",
        "def f(x, t):\n    return np.where(np.any(t[:, None] == np.array([0, 2]), axis=-1), x, 0.0)",
        "def f(x, t):\n    return np.where((t == 0) | (t == 2), x, 0.0)",
        {"x": (n,), "t": Variable("t", (n,), "integer")},
        (("np.any", "np.all"), ("x, 0.0", "0.0, x"), ("[0, 2]", "[1, 2]")),
    ),
    Pair(
        "transposed convolution with gaps",
        "def f(x, w, b):\n    return F.conv_transpose1d(x, w, b, dilation=2)",
        """
def f(x, w, b):
    first, second = (np.einsum("nct,co->not", x, w[:, :, i]) for i in range(2))
    apart = np.pad(first, ((0, 0), (0, 0), (0, 2))) + np.pad(second, ((0, 0), (0, 0), (2, 0)))
    return apart + b[:, None]
""",
        {"x": (n, c, d), "w": (c, k, 2), "b": (k,)},
        (
            ("x, w, b, d", "x, w.flip(2), b, d"),
            ("x, w, b, d", "x, w, -b, d"),
            ("dilation=2", "dilation=1"),
            ("dilation=2", "dilation=2, padding=1"),
            ("dilation=2", "stride=2"),
        ),
    ),
    Pair(
        "transposed convolution with steps",
        "def f(x, w):\n    return F.conv_transpose1d(x, w, stride=2)",
        """
def f(x, w):
    taps = np.einsum("nct,cok->notk", x, w)
    return taps.reshape(taps.shape[0], taps.shape[1], taps.shape[2] * 2)
""",
        {"x": (n, c, d), "w": (c, k, 2)},
        (("x, w, s", "x, w.flip(2), s"), ("F.conv_transpose1d(x", "F.conv_transpose1d(x.flip(2)")),
    ),
    Pair(
        "windows added where they overlap",
        "def f(x):\n    return F.fold(x, (1, 5), (1, 2))",
        """
def f(x):
    parts = x.reshape(x.shape[0], x.shape[1] // 2, 2, 4)
    first = np.pad(parts[:, :, 0], ((0, 0), (0, 0), (0, 1)))
    return (first + np.pad(parts[:, :, 1], ((0, 0), (0, 0), (1, 0))))[:, :, None]
""",
        {"x": (n, 2 * c, 4)},
        (("F.fold(x", "F.fold(x.flip(2)"), ("F.fold(x", "F.fold(-x"), ("(1, 5), (1, 2)", "(5, 1), (2, 1)")),
    ),
    Pair(
        "images of twice the size, by the nearest",
        "def f(x):\n    return F.interpolate(x, scale_factor=2)",
        "def f(x):\n    return np.repeat(np.repeat(x, 2, axis=2), 2, axis=3)",
        {"x": (n, c, h, p)},
        (
            ("scale_factor=2", "scale_factor=2, mode='bilinear'"),
            ("F.interpolate(x", "F.interpolate(x.flip(3)"),
            ("scale_factor=2", "scale_factor=(2, 1)"),
        ),
    ),
    Pair(
        "three points for each, on lines",
        "def f(x):\n    return F.interpolate(x, scale_factor=3, mode='linear')",
        """
def f(x):
    left = np.concatenate([x[..., :1], x[..., :-1]], axis=-1)
    right = np.concatenate([x[..., 1:], x[..., -1:]], axis=-1)
    rows = np.stack([(left + 2 * x) / 3, x, (2 * x + right) / 3], axis=-1)
    return rows.reshape(x.shape[0], x.shape[1], x.shape[2] * 3)
""",
        {"x": (n, c, d)},
        ((", mode='linear'", ""), ("mode='linear'", "mode='linear', align_corners=True"), ("(x, s", "(x * 2, s")),
    ),
    Pair(
        "logarithms that the classes choose",
        "def f(x, t):\n    return -x[torch.arange(x.shape[0]), t].mean()",
        "def f(x, t):\n    return -np.take_along_axis(x, t[:, None], 1).mean()",
        {"x": (n, d), "t": Variable("t", (n,), "integer")},
        (("x[torch", "-x[torch"), (".mean()", ".sum()"), ("arange(x.shape[0])", "arange(x.shape[0]).flip(0)")),
    ),
    Pair(
        "angles in one turn",
        "def f(x, y):\n    return torch.remainder(torch.atan2(y, x) + math.pi, 2 * math.pi) - math.pi",
        """
def f(x, y):
    a = np.arctan2(y, x) + np.pi
    return a - 2 * np.pi * np.floor(a / (2 * np.pi)) - np.pi
""",
        {"x": (n,), "y": (n,)},
        (
            ("atan2(y, x)", "atan2(x, y)"),
            ("torch.remainder(torch.atan2(y, x) + math.pi, 2", "torch.fmod(torch.atan2(y, x) - math.pi, 2"),
            (", 2 * math.pi)", ", math.pi)"),
            ("- math.pi", "+ math.pi"),
        ),
    ),
    Pair(
        "spatial softmax",
        """
def f(x):
    flat = x.reshape(x.shape[0], x.shape[1] * x.shape[2])
    return F.softmax(flat, dim=-1).reshape(x.shape)
""",
        """
def f(x):
    e = np.exp(x)
    return e / e.sum((1, 2), keepdims=True)
""",
        {"x": (n, h, p)},
        (("dim=-1", "dim=0"), ("F.softmax", "F.log_softmax"), ("F.softmax(flat", "F.softmax(2 * flat")),
    ),
    Pair(
        "transmittance along a ray",
        "def f(a):\n    return a * torch.cumprod(1 - a, dim=1)",
        """
def f(a):
    b = 1 - a
    return np.stack([a[:, 0] * b[:, 0], a[:, 1] * b[:, 0] * b[:, 1], a[:, 2] * np.prod(b, axis=1)], 1)
""",
        {"a": (n, 3)},
        (("1 - a, dim", "a, dim"), ("cumprod", "cumsum"), ("(1 - a, dim=1)", "((1 - a).flip(1), dim=1)")),
    ),
    Pair(
        "pixels of channels",
        "def f(x):\n    return F.pixel_shuffle(x, 2)",
        """
def f(x):
    N, C, H, W = x.shape
    squares = x.reshape(N, C // 4, 2, 2, H, W)
    return np.einsum("ncabhw->nchawb", squares).reshape(N, C // 4, 2 * H, 2 * W)
""",
        {"x": (n, 4 * c, h, p)},
        (("F.pixel_shuffle(x", "F.pixel_shuffle(x.flip(1)"), ("F.pixel_shuffle(x", "F.pixel_shuffle(x.relu()")),
    ),
    Pair(
        "running logarithms of sums",
        "def f(x):\n    return torch.logcumsumexp(x, dim=1)",
        "def f(x):\n    return np.log(np.cumsum(np.exp(x), axis=1))",
        {"x": (n, d)},
        (("dim=1", "dim=0"), ("logcumsumexp", "cumsum"), ("logcumsumexp(x", "logcumsumexp(-x")),
    ),
    Pair(
        "functions of degrees",
        "def f(x):\n    return scipy.special.sindg(x) + 2 * scipy.special.cosdg(x)",
        "def f(x):\n    return np.sin(np.pi * x / 180) + 2 * np.cos(np.pi * x / 180)",
        {"x": (n,)},
        (("sindg", "cosdg"), ("cosdg(x)", "cosdg(2 * x)"), ("2 * sc", "sc")),
    ),
    Pair(
        "powers less 1",
        "def f(x):\n    return scipy.special.powm1(np.exp(x), 3.0) + scipy.special.boxcox1p(np.exp(x), 2.0)",
        "def f(x):\n    return np.exp(3 * x) - 1 + (2 + np.exp(x)) * np.exp(x) / 2",
        {"x": (n,)},
        (("3.0", "2.0"), ("boxcox1p", "boxcox"), ("powm1(np.exp(x)", "powm1(np.exp(-x)")),
    ),
    Pair(
        "Gegenbauer's polynomial",
        "def f(x):\n    return scipy.special.eval_gegenbauer(2, 1.5, x)",
        "def f(x):\n    return 15 * x**2 / 2 - 1.5",
        {"x": (n,)},
        (("2, 1.5", "2, 0.5"), ("2, 1.5", "3, 1.5"), ("gegenbauer", "genlaguerre")),
    ),
    Pair(
        "two experts, before or after the softmax",
        """
def f(x):
    weights, _ = torch.topk(torch.softmax(x, -1), 2, dim=-1)
    return weights / weights.sum(-1, keepdim=True)
""",
        """
def f(x):
    logits, _ = torch.topk(x, 2, dim=-1)
    return torch.softmax(logits, -1)
""",
        {"x": (n, c)},
        ((" 2, dim", " 1, dim"), ("softmax(x", "softmax(-x"), ("softmax(x", "softmax(2 * x")),
    ),
    Pair(
        "a step of Adam",
        """
def f(w, mean, square, step):
    mean, square = mean / (1 - 0.9**step), square / (1 - 0.999**step)
    return w - mean / (np.sqrt(square) + 1e-8)
""",
        """
def f(w, mean, square, step):
    divisor = np.sqrt(square) / np.sqrt(1 - 0.999**step) + 1e-8
    return w - mean / divisor / (1 - 0.9**step)
""",
        {"w": (n,), "mean": (n,), "square": (n,), "step": p},
        (("mean / (1 - 0.9**step)", "mean"), ("0.999**step", "0.99**step"), ("np.sqrt(square)", "square")),
    ),
)
