"""How cases are drawn: distinct primes, whole axes, masks of both kinds, the same case for the same plan."""

from itertools import takewhile

import numpy as np
import pytest
from sympy import isprime

from derivations.catalogue import LAYERS, layer
from derivations.normalisation.batch_norm import batch_norm_inference
from numeric.runtime.checks import InputError
from numeric.verification.conformance.cases import EXTREMES, Scope, cases
from numeric.verification.conformance.drawing import Plan, draw, leaves
from numeric.verification.conformance.sizes import draw_sizes
from tests.tiers import few


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("seed", range(3))
def test_sizes_are_distinct_primes_and_axes_whole(name, seed):
    sizes = draw_sizes(layer(name), {}, seed)
    odd = {key: size // 2 if size % 4 == 2 and size > 2 else size for key, size in sizes.items()}
    assert all(map(isprime, odd.values()))
    assert len(set(sizes.values())) == len(sizes)
    assert sizes == draw_sizes(layer(name), {}, seed)


@pytest.mark.parametrize("name", few(LAYERS, fast=10))
def test_every_layer_has_a_value_in_every_case(name):
    for case in drawn(name):
        assert np.isfinite(case.expected).all()


def test_a_window_is_no_longer_than_the_rows():
    """Sizes are drawn again until the layer has a value."""
    assert all(case.plan.sizes["w"] <= case.plan.sizes["n"] for case in drawn("convolution"))


def test_a_layer_without_a_value_is_refused():
    with pytest.raises(InputError, match="convolution: none of 20 random sizes fits"):
        list(cases(layer("convolution"), Scope({"n": 2, "w": 3}, ("float64",), batch=False)))


def test_a_variance_is_not_negative():
    case = draw(batch_norm_inference(), Plan({"n": 2, "d": 3}, "float64"))
    assert (case.arguments["v"] >= 0).all()


def test_a_stack_has_few_layers():
    assert draw_sizes(layer("encoder"), {}, 0)["N"] == 2


def test_a_size_that_is_given_stays():
    sizes = draw_sizes(layer("linear"), {"d_in": 12, "d_out": 5}, 0)
    assert (sizes["d_in"], sizes["d_out"]) == (12, 5)


@pytest.mark.parametrize("wrong", [{"d_k": 3}, {"d_in": 0}, {"d_in": True}, {"d_in": 2.0}])
def test_a_size_that_is_none_is_refused(wrong):
    with pytest.raises(InputError, match=r"linear: .* is not a size of it; give integers >= 1 for d_in, d_out, n"):
        draw_sizes(layer("linear"), wrong, 0)


def test_a_given_size_that_leaves_half_a_place_is_refused():
    with pytest.raises(InputError, match="the axis of d_model/2 places must be whole, not 3/2"):
        draw_sizes(layer("positional_encoding"), {"d_model": 3}, 0)


def drawn(name, **options):
    """The plainest cases, with which a test begins."""
    found = cases(layer(name), Scope(**options))
    first = next(found)
    return [first, *takewhile(lambda case: case.plan.seed or case.plan.dtype == "float32", found)]


def test_the_cases_of_a_masked_layer():
    cases = drawn("masked_scaled_dot_product_attention")
    kinds = [case.plan.kind for case in cases if case.plan.dtype == "float32"]
    assert kinds == ["ordinary"] * 3 + ["hidden", *EXTREMES]
    assert {case.plan.batch for case in cases} == {(), (2,), (3, 2)}
    for case in cases:
        mask = case.arguments["M"]
        visible = mask.any(axis=-1)
        assert (not visible[..., 0].any() and visible[..., 1:].all()) if case.plan.kind == "hidden" else visible.all()
        assert case.arguments["Q"].dtype == case.plan.dtype


def test_extreme_inputs_overflow_an_unshifted_exponential():
    for case in drawn("softmax"):
        if case.plan.kind == "extreme 1000":
            with np.errstate(over="ignore"):
                assert np.isinf(np.exp(case.arguments["x"])).any()


def test_kinds_and_batches_can_be_left_out():
    cases = drawn("masked_scaled_dot_product_attention", batch=False, hidden=False)
    assert {case.plan.batch for case in cases} == {()}
    assert "hidden" not in {case.plan.kind for case in cases}


def test_the_same_plan_gives_the_same_case():
    first, second = drawn("encoder_layer")[4], drawn("encoder_layer")[4]
    found = leaves(first.arguments)
    assert set(found) >= {"X", "attention.W_Q", "feed_forward_norm.gamma"}
    for path, array in leaves(second.arguments).items():
        np.testing.assert_array_equal(array, found[path])
