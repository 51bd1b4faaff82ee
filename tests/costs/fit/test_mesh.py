"""Division over devices: what each rank has, by hand; the ranks together have the whole; nonsense is refused."""

from typing import Any

import pytest
from sympy import Integer

from derivations.architectures.description import Model
from derivations.architectures.hugging_face import model_of
from derivations.architectures.kinds import by_kind
from derivations.architectures.models import named_model
from derivations.costs.fit.inference import Serving, stages_of
from derivations.costs.fit.mesh import Mesh, tensor_sizes
from derivations.costs.stored_bytes import stored_bytes
from derivations.costs.weight_groups import weight_groups

LLAMA: dict[str, Any] = {
    **{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 14, "intermediate_size": 22},
    **{"num_attention_heads": 12, "num_key_value_heads": 2, "head_dim": 10, "num_hidden_layers": 5, "vocab_size": 13},
    **{"max_position_embeddings": 64, "rms_norm_eps": 1e-05, "tie_word_embeddings": False, "hidden_act": "silu"},
}
MIXTRAL: dict[str, Any] = {
    **LLAMA,
    **{"architectures": ["MixtralForCausalLM"], "model_type": "mixtral"},
    **{"num_local_experts": 6, "num_experts_per_tok": 2},
}


def weights_on_a_rank(model: Model, mesh: Mesh) -> int:
    return Serving(model, 7, mesh=mesh).budgets[0].numbers()["weights"]


def test_a_rank_of_two_has_half_of_heads_columns_and_tokens():
    """By hand, 2 bytes each: a layer has Q, K, V, O of 6 + 1 + 1 + 6 heads, half of three matrices, and both norms."""
    layer = 14 * 10 * (6 + 1 + 1 + 6) + 3 * 14 * 11 + 2 * 14
    assert weights_on_a_rank(model_of(LLAMA, "tiny"), Mesh(tensor=2)) == 2 * (5 * layer + 2 * 7 * 14 + 14)


def test_more_ranks_than_groups_copy_keys_and_values():
    """Of 4 ranks, two have the keys and values of each group: one whole group, 3 query heads."""
    model = model_of({**LLAMA, "intermediate_size": 44}, "tiny")
    assert 4 in tensor_sizes(model)
    layer = 14 * 10 * (3 + 1 + 1 + 3) + 3 * 14 * 11 + 2 * 14
    assert weights_on_a_rank(model, Mesh(tensor=4)) == 2 * (5 * layer + 2 * 4 * 14 + 14)
    serving = Serving(model, 7, mesh=Mesh(tensor=4))
    assert serving.budget.numbers()["cache"] == 2 * 7 * 5 * 2 * 1 * 10


def test_experts_go_to_ranks_whole_and_routers_to_all():
    """Of 3 ranks of experts, taken out of 3 data parallel ones, each has 2 of 6 experts, and all of the router."""
    attention, norms, router = 14 * 10 * (12 + 2 + 2 + 12), 2 * 14, 14 * 6
    layer = attention + norms + router + 2 * 3 * 14 * 22
    expected = 2 * (5 * layer + 2 * 13 * 14 + 14)
    assert weights_on_a_rank(model_of(MIXTRAL, "tiny"), Mesh(data=3, expert=3)) == expected


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_the_stages_together_have_every_weight_once(number: int):
    model = model_of(LLAMA, "tiny")
    whole = stored_bytes(model)
    parts = [stored_bytes(model, tuple(weight_groups(model, by_kind(model), s))) for s in stages_of(model, number)]
    values = {symbol: Integer(value) for symbol, value in model.values.items()}
    assert sum(each.xreplace(values) for each in parts) == whole.xreplace(values)


def test_a_tied_table_is_on_the_first_and_the_last_stage():
    model = model_of({**LLAMA, "tie_word_embeddings": True}, "tiny")
    whole = Serving(model, 7).budget.numbers()["weights"]
    stages = Serving(model, 7, mesh=Mesh(pipeline=5)).budgets
    assert sum(each.numbers()["weights"] for each in stages) == whole + 2 * 13 * 14


def test_layers_of_several_kinds_are_divided_in_order():
    """Gemma 2 alternates windows and full attention: 21 layers of each in 42; 4 stages have 11, 11, 10 and 10."""
    model = named_model("gemma-2-9b")
    caches = [each.numbers()["cache"] for each in Serving(model, 8192, mesh=Mesh(pipeline=4)).budgets]
    each = 2 * 2 * 8 * 256  # bytes of K and V of 8 groups of 256
    window, full = each * 4096, each * 8192
    assert caches == [6 * window + 5 * full, 5 * window + 6 * full, 5 * window + 5 * full, 5 * window + 5 * full]


@pytest.mark.parametrize(
    ("mesh", "sentence"),
    [
        (
            Mesh(tensor=3),
            r"3 devices cannot share 32 heads of llama-3-8b in equal parts; .* 1, 2, 4, 8, 16 or 32",
        ),
        (Mesh(tensor=-2), "tensor parallel ranks must be an integer >= 1, not -2"),
        (Mesh(pipeline=33), "33 stages are more than the 32 layers of llama-3-8b; choose at most 32"),
        (Mesh(pipeline=4, chunks=3), r"32 layers do not make 4 stages of 3 equal chunks; .* 1, 2, 4, 8, 16 or 32"),
        (Mesh(chunks=2), "a pipeline of one stage is not interleaved"),
        (Mesh(expert=2), "llama-3-8b has no experts to divide over 2 ranks; leave --expert out"),
        (Mesh(sharded=4), "the stages of sharding are 0, 1, 2 and 3, not 4"),
    ],
)
def test_a_division_that_does_not_come_out_is_refused(mesh: Mesh, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        mesh.check(named_model("llama-3-8b"))


def test_experts_that_do_not_come_out_are_refused():
    mixtral = named_model("mixtral-8x7b")
    with pytest.raises(ValueError, match=r"3 ranks cannot share 8 experts in equal parts; .* 1, 2, 4 or 8"):
        Mesh(data=3, expert=3).check(mixtral)
    with pytest.raises(ValueError, match="taken out of 1 tensor times 2 data parallel ones"):
        Mesh(data=2, expert=8).check(mixtral)
    with pytest.raises(ValueError, match="t5-small has two stacks"):
        Mesh(pipeline=2).check(named_model("t5-small"))
