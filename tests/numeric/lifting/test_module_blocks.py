"""Whole blocks of transformers as modules: the weights are found by names, the layer is read from the configuration."""

from __future__ import annotations

import json
from typing import Any

import pytest

from derivations.architectures.block_of import block_of
from derivations.architectures.blocks import Around, block_layer
from derivations.architectures.hugging_face import model_of
from numeric.lifting import prove

pytestmark = pytest.mark.peers

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

GROUPED = {
    "hidden_size": 60,
    "intermediate_size": 11,
    "num_attention_heads": 6,
    "num_key_value_heads": 3,
    "head_dim": 10,
    "vocab_size": 13,
    "num_hidden_layers": 2,
    "attn_implementation": "eager",
}


def target(config: Any, masked: bool = False) -> Any:
    """Return the block that a configuration describes."""
    return block_of(model_of(json.loads(config.to_json_string(use_diff=False)), "model"), masked=masked)


def llama() -> tuple[Any, Any]:
    from transformers.models.llama.modeling_llama import LlamaDecoderLayer

    config = transformers.LlamaConfig(**GROUPED)
    return LlamaDecoderLayer(config, 0).eval(), config


@pytest.mark.parametrize("masked", [False, True])
def test_a_block_of_llama_is_the_block_of_its_configuration(masked: bool) -> None:
    module, config = llama()
    verdict = prove(module, target(config, masked))
    assert verdict.level == "proved"
    assert any("position_embeddings as the cosines" in reading for reading in verdict.readings)
    assert any("minus infinity elsewhere" in reading for reading in verdict.readings) == masked
    assert any("d_k as 2*d_k_half" in reading for reading in verdict.readings)


def test_a_block_whose_rotation_is_reversed_is_not_proved() -> None:
    class Reversed(type(llama()[0])):  # type: ignore[misc]
        def forward(self, hidden_states: Any, position_embeddings: Any = None) -> Any:
            cos, sin = position_embeddings
            return super().forward(hidden_states, position_embeddings=(sin, cos))

    config = llama()[1]
    assert prove(Reversed(config, 0).eval(), target(config)).level != "proved"


def test_a_block_that_forgets_a_residual_is_not_proved() -> None:
    class Forgetful(type(llama()[0])):  # type: ignore[misc]
        def forward(self, hidden_states: Any, position_embeddings: Any = None) -> Any:
            return super().forward(hidden_states, position_embeddings=position_embeddings) - hidden_states

    config = llama()[1]
    assert prove(Forgetful(config, 0).eval(), target(config)).level != "proved"


def test_a_block_of_t5_takes_the_bias_of_its_scores() -> None:
    from transformers.models.t5.modeling_t5 import T5Block

    sizes = {"d_model": 21, "d_ff": 11, "num_heads": 3, "d_kv": 7, "vocab_size": 13, "num_layers": 2}
    config = transformers.T5Config(**sizes, feed_forward_proj="relu")
    model = model_of(json.loads(config.to_json_string(use_diff=False)), "t5")
    assert model.architecture.encoder is not None
    block = block_layer(model.architecture.encoder.blocks[0], Around(biased=True))
    assert prove(T5Block(config, False, 0).eval(), block).level == "proved"
