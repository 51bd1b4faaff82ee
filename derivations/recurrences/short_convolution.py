r"""The gated short convolution: a causal convolution over a few positions, between two gates.

Definition   B = X W_B, C = X W_C, V = X W_V; Y = C o conv(B o V); output = Y W_O
Result       the state of a layer is the last w - 1 rows of B o V
Shapes       X and the output (n, d_model), B, C, V and Y (n, d_model), kernel K_T (w, d_model)
Source       Liquid AI (2025), LFM2; Poli et al. (2023), Hyena, section 3, for gates around a convolution
"""

from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import Hadamard
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Layer
from derivations.recurrences.writer import Writer
from derivations.symbols import d_model, n

__all__ = ["short_convolution"]

TOPIC = "recurrence"

X = array("X", n, d_model)


@catalogued
def short_convolution(*, biases: bool = False) -> Layer:
    """Return the gated short convolution; with `biases` every product and the convolution have one.

    Definition   B = X W_B, C = X W_C, V = X W_V; S = B o V; T = conv(S); O = (C o T) W_O
    Shapes       X and O (n, d_model), W_B, W_C, W_V and W_O (d_model, d_model), K_T (w, d_model)
    Source       Liquid AI (2025), LFM2
    """
    write = Writer()
    B, C, V = (write.affine(name, X, d_model, biases) for name in "BCV")
    T = write.convolved("T", write.let("S")(Hadamard(B, V)), None, biases)
    output = write.affine("O", write.let("Y")(Hadamard(C, T)), d_model, biases)
    return Layer("short_convolution", (X,), write.weights, write.let, output)
