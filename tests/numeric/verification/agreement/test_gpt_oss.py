"""gpt-oss as it was released: its parameters, and the bytes of its packed experts."""

import json
from pathlib import Path

import pytest

from derivations.architectures.hugging_face import read_config
from derivations.costs.counts import count

transformers = pytest.importorskip("transformers")
pytestmark = [pytest.mark.peers, pytest.mark.slow]


def test_the_release_has_its_size_as_it_is_stored(tmp_path: Path) -> None:
    """The 20B release: 20.9 billion parameters in 13.76 GB, experts in blocks of 32, all else in bfloat16."""
    config = transformers.GptOssConfig(num_hidden_layers=24, num_local_experts=32, dtype="bfloat16").to_dict()
    config |= {"architectures": ["GptOssForCausalLM"], "experts_per_token": 4, "initial_context_length": 4096}
    kept = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
    config["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": kept}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    found = count(read_config(tmp_path)).json()
    assert found["parameters"]["total"] == 20914757184
    assert found["memory"]["weights_bytes"] == 13761264768
