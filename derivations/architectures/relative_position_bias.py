r"""Relative position bias: one learned number for each head and each bucket of distances, added to the scores.

Definition   B_t,ij = table[bucket(j - i), t] for head t, query i and key j; A_t = softmax of the rows of S_t + B_t
Result       only the distance counts; buckets times heads parameters for any length, and no operations; the gradient
             of a number is the sum over all pairs of its bucket
Shapes       table (buckets, h), B (h, n, m)
Assumes      every distance has a bucket, 0 <= bucket(j - i) < buckets, by the function `bucket`
Source       Raffel et al. (2020), section 2.1
"""

from dataclasses import replace

from sympy import Eq, Ge, Indexed, Lambda

from derivations.gradients.gradient import rule
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.buckets import RelativeBuckets, bucket
from derivations.language.arrays.expression import array, token_array
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.selection import AddedEntries, Chosen
from derivations.language.arrays.shapes import Sized
from derivations.language.counting.costs import Count
from derivations.language.differentiation.claims import local_claims
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equation, Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import h, i, index, j, k, m, n, size

__all__ = ["bucket", "relative_position_bias"]

RAFFEL = "Raffel et al. (2020), section 2.1"
buckets, t, s = size("buckets"), index("t"), index("s")
table, N, B = array("table", buckets, h), token_array("N", n, m), array("B", h, n, m)


@catalogued("relative_position_bias_looking_back", bidirectional=False)
@catalogued
def relative_position_bias(
    queries: Sized = n, keys: Sized = m, *, bidirectional: bool = True, max_distance: Sized = 128
) -> Layer:
    """Return the bias of every head for every pair of a query and a key, from a table of buckets of distances.

    Definition   N_ij = bucket(j - i), B_t,ij = table[N_ij, t]
    Shapes       table (buckets, h), N (n, m), B (h, n, m)
    Assumes      the function `bucket`: both directions in an encoder, only earlier keys in a decoder; Raffel et al. use
                 32 buckets up to distance 128
    Source       Raffel et al. (2020), section 2.1
    """
    let = Equations()
    numbers = let("N")(RelativeBuckets(queries, keys, buckets, max_distance, bidirectional))
    bias = let("B")(Chosen(table, numbers))
    return Layer("relative_position_bias", (), (table,), let, bias)


BIAS = relative_position_bias()
LOOKED_UP = (BIAS.equation("B"),)
IN_TABLE = (
    Assumption(Ge(N[i, j], 0, evaluate=False), {i: n, j: m}, "buckets count from 0"),
    Assumption(Ge(buckets - 1 - N[i, j], 0, evaluate=False), {i: n, j: m}, "every distance has a bucket"),
)


@result
def definition() -> Derivation:
    """The bias is the number of head t for the bucket of the distance from query to key."""
    return derivation(
        "Definition of the relative position bias, $N_ij$ being the bucket of the distance $j - i$",
        claim(B[t, i, j], step("definition", Indexed(table.base, N[i, j], t))),
        about=LOOKED_UP,
        ranges={t: h, i: n, j: m},
        assuming=IN_TABLE,
        source=RAFFEL,
    )


@result
def distance_alone() -> Derivation:
    """A query and a key shifted by equally many positions keep their bias: pairs at one distance share a number."""
    ranges = {s: n, i: n - s, j: m - s}
    same = Eq(N[i + s, j + s], N[i, j], evaluate=False)
    return derivation(
        "Where the bucket of a pair is that of its distance, the bias of the pair depends on the distance alone",
        claim(B[t, i + s, j + s], step("assumption", B[t, i, j])),
        about=LOOKED_UP,
        ranges={t: h, **ranges},
        assuming=[*IN_TABLE, Assumption(same, {}, "a pair as far apart has the same bucket")],
        source=RAFFEL,
    )


@result
def shift_invariance() -> Derivation:
    """A number added to the whole column of a head has no effect: of buckets h numbers, h are redundant."""
    S, c, A = array("S", h, n, m), array("c", h), array("A", h, n, m)
    moved = Tabulated(Lambda((i, j), S[t, i, j] + B[t, i, j] + c[t]), n, m)
    return derivation(
        "Adding a constant to a head's column of the table leaves its attention weights as they are",
        claim(row_softmax(moved)[i, k], step("exponent", A[t, i, k])),
        about=(Equation(A[t], row_softmax(S[t] + B[t]), t, h),),
        ranges={t: h, i: n, k: m},
        source=RAFFEL,
    )


@result
def parameters() -> Derivation:
    """The number of parameters does not depend on the length: one table serves all texts."""
    return derivation(
        "A relative position bias has one parameter for each bucket and head, and takes no operation",
        claim(Count("parameters", BIAS), step("count", buckets * h)),
        claim(Count("FLOPs", BIAS), step("count", 0)),
        source=RAFFEL,
    )


@result
def gradient() -> Derivation:
    """A number of the table gets the sum of the gradients of all pairs of its bucket, for each head."""
    claims = local_claims(BIAS)
    return replace(
        claims,
        title="Relative position bias: a number of the table has as gradient the sum over the pairs of its bucket",
        assumptions=(*claims.assumptions, *IN_TABLE),
        source=RAFFEL,
    )


@result(topic="gradient")
def entries_added_by_number() -> Derivation:
    """Adding entries by number: each entry gets the gradient of the sum to which it was added."""
    claims = rule(
        "Entries added by number: $dB_{t,ij}$ is the entry $N_ij$ of column $t$ of $dY$",
        AddedEntries(B, N, buckets),
        B,
        N,
    )
    return replace(claims, assumptions=(*claims.assumptions, *IN_TABLE))
