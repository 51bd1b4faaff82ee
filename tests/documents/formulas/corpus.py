"""Formulas as textbooks, papers and READMEs write them: all of them must be read to their ends."""

LATEX = r"""
\mathrm{d}Q = \mathrm{d}S\, K / \sqrt{d_k}
\mathrm{d}W_{2} = H^{\top} \mathrm{d}Y, \quad \mathrm{d}b_{2} = \mathbf{1}^{\top} \mathrm{d}Y
dX = dY W^T
\int_{0}^{1} g(t) \, \mathrm{d}t = 1
\frac{\mathrm{d}f(t)}{\mathrm{d}t} = f(t)
\binom{n}{2} = \frac{n (n - 1)}{2}
\left. \frac{\partial f}{\partial x} \right|_{x = 0} = 1
\alpha \in \mathbb{R}_{+}
s \in \mathbb{R}_{\geq 0}^{n}
u \perp v
A \setminus B
i \in {1, 2, \ldots, h}
\overline{e^{i \theta}} = e^{-i \theta}
r_m = \sin(\omega m) \; (m = 0, \ldots, n - 1)
\cos (m - n) \theta = \cos (n - m) \theta
\mathbf{a}\_{:2} = b
y = W x + b
Y = X W^\top + \mathbf{1} b^\top
\hat{y} = \operatorname{softmax}(W h + b)
p_i = \frac{\exp(z_i)}{\sum_{j=1}^{C} \exp(z_j)}
p_i = \frac{\exp(z_i / \tau)}{\sum_j \exp(z_j / \tau)}
\mathrm{softmax}(\mathbf{z})_i = \frac{e^{z_i}}{\sum_{k=1}^{K} e^{z_k}}, \quad i = 1, \dots, K
\text{softmax}(x)_i = \frac{e^{x_i - \max_j x_j}}{\sum_{k} e^{x_k - \max_j x_j}}
\frac{\partial p_i}{\partial z_j} = p_i (\delta_{ij} - p_j)
J = \operatorname{diag}(p) - p p^\top
\frac{\partial L}{\partial W} = X^T \frac{\partial L}{\partial Y}
\frac{\partial}{\partial x} f(x) = f'(x)
\frac{d y}{d x} = 2x
\frac{\mathrm{d} y}{\mathrm{d} x} = y (1 - y)
\nabla_\theta \mathcal{L}(\theta) = \frac{1}{N} \sum_{n=1}^{N} \nabla_\theta \ell_n(\theta)
\mathcal{L} = -\sum_{c=1}^{C} t_c \log p_c
\mathcal{L}_{\text{CE}} = - \frac{1}{T} \sum_{t=1}^{T} \log p_\theta(x_t \mid x_{<t})
\mathrm{PPL} = \exp\left(-\frac{1}{T}\sum_{t=1}^{T} \log p(x_t \mid x_{<t})\right)
A = \text{softmax}\!\left(\frac{Q K^{\top}}{\sqrt{d_k}} + M\right)
\mathrm{Attention}(\mathbf{Q}, \mathbf{K}) = \mathrm{softmax}\Big(\frac{\mathbf{Q}\mathbf{K}^\top}{\sqrt{d}}\Big)V
\operatorname{Attn}(Q,K,V) = \operatorname{softmax}(Q K^T / \sqrt{d_{head}}) V
a_{ij} = \frac{\exp(q_i^\top k_j / \sqrt{d_k})}{\sum_{l=1}^{n} \exp(q_i^\top k_l / \sqrt{d_k})}
o_i = \sum_{j=1}^n a_{ij} v_j
o_i = \sum_{j \le i} a_{ij} v_j
M_{ij} = \begin{cases} 0 & \text{if } j \le i \\ -\infty & \text{otherwise} \end{cases}
M_{ij} = \begin{cases} 0, & j \leq i, \\ -\infty, & j > i. \end{cases}
\left\{ \begin{array}{ll} x & x > 0 \\ 0 & x \le 0 \end{array} \right.
\text{head}_i = \text{Attention}(Q W^Q_i, K W^K_i, V W^V_i), \quad i = 1, \ldots, h
\mathrm{MultiHead}(X) = [\text{head}_1; \ldots; \text{head}_h] W^O
\text{Concat}(H_1, \dots, H_h) \in \mathbb{R}^{n \times h d_v}
Q, K \in \mathbb{R}^{n \times d_k}, V \in \mathbb{R}^{n \times d_v}
W_Q, W_K \in \mathbb{R}^{d \times d_k}
X \in \mathbb{R}^{B \times n \times d}
x_t \in \mathbb{R}^d, \; t = 1, \dots, T
\in \mathbb{R}^{n \times d}
W^{[l]} \in \mathbb{R}^{n^{[l]} \times n^{[l-1]}}
h^{(l)} = \phi\left(W^{(l)} h^{(l-1)} + b^{(l)}\right)
h^{(l+1)} = h^{(l)} + F(h^{(l)})
\text{FFN}(x) = \max(0, x W_1 + b_1) W_2 + b_2
\mathrm{FFN}(x) = \mathrm{GELU}(x W_1) W_2
\text{SwiGLU}(x) = (\text{SiLU}(x W) \odot x V) W_2
\operatorname{ReLU}(x) = \max\{0, x\}
\mathrm{GELU}(x) = \frac{x}{2}\left(1 + \operatorname{erf}\left(\frac{x}{\sqrt{2}}\right)\right)
\text{GELU}(x) \approx 0.5x\left(1 + \tanh\left[\sqrt{2/\pi}\left(x + 0.044715x^3\right)\right]\right)
\sigma(x) = \frac{1}{1 + e^{-x}}
\sigma'(x) = \sigma(x)(1 - \sigma(x))
\tanh x = \frac{e^{x} - e^{-x}}{e^{x} + e^{-x}}
\mu = \frac{1}{d}\sum_{i=1}^{d} x_i, \qquad \sigma^2 = \frac{1}{d}\sum_{i=1}^{d} (x_i - \mu)^2
\text{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta
\mathrm{RMSNorm}(x)_i = \frac{x_i}{\sqrt{\frac{1}{d}\sum_{j=1}^d x_j^2 + \varepsilon}} g_i
\bar{x} = \frac{1}{n} \sum_i x_i
x' = x + \text{Sublayer}(\text{LayerNorm}(x))
PE_{(pos,2i)} = \sin(pos/10000^{2i/d_{\text{model}}})
\text{PE}(pos, 2i+1) = \cos\!\left(\frac{pos}{10000^{2i/d_{model}}}\right)
\omega_i = 10000^{-2i/d}, \quad i = 0, 1, \dots, d/2 - 1
\begin{pmatrix} \cos m\theta & -\sin m\theta \\ \sin m\theta & \cos m\theta \end{pmatrix}
R_m^\top R_n = R_{n-m}
\langle R_m q, R_n k \rangle = \langle q, R_{n-m} k \rangle
\mathbb{E}[q \cdot k] = 0, \quad \operatorname{Var}(q \cdot k) = d_k
\mathrm{Var}\left(\sum_{i=1}^{d} q_i k_i\right) = \sum_{i=1}^{d} \mathrm{Var}(q_i k_i) = d
\mathbb{E}_{x \sim p}[f(x)] = \sum_x p(x) f(x)
q_i \sim \mathcal{N}(0, 1)
x \sim \mathcal{N}(\mu, \sigma^2 I)
D_{\text{KL}}(p \,\|\, q) = \sum_x p(x) \log \frac{p(x)}{q(x)}
H(p, q) = -\sum_x p(x) \log q(x)
\|x\|_2 = \sqrt{\sum_i x_i^2}
p_{i, 2j} &= \sin\left(\frac{i}{10000^{2j/d}}\right)
f_{\{q,k\}}(x_m, m) = R_{\Theta,m} W_{\{q,k\}} x_m
\langle f_q(x_m, m), f_k(x_n, n) \rangle = g(x_m, x_n, m - n)
\text{Memory}_{\text{KV}} = 2 \times n_\text{layers} \times d_\text{head} \times 2\ \text{bytes}
\underset{j}{softmax}\Bigg(\frac{Q K^\top}{\sqrt{d_k}}\Bigg)V
W_{1...h}^{Q}\in\mathbb{R}^{D\times d_k}
q_i\sim\mathcal{N}(0,\sigma^2),k_i\sim\mathcal{N}(0,\sigma^2)
\begin{cases} \sin(i) & \text{if}\hspace{3mm} i \text{ mod } 2=0\\ \cos(i) & \text{otherwise}\\ \end{cases}
\Theta = \{\theta_i = 10000^{-2(i-1)/d}, i \in [1, 2, \dots, d/2]\}
2 \cdot 4096 \cdot 4096 \approx 33.6\text{M}
\text{s.t. } \sum_j a_j = 1
\mathbb{1}[i=j]
\lVert A B \rVert \le \lVert A \rVert \, \lVert B \rVert
|x + y| \le |x| + |y|
\cos(\theta) = \frac{q \cdot k}{\|q\| \|k\|}
\lfloor n / 2 \rfloor + \lceil n / 2 \rceil = n
\theta_{t+1} = \theta_t - \eta \nabla L(\theta_t)
\theta \leftarrow \theta - \eta \frac{\hat{m}_t}{\sqrt{\hat{v}_t} + \epsilon}
m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t
\hat{m}_t = m_t / (1 - \beta_1^t)
\hat{y} = \arg\max_c p_c
y^* = \operatorname*{argmax}_y p(y \mid x)
\min_{\theta} \sum_{n=1}^{N} \mathcal{L}(f(x_n; \theta), y_n)
d_k = d_v = d_{\text{model}} / h = 64
d_k = \frac{d_{\text{model}}}{h} = \frac{512}{8} = 64
4 \cdot 512^2 + 2 \cdot 512 \cdot 2048 = 3{,}145{,}728
12 \times 12288^2 \times 96 \approx 1.74 \times 10^{11}
N \approx 12 n_{\text{layer}} d_{\text{model}}^2
C \approx 6ND
N = 175\,\text{B}
175{,}000{,}000{,}000
22\,026.47
e^{10} \approx 22{,}026
3.7\ \text{billion}
0.5 \times 80\,\text{GB} = 40\,\text{GB}
\approx 33\%
1e-5
\epsilon = 10^{-5}
O(n^2 d)
\mathcal{O}(n^2 \cdot d + n \cdot d^2)
\binom{}{}
2 \times b \times s \times d_{\text{model}} \times d_{\text{ff}}
\underbrace{Q}_{n \times d_k} \underbrace{K^\top}_{d_k \times n} = \underbrace{S}_{n \times n}
\underbrace{x}_{1 \times d} \xrightarrow{W_1} \underbrace{h}_{1 \times d_{ff}} \xrightarrow[\text{ReLU}]{W_2} y
\overbrace{a + b}^{\text{two terms}} + c
f: \mathbb{R}^n \to \mathbb{R}^m
x \mapsto \max(0, x)
512 \rightarrow 2048 \rightarrow 512
x = \begin{bmatrix} x_1 & x_2 & \cdots & x_n \end{bmatrix}
X = \begin{bmatrix} — x_1 — \\ — x_2 — \end{bmatrix}
X = \begin{bmatrix} \leftarrow x_1 \rightarrow \\ \vdots \\ \leftarrow x_n \rightarrow \end{bmatrix}
\begin{bmatrix} 1&2 \\ 3&4 \end{bmatrix} \begin{bmatrix} 5 \\ 6 \end{bmatrix} = \begin{pmatrix} 17 \\ 39 \end{pmatrix}
\left[\begin{array}{cc} a & b \\ c & d \end{array}\right]
A = \left( \begin{matrix} 1 & 0 \\ 0 & 1 \end{matrix} \right)
\begin{vmatrix} a & b \\ c & d \end{vmatrix} = ad - bc
\{x \mid x > 0\}
\{1, 2, \dots, n\}
S = \{ i : a_i > 0 \}
[0, 1)
i \in \{1, \dots, h\}
\forall i: x_i \ge 0
y_i = x_i^2 \quad \text{for all } i
y = x \text{ if } x > 0
\sum_{i \ne j} w_{ij} = \sum_{1 \le i < j \le n} 2 w_{ij}
\prod_{t=1}^{T} p(x_t \mid x_1, \dots, x_{t-1})
\int_0^1 f(x) \, dx
\lim_{n \to \infty} \frac{1}{n} = 0
\sum_{k=0}^{\infty} r^k = \frac{1}{1-r}
1 + 2 + \dots + n = \frac{n(n+1)}{2}
n!
{n \over}
\begin{aligned} Q &= X W_Q \\ K &= X W_K \\ V &= X W_V \end{aligned}
\begin{align} L &= a + b \\ &= c \nonumber \\ &\approx 0.3 \tag{4} \end{align}
\begin{align*} y &= a \\ &\quad + b \end{align*}
\begin{split} z &= x \\ &= y \end{split}
\begin{equation} \label{eq:one} E = m c^2 \end{equation}
\textcolor{red}{a} + \color{blue} b = c
{\color{red} x} y
\boxed{y = x W}
\mathbf{W}_1 \mathbf{x} + \mathbf{b}_1
\boldsymbol{\theta}^{\text{new}} = \boldsymbol{\theta}^{\text{old}} - \eta \boldsymbol{g}
\tilde{A} = D^{-1/2} A D^{-1/2}
(A B)^T = B^T A^T
(W_i^Q)^\top
(Q K^T)_{ij} = \sum_l Q_{il} K_{jl}
\|W\|_F^2 = \operatorname{tr}(W^T W)
W_{ij} \sim U\left(-\frac{1}{\sqrt{n}}, \frac{1}{\sqrt{n}}\right)
W \sim \mathcal{N}\left(0, \tfrac{2}{n_{in}}\right)
\text{Var}(W) = \frac{2}{n_{\text{in}} + n_{\text{out}}}
x \in [0, 1]^n
a = b \implies c = d
a \Leftrightarrow b
a \propto b, \; a \ll b
x \pm y
\pm 1
x \neq y
A \cup B \subset C
\overset{\text{def}}{=} x
f(x) \stackrel{\text{def}}{=} x^2
x := y
y \triangleq x
K' = \begin{bmatrix} K \\ k_t \end{bmatrix}
Attention(Q, K, V) = softmax(\frac{QK^T}{\sqrt{d_k}})V
Gradient = y (1 - y)
softmax(QK^T)V
\text{注意力}(Q, K, V) = \text{softmax}(QK^\top) V
d_{模型} = 512
\text{参数量} = 4 d^2
x + y ， z
g(x) = \log(1 + e^x)
\log_2 n
\ln x
\log p(x)
\sin^2 x + \cos^2 x = 1
2^{h}
\frac12
\frac{1}{2}x^2
\sqrt[3]{x}
\sqrt 2
x^{y^z}
a_1, a_2, \dots, a_n
2 \cdot 2 \cdot n_{layers} \cdot d_{model} \cdot \text{bytes}
\frac{\partial^2 f}{\partial x^2} = 2
\partial L / \partial x
\text{logits} = h E^T
\tau = \frac{L}{\Delta t}
x_{\max} = \max_i x_i
x_{t,i}^{(l)}
s = \frac{1}{\sqrt{d_k}} \approx 0.125
a \cdot b = \sum_i a_i b_i
""".strip().splitlines()

