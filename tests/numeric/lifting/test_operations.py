"""Operations on symbolic arrays against NumPy itself: the equations, compiled, compute what the function computes."""

import numpy as np
import pytest

from derivations.language import count_flops
from derivations.language.arrays.expression import Variable
from derivations.symbols import d, m, n, size
from numeric.lifting import NotFollowed, lift, prove_same
from tests.numeric.lifting.following import follows, value_of

h, p = size("h"), size("p")

BINARY = {
    "same shapes": ((n, d), (n, d)),
    "a row": ((n, d), (d,)),
    "a column": ((n, d), (n, 1)),
    "a batch in front": ((h, n, d), (n, d)),
    "both stretched": ((n, 1), (1, d)),
    "one entry": ((n, d), (1, 1)),
    "more axes on the right": ((d,), (h, n, d)),
}


@pytest.mark.parametrize("shapes", BINARY.values(), ids=BINARY)
def test_arrays_broadcast(shapes):
    follows(lambda a, b: a * b + np.maximum(a - b, b) / (2 + b * b), a=shapes[0], b=shapes[1])


@pytest.mark.parametrize(
    "function",
    [np.exp, np.tanh, np.sin, np.cos, np.square, np.expm1, np.abs, np.negative, np.positive],
    ids=lambda function: function.__name__,
)
def test_functions_of_one_entry(function):
    follows(lambda x: function(x) + 0.5, x=(n, d))


