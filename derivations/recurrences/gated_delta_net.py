r"""Gated DeltaNet: every position corrects the value that a head's state holds for its key. Groups of heads share keys.

Definition   Q, K and V are SiLU of causal convolutions of X W_Q, X W_K and X W_V, group by group; q and k have
             length 1; eta = sigmoid(X W_B), L = -exp(A) o softplus(X W_T + b_Delta); for head f of group e
             H_t = exp(L_t) (I - eta_t k_t k_t^T) H_{t-1} + eta_t k_t v_t^T, from H = 0 on; Y_t = H_t^T q_t / sqrt(k_D);
             output = (norm(Y) o SiLU(X W_Z)) W_O, the norm being that of each head.
             Kimi Delta Attention: one decay for each column of a key, diag(exp(L_t)) H_{t-1} in the place of
             exp(L_t) H_{t-1}, from a product of two matrices, as is the gate
Result       a state of g_D r_D k_D v_D numbers and w - 1 rows of the convolutions replace a cache that grows with n;
             the recurrence has matrices that are diagonal plus rank one. By chunks: `recurrence.delta_chunks`
Shapes       X and the output (n, d_model), Q and K (n, g_D, k_D), V and Y (n, g_D, r_D, v_D), L and eta (n, g_D, r_D),
             H (n, g_D, r_D, k_D, v_D); W_Q and W_K (g_D, d_model, k_D), W_V and W_Z
             (g_D, d_model, r_D v_D)
Source       Yang, Kautz and Hatamizadeh (2025), section 3; Qwen Team (2025), Qwen3-Next; Kimi Team (2025), Kimi Linear
"""

from sympy import Expr, Integer, Mul, Rational, Sum, exp, sqrt

from derivations.activations.sigmoid import sigmoid, silu, softplus
from derivations.language.arrays.contraction import contraction, indices_of, operand_of
from derivations.language.arrays.expression import Array, RowBroadcast, Variable, array
from derivations.language.arrays.functions import Hadamard, Named, exponential
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.recurrences.grouped_norm import grouped_norm, row_major_place, side_by_side, unit_length
from derivations.recurrences.writer import Writer
from derivations.symbols import d_model, index, n, size

__all__ = [
    "gated_delta_net",
    "gated_delta_rule",
    "heads_of_key",
    "key_heads",
    "key_width",
    "kimi_delta_attention",
    "value_width",
]

TOPIC = "recurrence"

key_heads, heads_of_key, key_width, value_width = size("g_D"), size("r_D"), size("k_D"), size("v_D")
t, e, f, p, q, j = (index(letter) for letter in "tefpqj")
heads = key_heads * heads_of_key
X = array("X", n, d_model)
EPSILON = Rational(1, 10**6)
AT_KEY = e * key_width + p


def gated_delta_rule(*, by_columns: bool = False) -> Layer:
    """Return the layer in which every head reads its state, after each position has decayed and corrected it.

    Definition   S_t = exp(L_t) H_{t-1}, H_t = S_t + eta_t k_t (v_t - S_t^T k_t)^T, from H = 0 on;
                 Y_t = H_t^T q_t / sqrt(k_D); by columns L_t has an entry for each row of the state, each head a key
    Shapes       Q and K (n, g_D, k_D), V and Y (n, g_D, r_D, v_D), L and eta (n, g_D, r_D); by columns V and Y
                 (n, g_D, v_D), L (n, g_D, k_D), eta (n, g_D)
    Source       Yang, Kautz and Hatamizadeh (2025), equation 10; Kimi Team (2025), section 3, by columns
    """
    group, sizes = ((), ()) if by_columns else ((f,), (heads_of_key,))
    at_head, by_head = (t, e, *group), (n, key_heads, *sizes)
    Q, K = (array(letter, n, key_heads, key_width) for letter in "QK")
    V, eta = array("V", *by_head, value_width), array("eta", *by_head)
    own, shape = ((*at_head, p), (*by_head, key_width)) if by_columns else (at_head, by_head)
    L = array("L", *shape)
    let = Equations()
    key, at_row, rows = operand_of(K, (t, e, p)), (*at_head, p), (*by_head, key_width)
    U = let("U")(contraction(at_row, rows, (), -1, operand_of(eta, at_head), key))
    R = let("R")(contraction(at_row, rows, (), 1, operand_of(let("E")(exponential(L)), own), key))
    added = contraction((*at_row, q), (*rows, value_width), (), -1, operand_of(U, at_row), operand_of(V, (*at_head, q)))
    H = let("H")(Recurrence(L, let("F")(added), 0, U, R))
    read = operand_of(H, (*at_row, q)), operand_of(Q, (t, e, p))
    Y = contraction((*at_head, q), (*by_head, value_width), [(p, key_width)], 1 / sqrt(key_width), *read)
    name = "gated_delta_rule_by_columns" if by_columns else "gated_delta_rule"
    return Layer(name, (Q, K, V, L, eta), (), let, let("Y")(Y))


