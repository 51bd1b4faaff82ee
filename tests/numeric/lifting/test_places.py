"""Slices, reshapes and joined arrays against NumPy itself."""

import numpy as np
import pytest
from sympy import Ge

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.routing import RoutedProduct
from derivations.language.layers.layer import Equation, Layer
from derivations.symbols import d, m, n, size
from numeric.lifting import NotFollowed, lift, prove_same
from numeric.lifting.proving import prove
from tests.numeric.lifting.following import follows

h, p = size("h"), size("p")


@pytest.mark.parametrize(
    "key",
    [
        np.s_[0],
        np.s_[-1],
        np.s_[:, 1],
        np.s_[..., 0],
        np.s_[..., -1, :],
        np.s_[None],
        np.s_[:, None, :, None],
        np.s_[1:3],
        np.s_[:2, 2:],
        np.s_[:, ::2],
        np.s_[..., 1::2],
        np.s_[:, :-1, -2:],
        np.s_[0, ..., None],
        np.s_[-3:-1],
        np.s_[:9],
    ],
)
def test_slices_of_known_sizes(key):
    follows(lambda x: x[key] * 1.0, x=(5, 3, 4))


@pytest.mark.parametrize("key", [np.s_[1:], np.s_[:-1], np.s_[-1:], np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[-2:, :2]])
def test_slices_of_symbolic_sizes(key):
    follows(lambda x: x[key] * 1.0, x=(n, d))


def test_halves():
    def turned(x):
        half = x.shape[-1] // 2
        return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)

    assert not follows(turned, x=(n, 2 * p)).assumed
    follows(lambda x: np.stack([x[:, 0::2], x[:, 1::2]], -1).reshape(x.shape), x=(n, 2 * p))


def test_the_end_of_an_axis_is_counted_by_a_size():
    lifted = follows(lambda x, y: x[-y.shape[0] :] * 2, x=(n, d), y=(m,))
    assert lifted.assumed == (Ge(n - m, 0),)


def test_that_a_slice_has_entries_is_an_assumption():
    lifted = follows(lambda x: x[: x.shape[0] - 2] * 2, x=(n, d))
    assert lifted.assumed == (Ge(n - 2, 0), Ge(n - 2, 1))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ((n, h * d), (n, h, d)),
        ((n, h, d), (n, h * d)),
        ((h * n, d), (h, n * d)),
        ((n, h * m, d), (n * h, m, d)),
        ((n, 1, d), (n, d, 1)),
        ((n, d), (-1,)),
        ((n * d,), (n, -1)),
        ((6, 4), (2, 12)),
        ((6, n), (2, 3, n)),
        ((n, 6), (n, 2, -1)),
        ((h, n, m), (n, h, m)),
    ],
)
def test_reshapes(source, target):
    if source == (h, n, m):
        with pytest.raises(NotFollowed, match="splits"):
            lift(lambda x: x.reshape(x.shape[1], x.shape[0], x.shape[2]), x=source)
        return
    sizes = {s.name: {"n": 5, "m": 3, "d": 4, "h": 2}[s.name] for t in target if t not in (-1,) for s in _symbols(t)}
    symbols = {s.name: s for t in (*source, *target) for s in _symbols(t)}
    assert sizes.keys() <= symbols.keys()

    def reshaped(x, **sizes):
        return x.reshape(*(t if isinstance(t, int) else int(t.xreplace(_put(t))) for t in target))

    def symbolic(x):
        shape = [t if isinstance(t, int) else _from(x, t, source) for t in target]
        return x.reshape(shape) * 1.0

    follows(symbolic, x=source)


def _symbols(size):
    return getattr(size, "free_symbols", set())


def _put(size):
    return {s: {"n": 5, "m": 3, "d": 4, "h": 2}[s.name] for s in _symbols(size)}


def _from(x, wanted, source):
    """Return a size from the shape of the array, as a function finds it there; numbers and sizes alike."""
    if isinstance(x, np.ndarray) and type(x) is np.ndarray:
        return int(wanted.xreplace(_put(wanted)))
    from numeric.lifting.numbers import size_of

    return size_of(wanted)


def test_axes_in_another_order():
    follows(lambda x: x.transpose(2, 0, 1) * 1.0, x=(h, n, d))
    follows(lambda x: x.T + 0.5, x=(h, n, d))
    follows(lambda x: np.swapaxes(x, 0, -1) * 1.0, x=(h, n, d))
    follows(lambda x: np.moveaxis(x, 0, -1) * 1.0, x=(h, n, d))
    follows(lambda x: x.reshape(x.shape[0], 2, -1).transpose(1, 0, 2).reshape(2, -1) * 1.0, x=(n, 2 * p))


