"""Encoders of pictures and sounds from their checkpoints: rows, poolers, classes and scores as the library has them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numeric.models.load import load
from numeric.runtime.checks import InputError
from tests.numeric.verification.agreement.small_families import PICTURE, PICTURES
from tests.numeric.verification.agreement.test_loaded_models import exactly
from tests.numeric.verification.agreement.test_parameter_counts import WHISPER, class_and_config

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.peers

OBLONG = ("ViTForImageClassification", PICTURE | {"image_size": [21, 15], "num_labels": 4})  # one column is not read
CASES = [*PICTURES, ("ViTModel", PICTURE), OBLONG]


def random_model(name: str, changes: dict[str, Any]) -> Any:
    """Return a model of the library in float64 whose every parameter is random."""
    model_class, config = class_and_config(name, changes)
    model = model_class(config).eval()
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.get_default_dtype())
        parameter.data.copy_(0.3 * noise + (1 if parameter.ndim == 1 else 0))
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
    if "pooled" in ours.layer.shapes:
        pairs.append((ours.pooled(pictures), expected.pooler_output))
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)
        assert np.ptp(wanted.numpy(), axis=-1).min() > 0.01


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
