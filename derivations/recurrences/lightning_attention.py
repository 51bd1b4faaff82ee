r"""Lightning attention: linear attention in which the state of every head decays, at a separate rate for each head.

Definition   Q_a, K_a, V_a = SiLU(X W_a); H_ta = exp(-rho_a) H_t-1,a + K_ta^T V_ta, from H = 0 on; R_ta = Q_ta H_ta;
             rho_a = phi 2^(-8 (a + 1) / h); output = (norm(R) o sigmoid(X W_Z)) W_O with all heads side by side
Result       R_ta = sum_{s <= t} exp(-rho_a (t - s)) (Q_ta . K_sa) V_sa: attention without a softmax, whose weights fall
             with the distance; a state of h d_k^2 numbers replaces a cache that grows with n
Shapes       X and the output (n, d_model), W_Q, W_K and W_V (h, d_model, d_k), H (n, h, d_k, d_k), W_Z (d_model, h d_k)
Source       Qin et al. (2024), Lightning Attention-2; MiniMax (2025), MiniMax-01
"""

from sympy import Expr, Integer, Lambda, Rational, Sum, exp

from derivations.activations.sigmoid import sigmoid, silu
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import Variable, array
from derivations.language.arrays.functions import Hadamard, Named
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.recurrences.grouped_norm import side_by_side
from derivations.recurrences.writer import Writer
from derivations.symbols import d_k, d_model, h, index, n

__all__ = ["decaying_heads", "lightning_attention"]

TOPIC = "recurrence"

t, s, a, p, q = (index(letter) for letter in "tsapq")
X = array("X", n, d_model)
Q, K, V = (array(letter, h, n, d_k) for letter in "QKV")
R = array("R", n, h, d_k)
EPSILON = Rational(1, 10**6)


def slope(head: Expr, factor: Expr = Integer(1)) -> Expr:
    """Return the rate at which a head decays."""
    return factor * Integer(2) ** (-8 * (head + 1) / h)


@catalogued
def decaying_heads(factor: Expr = Integer(1)) -> Layer:
    """Return linear attention in which every head reads a decaying sum of the products of keys and values.

    Definition   H_tapq = exp(-phi 2^(-8 (a + 1) / h)) H_t-1,apq + K_atp V_atq; R_taq = sum_p H_tapq Q_atp
    Shapes       Q, K and V (h, n, d_k), R (n, h, d_k)
    Source       Qin et al. (2024); the rates are the slopes of Press, Smith and Lewis (2022), section 3
    """
    let = Equations()
    decays = let("L")(Tabulated(Lambda((t, a), -slope(a, factor)), n, h))
    shape = (n, h, d_k, d_k)
    added = let("F")(contraction((t, a, p, q), shape, (), 1, operand_of(K, (a, t, p)), operand_of(V, (a, t, q))))
    H = let("H")(Recurrence(decays, added))
    read = contraction((t, a, q), (n, h, d_k), [(p, d_k)], 1, operand_of(H, (t, a, p, q)), operand_of(Q, (a, t, p)))
    return Layer("decaying_heads", (Q, K, V), (), let, let("R")(read))


@catalogued
def lightning_attention(activation: Named = silu, *, factor: Expr = Integer(1), eps: Rational = EPSILON) -> Layer:
    """Return lightning attention; SiLU unless another activation is given, and `factor` multiplies all rates.

    Definition   that of the module
    Shapes       X and O (n, d_model), W_Q, W_K and W_V (h, d_model, d_k), W_Z (d_model, h d_k), gamma (h d_k,),
                 W_O (h d_k, d_model)
    Source       MiniMax (2025), MiniMax-01
    """
    write = Writer()
    states = part("heads", decaying_heads(factor))
    read = write.let("R")(states(*(_of_heads(write, letter, activation) for letter in "QKV")))
    G = write.normed("G", write.let("G")(side_by_side(read)), eps, scaled=True)
    gate = write.let("I")(sigmoid(write.affine("Z", X, h * d_k)))
    output = write.affine("O", write.let("Y")(Hadamard(gate, G)), d_model)
    return Layer("lightning_attention", (X,), write.weights, write.let, output)


def _of_heads(write: Writer, letter: str, activation: Named) -> Variable:
    """Add the product of the rows with a matrix for every head, followed by the activation."""
    W = write.weight(f"W_{letter}", h, d_model, d_k)
    return write.let(letter, over=(a, h))(activation(write.let(f"{letter}_in", over=(a, h))(X @ W[a])[a]))


@result
def parallel_heads() -> Derivation:
    """The output of a head is attention without a softmax: each score is multiplied by a decay with distance."""
    scores = Sum(Q[a, t, p] * K[a, s, p], (p, 0, d_k - 1))
    return derivation(
        "Lightning attention in its parallel form: scores that fall with the distance, in the place of a softmax",
        claim(R[t, a, q], step("exponent", Sum(exp(-slope(a) * (t - s)) * scores * V[a, s, q], (s, 0, t)))),
        about=decaying_heads(),
        ranges={t: n, a: h, q: d_k},
        source="Qin et al. (2024)",
    )
