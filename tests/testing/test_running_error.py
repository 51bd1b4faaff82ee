"""The running error: what rounding and perturbed operands do stays within the bound, and the bound is no empty word."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from derivations.catalogue import layers
from numeric.codegen.compile import compile_layer
from numeric.verification.conformance.cases import Scope, cases
from numeric.verification.conformance.drawing import draw, mapped
from numeric.verification.conformance.running_error import UFUNCS, Arithmetic, Bounded, NotBounded, bounded

SINGLE, DOUBLE = Arithmetic.of(np.float32), Arithmetic.of(np.float64)
EXACT = Arithmetic(0.0, 0.0)  # a machine that never rounds: what is left is what the operands' errors carry
POSITIVE = {"sqrt", "log", "power"}


def function(name):
    return getattr(special if name in {"erf", "expit"} else np, name)


COMPARISONS = {"greater", "greater_equal", "less", "less_equal"}


def operands(name, rng, count):
    """Random values in (7, 7) with errors; positive where the function wants them so."""
    values = [rng.standard_normal((7, 7)) * 2 for _ in range(count)]
    if name in POSITIVE:
        values[0] = np.abs(values[0]) + 0.5
    errors = [np.abs(rng.standard_normal((7, 7))) * 0.01 for _ in range(count)]
    return values, errors


def arguments(name, values, errors, arithmetic):
    given = [Bounded(value, error, arithmetic) for value, error in zip(values, errors, strict=True)]
    return [*given[:1], 3] if name == "power" else [*given[:1], 0] if name == "heaviside" else given


@pytest.mark.parametrize("name", UFUNCS)
def test_no_error_of_the_operands_carries_further_than_the_bound(name):
    rng = np.random.default_rng(3)
    count = function(name).nin
    values, errors = operands(name, rng, count)
    found = function(name)(*arguments(name, values, errors, EXACT))
    largest = np.zeros(found.shape)
    for _ in range(200):
        moved = [value + rng.choice([-1, 1], size=(7, 7)) * error for value, error in zip(values, errors, strict=True)]
        moved = [*moved[:1], *([3] if name == "power" else [0] if name == "heaviside" else moved[1:])]
        largest = np.maximum(largest, np.abs(function(name)(*moved).astype(float) - found.value))
    assert (largest <= found.error * (1 + 1e-12) + 1e-15).all()
    if name not in {"heaviside", *COMPARISONS}:
        assert (largest >= found.error / 20).any()  # a bound that says something


@pytest.mark.parametrize("name", sorted(UFUNCS.keys() - {"heaviside", *COMPARISONS}))
def test_no_rounding_in_float32_goes_further_than_the_bound(name):
    values, _ = operands(name, np.random.default_rng(5), function(name).nin)
    values = [value.astype(np.float32).astype(float) for value in values]
    zeros = [np.zeros((7, 7)) for _ in values]
    found = function(name)(*arguments(name, values, zeros, SINGLE))
    rounded = function(name)(
        *([values[0].astype(np.float32), 3] if name == "power" else [value.astype(np.float32) for value in values])
    )
    assert rounded.dtype == np.float32
    assert (np.abs(rounded.astype(float) - found.value) <= found.error).all()


def test_a_rounding_too_many_is_noticed():
    """Ten thousand summands that all round the same way: beyond the bound of half as many, within that of all."""
    ones = np.full(10_000, np.float32(1 + 2.0**-23))
    total = np.cumsum(ones)[-1]  # in order, one rounding each
    exact = Bounded(ones, 0.0, SINGLE).sum(axis=-1)
    off = abs(float(total) - float(exact.value))
    assert 0 < off <= float(exact.error)
    assert off > float(Bounded(ones[:20], 0.0, SINGLE).sum(axis=-1).error)


def test_constants_are_rounded_unless_float32_holds_them():
    x = Bounded(np.ones(3), 0.0, SINGLE)
    assert ((x * 1.5).error / 1.5 < (x * 0.1).error / 0.1).all()


def test_an_infinity_is_exact_and_its_weight_nothing():
    x = Bounded(np.array([1.0, 2.0]), 0.0, SINGLE)
    hidden = np.where(np.array([True, False]), x, -np.inf)
    assert hidden.error.tolist() == [0, 0]
    weights = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    assert weights.value.tolist() == [1, 0]
    assert weights.error[1] <= 2 * SINGLE.smallest


def test_a_quotient_by_what_may_be_zero_is_unbounded():
    below = Bounded(np.array([1e-3]), np.array([1e-2]), DOUBLE)
    assert (1 / below).error == np.inf


def test_a_sign_that_may_be_wrong_counts_in_full():
    near = Bounded(np.array([1e-9, 1.0]), np.array([1e-8, 1e-8]), DOUBLE)
    assert np.heaviside(near, 0).error.tolist() == (near > 0).error.tolist() == [1, 0]


@pytest.mark.parametrize(
    "call", [np.arctan, np.floor, np.cumsum, np.sort, lambda x: np.add.reduce(x), lambda x: x**x, np.asarray]
)
def test_what_has_no_rule_is_refused(call):
    with pytest.raises(NotBounded):
        call(Bounded(np.ones(3), 0.0, SINGLE))


COVERED = [name for name, layer in layers().items() if layer.inputs]
UNBOUNDED = {
    "audio_stem",  # it fills an array of zeros, as do convolutions with rows before:
    *("causal_convolution", "short_convolution", "gated_recurrence", "selective_state_space", "state_space_heads"),
    *("gated_delta_net", "kimi_delta_attention", "channel_mixing"),
    *("grouped_convolution", "weight_normed_convolution"),
    # rounding may decide which experts or keys are chosen
    *("mixture_of_experts", "mixture_with_shared_experts", "sparse_latent_attention"),
}
DEEP = {
    "encoder",
    "decoder",
    "decoder_layer",
    "transformer",
    "transformer_loss",
}  # the worst case grows without measure through them


@pytest.mark.parametrize("name", COVERED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_error_of_every_layer_is_within_its_own_bound(name, dtype):
    layer = layers()[name]
    plan = next(cases(layer, Scope(dtypes=(dtype,), hidden=False, seed=2))).plan
    case = draw(layer, replace(plan, batch=(2,)))
    arithmetic = Arithmetic.of(dtype)
    exact = mapped(dict(case.arguments), lambda _, each: each.astype(float) if each.dtype.kind == "f" else each)
    if name in UNBOUNDED:
        with pytest.raises(NotBounded):
            compile_layer(layer)(**bounded_leaves(exact, arithmetic), **case.defaults, check=False)
        return
    with np.errstate(all="ignore"):  # an infinite bound may stand where nothing is known
        found = compile_layer(layer)(**bounded_leaves(exact, arithmetic), **case.defaults, check=False)
    assert isinstance(found, Bounded)
    np.testing.assert_array_equal(found.value, case.expected)
    computed = compile_layer(layer)(**case.arguments, **case.defaults)
    assert (np.abs(computed.astype(float) - found.value) <= found.error).all()
    if name not in DEEP:
        assert found.error.max() <= 0.02 * np.abs(found.value).max()


def bounded_leaves(arguments, arithmetic):
    return mapped(arguments, lambda _, each: bounded(each, arithmetic))
