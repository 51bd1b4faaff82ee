"""Expressions with the LaTeX and the text that they must print as, written by hand; shared by the tests of printing."""

from sympy import (
    Add,
    And,
    Derivative,
    Equivalent,
    Expr,
    Function,
    Ge,
    Implies,
    KroneckerDelta,
    Lambda,
    Le,
    Limit,
    Lt,
    Max,
    Mul,
    Piecewise,
    Rational,
    Sum,
    cos,
    erf,
    exp,
    log,
    oo,
    sin,
    sqrt,
)

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, Explicit, Tabulated
from derivations.language.arrays.expression import array, mask_array, token_array
from derivations.language.arrays.functions import (
    CausalMask,
    Hadamard,
    Lookup,
    MaskConjunction,
    RowMean,
    gelu,
    named,
    relu,
    row_softmax,
    square,
    uninterpreted_function,
)
from derivations.language.arrays.scalars import Expectation, Iverson, Rounded, Variance
from derivations.language.arrays.shapes import Blocks
from derivations.symbols import (
    batch,
    d_ff,
    d_k,
    d_model,
    d_v,
    epsilon,
    h,
    i,
    index,
    j,
    k,
    m,
    n,
    pos,
    scalar,
    vocab,
)

a, g, c = scalar("a"), scalar("g"), index("c")
x, y = array("x", n), array("y", n)
X, W, b_1, sigma2 = array("X", n, d_model), array("W", d_model, d_ff), array("b_1", d_ff), array("sigma2", n)
Q, K, V = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v)
S, M = array("S", n, m), mask_array("M", n, m)
W_Q, W_O = array("W_Q", h, d_model, d_k), array("W_O", Blocks(h, d_v), d_model)
E, tokens = array("E", vocab, d_model), token_array("tokens", n)
head, wide = array("head", h, n, d_v), array("W_Q", d_model, Blocks(h, d_k))
sigma = Function("sigma", integer=True)
_v = scalar("v")


def _total(of: Expr) -> Expr:
    return Sum(of, (j, 0, n - 1))


_73 = Rational(73, 100)

