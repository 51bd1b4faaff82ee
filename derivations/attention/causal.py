r"""Attention to the past: the causal mask, its cache, windows.

Definition   position i sees the positions j <= i
Result       output i is attention to the first i keys and values, so that a cache of them is exact
Shapes       Q and K (n, d_k), V and O (n, d_v), S and A (n, n)
Source       Vaswani et al. (2017), section 3.2.3
"""

from sympy import Expr, Gt, Lambda, Le, Sum, sqrt

from derivations.attention.attention import (
    DECODER,
    O,
    keys,
    masked_attention,
    queries,
    values,
)
from derivations.attention.masks import first
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.functions import CausalMask, row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.layers.layer import Equation, Equations
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.symbols import d_k, d_v, i, j, l, n, size

__all__: list[str] = []

TOPIC = "attention"


def causal_attention() -> Equations:
    """Return attention of n positions, each to itself and to earlier positions, as equations."""
    let = Equations()
    scores = let("S")(queries @ keys.T / sqrt(d_k))
    let("O")(let("A")(row_softmax(scores, CausalMask(n))) @ values)
    return let


@result
def causal_weights() -> Derivation:
    """Under the causal mask later positions have weight 0; each position sees itself, so its weights sum to 1."""
    past = array("A", n, n)
    return derivation(
        "Causal attention weights are 0 for later positions, and sum to 1",
        claim(Iverson(Gt(j, i, evaluate=False)) * past[i, j], step("indicator", 0)),
        claim(Iverson(Le(j, i, evaluate=False)) * past[i, j], step("indicator", past[i, j])),
        claim(Sum(past[i, j], (j, 0, n - 1)), step("algebra", 1)),
        about=list(causal_attention()),
        ranges={i: n, j: n},
        source=DECODER,
    )


def changed(rows: Array, other: Array, seen: Expr) -> Equation:
    """Return the definition of rows that are unchanged where position i sees them, and arbitrary elsewhere."""
    moved = Lambda((j, l), seen * rows[j, l] + (1 - seen) * other[j, l])
    return Equation(array(f"{rows.name}_tilde", *rows.shape), Tabulated(moved, *rows.shape))


def changed_elsewhere(seen: Expr) -> tuple[Equation, Equation]:
    """Return the definitions of keys and values that differ at positions j that position i does not see."""
    other_keys, other_values = array("Y", n, d_k), array("Z", n, d_v)
    return changed(keys, other_keys, seen), changed(values, other_values, seen)


@result
def causal_independence() -> Derivation:
    """Keys and values at later positions do not change output i."""
    other = changed_elsewhere(Iverson(Le(j, i, evaluate=False)))
    keys_too, values_too = (equation.target for equation in other)
    return derivation(
        "Output $i$ of causal attention does not depend on keys and values at positions $j > i$",
        claim(masked_attention.result(queries, keys_too, values_too, CausalMask(n))[i], step("indicator", O[i])),
        about=(*other, *causal_attention()),
        ranges={i: n},
        source=DECODER,
    )


@result
def sliding_window() -> Derivation:
    """With a window of w positions an output reads at most w keys, however long the sequence is."""
    width, mask = size("w"), mask_array("M", n, n)
    seen = Iverson(Le(j, i, evaluate=False)) * Iverson(Gt(j, i - width, evaluate=False))
    other = changed_elsewhere(seen)
    keys_too, values_too = (equation.target for equation in other)
    return derivation(
        "Output $i$ of attention in a window depends on the last $w$ positions up to $i$ alone",
        claim(
            masked_attention.result(queries, keys_too, values_too, mask)[i],
            step("indicator", masked_attention.result(queries, keys, values, mask)[i]),
        ),
        about=(Equation(mask, Tabulated(Lambda((i, j), seen), n, n)), *other),
        ranges={i: n},
        source="Beltagy, Peters and Cohan (2020), section 3.1",
    )


@result
def causal_prefix() -> Derivation:
    """A cache is exact: output i depends only on keys and values up to position i, which do not change later."""
    cached_keys, cached_values = array("K_cache", i + 1, d_k), array("V_cache", i + 1, d_v)
    return derivation(
        "Output $i$ of causal attention over $n$ positions is the attention of query $i$ to the first $i$ keys "
        "and values",
        claim(
            O[i],
            step("indicator", row_softmax(cached_keys @ queries[i] / sqrt(d_k)) @ cached_values),
        ),
        about=[
            *causal_attention(),
            Equation(cached_keys, first(keys, i + 1)),
            Equation(cached_values, first(values, i + 1)),
        ],
        ranges={i: n},
        source="Shazeer (2019), section 2.4",
    )


@result
def causal_first_position() -> Derivation:
    """The first position sees only itself: its output is its value."""
    return derivation(
        "Output 1 of causal attention is value 1",
        claim(O[0], step("indicator", values[0])),
        about=list(causal_attention()),
        source=DECODER,
    )