def test_joined_arrays():
    follows(lambda x, y: np.concatenate([x, y, x], 0), x=(n, d), y=(m, d))
    follows(lambda x, y: np.stack([x, y], 1), x=(n, d), y=(n, d))
    follows(lambda x, y: np.vstack([x, y]), x=(d,), y=(d,))
    follows(lambda x, y: np.hstack([x, y]), x=(n, d), y=(n, m))
    follows(lambda x: np.repeat(x, 3, axis=1), x=(n, d))
    follows(lambda x: sum(np.split(x, 2, axis=1)), x=(n, 2 * p))


def test_one_entry_of_several_axes_keeps_them():
    follows(lambda x: x + np.ones((1, 1)), x=(n,))


def test_positions_and_outer_tables():
    follows(lambda x: x + np.arange(x.shape[0])[:, None] * 0.5, x=(n, d))
    follows(lambda x: np.sin(np.outer(np.arange(x.shape[0]), np.arange(0, x.shape[1], 2) / x.shape[1])), x=(n, 2 * p))


def test_a_table_is_read_by_whole_numbers():
    numbers = Variable("ids", (n,), "integer")
    lifted = lift(lambda table, ids: table[ids] * 2, table=(m, d), ids=numbers)
    assert {c.text for c in lifted.conditions} == {"ids counts the rows of a table from 0 to m - 1"}


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda x: x[::-2], "negative step"),
        (lambda x: x[[True, False]], "list of places"),
        (lambda x: x[[0, 1], 0], "others beside them"),
        (lambda x: np.linalg.det(x), "a symbolic number of them"),
        (lambda x: x[x > 0], "mask"),
        (lambda x: x[:, : x.shape[1] // 2], "not exact"),
        (lambda x: x.reshape(2, -1), "does not divide"),
        (lambda x: np.squeeze(x), "squeeze"),
        (lambda x: list(x), "symbolic"),
        (lambda x: np.arange(0.5, x.shape[0]) * x[:, 0], "positions"),
        (lambda x: np.array_split(x, 3), "3"),
        (lambda x: np.broadcast_to(x, (x.shape[1], x.shape[0])), "repeated"),
    ],
)
def test_what_cannot_be_placed_is_refused(function, named):
    with pytest.raises(NotFollowed, match=named):
        lift(function, x=(n, d))


def test_an_index_behind_the_end_is_the_function_s_error():
    with pytest.raises(IndexError, match="out of bounds"):
        lift(lambda x: x[5], x=(5, d))


def pairs_written(x):
    y = np.zeros_like(x)
    y[..., 0::2] = -x[..., 1::2]
    y[..., 1::2] = x[..., 0::2]
    return y


def halves_written(x):
    y, half = np.zeros_like(x), x.shape[1] // 2
    y[:, :half] = -x[:, half:]
    y[:, half:] = x[:, :half]
    return y


def middle_written(x):
    y = x * 1
    y[1:3] = 0
    return y


@pytest.mark.parametrize(
    ("function", "shape"), [(pairs_written, (n, 2 * p)), (halves_written, (n, 2 * p)), (middle_written, (5, d))]
)
def test_a_write_into_a_slice(function, shape):
    follows(function, x=shape)


def test_pairs_that_are_written_are_pairs_that_are_stacked():
    def stacked(x):
        return np.stack([-x[:, 1::2], x[:, ::2]], -1).reshape(x.shape)

    assert prove_same(pairs_written, stacked, x=(n, 2 * p)).level == "proved"
    assert prove_same(halves_written, stacked, x=(n, 2 * p)).level == "refuted"
    assert prove_same(lambda x: stacked(stacked(x)), lambda x: -x, x=(n, 2 * p)).level == "proved"


def kept_view(x):
    y = x * 1
    view = y[:, ::2]
    y[:, ::2] = 0
    return y + view.sum()


def written_view(x):
    y = x * 1
    view = y[:, ::2]
    view[:] = 0
    return y


def shifted(x):
    y = x * 1
    y[1:] = y[:-1]
    return y


def argument_written(x):
    x[:, ::2] = 0
    return x * 1


@pytest.mark.parametrize("function", [kept_view, written_view, shifted, argument_written])
def test_a_write_into_a_slice_that_another_name_reads_is_refused(function):
    with pytest.raises(NotFollowed, match="write into"):
        lift(function, x=(n, 2 * p))


