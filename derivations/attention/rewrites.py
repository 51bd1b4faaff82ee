r"""Attention in another order: exponentials first, the division by their sum last, powers of two.

Definition   with any reference r_i for each query: E_ij = exp(S_ij - r_i), l = E 1, U = E V
Result       O_i = U_i / l_i, with a mask too; exp(x) = 2^(x / ln 2), so that the factor 1 / ln 2 may join that of the
             scores
Shapes       S and E (n, m), V (m, d_v), U and O (n, d_v), l and r (n,), mask M (n, m)
Assumes      with a mask, every query sees a key
Source       Milakov and Gimelshein (2018), section 3; Dao, Fu, Ermon, Rudra and Re (2022), section 3.1
"""

from sympy import Gt, Integer, Lambda, exp, log

from derivations.attention.attention import A, M, S, V, attention, c, over_keys, visible
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import RowSum, row_softmax
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d_v, i, j, k, l, m, n

__all__: list[str] = []

TOPIC = "attention"

SOURCE = "Dao, Fu, Ermon, Rudra and Re (2022), section 3.1"
E, E_M, A_M, T, r = *(array(name, n, m) for name in ("E", "E_M", "A_M", "T")), array("r", n)
TWO_EXCEEDS_ONE = Assumption(Gt(log(2), 0, evaluate=False), {}, "$2 > 1$")


@result
def deferred_normalisation() -> Derivation:
    """The division moves from the weights to the output: d_v quotients for each query instead of m."""
    exponentials = Tabulated(Lambda((j, k), exp(S[j, k] - r[j])), n, m)
    visible_ones = Tabulated(Lambda((j, k), M[j, k] * exp(S[j, k] - r[j])), n, m)
    return derivation(
        "Attention divides after the product with the values: $O_i = (E V)_i / (E 1)_i$, $E_ij = exp(S_ij - "
        "r_i)$, any $r$",
        claim(
            (row_softmax(S) @ V)[i, c],
            step("definition", over_keys(exp(S[i, l]) / over_keys(exp(S[i, j]), j) * V[l, c])),
            step("exponent", over_keys(E[i, l] * V[l, c]) / over_keys(E[i, l])),
            step("matrix product", (E @ V)[i, c] / RowSum(E)[i]),
        ),
        claim(
            (row_softmax(S, M) @ V)[i, c],
            step("exponent", (E_M @ V)[i, c] / RowSum(E_M)[i]),
            given=(visible(i, M),),
        ),
        about=[Equation(E, exponentials), Equation(E_M, visible_ones)],
        ranges={i: n, c: d_v},
        source=SOURCE,
    )


@result
def powers_of_two() -> Derivation:
    """A power of two costs less than an exponential, and the factor 1 / ln 2 joins the scale of the scores."""
    power, seen = Integer(2) ** T[i, j], (visible(i, M),)
    return derivation(
        "Attention weights are made of powers of two: with $T = S / ln 2$, $A_ij = 2^{T_ij} / sum_l 2^{T_il}$",
        claim(power, step("exponent", exp(S[i, j]))),
        claim(A[i, j], step("exponent", power / over_keys(Integer(2) ** T[i, l]))),
        claim(A_M[i, j], step("exponent", M[i, j] * power / over_keys(M[i, l] * Integer(2) ** T[i, l])), given=seen),
        about=[*attention.equations, Equation(A_M, row_softmax(S, M)), Equation(T, S / log(2))],
        ranges={i: n, j: m},
        assuming=[TWO_EXCEEDS_ONE],
        source="Dao (2023), FlashAttention-2, section 3.1",
    )
