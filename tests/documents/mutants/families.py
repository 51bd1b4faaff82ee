r"""Canonical formulas, right and with one slip each, and what plain loops make of both.

A row is the kind of slip, the formula, and its value at fixed numbers: lists of floats, or None where the shapes do not
fit. The loops share nothing with the package. `@Q` and the like are letters, which a table renames.
"""

# ruff: noqa: E501  (a row of the table is one line)

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Matrix = list[list[float]]
SOURCE = random.Random(20)


def draw(rows: int, columns: int) -> Matrix:
    return [[SOURCE.uniform(-1.5, 1.5) for _ in range(columns)] for _ in range(rows)]


n, d_k, d_v, d_model, d_ff = 3, 2, 5, 7, 11
Q, K, V, B = draw(n, d_k), draw(n, d_k), draw(n, d_v), draw(n, n)
X, W1, b1, W2, b2 = draw(n, d_model), draw(d_model, d_ff), draw(1, d_ff)[0], draw(d_ff, d_model), draw(1, d_model)[0]
Wg, Wu = draw(d_model, d_ff), draw(d_model, d_ff)
x = [0.3, -1.2, 0.8, 1.7]
gamma, beta = [0.5, 1.5, -0.7, 1.1], [0.1, -0.2, 0.4, 0.9]
eps, mu, sigma = 0.3, sum(x) / 4, 1.3


def T(a: Matrix | None) -> Matrix | None:
    return None if a is None else [list(row) for row in zip(*a, strict=True)]


def mm(a: Matrix | None, b: Matrix | None) -> Matrix | None:
    if a is None or b is None or len(a[0]) != len(b):
        return None
    return [[sum(row[p] * b[p][c] for p in range(len(b))) for c in range(len(b[0]))] for row in a]


def each(f: Callable[..., float], *arrays: Any) -> Matrix | None:
    if any(a is None for a in arrays) or len({(len(a), len(a[0])) for a in arrays}) > 1:
        return None
    return [[f(*entries) for entries in zip(*rows, strict=True)] for rows in zip(*arrays, strict=True)]


def plus(a: Matrix | None, b: list[float]) -> Matrix | None:
    if a is None or len(a[0]) != len(b):
        return None
    return [[x + y for x, y in zip(row, b, strict=True)] for row in a]


def times(s: float, a: Matrix | None) -> Matrix | None:
    return each(lambda v: s * v, a)


def soft(row: list[float]) -> list[float]:
    powers = [math.exp(v) for v in row]
    return [p / sum(powers) for p in powers]


def rows(a: Matrix | None) -> Matrix | None:
    return None if a is None else [soft(row) for row in a]


def att(scale: float = 1 / math.sqrt(d_k), q: Matrix | None = Q, k: Matrix | None = K, v: Matrix | None = V) -> Any:
    return mm(rows(times(scale, mm(q, T(k)))), v)


def relu(v: float) -> float:
    return max(0.0, v)


def sig(v: float) -> float:
    return 1 / (1 + math.exp(-v))


def phi(v: float) -> float:
    return (1 + math.erf(v / math.sqrt(2))) / 2


def gelu(v: float) -> float:
    return v * phi(v)


def ffn(f: Callable[[float], float] = relu, a: Any = W1, p: Any = b1, b: Any = W2, q: Any = b2) -> Any:
    hidden = mm(X, a)
    return plus(mm(each(f, plus(hidden, p)), b), q)


def vec(f: Callable[[int], float], size: int = 4) -> list[float]:
    return [f(i) for i in range(size)]


def mean(f: Callable[[int], float]) -> float:
    return sum(map(f, range(4))) / 4


y = soft(x)
E_ = [math.exp(v) for v in x]
S_ = sum(E_)
t_ = [0.2, 0.1, 0.6, 0.1]
P = [0, 1, 4, 9]
ROOT = math.sqrt(sigma**2 + eps)
DK = math.sqrt(d_k)


def kernel(i: int, j: int, scale: float = 1 / DK) -> float:
    return math.exp(scale * sum(a * b for a, b in zip(Q[i], K[j], strict=True)))


def entries(f: Callable[[int, int], float]) -> Matrix:
    return [[f(i, j) for j in range(n)] for i in range(n)]


def pe(f: Callable[[float], float]) -> list[float]:
    return [f(float(position), pair) for position in P for pair in range(4)]  # type: ignore[call-arg]


W8 = 8.0  # d_model of the positions


@dataclass(frozen=True)
class Family:
    """A right formula in several sets of letters, and its slips."""

    name: str
    right: str
    value: Any
    slips: tuple[tuple[str, str, Any], ...]
    letters: tuple[dict[str, str], ...] = ({},)

    def rows(self) -> list[tuple[str, str, Any]]:
        """Return every slip in every set of letters, with its value."""
        return [(kind, written(text, table), value) for table in self.letters for kind, text, value in self.slips]