SCALARS = [
    (y[i] * (1 - y[i]), r"y_{i} (1 - y_{i})", "y_i (1 - y_i)"),
    (y[i] * (KroneckerDelta(i, k) - y[k]), r"y_{i} (\delta_{ik} - y_{k})", "y_i (delta_ik - y_k)"),
    ((n - 1) * exp(-g), r"(n - 1) e^{-g}", "(n - 1) e^(-g)"),
    (exp(-g) / (1 + exp(-g)) ** 2, r"\frac{e^{-g}}{(1 + e^{-g})^{2}}", "e^(-g) / (1 + e^(-g))^2"),
    (exp(x[i]) / _total(exp(x[j])), r"\frac{e^{x_{i}}}{\sum_{j=1}^{n} e^{x_{j}}}", "e^(x_i) / (sum_{j=1}^n e^(x_j))"),
    (x[i] - _total(x[j]) / n, r"x_{i} - \frac{1}{n} \sum_{j=1}^{n} x_{j}", "x_i - (1 / n) sum_{j=1}^n x_j"),
    (_total(x[j]) * _total(y[j]), r"\left(\sum_{j=1}^{n} x_{j}\right) \sum_{j=1}^{n} y_{j}", None),
    (Derivative(y[i], x[k]), r"\frac{\partial y_{i}}{\partial x_{k}}", "dy_i/dx_k"),
    (Derivative(y[i], x[k], x[j]), r"\frac{\partial^{2} y_{i}}{\partial x_{k} \partial x_{j}}", None),
    (Derivative(exp(a) * a, a), r"\frac{d}{da} (a e^{a})", None),
    (Expectation(Q[i, j] * K[k, j]), r"\mathbb{E}[Q_{ij} K_{kj}]", "E[Q_ij K_kj]"),
    (Variance(x[i]) / 2, r"\frac{\mathrm{Var}(x_{i})}{2}", "Var(x_i) / 2"),
    (Rounded(exp(2), 4), r"\mathrm{round}_{4}(e^{2})", "round_4(e^2)"),
    (Max(0, a), r"\max(0, a)", "max(0, a)"),
    (Limit(exp(-g), g, oo), r"\lim_{g \to \infty} e^{-g}", "lim_{g -> oo} e^(-g)"),
    (Lambda(a, a**2), r"a \mapsto a^{2}", "a -> a^2"),
    (1 / sqrt(d_k), r"\frac{1}{\sqrt{d_{k}}}", "1 / sqrt(d_k)"),
    (sigma2[i] ** 2, r"(\sigma_{i}^{2})^{2}", "(sigma_i^2)^2"),
    (sqrt(sigma2[i] + epsilon), r"\sqrt{\sigma_{i}^{2} + \epsilon}", "sqrt(sigma_i^2 + epsilon)"),
    (4 * batch * n * d_model * d_ff, r"4 B n d_{\mathrm{model}} d_{\mathrm{ff}}", "4 B n d_model d_ff"),
    (
        2 * d_model * d_ff + d_ff + 4 * d_model**2,
        r"4 d_{\mathrm{model}}^{2} + 2 d_{\mathrm{model}} d_{\mathrm{ff}} + d_{\mathrm{ff}}",
        "4 d_model^2 + 2 d_model d_ff + d_ff",
    ),
    (n * (n + 1) / 2, r"\frac{n (n + 1)}{2}", "n (n + 1) / 2"),
    (-(a + g) * x[i], r"-x_{i} (a + g)", "-x_i (a + g)"),
    (
        a * (1 + erf(a / sqrt(2))) / 2,
        r"\frac{a \left(1 + \mathrm{erf}\left(\frac{a}{\sqrt{2}}\right)\right)}{2}",
        "a (1 + erf(a / sqrt(2))) / 2",
    ),
    (exp(_total(x[j])), r"\exp\left(\sum_{j=1}^{n} x_{j}\right)", "exp(sum_{j=1}^n x_j)"),
    (exp(-(a**2) / 2), r"e^{-a^{2} / 2}", "e^(-a^2 / 2)"),
    (log(1 + exp(a)), r"\log(1 + e^{a})", "log(1 + e^a)"),
    (cos(a) ** 2 + sin(a) ** 2, r"\cos^{2}(a) + \sin^{2}(a)", "cos^2(a) + sin^2(a)"),
    (
        Mul(_73, Add(1, -_73, evaluate=False), evaluate=False),
        r"\frac{73 \left(1 - \frac{73}{100}\right)}{100}",
        "73 (1 - 73 / 100) / 100",
    ),
    (And(Ge(n, 2), Lt(y[i], 1)), r"n \ge 2 \wedge y_{i} < 1", "n >= 2 and y_i < 1"),
    (Implies(Ge(n, 2), Lt(y[i], 1)), r"n \ge 2 \implies y_{i} < 1", "n >= 2 => y_i < 1"),
    (Equivalent(Lt(y[i], 1), Ge(n, 2)), r"n \ge 2 \iff y_{i} < 1", None),
    (
        Piecewise((1, a > 0), (0, True)),
        r"\begin{cases} 1 & \text{if } a > 0 \\ 0 & \text{otherwise} \end{cases}",
        "{1 if a > 0; 0 otherwise}",
    ),
]

