"""What a user is told about arguments that fit no array of a layer, and about shapes that contradict one another."""

import re
from typing import Any

import numpy as np
import pytest

from derivations.catalogue import layers
from derivations.language.arrays.expression import mask_array
from derivations.language.arrays.shapes import ShapeError
from derivations.symbols import d, d_k, d_v, h, m, n
from numeric.lifting.proving import prove, prove_same

LAYER = layers()["scaled_dot_product_attention"]


def attention(q: Any, k: Any, v: Any) -> Any:
    P = np.exp(q @ k.T / np.sqrt(q.shape[-1]))
    return P / P.sum(-1, keepdims=True) @ v


@pytest.mark.parametrize(
    ("shapes", "sentence"),
    [
        ({"q": (n, 3), "k": (m, 4)}, "d_k of .* is 3 in q of shape (n, 3), and 4 in k of shape (m, 4): give one size"),
        ({"k": (m, d), "v": (h, d)}, "m of .* is m in k of shape (m, d), and h in v of shape (h, d): give one size"),
        ({"q": (0, 3)}, "q is given the shape (0, 3): a size must be an integer >= 1, not 0"),
    ],
)
def test_shapes_that_contradict_one_another_are_named(shapes: Any, sentence: str) -> None:
    with pytest.raises(ShapeError, match=re.escape(sentence).replace(r"\.\*", ".*")):
        prove(attention, LAYER, **shapes)


@pytest.mark.parametrize(
    "shapes", [{"q": (n, d), "k": (m, d)}, {"q": (n, 4), "k": (m, 4), "v": (m, d)}, {"q": (m, d_k)}]
)
def test_shapes_may_name_the_sizes_of_the_layer_anew(shapes: Any) -> None:
    assert prove(attention, LAYER, **shapes).level == "proved"


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ({"q": "querys"}, "has no array called 'querys'; it has K, Q, V"),
        ({"query": "Q"}, "no argument called 'query' to be Q; the arguments are k, q, v"),
    ],
)
def test_names_that_nothing_has_are_refused(names: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        prove(attention, LAYER, names)


def test_other_sizes_make_no_wrong_function_right() -> None:
    def unscaled(q: Any, k: Any, v: Any) -> Any:
        P = np.exp(q @ k.T / 2)
        return P / P.sum(-1, keepdims=True) @ v

    assert prove(unscaled, LAYER, q=(n, 4), k=(m, 4)).level == "proved"  # 2 is the root of 4
    assert prove(unscaled, LAYER, q=(n, 5), k=(m, 5)).level == "refuted"


@pytest.mark.parametrize(
    ("function", "shapes", "words"),
    [
        (lambda q, k: q, {}, "no argument for V of shape (m, d_v)"),
        (lambda q, k, v, w: q, {}, "its argument w stands for no array of scaled_dot_product_attention"),
        (lambda Q, K, V: Q, {"Q": (h, n, d_v)}, "its argument Q is given the shape (h, n, d_v)"),
    ],
)
def test_an_argument_without_a_place_is_named(function: Any, shapes: Any, words: str) -> None:
    verdict = prove(function, LAYER, **shapes)
    assert verdict.level == "not followed"
    assert words in verdict.reason
    assert "Q of shape (n, d_k)" in verdict.reason


def test_finite_entries_of_merged_axes_have_the_merged_axes() -> None:
    """The mask of the finite entries has the axes of its array, not those that were merged."""

    def flat(X: Any) -> Any:
        return X.reshape(X.shape[0], -1)

    def masked(X: Any, M: Any) -> Any:
        return np.where(np.isfinite(flat(np.where(M, X, -np.inf))), flat(X), 0).reshape(X.shape)

    shapes = {"X": (n, h, d_k, m), "M": mask_array("M", n, h, d_k, m)}
    assert prove_same(masked, lambda X, M: np.where(M, X, 0), **shapes).level == "proved"
    assert prove_same(masked, lambda X, M: np.where(M, 0, X), **shapes).level == "refuted"