@pytest.mark.parametrize(
    "function",
    [np.floor, np.ceil, np.trunc, np.arcsinh, np.arctan, lambda x: x // 3 + x % 0.7, lambda x: np.fmod(x, 1.5)],
)
def test_whole_parts_and_inverse_functions(function):
    follows(lambda x: function(3 * x) + 0.5, x=(n, d))


def test_rounded_quotients_remainders_and_angles_of_two_arrays():
    follows(lambda x, y: x // y + np.mod(x, y) * np.fmod(x, y), x=(n, d), y=(d,))
    follows(lambda x, y: np.arctan2(x, y) + np.arctan2(x, 2) - np.arctan2(-1, y), x=(n, d), y=(d,))
    follows(lambda x: np.arctanh(np.tanh(x)) + np.arccosh(x * x + 1), x=(n,))


def test_whole_parts_are_told_apart():
    """Of a whole part no more is used than that equal numbers have equal ones."""
    whole = {"x": (n,)}
    assert prove_same(lambda x: x - 2 * np.floor(x / 2), lambda x: x % 2, **whole).level == "proved"
    assert prove_same(lambda x: np.floor(x + x), lambda x: np.floor(2 * x), **whole).level == "proved"
    assert prove_same(lambda x: np.floor(x), lambda x: np.trunc(x), **whole).level == "refuted"
    assert prove_same(lambda x: np.fmod(x, 2), lambda x: x % 2, **whole).level == "refuted"
    assert prove_same(lambda x: np.floor(2 * x), lambda x: 2 * np.floor(x), **whole).level == "refuted"
    assert prove_same(lambda x: np.arctan2(x, 2), lambda x: np.arctan2(2, x), **whole).level == "refuted"


def test_what_is_set_in_one_mask_alone():
    def between(x):
        return np.where(np.logical_xor(x > 0, x > 1), x, 0.0)

    follows(between, x=(n, d))
    assert prove_same(between, lambda x: np.where((x > 0) & (x <= 1), x, 0.0), x=(n,)).level == "proved"
    assert prove_same(between, lambda x: np.where((x > 0) | (x > 1), x, 0.0), x=(n,)).level == "refuted"


def test_products_along_axes_of_known_sizes():
    follows(lambda x: np.prod(x, axis=1) + x.prod((1, 2)).sum() * x.prod(-1), x=(n, 3, 3))
    follows(lambda x: np.prod(x, axis=0, keepdims=True) * x, x=(3, d))
    follows(lambda x: np.cumprod(x, axis=1) + x[:, ::-1].cumprod(1), x=(n, 4))
    follows(lambda x, y: np.kron(x, y) + 1, x=(n, d), y=(m, 2))


def test_softmax_and_maxima_along_a_merged_axis():
    def of_all(x):
        flat = x.reshape(x.shape[0], -1)
        e = np.exp(flat - flat.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def of_both(x):
        e = np.exp(x)
        return (e / e.sum((1, 2), keepdims=True)).reshape(x.shape[0], x.shape[1] * x.shape[2])

    shape = {"x": (n, m, d)}
    follows(of_all, **shape)
    assert prove_same(of_all, of_both, **shape).level == "proved"
    assert prove_same(lambda x: of_all(x * 1.01), of_both, **shape).level == "refuted"


def test_entries_that_several_arrays_of_numbers_name():
    t, u = (Variable(name, (n,), "integer") for name in "tu")
    follows(lambda x, t: x[np.arange(x.shape[0]), t] * 2, x=(n, d), t=t)
    follows(lambda x, t, u: x[u, t] * 2, x=(m, d), t=t, u=u)
    follows(lambda x, t: x[np.arange(x.shape[0]), t] * 2, x=(n, d, m), t=t)
    follows(lambda x: x[np.arange(x.shape[0]), np.arange(x.shape[0])] * 2, x=(n, n))


def test_that_an_entry_of_each_row_is_chosen_is_not_a_sum_of_entries():
    t = Variable("t", (n,), "integer")
    given = {"x": (n, d), "t": t}

    def chosen(x, t):
        return x[np.arange(x.shape[0]), t]

    def picked(x, t):
        return np.take_along_axis(x, t[:, None], 1)[:, 0]

    assert prove_same(chosen, picked, **given).level == "proved"
    assert prove_same(chosen, lambda x, t: x[np.arange(x.shape[0])[::-1], t], **given).level != "proved"
    assert prove_same(chosen, lambda x, t: x[:, 0] * np.ones(t.shape), **given).level != "proved"


@pytest.mark.parametrize("function", [np.log, np.log1p, np.log2, np.log10, np.sqrt, np.reciprocal])
def test_functions_of_a_positive_entry(function):
    follows(lambda x: function(x * x + 1), x=(n,))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, -3, (0, 2), (-1, 0), (1,), (0, 1, 2)])
def test_reductions(axis, keepdims):
    def reduced(x):
        return x.sum(axis=axis, keepdims=keepdims) + 2 * np.var(x, axis, keepdims=keepdims)

    follows(reduced, x=(h, n, d))


@pytest.mark.parametrize("keepdims", [False, True, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_maxima_and_standard_deviations(axis, keepdims):
    follows(lambda x: x.max(axis, keepdims=keepdims) + x.std(axis=axis, keepdims=keepdims, ddof=1), x=(n, d))


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", ((n, m), (m, d))),
        ("ij,jk", ((n, m), (m, d))),
        ("ij,ij->", ((n, d), (n, d))),
        ("ij,ij->i", ((n, d), (n, d))),
        ("ij->ji", ((n, d),)),
        ("ii->i", ((n, n),)),
        ("ii", ((n, n),)),
        ("b...d,bd->b...", ((h, n, d), (h, d))),
        ("...i,...i->...", ((h, n, d), (n, d))),
        ("hnd,hmd->hnm", ((h, n, d), (h, m, d))),
        ("i,j->ji", ((n,), (m,))),
        ("ij,jk,kl->il", ((n, m), (m, d), (d, h))),
    ],
)
def test_sums_of_products(subscripts, shapes):
    names = "abc"[: len(shapes)]
    space = dict(zip(names, shapes, strict=True))
    function = eval_einsum(subscripts, names)
    follows(function, **space)


def eval_einsum(subscripts, names):
    if len(names) == 1:
        return lambda a: np.einsum(subscripts, a) * 1.0
    if len(names) == 2:
        return lambda a, b: np.einsum(subscripts, a, b)
    return lambda a, b, c: np.einsum(subscripts, a, b, c, optimize=True)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((n, m), (m, d)),
        ((m,), (m, d)),
        ((n, m), (m,)),
        ((m,), (m,)),
        ((h, n, m), (m, d)),
        ((h, n, m), (h, m, d)),
        ((n, m), (h, m, d)),
        ((1, n, m), (h, m, d)),
        ((p, 1, n, m), (h, m, d)),
    ],
)
def test_products_of_matrices(left, right):
    follows(lambda a, b: a @ b, a=left, b=right)


