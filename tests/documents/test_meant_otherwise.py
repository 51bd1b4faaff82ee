r"""What authors write that is no mistake, beside the like that is one.

Definition   each text has a relation that would be false if it were an assertion about the letters and numbers beside
             it; with one number or sign changed, or said as an assertion, it is wrong
"""

import pytest

from derivations.documents.checking import check_text
from tests.documents.said import ALARMS, in_a_word

MEANT = [
    r"The slope is $G = 0.723$, predicted $= 0.9996$, ratio $= 0.72$.",  # each of something else
    r"The range is $6 \times 10^{-8} \sim 65504$.",
    r"It takes $2 \cdot 32 \cdot 4096 \cdot 128\text{k} \cdot 2 \text{ bytes} \approx 64~\text{GiB}$.",  # k is 1024
    r"We measured $a = 0.507 ≈ 1/2$.",
    "With a = 3 and b = 4.\n\n```\na·b = 0  →  90 degrees\n```",
    r"- all sets: m ≤ 500, d_h = 64" "\n- another adapter: effective_rank = min(m, d_h) < 20",
    r"With $\alpha = 95$ percent. Eğer $1 - \alpha = 0.2$ ise, the weights shrink.",
    r"Where $k = 1$ and $n - k = 0$. Suppose $n = 4$.",
    r"Let $\sigma = 1$ first. Here $\sigma^2 = 2$, so $\sigma^4 = 4$.",
    r"This gives $$\implies 1 = 0$$ a contradiction.",
    "```\n(1, 576, 1024)  ← 576 = (336/14)² patches\n```",
    r"$\beta = 0.05$" "\n\n" r"$$\text{OR} = e^{0.05} = 1.051$$",
    "The largest is 163−1=4095, and 2361 ≈ 10108 states.",  # the exponents were lost
    "Best of 128 ≈ 0.607, the other ≈ 0.598.",
    r"core-dist$(B) = 0.2$ where $B = 1.2$; it is the $9/9 = 100$th one.",
    "```python\n# Two 3×3 = 18 parameters\n```",
    "The error mod 2π = 0.0 exactly, at L=192/s=25 with s = 3.",
    r"The errors are $e^i$, and $\sum_{i=1}^{10} e^i = 31.9$.",
    "```python\ntrue_probs = [0.1, 0.5, 0.3, 0.8, 0.2]\n```",
    r"The product rule is $$d(A \cdot B) = (dA) \cdot B + A \cdot (dB)$$",
    r"A minimum: $x^{k+1} = x^k$.",
    r"With $q = q_0 + i q_1$: $$(q_0 + i q_1)(c + i s) = (q_0 c - q_1 s) + i (q_1 c + q_0 s)$$",
    r"$$|a - b| / (a + b) = (b - a) / (a + b)$$",
    r"$U = I \cdot I \cdot I = I$",
    r"$m_t = g_t$ and $V_t = 1$, so $$\eta_t = r \cdot m_t / \sqrt{V_t} = r \cdot g_t$$",
    r"They are $G = \operatorname{tr}(A^\top B)$, $F = c \operatorname{tr}(A^\top B)$, $S = \operatorname{tr}(A B)$.",
    r"The mean is $\bar{K}_a = \frac{1}{n}\sum_c x_a \cdot x_c$.",
    "### Variance\n\n" r"$$V(X) = \frac{b^2 + a b + a^2}{3} - (\frac{a + b}{2})^2 = \frac{(b - a)^2}{12}$$",
    r"A normal distribution: $p(y; \mu) = \frac{1}{\sqrt{2\pi}} \exp(-\frac{(y - \mu)^2}{2})$",
    r"The patches: $N = \frac{H W}{P^2}$",
    r"The cross-entropy: $L = -\sum_k t_k logy_k$",
    r"We maximise the likelihood $L(\theta) = \log p(d \mid x, \theta)$ of a language model.",
    r"The attention: $y_t = \sum_{s=1}^{t} m_{s,t} \alpha_s V_s$",
    r"Layer normalisation of pixels: $x_{norm} = \frac{x_{pixel} / 255 - \mu}{\sigma}$",
    r"It has $+6\approx4$ KB.",  # a label
    "| choice | 6 layers / d=512 |\n|---|---|\n| big | d=1024 |",
    "resulting dimensions: 1x2 · 2x3 = 1x3, and (3 × 2) @ (2 × 3) = (3 × 3)",
    "```python\n# K cache: [32, 12, 2048, 64] × 2 bytes = 48 MB per layer\n```",
    "```python\nh1 = X @ W1  # (32, 784) @ (784, 128) = (32, 128)\nW2 = g()  # (128, 64)\nh2 = h1 @ W2\n```",
    "```python\n# Derivative of x^n = n * x^(n-1)\n```",
    "Leaky ReLU: $f(x) = \\max(0.1x, x)$",
    "```text\nrank_w= 3 rank_delta= 2\n```",
    "Per unit = compute 0.053 mm² + buffer 0.039 mm² = 0.092 mm².",
    "    p = 7.389 / 12.861 = 0.575 (57.5%)",
    "read A[i] (4 bytes) + write C[i] (4 bytes) = 8 bytes",
    "It needs 1000/16=63 blocks.",
    "Two of 3 * 3 = 5 * 5",  # kernels
    r"ORPO: $L_{OR} = -\log \sigma(\log \frac{p(w|x)}{1-p(w|x)} - \log \frac{p(l|x)}{1-p(l|x)})$",
    r"An LSTM: $c^{\langle t \rangle} = \Gamma_f * c^{\langle t-1 \rangle} + \Gamma_u * \tilde{c}^{\langle t \rangle}$",
    r"$$A B = C$$ $$D = A B$$ $$A B + A C$$ $$A B - I$$ $$A C = A C$$ $$(B + C) A = B A + C A$$ and $A^\top$",
    "每 token 激活 22B,所以 22B ≈ 8/128 × 235B 加上各层 attention。",
    r"$$r = -\sqrt{3a^2 - (\sqrt{2}a)^2} + \sqrt{3a^2} = -a + \sqrt{3}a = a(\sqrt{3} - 1)$$",
    r"$$Y = u - (I - A - B)^{-1} m = u - [(I - A - B) + A + B] (I - A - B)^{-1} m$$",
    r"Usually: $$opt^n(P)=opt^{n+1}(P)$$ eventually.",
    r"$L = \sum_{m = n \geq 2}^{\infty} a_m x^m$ with $a_n$ for each $n$.",
    r"$i = (n - 3) / 2 = (n - 1) / 2 - 1 = [n / 2] - 1$",
    r"$$\mu_k = \frac{1}{k} \sum_{j=1}^k x_j = \frac{1}{k} (x_k + \sum_{j=1}^{k-1} x_j) = "
    r"\frac{1}{k} (x_k + (k-1) \mu_{k-1}) = \mu_{k-1} + \frac{1}{k} (x_k - \mu_{k-1})$$",
    r"The weights: $$\text{softmax}(S) = \text{softmax}(\begin{bmatrix} 0.07 & 0.06 \\ 0.06 & 0.25 \end{bmatrix})$$",
    r"$$m = b m_0 + \frac{1}{S} \sum_{s=1}^S \frac{\partial C}{\partial w_{n_k n_l}}$$ for each layer $l$ and $a_l$.",
    "- `expm1(x)`\n  - $= e^x - 1$\n- `softplus(x)`\n  - $= \\log(e^x + 1)$",
    r"The mean squared error is $\text{MSE} = \frac{1}{nm} \sum_{i=1}^{n}\sum_{j=1}^{m} (X_{ij} - \hat{X}_{ij})^2$.",
    r"First $\bar{P} = 1$." + 20 * "\n\nMore of it.\n\n" + r"Hence $\max(\bar{P}) < 1$.",
    "Here $Y = X W$.\n\nAgain $Y = X W$, and $Y' = X W^\\top$.\n\nThe product $Y = W X$ has many terms.",
    r"Let $x \in \mathbb{R}^2$. The features are $\phi(x) = [1, x_1, x_2, x_1^2]$.",
    r"$V_0 = [0, 0, 0, 0, 1]$ and $V_1 = [0, 0, 0, 1, 1]$, so $V_1(5) = V_0(5) = 1$.",
    r"$$\begin{bmatrix} e^{0.5773502} \\ 1 \end{bmatrix} = \begin{bmatrix} e^{0.57735026} \\ 1 \end{bmatrix}$$",
    r"The states $x_t$. Then $L = \sum_{i=1}^N \log q(z \mid s_{1:t}, a_{1:t})$.",
    r"$$P = \frac{T_c + 1}{\sum_{t \in V} (T_t + 1)} = \frac{T_c + 1}{\sum_{t \in V} T_t + B'}$$",
    "The test says to reject if T > c:\n\n3.5 > 4.6\n\nConclusion: not to reject.",
    "```\nStep 4: 237 × 6 = 1,442  ← ERROR! Should be 1,422\nPath 4: 237 × 486 = 115,200  ← ERROR in this path\n```",
    "```python\nq_new, k_new = f(x)\nattn = softmax(q_new @ k_cache.T)\n```",
    r"There are $224 \times 224 /16\times 16=196$ patches.",
    r"| FFN in billions | $3 \times 3 \times 7168 \times 18432 \approx 1.2$ |",
    r"So $n = \frac{\log(2/\delta)}{2t^2} \approx 18{,}445$ with $t = 0.01$ and $\delta = 0.05$.",
    r"$$PE(k=3, 2i=2) = \sin\Big(\frac{3}{100^{2/4}}\Big)$$",
    r"SwiGLU: $$\text{SwiGLU}(x) = \text{Swish}(x W_1) \otimes (x W_2)$$",
    r"$$x'_{i}=\frac{1}{\sigma_{z_{i}}}\left(\frac{x_{i}}{\alpha}-\mu_{z_{i}}\right)$$",
    r"Diffusion: $\bar\alpha_t=\prod_{i=1}^t (1-\beta_i)$",
    r"The hinge loss squared: $\ell_\text{sq-hinge}(y, f) = \max(0, 1 - yf)^2$",
    r"$\text{softmax}(x_i) = \frac{\exp(x_i - \max(x))}{\sum_j \exp(x_j - \max(x))}$",
    r"The weights: $\text{attn} = \mathrm{softmax}\left(\frac{QK^T}{\sqrt{d_k}} + \mathrm{Mask}\right)$",
    r"$C_{ij} = \sum_k A_{ik} B_{kj}$, so $\frac{\partial L}{\partial A_{ik}} = \sum_j dC_{ij} B_{kj}$",
    r"A symmetric distance: $d(x, y) = d(y, x)$, a period: $f(x + T) = f(x)$",
    "-----\n\n**----- Start of picture text -----**<br>\n8 + 32 = 56<br>\n**----- End of picture text -----**<br>",
]

