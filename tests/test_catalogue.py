"""The catalogue: the judge proves every result of it; layers enter it beside their definition."""

import pytest

from derivations.catalogue import LAYERS, READING_ORDER, layer, names
from derivations.language.judge.proof import judge
from derivations.language.layers import catalogued as entering
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import RESULTS
from derivations.softmax.softmax import softmax
from derivations.topics import TOPICS


@pytest.mark.parametrize("name", names())
def test_every_result_is_proved(name: str) -> None:
    assert judge(RESULTS[name]()).level in ("definition", "proved")


@pytest.fixture
def entered(monkeypatch) -> None:
    """Let a test enter layers of its own."""
    monkeypatch.setattr(entering, "LAYERS", dict(entering.LAYERS))
    monkeypatch.setattr("derivations.catalogue.ENTERED", entering.LAYERS)


def masked_or_not(*, masked: bool = False) -> Layer:
    """Return a layer whose name tells the option."""
    given = softmax()
    return Layer("masked" if masked else "plain", given.inputs, (), given.equations, given.output)


def test_a_layer_enters_with_each_of_its_options(entered):
    catalogued("masked_of_a_test", masked=True)(catalogued(masked_or_not))
    assert [*LAYERS][-2:] == ["masked_or_not", "masked_of_a_test"]
    assert LAYERS["masked_of_a_test"]().name == layer("masked_of_a_test").name == "masked"
    assert LAYERS["masked_or_not"]().name == "plain"


def test_a_name_has_one_function(entered):
    assert catalogued("softmax")(softmax) is softmax  # its module is imported again
    with pytest.raises(ValueError, match=r"'softmax' is in derivations\.softmax\.softmax already"):
        catalogued("softmax")(masked_or_not)
    assert len(LAYERS) == len([*LAYERS])


def test_an_unknown_layer_is_refused_with_the_nearest_names():
    with pytest.raises(LookupError, match="rms_norm"):
        layer("rms_nrom")
    assert "rms_nrom" not in LAYERS


def test_the_reading_order_names_only_what_there_is():
    found = {(name.partition(".")[0], RESULTS[name].__module__.rpartition(".")[2]) for name in names()}
    assert set(READING_ORDER) <= set(TOPICS) <= {topic for topic, _ in found}
    assert {(topic, module) for topic, modules in READING_ORDER.items() for module in modules.split()} <= found
