"""Heads of groups as one family: the layer that is compared has the values of the given one, or is the given one."""

from typing import Any

import pytest

from derivations.attention.grouped_query import grouped_query_attention
from derivations.catalogue import layer
from derivations.language.arrays.shapes import total
from derivations.language.layers.inlining import inlined
from numeric.lifting import groups
from numeric.lifting.groups import heads_together
from numeric.lifting.reading.weight_names import alike


def test_every_head_of_every_group_gets_a_name() -> None:
    written = heads_together(inlined(grouped_query_attention(masked=True)))
    names = [equation.variable.name.rpartition(".")[2] for equation in written.equations]
    assert {"Q", "S", "A", "head", "Y"} <= set(names)


def test_a_layer_without_groups_stays() -> None:
    whole = inlined(layer("multi_head_attention"))
    assert heads_together(whole) is whole


def test_a_rewriting_with_other_values_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run of both layers decides: weights that are read from the last row on are refused."""
    whole = inlined(grouped_query_attention())
    right = groups.operand_of

    def backwards(stored: Any, places: Any) -> Any:
        return right(stored, [*places[:-2], total(stored.shape[-2]) - 1 - places[-2], places[-1]])

    monkeypatch.setattr(groups, "operand_of", backwards)
    assert heads_together.__wrapped__(whole) is whole


def test_words_of_paths_tell_weights() -> None:
    path = "layer.0.SelfAttention.q.weight"
    assert alike(path, "self_attention.W_Q") > alike(path, "self_attention.W_V")
    assert alike("mlp.down_proj.weight", "feed_forward.W_down") > alike("mlp.up_proj.weight", "feed_forward.W_down")
    assert alike("post_attention_layernorm.weight", "feed_forward_norm.gamma") == alike(
        "input_layernorm.weight", "feed_forward_norm.gamma"
    )


def test_norms_are_told_by_the_part_that_they_belong_to() -> None:
    for name, other in (("attention_norm", "ffn_norm"), ("self_attn_layer_norm", "final_layer_norm")):
        assert alike(f"{name}.weight", "attention_norm.gamma") > alike(f"{other}.weight", "attention_norm.gamma")
        assert alike(f"{name}.weight", "feed_forward_norm.gamma") <= alike(f"{other}.weight", "feed_forward_norm.gamma")