DOUBTFUL = [  # differs from what is usual, which may be meant: nothing else says that both sides are meant to be equal
    r"In base ten $\log(0.99) = -0.0043$.",
    "A conv (256→256 = 590K params), and 192 × 64 = 6,912 of them.",
    r"$$\frac{d}{dx_k}x_ia_{ij}x_j = a_{kj}x_j + x_ia_{ik}$$",  # summed over indices that occur twice
    r"At a fixed point $x^{k} y = x y$.",
    r"The score: $w_{ij} = \text{softmax}(q_i \cdot k_j)$",
    r"With $\beta = 0.05$ the time is $1/(1 - \beta) = 1000$.",
    r"The pooled size is $\frac{11 - 2 + 2 * 0}{2} + 1 = 5$.",
    "```\nQ, K, V: (B, n, d_k) or (B, n, d_v)\nA = softmax(S): (B, n, n)\nO = A @ V: (B, n, d_v)\n```",
    r"$$L = \sum_i a_i y_i (x_i + b) + c = \sum_i a_i y_i x_i + c$$",  # the sum of a y may be 0
    r"With $L = w^2 - b \sum_i a_i y_i$ we get $\frac{\partial L}{\partial b} = \sum_i a_i y_i = 0$.",
    "It overflows: $e^{12}=162754$.",  # cut off
    r"With $h = \frac{1}{C} \sum_{i=1}^C v_{w_i}$ the gradient is "
    r"$\frac{\partial L}{\partial v_{w_i}} = \frac{1}{C} \frac{\partial L}{\partial h}$.",
    r"Let $Q \in \mathbb{R}^{n \times c}$ and $K \in \mathbb{R}^{m \times c}$. Then $S = Q K$.",  # by shapes alone
]

