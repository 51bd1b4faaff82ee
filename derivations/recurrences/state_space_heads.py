r"""The state space layer with heads (Mamba-2): every head has one decay, groups of heads share B and C.

Definition   Z, U, T = X W_Z, X W_U, X W_T; V, B and C are SiLU of causal convolutions of U, X W_J and X W_K;
             Delta = softplus(T + b_Delta); for head f of group e
             H_t,efqs = exp(-Delta_tef exp(A_ef)) H_t-1,efqs + Delta_tef V_t,efq B_t,es;
             Y_t,efq = sum_s H_t,efqs C_t,es + D_ef V_t,efq; output = norm(Y o SiLU(Z)) W_O
Result       the state of a layer has g_S r_S d_S d_state numbers, and the convolutions keep w - 1 rows
Shapes       X and the output (n, d_model), Z and V (n, g_S r_S d_S), B and C (n, g_S d_state), Delta (n, g_S r_S),
             A and D (g_S r_S,), H (n, g_S, r_S, d_S, d_state); g_S groups of r_S heads with d_S columns each
Source       Dao and Gu (2024), Transformers are SSMs, sections 3 and 7
"""

from collections.abc import Sequence
from typing import Literal

from sympy import Expr, Integer, Max, Rational

from derivations.activations.sigmoid import silu, softplus
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import Hadamard, Named, exponential, named
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.recurrences.grouped_norm import grouped_norm, side_by_side
from derivations.recurrences.selective_state_space import d_state
from derivations.recurrences.writer import Writer
from derivations.symbols import d_model, index, n, scalar, size

__all__ = ["head_states", "heads_of_group", "state_groups", "state_space_heads", "state_width"]

TOPIC = "recurrence"

state_groups, heads_of_group, state_width = size("g_S"), size("r_S"), size("d_S")
t, e, f, q, s = (index(letter) for letter in "tefqs")
_u = scalar("u")
heads, columns = state_groups * heads_of_group, state_groups * heads_of_group * state_width
X = array("X", n, d_model)
EPSILON = Rational(1, 10**5)
GROUP = heads_of_group * state_width
AT_HEAD, AT_COLUMN = e * heads_of_group + f, (e * heads_of_group + f) * state_width + q


def head_states() -> Layer:
    """Return the recurrence of every head, with its input and output maps.

    Definition   H_t,efqs = exp(-Delta_tef exp(A_ef)) H_t-1,efqs + Delta_tef V_t,efq B_t,es, from H = 0 on;
                 Y_t,efq = sum_s H_t,efqs C_t,es + D_ef V_t,efq
    Shapes       V and Y (n, g_S r_S d_S), Delta (n, g_S r_S), B and C (n, g_S d_state), A and D (g_S r_S,)
    Source       Dao and Gu (2024), equation 2 and section 7.1
    """
    V, Delta = array("V", n, columns), array("Delta", n, heads)
    B, C = array("B", n, state_groups * d_state), array("C", n, state_groups * d_state)
    A, D = array("A", heads), array("D", heads)
    by_head = (n, state_groups, heads_of_group)
    at, of_group = operand_of(Delta, (t, AT_HEAD)), e * d_state + s
    let = Equations()
    rates = let("R")(exponential(A))
    decays = let("L")(contraction((t, e, f), by_head, (), -1, at, operand_of(rates, (AT_HEAD,))))
    S = let("S")(contraction((t, e, f, q), (*by_head, state_width), (), 1, at, operand_of(V, (t, AT_COLUMN))))
    shape = (*by_head, state_width, d_state)
    F = let("F")(contraction((t, e, f, q, s), shape, (), 1, operand_of(S, (t, e, f, q)), operand_of(B, (t, of_group))))
    H = let("H")(Recurrence(decays, F))
    read = let("T")(
        contraction(
            (t, e, f, q), shape[:4], [(s, d_state)], 1, operand_of(H, (t, e, f, q, s)), operand_of(C, (t, of_group))
        )
    )
    passed = let("P")(
        contraction((t, e, f, q), shape[:4], (), 1, operand_of(V, (t, AT_COLUMN)), operand_of(D, (AT_HEAD,)))
    )
    both = let("Q")(read + passed)
    Y = let("Y")(side_by_side(both))
    return Layer("head_states", (V, Delta, B, C), (A, D), let, Y)


def _at_least(least: Expr) -> Named:
    """Return the softplus, replaced by `least` where it is smaller than `least`."""
    name = f"softplus_from_{least}".replace("/", "_over_")
    return softplus if least == 0 else named(name, Max(least, softplus.formula(_u)), _u)


@catalogued
def state_space_heads(
    activation: Named = silu,
    *,
    biases: bool = False,
    convolution_bias: bool = True,
    norm: Literal["none", "together", "by group", "by group before the gate"] = "by group",
    eps: Rational = EPSILON,
    scales: Sequence[Expr] = (Integer(1),) * 5,
    least: Expr = Integer(0),
) -> Layer:
    """Return the state space layer with heads; SiLU unless another activation is given.

    Definition   that of the module; `norm` is the RMS norm of all columns together, that of the columns of each group,
                 after the gate or before it, or none; `scales` multiply Z, U, the rows of B and C before their
                 convolutions, and T; entries of Delta below `least` are replaced by it
    Shapes       X and O (n, d_model), W_Z and W_U (d_model, g_S r_S d_S), W_J and W_K (d_model, g_S d_state),
                 W_T (d_model, g_S r_S), kernels K of w rows, A, D and b_Delta (g_S r_S,), gamma (g_S r_S d_S,),
                 W_O (g_S r_S d_S, d_model)
    Source       Dao and Gu (2024), section 7.1 and figure 6
    """
    write, of_groups = Writer(), state_groups * d_state
    widths = (columns, columns, of_groups, of_groups, heads)
    Z, U, rows_B, rows_C, steps = (
        write.affine(name, X, width, biases, scale) for name, width, scale in zip("ZUJKT", widths, scales, strict=True)
    )
    V = write.convolved("V", U, activation, convolution_bias)
    B = write.convolved("B", rows_B, activation, convolution_bias)
    C = write.convolved("C", rows_C, activation, convolution_bias)
    Delta = write.let("Delta")(_at_least(least)(steps + write.weight("b_Delta", heads)))
    A, D = write.weight("A", heads), write.weight("D", heads)
    Y = write.let("Y")(part("states", head_states())(V, Delta, B, C, A=A, D=D))
    if norm == "by group before the gate":
        Y = write.let("Y_normed")(part("G_norm", grouped_norm(state_groups, GROUP, eps))(Y))
    G = write.let("G")(Hadamard(Y, silu(Z)))
    if norm == "together":
        G = write.normed("G", G, eps, scaled=True)
    elif norm == "by group":
        G = write.let("G_normed")(part("G_norm", grouped_norm(state_groups, GROUP, eps))(G))
    output = write.affine("O", G, d_model, biases)
    return Layer("state_space_heads", (X,), write.weights, write.let, output)
