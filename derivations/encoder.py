r"""The encoder: a stack of layers, each of self-attention and a feed-forward network, with post-norm residuals."""

from derivations.feed_forward import feed_forward
from derivations.language.expression import array, mask_array
from derivations.language.functions import Named, relu
from derivations.language.layer import Equations, Layer, part
from derivations.layer_norm import layer_norm
from derivations.multi_head import multi_head_attention
from derivations.symbols import N, d_model, n

__all__ = ["encoder", "encoder_layer"]


def encoder_layer(*, masked: bool = False, biases: bool = False, activation: Named = relu) -> Layer:
    """Return one post-norm encoder layer.

    Definition   Y = LayerNorm(X + MultiHead(X, X, X)), Z = LayerNorm(Y + FFN(Y))
    Shapes       X, Y, Z (n, d_model), mask M (n, n)
    Source       Vaswani et al. (2017), section 3.1
    """
    X, M = array("X", n, d_model), mask_array("M", n, n)
    attention = part("attention", multi_head_attention(masked=masked, biases=biases))
    network = part("feed_forward", feed_forward(activation))

    let = Equations()
    A = let("A")(attention(X, X, X, *([M] if masked else [])))
    Y = let("Y")(part("attention_norm", layer_norm())(X + A))
    F = let("F")(network(Y))
    Z = let("Z")(part("feed_forward_norm", layer_norm())(Y + F))
    name = "masked_encoder_layer" if masked else "encoder_layer"
    return Layer(name, (X, M) if masked else (X,), (), let, Z)


def encoder(
    *, masked: bool = False, biases: bool = False, activation: Named = relu, final_norm: bool = False
) -> Layer:
    """Return the stack of N encoder layers, with a last layer norm when `final_norm`.

    Definition   Z_0 = X, Z_l = EncoderLayer_l(Z_{l-1}) for l = 1, ..., N
    Shapes       X and Z (n, d_model), mask M (n, n)
    Source       Vaswani et al. (2017), section 3.1
    """
    X, M = array("X", n, d_model), mask_array("M", n, n)
    layers = part("layers", encoder_layer(masked=masked, biases=biases, activation=activation), count=N)
    let = Equations()
    Z = let("Z")(layers(X, *([M] if masked else [])))
    if final_norm:
        Z = let("Y")(part("final_norm", layer_norm())(Z))
    return Layer("masked_encoder" if masked else "encoder", (X, M) if masked else (X,), (), let, Z)