@result
def law_of_heads() -> Derivation:
    """A step of the recurrence decays a state, subtracts the value that it holds for the key, and adds the new one."""
    rule = gated_delta_rule()
    node = rule.equation("H").value
    assert isinstance(node, Recurrence)
    S = array("S", *node.shape)
    K, V, L, eta = rule.inputs[1:]
    before, at, head = S[t, e, f, p, q], t + 1, (t + 1, e, f)
    said = Sum(K[at, e, j] * S[t, e, f, j, q], (j, 0, key_width - 1))
    corrected = exp(L[head]) * (before - eta[head] * K[at, e, p] * said) + eta[head] * K[at, e, p] * V[(*head, q)]
    return derivation(
        "Diagonal plus rank one: the law of the states of Gated DeltaNet is the gated delta rule",
        claim(node.law(S)[at, e, f, p, q], step("algebra", corrected)),
        about=[rule.equation(name) for name in "UERF"],
        ranges={t: n - 1, e: key_heads, f: heads_of_key, p: key_width, q: value_width},
        source="Yang, Kautz and Hatamizadeh (2025), equation 10",
    )


@catalogued
def gated_delta_net(
    activation: Named = silu, *, gate: Named = silu, eps: Rational = EPSILON, scale: Expr = Integer(1)
) -> Layer:
    """Return Gated DeltaNet; SiLU after the convolutions and on the gate unless others are given.

    Definition   that of the module; `scale` multiplies eta: with 2 a state may be mirrored; `eps` is that of the norm
    Shapes       X and O (n, d_model), W_Q and W_K (g_D, d_model, k_D), W_V and W_Z (g_D, d_model, r_D v_D), W_B and W_T
                 (g_D, d_model, r_D), kernels K of w rows, A and b_Delta (g_D r_D,), gamma (v_D,), W_O
                 (g_D r_D v_D, d_model)
    Source       Yang, Kautz and Hatamizadeh (2025), figure 1; Qwen Team (2025), Qwen3-Next, for heads that share a key
    """
    write, of_key, by_head = Writer(), heads_of_key * value_width, (n, key_heads, heads_of_key)
    Q, K = (_unit(write, name, activation) for name in "QK")
    V = _split(write, "V", _convolved(write, "V", of_key, activation), (*by_head, value_width))
    share = sigmoid(_split(write, "B", _of_groups(write, "B", heads_of_key), by_head))
    eta = write.let("eta")(share if scale == 1 else scale * share)
    Delta = write.let("Delta")(softplus(_of_groups(write, "T", heads_of_key) + write.weight("b_Delta", heads)))
    rates = write.let("S")(exponential(write.weight("A", heads)))
    L = _split(write, "L", write.let("L")(-Hadamard(RowBroadcast(rates, n), Delta)), by_head)
    Y = write.let("Y")(part("states", gated_delta_rule())(Q, K, V, L, eta))
    return _finished(write, "gated_delta_net", Y, gate(_of_groups(write, "Z", of_key)), eps)


