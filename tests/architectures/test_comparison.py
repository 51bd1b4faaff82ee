"""Scores of texts and pictures: cosines of angles, times a number, plus another one."""

import numpy as np
import pytest
from sympy import Integer

from derivations.architectures.comparison import comparison_layer
from derivations.architectures.composition import build
from derivations.architectures.hugging_face import model_of
from derivations.architectures.reading import ConfigError
from derivations.language import count_parameters
from derivations.symbols import d, m, n
from numeric import compile_layer

rng = np.random.default_rng(0)
U, V = rng.normal(size=(2, 5)), rng.normal(size=(3, 5))


def test_scores_are_scaled_cosines() -> None:
    found = compile_layer(comparison_layer())(U, V, t=np.float64(0.3))
    cosines = [[u @ v / np.linalg.norm(u) / np.linalg.norm(v) for v in V] for u in U]
    np.testing.assert_allclose(found, np.exp(0.3) * np.array(cosines))


def test_the_length_of_a_row_does_not_matter_and_its_sign_does() -> None:
    scores = compile_layer(comparison_layer(biased=True))
    found = scores(U, V, t=np.float64(0.3), b=np.float64(-0.7))
    np.testing.assert_allclose(scores(3 * U, 7 * V, t=np.float64(0.3), b=np.float64(-0.7)), found)
    np.testing.assert_allclose(scores(-U, V, t=np.float64(0.3), b=np.float64(-0.7)) + 0.7, -(found + 0.7))


@pytest.mark.parametrize("biased", [False, True])
def test_a_comparison_has_one_parameter_or_two(biased: bool) -> None:
    layer = comparison_layer(biased=biased).xreplace({n: Integer(2), m: Integer(3), d: Integer(5)})
    assert count_parameters(layer) == 1 + biased


TEXT = {"hidden_size": 12, "num_attention_heads": 3}
REFUSED = [
    (
        {"text_config": TEXT | {"projection_size": 13}},
        "projection_size is 13 and not the width of the pictures' rows, 768",
    ),
    (
        {"text_config": TEXT | {"projection_size": 768}, "vision_config": {"vision_use_head": False}},
        "vision_use_head is",
    ),
    ({"text_config": TEXT | {"model_type": "clip_text_model"}}, "only siglip_text_model is read there"),
    ({"text_config": TEXT | {"causal": True}}, "causal = true is not understood"),
]


@pytest.mark.parametrize(("changes", "sentence"), REFUSED)
def test_what_cannot_be_compared_is_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        model_of({"model_type": "siglip", **changes}, "siglip")


def test_fields_that_old_files_have_twice_are_refused_unless_null() -> None:
    assert model_of({"model_type": "clip", "text_config_dict": None}, "clip").architecture.tower is not None
    with pytest.raises(ConfigError, match="text_config_dict is"):
        model_of({"model_type": "clip", "text_config_dict": {"hidden_size": 3}}, "clip")


@pytest.mark.parametrize(("model_type", "total"), [("clip", 151277313), ("siglip", 203155970)])
def test_the_defaults_are_the_released_base_models(model_type: str, total: int) -> None:
    """CLIP ViT-B/32 and SigLIP base with patches of 16 pixels have so many numbers in their files."""
    model = model_of({"model_type": model_type}, model_type)
    assert count_parameters(build(model.architecture)).xreplace(dict(model.values)) == total
