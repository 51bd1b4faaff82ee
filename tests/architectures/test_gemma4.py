"""Gemma 4: which layers take the keys and values of which, what is counted for them, and what is refused."""

from typing import Any

import pytest
from sympy import Integer

from derivations.architectures.components import parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.description import Attention, Model
from derivations.architectures.hugging_face import model_of
from derivations.architectures.reading import ConfigError
from derivations.costs.key_value_caches import cached_numbers
from derivations.symbols import n

S, F = "sliding_attention", "full_attention"
SMALL: dict[str, Any] = {
    "model_type": "gemma4_text",
    "vocab_size": 23,
    "hidden_size": 24,
    "num_hidden_layers": 7,
    "layer_types": [S, F, S, F, S, S, F],
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 11,
    "head_dim": 10,
    "global_head_dim": 14,
    "sliding_window": 3,
    "num_kv_shared_layers": 3,
    "vocab_size_per_layer_input": 29,
    "hidden_size_per_layer_input": 5,
}


def read(**changes: Any) -> Model:
    return model_of(SMALL | changes, "small")


def parameters(model: Model) -> int:
    return int(sum(parameters_by_component(build(model.architecture)).values()).subs(model.values))


def sharing(model: Model) -> list[str]:
    """Return what each layer does with keys and values, in order."""
    stack = model.architecture.decoder
    found: list[str] = []
    assert stack is not None
    for run in stack.runs:
        for block in run.blocks * int(Integer(run.count.subs(model.values))):
            assert isinstance(block.attention, Attention)
            found.append(block.attention.sharing)
    return found


def test_the_last_layers_take_from_the_last_one_of_their_kind_before_them() -> None:
    none, gives, takes = "none", "gives", "takes"
    assert sharing(read()) == [none, none, gives, gives, takes, takes, takes]
    assert sharing(read(num_kv_shared_layers=1)) == [none, none, none, gives, none, none, takes]
    assert sharing(read(num_kv_shared_layers=0)) == [none] * 7


def test_a_layer_that_takes_has_no_maps_and_no_cache_of_its_own() -> None:
    """Two heads of keys and values of 10 columns, or 14: maps, and the scale of the norm of keys."""
    plain, shared = read(num_kv_shared_layers=0), read()
    saved = 2 * (2 * 2 * 10 * 24 + 10) + (2 * 2 * 14 * 24 + 14)
    assert parameters(plain) - parameters(shared) == saved
    full, near = (2 * 2 * width for width in (14, 10))
    for model, of_full, of_near in ((plain, 3, 4), (shared, 2, 2)):
        for length in (2, 11):
            found = int(cached_numbers(model).subs({**model.values, n: length}))
            assert found == of_full * full * length + of_near * near * min(3, length)


def test_a_pair_beyond_the_rotated_ones_has_no_frequency() -> None:
    rotary = next(
        block.attention.positions
        for block in read().architecture.decoder.blocks  # type: ignore[union-attr]
        if isinstance(block.attention, Attention) and block.attention.window is None
    )
    assert dict(rotary.scaling)["pairs"] == 1  # type: ignore[union-attr] # a quarter of 14 columns, in pairs


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nothing to take": ({"num_kv_shared_layers": 6}, "num_kv_shared_layers is 6, and a kind of layers would have no"),
    "more than there are": ({"num_kv_shared_layers": 8}, "num_kv_shared_layers is 8"),
    "a window at the end": ({"layer_types": [F, F, S, F, S, F, S]}, "layer_types ends with a layer with a window"),
    "a mixture": ({"enable_moe_block": True}, "enable_moe_block is true, which changes the architecture"),
    "positions that see all": ({"use_bidirectional_attention": "all"}, "use_bidirectional_attention"),
    "sizes of one layer": ({"per_layer_config": {"1": {"head_dim": 6}}}, "does not give all layers of a kind the same"),
    "no sizes": ({"per_layer_config": None}, "per_layer_config does not give all layers"),
    "other fields of layers": (
        {"per_layer_config": {"1": {"head_dim": 6, "hidden_size": 12}}},
        "per_layer_config: hidden_size = 12 is not understood",
    ),
    "a layer that is not there": ({"per_layer_config": {"7": {"head_dim": 6}}}, "numbers of layers and sizes"),
    "no base": ({"rope_parameters": {S: {"rope_type": "default"}}}, "a rope_theta and a known rope_type are needed"),
    "part of the columns": (
        {"rope_parameters": {S: {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}}},
        "partial_rotary_factor is not understood for the type",
    ),
    "another rule": (
        {"rope_parameters": {S: {"rope_type": "yarn", "rope_theta": 1e4}}},
        "is not understood for the type .yarn.",
    ),
    "no pair": (
        {"rope_parameters": {F: {"rope_type": "proportional", "rope_theta": 1e4, "partial_rotary_factor": 0.1}}},
        "turn pairs of columns, not 1/10 of the 14",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_understood_is_refused(what: str) -> None:
    changes, message = REFUSED[what]
    if "rope_parameters" in changes:
        usual = {S: {"rope_type": "default", "rope_theta": 1e4}, F: {"rope_type": "default", "rope_theta": 1e6}}
        changes = {"rope_parameters": usual | changes["rope_parameters"]}
    with pytest.raises(ConfigError, match=message):
        read(**changes)
