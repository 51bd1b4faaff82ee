"""Errors in units in the last place: the measure, hard arguments against the exact result, and PyTorch and JAX."""

import numpy as np
import pytest
from mpmath import mp

from derivations.attention.attention import scaled_dot_product_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.normalisation.layer_norm import layer_norm
from derivations.softmax.softmax import softmax
from numeric.verification import reference
from numeric.verification.agreement.ulp import errors_in_ulp
from tests.numeric.routes import ROUTES, function_of

routes = pytest.mark.parametrize("route", ROUTES)
FLOAT32 = np.float32


# The measure


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [1.0, -1.0, 1.5, 3.0, 2.0**-20, 1e30])
def test_the_neighbour_of_a_number_is_one_unit_away(dtype, value):
    number = dtype(value)
    errors = errors_in_ulp(np.nextafter(number, dtype(np.copysign(np.inf, value)))[None], [float(number)])
    assert errors.by_entry.tolist() == errors.by_row.tolist() == [1]
    assert errors_in_ulp(number[None], [float(number)]).largest_by_row == 0


def test_rounding_to_the_nearest_costs_half_a_unit():
    values = np.random.default_rng(0).standard_normal((7, 11))
    errors = errors_in_ulp(values.astype(FLOAT32), values)
    assert 0.4 < errors.largest_by_entry <= 0.5
    assert errors.typical_by_row < errors.largest_by_row < 0.5


def test_a_small_entry_counts_little_by_row_and_fully_by_entry():
    errors = errors_in_ulp(np.array([[1, 2**-20]], FLOAT32), [[1, 0]])
    assert errors.by_row.tolist() == [[0, 8]]
    assert errors.largest_by_entry == 2.0 ** (149 - 20)  # the unit of 0 is the least subnormal number


def test_subnormal_numbers_have_one_unit_in_common():
    least = np.finfo(FLOAT32).smallest_subnormal
    errors = errors_in_ulp(np.array([3 * least], FLOAT32), [mp.mpf(float(least)) * mp.mpf("1.25")])
    assert errors.by_entry.tolist() == [1.75]


def test_float64_is_measured_beyond_its_own_digits():
    with mp.workdps(50):
        third = mp.mpf(1) / 3
    (error,) = errors_in_ulp(np.array([1 / 3]), [third]).by_entry
    with mp.workdps(50):
        assert error == pytest.approx(float(abs(mp.mpf(1 / 3) - third) * 2**54), rel=1e-9)
    assert 0 < error < 0.5


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_infinitely_far(wrong):
    assert errors_in_ulp(np.array([1, wrong], FLOAT32), [1, 2]).largest_by_row == np.inf


def test_other_shapes_are_refused():
    with pytest.raises(
        ValueError, match=r"the result has shape \(2,\), the exact one \(3,\): compare the same entries"
    ):
        errors_in_ulp(np.zeros(2, FLOAT32), [1, 2, 3])


def test_nothing_has_no_error():
    errors = errors_in_ulp(np.zeros((0, 3), FLOAT32), np.zeros((0, 3)))
    assert errors.largest_by_row == errors.typical_by_row == errors.largest_by_entry == errors.median_by_entry == 0


# Hard arguments, by both routes


def result(route, layer, **given):
    function, inputs = function_of(route, layer, given)
    with np.errstate(under="ignore"):
        return function(*inputs)


def normal(*shape, size=1.0, seed=0):
    return (size * np.random.default_rng(seed).standard_normal(shape)).astype(FLOAT32)


@routes
@pytest.mark.parametrize("size", [1.0, 1e4, 1e-40])
def test_softmax(route, size):
    """Entries up to 1e4 are given exactly, so that the error does not grow with them."""
    x = normal(3, 101, size=size)
    errors = errors_in_ulp(result(route, softmax(), x=x), [reference.softmax(row) for row in x])
    assert errors.largest_by_row < 4


