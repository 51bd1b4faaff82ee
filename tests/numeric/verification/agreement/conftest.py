"""Tests of one model run one after the other: what it compiles is kept by the process, for a while."""

import re
from pathlib import Path

import pytest

_OF_MODELS = {"test_changed_fields.py", "test_executed_flops.py", "test_loaded_models.py", "test_parameter_counts.py"}
_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of the models into the order of the models."""
    places = [n for n, item in enumerate(items) if item.path.parent == _HERE and item.path.name in _OF_MODELS]
    for place, item in zip(places, sorted((items[n] for n in places), key=_case), strict=True):
        items[place] = item


def _case(item: pytest.Item) -> tuple[str, str]:
    """Return the model of a test and its case, such as GemmaForCausalLM and 3-GemmaForCausalLM."""
    found = getattr(item, "callspec", None)
    name = str(found.params.get("name", "")) if found else ""
    return re.sub(r"^\d+-", "", name), name
