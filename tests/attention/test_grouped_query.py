"""Grouped-query attention: broken statements are refused, and loops over heads agree with the compiled layer."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic

from derivations.attention.grouped_query import (
    W_O,
    X_K,
    X_Q,
    X_V,
    a,
    as_many_heads,
    b,
    cache,
    g,
    grouped,
    grouped_query,
    grouped_query_attention,
    head,
    multi_query,
    r,
)
from derivations.attention.multi_head import heads
from derivations.language.arrays.arrangements import SumOver, column_block
from derivations.language.counting.costs import Count
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from derivations.symbols import d_k, d_model, d_v, h, m
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step


@pytest.mark.parametrize("result", [grouped_query, multi_query])
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == "proved"


ROWS = column_block(W_O[a].T, b).T
MORE = Count("parameters", as_many_heads)
WRONG = [
    ("keys of one group for all", grouped_query, 0, 0, SumOver(SumOver(head(0, b) @ ROWS, b, r), a, g)),
    ("one head for all of a group", grouped_query, 0, 0, SumOver(SumOver(head(a, 0) @ ROWS, b, r), a, g)),
    ("twice the output", grouped_query, 1, 0, 2 * heads.xreplace({h: g}).result(X_Q, X_K, X_V)),
    ("a cache as large", grouped_query, 2, 1, cache(as_many_heads)),
    ("a cache of the keys alone", grouped_query, 2, 0, g * m * d_k),
    ("as many parameters", grouped_query, 3, 1, MORE),
    ("the queries divided too", grouped_query, 3, 0, 2 * g * d_model * (d_k + d_v)),
    ("as much work", grouped_query, 4, 0, Count("matmul FLOPs", as_many_heads)),
    ("a cache of r heads", multi_query, 1, 0, r * m * (d_k + d_v)),
    ("keys for every head", multi_query, 2, 0, 2 * r * d_model * (d_k + d_v)),
]


@broken_steps(WRONG, fast=1)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


SIZES = {"g": 2, "r": 3, "n": 5, "m": 7, "d_model": 11, "d_k": 13, "d_v": 17}


def random_weights(random: np.random.Generator) -> dict[str, np.ndarray]:
    shapes = {"W_Q": (2, 3, 11, 13), "W_K": (2, 11, 13), "W_V": (2, 11, 17), "W_O": (2, 3 * 17, 11)}
    return {name: random.normal(size=shape) / 3 for name, shape in shapes.items()}


def plain(x_q: np.ndarray, x_kv: np.ndarray, weights: dict[str, np.ndarray], shown: np.ndarray) -> np.ndarray:
    """Every head of queries by itself, with the keys and values of its group."""
    output = np.zeros((len(x_q), SIZES["d_model"]))
    for group in range(SIZES["g"]):
        keys, values = x_kv @ weights["W_K"][group], x_kv @ weights["W_V"][group]
        for number in range(SIZES["r"]):
            queries = x_q @ weights["W_Q"][group, number]
            rows = weights["W_O"][group, number * SIZES["d_v"] : (number + 1) * SIZES["d_v"]]
            for position, query in enumerate(queries):
                powers = [np.exp(query @ key / np.sqrt(SIZES["d_k"])) for key in keys] * shown[position]
                output[position] += (powers / powers.sum()) @ values @ rows
    return output


@pytest.mark.parametrize("masked", [False, True])
def test_the_compiled_layer_is_a_loop_over_heads(masked: bool) -> None:
    random = np.random.default_rng(43)
    weights = random_weights(random)
    x_q, x_kv = random.normal(size=(2, 5, 11)), random.normal(size=(2, 7, 11))
    shown = random.random(size=(5, 7)) < 0.5 if masked else np.ones((5, 7), dtype=bool)
    shown[:, 0] = True
    attend = compile_layer(grouped_query_attention(masked=masked))
    output = attend(x_q, x_kv, x_kv, *([shown] if masked else []), **weights)
    for item in range(2):
        np.testing.assert_allclose(output[item], plain(x_q[item], x_kv[item], weights, shown), rtol=1e-10)


def test_a_mask_changes_the_output() -> None:
    random = np.random.default_rng(47)
    weights, x = random_weights(random), random.normal(size=(5, 11))
    shown = np.tri(5, dtype=bool)
    masked = compile_layer(grouped_query_attention(masked=True))(x, x, x, shown, **weights)
    assert np.abs(masked - compile_layer(grouped)(x, x, x, **weights)).max() > 1e-2