@catalogued
def kimi_delta_attention(activation: Named = silu, *, eps: Rational = EPSILON) -> Layer:
    """Return Kimi Delta Attention: a decay for each column of a key; decays and gate use products of two matrices.

    Definition   L_t,ep = -exp(A_e) softplus(X W_F W_T + b_Delta)_t,ep, one head for each key; the gate is
                 sigmoid(X W_U W_Z); the rest is that of the module
    Shapes       X and O (n, d_model), W_Q and W_K (g_D, d_model, k_D), W_V (g_D, d_model, v_D), W_B (d_model, g_D), W_F
                 and W_U (d_model, k_D), W_T (k_D, g_D k_D), W_Z (k_D, g_D v_D), b_Delta (g_D k_D,), A (g_D,)
    Source       Kimi Team (2025), section 4
    """
    write, columns_of_keys = Writer(), key_heads * key_width
    Q, K = (_unit(write, name, activation) for name in "QK")
    V = _split(write, "V", _convolved(write, "V", value_width, activation), (n, key_heads, value_width))
    eta = write.let("eta")(sigmoid(write.affine("B", X, key_heads)))
    steps = write.affine("T", write.affine("F", X, key_width), columns_of_keys)
    Delta = write.let("Delta")(softplus(steps + write.weight("b_Delta", columns_of_keys)))
    rates = write.let("S")(exponential(write.weight("A", key_heads)))
    read = operand_of(rates, (e,)), operand_of(Delta, (t, AT_KEY))
    L = write.let("L")(contraction((t, e, p), (n, key_heads, key_width), (), -1, *read))
    Y = write.let("Y")(part("states", gated_delta_rule(by_columns=True))(Q, K, V, L, eta))
    gate = sigmoid(write.affine("Z", write.affine("U", X, key_width), key_heads * value_width))
    return _finished(write, "kimi_delta_attention", Y, gate, eps)


def _of_groups(write: Writer, name: str, width: Expr) -> Variable:
    """Add the product of the rows with one matrix for each group, with the columns of all groups side by side."""
    W = write.weight(f"W_{name}", key_heads, d_model, width)
    rows = write.let(f"{name}_heads", over=(e, key_heads))(X @ W[e])
    together = contraction((t, e, p), (n, key_heads, width), (), 1, operand_of(rows, (e, t, p)))
    return write.let(f"{name}_rows")(side_by_side(together))


def _convolved(write: Writer, name: str, width: Expr, activation: Named) -> Variable:
    return write.convolved(name, _of_groups(write, name, width), activation, False)


def _unit(write: Writer, name: str, activation: Named) -> Variable:
    """Add the equations of queries or keys, normalised to unit length."""
    found = _convolved(write, name, key_width, activation)
    unit = write.let(f"{name}_unit")(part(f"{name}_length", unit_length(key_heads, key_width, EPSILON))(found))
    return _split(write, name, unit, (n, key_heads, key_width))


def _split(write: Writer, name: str, rows: Variable, shape: tuple[Expr, ...]) -> Variable:
    """Add the equation that splits one axis of columns into several axes."""
    first, *axes = indices_of(shape)
    return write.let(f"{name}_split")(
        contraction((first, *axes), shape, (), 1, operand_of(rows, (first, row_major_place(axes, shape[1:]))))
    )


def _finished(write: Writer, name: str, Y: Variable, gate: Array, eps: Rational) -> Layer:
    """Add the norm of every head, the gate and the output projection, and return the layer."""
    number = Mul(*Y.shape[1:-1])
    normed = part("G_norm", grouped_norm(number, value_width, eps, scale="shared"))(
        write.let("Y_rows")(side_by_side(Y))
    )
    G = write.let("G")(Hadamard(write.let("Y_normed")(normed), write.let("I")(gate)))
    return Layer(name, (X,), write.weights, write.let, write.affine("O", G, d_model))
