r"""Formulas that are right, many of them other than the usual ones: none may be called wrong.

Written anew in the style of papers, textbooks, READMEs; `python` marks those that are code.
"""

__all__ = ["VARIANTS"]

VARIANTS = tuple(
    line
    for line in r"""
\text{Attention}(Q, K, V) = \text{softmax}(Q K^T) V
\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) V
\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{1}{\sqrt{d_h}} Q K^\top\right) V
\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{Q K^T}{\sqrt{d_k}} + M\right) V
\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{Q K^T + M}{\sqrt{d_k}}\right) V
\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{Q K^T + B}{\sqrt{d_k}}\right) V
\text{Attention}(Q, K, V) = \text{softmax}\left(Q K^T / \sqrt{d_k} + m \cdot B\right) V
\text{Attention}(Q, K, V) = \text{softmax}(\tau Q K^T) V
\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{Q K^T}{\tau}\right) V
\text{Attention}(q, K, V) = \text{softmax}\left(\frac{q K^T}{\sqrt{d_k}}\right) V
\text{LinearAttention}(Q, K, V) = \phi(Q) (\phi(K)^T V)
\text{Attention}(Q, K, V) = \phi(Q) \phi(K)^T V
\text{Attention}(Q, K, V) = \frac{1}{n} Q K^T V
A = \text{softmax}\left(\frac{Q K^T}{\sqrt{d_k}}\right)
A = \text{softmax}\left(\frac{Q_i K_i^T}{\sqrt{d_k}}\right)
Z = A V
O = V \, \text{softmax}\left(\frac{K^T Q}{\sqrt{d_k}}\right)
S = Q K^T
S = \frac{Q K^T}{\sqrt{d_k}}
\text{CrossAttention}(X, Y) = \text{softmax}\left(\frac{X W_Q (Y W_K)^T}{\sqrt{d_k}}\right) Y W_V
\text{SelfAttention}(X) = \text{softmax}\left(\frac{X W_Q W_K^T X^T}{\sqrt{d_k}}\right) X W_V
\text{head}_i = \text{Attention}(X W_i^Q, X W_i^K, X W_i^V)
\text{head}_i = \text{softmax}\left(\frac{Q_i K_i^T}{\sqrt{d_k}}\right) V_i
\text{MultiHead}(Q, K, V) = \text{Concat}(\text{head}_1, \dots, \text{head}_h) W^O
\text{MultiHead}(X) = \text{Concat}(h_1, \dots, h_H) W_O + b_O
\text{MultiHead}(X) = \sum_{i=1}^{h} \text{head}_i W_i^O
\text{MQA}(X) = \text{Concat}(\text{head}_1, \dots, \text{head}_h) W_O
a_{ij} = \frac{\exp(q_i^T k_j / \sqrt{d})}{\sum_{l=1}^{n} \exp(q_i^T k_l / \sqrt{d})}
a_{ij} = \frac{\exp(e_{ij})}{\sum_{k=1}^{n} \exp(e_{ik})}
\alpha_{ij} = \frac{\exp(q_i \cdot k_j)}{\sum_{j'} \exp(q_i \cdot k_{j'})}
e_{ij} = v^T \tanh(W s_i + U h_j)
e_{ij} = \frac{q_i \cdot k_j}{\|q_i\| \|k_j\|}
c_i = \sum_{j=1}^{n} \alpha_{ij} h_j
o_i = \sum_{j \le i} a_{ij} v_j
\text{softmax}(z)_i = \frac{e^{z_i - c}}{\sum_{j} e^{z_j - c}}
\text{softmax}(z)_i = \frac{\exp(z_i - \max_k z_k)}{\sum_j \exp(z_j - \max_k z_k)}
\text{softmax}(z / T)_i = \frac{e^{z_i / T}}{\sum_j e^{z_j / T}}
p_i = \frac{e^{-\beta E_i}}{\sum_j e^{-\beta E_j}}
p_i = \frac{e^{x_i}}{1 + \sum_j e^{x_j}}
p_i = \frac{x_i}{\sum_j x_j}
p_i = \frac{w_i e^{x_i}}{\sum_j w_j e^{x_j}}
\frac{\partial y_i}{\partial x_j} = y_i (\delta_{ij} - y_j)
\frac{\partial y_i}{\partial x_j} = \delta_{ij} y_i - y_i y_j
\frac{\partial p_i}{\partial z_k} = -p_i p_k
\frac{\partial y_i}{\partial x_i} = y_i - y_i^2
\frac{\partial y_i}{\partial x_j} = W_{ij}
\frac{\partial y_i}{\partial x_i} = 1 - y_i^2
\frac{\partial y_i}{\partial x_i} = y_i
\frac{\partial L}{\partial x_j} = y_j (g_j - \sum_i g_i y_i)
\frac{\partial L}{\partial w} = \frac{2}{n} \sum_i (p_i - t_i) x_i
\frac{\partial L}{\partial z} = p - y
\frac{\partial L}{\partial z_i} = p_i - y_i
\frac{d \sigma}{d x} = \sigma(x) (1 - \sigma(x))
J = \text{diag}(p) - p p^T
\text{FFN}(x) = \max(0, x W_1 + b_1) W_2 + b_2
\text{FFN}(x) = W_2 \max(0, W_1 x + b_1) + b_2
\text{FFN}(x) = \text{ReLU}(x W_1) W_2
\text{FFN}(x) = \sigma(x W_1 + b_1) W_2 + b_2
\text{FFN}(x) = W_2 \, \phi(W_1 x)
\text{FFN}(x) = \text{ReLU}(x W_1)^2 W_2
\text{FFN}(x) = x + \text{GELU}(x W_1 + b_1) W_2 + b_2
\text{MLP}(x) = W_2 \, \text{GELU}(W_1 \, \text{LN}(x) + b_1) + b_2
\text{SwiGLU}(x) = \text{Swish}(x W) \otimes (x V)
\text{FFN}_{\text{SwiGLU}}(x, W, V, W_2) = (\text{Swish}_1(x W) \otimes x V) W_2
\text{GEGLU}(x) = (\text{GELU}(x W_g) \odot x W_u) W_d
\text{ReLU}(x) = \max(0, x)
\text{ReLU}(x) = \max(x, 0)
\text{LeakyReLU}(x) = \max(\alpha x, x)
\text{GELU}(x) = x \Phi(x)
\text{GELU}(x) \approx x \sigma(1.702 x)
\text{GELU}(x) = 0.5 x (1 + \text{erf}(x / \sqrt{2}))
\text{SiLU}(x) = \frac{x}{1 + e^{-x}}
\text{Swish}(x) = x \sigma(\beta x)
\sigma(x) = \frac{1}{1 + e^{-x}}
\sigma(x) = \frac{e^x}{1 + e^x}
\tanh(x) = \frac{e^x - e^{-x}}{e^x + e^{-x}}
\text{softplus}(x) = \log(1 + e^x)
\text{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta
\text{LayerNorm}(x) = \gamma \frac{x - \mu}{\sigma} + \beta
\text{LayerNorm}(x) = \frac{x - \mu}{\sigma + \epsilon} \gamma + \beta
\text{LN}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}}
\hat{x}_i = \frac{x_i - \mu_B}{\sqrt{\sigma_B^2 + \epsilon}}
y_i = \gamma \hat{x}_i + \beta
\mu = \frac{1}{n} \sum_{i=1}^{n} x_i
\mu_i = \frac{1}{d} \sum_{j=1}^{d} x_{ij}
\mu_t = \beta_1 \mu_{t-1} + (1 - \beta_1) g_t
\sigma^2 = \frac{1}{d} \sum_{i=1}^{d} (x_i - \mu)^2
\sigma^2 = \frac{1}{d - 1} \sum_{i=1}^{d} (x_i - \mu)^2
\sigma^2 = \frac{1}{d} \sum_{i=1}^{d} x_i^2 - \mu^2
\sigma^2 = \frac{2}{n_{in} + n_{out}}
\text{RMSNorm}(x) = \frac{x}{\text{RMS}(x)} \odot \gamma
\text{RMS}(x) = \sqrt{\frac{1}{d} \sum_{i=1}^{d} x_i^2}
\text{RMS}(x) = \sqrt{\frac{1}{d} \sum_{i=1}^{d} x_i^2 + \epsilon}
PE_{(pos, 2i)} = \sin\left(\frac{pos}{10000^{2i/d}}\right)
PE(pos, 2i) = \sin(pos \cdot 10000^{-2i/d})
PE_{pos, 2i+1} = \cos(pos / 10000^{2i/d_{model}})
p_{i, 2j} = \sin\left(\frac{i}{10000^{2j/d}}\right)
p_{i, 2j+1} = \cos\left(\frac{i}{10000^{2j/d}}\right)
PE_{(pos, 2i)} = \sin(\omega_i pos)
\theta_i = 10000^{-2i/d}
\theta_i = 500000^{-2i/d}
\theta_i = 10000^{-2(i-1)/d}
x'_1 = x_1 \cos\theta - x_2 \sin\theta
x'_2 = x_1 \sin\theta + x_2 \cos\theta
L = -\sum_i t_i \log p_i
L = -\log p_y
L = -\frac{1}{N} \sum_{i=1}^{N} \log p_i
H(p, q) = -\sum_x p(x) \log q(x)
\ell(\theta) = \sum_i y_i \log p_i
L = -\sum_i ((1 - \epsilon) y_i + \epsilon / K) \log p_i
L = -(y \log p + (1 - y) \log(1 - p))
\text{LSE}(x) = m + \log \sum_i e^{x_i - m}
\text{LSE}(x) = \log \sum_{j} e^{x_j}
H(q, p)=-\sum_x q(x) \log p(x)
\text{GLU}(x) = (x W) \odot \sigma(x V)
\text{GLU}(x) = \sigma(x W) \odot (x V)
\text{RMSNorm}(v) = \frac{v}{\sqrt{\frac{1}{d} \sum_{i=1}^{d} v_i^2 + \epsilon}} \cdot \gamma
\text{FFN}(x) = \text{SwiGLU}(x) W_2
d_k = d_{\text{model}} / h
d_v = d_{\text{model}} / h
d_{\text{head}} = 128
x = x + \text{Attention}(\text{LN}(x))
y = x W + b
y = W x + b
y = x A^T + b
h_t = \tanh(W_h h_{t-1} + W_x x_t + b)
m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t
q_i = W_Q x_i
o_i = \sum_{j=1}^{n} w_j v_j
Z = \text{Concat}(\text{head}_1, \dots, \text{head}_h)
PE_{pos, 2i} = \sin\left(\frac{pos}{10000^{2i/d_k}}\right) \; (pos = 0, \ldots, n - 1)
""".strip().splitlines()
    if line
)
