"""Layers of one kind put together: the same counts as in their order, and nothing else put together."""

import pickle
from dataclasses import replace
from typing import Any

import pytest

from derivations.architectures.composition import build
from derivations.architectures.description import Model
from derivations.architectures.hugging_face import model_of
from derivations.architectures.kinds import by_kind
from derivations.architectures.models import named_model
from derivations.costs.counts import count
from derivations.language.counting.convention import Convention
from derivations.language.counting.costs import count_decode_flops, count_flops, count_parameters, count_training_flops
from derivations.language.counting.memory_counts import saved_residuals
from derivations.symbols import n

FULL, WINDOW = "full_attention", "sliding_attention"
GEMMA: dict[str, Any] = {
    **{"model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], "vocab_size": 23, "hidden_size": 14},
    **{"num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 10, "intermediate_size": 11},
    **{"sliding_window": 5, "num_hidden_layers": 7},
    "layer_types": [FULL, WINDOW, WINDOW, FULL, WINDOW, FULL, FULL],
}
QWEN: dict[str, Any] = {
    **{"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "vocab_size": 23, "hidden_size": 14},
    **{"num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 10, "intermediate_size": 11},
    **{"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 7, "num_hidden_layers": 7},
    "mlp_only_layers": [0, 3, 4],
}
CONFIGS = {"gemma": GEMMA, "qwen": QWEN}


def numbers(model: Model, value: Any) -> int:
    return int(value.xreplace({**model.values, n: 13}))


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_counts_do_not_depend_on_the_order(name: str) -> None:
    """In order every layer is written out; of each kind there is one, and a number of them."""
    ordered = model_of(CONFIGS[name], name)
    together = by_kind(ordered)
    assert together.architecture.decoder is not None
    assert len(together.architecture.decoder.blocks) == 2 < len(ordered.architecture.decoder.blocks)  # type: ignore[union-attr]
    visible = Convention(causal="visible")
    for counted in (
        count_parameters,
        lambda layer: count_flops(layer, 3).total,
        lambda layer: count_training_flops(layer, 3, visible).total,
        lambda layer: count_decode_flops(layer, n, 3).total,
        lambda layer: saved_residuals(layer, batch=3).bytes(),
    ):
        values = [numbers(model, counted(build(model.architecture))) for model in (ordered, together)]
        assert values[0] == values[1]


def test_a_layer_that_differs_in_anything_is_a_kind_of_its_own() -> None:
    model = model_of(GEMMA, "gemma")
    decoder = model.architecture.decoder
    assert decoder is not None
    first, *others = decoder.runs
    wider = replace(first.blocks[0], order="pre")
    changed = replace(decoder, runs=(replace(first, blocks=(wider,)), *others))
    kinds = by_kind(replace(model, architecture=replace(model.architecture, decoder=changed))).architecture.decoder
    assert kinds is not None
    assert len(kinds.blocks) == 3
    assert kinds.blocks[0] == wider


@pytest.mark.parametrize("name", CONFIGS)
def test_the_closed_forms_speak_of_numbers_of_layers(name: str) -> None:
    counts = count(model_of(CONFIGS[name], name), seq=13)
    sizes = counts.json(symbolic=True)["symbolic"]["sizes"]
    assert {size: value for size, value in sizes.items() if size.startswith("N")} == (
        {"N_full": 4, "N_window": 3} if name == "gemma" else {"N_dense": 3, "N_experts": 4}
    )


def test_layers_written_once_stay_as_they_are() -> None:
    model = model_of({**GEMMA, "layer_types": [WINDOW, FULL] * 3, "num_hidden_layers": 6}, "regular")
    assert by_kind(model) is model


def test_a_block_is_looked_up_as_an_equal_one_is_and_takes_no_hash_to_another_process():
    (block,) = named_model("llama-3-8b").architecture.decoder.blocks
    found = hash(block)
    again = pickle.loads(pickle.dumps(block))
    assert "_hash" not in vars(again)
    assert again == block and hash(again) == found
    assert hash(replace(block, one_norm=True)) != found
