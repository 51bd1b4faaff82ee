r"""The selective state space layer (Mamba): a diagonal recurrence whose decays and inputs depend on the position.

Definition   U = X W_U, Z = X W_Z, V = SiLU(conv(U)); P = V W_P, B = V W_B, C = V W_C;
             Delta = softplus(P W_Delta + b_Delta);
             H_t,cs = exp(-Delta_tc exp(A_cs)) H_t-1,cs + Delta_tc B_ts V_tc; Y_tc = sum_s H_tcs C_ts + D_c V_tc;
             output = (Y o SiLU(Z)) W_O
Result       a state of d_inner d_state numbers and w - 1 rows of the convolution replace a cache that grows with n
Shapes       X and the output (n, d_model), U, Z, V, Delta and Y (n, d_inner), P (n, r_Delta), B and C (n, d_state),
             H (n, d_inner, d_state), A (d_inner, d_state), D (d_inner,), kernel K of the convolution (w, d_inner)
Source       Gu and Dao (2023), Mamba, section 3 and algorithm 2; Gu, Goel and Re (2022), equation 4 for the decay
"""

from typing import Literal

from sympy import Rational

from derivations.activations.sigmoid import silu, softplus
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import RowBroadcast, array
from derivations.language.arrays.functions import Hadamard, Named, exponential
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.recurrences.writer import Writer
from derivations.symbols import d_model, index, n, size

__all__ = ["d_inner", "d_state", "rank", "selective_state_space", "selective_states"]

TOPIC = "recurrence"

d_inner, d_state, rank = size("d_inner"), size("d_state"), size("r_Delta")
t, c, s = index("t"), index("c"), index("s")
X = array("X", n, d_model)
EPSILON = Rational(1, 10**6)


@catalogued
def selective_states() -> Layer:
    """Return the recurrence of the selective state space layer, with its input and output maps.

    Definition   H_t,cs = exp(-Delta_tc exp(A_cs)) H_t-1,cs + Delta_tc B_ts V_tc, H before the first position 0;
                 Y_tc = sum_s H_tcs C_ts + D_c V_tc
    Shapes       V, Delta and Y (n, d_inner), B and C (n, d_state), A (d_inner, d_state), D (d_inner,)
    Source       Gu and Dao (2023), algorithm 2; the input is multiplied by Delta, as in their section 3.6
    """
    V, Delta = array("V", n, d_inner), array("Delta", n, d_inner)
    B, C = array("B", n, d_state), array("C", n, d_state)
    A, D = array("A", d_inner, d_state), array("D", d_inner)
    let = Equations()
    rates = let("R")(exponential(A))
    shape = (n, d_inner, d_state)
    decays = let("L")(contraction((t, c, s), shape, (), -1, operand_of(Delta, (t, c)), operand_of(rates, (c, s))))
    scaled = let("S")(Hadamard(Delta, V))
    added = let("F")(contraction((t, c, s), shape, (), 1, operand_of(scaled, (t, c)), operand_of(B, (t, s))))
    H = let("H")(Recurrence(decays, added))
    read = contraction((t, c), shape[:2], [(s, d_state)], 1, operand_of(H, (t, c, s)), operand_of(C, (t, s)))
    Y = let("Y")(read + Hadamard(RowBroadcast(D, n), V))
    return Layer("selective_states", (V, Delta, B, C), (A, D), let, Y)


@catalogued
def selective_state_space(
    activation: Named = silu,
    *,
    biases: bool = False,
    convolution_bias: bool = True,
    norms: Literal["none", "plain", "scaled"] = "none",
    eps: Rational = EPSILON,
) -> Layer:
    """Return the selective state space layer; SiLU unless another activation is given.

    Definition   that of the module; `norms` are RMS norms of P, B and C, without or with a factor for each column
    Shapes       X and O (n, d_model), W_U and W_Z (d_model, d_inner), K_V (w, d_inner), W_P (d_inner, r_Delta), W_B and
                 W_C (d_inner, d_state), W_Delta (r_Delta, d_inner), A (d_inner, d_state), D and b_Delta (d_inner,),
                 W_O (d_inner, d_model)
    Source       Gu and Dao (2023), figure 3 and algorithm 2; Lieber et al. (2024), Jamba, section 3.1, for the norms
    """
    write = Writer()
    U, Z = write.affine("U", X, d_inner, biases), write.affine("Z", X, d_inner, biases)
    V = write.convolved("V", U, activation, convolution_bias)
    P, B, C = (write.affine(name, V, columns) for name, columns in (("P", rank), ("B", d_state), ("C", d_state)))
    if norms != "none":
        P, B, C = (write.normed(each.name, each, eps, norms == "scaled") for each in (P, B, C))
    Delta = write.let("Delta")(softplus(P @ write.weight("W_Delta", rank, d_inner) + write.weight("b_Delta", d_inner)))
    A, D = write.weight("A", d_inner, d_state), write.weight("D", d_inner)
    Y = write.let("Y")(part("states", selective_states())(V, Delta, B, C, A=A, D=D))
    output = write.affine("O", write.let("G")(Hadamard(Y, activation(Z))), d_model, biases)
    return Layer("selective_state_space", (X,), write.weights, write.let, output)
