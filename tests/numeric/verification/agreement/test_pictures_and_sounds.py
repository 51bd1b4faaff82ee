"""Encoders of pictures and sounds from their checkpoints: rows, poolers, classes and scores as the library has them."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
# ruff: noqa: E402 -- what is imported below needs both libraries, and is half imported where it was skipped before

from derivations.architectures.hugging_face import read_config
from derivations.architectures.hugging_face.readers.joined import JOINED
from derivations.architectures.hugging_face.readers.towers import TOWERS
from derivations.costs.counts import count
from numeric.models.load import load
from numeric.runtime.checks import InputError
from tests.numeric.verification.agreement.float64 import exactly
from tests.numeric.verification.agreement.small_families import (
    COMPARED,
    COUNTED,
    MADE_OF_MODELS,
    PICTURE,
    PICTURES,
    SOUNDS,
    SPECTRA,
)
from tests.numeric.verification.agreement.test_parameter_counts import WHISPER, class_and_config

pytestmark = pytest.mark.peers

OBLONG = ("ViTForImageClassification", PICTURE | {"image_size": [21, 15], "num_labels": 4})  # one column is not read
CASES = [*PICTURES, ("ViTModel", PICTURE), OBLONG]


def random_model(name: str, changes: dict[str, Any]) -> Any:
    """Return a model of the library in float64 whose every parameter is random."""
    torch.manual_seed(0)  # what a test draws afterwards does not depend on the tests before it
    model_class, config = class_and_config(name, changes)
    model = model_class(config).eval()
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.get_default_dtype())
        parameter.data.copy_(0.3 * noise + (1 if parameter.ndim == 1 else 0))
    for name, stored in model.named_buffers():
        if name.endswith("e_score_correction_bias"):
            stored.data.copy_(0.3 * torch.randn(stored.shape, generator=generator, dtype=stored.dtype))
    if "Experts" in str(model):
        model.set_experts_implementation("eager")  # the other one has no float64
    return model


@pytest.mark.parametrize(("name", "changes"), CASES, ids=[f"{i}-{name}" for i, (name, _) in enumerate(CASES)])
def test_rows_poolers_and_classes_of_pictures(name: str, changes: dict[str, Any], tmp_path: Path) -> None:
    class_and_config(name, changes)[0](class_and_config(name, changes)[1])  # what is imported late has float32
    with exactly(), torch.no_grad():
        model = random_model(name, changes)
        sides = model.config.image_size if isinstance(model.config.image_size, list | tuple) else [14, 14]
        pictures = torch.randn(2, model.config.num_channels, *sides)
        expected = model(pictures)
    model.save_pretrained(tmp_path)
    ours = load(tmp_path, np.float64)
    if "logits" in expected:
        pairs = [(ours.logits(pictures), expected.logits)]
    else:
        pairs = [(ours.hidden(pictures), expected.last_hidden_state)]
    if "image_embeds" in expected:
        pairs.append((ours.embedded(pictures), expected.image_embeds))
    elif "pooled" in ours.layer.shapes:
        pairs.append((ours.pooled(pictures), expected.pooler_output))
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)
        assert np.ptp(wanted.numpy(), axis=-1).min() > 0.01


JOINED_SIZES = {"hidden_size": 16, "intermediate_size": 11, "num_hidden_layers": 2, "num_attention_heads": 4}


@pytest.mark.parametrize("model_type", [each for each in JOINED if each not in TOWERS])
def test_the_language_model_of_a_joined_model_has_the_parameters_there(model_type: str, tmp_path: Path) -> None:
    config = transformers.CONFIG_MAPPING[model_type]()
    for field, value in JOINED_SIZES.items():
        setattr(config.text_config, field, value)
    config.text_config.num_key_value_heads = 2
    config.text_config.head_dim = 8 if "partial_rotary_factor" in str(config.text_config) else 4  # a quarter is a pair
    if config.text_config.model_type == "deepseek_v3":
        config.text_config.num_key_value_heads, config.text_config.head_dim = 4, config.text_config.qk_rope_head_dim
    if getattr(config.text_config, "layer_types", None):
        config.text_config.layer_types = config.text_config.layer_types[:: len(config.text_config.layer_types) - 1]
    if model_type == "gemma3n":  # of two layers, none takes the keys of an earlier one
        config.text_config.num_kv_shared_layers = 0
        config.text_config.activation_sparsity_pattern, config.text_config.intermediate_size = [0.0, 0.0], [11, 11]
    if model_type == "gemma4":  # its default says of each layer how wide its heads are
        config.text_config = type(config.text_config)(**JOINED_SIZES, num_key_value_heads=2, num_kv_shared_layers=0)
    if model_type == "aya_vision":
        config.vision_config.num_attention_heads = 16  # its default does not divide the width
    name = f"{JOINED[model_type][0]}ForConditionalGeneration"
    config.architectures = [name]
    with torch.device("meta"):  # the tower of Gemma 3n is of another library
        alone = model_type == "gemma3n"
        theirs = transformers.Gemma3nForCausalLM(config.text_config) if alone else getattr(transformers, name)(config)
    config.save_pretrained(tmp_path)
    counted = count(read_config(tmp_path), seq=3).json()["parameters"]
    text = re.compile(r"" if alone else r"language_model\.|\btext_model\.|lm_head\.")
    assert counted["total"] == sum(p.numel() for n, p in theirs.named_parameters() if text.search(n))
    assert counted["of"] == "the language model alone, without what reads pictures or sounds"


CLOSE = {np.float64: 1e-10, np.float32: 1e-4}
TEXTS = [
    (name, changes)
    for name, changes in COUNTED
    if re.match("(CLIP|CLIPSeg|ChineseCLIP|MetaClip2|OwlViT|Owlv2|Siglip2?|XCLIP)Text", name)
]
OF_TEXT = [
    (name, changes)
    for name, changes in COUNTED
    if name.endswith(("TextModel", "SplinterModel")) and (name, changes) not in TEXTS
]


@pytest.mark.parametrize(("name", "changes"), OF_TEXT, ids=[f"{i}-{name}" for i, (name, _) in enumerate(OF_TEXT)])
def test_texts_of_one_axis_have_the_rows_of_three(name: str, changes: dict[str, Any], tmp_path: Path) -> None:
    random_model(name, changes)
    with exactly(), torch.no_grad():
        model = random_model(name, changes)
        tokens = torch.randint(2, 23, (2, 7))
        expected = model(tokens).last_hidden_state
    model.save_pretrained(tmp_path)
    np.testing.assert_allclose(load(tmp_path, np.float64).hidden(tokens.numpy()), expected, rtol=0, atol=1e-10)


def some_texts() -> Any:
    """Return texts in which tokens stand behind the end as well."""
    texts = torch.randint(3, 22, (3, 9))
    texts[0, 4] = texts[1, -1] = texts[2, 2] = texts[2, 6] = 1
    texts[:, 7] = 2  # an end as well, where the configuration says so
    return texts


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize(
    ("name", "changes"), COMPARED + TEXTS, ids=[f"{i}-{n}" for i, (n, _) in enumerate(COMPARED + TEXTS)]
)
def test_texts_are_pooled_and_compared_with_pictures(
    name: str, changes: dict[str, Any], dtype: type, tmp_path: Path
) -> None:
    """Every text with every picture."""
    random_model(name, changes)
    with exactly(), torch.no_grad():
        model, texts = random_model(name, changes), some_texts()
        given = {"pixel_values": torch.randn(2, 2, 14, 14)} if (name, changes) in COMPARED else {}
        expected = model(input_ids=texts, **given)
    model.save_pretrained(tmp_path)
    ours = load(tmp_path, dtype)
    if given:
        pairs = [(ours.logits(texts[:, None], given["pixel_values"][None]), expected.logits_per_text)]
    else:
        pairs = [(ours.hidden(texts), expected.last_hidden_state)]
        if "text_embeds" in expected:
            pairs.append((ours.embedded(texts), expected.text_embeds))
        else:
            pairs.append((ours.pooled(texts), expected.pooler_output))
    for found, wanted in pairs:
        assert found.dtype == dtype and found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=0, atol=CLOSE[dtype])
        assert np.ptp(wanted.numpy(), axis=0).min() > 1e-3


def test_a_text_without_its_end_is_not_compared(tmp_path: Path) -> None:
    """Its rows are there, but none of them is that of the end."""
    name, changes = TEXTS[0]
    random_model(name, changes).save_pretrained(tmp_path)
    ours, text = load(tmp_path), np.array([5, 3, 4])
    assert ours.hidden(text).shape == (3, 12)
    with pytest.raises(InputError, match="a text has no token 1, at which its row is read"):
        ours.pooled(text)


# windows that are narrower than a picture, tables of positions that are stretched, sizes of their own on each axis
JOINED_CASES = [
    *MADE_OF_MODELS,
    *(
        (name, changes | {"text_config": changes["text_config"] | own | {"sliding_window": 3}})
        for name, changes in MADE_OF_MODELS
        for prefix, own in (("Gemma3", {}), ("PaliGemma", {"model_type": "gemma2"}))
        if name.startswith(prefix)
    ),
]


def patches_there(pictures: Any, vision: Any) -> Any:
    """Return the patches of pictures as the library takes them for Qwen-VL: cell after cell, every frame the same."""
    side, cell, frames = vision.patch_size, vision.spatial_merge_size, vision.temporal_patch_size
    rows = []
    for picture in pictures:
        height, width = (length // side for length in picture.shape[1:])
        for top, left, down, right in np.ndindex(height // cell, width // cell, cell, cell):
            y, x = (top * cell + down) * side, (left * cell + right) * side
            rows.append(torch.stack([picture[:, y : y + side, x : x + side]] * frames, dim=1).flatten())
    return torch.stack(rows)


def given_there(model: Any, tokens: Any, pictures: Any, prefix: int) -> dict[str, Any]:
    """Return what the library takes for texts with a picture each, as its processors put it together."""
    kind, vision = model.config.model_type, model.config.vision_config
    at = (tokens == 22).int()
    if kind.startswith("qwen"):
        grid = [1, *(length // vision.patch_size for length in pictures.shape[2:])]
        sizes = {"image_grid_thw": torch.tensor([grid] * len(pictures)), "mm_token_type_ids": at}
        return {"input_ids": tokens, "pixel_values": patches_there(pictures, vision), **sizes}
    given = {"input_ids": tokens, "pixel_values": pictures}
    if kind == "gemma3":
        return given | {"token_type_ids": at}
    if kind == "paligemma":
        return given | {"token_type_ids": (torch.arange(tokens.shape[1]) >= prefix).int().expand(tokens.shape)}
    return given


def texts_with_pictures(model: Any) -> tuple[Any, Any, int]:
    """Return texts with one picture each, whose rows stand at other places, the pictures, and the number of rows."""
    config, vision = model.config, model.config.vision_config
    if config.model_type.startswith("qwen"):
        cell = vision.patch_size * vision.spatial_merge_size
        shape, rows = (2 * cell, 3 * cell), 6
    else:
        shape, rows = (vision.image_size, vision.image_size), (vision.image_size // vision.patch_size) ** 2
        if config.model_type in ("llava", "vipllava"):
            first = getattr(config, "vision_feature_select_strategy", "default") == "default"
            rows += (vision.model_type == "clip_vision_model") - first
        rows = getattr(config, "mm_tokens_per_image", rows)
    pictures = torch.randn(2, 3, *shape)
    tokens = torch.randint(2, 21, (2, rows + 7))
    tokens[0, 3 : 3 + rows] = tokens[1, 1 : 1 + rows] = 22
    return tokens, pictures, rows


@pytest.mark.parametrize(("name", "changes"), JOINED_CASES, ids=[f"{i}-{n}" for i, (n, _) in enumerate(JOINED_CASES)])
def test_texts_with_a_picture_have_the_scores_there(name: str, changes: dict[str, Any], tmp_path: Path) -> None:
    random_model(name, changes)
    with exactly(), torch.no_grad():
        model = random_model(name, changes)
        tokens, pictures, rows = texts_with_pictures(model)
        model.generation_config.eos_token_id = None
        expected = model(**given_there(model, tokens, pictures, rows + 4)).logits
        written = model.generate(
            **given_there(model, tokens, pictures, rows + 7), max_new_tokens=4, do_sample=False, pad_token_id=0
        )
    model.save_pretrained(tmp_path)
    ours = load(tmp_path, np.float64)
    prefix = {"prefix": rows + 4} if name.startswith("PaliGemma") else {}
    found = ours.logits(tokens.numpy(), pictures, **prefix)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        load(tmp_path).logits(tokens.numpy(), pictures, **prefix), expected, rtol=0, atol=1e-4 * abs(expected).max()
    )
    assert abs(ours.logits(tokens.numpy(), pictures.flip(0), **prefix) - found).max() > 0.01
    np.testing.assert_array_equal(ours.generate(tokens, 4, end=(), pictures=pictures), written[:, rows + 7 :])
    with pytest.raises(InputError, match=f"one token 22 for each row of its picture, {rows} in all"):
        ours.logits(tokens.numpy()[:, 2:], pictures)
    with pytest.raises(InputError, match="reads a picture as well"):
        ours.generate(tokens.numpy(), 3)


SPLIT = [(n, c) for n, c in MADE_OF_MODELS if not n.startswith("Qwen")]


@pytest.mark.parametrize(("name", "changes"), SPLIT, ids=[f"{i}-{n}" for i, (n, _) in enumerate(SPLIT)])
def test_other_tokens_may_stand_between_the_rows_there(name: str, changes: dict[str, Any], tmp_path: Path) -> None:
    """Rows that are apart do not see later ones of their picture, where those that follow one another do."""
    random_model(name, changes)
    with exactly(), torch.no_grad():
        model = random_model(name, changes)
        tokens, pictures, rows = texts_with_pictures(model)
        tokens[1, 1 + rows // 2 : 2 + rows] = tokens[1, 1 + rows // 2 : 2 + rows].roll(1)
        assert tokens[1, 1 + rows // 2] != 22 and (tokens[1] == 22).sum() == rows
        expected = model(**given_there(model, tokens, pictures, tokens.shape[1])).logits
    model.save_pretrained(tmp_path)
    found = load(tmp_path, np.float64).logits(tokens.numpy(), pictures)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["Qwen2VLForConditionalGeneration", "Qwen3VLForConditionalGeneration"])
def test_pictures_of_any_size_are_read_in_whole_cells(name: str, tmp_path: Path) -> None:
    model = random_model(name, dict(MADE_OF_MODELS)[name])
    model.save_pretrained(tmp_path)
    ours, tokens = load(tmp_path), np.array([3, *[22] * 4, 5])
    assert ours.logits(tokens, np.ones((3, 12, 12))).shape == (6, 23)
    assert ours.logits(tokens, np.ones((3, 6, 24))).shape == (6, 23)
    assert ours.logits(np.array([3, *[22] * 4, 5]), np.ones((3, 24, 6))).shape == (6, 23)
    for shape in ((3, 12, 15), (3, 0, 12), (12, 12)):
        with pytest.raises(InputError, match="height and width of pictures must be multiples of 6"):
            ours.logits(tokens, np.ones(shape))
    with pytest.raises(InputError, match="the 4 tokens of a picture must follow one another"):
        ours.logits(np.array([22, 3, 22, 22, 22, 5]), np.ones((3, 12, 12)))
    with pytest.raises(InputError, match="has no prefix"):
        ours.logits(tokens, np.ones((3, 12, 12)), prefix=3)


def test_a_prefix_is_a_number_of_positions(tmp_path: Path) -> None:
    name = "PaliGemmaForConditionalGeneration"
    model = random_model(name, dict(MADE_OF_MODELS)[name])
    tokens, pictures, rows = texts_with_pictures(model)
    model.save_pretrained(tmp_path)
    ours = load(tmp_path, np.float64)
    by_prefix = [ours.logits(tokens, pictures, prefix=prefix) for prefix in (0, 1, rows + 6, rows + 7, None)]
    np.testing.assert_array_equal(by_prefix[0], by_prefix[1])  # a position sees itself anyway
    np.testing.assert_array_equal(by_prefix[3], by_prefix[4])
    assert all(abs(by_prefix[i] - by_prefix[j]).max() > 0.01 for i, j in ((1, 2), (2, 3)))
    for wrong in (-1, rows + 8, 2.0, True):
        with pytest.raises(InputError, match=f"prefix must be a number of the {rows + 7} positions"):
            ours.logits(tokens, pictures, prefix=wrong)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize(("name", "changes"), SOUNDS, ids=[f"{i}-{name}" for i, (name, _) in enumerate(SOUNDS)])
def test_sounds_have_the_rows_and_scores_there(name: str, changes: dict[str, Any], dtype: type, tmp_path: Path) -> None:
    """Of every length: what is behind the last window counts in a norm over time alone."""
    random_model(name, changes)
    with exactly(), torch.no_grad():
        model = random_model(name, changes)
        model.save_pretrained(tmp_path)
        ours = load(tmp_path, dtype)
        for samples in (53, 60, 64):
            sounds = torch.randn(2, samples)
            expected = model(sounds)
            found = ours.hidden(sounds) if "last_hidden_state" in expected else ours.logits(sounds)
            wanted = expected[0 if "last_hidden_state" in expected else "logits"]
            assert found.dtype == dtype and found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=0, atol=CLOSE[dtype])
            assert np.ptp(wanted.numpy(), axis=-1).min() > 1e-3


def test_the_end_of_a_sound_changes_a_norm_over_time_alone(tmp_path: Path) -> None:
    """60 samples and 63 have four rows; those behind the last window change the rows of the first model alone."""
    sounds, changed = np.random.default_rng(3).normal(size=(64,)), []
    for number, case in enumerate((("Wav2Vec2ForCTC", SOUNDS[-4][1]), ("Wav2Vec2Model", SOUNDS[-3][1]))):
        random_model(*case).save_pretrained(tmp_path / str(number))
        ours = load(tmp_path / str(number), np.float64)
        assert ours.hidden(sounds[:60]).shape == ours.hidden(sounds[:63]).shape == (4, 24)
        changed.append(abs(ours.hidden(sounds[:60]) - ours.hidden(sounds[:63])).max())
    assert changed[0] > 1e-6 and changed[1] == 0


def test_sounds_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    random_model(*SOUNDS[-4]).save_pretrained(tmp_path)
    ours = load(tmp_path)
    with pytest.raises(
        InputError, match=r"sounds must have shape \(\.\.\., samples\) with enough for one row, not \(16,\)"
    ):
        ours.hidden(np.ones(16))
    with pytest.raises(InputError, match="a mask of samples is not read; give sounds without padding"):
        ours.logits(np.ones((2, 64)), mask=np.ones((2, 64)))
    with pytest.raises(InputError, match="it generates nothing"):
        ours.generate(np.ones(64), 3)


def test_a_kernel_of_positions_read_in_another_order_is_found(tmp_path: Path) -> None:
    """One place of the window moved by one changes the rows."""
    model = random_model(*SOUNDS[-3])
    sounds = torch.randn(1, 64)
    with torch.no_grad():
        expected = model(sounds).last_hidden_state
    direction = model.encoder.pos_conv_embed.conv.parametrizations.weight.original1.data
    direction.copy_(direction.flip(-1))
    model.save_pretrained(tmp_path)
    assert abs(load(tmp_path).hidden(sounds) - expected.numpy()).max() > 0.01


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize(("name", "changes"), SPECTRA, ids=[f"{i}-{name}" for i, (name, _) in enumerate(SPECTRA)])
def test_spectra_have_the_rows_there(name: str, changes: dict[str, Any], dtype: type, tmp_path: Path) -> None:
    random_model(name, changes)
    with exactly(), torch.no_grad():
        model = random_model(name, changes)
        spectra = torch.randn(3, 2, 2 * changes["max_source_positions"])
        real = {"input_features_mask": torch.ones(3, spectra.shape[-1])} if name.startswith("AudioFlamingo") else {}
        expected = model(input_features=spectra, **real).last_hidden_state
    model.save_pretrained(tmp_path)
    found = load(tmp_path, dtype).hidden(spectra)
    assert found.dtype == dtype and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE[dtype])
    assert np.ptp(expected.numpy(), axis=-1).min() > 0.01


def test_whisper_hears_and_writes(tmp_path: Path) -> None:
    """Scores of the library from spectra; the cache continues a text as all positions do."""
    name = "WhisperForConditionalGeneration"
    random_model(name, WHISPER)
    with exactly(), torch.no_grad():
        model = random_model(name, WHISPER)
        spectra, written = torch.randn(3, 2, 34), torch.randint(3, 13, (3, 5))
        expected = model(spectra, decoder_input_ids=written).logits
    model.save_pretrained(tmp_path)
    ours = load(tmp_path, np.float64)
    np.testing.assert_allclose(ours.logits(spectra, written), expected, rtol=0, atol=1e-10)
    texts = ours.generate(spectra, 6, end=(), start=3)
    np.testing.assert_array_equal(texts, ours.generate(spectra, 6, end=(), start=3, cached=False))
    with pytest.raises(InputError, match=r"spectra must have shape \(\.\.\., 2, 34\)"):
        ours.logits(spectra[..., :30], written)


def test_a_kernel_read_in_another_order_is_found(tmp_path: Path) -> None:
    """One pixel of the kernel moved by one changes the rows."""
    model = random_model("DeiTModel", PICTURE)
    kernel = model.embeddings.patch_embeddings.projection.weight.data
    pictures = torch.randn(1, 2, 14, 14)
    with torch.no_grad():
        expected = model(pictures).last_hidden_state
    kernel.copy_(kernel.flip(-1))
    model.save_pretrained(tmp_path)
    assert abs(load(tmp_path).hidden(pictures) - expected.numpy()).max() > 0.01
