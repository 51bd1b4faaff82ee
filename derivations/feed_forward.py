r"""The position-wise feed-forward network."""

from derivations.language.expression import Array, array
from derivations.language.functions import Named, relu
from derivations.language.layer import Equations, Layer
from derivations.symbols import d_ff, d_model, n

__all__ = ["feed_forward"]


def feed_forward(activation: Named = relu) -> Layer:
    """Return the feed-forward network with the given activation.

    Definition   H = X W_1 + b_1, G = activation(H), Y = G W_2 + b_2
    Shapes       X (n, d_model), W_1 (d_model, d_ff), b_1 (d_ff,), W_2 (d_ff, d_model), b_2 (d_model,), Y (n, d_model)
    Source       Vaswani et al. (2017), equation 2; GELU: Hendrycks and Gimpel (2016)
    """
    X: Array = array("X", n, d_model)
    W_1, b_1, W_2, b_2 = array("W_1", d_model, d_ff), array("b_1", d_ff), array("W_2", d_ff, d_model), array("b_2", d_model)
    let = Equations()
    H = let("H")(X @ W_1 + b_1)
    G = let("G")(activation(H))
    Y = let("Y")(G @ W_2 + b_2)
    return Layer("feed_forward", (X,), (W_1, b_1, W_2, b_2), let, Y)
