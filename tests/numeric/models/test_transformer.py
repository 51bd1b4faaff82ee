"""The whole model against the reference, its masks, and what it refuses."""

import numpy as np
import pytest
from mpmath import mp

from derivations.language.arrays.functions import gelu
from derivations.transformer.transformer import transformer
from numeric import InputError, Transformer, count, initialise
from numeric.verification import reference

SMALL = {"d_model": 6, "h": 3, "d_ff": 7, "N": 2, "vocab": 11}
SOURCE, TARGET = np.array([3, 1, 4, 1, 5, 9, 2]), np.array([2, 7, 1, 8, 10])


def randomised(weights, rng):
    """Return weights of the same shapes with normal entries, so that biases and norms matter."""
    if isinstance(weights, dict):
        return {name: randomised(value, rng) for name, value in weights.items()}
    if isinstance(weights, list):
        return [randomised(value, rng) for value in weights]
    return rng.normal(size=weights.shape).astype(weights.dtype)


def small(**options):
    """Return a small model in float64 with random weights."""
    options = {"dtype": np.float64, **SMALL, **options}
    return Transformer(**options, weights=randomised(Transformer(**options).weights, np.random.default_rng(0)))


def expected(model, source, target, *masks, **options):
    """Return the logits and the probabilities of the reference."""
    weights = model.weights
    return reference.transformer(
        source, target, {"E": weights["E"]}, weights["encoder"], weights["decoder"], *masks, **options
    )


def largest_difference(actual, exact):
    assert actual.shape == (len(exact), len(exact[0]))
    with mp.workdps(50):
        rows = zip(actual, exact, strict=True)
        return float(max(abs(mp.mpf(float(a)) - e) for row, other in rows for a, e in zip(row, other, strict=True)))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"biases": True},
        {"final_norm": True},
        {"activation": "gelu"},
        {"biases": True, "final_norm": True, "activation": "gelu"},
    ],
)
def test_the_model_agrees_with_the_reference(options):
    model = small(**options)
    logits, probabilities = expected(model, SOURCE, TARGET, activation=options.get("activation", "relu"))
    assert largest_difference(model.logits(SOURCE, TARGET), logits) < 1e-13
    assert largest_difference(model(SOURCE, TARGET), probabilities) < 1e-14


def test_single_precision_stays_single_and_agrees():
    model = small(dtype=np.float32)
    logits, probabilities = expected(model, SOURCE, TARGET)
    actual = model.logits(SOURCE, TARGET)
    assert actual.dtype == np.float32 and model(SOURCE, TARGET).dtype == np.float32
    assert largest_difference(actual, logits) < 3e-5
    assert largest_difference(model(SOURCE, TARGET), probabilities) < 1e-5


@pytest.mark.slow
def test_padding_agrees_with_the_reference():
    model = small()
    seen = np.array([True, True, False, True, False, True, False])
    seen_target = np.array([True, False, True, True, False])
    for masks in ((seen, seen_target), (seen, None), (None, seen_target)):
        logits, probabilities = expected(model, SOURCE, TARGET, *masks)
        assert largest_difference(model.logits(SOURCE, TARGET, *masks), logits) < 1e-13
        assert largest_difference(model(SOURCE, TARGET, *masks), probabilities) < 1e-14
    assert (model(SOURCE, TARGET, np.ones(7, bool)) == model(SOURCE, TARGET)).all()


def test_the_reference_tells_a_model_without_its_mask():
    """The comparison is a comparison: leaving out the causal mask or the padding is seen."""
    model = small()
    _, without = expected(model, SOURCE, TARGET, causal=False)
    assert largest_difference(model(SOURCE, TARGET), without) > 1e-3
    _, padded = expected(model, SOURCE, TARGET, [True] * 6 + [False])
    assert largest_difference(model(SOURCE, TARGET), padded) > 1e-4


def test_padding_may_hold_any_token():
    model = small()
    seen, seen_target = np.arange(7) < 5, np.arange(5) < 3
    other_source, other_target = SOURCE.copy(), TARGET.copy()
    other_source[5:], other_target[3:] = 0, 6
    first = model(SOURCE, TARGET, seen, seen_target)
    second = model(other_source, other_target, seen, seen_target)
    assert (first[:3] == second[:3]).all()
    assert (first[3:] != second[3:]).any()


def test_a_target_position_sees_no_later_one():
    model = small()
    other = TARGET.copy()
    other[3:] = 0, 5
    first, second = model(SOURCE, TARGET), model(SOURCE, other)
    np.testing.assert_allclose(first[:3], second[:3], rtol=1e-12)
    assert abs(first[3:] - second[3:]).max() > 1e-3


def test_a_batch_gives_what_its_items_give():
    model = small()
    rng = np.random.default_rng(1)
    source, target = rng.integers(0, 11, (3, 2, 7)), rng.integers(0, 11, (3, 2, 5))
    seen, seen_target = rng.random((3, 2, 7)) < 0.7, rng.random((3, 2, 5)) < 0.7
    together, unmasked = model(source, target, seen, seen_target), model(source, target)
    assert together.shape == (3, 2, 5, 11)
    for place in np.ndindex(3, 2):
        alone = model(source[place], target[place], seen[place], seen_target[place])
        np.testing.assert_allclose(together[place], alone, rtol=1e-11)
        np.testing.assert_allclose(unmasked[place], model(source[place], target[place]), rtol=1e-11)