@pytest.mark.parametrize(
    ("axes", "left", "right"),
    [
        (1, (n, m), (m, d)),
        (2, (h, n, m), (n, m)),
        (([1], [0]), (n, m), (m, d)),
        (([0, 1], [1, 0]), (n, m, h), (m, n, d)),
    ],
)
def test_tensordot(axes, left, right):
    follows(lambda a, b: np.tensordot(a, b, axes), a=left, b=right)


def test_products_of_vectors():
    follows(lambda a, b: np.outer(a, b), a=(n,), b=(m,))
    follows(lambda a, b: np.subtract.outer(a, b), a=(n,), b=(m,))
    follows(lambda a, b: np.maximum.outer(a, b), a=(n, d), b=(m,))
    follows(lambda a, b: np.inner(a, b), a=(n, d), b=(m, d))
    follows(lambda a, b: np.dot(a, b), a=(n, d), b=(d,))
    follows(lambda a: np.linalg.norm(a, axis=-1, keepdims=True), a=(n, d))
    follows(lambda a: np.linalg.norm(a), a=(n, d))


def test_truth_values():
    follows(lambda a, b: ((a > 0) + (b > 0)) * a, a=(n, d), b=(n, d))  # their sum is their disjunction
    follows(lambda a, b: ((a > 0) * (b > 0)) * 2.0, a=(n, d), b=(n, d))
    follows(lambda a, b: np.where((a > 0) & ~(b > 0) | (a < -1), a, b), a=(n, d), b=(d,))
    follows(lambda a: (a > 0).sum(0) + (a > 0).astype(float).mean(0), a=(n, d))
    follows(lambda a: ((a > 0) == False) * a, a=(n,))  # noqa: E712
    follows(lambda a: np.logical_and(a, a) * a + np.logical_not(a), a=(n,))


def test_triangles_are_real_numbers_where_numpy_has_them_so():
    follows(lambda x: (np.tri(x.shape[0]) + np.tri(x.shape[0])) * x, x=(n, n))
    follows(lambda x: np.tri(x.shape[0]) @ np.tri(x.shape[0]) * x, x=(n, n))
    follows(lambda x: np.tri(x.shape[0], x.shape[1], 1) * np.triu(x, 1) + np.tril(x, -1), x=(n, m))
    follows(lambda x: np.where(np.tril(np.ones(x.shape)) == 0, 0.0, x), x=(n, n))


def test_hidden_scores_have_no_weight():
    def weights(s, hidden):
        s = np.where(np.tri(s.shape[0], dtype=bool), s, hidden)
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    assert not follows(lambda s: weights(s, -np.inf), s=(n, n)).readings
    assert follows(lambda s: weights(s, -1e9), s=(n, n)).readings == ("-1e+09 as minus infinity",)


def test_a_mask_of_the_caller_must_show_something_in_every_row():
    mask = Variable("mask", (n, n), "boolean")
    lifted = lift(lambda s, mask: np.exp(np.where(mask, s, -np.inf).max(-1)), s=(n, n), mask=mask)
    assert [condition.text for condition in lifted.conditions] == ["every row of mask shows an entry"]


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda x: (x > 9) @ (x > 9), "truth values"),
        (lambda x: np.einsum("ij,jk->ik", x > 9, x > 9), "truth values"),
        (lambda x: ~np.arange(x.shape[0]) * x, "bits"),
        (lambda x: x.astype(int), "cast to int"),
        (lambda x: np.full(x.shape, 0.5, dtype=int) * x, "int"),
        (lambda x: np.cumprod(x), "running products of all entries"),
        (lambda x: np.kron(x, x[0]), "Kronecker"),
        (lambda x: np.spacing(x), "spacing has no rule"),
        (lambda x: np.add.reduce(x, initial=3.0), "initial"),
        (lambda x: np.sum(x, 0, where=x > 0), "where"),
        (lambda x: np.linalg.norm(x, 2), "norm"),
        (lambda x: np.linalg.norm(x, 2, axis=(0, 1)), "norm"),
        (lambda x: x.reshape(-1, order="F"), "order"),
        (lambda x: np.ravel(x, order="F"), "order"),
        (lambda x: np.concatenate([x, np.zeros((3, 65))]), "a table of 195 numbers"),
        (lambda x: np.where(np.tri(x.shape[0]) == 1, x, -np.inf), "minus infinity"),
        (lambda x: x * np.arange(65.0), "pass it as an argument"),
    ],
)
def test_what_has_no_rule_is_refused_by_name(function, named):
    with pytest.raises(NotFollowed, match=named):
        lift(function, x=(n, n))