MISTAKEN = [
    r"The slope is $G = 0.723$, which is $= 0.9996$.",
    r"It takes $2 \cdot 32 \cdot 4096 \cdot 128\text{k} \cdot 2 \text{ bytes} \approx 74~\text{GiB}$.",
    r"We measured $a = 0.6 ≈ 1/2$.",
    r"With $a = 3$ and $b = 4$ the product is $a b = 13$.",
    r"Take $U = 0.9$. So $|U| > 1$.",
    "There are 575 = (336/14)² patches.",
    r"$$\text{OR} = e^{0.05} = 1.151$$",
    "The largest is 16³ − 1 = 4094.",
    r"It is the $9/9 = 100$.",
    r"A layer has $3 \times 4 = 18$ of them.",
    r"The sum is $\sum_{i=1}^{3} e^{2} = 31.9$.",
    "attention_weights = softmax(scores) = [0.1, 0.5, 0.3, 0.8]",
    r"$$(a + b)(c + s) = (a c - b s) + (b c + a s)$$",
    r"The sigmoid is $\sigma(z) = \frac{1}{1 + e^{z}}$.",
    r"The variance is $\sigma^2 = \frac{1}{n} \sum_i (x_i - \mu)$.",
    "The first is 1000/16=64 blocks.",
    r"There are $224 \times 224 /16\times 16=186$ patches.",
    "It is p = 7.389 / 12.861 = 0.675.",
    r"In base ten $\log(0.99) = -0.043$.",
    r"The sum $4 \times (768 \times 77 + 768 \times 77) = 243456$",
    "A layer takes 2 × 28 × 8192 × 16 × 128 × 2 = 896 MB.",
    r"$\text{softmax}(x_i) = \frac{\exp(x_j)}{\sum_j \exp(x_j)}$",
    r"$$L = -\log p(x \mid z) + \log p(z) = -(\log p(x \mid z) + \log p(z))$$",
    r"$$P = \frac{e^{r(x)}}{e^{r(x)} + e^{r(y)}} = \frac{1}{1 + e^{r(x) - r(y)}}$$",
    r"$$L = \sum_{(x, y) \in D} (h(x) - y)^2 = \sum_{(x, y) \in D} (h(x)^2 + 2 h(x) y + y^2)$$",
    r"So $(A B)^\top = A^\top B^\top$.",
    "Therefore 3.5 > 4.6.",
    "每 token 激活 22B,所以 22B ≈ 8/128 × 235B。",
    r"$$r = -\sqrt{3a^2 - (\sqrt{2}a)^2} + \sqrt{3a^2} = a + \sqrt{3}a = a(\sqrt{3} + 1)$$",
    "It overflows: $e^{12}=162753$.",
    r"$$\begin{bmatrix} e^{0.5773512} \\ 1 \end{bmatrix} = \begin{bmatrix} e^{0.57735026} \\ 1 \end{bmatrix}$$",
    r"With $L = w^2 - b \sum_i a_i y_i$ we get $\frac{\partial L}{\partial b} = \sum_i a_i y_i$.",
    "```\nStep 4: 237 × 6 = 1,442\nStep 5: the sum\n```",
    r"The pooled size is $\frac{11 - 2 + 2 * 0}{2} + 1 = 7$.",
    r"The weight is $a = \text{softmax}(q_i k_j)$.",
]


