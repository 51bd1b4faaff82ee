"""Functions whose docstrings use the same letters for different things."""


def attention(q: object, k: object, v: object) -> None:
    r"""Attention of one head.

    .. math:: \mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V

    where :math:`Q \in \mathbb{R}^{L \times d_k}`, :math:`K \in \mathbb{R}^{S \times d_k}` and
    :math:`V \in \mathbb{R}^{S \times d_v}`.
    """


def multi_head(q: object, k: object, v: object) -> None:
    r"""All heads.

    .. math:: \mathrm{head}_i = \mathrm{Attention}(Q W_i^Q, K W_i^K, V W_i^V)

    with :math:`W_i^Q, W_i^K \in \mathbb{R}^{d_{model} \times d_k}`, :math:`W_i^V \in \mathbb{R}^{d_{model} \times d_v}`.
    """


class Adam:
    r"""Here v is a moment, and no row of values.

    .. math::
        v_t &= \beta_2 v_{t-1} + (1 - \beta_2) g_t^2 \\
        \hat{v}_t &= v_t / (1 - \beta_2^t)
    """


class Perplexity:
    """The width is ``e = 512`` in `FeedForward`; here $e^{2.5} = 12.18$."""
