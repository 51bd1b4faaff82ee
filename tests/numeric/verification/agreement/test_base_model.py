"""The base-size model against the uncompiled float64 route; small models for every way in which it may fail."""

from copy import deepcopy

import numpy as np
import pytest

from numeric import Transformer
from numeric.verification.agreement import einsum
from numeric.verification.agreement.base_model import BASE, Run, base_agreement, base_checks, causal_check, run
from numeric.verification.agreement.report import Agreement

SMALL = {"d_model": 10, "h": 5, "d_ff": 7, "N": 2, "vocab": 256}
TEXT = "Attention, attention: 注意力。".encode()


def small(**options):
    return Transformer(**SMALL, seed=2, dtype=np.float64, **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("final_norm", [False, True])
def test_a_small_model_agrees_with_the_uncompiled_route(dtype, final_norm):
    model = Transformer(**SMALL, seed=2, dtype=dtype, final_norm=final_norm)
    found = base_agreement(run(TEXT, model))
    assert found.passed, found
    for check in base_checks(run(TEXT, model)):
        assert check.passed, check


def test_logits_agree_too():
    model, tokens = small(), np.frombuffer(TEXT, np.uint8).astype(int)
    np.testing.assert_allclose(
        model.logits(tokens, tokens[:7]), einsum.logits(tokens, tokens[:7], model.weights), rtol=1e-12, atol=1e-12
    )


@pytest.mark.slow
def test_the_base_size_model_agrees_with_the_uncompiled_route():
    """The largest error stays below 1e-5 of the row's largest probability, after a path of 99,548 roundings."""
    forward = run((TEXT * 20)[:512], Transformer(**BASE))
    found = base_agreement(forward)
    assert found.passed, found
    assert found.error_ulp * np.finfo(np.float32).eps < 1e-5
    for check in base_checks(forward):
        assert check.passed, check


def corrupted(change):
    model = small()
    weights = deepcopy(model.weights)
    change(weights)
    forward = run(TEXT, model)
    return Run(small(weights=weights), forward.tokens, forward.probabilities)


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w["encoder"]["layers"].reverse(),
        lambda w: w["decoder"]["layers"][1]["cross_attention"]["W_O"].__imul__(1 + 1e-9),
        lambda w: w["encoder"]["layers"][0]["feed_forward"]["b_1"].__iadd__(1e-9),
        lambda w: w["decoder"]["layers"][0]["self_attention"].update(
            W_Q=w["decoder"]["layers"][0]["self_attention"]["W_K"]
        ),
        lambda w: w["E"].__imul__(1 + 1e-9),
    ],
)
def test_probabilities_of_other_weights_are_refused(change):
    found = base_agreement(corrupted(change))
    assert isinstance(found, Agreement)
    assert not found.passed, found


def test_a_model_that_sees_later_bytes_is_refused():
    before = np.array([[0.25, 0.75], [0.5, 0.5]])
    after = before.copy()
    after[1] = [1, 0]
    assert causal_check(before, after, 100.0).passed
    after[0] += [1e-9, -1e-9]
    assert not causal_check(before, after, 100.0).passed


def test_a_parameter_and_a_product_too_many_are_seen():
    forward = run(TEXT, small())
    forward.model.weights["encoder"]["layers"][0]["feed_forward"]["b_1"] = np.zeros(SMALL["d_ff"] + 1)
    with pytest.raises(ValueError, match="b_1"):
        run(TEXT, forward.model)
    counted = next(check for check in base_checks_up_to_counts(forward) if "parameters" in check.name)
    assert counted.measured == -1
    assert not counted.passed


def base_checks_up_to_counts(forward):
    for check in base_checks(forward):
        yield check
        if "parameters" in check.name:
            return


def test_the_information_of_the_next_byte():
    probabilities = np.full((3, 256), 2.0**-8)
    probabilities[0, 5] = 0.25
    tokens = np.array([1, 5, 7])
    assert Run(small(), tokens, probabilities).bits == pytest.approx((2 + 8) / 2)
    assert Run(small(), tokens[:1], probabilities[:1]).bits is None


def test_a_window_of_one_byte_runs():
    forward = run(b"x", small())
    assert forward.probabilities.shape == (1, 256)
    assert all(check.passed for check in base_checks(forward))
