"""Rows of weights sum to 1 and hidden keys have weight 0; weights for which that fails are told apart."""

import numpy as np
import pytest

from derivations.language.differentiation.reverse import gradient
from numeric import compile_layer
from numeric.verification.agreement.cases import SIZES, case
from numeric.verification.agreement.properties import (
    hidden_gradients_check,
    hidden_keys_check,
    property_checks,
    row_sums_check,
)
from numeric.verification.agreement.report import Check


def test_the_properties_hold():
    checks = list(property_checks())
    assert len(checks) == 4 * 3 * 2 + 2 * 3 * 2
    for check in checks:
        assert check.passed, check


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_that_does_not_sum_to_1_is_refused(dtype):
    weights = np.full((3, 5), 0.2, dtype)
    assert row_sums_check("weights", weights).passed
    weights[1, 2] += 100 * np.finfo(dtype).eps
    check = row_sums_check("weights", weights)
    assert not check.passed
    assert check.measured == pytest.approx(100, abs=1)


def test_weights_normalised_along_the_other_axis_are_refused():
    weights = np.random.default_rng(3).random((5, 5))
    assert row_sums_check("weights", weights / weights.sum(axis=1, keepdims=True)).passed
    assert not row_sums_check("weights", weights / weights.sum(axis=0)).passed


def test_rows_without_a_visible_key_are_left_out_and_no_others():
    weights = np.array([[0.5, 0.5], [0.0, 0.0]])
    assert not row_sums_check("weights", weights).passed
    assert row_sums_check("weights", weights, np.array([True, False])).passed
    assert not row_sums_check("weights", weights, np.array([False, True])).passed


def test_a_weight_on_a_hidden_key_is_refused():
    visible = np.array([[True, False, True]])
    assert hidden_keys_check("weights", np.array([[0.5, 0.0, 0.5]]), visible).passed
    assert not hidden_keys_check("weights", np.array([[0.5, 1e-300, 0.5]]), visible).passed


@pytest.mark.parametrize("place", range(3))
def test_a_gradient_by_what_no_weight_depends_on_is_refused(place):
    each = case("masked_scaled_dot_product_attention", SIZES[0], np.float64)
    derived = compile_layer(gradient(each.layer))
    assert hidden_gradients_check(each, derived).passed

    def leaking(**arguments):
        found = list(derived(**arguments))
        found[place] = found[place] + 1e-300
        return found

    assert not hidden_gradients_check(each, leaking).passed


def test_a_check_takes_both_signs_and_no_nan():
    assert not Check("x", float("nan"), 1.0).passed
    assert not Check("x", -2.0, 1.0).passed
    assert Check("x", -1.0, 1.0).passed
    assert str(Check("x", 2.0, 1.0, "ULP")) == "x FAILS: 2 of 1 ULP"