def written(text: str, table: dict[str, str]) -> str:
    for letter, name in table.items():
        text = text.replace("@" + letter, name)
    return text


QKV = (
    {"Q": "Q", "K": "K", "V": "V", "d": "d_k"},
    {"Q": "A", "K": "B", "V": "C", "d": "d"},
    {"Q": r"\mathbf{Q}", "K": r"\mathbf{K}", "V": r"\mathbf{V}", "d": r"d_{\text{head}}"},
)
LEFT = r"\text{Attention}(@Q, @K, @V) = "
SM = r"\text{softmax}"
FAMILIES = (
    Family(
        "attention",
        LEFT + SM + r"\left(\frac{@Q @K^T}{\sqrt{@d}}\right) @V",
        att(),
        (
            ("no root", LEFT + SM + r"\left(\frac{@Q @K^T}{@d}\right) @V", att(1 / d_k)),
            ("times the root", LEFT + SM + r"\left(@Q @K^T \sqrt{@d}\right) @V", att(DK)),
            ("square for root", LEFT + SM + r"\left(\frac{@Q @K^T}{@d^2}\right) @V", att(1 / d_k**2)),
            ("no transpose", LEFT + SM + r"\left(\frac{@Q @K}{\sqrt{@d}}\right) @V", None),
            ("transpose of Q", LEFT + SM + r"\left(\frac{@Q^T @K}{\sqrt{@d}}\right) @V", None),
            ("K Q^T", LEFT + SM + r"\left(\frac{@K @Q^T}{\sqrt{@d}}\right) @V", att(q=K, k=Q)),
            ("V in front", LEFT + r"@V \, " + SM + r"\left(\frac{@Q @K^T}{\sqrt{@d}}\right)", None),
            ("scale outside", LEFT + r"\frac{" + SM + r"(@Q @K^T)}{\sqrt{@d}} @V", times(1 / DK, att(1))),
            ("V inside", LEFT + SM + r"\left(\frac{@Q @K^T}{\sqrt{@d}} @V\right)", rows(times(1 / DK, mm(mm(Q, T(K)), V)))),
            ("V for K", LEFT + SM + r"\left(\frac{@Q @V^T}{\sqrt{@d}}\right) @V", None),
            ("K for V", LEFT + SM + r"\left(\frac{@Q @K^T}{\sqrt{@d}}\right) @K", att(v=K)),
            ("Q for K", LEFT + SM + r"\left(\frac{@Q @Q^T}{\sqrt{@d}}\right) @V", att(k=Q)),
            ("minus", LEFT + SM + r"\left(-\frac{@Q @K^T}{\sqrt{@d}}\right) @V", att(-1 / DK)),
            ("V transposed", LEFT + SM + r"\left(\frac{@Q @K^T}{\sqrt{@d}}\right) @V^T", None),
        ),
        QKV,
    ),
    Family(
        "attention with an additive mask",
        r"O = " + SM + r"\left(\frac{@Q @K^T}{\sqrt{@d}} + M\right) @V",
        mm(rows(each(lambda a, b: a / DK + b, mm(Q, T(K)), B)), V),
        (
            ("mask outside", r"O = \left(" + SM + r"\left(\frac{@Q @K^T}{\sqrt{@d}}\right) + M\right) @V",
             mm(each(lambda a, b: a + b, rows(times(1 / DK, mm(Q, T(K)))), B), V)),
            ("no transpose", r"O = " + SM + r"\left(\frac{@Q @K}{\sqrt{@d}} + M\right) @V", None),
            ("mask subtracted and no root", r"O = " + SM + r"\left(\frac{@Q @K^T}{@d} + M\right) @V",
             mm(rows(each(lambda a, b: a / d_k + b, mm(Q, T(K)), B)), V)),
        ),
        QKV[:1],
    ),
    Family(
        "attention weight",
        r"@a_{ij} = \frac{\exp(q_i k_j^T / \sqrt{d_k})}{\sum_{l=1}^{n} \exp(q_i k_l^T / \sqrt{d_k})}",
        entries(lambda i, j: kernel(i, j) / sum(kernel(i, r) for r in range(n))),
        (
            ("index in the denominator", r"@a_{ij} = \frac{\exp(q_i k_j^T / \sqrt{d_k})}{\sum_{l=1}^{n} \exp(q_i k_j^T / \sqrt{d_k})}",
             entries(lambda i, j: 1 / n)),
            ("sum over queries", r"@a_{ij} = \frac{\exp(q_i k_j^T / \sqrt{d_k})}{\sum_{l=1}^{n} \exp(q_l k_j^T / \sqrt{d_k})}",
             entries(lambda i, j: kernel(i, j) / sum(kernel(r, j) for r in range(n)))),
            ("exp dropped below", r"@a_{ij} = \frac{\exp(q_i k_j^T / \sqrt{d_k})}{\sum_{l=1}^{n} q_i k_l^T / \sqrt{d_k}}",
             entries(lambda i, j: kernel(i, j) / sum(math.log(kernel(i, r)) for r in range(n)))),
            ("exp dropped above", r"@a_{ij} = \frac{q_i k_j^T / \sqrt{d_k}}{\sum_{l=1}^{n} \exp(q_i k_l^T / \sqrt{d_k})}",
             entries(lambda i, j: math.log(kernel(i, j)) / sum(kernel(i, r) for r in range(n)))),
            ("scale below only", r"@a_{ij} = \frac{\exp(q_i k_j^T)}{\sum_{l=1}^{n} \exp(q_i k_l^T / \sqrt{d_k})}",
             entries(lambda i, j: kernel(i, j, 1) / sum(kernel(i, r) for r in range(n)))),
            ("bound n-1", r"@a_{ij} = \frac{\exp(q_i k_j^T / \sqrt{d_k})}{\sum_{l=1}^{n-1} \exp(q_i k_l^T / \sqrt{d_k})}",
             entries(lambda i, j: kernel(i, j) / sum(kernel(i, r) for r in range(n - 1)))),
            ("keys for queries", r"@a_{ij} = \frac{\exp(q_j k_i^T / \sqrt{d_k})}{\sum_{l=1}^{n} \exp(q_i k_l^T / \sqrt{d_k})}",
             entries(lambda i, j: kernel(j, i) / sum(kernel(i, r) for r in range(n)))),
            ("no root", r"@a_{ij} = \frac{\exp(q_i k_j^T / d_k)}{\sum_{l=1}^{n} \exp(q_i k_l^T / \sqrt{d_k})}",
             entries(lambda i, j: kernel(i, j, 1 / d_k) / sum(kernel(i, r) for r in range(n)))),
        ),
        ({"a": "a"}, {"a": r"\alpha"}),
    ),
    Family(
        "output row",
        r"o_i = \sum_{j=1}^{n} @a_{ij} v_j",
        mm(B, V),
        (
            ("indices turned", r"o_i = \sum_{j=1}^{n} @a_{ji} v_j", mm(T(B), V)),
            ("wrong value", r"o_i = \sum_{j=1}^{n} @a_{ij} v_i", [[sum(B[i]) * v for v in V[i]] for i in range(n)]),
            ("bound n-1", r"o_i = \sum_{j=1}^{n-1} @a_{ij} v_j", mm([row[:-1] for row in B], V[:-1])),
        ),
        ({"a": "a"}, {"a": r"\alpha"}, {"a": "w"}),
    ),
    Family(
        "softmax",
        r"\text{softmax}(@x)_i = \frac{e^{@x_i}}{\sum_{j=1}^{n} e^{@x_j}}",
        y,
        (
            ("exp dropped above", r"\text{softmax}(@x)_i = \frac{@x_i}{\sum_{j=1}^{n} e^{@x_j}}", vec(lambda i: x[i] / S_)),
            ("exp dropped below", r"\text{softmax}(@x)_i = \frac{e^{@x_i}}{\sum_{j=1}^{n} @x_j}", vec(lambda i: E_[i] / sum(x))),
            ("wrong index below", r"\text{softmax}(@x)_i = \frac{e^{@x_i}}{\sum_{j=1}^{n} e^{@x_i}}", vec(lambda i: 1 / 4)),
            ("wrong index above", r"\text{softmax}(@x)_i = \frac{e^{@x_j}}{\sum_{j=1}^{n} e^{@x_j}}", None),
            ("bound n-1", r"\text{softmax}(@x)_i = \frac{e^{@x_i}}{\sum_{j=1}^{n-1} e^{@x_j}}", vec(lambda i: E_[i] / sum(E_[:-1]))),
            ("sign above", r"\text{softmax}(@x)_i = \frac{e^{-@x_i}}{\sum_{j=1}^{n} e^{@x_j}}", vec(lambda i: 1 / E_[i] / S_)),
            ("sign below", r"\text{softmax}(@x)_i = \frac{e^{@x_i}}{\sum_{j=1}^{n} e^{-@x_j}}", vec(lambda i: E_[i] / sum(1 / v for v in E_))),
            ("upside down", r"\text{softmax}(@x)_i = \frac{\sum_{j=1}^{n} e^{@x_j}}{e^{@x_i}}", vec(lambda i: S_ / E_[i])),
            ("product", r"\text{softmax}(@x)_i = e^{@x_i} \sum_{j=1}^{n} e^{@x_j}", vec(lambda i: S_ * E_[i])),
        ),
        ({"x": "x"}, {"x": "z"}, {"x": "s"}),
    ),
    Family(
        "Jacobian of softmax",
        r"\frac{\partial @y_i}{\partial x_j} = @y_i (\delta_{ij} - @y_j)",
        [[y[i] * ((i == j) - y[j]) for j in range(4)] for i in range(4)],
        (
            ("plus", r"\frac{\partial @y_i}{\partial x_j} = @y_i (\delta_{ij} + @y_j)", [[y[i] * ((i == j) + y[j]) for j in range(4)] for i in range(4)]),
            ("index", r"\frac{\partial @y_i}{\partial x_j} = @y_i (\delta_{ij} - @y_i)", [[y[i] * ((i == j) - y[i]) for j in range(4)] for i in range(4)]),
            ("1 for delta", r"\frac{\partial @y_i}{\partial x_j} = @y_i (@y_j - \delta_{ij})", [[-y[i] * ((i == j) - y[j]) for j in range(4)] for i in range(4)]),
        ),
        ({"y": "y"}, {"y": "p"}, {"y": "s"}),
    ),
    Family(
        "own derivative of softmax",
        r"\frac{\partial @y_i}{\partial x_i} = @y_i (1 - @y_i)",
        vec(lambda i: y[i] * (1 - y[i])),
        (
            ("index", r"\frac{\partial @y_i}{\partial x_i} = @y_i (1 - @y_j)", [[y[i] * (1 - y[j]) for j in range(4)] for i in range(4)]),
            ("plus", r"\frac{\partial @y_i}{\partial x_i} = @y_i (1 + @y_i)", vec(lambda i: y[i] * (1 + y[i]))),
            ("sign", r"\frac{\partial @y_i}{\partial x_i} = -@y_i (1 - @y_i)", vec(lambda i: -y[i] * (1 - y[i]))),
            ("turned", r"\frac{\partial @y_i}{\partial x_i} = @y_i (@y_i - 1)", vec(lambda i: -y[i] * (1 - y[i]))),
            ("square", r"\frac{\partial @y_i}{\partial x_i} = @y_i (1 - @y_i)^2", vec(lambda i: y[i] * (1 - y[i]) ** 2)),
            ("factor lost", r"\frac{\partial @y_i}{\partial x_i} = 1 - @y_i", vec(lambda i: 1 - y[i])),
        ),
        ({"y": "y"}, {"y": "p"}),
    ),
    Family(
        "feed-forward network",
        r"\text{FFN}(@x) = \max(0, @x W_1 + b_1) W_2 + b_2",
        ffn(),
        (
            ("min", r"\text{FFN}(@x) = \min(0, @x W_1 + b_1) W_2 + b_2", ffn(lambda v: min(0.0, v))),
            ("weights exchanged", r"\text{FFN}(@x) = \max(0, @x W_2 + b_1) W_1 + b_2", None),
            ("biases exchanged", r"\text{FFN}(@x) = \max(0, @x W_1 + b_2) W_2 + b_1", None),
            ("weight twice", r"\text{FFN}(@x) = \max(0, @x W_1 + b_1) W_1 + b_2", None),
            ("bias twice", r"\text{FFN}(@x) = \max(0, @x W_1 + b_1) W_2 + b_1", None),
            ("weight lost", r"\text{FFN}(@x) = \max(0, @x W_1 + b_1) + b_2", None),
            ("minus", r"\text{FFN}(@x) = \max(0, @x W_1 - b_1) W_2 + b_2", ffn(p=[-v for v in b1])),
            ("one for zero", r"\text{FFN}(@x) = \max(1, @x W_1 + b_1) W_2 + b_2", ffn(lambda v: max(1.0, v))),
            ("order", r"\text{FFN}(@x) = W_2 \max(0, @x W_1 + b_1) + b_2", None),
            ("order inside", r"\text{FFN}(@x) = \max(0, W_1 @x + b_1) W_2 + b_2", None),
        ),
        ({"x": "x"}, {"x": "X"}, {"x": "h"}),
    ),
    Family(
        "feed-forward network with GELU",
        r"\text{FFN}(@x) = \text{GELU}(@x W_1 + b_1) W_2 + b_2",
        ffn(gelu),
        (
            ("weights exchanged", r"\text{FFN}(@x) = \text{GELU}(@x W_2 + b_1) W_1 + b_2", None),
            ("bias outside", r"\text{FFN}(@x) = (\text{GELU}(@x W_1) + b_1) W_2 + b_2",
             plus(mm(plus(each(gelu, mm(X, W1)), b1), W2), b2)),
            ("biases exchanged", r"\text{FFN}(@x) = \text{GELU}(@x W_1 + b_2) W_2 + b_1", None),
        ),
        ({"x": "x"}, {"x": "X"}),
    ),
    Family(
        "activations",
        r"\text{ReLU}(@x) = \max(0, @x)",
        vec(lambda i: relu(x[i])),
        (
            ("min", r"\text{ReLU}(@x) = \min(0, @x)", vec(lambda i: min(0, x[i]))),
            ("sign", r"\text{ReLU}(@x) = \max(0, -@x)", vec(lambda i: relu(-x[i]))),
            ("one", r"\text{ReLU}(@x) = \max(1, @x)", vec(lambda i: max(1, x[i]))),
        ),
        ({"x": "x"}, {"x": "z"}),
    ),
    Family(
        "GELU",
        r"\text{GELU}(@x) = \frac{@x}{2} \left(1 + \text{erf}\left(\frac{@x}{\sqrt{2}}\right)\right)",
        vec(lambda i: gelu(x[i])),
        (
            ("no root", r"\text{GELU}(@x) = \frac{@x}{2} \left(1 + \text{erf}\left(\frac{@x}{2}\right)\right)",
             vec(lambda i: x[i] / 2 * (1 + math.erf(x[i] / 2)))),
            ("no half", r"\text{GELU}(@x) = @x \left(1 + \text{erf}\left(\frac{@x}{\sqrt{2}}\right)\right)", vec(lambda i: 2 * gelu(x[i]))),
            ("minus", r"\text{GELU}(@x) = \frac{@x}{2} \left(1 - \text{erf}\left(\frac{@x}{\sqrt{2}}\right)\right)",
             vec(lambda i: x[i] / 2 * (1 - math.erf(x[i] / math.sqrt(2))))),
            ("tanh for erf", r"\text{GELU}(@x) = \frac{@x}{2} \left(1 + \tanh\left(\frac{@x}{\sqrt{2}}\right)\right)",
             vec(lambda i: x[i] / 2 * (1 + math.tanh(x[i] / math.sqrt(2))))),
            ("x lost", r"\text{GELU}(@x) = \frac{1}{2} \left(1 + \text{erf}\left(\frac{@x}{\sqrt{2}}\right)\right)", vec(lambda i: phi(x[i]))),
        ),
        ({"x": "x"}, {"x": "z"}),
    ),
    Family(
        "GELU with tanh",
        r"\text{GELU}(@x) \approx 0.5 @x \left(1 + \tanh\left(\sqrt{2/\pi} (@x + 0.044715 @x^3)\right)\right)",
        vec(lambda i: 0.5 * x[i] * (1 + math.tanh(math.sqrt(2 / math.pi) * (x[i] + 0.044715 * x[i] ** 3)))),
        (
            ("exponent", r"\text{GELU}(@x) \approx 0.5 @x \left(1 + \tanh\left(\sqrt{2/\pi} (@x + 0.044715 @x^2)\right)\right)",
             vec(lambda i: 0.5 * x[i] * (1 + math.tanh(math.sqrt(2 / math.pi) * (x[i] + 0.044715 * x[i] ** 2))))),
            ("digits", r"\text{GELU}(@x) \approx 0.5 @x \left(1 + \tanh\left(\sqrt{2/\pi} (@x + 0.44715 @x^3)\right)\right)",
             vec(lambda i: 0.5 * x[i] * (1 + math.tanh(math.sqrt(2 / math.pi) * (x[i] + 0.44715 * x[i] ** 3))))),
            ("upside down", r"\text{GELU}(@x) \approx 0.5 @x \left(1 + \tanh\left(\sqrt{\pi/2} (@x + 0.044715 @x^3)\right)\right)",
             vec(lambda i: 0.5 * x[i] * (1 + math.tanh(math.sqrt(math.pi / 2) * (x[i] + 0.044715 * x[i] ** 3))))),
        ),
        ({"x": "x"}, {"x": "z"}),
    ),
    Family(
        "sigmoid",
        r"\text{sigmoid}(@x) = \frac{1}{1 + e^{-@x}}",
        vec(lambda i: sig(x[i])),
        (
            ("sign", r"\text{sigmoid}(@x) = \frac{1}{1 + e^{@x}}", vec(lambda i: sig(-x[i]))),
            ("minus", r"\text{sigmoid}(@x) = \frac{1}{1 - e^{-@x}}", vec(lambda i: 1 / (1 - math.exp(-x[i])))),
            ("exp dropped", r"\text{sigmoid}(@x) = \frac{1}{1 + @x}", vec(lambda i: 1 / (1 + x[i]))),
            ("upside down", r"\text{sigmoid}(@x) = 1 + e^{-@x}", vec(lambda i: 1 + math.exp(-x[i]))),
        ),
        ({"x": "x"}, {"x": "z"}),
    ),
    Family(
        "SiLU",
        r"\text{SiLU}(@x) = @x \, \sigma(@x)",
        vec(lambda i: x[i] * sig(x[i])),
        (
            ("plus", r"\text{SiLU}(@x) = @x + \sigma(@x)", vec(lambda i: x[i] + sig(x[i]))),
            ("x lost", r"\text{SiLU}(@x) = \sigma(@x)", vec(lambda i: sig(x[i]))),
            ("sign", r"\text{SiLU}(@x) = \frac{@x}{1 + e^{@x}}", vec(lambda i: x[i] * sig(-x[i]))),
            ("tanh", r"\text{SiLU}(@x) = @x \tanh(@x)", vec(lambda i: x[i] * math.tanh(x[i]))),
        ),
        ({"x": "x"}, {"x": "z"}),
    ),
    Family(
        "SwiGLU",
        r"\text{SwiGLU}(x) = (\text{SiLU}(x W_g) \odot x W_u) W_d",
        mm(each(lambda a, b: a * sig(a) * b, mm(X, Wg), mm(X, Wu)), W2),
        (
            ("order", r"\text{SwiGLU}(x) = W_d (\text{SiLU}(x W_g) \odot x W_u)", None),
            ("weights exchanged", r"\text{SwiGLU}(x) = (\text{SiLU}(x W_d) \odot x W_u) W_g", None),
            ("gate lost", r"\text{SwiGLU}(x) = (x W_g \odot x W_u) W_d", mm(each(lambda a, b: a * b, mm(X, Wg), mm(X, Wu)), W2)),
            ("sum for product", r"\text{SwiGLU}(x) = (\text{SiLU}(x W_g) + x W_u) W_d",
             mm(each(lambda a, b: a * sig(a) + b, mm(X, Wg), mm(X, Wu)), W2)),
        ),
    ),
    Family(
        "layer normalisation",
        r"\text{LayerNorm}(@x) = \gamma \odot \frac{@x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta",
        vec(lambda i: gamma[i] * (x[i] - mu) / ROOT + beta[i]),
        (
            ("plus", r"\text{LayerNorm}(@x) = \gamma \odot \frac{@x + \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta",
             vec(lambda i: gamma[i] * (x[i] + mu) / ROOT + beta[i])),
            ("no root", r"\text{LayerNorm}(@x) = \gamma \odot \frac{@x - \mu}{\sigma^2 + \epsilon} + \beta",
             vec(lambda i: gamma[i] * (x[i] - mu) / ROOT**2 + beta[i])),
            ("no square", r"\text{LayerNorm}(@x) = \gamma \odot \frac{@x - \mu}{\sqrt{\sigma + \epsilon}} + \beta",
             vec(lambda i: gamma[i] * (x[i] - mu) / math.sqrt(sigma + eps) + beta[i])),
            ("sigma^4", r"\text{LayerNorm}(@x) = \gamma \odot \frac{@x - \mu}{\sqrt{\sigma^4 + \epsilon}} + \beta",
             vec(lambda i: gamma[i] * (x[i] - mu) / math.sqrt(sigma**4 + eps) + beta[i])),
            ("epsilon subtracted", r"\text{LayerNorm}(@x) = \gamma \odot \frac{@x - \mu}{\sqrt{\sigma^2 - \epsilon}} + \beta",
             vec(lambda i: gamma[i] * (x[i] - mu) / math.sqrt(sigma**2 - eps) + beta[i])),
            ("gamma and beta exchanged", r"\text{LayerNorm}(@x) = \beta \odot \frac{@x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \gamma",
             vec(lambda i: beta[i] * (x[i] - mu) / ROOT + gamma[i])),
            ("turned", r"\text{LayerNorm}(@x) = \gamma \odot \frac{\mu - @x}{\sqrt{\sigma^2 + \epsilon}} + \beta",
             vec(lambda i: -gamma[i] * (x[i] - mu) / ROOT + beta[i])),
            ("beta subtracted", r"\text{LayerNorm}(@x) = \gamma \odot \frac{@x - \mu}{\sqrt{\sigma^2 + \epsilon}} - \beta",
             vec(lambda i: gamma[i] * (x[i] - mu) / ROOT - beta[i])),
            ("mean not subtracted", r"\text{LayerNorm}(@x) = \gamma \odot \frac{@x}{\sqrt{\sigma^2 + \epsilon}} + \beta",
             vec(lambda i: gamma[i] * x[i] / ROOT + beta[i])),
        ),
        ({"x": "x"}, {"x": "X"}),
    ),
    Family(
        "mean",
        r"\mu = \frac{1}{d} \sum_{i=1}^{d} @x_i",
        mu,
        (
            ("bound d-1", r"\mu = \frac{1}{d} \sum_{i=1}^{d-1} @x_i", sum(x[:-1]) / 4),
            ("square", r"\mu = \frac{1}{d} \sum_{i=1}^{d} @x_i^2", mean(lambda i: x[i] ** 2)),
            ("root", r"\mu = \frac{1}{\sqrt{d}} \sum_{i=1}^{d} @x_i", sum(x) / 2),
        ),
        ({"x": "x"}, {"x": "a"}),
    ),
    Family(
        "variance",
        r"\sigma^2 = \frac{1}{d} \sum_{i=1}^{d} (@x_i - \mu)^2",
        mean(lambda i: (x[i] - mu) ** 2),
        (
            ("no square", r"\sigma^2 = \frac{1}{d} \sum_{i=1}^{d} (@x_i - \mu)", mean(lambda i: x[i] - mu)),
            ("plus", r"\sigma^2 = \frac{1}{d} \sum_{i=1}^{d} (@x_i + \mu)^2", mean(lambda i: (x[i] + mu) ** 2)),
            ("root", r"\sigma^2 = \sqrt{\frac{1}{d} \sum_{i=1}^{d} (@x_i - \mu)^2}", math.sqrt(mean(lambda i: (x[i] - mu) ** 2))),
            ("fourth power", r"\sigma^2 = \frac{1}{d} \sum_{i=1}^{d} (@x_i - \mu)^4", mean(lambda i: (x[i] - mu) ** 4)),
            ("bound d-1", r"\sigma^2 = \frac{1}{d} \sum_{i=1}^{d-1} (@x_i - \mu)^2", sum((v - mu) ** 2 for v in x[:-1]) / 4),
            ("mean not subtracted", r"\sigma^2 = \frac{1}{d} \sum_{i=1}^{d} @x_i^2", mean(lambda i: x[i] ** 2)),
        ),
        ({"x": "x"}, {"x": "a"}),
    ),
    Family(
        "RMSNorm",
        r"\text{RMSNorm}(@x)_i = \frac{@x_i}{\sqrt{\frac{1}{d} \sum_{j=1}^{d} @x_j^2 + \epsilon}} \gamma_i",
        vec(lambda i: gamma[i] * x[i] / math.sqrt(mean(lambda j: x[j] ** 2) + eps)),
        (
            ("no square", r"\text{RMSNorm}(@x)_i = \frac{@x_i}{\sqrt{\frac{1}{d} \sum_{j=1}^{d} @x_j + \epsilon}} \gamma_i",
             vec(lambda i: gamma[i] * x[i] / math.sqrt(mu + eps))),
            ("no root", r"\text{RMSNorm}(@x)_i = \frac{@x_i}{\frac{1}{d} \sum_{j=1}^{d} @x_j^2 + \epsilon} \gamma_i",
             vec(lambda i: gamma[i] * x[i] / (mean(lambda j: x[j] ** 2) + eps))),
            ("no mean", r"\text{RMSNorm}(@x)_i = \frac{@x_i}{\sqrt{\sum_{j=1}^{d} @x_j^2 + \epsilon}} \gamma_i",
             vec(lambda i: gamma[i] * x[i] / math.sqrt(4 * mean(lambda j: x[j] ** 2) + eps))),
            ("upside down", r"\text{RMSNorm}(@x)_i = @x_i \sqrt{\frac{1}{d} \sum_{j=1}^{d} @x_j^2 + \epsilon} \, \gamma_i",
             vec(lambda i: gamma[i] * x[i] * math.sqrt(mean(lambda j: x[j] ** 2) + eps))),
        ),
        ({"x": "x"}, {"x": "a"}),
    ),
    Family(
        "positions, even",
        r"@P_{(pos, 2i)} = \sin\left(\frac{pos}{10000^{2i/d_{model}}}\right)",
        pe(lambda p, i: math.sin(p / 10000 ** (2 * i / W8))),
        (
            ("cos", r"@P_{(pos, 2i)} = \cos\left(\frac{pos}{10000^{2i/d_{model}}}\right)", pe(lambda p, i: math.cos(p / 10000 ** (2 * i / W8)))),
            ("base", r"@P_{(pos, 2i)} = \sin\left(\frac{pos}{1000^{2i/d_{model}}}\right)", pe(lambda p, i: math.sin(p / 1000 ** (2 * i / W8)))),
            ("i for 2i", r"@P_{(pos, 2i)} = \sin\left(\frac{pos}{10000^{i/d_{model}}}\right)", pe(lambda p, i: math.sin(p / 10000 ** (i / W8)))),
            ("exponent upside down", r"@P_{(pos, 2i)} = \sin\left(\frac{pos}{10000^{d_{model}/2i}}\right)",
             pe(lambda p, i: math.sin(p / 10000 ** (W8 / (2 * i or 1))))),
            ("product", r"@P_{(pos, 2i)} = \sin\left(pos \cdot 10000^{2i/d_{model}}\right)", pe(lambda p, i: math.sin(p * 10000 ** (2 * i / W8)))),
            ("2i+1", r"@P_{(pos, 2i)} = \sin\left(\frac{pos}{10000^{(2i+1)/d_{model}}}\right)", pe(lambda p, i: math.sin(p / 10000 ** ((2 * i + 1) / W8)))),
            ("exponent lost", r"@P_{(pos, 2i)} = \sin\left(\frac{pos}{10000}\right)", pe(lambda p, i: math.sin(p / 10000))),
        ),
        ({"P": "PE"}, {"P": "P"}, {"P": r"\text{PE}"}),
    ),
    Family(
        "positions, odd",
        r"@P_{(pos, 2i+1)} = \cos\left(\frac{pos}{10000^{2i/d_{model}}}\right)",
        pe(lambda p, i: math.cos(p / 10000 ** (2 * i / W8))),
        (
            ("sin", r"@P_{(pos, 2i+1)} = \sin\left(\frac{pos}{10000^{2i/d_{model}}}\right)", pe(lambda p, i: math.sin(p / 10000 ** (2 * i / W8)))),
            ("base", r"@P_{(pos, 2i+1)} = \cos\left(\frac{pos}{100000^{2i/d_{model}}}\right)", pe(lambda p, i: math.cos(p / 100000 ** (2 * i / W8)))),
            ("2i+1", r"@P_{(pos, 2i+1)} = \cos\left(\frac{pos}{10000^{(2i+1)/d_{model}}}\right)", pe(lambda p, i: math.cos(p / 10000 ** ((2 * i + 1) / W8)))),
        ),
        ({"P": "PE"}, {"P": "P"}),
    ),
    Family(
        "cross-entropy",
        r"\text{CE} = -\sum_{i} @t_i \log @p_i",
        -sum(a * math.log(b) for a, b in zip(t_, y, strict=True)),
        (
            ("sign", r"\text{CE} = \sum_{i} @t_i \log @p_i", sum(a * math.log(b) for a, b in zip(t_, y, strict=True))),
            ("no logarithm", r"\text{CE} = -\sum_{i} @t_i @p_i", -sum(a * b for a, b in zip(t_, y, strict=True))),
            ("one minus", r"\text{CE} = -\sum_{i} @t_i \log (1 - @p_i)", -sum(a * math.log(1 - b) for a, b in zip(t_, y, strict=True))),
        ),
        ({"t": "t", "p": "y"}, {"t": "y", "p": r"\hat{y}"}, {"t": "y", "p": "p"}),
    ),
    Family(
        "gradient of the cross-entropy",
        r"\frac{\partial L}{\partial z_i} = @p_i - @t_i",
        vec(lambda i: y[i] - t_[i]),
        (
            ("sign", r"\frac{\partial L}{\partial z_i} = @t_i - @p_i", vec(lambda i: t_[i] - y[i])),
            ("plus", r"\frac{\partial L}{\partial z_i} = @p_i + @t_i", vec(lambda i: t_[i] + y[i])),
        ),
        ({"t": "y", "p": r"\hat{y}"}, {"t": "y", "p": "p"}),
    ),
    Family(
        "log-sum-exp",
        r"\text{LSE}(@x) = \log \sum_{j=1}^{n} e^{@x_j}",
        math.log(S_),
        (
            ("sum of logarithms", r"\text{LSE}(@x) = \sum_{j=1}^{n} \log e^{@x_j}", sum(x)),
            ("exp dropped", r"\text{LSE}(@x) = \log \sum_{j=1}^{n} @x_j", math.log(sum(x))),
            ("log dropped", r"\text{LSE}(@x) = \sum_{j=1}^{n} e^{@x_j}", S_),
        ),
        ({"x": "x"}, {"x": "z"}),
    ),
    Family(
        "head width",
        r"@k = @m / @h",
        512 / 8,
        (
            ("product", r"@k = @m \cdot @h", 512 * 8),
            ("upside down", r"@k = @h / @m", 8 / 512),
            ("root", r"@k = \sqrt{@m} / @h", math.sqrt(512) / 8),
        ),
        ({"k": "d_k", "m": r"d_{\text{model}}", "h": "h"}, {"k": r"d_{\text{head}}", "m": "d", "h": "h"}),
    ),
    Family(
        "multi-head attention",
        r"\text{MultiHead}(Q, K, V) = \text{Concat}(\text{head}_1, \dots, \text{head}_h) W^O",
        1.0,
        (
            ("order", r"\text{MultiHead}(Q, K, V) = W^O \text{Concat}(\text{head}_1, \dots, \text{head}_h)", None),
            ("transposed", r"\text{MultiHead}(Q, K, V) = \text{Concat}(\text{head}_1, \dots, \text{head}_h) {W^O}^T", None),
        ),
    ),
    Family(
        "a head",
        r"\text{head}_i = \text{Attention}(Q W_i^Q, K W_i^K, V W_i^V)",
        1.0,
        (
            ("order", r"\text{head}_i = \text{Attention}(W_i^Q Q, K W_i^K, V W_i^V)", None),
            ("weights exchanged", r"\text{head}_i = \text{Attention}(Q W_i^K, K W_i^Q, V W_i^V)", 2.0),
            ("weight twice", r"\text{head}_i = \text{Attention}(Q W_i^Q, K W_i^K, V W_i^K)", None),
        ),
    ),
)  # fmt: skip