def test_a_write_into_slices_of_two_axes():
    def corner(x):
        y = x * 1
        y[:1, :1] = 0
        return y

    def row(x):
        y = x * 1
        y[1:, 0] = x[:-1, 1]
        return y

    follows(corner, x=(n, d))
    follows(row, x=(n, 4))


def one_hot(numbers, count):
    return (numbers[..., None] == np.arange(count)) * 1.0


rows, entries = Variable("t", (n,), "integer"), Variable("t", (n, p), "integer")


@pytest.mark.parametrize("count", [p, 3, 16, 17])
def test_one_of_a_few_matrices_is_chosen_as_of_many(count):
    """Sums over up to 16 numbers are written out, but an entry names its place in them as in longer sums."""
    X, W, t = Variable("X", (n, m)), Variable("W", (count, m, d)), Variable("t", (n,), "integer")
    Y = Variable("Y", (n, d))
    routed = Layer("routed", (X, W, t), (), [Equation(Y, RoutedProduct(X, W, t))], Y)
    assert prove(lambda X, W, t: (X[:, None, :] @ W[t])[:, 0, :], routed).level == "proved"
    assert prove(lambda X, W, t: (X[:, None, :] @ W[t])[:, 0, :] * 2, routed).level != "proved"


@pytest.mark.parametrize(
    ("numbers", "function", "by_hand"),
    [
        (rows, lambda T, t: T[t], lambda T, t: np.tensordot(one_hot(t, T.shape[0]), T, axes=1)),
        (
            rows,
            lambda T, t: np.take(T, t, axis=1),
            lambda T, t: np.einsum("jp,ipk->ijk", one_hot(t, T.shape[1]), T),
        ),
        (
            entries,
            lambda T, t: np.take_along_axis(T, t[:, :, None], axis=2)[:, :, 0],
            lambda T, t: np.einsum("ijp,ijp->ij", one_hot(t, T.shape[2]), T),
        ),
    ],
)
def test_numbers_choose_parts_along_an_axis(numbers, function, by_hand):
    shapes = {"T": (n, p, d), "t": numbers}
    assert prove_same(function, by_hand, **shapes).level == "proved"
    assert prove_same(function, lambda T, t: by_hand(T, t) + by_hand(T, t), **shapes).level == "refuted"


def test_an_order_needs_a_rule_for_equal_entries():
    assert lift(lambda x: np.argsort(x, axis=-1, kind="stable") * 1.0, x=(n, d)).layer.output.shape == (n, d)
    with pytest.raises(NotFollowed, match="without a rule for equal entries"):
        lift(lambda x: np.argsort(x, axis=-1), x=(n, d))


@pytest.mark.parametrize(
    ("right", "wrong", "shape"),
    [
        (lambda x: x[[2, 0, 1]], lambda x: x[[1, 2, 0]], (3, n)),
        (lambda x: x[:, np.array([[1, 0], [0, -1]])], lambda x: x[:, np.array([[1, 0], [-1, 0]])], (n, 3)),
        (lambda x: x[..., [0, 1], [1, 2]], lambda x: x[..., [1, 0], [2, 1]], (n, 2, 3)),
    ],
)
def test_known_numbers_choose_parts(right, wrong, shape):
    follows(right, x=shape)
    follows(wrong, x=shape)
    assert prove_same(right, wrong, x=shape).level == "refuted"


def test_chosen_parts_are_no_view():
    """A write into them is not seen in what they were chosen from."""

    def written(x):
        y = x * 1
        part = y[[1, 0]]
        part *= 2
        return y[:2] + part

    assert prove_same(written, lambda x: x[:2] + 2 * np.stack([x[1], x[0]]), x=(3, n)).level == "proved"


def det(x):
    return np.linalg.det(x)


def inverse(x):
    return np.linalg.inv(x)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_determinants_and_inverses(count):
    shape = (n, count, count)
    follows(inverse, x=shape)
    assert prove_same(det, lambda x: det(x.swapaxes(1, 2)), x=shape).level == "proved"
    assert prove_same(det, lambda x: -det(x), x=shape).level == "refuted"


def test_an_inverse_is_not_its_transpose():
    by_hand = lambda x: np.stack([np.stack([x[1, 1], -x[0, 1]]), np.stack([-x[1, 0], x[0, 0]])]) / np.linalg.det(x)  # noqa: E731
    verdict = prove_same(inverse, by_hand, x=(2, 2))
    assert verdict.level == "proved" and "!= 0" in verdict.qualified
    assert prove_same(inverse, lambda x: by_hand(x).T, x=(2, 2)).level == "refuted"