COUNTING = [  # indices count from 0 in the expression, from 1 in print
    (x[0], "x_{1}", "x_1"),
    (X[i, j + 1], "X_{i,j + 1}", "X_{i,j + 1}"),
    (X[n - 1 - i, j], "X_{n - i + 1,j}", None),
    (_total(x[j]), r"\sum_{j=1}^{n} x_{j}", "sum_{j=1}^n x_j"),
    (_total(j), r"\sum_{j=1}^{n} (j - 1)", None),
    (W_O[(i, c), j], "W_{(i - 1) d_{v} + c,j}^{O}", "W_{(i - 1) d_v + c,j}^O"),
    (x[64 * i + j], "x_{64 (i - 1) + j}", "x_{64 (i - 1) + j}"),
    (j, "j - 1", "j - 1"),
    (j + 1, "j", "j"),
    (exp(j + 1), "e^{j}", "e^j"),
    (a * j, "(j - 1) a", "(j - 1) a"),
    (KroneckerDelta(i, 0), r"\delta_{i1}", "delta_i1"),
    (KroneckerDelta(i, k + 1), r"\delta_{i,k + 1}", None),
    (Iverson(Le(j, i)), r"[j \le i]", "[j <= i]"),
    (Iverson(Lt(j, n)), r"[j \le n]", "[j <= n]"),
    (M[i, j], "M_{ij}", "M_ij"),
    (x[sigma(j)], r"x_{\sigma(j)}", "x_{sigma(j)}"),
    (_total(x[sigma(j)]), r"\sum_{j=1}^{n} x_{\sigma(j)}", None),
    (
        sin(pos / 10000 ** (2 * i / d_model)),
        r"\sin\left(\frac{\mathrm{pos}}{10000^{2 i / d_{\mathrm{model}}}}\right)",
        None,
    ),
    (X[pos, 2 * i + 1], r"X_{\mathrm{pos},2 i + 1}", "X_{pos,2 i + 1}"),
    (E[tokens[i], j], r"E_{\mathrm{tokens}_{i},j}", "E_{tokens_i,j}"),  # the vocabulary counts from 0
]

