"""Every compiled layer agrees with the loops, and the comparison tells a wrong layer from a right one."""

import numpy as np
import pytest
from mpmath import mp
from sympy import Rational, Symbol, pi, sqrt, tanh

from derivations.attention.attention import scaled_dot_product_attention
from derivations.catalogue import layers
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import named, row_softmax
from derivations.language.layers.layer import Equations, Layer
from derivations.linear.linear import linear
from derivations.normalisation.layer_norm import layer_norm
from derivations.positions.positional_encoding import positional_encoding
from derivations.symbols import d_k, d_v, m, n
from derivations.transformer.encoder import encoder, encoder_layer
from numeric import compile_layer
from numeric.verification import reference
from numeric.verification.agreement import cases
from numeric.verification.agreement.against_reference import against_reference, agreement, error_in_ulp
from numeric.verification.agreement.cases import DTYPES, SIZES, case, subjects
from numeric.verification.agreement.loops import loops, rows_of
from numeric.verification.agreement.report import Agreement
from numeric.verification.agreement.rounding import rounding_bound, roundings
from numeric.verification.reference.registry import loops_of

FLOAT32, FLOAT64 = DTYPES
NAMES = list(subjects())


def comparisons(name, sizes):
    dtypes = DTYPES if case(name, sizes, FLOAT64).arguments.keys() - {"n", "d_model"} else [FLOAT64]
    return [agreement(case(name, sizes, dtype)) for dtype in dtypes]


@pytest.mark.parametrize("name", NAMES)
def test_a_layer_agrees_with_its_loops(name):
    for each in comparisons(name, SIZES[0]):
        assert each.passed, each


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sizes", SIZES[1:])
def test_a_layer_agrees_with_its_loops_at_other_sizes(name, sizes):
    for each in comparisons(name, sizes):
        assert each.passed, each


def test_the_generator_covers_the_catalogue_and_both_number_types(monkeypatch):
    small = {name: subjects()[name] for name in ("softmax", "linear", "positional_encoding")}
    monkeypatch.setattr(cases, "subjects", lambda: small)
    found = [(each.layer, each.dtype) for each in against_reference(SIZES[:1])]
    assert found == [
        ("softmax", "float32"),
        ("softmax", "float64"),
        ("linear", "float32"),
        ("linear", "float64"),
        ("positional_encoding", "float64"),
    ]
    assert set(layers()) <= set(NAMES)


def test_sizes_are_distinct_primes_that_a_swapped_axis_cannot_pass():
    for sizes in SIZES:
        axes = [sizes[name] for name in ("n", "m", "h", "d_model", "d_k", "d_v", "d_ff", "vocab")]
        axes = [size for size in axes if axes.count(size) > 1]
        assert axes == [], sizes
        assert all(size > 1 and all(size % p for p in range(2, size)) for size in sizes.values())


def test_a_layer_without_a_reference_is_refused(monkeypatch):
    monkeypatch.setattr(cases, "loops", lambda: {name: each for name, each in loops().items() if name != "dropout"})
    with pytest.raises(LookupError, match="dropout has no reference"):
        cases.subjects.__wrapped__()


def test_a_layer_has_one_reference():
    with pytest.raises(ValueError, match="'dropout' has loops already"):
        loops_of("dropout")(reference.softmax)


def test_loops_get_the_numbers_that_they_have_arguments_for():
    def scaled(x, factor):
        return [factor * each for each in x]

    assert rows_of(scaled, {"x": [2, 3]}, {"factor": 5, "n": 2}) == [[10, 15]]
    assert rows_of(lambda x: x, {"x": 7}, {"n": 2}) == [[7]]


# The checker says no


def refused(name, function, dtype=FLOAT64):
    found = agreement(case(name, SIZES[0], dtype), function)
    assert not found.passed, found
    assert "DISAGREES" in str(found)
    return found


def attention_without_the_root():
    Q, K, V = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v)
    let = Equations()
    A = let("A")(row_softmax(Q @ K.T))
    return Layer("scaled_dot_product_attention", (Q, K, V), (), let, let("O")(A @ V))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_dropped_root_is_refused(dtype):
    assert refused("scaled_dot_product_attention", compile_layer(attention_without_the_root()), dtype).error_ulp > 1e4


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_ignored_mask_is_refused(dtype):
    plain = compile_layer(scaled_dot_product_attention())
    refused("masked_scaled_dot_product_attention", lambda Q, K, V, M: plain(Q, K, V), dtype)


def test_another_epsilon_is_refused():
    """It differs in the fifth decimal or later: float64 sees it at once."""
    compiled = compile_layer(layer_norm())
    refused("layer_norm", lambda **given: compiled(**given, epsilon=1.1e-5))


def test_a_variance_that_divides_by_d_minus_1_is_refused():
    def layer_norm_of_samples(X, gamma, beta):
        centred = X - X.mean(axis=-1, keepdims=True)
        return gamma * centred / np.sqrt(X.var(axis=-1, keepdims=True, ddof=1) + 1e-5) + beta

    refused("layer_norm", layer_norm_of_samples)


