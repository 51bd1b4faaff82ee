r"""Bands of positions: causal masks, windows to one side or to both sides, and the last rows of these masks.

Definition   in the band from a to b query i sees key j where a <= j - i <= b; a missing bound is infinite
Result       the causal mask is the band up to 0; a sliding window of w positions is the band from 1 - w to 0; the
             conjunction of two bands has the larger lower and the smaller upper bound; the last n of m rows of a band
             are the band moved by m - n, which is the mask of n new queries after a cache of m - n keys
Shapes       a mask of n queries and m keys (n, m)
Source       Golub and Van Loan (2013), section 1.2.1; Beltagy, Peters and Cohan (2020), section 3.1
"""

from sympy import Expr, Ge, oo

from derivations.attention.attention import DECODER, masked_attention, visible
from derivations.attention.causal import changed
from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import BandMask, CausalMask, MaskConjunction, WindowMask
from derivations.language.arrays.rows import RowRange
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d_k, d_v, i, j, m, n, size

__all__: list[str] = []

TOPIC = "attention"
WINDOWS = "Beltagy, Peters and Cohan (2020), section 3.1"
p, q, width = size("p"), size("q"), size("w")
Q, K, V = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v)
LAST = Assumption(Ge(m - n, 0, evaluate=False), {}, "$n$ of $m$ positions are the last")


@result
def bands() -> Derivation:
    """The masks of attention over positions are bands: a causal mask has one bound, a window has two."""
    return derivation(
        "The causal mask and the sliding window are bands of positions; two bounds make a band",
        claim(CausalMask(n), step("definition", BandMask(n, n, -oo, 0))),
        claim(WindowMask(n, width), step("definition", BandMask(n, n, 1 - width, 0))),
        claim(
            MaskConjunction(BandMask(n, m, -p, oo), BandMask(n, m, -oo, q)), step("indicator", BandMask(n, m, -p, q))
        ),
        source=WINDOWS,
    )


def last_rows(lower: Expr, upper: Expr) -> BandMask:
    """Return the mask of the last n of m positions, for the band over all m with the given bounds."""
    return BandMask(n, m, m - n + lower, m - n + upper)


@result
def last_rows_of_bands() -> Derivation:
    """With m - n cached keys, n new queries use the last n rows of the mask: the same band, moved by m - n columns."""
    every, mask = array("Q_all", m, d_k), mask_array("M_all", m, m)
    rows, shown = RowRange(every, m - n, n), RowRange(mask, m - n, n)
    return derivation(
        "The last $n$ of $m$ rows of a band are the band moved by $m - n$: a causal mask beside a cache of $m - "
        "n$ keys",
        claim(RowRange(BandMask(m, m, -p, q), m - n, n), step("indicator", last_rows(-p, q))),
        claim(RowRange(CausalMask(m), m - n, n), step("indicator", BandMask(n, m, -oo, m - n))),
        claim(RowRange(WindowMask(m, width), m - n, n), step("indicator", last_rows(1 - width, 0))),
        claim(
            RowRange(masked_attention.result(every, K, V, mask), m - n, n)[i],
            step("reindexing", masked_attention.result(rows, K, V, shown)[i]),
        ),
        ranges={i: n},
        assuming=[LAST, visible(i, shown)],
        source=DECODER,
    )


@result
def band_independence() -> Derivation:
    """Keys and values outside the band do not change output i, so they need not be read."""
    mask = BandMask(n, m, -p, q)
    seen = mask[i, j]
    other = [changed(rows, array(name, *rows.shape), seen) for rows, name in ((K, "Y"), (V, "Z"))]
    keys_too, values_too = (equation.target for equation in other)
    return derivation(
        "Output $i$ of attention in a band depends on the keys $j$ with $i - p <= j <= i + q$ alone",
        claim(
            masked_attention.result(Q, keys_too, values_too, mask)[i],
            step("indicator", masked_attention.result(Q, K, V, mask)[i]),
        ),
        about=other,
        ranges={i: n},
        assuming=[visible(i, mask)],
        source=WINDOWS,
    )
