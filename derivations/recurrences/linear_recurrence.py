r"""The linear recurrence over positions, its form as a sum over the past, and its form by chunks.

Definition   H_t = exp(L_t) o H_{t-1} + B_t with H before the first position 0
Result       H_t = sum_{s <= t} exp(G_t - G_s) o B_s with G_t = sum_{r <= t} L_r, and no other sequence has the law;
             with one decay for all positions it is a convolution; a later state follows from an earlier one and what
             was added since
Shapes       L and B (n, d), H (n, d)
Source       Martin and Cundy (2018), section 2; Katharopoulos et al. (2020), section 3.4; Dao and Gu (2024), section 6
"""

from sympy import Eq, Expr, Sum, Symbol, exp

from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d, index, n, scalar

__all__ = ["linear_recurrence"]

TOPIC = "recurrence"

DAO = "Dao and Gu (2024), section 6"
MARTIN = "Martin and Cundy (2018), section 2"
L, B, H, S = (array(name, n, d) for name in "LBHS")
before = array("h", d)
t, s, r, c, j = (index(letter) for letter in "tsrcj")


@catalogued
def linear_recurrence() -> Layer:
    """Return the states of a linear recurrence with a decay for every position and column.

    Definition   H_t = exp(L_t) o H_{t-1} + B_t, with H before the first position 0
    Shapes       logarithms L of the decays and added B (n, d), H (n, d)
    Source       Martin and Cundy (2018), section 2
    """
    let = Equations()
    return Layer("linear_recurrence", (L, B), (), let, let("H")(Recurrence(L, B)))


def total(last: Expr, column: Symbol) -> Expr:
    """Return the logarithm of the decay over all positions up to the last one."""
    return Sum(L[r, column], (r, 0, last))


def decayed(last: Expr, column: Symbol) -> Expr:
    """Return the sum of all terms up to a position, each multiplied by its decay until then."""
    return Sum(exp(total(last, column) - total(s, column)) * B[s, column], (s, 0, last))


@result
def law() -> Derivation:
    """Every state is the previous state times the decay of the position, plus the term of the position."""
    return derivation(
        "The law of a linear recurrence: $h_t = exp(l_t) h_{t-1} + b_t$",
        claim(H[0, c], step("algebra", B[0, c])),
        claim(H[t + 1, c], step("exponent", exp(L[t + 1, c]) * H[t, c] + B[t + 1, c])),
        about=linear_recurrence(),
        ranges={t: n - 1, c: d},
        source=MARTIN,
    )


def recurrent(before: Array | None = None) -> list[Assumption]:
    """Return the assumptions that a sequence S follows the recurrence, starting from 0 or from the state `before`."""
    carried = 0 if before is None else exp(L[0, j]) * before[j]
    first = Assumption(Eq(S[0, j], carried + B[0, j]), {j: d}, "the law at the first position")
    next_one = Eq(S[r + 1, j], exp(L[r + 1, j]) * S[r, j] + B[r + 1, j])
    return [first, Assumption(next_one, {r: n - 1, j: d}, "the law at every later position")]


@result
def parallel_form() -> Derivation:
    """The recurrence determines the states: by induction they are sums over the past, which any order can compute."""
    return derivation(
        "A sequence with the law of a linear recurrence is a sum over the past, each term decayed since its position",
        claim(S[t, c], step("induction", decayed(t, c), "=", t)),
        ranges={t: n, c: d},
        assuming=recurrent(),
        source=MARTIN,
    )


@result
def chunked_form() -> Derivation:
    """The states of a chunk of positions depend on the past only through the state just before the chunk."""
    return derivation(
        "The states of a chunk: the state before it, decayed since, and what the chunk itself has added",
        claim(S[t, c], step("induction", exp(total(t, c)) * before[c] + decayed(t, c), "=", t)),
        ranges={t: n, c: d},
        assuming=recurrent(before),
        source=DAO,
    )


@result
def convolution() -> Derivation:
    """With one decay for all positions, the kernel exp(l (t - s)) depends on the distance alone."""
    rate = scalar("rho")
    constant = Assumption(Eq(L[r, j], rate), {r: n, j: d}, "the decay is the same at all positions and columns")
    return derivation(
        "With one decay a linear recurrence is a convolution over positions: its kernel is $exp(rho (t - s))$",
        claim(decayed(t, c), step("assumption", Sum(exp(rate * (t - s)) * B[s, c], (s, 0, t)))),
        ranges={t: n, c: d},
        assuming=[constant],
        source="Gu, Goel and Re (2022), section 2.4",
    )


@result
def cost() -> Derivation:
    """Every position costs as much as any other: the cost grows with n, that of attention with n^2."""
    return derivation(
        "Operations of a linear recurrence: two for each entry after the first position, and an exponential",
        claim(Count("elementwise FLOPs", linear_recurrence()), step("count", 3 * (n - 1) * d)),
        source=MARTIN,
    )
