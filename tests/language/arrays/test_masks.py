"""Bands of positions: entries, counts, what is one band, what the judge says, and masks by formulas of integers."""

from itertools import product

import numpy as np
import pytest
from sympy import Eq, Ge, Lambda, Le, Lt, Ne, Symbol, expand, floor, oo

from derivations.attention.band_masks import band_independence, bands, last_rows_of_bands
from derivations.language.arrays.arrangements import Numbers, Tabulated
from derivations.language.arrays.expression import ColumnBroadcast, RowBroadcast, array, mask_array, token_array
from derivations.language.arrays.functions import CausalMask, Lookup, MaskConjunction, WindowMask, named, row_softmax
from derivations.language.arrays.masks import BandMask, as_band, band_mask, chunks_of
from derivations.language.arrays.rows import RowRange
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import ShapeError
from derivations.language.counting.mask_sparsity import visible_pairs
from derivations.language.decoding.positions import looks_back
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Equations, Layer
from derivations.language.printing.explicit import explicit
from derivations.language.results.derivation import claim, derivation, step
from derivations.softmax.cross_entropy import cross_entropy
from derivations.symbols import d_k, d_v, m, n, size
from numeric import compile_layer
from numeric.optimize.prepare import prepare
from numeric.runtime.checks import InputError

i, j, length = (Symbol(name, integer=True) for name in ("i", "j", "length"))
w = size("w")


def seen(rows, columns, lower, upper):
    return [[bool(lower <= c - r <= upper) for c in range(columns)] for r in range(rows)]


@pytest.mark.parametrize(
    ("lower", "upper"), [(-oo, 0), (-oo, 2), (-2, 1), (1, oo), (-oo, oo), (-9, -2), (2, 1), (5, 9)]
)
def test_entries_and_pairs_are_those_of_a_loop(lower, upper):
    for rows, columns in product((1, 2, 5), (1, 3, 7)):
        mask, wanted = BandMask(rows, columns, lower, upper), seen(rows, columns, lower, upper)
        assert explicit(mask).tolist() == [[int(each) for each in row] for row in wanted]
        assert visible_pairs(mask) == sum(map(sum, wanted))


def test_the_usual_masks_are_bands():
    assert expand(visible_pairs(CausalMask(n)) - n * (n + 1) / 2) == 0
    assert (WindowMask(n, w).lower, WindowMask(n, w).upper) == (1 - w, 0)
    assert band_mask(n, m, right=0, offset=m - n) == BandMask(n, m, -oo, m - n)
    assert visible_pairs(MaskConjunction(BandMask(5, 7, -1, oo), BandMask(5, 7, -oo, 2))) == visible_pairs(
        BandMask(5, 7, -1, 2)
    )


