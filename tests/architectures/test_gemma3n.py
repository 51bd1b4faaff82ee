"""Gemma 3n: streams, branches of low rank and sparse gates as they are read, and what is refused."""

from typing import Any

import pytest
from mpmath import mp

from derivations.architectures.components import parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.description import FeedForward, Model
from derivations.architectures.hugging_face import model_of
from derivations.architectures.reading import ConfigError

S, F = "sliding_attention", "full_attention"
SMALL: dict[str, Any] = {
    "model_type": "gemma3n_text",
    "vocab_size": 23,
    "hidden_size": 24,
    "num_hidden_layers": 5,
    "layer_types": [S, F, S, S, F],
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": [11, 11, 13, 11, 7],
    "head_dim": 10,
    "sliding_window": 3,
    "num_kv_shared_layers": 2,
    "vocab_size_per_layer_input": 29,
    "hidden_size_per_layer_input": 5,
    "altup_num_inputs": 3,
    "laurel_rank": 7,
    "activation_sparsity_pattern": [0.95, 0.0, 0.25, 0.0, 0.0],
}


def read(**changes: Any) -> Model:
    return model_of(SMALL | changes, "small")


def networks(model: Model) -> list[FeedForward]:
    stack = model.architecture.decoder
    assert stack is not None
    found = [block.feed_forward for block in stack.blocks]
    assert all(isinstance(each, FeedForward) for each in found)
    return found  # type: ignore[return-value]


def test_networks_have_their_widths_and_gates_their_cutoffs() -> None:
    """Phi(c) is the share of closed units."""
    model = read()
    assert [model.values[each.d_ff] for each in networks(model)] == SMALL["intermediate_size"]
    shares = [
        None if each.cutoff is None else float(mp.ncdf(mp.mpf(each.cutoff.p) / each.cutoff.q))
        for each in networks(model)
    ]
    assert shares[1::2] == [None, None] and shares[4] is None
    assert abs(shares[0] - 0.95) < 1e-15 and abs(shares[2] - 0.25) < 1e-15  # type: ignore[operator]


def test_streams_have_the_parameters_that_are_published() -> None:
    """Of S streams: 2 (S - 1) maps of rows around the layers, and in each S (d + S^2 + S), with a scale of columns."""
    model = read()
    counted = parameters_by_component(build(model.architecture))
    found = {name: int(count.subs(model.values)) for name, count in counted.items()}
    assert found["streams_projection"] == 2 * 2 * 24**2
    assert found["layers.streams_weights"] == 5 * 3 * (24 + 9 + 3)
    assert found["layers.streams_scale"] == 5 * 24
    assert found["layers.residual_branch_weights"] == 5 * 2 * 7 * 24


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "one stream": ({"altup_num_inputs": 1}, "altup_num_inputs is 1: two streams are needed, of which 0 is active"),
    "a stream that is not there": (
        {"altup_active_idx": 3},
        "altup_num_inputs is 3: two streams are needed, of which 3",
    ),
    "widths of few layers": ({"intermediate_size": [11]}, "an entry for each of the 5 layers is needed"),
    "no width": ({"intermediate_size": [11, 11, 0, 11, 7]}, "has 0; whole numbers from 1 to"),
    "all units closed": ({"activation_sparsity_pattern": [1.0] * 5}, "has 1.0; shares from 0 to below 1 are needed"),
    "one share": ({"activation_sparsity_pattern": 0.5}, "a list with an entry for each of the 5 layers is needed"),
    "no rows of layers": ({"hidden_size_per_layer_input": 0}, "is 0, and every layer has a row of its own"),
    "heads of a quotient": (
        {"num_attention_heads": 5, "num_key_value_heads": 5},
        "not a multiple of num_attention_heads",
    ),
    "another rule": (
        {"rope_parameters": {F: {"rope_type": "linear", "factor": 2.0}}},
        "is not understood for the type",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_understood_is_refused(what: str) -> None:
    changes, message = REFUSED[what]
    with pytest.raises(ConfigError, match=message):
        read(**changes)
