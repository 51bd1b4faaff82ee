"""Sums over a row-major number d q + s and over its digits q and s: equal ones are proved, others are not."""

from typing import Any

import pytest
from sympy import Expr, Integer, KroneckerDelta, Sum, Symbol

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, SumOver
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.shapes import Blocks, total
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import claim, derivation, step
from derivations.symbols import d, h, i, m, n, size

g, r = size("g"), size("r")
H, V = array("H", n, Blocks(r, d)), array("V", Blocks(r, d), m)
H_g, V_g, h_r = array("H_g", g, n, r * d), array("V_g", g, Blocks(r, d), m), array("h_r", r, n, d)
x, y = array("x", r * d), array("y", r, d)
k, q, s = (Symbol(name, integer=True) for name in "kqs")


def flat(node: Array) -> Array:
    """Columns as numbers instead of blocks."""
    return ColumnRange(node, 0, total(node.shape[-1]))


def over_numbers(delta: Expr, length: Expr = r * d) -> Expr:
    """The sum over k of x_k and of the sum over q and s of a delta and y_qs."""
    inner = Sum(Sum(delta * y[q, s], (s, 0, d - 1)), (q, 0, r - 1))
    return Sum(inner * x[k], (k, 0, length - 1))


OVER_DIGITS = Sum(Sum(x[d * q + s] * y[q, s], (s, 0, d - 1)), (q, 0, r - 1))


def says(left: Any, right: Any, sizes: dict[Any, int], **ranges: Any) -> str:
    """What the judge says of an equality at some sizes."""
    of_sizes = {size: Integer(number) for size, number in sizes.items()}
    left, right = (replace_free(each, of_sizes) for each in (left, right))
    return judge(derivation("", claim(left, step("block product", right)), **ranges)).level


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (H @ V, flat(H) @ V),
        (H @ V, flat(H) @ flat(V.T).T),
        (Concatenate(h_r[i], i, r) @ V, flat(Concatenate(h_r[i], i, r)) @ flat(V.T).T),
        (SumOver(H_g[i] @ V_g[i], i, g), Concatenate(H_g[i], i, g) @ Concatenate(flat(V_g[i].T), i, g).T),
        (over_numbers(KroneckerDelta(k, d * q + s)), OVER_DIGITS),
        (over_numbers(KroneckerDelta(d * q + s, k)), OVER_DIGITS),
    ],
)
@pytest.mark.parametrize(
    "sizes", [{}, {r: 4}, {d: 4}, {r: 4, d: 80}, {r: 40, d: 3}, {r: 1}, {r: 1, d: 50}, {g: 3, r: 4}]
)
def test_a_sum_over_numbers_is_the_sum_over_their_digits(left: Any, right: Any, sizes: dict[Any, int]) -> None:
    assert says(left, right, sizes) == "proved"


@pytest.mark.parametrize(
    "left",
    [
        over_numbers(KroneckerDelta(k, d * q + s + 1)),
        over_numbers(KroneckerDelta(k, (d + 1) * q + s), (d + 1) * (r + 1)),
        over_numbers(KroneckerDelta(k, d * q + s), r * d - 1),
        over_numbers(KroneckerDelta(k, r * s + q)),
        over_numbers(2 * KroneckerDelta(k, d * q + s)),
    ],
)
@pytest.mark.parametrize("sizes", [{}, {r: 4}, {d: 4}, {r: 4, d: 40}, {r: 3, d: 4}])
def test_a_sum_over_other_numbers_is_not(left: Expr, sizes: dict[Any, int]) -> None:
    assert says(left, OVER_DIGITS, sizes) in ("refuted", "unknown")


@pytest.mark.parametrize("sizes", [{}, {g: 3, r: 4, d: 80}, {g: 15, r: 1, d: 80}, {r: 1}])
def test_blocks_of_a_block_of_columns_are_those_of_one_member(sizes: dict[Any, int]) -> None:
    X, W, U = array("X", n, h), array("W", g, h, Blocks(r, d)), array("U", g, h, d)
    wide = ColumnConcatenation(Concatenate(U[i], i, g), Concatenate(flat(W[i]), i, g))
    for start, expected in ((g * d, "proved"), (0, "not proved")):
        cut = ColumnBlock(ColumnRange(X @ wide, start, Blocks(g, r * d)), i)
        found = says(X @ W[i], ColumnRange(cut, 0, Blocks(r, d)), sizes, ranges={i: sizes.get(g, g)})
        assert (found == "proved") == (expected == "proved")
