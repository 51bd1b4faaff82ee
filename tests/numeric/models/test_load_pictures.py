"""A small Vision Transformer and a small Whisper written to a folder by hand: rows by loops, kernels by taps."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import erf, softmax

from numeric.models.load import load
from numeric.runtime.checks import InputError
from tests.numeric.models.test_load import Tensors, saved

WIDTH, HEADS, HIDDEN, PATCH, CHANNELS = 6, 3, 7, 2, 5
PICTURES: dict[str, Any] = {
    "model_type": "vit_msn",
    "architectures": ["ViTMSNModel"],
    "hidden_size": WIDTH,
    "num_attention_heads": HEADS,
    "num_hidden_layers": 1,
    "intermediate_size": HIDDEN,
    "image_size": [4, 7],  # of which the last column is beyond the patches
    "patch_size": PATCH,
    "num_channels": CHANNELS,
}
LAYER = "vit.encoder.layer.0"


def drawn(shapes: dict[str, tuple[int, ...]]) -> Tensors:
    rng = np.random.default_rng(3)
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def affine_shapes(names: dict[str, tuple[int, int]]) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in names.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return shapes


def vit_tensors() -> Tensors:
    square = (WIDTH, WIDTH)
    maps = {f"{LAYER}.attention.attention.{name}": square for name in ("query", "key", "value")}
    maps |= {f"{LAYER}.attention.output.dense": square, f"{LAYER}.intermediate.dense": (HIDDEN, WIDTH)}
    maps |= {f"{LAYER}.output.dense": (WIDTH, HIDDEN)}
    shapes = affine_shapes(maps)
    for norm in (f"{LAYER}.layernorm_before", f"{LAYER}.layernorm_after", "vit.layernorm"):
        shapes |= {f"{norm}.weight": (WIDTH,), f"{norm}.bias": (WIDTH,)}
    stem = "vit.embeddings.patch_embeddings.projection"
    shapes |= {f"{stem}.weight": (WIDTH, CHANNELS, PATCH, PATCH), f"{stem}.bias": (WIDTH,)}
    return drawn(
        shapes | {"vit.embeddings.cls_token": (1, 1, WIDTH), "vit.embeddings.position_embeddings": (1, 7, WIDTH)}
    )


def by_hand(w: Tensors, picture: Any) -> Any:
    """One layer over the rows of a picture: Dosovitskiy et al. (2021), equations 1 to 4."""

    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-6)
        return centred / deviation * w[f"{name}.weight"] + w[f"{name}.bias"]

    def affine(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    kernel, bias = (w[f"vit.embeddings.patch_embeddings.projection.{each}"] for each in ("weight", "bias"))
    rows = [w["vit.embeddings.cls_token"][0, 0]]
    for top in (0, 2):
        for left in (0, 2, 4):
            rows.append((kernel * picture[:, top : top + 2, left : left + 2]).sum(axis=(1, 2, 3)) + bias)
    x = np.array(rows) + w["vit.embeddings.position_embeddings"][0]
    normed, at = norm(x, f"{LAYER}.layernorm_before"), f"{LAYER}.attention.attention"
    q, k, v = (affine(normed, f"{at}.{name}").reshape(7, HEADS, 2) for name in ("query", "key", "value"))
    heads = [softmax(q[:, i] @ k[:, i].T / 2**0.5, axis=-1) @ v[:, i] for i in range(HEADS)]
    x = x + affine(np.concatenate(heads, axis=-1), f"{LAYER}.attention.output.dense")
    z = affine(norm(x, f"{LAYER}.layernorm_after"), f"{LAYER}.intermediate.dense")
    x = x + affine(z * (1 + erf(z / 2**0.5)) / 2, f"{LAYER}.output.dense")
    return norm(x, "vit.layernorm")


def test_rows_of_pictures_are_those_written_by_hand(tmp_path: Path) -> None:
    weights, pictures = vit_tensors(), np.random.default_rng(4).normal(size=(2, CHANNELS, 4, 7))
    ours = load(saved(tmp_path, weights, PICTURES), np.float64)
    expected = [by_hand(weights, each) for each in pictures]
    np.testing.assert_allclose(ours.hidden(pictures), expected, rtol=0, atol=1e-12)
    with pytest.raises(InputError, match=r"pictures must have shape \(\.\.\., 5, height, width\)"):
        ours.hidden(pictures[:, :4])


SOUNDS: dict[str, Any] = {
    "model_type": "whisper",
    "architectures": ["WhisperForConditionalGeneration"],
    **{"d_model": WIDTH, "encoder_layers": 1, "decoder_layers": 1, "vocab_size": 13, "num_mel_bins": 2},
    **{"encoder_attention_heads": 3, "decoder_attention_heads": 2, "encoder_ffn_dim": 5, "decoder_ffn_dim": 7},
    **{"max_source_positions": 5, "max_target_positions": 11, "decoder_start_token_id": 3, "eos_token_id": 12},
}


def whisper_tensors() -> Tensors:
    square = (WIDTH, WIDTH)
    maps: dict[str, tuple[int, int]] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for side, hidden, attentions in (("encoder", 5, ["self_attn"]), ("decoder", 7, ["self_attn", "encoder_attn"])):
        at = f"model.{side}.layers.0"
        for attention in attentions:
            maps |= {f"{at}.{attention}.{name}_proj": square for name in ("q", "v", "out")}
            shapes |= {f"{at}.{attention}.k_proj.weight": square}
        maps |= {f"{at}.fc1": (hidden, WIDTH), f"{at}.fc2": (WIDTH, hidden)}
        norms = [f"{at}.{name}_layer_norm" for name in (*attentions, "final")]
        for norm in (*norms, f"model.{side}.layer_norm"):
            shapes |= {f"{norm}.weight": (WIDTH,), f"{norm}.bias": (WIDTH,)}
    for name, inner in (("conv1", 2), ("conv2", WIDTH)):
        shapes |= {f"model.encoder.{name}.weight": (WIDTH, inner, 3), f"model.encoder.{name}.bias": (WIDTH,)}
    tables = {"encoder.embed_positions": (5, WIDTH), "decoder.embed_positions": (11, WIDTH)}
    tables |= {"decoder.embed_tokens": (13, WIDTH)}
    shapes |= {f"model.{name}.weight": shape for name, shape in tables.items()}
    return drawn(shapes | affine_shapes(maps))


def test_a_kernel_is_stored_with_its_taps_last(tmp_path: Path) -> None:
    weights = whisper_tensors()
    ours = load(saved(tmp_path, weights, SOUNDS), np.float64)
    kernel, stored = ours.weights["stem"]["conv_2"]["W"], weights["model.encoder.conv2.weight"]
    for tap, column, output in np.ndindex(3, WIDTH, WIDTH):
        assert kernel[tap * WIDTH + column, output] == stored[output, column, tap]
    with pytest.raises(InputError, match=r"spectra must have shape \(\.\.\., 2, 10\), not \(3, 2, 9\)"):
        ours.generate(np.zeros((3, 2, 9)), 4)


@pytest.mark.slow
def test_a_text_heard_is_continued_from_its_cache(tmp_path: Path) -> None:
    spectra = np.random.default_rng(5).normal(size=(3, 2, 10))
    ours = load(saved(tmp_path, whisper_tensors(), SOUNDS), np.float64)
    texts = ours.generate(spectra, 4, end=())
    assert texts.shape == (3, 4)
    np.testing.assert_array_equal(texts, ours.generate(spectra, 4, end=(), cached=False))