def test_chunks_show_the_pairs_of_a_loop():
    """Of 7 and of 6 positions in chunks of 3, each sees itself and those before it in its chunk."""
    for count in (6, 7):
        chunks = Tabulated(Lambda((i, j), Iverson(Ge(j, 3 * floor(i / 3)))), count, count)
        behind = MaskConjunction(CausalMask(count), chunks)
        wanted = [[c <= r and r // 3 == c // 3 for c in range(count)] for r in range(count)]
        assert explicit(behind).tolist() == [[int(each) for each in row] for row in wanted]
        assert visible_pairs(behind) == sum(map(sum, wanted))
        assert visible_pairs(chunks) == sum(count - 3 * (r // 3) for r in range(count))
    assert chunks_of(chunks) == 3
    assert chunks_of(Tabulated(Lambda((i, j), Iverson(Ge(j, 3 * floor(i / 2)))), 7, 7)) is None
    assert chunks_of(Tabulated(Lambda((i, j), Iverson(Le(j, 3 * floor(i / 3)))), 7, 7)) is None


def test_a_band_that_is_none_is_refused():
    with pytest.raises(ShapeError, match="no key lies between 3 and 1"):
        BandMask(n, m, 3, 1)
    with pytest.raises(ShapeError, match="upper bound must be an integer"):
        BandMask(n, m, 0, Symbol("x", real=True))


def test_a_table_of_brackets_is_the_band_that_it_states():
    table = Tabulated(Lambda((i, j), Iverson(Le(j, i + m - n)) * Iverson(Lt(i - 3, j))), n, m)
    assert table.kind == "boolean"
    assert as_band(table) == BandMask(n, m, -2, m - n)
    assert as_band(Tabulated(Lambda((i, j), Iverson(Le(2 * j, i))), n, m)) is None
    assert as_band(Tabulated(Lambda((i, j), Iverson(Eq(j, i))), n, m)) is None


def test_what_looks_ahead_is_no_mask_of_the_past():
    assert looks_back(BandMask(n, n, -2, 0), lambda node: False)
    assert looks_back(Tabulated(Lambda((i, j), Iverson(Le(j, i))), n, n), lambda node: False)
    assert not looks_back(BandMask(n, n, -2, 1), lambda node: False)


def test_the_judge_proves_bands_and_refutes_one_that_is_too_wide():
    assert {each().evidence.level for each in (bands, last_rows_of_bands, band_independence)} == {"proved"}
    last = last_rows_of_bands()
    wider = claim(RowRange(CausalMask(m), m - n, n), step("indicator", BandMask(n, m, -oo, m - n + 1)))
    assert derivation("false", wider, assuming=last.assumptions).evidence.level == "refuted"


def test_formulas_of_integers_have_kinds():
    tokens, mask, x = token_array("t", n), mask_array("M", n), array("x", n)
    assert named("other", Iverson(Ne(i, 5)), i)(tokens).kind == "boolean"
    assert named("kept", i * Iverson(Ne(i, 5)), i)(tokens).kind == "integer"
    assert named("hidden", Iverson(Eq(i, 0)), i)(mask).kind == "boolean"
    assert named("half", i / 2, i)(tokens).kind == named("positive", Iverson(Lt(0, i)), i)(x).kind == "real"
    with pytest.raises(ShapeError, match="a table of integers"):
        Numbers(Lambda((j,), j / 2), m)


# --- compiled ---------------------------------------------------------------------------------------------------------

Q, K, V = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v)
LENGTH = token_array("length")
NEAR = named("near", Iverson(Le(j, i + length - n)), i, j, length)(
    ColumnBroadcast(Numbers(Lambda((i,), i), n), m), RowBroadcast(Numbers(Lambda((j,), j), m), n), LENGTH
)
MASKS = {
    "beside a cache": (band_mask(n, m, right=0, offset=m - n), (), seen(3, 7, -oo, 4)),
    "to both sides": (band_mask(n, m, left=1, right=2), (), seen(3, 7, -1, 2)),
    "a table": (Tabulated(Lambda((i, j), Iverson(Le(j, i + 1))), n, m), (), seen(3, 7, -oo, 1)),
    "of a length": (NEAR, (np.array(5),), seen(3, 7, -oo, 2)),
}


@pytest.mark.parametrize(("mask", "given", "shown"), MASKS.values(), ids=MASKS)
def test_attention_shows_what_its_mask_does(mask, given, shown):
    let = Equations()
    M = let("M")(mask)
    O = let("O")(row_softmax(Q @ K.T, M) @ V)
    layer = Layer("attention", (Q, K, V, *([LENGTH] if given else [])), (), let, O)
    rng = np.random.default_rng(2)
    q, k, v = (rng.standard_normal(shape) for shape in ((3, 2), (7, 2), (7, 5)))
    weights = np.where(shown, np.exp(q @ k.T), 0)
    wanted = weights / weights.sum(-1, keepdims=True) @ v
    for run in (compile_layer(layer), prepare(layer, {}, threads=1)):
        np.testing.assert_allclose(run(q, k, v, *given), wanted, rtol=1e-12)


def test_a_table_that_is_given_is_looked_up_item_by_item():
    E, tokens, vocab = array("E", size("v"), d_k), token_array("t", n), 5
    let = Equations()
    layer = Layer("looked_up", (E, tokens), (), let, let("Y")(Lookup(E * 2, tokens)))
    table, numbers = np.random.default_rng(3).standard_normal((2, vocab, 3)), np.array([[4, 4, 1], [0, 2, 2]])
    wanted = np.stack([2 * table[b][numbers[b]] for b in range(2)])
    np.testing.assert_array_equal(compile_layer(layer)(table, numbers), wanted)
    g = np.ones((2, 3, 3))
    counts = np.stack([np.bincount(each, minlength=vocab) for each in numbers])
    found = compile_layer(gradient(layer))(table, numbers, g)
    np.testing.assert_array_equal(found, np.broadcast_to(2.0 * counts[..., None], (2, vocab, 3)))


def test_an_ignored_token_counts_nothing_and_others_must_have_a_column():
    loss = compile_layer(cross_entropy(ignore_index=-100))
    X, plain = np.random.default_rng(4).standard_normal((3, 5)), compile_layer(cross_entropy())
    assert loss(X, np.array([1, -100, 4])) == pytest.approx(plain(X[[0, 2]], np.array([1, 4])), rel=1e-14)
    assert loss(X, np.full(3, -100)) == 0
    slopes = compile_layer(gradient(cross_entropy(ignore_index=-100)))(X, np.full(3, -100), np.array(1.0))
    assert not slopes.any()
    with pytest.raises(InputError, match="tokens holds the token 7"):
        loss(X, np.array([1, -100, 7]))
    with pytest.raises(ValueError, match="soft cross-entropy has no tokens"):
        cross_entropy(soft=True, ignore_index=0)


def test_an_output_that_is_read_has_a_total_of_its_own():
    """The gradient that is given and the whole one are two arrays: one name for both lost the first."""
    let = Equations()
    S = let("S")(Q @ K.T)
    A = let("A")(row_softmax(S))
    backward = gradient(Layer("weights", (Q, K), (), let, (A, S)))
    defined = {equation.variable for equation in backward.equations}
    assert not defined & set(backward.inputs)