def nearest(x):
    return np.rint(x)


def test_rounding_takes_the_even_one_of_two_whole_numbers():
    """Halves are never drawn: they are put beside the formula here."""
    halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49, -3.2, 7.0])
    lifted = follows(nearest, x=(n,))
    assert np.array_equal(value_of(lifted, {"x": halves}, {}), np.rint(halves))
    assert prove_same(lambda x: np.round(x, 2), lambda x: np.rint(x * 100) / 100, x=(n,)).level == "proved"
    assert prove_same(nearest, lambda x: np.floor(x + 0.5), x=(n,)).level != "proved"
    assert prove_same(nearest, lambda x: np.trunc(x), x=(n,)).level == "refuted"


def test_a_tangent_is_a_quotient():
    verdict = prove_same(lambda x: np.tan(x), lambda x: np.sin(x) / np.cos(x), x=(n,))
    assert verdict.level == "proved" and "cos(x[row_1]) != 0" in verdict.qualified
    assert prove_same(lambda x: np.tan(x), lambda x: np.cos(x) / np.sin(x), x=(n,)).level == "refuted"


@pytest.mark.parametrize("mode", ["valid", "same", "full"])
@pytest.mark.parametrize("function", [np.convolve, np.correlate])
@pytest.mark.parametrize("count", [2, 3])
def test_sums_of_products_with_a_short_vector(mode, function, count):
    shapes = {"x": (n + 2,), "w": (count,)}
    other = np.correlate if function is np.convolve else np.convolve
    follows(lambda x, w: function(x, w, mode), **shapes)
    assert (
        prove_same(lambda x, w: function(x, w, mode), lambda x, w: other(x, w[::-1], mode), **shapes).level == "proved"
    )
    assert prove_same(lambda x, w: function(x, w, mode), lambda x, w: other(x, w, mode), **shapes).level == "refuted"


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.nanprod(x[:, :2], axis=1),
        lambda x: np.nancumsum(x, axis=1),
        lambda x: np.nancumprod(x[:, :2], axis=1),
        lambda x: np.select([x < -1, x < 1], [-x, x * x], 2 * x),
        lambda x: np.prod(np.meshgrid(x[0, :2], x[0, 1:3], indexing="ij")[0]),
        lambda x: np.diagflat(x[0]) + np.diag(x[0]) * 2,
        lambda x: np.diag(np.modf(x)[0] @ x.T) + np.modf(x)[1][:, 0],
        lambda x: np.linalg.solve(x[:2, :2], x[:2, 1]) + np.linalg.slogdet(x[:2, :2])[0],
    ],
)
def test_functions_over_others_are_followed(function):
    follows(function, x=(n, d))


def test_a_solution_is_not_that_of_the_transposed_equations():
    shapes = {"a": (2, 2), "b": (2,)}
    of_rows = lambda a, b: np.linalg.solve(a, b)  # noqa: E731
    assert prove_same(of_rows, lambda a, b: np.linalg.inv(a) @ b, **shapes).level == "proved"
    assert prove_same(of_rows, lambda a, b: np.linalg.solve(a.T, b), **shapes).level == "refuted"


def test_a_divisor_of_sizes_is_positive():
    """Of a variance with n - 1, whose root needs the sign of the divisor too."""
    verdict = prove_same(lambda x: x.std(0, ddof=1) ** 2, lambda x: x.var(0, ddof=1), x=(n, d))
    assert verdict.level == "proved" and "if n != 1" in verdict.qualified


