"""The contestants at tiny sizes: they agree, and every part gives a record that the page can show."""

import json

import numpy as np
import pytest

from docs.performance_tables import shown
from tests.benchmarks import forward, language_model, memory, overhead, training
from tests.benchmarks.encoder_frameworks import away_from_kinks, torch_layer
from tests.benchmarks.encoder_peers import EncoderShape, random_input, random_weights, textbook, tuned
from tests.benchmarks.language_model import ModelSizes, first_difference

SHAPE = EncoderShape(2, 7, 15, 3, 11)
MODEL = ModelSizes(n_embd=24, n_layer=2, n_head=3, n_positions=31, vocab_size=101, n=17, context=13, new=7)

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")


def table(part: str, figures: object) -> list[str]:
    """The lines of a part's table, after the way through JSON."""
    return shown(part, {part: {"figures": json.loads(json.dumps(figures))}}).splitlines()


def test_numpy_by_hand_is_the_textbook() -> None:
    weights, X = random_weights(SHAPE), random_input(SHAPE)
    exact = textbook(weights, np.float64)(X.astype(np.float64))
    assert exact.dtype == np.float64
    for forward_pass in (textbook(weights), tuned(weights)):
        given = X.copy()
        found = forward_pass(given)
        assert found.dtype == np.float32
        assert np.abs(found - exact).max() < 3e-6
        assert (given == X).all()


def test_the_first_place_where_texts_differ() -> None:
    assert first_difference([3, 5, 7], [3, 5, 7]) is None
    assert first_difference([3, 5, 7], [3, 2, 9]) == 1


@pytest.mark.peers
def test_a_layer_with_another_weight_is_refused() -> None:
    import torch

    weights = random_weights(SHAPE)
    weights["attention"]["b_V"] = weights["attention"]["b_V"] + np.float32(0.01)
    X = random_input(SHAPE)
    module = torch_layer(random_weights(SHAPE))
    with torch.no_grad():
        found = module(torch.from_numpy(X)).numpy()
    assert np.abs(found - textbook(weights)(X)).max() > 1e-3


@pytest.mark.peers
def test_no_hidden_entry_is_near_the_kink() -> None:
    import torch

    shape = EncoderShape(2, 61, 15, 3, 11)
    weights, X = random_weights(shape), random_input(shape)

    def nearest(given: dict) -> float:
        module, seen = torch_layer(given, np.float64), []
        module.linear1.register_forward_hook(lambda layer, rows, H: seen.append(H.detach().numpy()))
        module.train()(torch.from_numpy(X.astype(np.float64)))
        return np.abs(seen[0]).min()

    assert nearest(weights) < 1e-3 < nearest(away_from_kinks(weights, X))


@pytest.mark.slow
@pytest.mark.peers
@pytest.mark.parametrize(("part", "module"), [("forward", forward), ("training", training)])
def test_every_shape_gets_a_row(part: str, module: object) -> None:
    shapes = [SHAPE, EncoderShape(1, 5, 14, 2, 13)]
    lines = table(part, module.measured(3, shapes))
    assert [line.split("|")[1].strip() for line in lines[2:]] == list(map(str, shapes))
    assert all(any(f"| {said} |" in line for said in ("faster", "slower", "within the spread")) for line in lines[2:])


@pytest.mark.slow
@pytest.mark.peers
def test_language_models_agree() -> None:
    assert "| n = 17 |" in table("gpt2", language_model.forward(3, MODEL))[2]
    records = language_model.decoding(3, MODEL)
    assert [record["tokens"] for record in records] == [7, 6]
    assert all("| the same tokens |" in line for line in table("decoding", records)[2:])


@pytest.mark.slow
@pytest.mark.peers
def test_memory_is_measured_in_processes_of_their_own() -> None:
    points = memory.measured((64, 128), 1)
    assert [point["n"] for point in points] == [64, 128]
    for point in points:
        for peak in point["peaks"].values():
            assert 0 <= peak["by the call"] < peak["in all"]
    assert "The line through the peaks by the call, ours:" in "\n".join(table("memory", points))


@pytest.mark.slow
def test_compiling_and_calling_are_measured() -> None:
    figures = overhead.measured(3, depths=(2,), processes=1)
    lines = table("overhead", figures)
    assert [line.split("|")[1].strip() for line in lines[2:4]] == ["GPT-2", "Transformer"]
    places = [line.split("|")[1].strip() for line in lines[-6:]]
    assert places == [
        f"{place}, {caches}" for caches in ("hot", "at best", "cold") for place in ("in a stack", "alone")
    ]