REFUSED = frozenset((r"\binom{}{}", r"{n \over}", r"\forall i: x_i \ge 0"))  # listed above to keep them in sight

PLAIN = """
params = 4 × d_model² + 2 × d_model × d_ff
FLOPs ≈ 2 × batch × seq_len × d_model × d_ff
C ≈ 6 × N × D
M = 2 × 2 × n_layers × seq_len × d_model
QKᵀ / √d_k
softmax(QKᵀ/√dₖ) V
Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V
head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V)
h = W2 · relu(W1 · x + b1) + b2
W1: [512, 2048]
x: (batch, seq, d_model)
[batch, seq, d_model] → [batch, heads, seq, d_k]
512→2048→512
输入 → 线性层 → 输出
参数量 = 4 × d²
計算量 ≈ 2 × n × d
隠れ層の次元 = 2048
d_model=512
d_k = d_model / h = 512 / 8 = 64
e^10 ≈ 22,026
4.8 億
2万
175B
1.5M parameters
3.7 billion
20%
x ∈ ℝ^{n×d}
x ∈ R^d
yᵢ = exp(xᵢ) / Σⱼ exp(xⱼ)
y_i = exp(x_i) / sum_j exp(x_j)
σ(x) = 1 / (1 + e^(-x))
μ = (1/d) ∑_{i=1}^{d} x_i
LayerNorm(x + Sublayer(x))
PE(pos, 2i) = sin(pos / 10000^(2i / d_model))
O(n² · d)
p(y | x) = 0.3
|x| ≤ 1
‖x‖₂ = 1
W_q ∈ R^{d_model × d_k}
θ ← θ − η ∇L
n(n+1)/2
n*(n+1)/2 = 55
2^10 = 1024
x != y
a <= b
[0.1, 0.0, 0.7, 0.2]
Matrix[i, j]
number of heads = 8
(L × d_k) · (d_k × L) = (L × L)
6 + 8 + 2 = 16
0.73 × (1 − 0.73) ≈ 0.197
W₁x + b₁
x W₁ᵀ
a ⊙ b
""".strip().splitlines()

CODE = """
x @ w1 + b1
hidden = torch.relu(x @ w1 + b1)
scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)
weights = F.softmax(scores, dim=-1)
out = weights @ v
y = np.exp(x) / np.exp(x).sum()
y = x ** 2 + 3 * x - 1e-5
q, k, v = x @ wq, x @ wk, x @ wv
x.T @ y
x[:, i, 1:]
X[i, j]
d_k = d_model // n_heads
n_params = 12 * n_layer * d_model ** 2
self.fc2(F.gelu(self.fc1(x)))
x.mean(-1, keepdim=True)
mask[i][j] == 0
[1, 10, 512]
d_model=512
0.5 * x * (1 + tanh(0.79788 * x))
f(x, *, y) if x
""".strip().splitlines()

CODE_REFUSED = frozenset(("f(x, *, y) if x",))
