"""Relative position bias: results proved, broken ones refused; the layer is a loop over heads, queries and keys."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Indexed

from derivations.architectures.relative_position_bias import (
    B,
    N,
    bucket,
    buckets,
    definition,
    distance_alone,
    entries_added_by_number,
    gradient,
    parameters,
    relative_position_bias,
    s,
    shift_invariance,
    t,
    table,
)
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import row_softmax
from derivations.language.counting.costs import count_flops, count_parameters
from derivations.language.differentiation.reverse import gradient as gradient_of
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Derivation
from derivations.symbols import h, i, j, k, m, n
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

CASES = (definition, distance_alone, shift_invariance, parameters, gradient, entries_added_by_number)
RANDOM = np.random.default_rng(47)


@pytest.mark.parametrize("result", CASES)
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == ("definition" if result is definition else "proved")


S = array("S", h, n, m)


@broken_steps(
    [
        ("the bucket of another pair", definition, 0, 0, Indexed(table.base, N[j, i], t)),
        ("another head", definition, 0, 0, Indexed(table.base, N[i, j], 0)),
        ("a query alone moved", distance_alone, 0, 0, B[t, i, j + s]),
        ("the scores without the bias", shift_invariance, 0, 0, row_softmax(S[t])[i, k]),
        ("a number for each pair", parameters, 0, 0, h * n * m),
        ("an addition for each pair", parameters, 1, 0, h * n * m),
        ("twice the gradient", gradient, 0, 0, 2 * gradient().claims[0].rhs),
        ("every entry's own bucket left out", entries_added_by_number, 0, 0, B),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


# --- buckets --------------------------------------------------------------------------------------------------------

# the smallest distance of each bucket of one direction, 32 buckets up to distance 128
IN_BOTH = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
BACK = [*range(17), 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]


def test_the_buckets_of_the_paper() -> None:
    """Raffel et al. take 32 buckets up to distance 128; later keys have their own half, or that of distance 0."""
    for number, first in enumerate(IN_BOTH):
        assert bucket(-first, 32, 128, True) == number
        assert first == 0 or bucket(1 - first, 32, 128, True) == number - 1
        assert first == 0 or bucket(first, 32, 128, True) == number + 16
    for number, first in enumerate(BACK):
        assert bucket(-first, 32, 128, False) == number
        assert first == 0 or bucket(1 - first, 32, 128, False) == number - 1
        assert bucket(first, 32, 128, False) == 0
    assert {bucket(-far, 32, 128, False) for far in (113, 128, 10**9)} == {31}


@pytest.mark.parametrize(("count", "longest"), [(32, 128), (17, 89), (11, 1000)])
def test_the_buckets_grow_by_logarithms(count: int, longest: int) -> None:
    """The formula with a floor of logarithms, wherever rounding cannot decide it."""
    own = count // 2
    for far in range(own, 2000):
        place = math.log(far / own) / math.log(longest / own) * (count - own)
        if abs(place - round(place)) > 1e-9:
            assert bucket(-far, count, longest, False) == min(count - 1, own + math.floor(place))


@pytest.mark.peers
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(("count", "longest"), [(32, 128), (16, 64), (64, 256)])
def test_the_buckets_are_those_of_another_implementation(both: bool, count: int, longest: int) -> None:
    torch = pytest.importorskip("torch", reason="the peers tests compare with PyTorch")
    t5 = pytest.importorskip("transformers.models.t5.modeling_t5", reason="the peers tests compare with transformers")
    distances = range(-2003, 2004)
    theirs = t5.T5Attention._relative_position_bucket(
        torch.tensor(distances), bidirectional=both, num_buckets=count, max_distance=longest
    )
    assert theirs.tolist() == [bucket(distance, count, longest, both) for distance in distances]


# --- the layer ------------------------------------------------------------------------------------------------------


def looped(numbers: np.ndarray, queries: int, keys: int, both: bool) -> np.ndarray:
    """The bias in loops."""
    bias = np.empty((numbers.shape[1], queries, keys))
    for head in range(numbers.shape[1]):
        for query in range(queries):
            for key in range(keys):
                bias[head, query, key] = numbers[bucket(key - query, len(numbers), 23, both), head]
    return bias


@pytest.mark.parametrize("both", [True, False])
def test_the_layer_is_the_loop_and_its_gradient_adds_up(both: bool) -> None:
    layer, numbers = relative_position_bias(bidirectional=both, max_distance=23), RANDOM.normal(size=(11, 3))
    np.testing.assert_array_equal(compile_layer(layer)(table=numbers, n=7, m=37), looped(numbers, 7, 37, both))
    cotangent, expected = RANDOM.normal(size=(3, 7, 37)), np.zeros((11, 3))
    for (head, query, key), value in np.ndenumerate(cotangent):
        expected[bucket(key - query, 11, 23, both), head] += value
    found = compile_layer(gradient_of(layer))(cotangent, table=numbers)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    assert np.abs(expected).max() > 1


def test_a_layer_reads_the_bias_head_by_head() -> None:
    """A bias added to the scores of every head of a batch; its gradient is summed over the batch."""
    scores, let = array("S", h, n, n), Equations()
    bias = let("B")(part("bias", relative_position_bias(n, n, bidirectional=False, max_distance=23))())
    weights = let("A", over=(i, h))(row_softmax(scores[i] + bias[i]))
    layer = Layer("biased", (scores,), (), let, weights)
    assert count_parameters(layer) == buckets * h
    assert count_flops(layer).by_kind["elementwise"] == h * n**2
    given, numbers = RANDOM.normal(size=(2, 3, 7, 7)), RANDOM.normal(size=(5, 3))
    found = compile_layer(layer)(given, bias={"table": numbers})
    exponentials = np.exp(given + looped(numbers, 7, 7, False))
    expected = exponentials / exponentials.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_the_parameters_do_not_depend_on_the_length() -> None:
    layer = relative_position_bias()
    assert count_parameters(layer) == buckets * h
    assert layer.sizes == tuple(sorted((buckets, h, n, m), key=str))
