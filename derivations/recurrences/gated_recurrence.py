r"""The real-gated linear recurrence (RG-LRU) and a second branch: gates of a position set its decay and its input.

Definition   V = conv(X W_U + b_U); I = sigmoid(V W_I + b_I), R = sigmoid(V W_R + b_R), head by head;
             a_t = exp(-8 R_t o softplus(A)); H_t = a_t o H_{t-1} + sqrt(1 - a_t^2) o I_t o V_t, H_0 = I_0 o V_0;
             output = (H o act(X W_Z + b_Z)) W_O + b_O
Result       |a| < 1, and a_t^2 + (sqrt(1 - a_t^2))^2 = 1: the state keeps the scale of its inputs
Shapes       X and the output (n, d_model), V, I, R and H (n, h_L d_L), W_I and W_R (h_L, d_L, d_L), A (h_L d_L,)
Source       De et al. (2024), Griffin, section 2.4 and appendix A
"""

from sympy import KroneckerDelta, Lambda, exp, sqrt
from sympy import Tuple as Places

from derivations.activations.gelu import gelu_tanh
from derivations.activations.sigmoid import sigmoid, softplus
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import RowBroadcast, Variable, array
from derivations.language.arrays.functions import Hadamard, Named, named
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.shapes import Blocks
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Layer
from derivations.recurrences.writer import Writer
from derivations.symbols import d_model, index, n, scalar, size

__all__ = ["gate_width", "gated_recurrence", "gates"]

TOPIC = "recurrence"

gates, gate_width = size("h_L"), size("d_L")
X = array("X", n, d_model)
t, a, p, q = (index(letter) for letter in "tapq")
_l, _first = scalar("l"), scalar("f")
scaled_input = named("input_scale", _first + (1 - _first) * sqrt(1 - exp(2 * _l)), _l, _first)
columns = gates * gate_width


@catalogued
def gated_recurrence(activation: Named = gelu_tanh) -> Layer:
    """Return the layer of a gated linear recurrence; the other branch has GELU unless another activation is given.

    Definition   that of the module
    Shapes       X and O (n, d_model), W_Z and W_U (d_model, h_L d_L), K_V (w, h_L d_L), W_I and W_R (h_L, d_L, d_L),
                 A (h_L d_L,), W_O (h_L d_L, d_model)
    Source       De et al. (2024), section 2.4; the factor of the first input is 1, as in their code
    """
    write = Writer()
    Z = write.let("G")(activation(write.affine("Z", X, columns, True)))
    V = write.convolved("V", write.affine("U", X, columns, True), None, True)
    I, R = (write.let(name)(sigmoid(_by_head(write, name, V))) for name in "IR")
    rates = write.let("S")(softplus(write.weight("A", columns)))
    L = write.let("L")(-8 * Hadamard(R, RowBroadcast(rates, n)))
    first = Tabulated(Lambda((t, p), KroneckerDelta(t, 0)), n, columns)
    F = write.let("F")(Hadamard(Hadamard(V, I), scaled_input(L, first)))
    H = write.let("H")(Recurrence(L, F))
    output = write.affine("O", write.let("Y")(Hadamard(H, Z)), d_model, True)
    return Layer("gated_recurrence", (X,), write.weights, write.let, output)


def _by_head(write: Writer, name: str, rows: Variable) -> Variable:
    """Add the product of the columns of each head with the matrix of the head, plus a bias."""
    axis = Blocks(gates, gate_width)
    W = write.weight(f"W_{name}", gates, gate_width, gate_width)
    read = operand_of(rows, (t, a * gate_width + p)), operand_of(W, (a, p, q))
    product = contraction((t, Places(a, q)), (n, axis), [(p, gate_width)], 1, *read)
    return write.let(f"{name}_in")(product + write.weight(f"b_{name}", axis))
