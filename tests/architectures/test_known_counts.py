"""Counts against those of models that were built and run by the libraries that define them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from derivations.architectures.hugging_face import model_of
from derivations.costs.counts import count

KNOWN: list[dict[str, Any]] = json.loads(Path(__file__).with_name("known_counts.json").read_text(encoding="utf-8"))[
    "models"
]
MEASURED = [(record, run) for record in KNOWN for run in record.get("flops", [])]


def named(record: dict[str, Any]) -> str:
    return str(record["name"])


@pytest.mark.parametrize("record", KNOWN, ids=named)
def test_the_total_and_every_component(record: dict[str, Any]) -> None:
    parameters = count(model_of(record["config"], record["name"]), seq=8).json()["parameters"]
    assert parameters["components"] == record["components"]
    assert parameters["total"] == record["total"] == sum(record["components"].values())
    assert parameters["active"] == record.get("active", record["total"])


@pytest.mark.parametrize(
    ("record", "run"), MEASURED, ids=lambda each: each.get("name") or "-".join(map(str, each.values()))
)
def test_products_of_forward_and_backward_pass(record: dict[str, Any], run: dict[str, Any]) -> None:
    phase = "training" if run["phase"] == "forward+backward" else "forward"
    counts = count(model_of(record["config"], record["name"]), batch=run["batch"], seq=run["seq"], phase=phase)
    assert counts.json()["flops"]["terms"]["matmul"] == run["flops"]


@pytest.mark.parametrize("record", [each for each in KNOWN if "cache_bytes_bfloat16" in each], ids=named)
def test_the_cache_of_keys_and_values(record: dict[str, Any]) -> None:
    memory = count(model_of(record["config"], record["name"]), seq=8).json()["memory"]
    assert memory["kv_cache_bytes_per_token"] == record["cache_bytes_bfloat16"]


@pytest.mark.parametrize("field", ["intermediate_size", "num_key_value_heads", "vocab_size", "num_hidden_layers"])
def test_a_field_that_differs_changes_the_count(field: str) -> None:
    (record,) = [each for each in KNOWN if each["name"] == "Llama-3 8B"]
    changed = {**record["config"], field: 2 * record["config"][field]}
    assert count(model_of(changed, "changed"), seq=8).json()["parameters"]["total"] != record["total"]


@pytest.mark.parametrize("record", KNOWN, ids=named)
def test_the_parameters_of_one_layer(record: dict[str, Any]) -> None:
    counts = count(model_of(record["config"], record["name"]), seq=8)
    ours, theirs = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for kind in counts.kinds_of_layers:
        ours[kind.stack, counts.number(kind.parameters)] += counts.number(kind.count)
    table = record["components"].get("layers.relative_position_bias", 0) // 2  # which the library keeps in layer 1
    for kind in record["layers"]:
        first = table if table and kind["count"] == 1 else 0
        theirs[kind["stack"], kind["total"] - first] += kind["count"]
    assert ours == theirs
