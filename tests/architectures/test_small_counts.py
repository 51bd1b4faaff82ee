"""Small models of every family that is described by data, against counts that the library made of the same files."""

import json
from pathlib import Path
from typing import Any

import pytest

from derivations.architectures.components import parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.hugging_face import model_of
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
