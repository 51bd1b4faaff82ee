"""Small models of every family that is described by data, against counts that the library made of the same files."""

import json
from pathlib import Path
from typing import Any

import pytest

from derivations.architectures.components import parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.hugging_face import model_of
from derivations.architectures.reading import ConfigError
from tests.tiers import few

SMALL: list[dict[str, Any]] = json.loads(Path(__file__).with_name("small_counts.json").read_text(encoding="utf-8"))[
    "models"
]


def components(config: dict[str, Any], name: str) -> dict[str, int]:
    model = model_of(config, name)
    counts = parameters_by_component(build(model.architecture))
    return {part: int(count.subs(model.values)) for part, count in counts.items()}


@pytest.mark.parametrize(
    "record", few(SMALL, fast=30), ids=[f"{number}-{each['name']}" for number, each in enumerate(SMALL)]
)
def test_every_component_has_as_many_parameters_as_the_library_counted(record: dict[str, Any]) -> None:
    assert components(record["config"], record["name"]) == record["components"]


def test_another_width_has_other_counts() -> None:
    (record, *_) = [each for each in SMALL if each["config"]["model_type"] == "arcee"]
    wider = {**record["config"], "intermediate_size": record["config"]["intermediate_size"] + 1}
    assert components(wider, record["name"]) != record["components"]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("albert", {"num_hidden_groups": 2}, "num_hidden_groups is 2"),
    ("dbrx", {"ffn_config": {"moe_normalize_expert_weights": 2.0}}, "moe_normalize_expert_weights is 2"),
    ("dbrx", {"attn_config": {"kv_n_heads": 2, "window": 3}}, "window = 3 is not understood"),
    ("dinov3_vit", {"num_attention_heads": 4}, "heads of 6 columns"),
    ("ernie4_5_moe", {"moe_layer_end_index": 1}, "moe_layer_end_index is 1"),
    ("ernie4_5_moe", {"moe_layer_interval": 2}, "moe_layer_interval is 2"),
    ("glm4_moe_lite", {"first_k_dense_replace": 3}, "first_k_dense_replace is 3"),
    ("llama4_text", {"attention_chunk_size": None}, "attention_chunk_size is null"),
    ("llama4_text", {"no_rope_layers": [1, 0]}, "has fewer entries than 3 layers"),
    ("ministral3", {"rope_parameters": {"rope_type": "default"}}, "llama_4_scaling_beta is null"),
    ("modernbert", {"local_attention": 1}, "local_attention is 1"),
    ("phimoe", {"num_experts_per_tok": 1}, "num_experts_per_tok is 1"),
]


@pytest.mark.parametrize(("model_type", "changes", "told"), REFUSED)
def test_what_is_not_understood_is_refused(model_type: str, changes: dict[str, Any], told: str) -> None:
    record = next(each for each in SMALL if each["config"]["model_type"] == model_type)
    with pytest.raises(ConfigError, match=told):
        model_of({**record["config"], **changes}, record["name"])
