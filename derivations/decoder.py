r"""The decoder: a stack of layers of masked self-attention, cross-attention and a feed-forward network."""

from derivations.feed_forward import feed_forward
from derivations.language.expression import array, mask_array
from derivations.language.functions import Named, relu
from derivations.language.layer import Equations, Layer, part
from derivations.layer_norm import layer_norm
from derivations.multi_head import multi_head_attention
from derivations.symbols import N, d_model, m, n

__all__ = ["decoder", "decoder_layer"]


def decoder_layer(*, masked_memory: bool = False, biases: bool = False, activation: Named = relu) -> Layer:
    """Return one post-norm decoder layer: three sub-layers, each with a residual connection and a layer norm.

    Definition   Y = LayerNorm(X + MultiHead(X, X, X; M)), Z = LayerNorm(Y + MultiHead(Y, memory, memory)),
                 U = LayerNorm(Z + FFN(Z))
    Shapes       X, Y, Z, U (n, d_model), memory (m, d_model), M (n, n), M_memory (n, m)
    Source       Vaswani et al. (2017), section 3.1
    """
    X, memory = array("X", n, d_model), array("memory", m, d_model)
    M, M_memory = mask_array("M", n, n), mask_array("M_memory", n, m)
    self_attention = part("self_attention", multi_head_attention(masked=True, biases=biases))
    cross_attention = part("cross_attention", multi_head_attention(masked=masked_memory, biases=biases))
    network = part("feed_forward", feed_forward(activation))

    let = Equations()
    A = let("A")(self_attention(X, X, X, M))
    Y = let("Y")(part("self_attention_norm", layer_norm())(X + A))
    C = let("C")(cross_attention(Y, memory, memory, *([M_memory] if masked_memory else [])))
    Z = let("Z")(part("cross_attention_norm", layer_norm())(Y + C))
    F = let("F")(network(Z))
    U = let("U")(part("feed_forward_norm", layer_norm())(Z + F))
    name = "masked_decoder_layer" if masked_memory else "decoder_layer"
    return Layer(name, (X, memory, M, *([M_memory] if masked_memory else [])), (), let, U)


def decoder(
    *, masked_memory: bool = False, biases: bool = False, activation: Named = relu, final_norm: bool = False
) -> Layer:
    """Return the stack of N decoder layers, with a last layer norm when `final_norm`.

    Definition   Z_0 = X, Z_l = DecoderLayer_l(Z_{l-1}, memory) for l = 1, ..., N
    Shapes       X and Z (n, d_model), memory (m, d_model), M (n, n), M_memory (n, m)
    Source       Vaswani et al. (2017), section 3.1
    """
    X, memory = array("X", n, d_model), array("memory", m, d_model)
    M, M_memory = mask_array("M", n, n), mask_array("M_memory", n, m)
    inputs = (X, memory, M, *([M_memory] if masked_memory else []))
    block = decoder_layer(masked_memory=masked_memory, biases=biases, activation=activation)
    let = Equations()
    Z = let("Z")(part("layers", block, count=N)(*inputs))
    if final_norm:
        Z = let("Y")(part("final_norm", layer_norm())(Z))
    return Layer("masked_decoder" if masked_memory else "decoder", inputs, (), let, Z)
