r"""Masks: hidden keys, the causal mask, and operations that are equivalent to hiding a key.

Definition   A_ij = M_ij exp(S_ij) / sum_l M_il exp(S_il), M_ij = 1 where query i sees key j, else 0
Result       lowering the scores of keys without bound, hiding these keys, and removing them are the same
Shapes       S, M and A (n, m), O (n, d_v)
Assumes      every query sees a key
Source       Vaswani et al. (2017), section 3.2.3
"""

from sympy import Eq, Expr, Gt, Integer, Lambda, Limit, Lt, Sum, exp, oo

from derivations.attention.attention import (
    DECODER,
    A,
    M,
    O,
    Q,
    S,
    V,
    attention,
    c,
    masked_attention,
    over_keys,
    visible,
)
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.functions import MaskConjunction, row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.layers.layer import Equation, Equations
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d_k, d_v, i, j, k, l, m, n, scalar, size

__all__: list[str] = []

TOPIC = "attention"


@result
def masked() -> Derivation:
    """With a mask, numerator and denominator omit hidden keys; the weights still sum to 1."""
    share = M[i, j] * exp(S[i, j])
    whole = over_keys(M[i, l] * exp(S[i, l]))
    return derivation(
        "Masked attention weights: softmax over the visible keys alone",
        claim(A[i, j], step("definition", share / whole)),
        claim(
            over_keys(A[i, j], j),
            step("definition", over_keys(share / whole, j)),
            step("linearity of sums", over_keys(share, j) / whole),
            step("algebra", 1),
        ),
        about=masked_attention,
        ranges={i: n, j: m},
        assuming=[visible(i, M)],
        source=DECODER,
    )


@result
def weights_of_hidden_keys() -> Derivation:
    """A hidden key has weight 0."""
    return derivation(
        "The attention weight of a hidden key is 0",
        claim(
            A[i, j],
            step("definition", M[i, j] * exp(S[i, j]) / over_keys(M[i, l] * exp(S[i, l]))),
            step("assumption", 0),
        ),
        about=masked_attention,
        ranges={i: n, j: m},
        assuming=[visible(i, M), Assumption(Eq(M[i, j], 0), {}, "key $j$ is hidden from query $i$")],
        source=DECODER,
    )


# --- hiding, lowering, leaving out ----------------------------------------------------------------------------------

penalty = scalar("g", positive=True)


@result
def additive_mask() -> Derivation:
    """A mask may be added to the scores, as 0 or minus infinity: lowering scores by g hides their keys as g grows."""

    def lowered(key: Expr) -> Expr:
        return exp(S[i, key] - penalty * (1 - M[i, key]))

    whole = over_keys(lowered(l))
    return derivation(
        "Hidden scores lowered by $g$: as $g$ grows, attention tends to masked attention",
        claim(Limit(lowered(j) / whole, penalty, oo), step("limit laws", A[i, j])),
        claim(Limit(over_keys(lowered(l) * V[l, c]) / whole, penalty, oo), step("limit laws", O[i, c])),
        about=[masked_attention.equation("A"), masked_attention.equation("O")],
        ranges={i: n, j: m, c: d_v},
        assuming=[visible(i, M)],
        source=DECODER,
    )


def first(rows: Array, count: Expr) -> Array:
    """Return the first rows of a matrix."""
    return Tabulated(Lambda((j, k), rows[j, k]), count, rows.shape[1])


@result
def mask_is_restriction() -> Derivation:
    """Hiding a key equals removing it: a mask of the first m of m + r keys gives attention over these alone.

    So does a penalty g on the scores T of the other r keys, as g grows. The order of the keys does not matter
    (attention.key_value_permutation).
    """
    others = size("r")
    T, U = array("T", n, others), array("U", others, d_v)
    all_keys, all_values = array("K_all", m + others, d_k), array("V_all", m + others, d_v)
    kept_keys, kept_values, mask = array("K", m, d_k), array("V", m, d_v), mask_array("M", n, m + others)

    def over_others(of: Expr) -> Expr:
        return Sum(exp(T[i, l] - penalty) * of, (l, 0, others - 1))

    whole = over_keys(exp(S[i, l])) + over_others(Integer(1))
    return derivation(
        "A mask that shows the first $m$ of $m + r$ keys leaves the others out; so does minus infinity on their scores",
        claim(
            masked_attention.result(Q, all_keys, all_values, mask),
            step("indicator", attention.result(Q, kept_keys, kept_values)),
        ),
        claim(Limit(exp(S[i, j]) / whole, penalty, oo), step("limit laws", A[i, j])),
        claim(Limit(exp(T[i, k] - penalty) / whole, penalty, oo), step("limit laws", 0)),
        claim(
            Limit((over_keys(exp(S[i, l]) * V[l, c]) + over_others(U[l, c])) / whole, penalty, oo),
            step("limit laws", O[i, c]),
        ),
        about=[
            attention.equation("A"),
            attention.equation("O"),
            Equation(kept_keys, first(all_keys, m)),
            Equation(kept_values, first(all_values, m)),
            Equation(mask, Tabulated(Lambda((i, j), Iverson(Lt(j, m, evaluate=False))), n, m + others)),
        ],
        ranges={i: n, j: m, k: others, c: d_v},
        source=DECODER,
    )


@result
def mask_after_softmax() -> Derivation:
    """A mask after the softmax leaves a sum below 1; divided by that sum, the weights are the masked weights."""
    left = over_keys(M[i, l] * A[i, l])
    return derivation(
        "A mask after the softmax leaves a sum of at most 1; divided by it they are the masked weights",
        claim(over_keys(M[i, j] * A[i, j], j), step("bound", 1, "<=", over_keys((1 - M[i, j]) * A[i, j], j))),
        claim(row_softmax(S, M).entry(i, j), step("algebra", M[i, j] * A[i, j] / left)),
        about=[attention.equation("A")],
        ranges={i: n, j: m},
        assuming=[visible(i, M)],
        source=DECODER,
    )


@result
def two_masks() -> Derivation:
    """The order of masks does not matter: hiding more keys and renormalising gives the mask of both."""
    more = mask_array("M_2", n, m)
    left = over_keys(more[i, l] * A[i, l])
    seen = Assumption(Gt(over_keys(M[i, l] * more[i, l]), 0), {i: n}, "every query sees a key through both masks")
    return derivation(
        "Masked weights under a second mask, divided by their sum, are the weights under both masks",
        claim(row_softmax(S, MaskConjunction(M, more)).entry(i, j), step("algebra", more[i, j] * A[i, j] / left)),
        about=[masked_attention.equation("A")],
        ranges={i: n, j: m},
        assuming=[visible(i, M), seen],
        source=DECODER,
    )


@result
def score_bias() -> Derivation:
    """A bias b on a score, such as a position bias, multiplies its weight by exp(b), up to the common denominator."""
    B, let = array("B", n, m), Equations()
    P = let("P")(row_softmax(S + B))
    return derivation(
        "A bias $B_ij$ on the scores multiplies the weights by $exp(B_ij)$ and divides by their new sum",
        claim(
            P[i, j],
            step("definition", exp(S[i, j] + B[i, j]) / over_keys(exp(S[i, l] + B[i, l]))),
            step("exponent", exp(B[i, j]) * A[i, j] / over_keys(exp(B[i, l]) * A[i, l])),
        ),
        about=[attention.equation("A"), *let],
        ranges={i: n, j: m},
        source="Press, Smith and Lewis (2022), section 3",
    )
