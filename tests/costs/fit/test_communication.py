"""Bytes that ranks send: a ring that is run, and the plans by hand."""

from fractions import Fraction

import pytest
from sympy import Integer

from derivations.architectures.models import named_model
from derivations.costs.fit.communication import ring
from derivations.costs.fit.mesh import Mesh
from derivations.costs.fit.training import Training


def run_ring(ranks: int, size: int) -> tuple[list[list[int]], list[int]]:
    """Run a ring all-reduce over parts of arrays: what each rank ends up with, and the numbers that each sent."""
    part = size // ranks
    arrays = [[rank * 100 + place for place in range(size)] for rank in range(ranks)]
    sent = [0] * ranks

    def hand_on(step: int, shift: int, *, add: bool) -> None:
        moving = []
        for rank in range(ranks):
            chunk = (rank - step + shift) % ranks
            moving.append((chunk, arrays[rank][chunk * part : (chunk + 1) * part]))
            sent[rank] += part
        for rank in range(ranks):
            chunk, values = moving[(rank - 1) % ranks]
            for place, value in enumerate(values, chunk * part):
                arrays[rank][place] = arrays[rank][place] + value if add else value

    for step in range(ranks - 1):
        hand_on(step, 0, add=True)
    for step in range(ranks - 1):
        hand_on(step, 1, add=False)
    return arrays, sent


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 7])
def test_a_ring_sends_what_the_formula_says(ranks: int):
    size = 210
    arrays, sent = run_ring(ranks, size)
    total = [sum(rank * 100 + place for rank in range(ranks)) for place in range(size)]
    assert all(array == total for array in arrays)
    assert set(sent) == {ring(Integer(size), Integer(ranks))}


def sent(name: str, mesh: Mesh, **options: int | str) -> dict[str, int]:
    training = Training(named_model(name), 2048, mesh=mesh, **options)
    return {kind: training.budget.number(value) for kind, value in training.sent.items()}


def test_tensor_parallel_layers_add_up_twice_each_way():
    """32 layers, attention and network, forward and backward, 2 bytes of 2048 x 4096 rows, 2 * 7/8 of them."""
    assert sent("llama-3-8b", Mesh(tensor=8)) == {"tensor parallel": 32 * 2 * 2 * 2 * 2048 * 4096 * 2 * 7 // 8}
    again = sent("llama-3-8b", Mesh(tensor=8), recomputed="blocks")["tensor parallel"]
    assert Fraction(again, sent("llama-3-8b", Mesh(tensor=8))["tensor parallel"]) == Fraction(3, 2)


@pytest.mark.parametrize(("sharded", "times"), [(0, 2), (1, 2), (2, 2), (3, 3)])
def test_data_parallel_ranks_send_gradients_and_sharded_weights(sharded: int, times: int):
    """Rajbhandari et al., section 7: the volume of fully sharded training is 3/2 that of data parallel training."""
    weights = 2 * 8030261248
    assert sent("llama-3-8b", Mesh(data=8, sharded=sharded)) == {"data parallel": times * weights * 7 // 8}


def test_a_stage_sends_rows_forward_and_gradients_backward():
    found = sent("llama-3-8b", Mesh(pipeline=4), micro_batches=13)
    assert found == {"pipeline": 13 * 2 * 2 * 2048 * 4096}


def test_rows_go_to_experts_and_back_twice():
    """32 layers, 2 experts for each row, 7 of 8 elsewhere, there and back, forward and backward."""
    found = sent("mixtral-8x7b", Mesh(data=8, expert=8))
    assert found["expert parallel"] == 32 * 4 * 2 * 2048 * 4096 * 2 * 7 // 8
    # every expert is on one rank alone: only the other weights have gradients to add up
    others = 46702792704 - 32 * 8 * 3 * 4096 * 14336
    assert found["data parallel"] == 2 * 2 * others * 7 // 8


def test_one_device_sends_nothing():
    assert sent("llama-3-8b", Mesh()) == {}