def test_a_source_of_padding_alone_gives_numbers():
    """Every row of the encoder's attention is without a key, and so is the cross-attention: zeros, no NaN."""
    model = small()
    hidden = np.zeros(7, bool)
    probabilities = model(SOURCE, TARGET, hidden)
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1, rtol=1e-14)
    assert largest_difference(probabilities, expected(model, SOURCE, TARGET, hidden)[1]) < 1e-14


def test_probabilities_sum_to_one_and_follow_the_logits():
    model = Transformer(**SMALL)
    probabilities, logits = model(SOURCE, TARGET), model.logits(SOURCE, TARGET)
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1, rtol=1e-6)
    assert (probabilities.argmax(axis=-1) == logits.argmax(axis=-1)).all()
    assert abs(logits).max() > 0.1


def test_lists_of_tokens_are_taken():
    model = Transformer(**SMALL)
    assert (model(SOURCE.tolist(), TARGET.tolist()) == model(SOURCE, TARGET)).all()
    masked = model(SOURCE.tolist(), TARGET.tolist(), [True] * 6 + [False])
    assert (masked == model(SOURCE, TARGET, np.arange(7) < 6)).all()


def test_weights_are_those_of_the_seed():
    model = Transformer(**SMALL, seed=5)
    own = initialise(transformer(), {**SMALL, "d_k": 2, "d_v": 2}, seed=5)
    again = Transformer(**SMALL, weights=own)
    assert (model(SOURCE, TARGET) == again(SOURCE, TARGET)).all()
    assert (model(SOURCE, TARGET) != Transformer(**SMALL, seed=6)(SOURCE, TARGET)).all()
    assert model.parameters() == count(own)


def test_an_activation_may_be_a_formula():
    by_name, by_formula = Transformer(**SMALL, activation="gelu"), Transformer(**SMALL, activation=gelu)
    assert (by_name(SOURCE, TARGET) == by_formula(SOURCE, TARGET)).all()
    assert (by_name(SOURCE, TARGET) != Transformer(**SMALL)(SOURCE, TARGET)).any()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"d_model": 10}, "Transformer: d_model is 10, and h = 3 must divide it; choose another d_model"),
        (
            {"d_model": 9},
            "Transformer: d_model is 9, and it must be even (a sine and a cosine for each frequency); "
            "choose another d_model",
        ),
        ({"N": 0}, "Transformer: N must be an integer >= 1, not 0"),
        ({"h": 2.0}, "Transformer: h must be an integer >= 1, not 2.0"),
        ({"vocab": True}, "Transformer: vocab must be an integer >= 1, not True"),
        ({"d_ff": "64"}, "Transformer: d_ff must be an integer >= 1, not '64'"),
        ({"activation": "tanh"}, "Transformer: the activation 'tanh' is unknown; choose relu or gelu"),
        ({"dtype": np.int64}, "Transformer: the dtype must be float32 or float64, not int64"),
        ({"dtype": np.float16}, "Transformer: the dtype must be float32 or float64, not float16"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(options, sentence):
    with pytest.raises(InputError) as caught:
        Transformer(**{**SMALL, **options})
    assert str(caught.value) == sentence


def test_weights_of_other_sizes_are_refused():
    """The model says so when it is made, not when it is run."""
    for other in ({"vocab": 13}, {"d_ff": 5}, {"N": 3}, {"h": 2}, {"biases": True}, {"final_norm": True}):
        with pytest.raises(InputError, match="transformer: weights"):
            Transformer(**SMALL, weights=Transformer(**{**SMALL, **other}).weights)
    with pytest.raises(InputError) as caught:
        Transformer(**SMALL, weights=Transformer(**{**SMALL, "vocab": 13}).weights)
    assert str(caught.value).startswith("transformer: weights.E has shape (13, 6), (vocab, d_model) is needed with ")


def test_weights_that_are_no_numbers_are_refused():
    weights = Transformer(**SMALL).weights
    weights["decoder"]["layers"][1]["feed_forward"]["W_2"][3, 2] = np.nan
    with pytest.raises(InputError) as caught:
        Transformer(**SMALL, weights=weights)
    assert str(caught.value) == (
        "transformer: weights.decoder.layers[1].feed_forward.W_2 is NaN at (3, 2): replace such entries first"
    )


def test_weights_bring_their_number_type():
    weights = Transformer(**SMALL, dtype=np.float64).weights
    assert Transformer(**SMALL, weights=weights).dtype == np.float64
    assert Transformer(**SMALL, weights=weights)(SOURCE, TARGET).dtype == np.float64


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1, 11], [2]), "transformer: source holds the token 11; vocab = 11 tokens count from 0"),
        (([1], [-3]), "transformer: target holds the token -3; vocab = 11 tokens count from 0"),
        (([1.0], [2]), "transformer: source must be a NumPy array of an integer type, not ndarray of type float64"),
        (
            ([1, 2], [2], [1, 0]),
            "transformer: source_visible must be a NumPy array of bool (True where visible), not ndarray of type int64",
        ),
    ],
)
def test_tokens_and_masks_that_do_not_fit_are_refused(arguments, sentence):
    with pytest.raises(InputError) as caught:
        Transformer(**SMALL)(*arguments)
    assert str(caught.value) == sentence
