r"""Layers of a small Transformer.

Every layer takes ``x`` of shape ``(batch, seq_len, d_model)``.
"""


class MultiHeadAttention:
    r"""Multi-head attention.

    $$\text{Attention}(Q, K, V) = \underset{seq}{\text{softmax}}\Bigg(\frac{Q K^\top}{\sqrt{d_k}}\Bigg)V$$

    with :math:`d_k = d_{model} / h`. For ``d_model = 512`` and ``n_heads = 8`` each head has ``512 / 8 = 64`` features.
    """


class FeedForward:
    r"""Position-wise feed-forward network.

    .. math::

        FFN(x) = \max(0, x W_1 + b_1) W_2 + b_2

    where :math:`W_1 \in \mathbb{R}^{d_{model} \times d_{ff}}` and :math:`W_2 \in \mathbb{R}^{d_{ff} \times d_{model}}`.

    With a gate: :math:`FFN_{SwiGLU}(x) = (\text{Swish}(x W_1) \otimes x V) W_2`.
    """


class LayerNorm:
    r"""Layer normalisation over the last axis.

    $$\text{LN}(x) = \gamma \frac{x - \mathbb{E}[x]}{\sqrt{Var[x] + \epsilon}} + \beta$$

    Parameters: ``2 * d_model``; for ``d_model = 768`` this is ``2 * 768 = 1536``.
    """


def sinusoid(position, d_model):
    r"""Return the encoding of a position.

    $$PE_{p, 2i} = \sin\Bigg(\frac{p}{10000^{\frac{2i}{d_{model}}}}\Bigg) \qquad
      PE_{p, 2i + 1} = \cos\Bigg(\frac{p}{10000^{\frac{2i}{d_{model}}}}\Bigg)$$
    """