def test_the_tanh_form_of_gelu_is_refused():
    x = Symbol("x", real=True)
    approximate = named("gelu_tanh", x * (1 + tanh(sqrt(2 / pi) * (x + Rational(44715, 10**6) * x**3))) / 2, x)
    refused("feed_forward_gelu", compile_layer(feed_forward(approximate)))


def test_swapped_weights_of_two_layers_of_a_stack_are_refused():
    compiled = compile_layer(encoder())
    refused("encoder", lambda X, layers: compiled(X, layers[::-1]))


def test_pre_norm_in_place_of_post_norm_is_refused():
    attention = compile_layer(layers()["multi_head_attention"])
    norm, network = compile_layer(layer_norm()), compile_layer(feed_forward())

    def pre_norm(X, attention_norm, feed_forward_norm, **weights):
        normed = norm(X, **attention_norm)
        Y = X + attention(normed, normed, normed, **weights["attention"])
        return Y + network(norm(Y, **feed_forward_norm), **weights["feed_forward"])

    refused("encoder_layer", pre_norm)


def test_positions_that_count_from_1_are_refused():
    compiled = compile_layer(positional_encoding())
    refused("positional_encoding", lambda n, d_model: compiled(n=n + 1, d_model=d_model)[1:])


@pytest.mark.parametrize("dtype", DTYPES)
def test_another_number_type_a_wrong_shape_and_nan_are_refused(dtype):
    compiled = compile_layer(linear())
    other = FLOAT64 if dtype == FLOAT32 else FLOAT32
    for corrupt in (
        lambda Y: Y.astype(other),
        lambda Y: Y[..., :-1],
        lambda Y: Y.mT,
        lambda Y: np.where(Y.max() == Y, np.nan, Y),
    ):
        assert refused("linear", lambda c=corrupt, **given: c(compiled(**given)), dtype).error_ulp == float("inf")


def test_an_error_in_the_second_item_of_the_batch_alone_is_seen():
    compiled = compile_layer(linear())

    def wrong(**given):
        Y = compiled(**given)
        Y[1, -1, -1] += 1e-3
        return Y

    refused("linear", wrong)


def test_nan_passes_no_bound():
    assert not Agreement("x", (), "float64", float("nan"), 5.0).passed
    assert Agreement("x", (), "float64", 5.0, 5.0).passed
    assert not Agreement("x", (), "float64", 5.1, 5.0).passed


# The unit and the bound


def test_errors_count_in_units_of_the_largest_value_of_the_row():
    """The unit of 3 in float32 is 2^-22, whatever the size of the entry that is off."""
    expected = [[mp.mpf(3), mp.mpf("0.001")], [mp.mpf(1), mp.mpf(1)]]
    found = np.array([[3, 0.001], [1, 1]], dtype=np.float32)
    assert error_in_ulp(found, expected, FLOAT32) < 1e-3
    found[0, 1] += np.float32(2.0**-21)
    assert error_in_ulp(found, expected, FLOAT32) == pytest.approx(2, abs=1e-3)
    found[1, 1] += np.float32(3 * 2.0**-23)
    assert error_in_ulp(found, expected, FLOAT32) == pytest.approx(3, abs=1e-3)


def test_a_row_of_zeros_must_be_exact():
    expected = [[mp.mpf(0), mp.mpf(0)]]
    assert error_in_ulp(np.zeros((1, 2)), expected, FLOAT64) == 0
    assert error_in_ulp(np.array([[0, 1e-300]]), expected, FLOAT64) > 1e20


@pytest.mark.parametrize(
    ("layer", "sizes", "expected"),
    [
        (linear(), {"n": 2, "d_in": 3, "d_out": 5}, 3 + 1),
        # scores d_k, the root and the quotient 2, softmax m + 3, values m
        (scaled_dot_product_attention(), {"n": 2, "m": 5, "d_k": 3, "d_v": 7}, 3 + 2 + 5 + 3 + 5),
        # two products with their biases, and the maximum
        (feed_forward(), {"n": 2, "d_model": 3, "d_ff": 5}, 3 + 1 + 1 + 5 + 1),
        # mean d + 1, difference 1, square 1, mean d + 1, sum with eps, root and quotient 3, gamma and beta 2
        (layer_norm(), {"n": 2, "d": 5}, 6 + 1 + 1 + 6 + 3 + 2),
    ],
)
def test_the_roundings_on_the_longest_path_are_counted(layer, sizes, expected):
    assert roundings(layer, sizes) == expected


def test_a_stack_has_the_roundings_of_each_of_its_layers():
    sizes = {"n": 2, "d_model": 3, "d_k": 5, "d_v": 7, "h": 2, "d_ff": 11}
    one = roundings(encoder_layer(), sizes)
    assert [roundings(encoder(), {**sizes, "N": N}) for N in (1, 2, 3)] == [one, 2 * one, 3 * one]


def test_the_bound_grows_with_the_root_of_the_roundings():
    assert [rounding_bound(count) for count in (0, 3, 8)] == [8, 16, 24]
