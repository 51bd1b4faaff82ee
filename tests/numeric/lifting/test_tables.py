"""Small tables of numbers, arrays filled in place, choices at ties, sums of positions: against NumPy itself."""

import numpy as np
import pytest

from derivations.symbols import d, m, n, size
from numeric.lifting import NotFollowed, lift, prove_same
from tests.numeric.lifting.following import follows

p = size("p")
TAPS = np.array([1.5, -2.0, 7.0])
SHOWN = np.array([True, False, True])
POWERS = 10000.0 ** (-np.arange(5) / 5)


def test_a_table_of_numbers_is_a_formula_of_the_place():
    follows(lambda x: x * TAPS, x=(n, 3))
    follows(lambda x: x @ np.outer(TAPS, TAPS), x=(n, 3))
    follows(lambda x: x + np.arange(6.0).reshape(2, 3), x=(2, 3))
    follows(lambda x: np.where(SHOWN, x, 0.0), x=(n, 3))
    follows(lambda x: np.concatenate([x, np.array([[1.0, 0.5, -1.0]])]), x=(n, 3))


def test_powers_are_read_as_powers():
    lifted = follows(lambda x: x * POWERS, x=(n, 5))
    assert "5 numbers from 1 to 0.000630957 as 10000^(-i / 5)" in lifted.readings


def test_one_wrong_number_of_a_table_is_refuted():
    right = prove_same(lambda x: x @ TAPS, lambda x: 1.5 * x[:, 0] - 2 * x[:, 1] + 7 * x[:, 2], x=(n, 3))
    wrong = prove_same(lambda x: x @ TAPS, lambda x: 1.5 * x[:, 0] + 2 * x[:, 1] + 7 * x[:, 2], x=(n, 3))
    assert (right.level, wrong.level) == ("proved", "refuted")


# --- arrays without values ------------------------------------------------------------------------------------------


def filled_by_steps(x):
    y = np.empty(x.shape)
    y[:, 1::2] = x[:, 0::2]
    y[:, 0::2] = -x[:, 1::2]
    return y


def filled_by_rows(x):
    y = np.empty_like(x)
    for number in range(3):
        y[number] = x[number] * number
    return y


def filled_from_behind(x):
    y = np.empty((x.shape[0] + 2, x.shape[1]))
    y[2:] = x
    y[:2] = 0
    return y


def half_filled(x):
    y = np.empty(x.shape)
    y[:, 0::2] = x[:, 0::2]
    return y


def twice_the_same_row(x):
    y = np.empty_like(x)
    for _ in range(3):
        y[0] = x[0]
    return y


def read_too_early(x):
    y = np.empty(x.shape)
    y[:, 0::2] = x[:, 0::2]
    y[:, 1::2] = y[:, 0::2]
    return y


def framed(x):
    y = np.zeros((x.shape[0] + 1, x.shape[1] + 2))
    y[:-1, 1:-1] = x
    return y


@pytest.mark.parametrize(
    ("function", "shape"),
    [(filled_by_steps, (n, 2 * p)), (filled_by_rows, (3, d)), (filled_from_behind, (n, d)), (framed, (n, d))],
)
def test_an_array_is_filled_in_place(function, shape):
    follows(function, x=shape)


@pytest.mark.parametrize(
    ("function", "shape"), [(half_filled, (n, 2 * p)), (twice_the_same_row, (3, d)), (read_too_early, (n, 2 * p))]
)
def test_what_has_no_value_yet_is_not_read(function, shape):
    with pytest.raises(NotFollowed, match="without values"):
        lift(function, x=shape)


# --- choices and positions ------------------------------------------------------------------------------------------


def test_equality_is_on_either_side_where_both_cases_agree():
    def near(r):
        return r * r / 2

    def far(r):
        return 2 * np.abs(r) - 2

    def one(x, y):
        return np.where(np.abs(x - y) > 2, far(x - y), near(x - y))

    def other(x, y):
        return np.where(np.abs(x - y) >= 2, far(y - x), near(y - x))

    assert prove_same(one, other, x=(n, d), y=(n, d)).level == "proved"
    assert prove_same(lambda x: np.where(x <= 0, 0.0, x), lambda x: np.where(x < 0, 0.0, x), x=(n,)).level == "proved"


def test_equality_counts_where_the_cases_differ():
    assert (
        prove_same(lambda x: np.where(x > 2, 1.0, 0.0), lambda x: np.where(x >= 2, 1.0, 0.0), x=(n,)).level != "proved"
    )
    assert prove_same(lambda x: np.where(x > 2, x, 0.0), lambda x: np.where(x >= 2, x, 0.0), x=(n,)).level != "proved"


def test_differences_of_positions_are_seen_to_be_masks():
    def near(s):
        rows, columns = np.arange(s.shape[0])[:, None], np.arange(s.shape[0])[None]
        return np.where(rows - columns < 3, s, 0.0)

    assert prove_same(near, lambda s: s * (1 - np.tril(np.ones(s.shape), -3)), s=(n, n)).level == "proved"
    assert prove_same(near, lambda s: s * (1 - np.tril(np.ones(s.shape), -2)), s=(n, n)).level == "refuted"
    follows(lambda s: s + (np.arange(s.shape[0])[:, None] - np.arange(s.shape[1])), s=(n, m))


def test_an_identity_matrix():
    follows(lambda x: np.eye(x.shape[0]) @ x, x=(n, d))
    follows(lambda x: x * (1 - np.identity(x.shape[0])), x=(n, n))
    follows(lambda x: x + np.eye(x.shape[0], x.shape[1], k=1), x=(n, d))


def test_entries_of_its_own_stand_beside_an_array():
    for mode in ("edge", "wrap"):
        follows(lambda x, mode=mode: np.pad(x, ((0, 0), (1, 2)), mode=mode), x=(n, d))
    for mode in ("reflect", "symmetric"):
        follows(lambda x, mode=mode: np.pad(x, ((0, 0), (2, 1)), mode=mode), x=(n, d))


def test_numbers_that_are_none_are_minus_infinity_where_a_mask_hides():
    with pytest.raises(NotFollowed, match="minus infinity"):
        lift(lambda s, w: np.nan_to_num(np.where(w > 0, s, -np.inf)) * w, s=(n, n), w=(n, n))


def test_what_both_functions_need_to_have_a_value_is_a_condition():
    def one(x):
        return x / np.sqrt((x * x).sum(-1, keepdims=True))

    verdict = prove_same(one, lambda x: x * (x * x).sum(-1, keepdims=True) ** -0.5, x=(n, d))
    assert verdict.level == "proved"
    assert "where Sum(x[row_1" in verdict.qualified
    assert (
        prove_same(lambda x: x / x.sum(-1, keepdims=True) * x.sum(-1, keepdims=True), lambda x: x * 1.0, x=(n, d)).level
        != "proved"
    )
