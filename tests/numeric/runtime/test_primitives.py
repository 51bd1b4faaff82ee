"""The array functions of compiled source, each against loops or by hand."""

import numpy as np
import pytest

from numeric.runtime import primitives
from numeric.runtime.primitives import (
    add_entries,
    add_rows,
    add_weights,
    add_windows,
    backward_through,
    choose,
    column_sums,
    concatenate_columns,
    concatenate_heads,
    corrected_recurrence,
    forward_through,
    interleave,
    like,
    look_up,
    masked_row_exponentials,
    masked_row_max,
    masked_row_softmax,
    merge_axes,
    normalised,
    pick,
    place_axis,
    place_block,
    place_rows,
    product_over_batch,
    recurrence,
    relative_buckets,
    routed_outer,
    routed_outer_over_batch,
    routed_product,
    row_exponentials,
    row_log_sum_exp,
    row_softmax,
    scatter_rows,
    signed_buckets,
    split_axis,
    split_heads,
    stack_rows,
    stretch,
    sum_batch,
    take_rows,
    top_k,
    top_k_mask,
    windows,
)

BATCHES = [(), (2,), (2, 3)]
DTYPES = [np.float32, np.float64]


@pytest.fixture
def rng():
    return np.random.default_rng(17)


def test_parts_beside_one_another_have_the_batch_axes_of_all():
    whole = concatenate_columns(np.ones((2, 3)), np.zeros((5, 2, 7)))
    assert whole.shape == (5, 2, 10)
    assert (whole == ([1.0] * 3 + [0.0] * 7)).all()


def test_axes_are_split_merged_and_placed(rng):
    x = rng.normal(size=(2, 5, 6))
    parts = split_axis(x, -1, 3)
    assert parts.shape == (2, 5, 2, 3) and (parts[..., 1, 2] == x[..., 5]).all()
    assert (merge_axes(parts, -2) == x).all()
    assert (split_axis(x, -2, 5)[:, 0] == x).all()
    placed = place_axis(x, -2, 1, 11, 2)
    assert placed.shape == (2, 11, 6) and (placed[:, 1:10:2] == x).all() and (placed[:, ::2] == 0).all()


def test_the_largest_visible_entry_of_a_row(rng):
    x = np.array([[1.0, 7.0, 3.0], [2.0, 5.0, 4.0]])
    assert (masked_row_max(x, np.array([[True, False, True], [True, True, True]])) == [3.0, 5.0]).all()
    assert np.isfinite(masked_row_max(x, np.zeros((2, 3), bool))).all()


def test_every_primitive_is_tested_here():
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    assert all(text.count(name) >= 2 for name in primitives.__all__)


# Rows sent to matrices


