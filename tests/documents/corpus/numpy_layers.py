r"""Layers in NumPy.

Throughout, ``e`` is the width of the embedding, ``n`` the number of query heads, ``g`` that of key heads, and ``p`` the
size of one head, :math:`e = n p`. Matrices stand on the right, :math:`W_q \in \mathbb{R}^{e \times n p}`.
"""


def values(x, W_v):
    r"""Project :math:`X \in \mathbb{R}^{s \times e}`: :math:`V = X W_v \in \mathbb{R}^{s \times g p}`."""


def root_mean_square(x, eps):
    r"""Return the norm.

    .. math:: \mathrm{RMS}(x) = \sqrt{\frac{1}{e} \sum_{i=1}^{e} x_i^2 + \epsilon}
    """


def rotary(x, m, theta):
    r"""Turn every pair, as rotary embeddings do.

    .. math:: x'_{2i} = x_{2i} \cos(m\theta_i) - x_{2i+1} \sin(m\theta_i)

    .. math:: x'_{2i+1} = x_{2i} \sin(m\theta_i) + x_{2i+1} \cos(m\theta_i)
    """


def adam(w, g, m, v, t, lr, b1=0.9, b2=0.999):
    """One step of Adam.

    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g**2
    m_hat = m / (1 - b1**t)
    """


def swiglu(x, W_1, W_2, W_3):
    r"""Gate what is projected.

    .. math:: \mathrm{SwiGLU}(x) = (\mathrm{SiLU}(x W_1) \odot x W_2) W_3
    """


def gelu(x):
    r"""Come near :math:`\mathrm{GELU}(x) \approx x \sigma(1.702 x)`; 2**10 = 1024 points are compared."""