@routes
def test_weights_below_the_normal_numbers_are_kept(route):
    """exp of -88 to -103 is subnormal: each entry is right to its own unit."""
    x = np.random.default_rng(0).uniform(-103, -88, (3, 101)).astype(FLOAT32)
    x[:, 5] = 0
    errors = errors_in_ulp(result(route, softmax(), x=x), [reference.softmax(row) for row in x])
    assert errors.largest_by_entry < 2


@routes
def test_one_visible_key_has_the_whole_weight(route):
    """No rounding: the output is the value of that key, whatever the scores."""
    layer = scaled_dot_product_attention(masked=True)
    Q, K, V = normal(5, 7, size=1e3), normal(11, 7, seed=1), normal(11, 3, seed=2)
    chosen = np.array([3, 0, 10, 3, 7])
    M = np.arange(11) == chosen[:, None]
    np.testing.assert_array_equal(result(route, layer, Q=Q, K=K, V=V, M=M), V[chosen])


@routes
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_a_row_without_visible_key_is_zero_beside_others_that_are_not(route, size):
    layer = scaled_dot_product_attention(masked=True)
    Q, K, V = normal(5, 7, size=size), normal(11, 7, seed=1), normal(11, 3, seed=2)
    M = np.random.default_rng(3).random((5, 11)) < 0.5
    M[:, 0], M[2] = True, False
    found = result(route, layer, Q=Q, K=K, V=V, M=M)
    assert not found[2].any()
    exact = reference.scaled_dot_product_attention(Q, K, V, M)
    bound = 64 * max(1.0, size)  # an error of a score of so many times 1 passes into the weights in full
    assert errors_in_ulp(found, exact).largest_by_row < bound


@routes
def test_subnormal_values_are_averaged(route):
    V = normal(11, 3, size=1e-40)
    given = {"Q": normal(5, 7), "K": normal(11, 7, seed=1)}
    found = result(route, scaled_dot_product_attention(), **given, V=V)
    exact = reference.scaled_dot_product_attention(**given, V=V)
    assert 0 < np.abs(found).max() < np.finfo(FLOAT32).tiny
    assert errors_in_ulp(found, exact).largest_by_row < 16


@routes
@pytest.mark.parametrize(("epsilon", "size"), [(1e-5, 1.0), (1e-12, 1.0), (1e-12, 1e-6), (1e4, 1.0), (1e-5, 1e-40)])
def test_layer_norm_with_any_epsilon(route, epsilon, size):
    X, gamma, beta = normal(5, 101, size=size), normal(101, seed=1), normal(101, seed=2)
    found = result(route, layer_norm(), X=X, gamma=gamma, beta=beta, epsilon=epsilon)
    assert errors_in_ulp(found, reference.layer_norm(X, gamma, beta, epsilon)).largest_by_row < 8


@routes
def test_layer_norm_of_rows_far_from_zero(route):
    """Mean 1e4, variance 1e-2: a mean that is right to one unit, 1e-3, is off by a hundredth of the deviation."""
    X, gamma, beta = normal(5, 101, size=0.1) + FLOAT32(1e4), normal(101, seed=1), normal(101, seed=2)
    found = result(route, layer_norm(), X=X, gamma=gamma, beta=beta)
    unit, deviation = np.spacing(FLOAT32(1e4)), 0.1
    error = np.abs(found - np.array(reference.layer_norm(X, gamma, beta), float)).max()
    assert error < 2 * unit / deviation * np.abs(gamma).max()


@routes
def test_a_less_accurate_route_is_seen(route):
    """The bounds are no formality: intermediates in half precision fail them by far."""
    layer = feed_forward()
    given = {"X": normal(5, 17), "W_1": normal(17, 31, size=0.3), "b_1": normal(31)}
    given |= {"W_2": normal(31, 17, size=0.2), "b_2": normal(17)}
    exact = reference.feed_forward(**given)
    assert errors_in_ulp(result(route, layer, **given), exact).largest_by_row < 32
    coarse = {name: each.astype(np.float16).astype(FLOAT32) for name, each in given.items()}
    assert errors_in_ulp(result(route, layer, **coarse), exact).largest_by_row > 1000