ARRAYS = [  # LaTeX, text, and LaTeX with column vectors
    (Q @ K.T / sqrt(d_k), r"\frac{Q K^{\top}}{\sqrt{d_{k}}}", "Q K^T / sqrt(d_k)", r"\frac{K^{\top} Q}{\sqrt{d_{k}}}"),
    (
        (Q @ K.T / sqrt(d_k)) @ V,
        r"\frac{Q K^{\top}}{\sqrt{d_{k}}} V",
        "(Q K^T / sqrt(d_k)) V",
        r"V \frac{K^{\top} Q}{\sqrt{d_{k}}}",
    ),
    ((Q @ K.T).T, r"(Q K^{\top})^{\top}", "(Q K^T)^T", r"(K^{\top} Q)^{\top}"),
    (X @ (W @ W.T), r"X (W W^{\top})", "X (W W^T)", r"(W^{\top} W) X"),
    (X @ W @ W.T, r"X W W^{\top}", "X W W^T", r"W^{\top} W X"),
    (X @ W + b_1, r"X W + b_{1}", "X W + b_1", r"W X + b_{1}"),
    (X - (X + X), "X - (X + X)", "X - (X + X)", "X - (X + X)"),
    (X * (1 - a), "(1 - a) X", "(1 - a) X", "(1 - a) X"),
    (X * Rational(-1, 2), r"-\frac{X}{2}", "-X / 2", r"-\frac{X}{2}"),
    (row_softmax(S), r"\mathrm{softmax}(S)", "softmax(S)", r"\mathrm{softmax}(S)"),
    (row_softmax(S, M), r"\mathrm{softmax}(S; M)", "softmax(S; M)", r"\mathrm{softmax}(S; M)"),
    (relu(X @ W), r"\mathrm{ReLU}(X W)", "ReLU(X W)", r"\mathrm{ReLU}(W X)"),
    (gelu(X), r"\mathrm{GELU}(X)", "GELU(X)", r"\mathrm{GELU}(X)"),
    (square(X), r"X \odot X", "X o X", r"X \odot X"),
    (named("swish", _v / (1 + exp(-_v)), _v)(X), r"\frac{X}{1 + e^{-X}}", "X / (1 + e^(-X))", r"\frac{X}{1 + e^{-X}}"),
    (uninterpreted_function("phi")(X @ W), r"\phi(X W)", "phi(X W)", r"\phi(W X)"),
    (
        uninterpreted_function("activation")(X) @ W,
        r"\mathrm{activation}(X) W",
        None,
        r"W \, \mathrm{activation}(X)",
    ),
    (Hadamard(X, X) @ W, r"(X \odot X) W", "(X o X) W", r"W (X \odot X)"),
    (
        MaskConjunction(CausalMask(n), mask_array("D", n, n)),
        r"\mathrm{Causal}(n) \wedge D",
        "Causal(n) and D",
        None,
    ),
    (RowMean(X), r"\mathrm{rowmean}(X)", "rowmean(X)", None),
    (
        Concatenate(head[i], i, h),
        r"\mathrm{Concat}(\mathrm{head}_{1}, \ldots, \mathrm{head}_{h})",
        "Concat(head_1, ..., head_h)",
        None,
    ),
    (
        Concatenate(array("head", 2, n, d_v)[i], i, 2),
        r"\mathrm{Concat}(\mathrm{head}_{1}, \mathrm{head}_{2})",
        "Concat(head_1, head_2)",
        None,
    ),
    (W_Q[i], "W_{i}^{Q}", "W_i^Q", "W_{i}^{Q}"),
    (W_Q[i].T, r"(W_{i}^{Q})^{\top}", "(W_i^Q)^T", r"(W_{i}^{Q})^{\top}"),
    (W_Q[i][j], "w_{i,j}^{Q}", "w_{i,j}^Q", "w_{i,j}^{Q}"),
    (X[i], "x_{i}", "x_i", "x_{i}"),
    (X[0] @ X[i + 1], r"x_{1} \cdot x_{i + 1}", None, r"x_{1} \cdot x_{i + 1}"),
    ((X @ W)[i], "(X W)_{i}", "(X W)_i", "(W X)_{i}"),
    (X[i] @ W, "x_{i} W", "x_i W", "W x_{i}"),
    (W.T @ X[i], "x_{i} W", "x_i W", "W x_{i}"),
    (W @ array("b_1", d_ff), "W b_{1}", "W b_1", r"W^{\top} b_{1}"),
    (ColumnBlock(wide, i), "[W^{Q}]_{i}", "[W^Q]_i", "[W^{Q}]_{i}"),
    (
        Lookup(E, tokens) * sqrt(d_model),
        r"\sqrt{d_{\mathrm{model}}} E_{\mathrm{tokens}}",
        "sqrt(d_model) E_tokens",
        None,
    ),
    (
        Explicit([[a, 1], [0, g]]),
        r"\begin{bmatrix} a & 1 \\ 0 & g \end{bmatrix}",
        "[a, 1; 0, g]",
        r"\begin{bmatrix} a & 0 \\ 1 & g \end{bmatrix}",
    ),
    (
        Tabulated(Lambda((i, k), KroneckerDelta(i, k) * y[i]), n, n),
        r"\mathrm{diag}(y)",
        "diag(y)",
        r"\mathrm{diag}(y)",
    ),
    (Tabulated(Lambda((i, k), y[i] * x[k]), n, n), r"y x^{\top}", "y x^T", r"x y^{\top}"),
    (
        Tabulated(Lambda((i, k), KroneckerDelta(i, k) * y[i] ** 2), n, n),
        r"[y_{i}^{2} \delta_{ik}]_{i,k}",
        "[y_i^2 delta_ik]_{i,k}",
        r"[y_{i}^{2} \delta_{ik}]_{k,i}",
    ),
    (array("attention.W_Q", h, d_model, d_k)[i], r"W_{i}^{Q\,(\text{attention})}", None, None),
    (array("layers.0.feed_forward.W_1", d_model, d_ff), r"W_{1}^{(\text{layers}\,1\,\text{feed forward})}", None, None),
]