def _alarms(text: str) -> list[str]:
    return [c.text for c in check_text(text, "markdown").claims if in_a_word(c.finding) in ALARMS]


@pytest.mark.parametrize("text", MEANT)
def test_what_is_meant_otherwise_is_no_mistake(text: str) -> None:
    assert _alarms(text) == []


@pytest.mark.parametrize("text", DOUBTFUL)
def test_what_no_second_witness_confirms_is_not_wrong(text: str) -> None:
    assert "wrong" not in [claim.finding.verdict for claim in check_text(text, "markdown").claims]


@pytest.mark.parametrize("text", MISTAKEN)
def test_a_mistake_like_it_is_found(text: str) -> None:
    assert _alarms(text)


def test_sides_that_are_proved_equal_are_no_other_formula() -> None:
    text = "### Variance\n\n" r"$$V = \frac{b^2 + a b + a^2}{3} - (\frac{a + b}{2})^2 = \frac{(b - a)^2}{12}$$"
    assert [claim.finding.verdict for claim in check_text(text, "markdown").claims][-1] == "proved"


def test_a_usual_derivative_is_not_blamed_for_a_slip_in_the_function() -> None:
    text = r"""The sigmoid: $$\sigma(z) = \frac{1}{1 + e^{z}}$$

Its derivative: $$\sigma'(z) = \sigma(z) (1 - \sigma(z))$$"""
    assert [claim.finding.verdict for claim in check_text(text, "markdown").claims] == ["wrong", "holds"]
