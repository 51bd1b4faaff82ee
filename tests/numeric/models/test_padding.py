"""Masks of real tokens: a padded text has the scores of the text alone; what is no mask of one is refused."""

from typing import Any

import numpy as np
import pytest

from numeric.models.load import LoadedModel, load
from numeric.runtime.checks import InputError
from tests.numeric.models.test_load import CONFIG, VOCAB, by_hand, greedy, saved, tensors

TEXTS = [[1, 12, 3, 7, 0], [4, 2], [6], [9, 8, 7, 6], [5, 11]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(saved(tmp_path_factory.mktemp("padded"), tensors(), {**CONFIG, "pad_token_id": 11}), np.float64)


def padded(*, left: bool) -> tuple[Any, Any]:
    """The texts side by side, and the mask of what is real of them."""
    rows, masks = [], []
    for text in TEXTS:
        fill = 5 - len(text)
        rows.append([11] * fill + text if left else text + [11] * fill)
        masks.append([0] * fill + [1] * len(text) if left else [1] * len(text) + [0] * fill)
    return np.array(rows), np.array(masks)


@pytest.mark.parametrize("left", [True, False])
def test_scores_are_those_of_the_text_alone(model: LoadedModel, left: bool) -> None:
    tokens, mask = padded(left=left)
    found = model.logits(tokens, mask=mask)
    for text, row, real in zip(TEXTS, found, mask.astype(bool), strict=True):
        np.testing.assert_allclose(row[real], by_hand(tensors(), text), rtol=0, atol=1e-12)
        assert not row[~real].any()
    assert abs(found - model.logits(tokens))[mask.astype(bool)].max() > 0.01 or not left  # padding before is seen


def test_axes_in_front_stay(model: LoadedModel) -> None:
    tokens, mask = padded(left=True)
    found = model.logits(tokens[:4].reshape(2, 2, 5), mask=mask[:4].reshape(2, 2, 5).astype(bool))
    assert found.shape == (2, 2, 5, VOCAB)
    np.testing.assert_array_equal(found.reshape(4, 5, VOCAB), model.logits(tokens[:4], mask=mask[:4]))
    one = model.logits(tokens[1], mask=mask[1])
    np.testing.assert_array_equal(one, model.logits(tokens, mask=mask)[1])


@pytest.mark.parametrize("cached", [True, False])
def test_greedy_texts_are_those_of_the_text_alone(model: LoadedModel, cached: bool) -> None:
    tokens, mask = padded(left=True)
    alone = [greedy(text, 4, (5,)) for text in TEXTS]
    longest = max(map(len, alone))
    found = model.generate(tokens, 4, mask=mask, cached=cached).tolist()
    assert found == [text + [11] * (longest - len(text)) for text in alone]
    assert model.generate(tokens[:4].reshape(2, 2, 5), 4, mask=mask[:4].reshape(2, 2, 5)).shape[:2] == (2, 2)


def test_all_real_is_no_mask(model: LoadedModel) -> None:
    tokens, mask = padded(left=True)
    np.testing.assert_array_equal(model.logits(tokens, mask=np.ones_like(mask)), model.logits(tokens))
    np.testing.assert_array_equal(model.generate(tokens, 3, mask=np.ones_like(mask)), model.generate(tokens, 3))


@pytest.mark.parametrize(
    ("mask", "sentence"),
    [
        ([[1, 1, 1]], r"the mask has shape \(1, 3\), the tokens have \(1, 5\)"),
        ([[0, 0, 0, 0, 0]], "a text has no real token"),
        ([[1, 0, 1, 1, 1]], "padding stands among the real tokens of a text"),
        ([[0, 0, 2, 1, 1]], "a mask of real tokens holds booleans, or 0 and 1"),
        ([[0.0, 0.0, 1.0, 1.0, 1.0]], "a mask of real tokens holds booleans, or 0 and 1, not numbers of type float64"),
    ],
)
def test_a_mask_that_is_none_is_refused(model: LoadedModel, mask: Any, sentence: str) -> None:
    for asked in (lambda: model.logits([TEXTS[0]], mask=mask), lambda: model.generate([TEXTS[0]], 2, mask=mask)):
        with pytest.raises(InputError, match=sentence):
            asked()


def test_a_mask_for_every_input(model: LoadedModel) -> None:
    with pytest.raises(InputError, match="the mask has shape"):
        model.logits([TEXTS[0]], mask=([[1] * 5], [[1] * 5]))