def test_an_axis_that_is_merged_from_three_moves_entries_and_costs_nothing():
    lifted = follows(lambda x: x.reshape(x.shape[0], -1), x=(n, h, p, d))
    assert count_flops(lifted.layer).total == 0
    follows(lambda x: x.reshape(-1, x.shape[2] * x.shape[3] * x.shape[4]), x=(n, m, h, p, d))


def test_a_mask_of_whole_numbers_is_counted_and_weighs():
    follows(lambda x: (x > 0).astype(int).sum(axis=1), x=(n, d))
    follows(lambda x: (x > 0).astype(np.int64) * x - 2 * (x > 1).astype(int), x=(n, d))


def _written(x):
    mask = (x > 0).astype(int)
    mask[...] = 0.5  # NumPy writes 0
    return mask


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: (x > 0).astype(np.int8) * 200, "a cast to int8"),  # which overflows
        (lambda x: ~(x > 0).astype(int) + x, "an operator on bits"),
        (_written, "a write of real numbers into an array of integer ones"),
    ],
)
def test_what_whole_numbers_do_otherwise_is_refused(function, reason):
    with pytest.raises(NotFollowed, match=reason):
        lift(function, x=(n,))


@pytest.mark.parametrize("bound", [-np.inf, np.inf])
def test_hidden_entries_are_told_by_comparing_with_infinity(bound):
    def function(x, M, operator):
        return np.where(operator(np.where(M, x, -np.inf), bound), 2 * x, 1)

    for operator in (np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal):
        mask = Variable("M", (n, d), "boolean")
        follows(lambda x, M, operator=operator: function(x, M, operator), x=(n, d), M=mask)


def test_a_window_that_moves_along_axes():
    view = np.lib.stride_tricks.sliding_window_view
    follows(lambda x: view(x, 3).mean(-1), x=(n,))
    follows(lambda x: view(x, 2, axis=1).max(axis=-1) + view(x, (2, 1), axis=(1, 0)).sum((2, 3)), x=(n, d))
    verdict = prove_same(lambda x: view(x, 3).mean(-1), lambda x: np.convolve(x, np.ones(3) / 3, "valid"), x=(n,))
    assert verdict.level == "proved" and "reading 0.3333333333333333 as 1/3" in verdict.qualified
    assert prove_same(lambda x: view(x, 3)[:, 0], lambda x: view(x, 3)[:, 1], x=(n,)).level == "refuted"


def test_a_mask_of_numbers_is_where_they_are_not_0():
    follows(lambda x: np.where(np.triu(np.ones((x.shape[0], x.shape[0])), k=1).astype(bool), 0, x), x=(n, n))
    follows(lambda x: x.astype(bool) * (x + 1), x=(n,))


def test_decimals_that_python_computed_are_near_the_short_ones_that_were_meant():
    def moving(x, y):
        return 0.9 * x + (1 - 0.9) * y

    assert prove_same(moving, lambda x, y: 0.9 * x + 0.1 * y, x=(n,), y=(n,)).level == "equal up to a literal"
    for other in (0.1000001, 0.10000000001):
        level = prove_same(moving, lambda x, y, c=other: 0.9 * x + c * y, x=(n,), y=(n,)).level
        assert level not in ("proved", "equal up to a literal")


def test_a_product_of_divisors_is_not_0_where_none_of_them_is():
    def normed(a, b):
        return (a / np.linalg.norm(a, axis=1, keepdims=True)) @ (b / np.linalg.norm(b, axis=1, keepdims=True)).T

    def cosines(a, b):
        return a @ b.T / np.outer(np.sqrt((a**2).sum(1)), np.sqrt((b**2).sum(1)))

    verdict = prove_same(normed, cosines, a=(n, d), b=(m, d))
    assert verdict.level == "proved" and len(verdict.conditions) == 2
    # of these one has a value where the other has none
    assert prove_same(lambda a, b: a * b / (a * b), lambda a, b: a / a, a=(n,), b=(n,)).level == "unknown"
    assert prove_same(lambda a, b: a / a, lambda a, b: a * b / (a * b), a=(n,), b=(n,)).level == "unknown"