@pytest.mark.parametrize("batch", BATCHES)
def test_every_row_meets_the_matrix_of_its_number(rng, batch):
    rows, others, family = rng.normal(size=(*batch, 7, 3)), rng.normal(size=(*batch, 7, 2)), rng.normal(size=(5, 3, 2))
    numbers = rng.integers(0, 5, size=(*batch, 7))
    products, outer = routed_product(rows, family, numbers), routed_outer(rows, others, numbers, 5)
    expected = np.zeros((*batch, 5, 3, 2))
    for place in np.ndindex(*batch, 7):
        np.testing.assert_allclose(products[place], rows[place] @ family[numbers[place]], rtol=1e-13)
        expected[(*place[:-1], numbers[place])] += np.outer(rows[place], others[place])
    np.testing.assert_allclose(outer, expected, rtol=1e-12, atol=1e-14)
    whole = routed_outer_over_batch(rows, others, numbers, 5)
    np.testing.assert_allclose(whole, expected.reshape(-1, 5, 3, 2).sum(axis=0), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_state_is_a_decayed_state_and_what_is_added(rng, batch, backwards):
    decays, added = rng.normal(size=(*batch, 7, 3)), rng.normal(size=(*batch, 7, 3, 2))
    states = recurrence(decays, added, 2, 3, backwards)
    for place in np.ndindex(*batch):
        state = np.zeros((3, 2))
        for t in reversed(range(7)) if backwards else range(7):
            decay = decays[(*place, t + 1)] if backwards and t < 6 else decays[(*place, t)]
            state = np.exp(decay)[:, None] * state + added[(*place, t)]
            np.testing.assert_allclose(states[(*place, t)], state, rtol=1e-12)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("behind", [(), (2,), (2, 5)])
def test_a_state_may_be_changed_by_a_matrix_of_rank_one(rng, batch, backwards, behind):
    decays, columns, rows = rng.normal(size=(*batch, 7)), *rng.normal(size=(2, *batch, 7, 3))
    added = rng.normal(size=(*batch, 7, 3, *behind))
    states = corrected_recurrence(decays, added, columns, rows, 2, 1, 2 + len(behind), backwards)
    for place in np.ndindex(*batch):
        state = np.zeros((3, *behind))
        for t in reversed(range(7)) if backwards else range(7):
            at = (*place, min(t + 1, 6) if backwards else t)
            matrix = np.exp(decays[at]) * np.eye(3) + np.outer(columns[at], rows[at])
            state = np.tensordot(matrix, state, 1) + added[(*place, t)]
            np.testing.assert_allclose(states[(*place, t)], state, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("batch", BATCHES)
def test_the_largest_entries_are_named_in_order(rng, batch):
    scores = rng.integers(0, 4, size=(*batch, 7, 11))  # with many ties
    chosen = top_k(scores, 5)
    assert chosen.shape == (*batch, 5, 7)
    for place in np.ndindex(*batch, 7):
        row = scores[place].tolist()
        best = sorted(range(11), key=lambda entry: (-row[entry], entry))[:5]
        assert chosen[(*place[:-1], slice(None), place[-1])].tolist() == best


@pytest.mark.parametrize("batch", BATCHES)
def test_the_largest_visible_entries_are_shown(rng, batch):
    scores, visible = rng.integers(0, 4, size=(*batch, 7, 11)), rng.integers(2, size=(*batch, 7, 11)) > 0
    visible[..., 3, :] = False
    shown = top_k_mask(scores, visible, 3)
    for place in np.ndindex(*batch, 7):
        seen = [entry for entry in range(11) if visible[(*place, entry)]]
        best = sorted(seen, key=lambda entry: (-scores[(*place, entry)], entry))[:3]
        assert np.flatnonzero(shown[place]).tolist() == sorted(best)


# Rows


@pytest.mark.parametrize("base", [np.e, 2, 10])
@pytest.mark.parametrize("batch", BATCHES)
def test_exponentials_are_powers_below_the_largest_visible_entry(rng, batch, base):
    x, seen = rng.normal(size=(*batch, 5, 7)), rng.random((*batch, 5, 7)) < 0.6
    seen[..., 3, :] = False
    powers, shown = row_exponentials(x, base), masked_row_exponentials(x, seen, base)
    for place in np.ndindex(*batch, 5):
        keys = seen[place]
        np.testing.assert_allclose(powers[place], base ** (x[place] - max(x[place])), rtol=1e-14)
        np.testing.assert_allclose(shown[place][keys], row_exponentials(x[place][keys], base), rtol=1e-14)
        assert not shown[place][~keys].any()
    divided = normalised(shown, shown.sum(axis=-1))
    np.testing.assert_allclose(divided, masked_row_softmax(x * np.log(base), seen), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("base", [np.e, 2, 10])
def test_exponentials_of_extreme_entries(dtype, base):
    """Warnings are errors here, so that an overflow would fail."""
    largest = np.finfo(dtype).max
    found = row_exponentials(np.array([[largest, -largest], [-np.inf, 0], [-np.inf, -np.inf]], dtype), base)
    assert found.dtype == dtype
    assert found.tolist() == [[1, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize("batch", BATCHES)
def test_log_sum_exp_is_the_logarithm_of_the_sum(rng, batch):
    x = rng.normal(size=(*batch, 5, 7))
    np.testing.assert_allclose(row_log_sum_exp(x), np.log(np.exp(x).sum(axis=-1)), rtol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
def test_log_sum_exp_of_extreme_entries(dtype):
    """Warnings are errors here, so that an overflow would fail."""
    largest = np.finfo(dtype).max / 2
    rows = np.array([[largest, largest], [-largest, -largest], [1000, 0], [-1000, -1000]], dtype)
    found = row_log_sum_exp(rows)
    assert found.dtype == dtype
    expected = [largest, -largest, 1000, -1000 + np.log(2)]
    np.testing.assert_allclose(found, expected, rtol=2 * np.finfo(dtype).eps)


def test_softmax_of_visible_entries(rng):
    x = rng.normal(size=(2, 3, 5))
    visible = rng.random((3, 5)) < 0.5
    visible[0] = False
    weights = masked_row_softmax(x, visible)
    assert (weights[:, 0] == 0).all() and (weights[:, ~visible] == 0).all()
    for row in (1, 2):
        seen = visible[row]
        np.testing.assert_allclose(weights[:, row, seen], row_softmax(x[:, row, seen]), rtol=1e-15)


# Choices by number


def test_pick_takes_the_entry_that_the_token_names(rng):
    matrix, tokens = rng.normal(size=(2, 3, 5)), rng.integers(5, size=(2, 3))
    expected = [[matrix[a, i, tokens[a, i]] for i in range(3)] for a in range(2)]
    assert pick(matrix, tokens).tolist() == expected


def test_pick_broadcasts_batch_axes_of_either(rng):
    matrix, tokens = rng.normal(size=(3, 5)), rng.integers(5, size=(2, 3))
    assert pick(matrix, tokens).tolist() == [[matrix[i, row[i]] for i in range(3)] for row in tokens]
    matrix = rng.normal(size=(7, 1, 3, 5))
    found = pick(matrix, tokens)
    assert found.shape == (7, 2, 3) and found[4, 1, 2] == matrix[4, 0, 2, tokens[1, 2]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_scattered_rows_of_one_token_add_up(dtype):
    rows = np.array([[1, 2], [3, 5], [7, 11]], dtype)
    table = scatter_rows(rows, np.array([2, 0, 2]), 5)
    assert table.dtype == dtype
    assert table.tolist() == [[3, 5], [0, 0], [8, 13], [0, 0], [0, 0]]


@pytest.mark.parametrize("batch", BATCHES[1:])
def test_scattered_rows_of_a_batch_add_up_in_one_table(rng, batch):
    rows, tokens = rng.normal(size=(*batch, 3, 2)), rng.integers(5, size=(*batch, 3))
    each = sum(scatter_rows(rows[place], tokens[place], 5) for place in np.ndindex(batch))
    np.testing.assert_allclose(scatter_rows(rows, tokens, 5), each, rtol=1e-14, atol=1e-15)
    shared = tokens[(0,) * len(batch)]
    each = sum(scatter_rows(rows[place], shared, 5) for place in np.ndindex(batch))
    np.testing.assert_allclose(scatter_rows(rows, shared, 5), each, rtol=1e-14, atol=1e-15)


def test_scattering_is_the_adjoint_of_the_look_up(rng):
    table, rows, tokens = rng.normal(size=(5, 2)), rng.normal(size=(3, 2)), np.array([4, 0, 4])
    assert (table[tokens] * rows).sum() == pytest.approx((table * scatter_rows(rows, tokens, 5)).sum(), rel=1e-14)


# Columns and rows moved


@pytest.mark.parametrize("batch", BATCHES)
def test_heads_side_by_side_and_apart_again(rng, batch):
    heads = rng.normal(size=(*batch, 2, 5, 3))
    wide = concatenate_heads(heads)
    assert wide.shape == (*batch, 5, 6)
    assert (wide[..., 3:] == heads[..., 1, :, :]).all()
    assert (split_heads(wide, 2) == heads).all()


@pytest.mark.parametrize("batch", BATCHES)
def test_one_block_of_columns_among_zeros(rng, batch):
    columns = rng.normal(size=(*batch, 5, 3))
    for block in range(4):
        wide = place_block(columns, block, 4)
        assert wide.shape == (*batch, 5, 12)
        assert (wide[..., 3 * block : 3 * block + 3] == columns).all()
        assert np.abs(wide).sum() == pytest.approx(np.abs(columns).sum(), rel=1e-14)


def test_columns_in_turn(rng):
    even, odd = rng.normal(size=(2, 5, 3)), rng.normal(size=(5, 3))
    found = interleave(even, odd)
    assert (found[..., 0::2] == even).all() and (found[..., 1::2] == odd).all()


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("width", [1, 2, 5])
def test_windows_hold_the_rows_one_after_the_other(rng, batch, width):
    rows = rng.normal(size=(*batch, 5, 3))
    found = windows(rows, width)
    assert found.shape == (*batch, 6 - width, 3 * width)
    for start in range(6 - width):
        for t in range(width):
            assert (found[..., start, 3 * t : 3 * t + 3] == rows[..., start + t, :]).all()


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("width", [1, 2, 5])
def test_adding_windows_is_the_adjoint_of_taking_them(rng, batch, width):
    rows, stretches = rng.normal(size=(*batch, 5, 3)), rng.normal(size=(*batch, 6 - width, 3 * width))
    added = add_windows(stretches, 5)
    assert added.shape == rows.shape
    assert (windows(rows, width) * stretches).sum() == pytest.approx((rows * added).sum(), rel=1e-12)


@pytest.mark.parametrize(
    ("given", "shape", "wanted"),
    [
        ((5, 1), (5, 3), (5, 3)),
        ((2, 7, 5, 1), (5, 3), (2, 7, 5, 3)),
        ((1,), (2, 3, 5), (2, 3, 5)),
        ((2, 1), (7, 2, 3), (7, 2, 3)),
        ((), (3,), (3,)),
        ((2, 7), (), (2, 7)),
        ((), (), ()),
    ],
)
def test_stretching_repeats_along_axes_of_length_1_and_keeps_batch_axes(rng, given, shape, wanted):
    x = np.asarray(rng.normal(size=given))
    found = stretch(x, *shape)
    assert found.shape == wanted
    assert (found == np.broadcast_to(x, wanted)).all()


def test_stretching_to_another_length_is_refused(rng):
    with pytest.raises(ValueError, match="broadcast"):
        stretch(rng.normal(size=(2, 3)), 2, 5)


# Sums over a batch


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("shape", [(3,), (3, 5), (2, 3, 5)])
def test_the_gradient_by_a_weight_is_the_sum_over_the_batch(rng, batch, shape):
    gradients = rng.normal(size=(*batch, *shape))
    expected = sum(gradients[place] for place in np.ndindex(batch))
    found = sum_batch(gradients, len(shape))
    assert found.shape == shape
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(("x_batch", "g_batch"), [((), ()), ((2,), (2,)), ((2, 3), (2, 3)), ((2, 1), (3,)), ((), (2,))])
def test_a_product_over_the_batch_is_the_sum_of_the_products(rng, x_batch, g_batch):
    x, g = rng.normal(size=(*x_batch, 7, 3)), rng.normal(size=(*g_batch, 7, 5))
    products = np.einsum("...ni,...nj->...ij", x, g).reshape(-1, 3, 5)
    found = product_over_batch(x, g)
    assert found.shape == (3, 5)
    np.testing.assert_allclose(found, products.sum(axis=0), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [((5, 7), (5, 7)), ((2, 5, 7), (5, 7)), ((2, 3, 5, 7), (3, 5, 7)), ((2, 3, 5, 7), (2, 1, 5, 7)),
     ((2, 3, 5, 7), (1, 5, 7)), ((), ()), ((2, 3), ())],
)  # fmt: skip
def test_a_gradient_is_summed_to_the_shape_of_its_input(rng, shape, wanted):
    g = np.asarray(rng.normal(size=shape))
    found = like(g, np.zeros(wanted))
    assert found.shape == wanted
    ones = np.asarray(rng.normal(size=wanted))  # the adjoint of broadcasting: <like(g), x> = <g, broadcast x>
    assert (found * ones).sum() == pytest.approx((g * ones).sum(), rel=1e-12)


def test_a_gradient_of_zero_gets_the_batch_axes_of_its_input():
    assert like(np.zeros((5, 7)), np.ones((2, 3, 5, 7))).tolist() == np.zeros((2, 3, 5, 7)).tolist()


# Stacks


def test_a_stack_goes_forward_and_its_gradients_come_back():
    """Layer l is x -> a_l x + s: the gradient by x is a_1 a_2 a_3, by s 1 + a_3 + a_2 a_3, by a_l x_{l-1} times the
    factors after it."""
    weights = [{"a": 2.0}, {"a": 3.0}, {"a": 5.0}]

    def forward(x, shift, a, scale):
        return scale * (a * x + shift), (x,)

    def backward(gradient, tape, a, scale):
        (x,) = tape
        return scale * gradient * a, scale * gradient, {"a": scale * gradient * x}

    value, tapes = forward_through(forward, 7.0, weights, 1.0, scale=1)
    assert value == 5 * (3 * (2 * 7 + 1) + 1) + 1
    assert tapes == [(7.0,), (15.0,), (46.0,)]
    by_x, by_shift, by_weights = backward_through(backward, 1.0, tapes, weights, scale=1)
    assert (by_x, by_shift) == (30, 1 + 5 + 15)
    assert by_weights == [{"a": 7 * 15}, {"a": 15 * 5}, {"a": 46}]


def test_an_empty_stack_passes_everything_on():
    assert forward_through(None, 7.0, []) == (7.0, [])
    assert backward_through(None, 1.0, [], []) == (1.0, [])


def test_a_stack_with_a_tape_too_few_is_refused():
    with pytest.raises(ValueError, match="zip"):
        backward_through(lambda gradient, tape, **own: (gradient, {}), 1.0, [()], [{}, {}])


def test_nested_gradients_add_up(rng):
    one, other = ({"a": rng.normal(size=2), "b": [{"c": rng.normal(size=3)}]} for _ in range(2))
    found = add_weights(one, other)
    assert (found["a"] == one["a"] + other["a"]).all()
    assert (found["b"][0]["c"] == one["b"][0]["c"] + other["b"][0]["c"]).all()
    with pytest.raises(ValueError, match="zip"):
        add_weights({"b": [one]}, {"b": []})


# Rows taken, placed, stacked; entries by number


@pytest.mark.parametrize("batch", BATCHES)
def test_rows_are_taken_and_placed(rng, batch):
    matrix = rng.normal(size=(*batch, 7, 3))
    taken = take_rows(matrix, 1, 3, 2)
    np.testing.assert_array_equal(taken, np.stack([matrix[..., row, :] for row in (1, 3, 5)], axis=-2))
    placed = place_rows(taken, 1, 11, 2)
    assert placed.shape == (*batch, 11, 3)
    np.testing.assert_array_equal(placed[..., [1, 3, 5], :], taken)
    assert not placed[..., [0, 2, 4, *range(6, 11)], :].any()


@pytest.mark.parametrize("batch", BATCHES)
def test_rows_are_stacked_on_those_of_every_item(rng, batch):
    above, below = rng.normal(size=(2, 3)), rng.normal(size=(*batch, 5, 3))
    stacked = stack_rows(above, below)
    assert stacked.shape == (*batch, 7, 3)
    np.testing.assert_array_equal(stacked[..., 2:, :], below)
    np.testing.assert_array_equal(stacked[..., :2, :], np.broadcast_to(above, (*batch, 2, 3)))


@pytest.mark.parametrize("batch", BATCHES)
def test_entries_are_chosen_and_added_by_number(rng, batch):
    table, numbers = rng.normal(size=(5, 3)), rng.integers(5, size=(*batch, 2, 7))
    chosen = choose(table, numbers)
    matrices, added = rng.normal(size=(*batch, 3, 2, 7)), np.zeros((*batch, 5, 3))
    for place, number in np.ndenumerate(numbers):
        *item, row, column = place
        np.testing.assert_array_equal(chosen[(*item, slice(None), row, column)], table[number])
        added[(*item, number)] += matrices[(*item, slice(None), row, column)]
    np.testing.assert_allclose(add_entries(matrices, numbers, 5), added, rtol=0, atol=1e-14)


@pytest.mark.parametrize("batch", BATCHES)
def test_every_row_is_added_to_the_row_of_its_token(rng, batch):
    rows, tokens = rng.normal(size=(*batch, 5, 3)), rng.integers(4, size=(*batch, 5))
    added = np.zeros((*batch, 4, 3))
    for item in np.ndindex(*batch, 5):
        added[(*item[:-1], tokens[item])] += rows[item]
    np.testing.assert_allclose(add_rows(rows, tokens, 4), added, rtol=0, atol=1e-14)
    found = look_up(added, tokens)
    for item in np.ndindex(*batch, 5):
        np.testing.assert_array_equal(found[item], added[(*item[:-1], tokens[item])])


def test_a_gradient_has_the_shape_of_its_input_beside_an_empty_batch():
    assert like(np.ones((0, 5, 3)), np.ones((1, 5, 3))).tolist() == np.zeros((1, 5, 3)).tolist()


def test_buckets_of_distances_by_hand():
    back = [[0, 0, 0, 0], [1, 0, 0, 0], [2, 1, 0, 0], [3, 2, 1, 0]]  # 5 buckets: 0, 1, 2, 3 and from 5 on 4
    assert relative_buckets(4, 4, 5, 6, False).tolist() == back
    assert relative_buckets(8, 1, 5, 8, False).ravel().tolist() == [0, 1, 2, 2, 3, 3, 4, 4]
    assert relative_buckets(2, 3, 4, 3, True).tolist() == [[0, 3, 3], [1, 0, 3]]
    assert signed_buckets(8, 1, 4, 5).ravel().tolist() == [4, 5, 6, 7, 7, 7, 7, 7]  # behind 2, no row further
    assert signed_buckets(1, 8, 4, 5).tolist() == [[4, 3, 2, 1, 1, 0, 0, 0]]  # and behind 4


# Sums over rows


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("rows", [0, 1, 31, 32, 33, 97, 1024, 2053])
def test_column_sums_add_every_row_once(rng, rows, batch):
    x = rng.integers(-99, 99, (*batch, rows, 3)).astype(np.float64)
    for given in (x, np.asfortranarray(x), x[..., ::-1, :]):
        assert np.array_equal(column_sums(given), given.sum(axis=-2))


def test_column_sums_of_many_rows_lose_few_digits(rng):
    x = rng.random((65_537, 3)).astype(np.float32)
    exact = x.astype(np.float64).sum(axis=0)
    one_by_one, found = (abs(sums - exact).max() / exact.max() for sums in (x.sum(axis=0), column_sums(x)))
    assert found < 2e-7 < one_by_one
