"""The results on memory are proved and seen by the cross-check; wrong ones are not; measured bytes agree."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Basic, Integer, Rational, Symbol, sqrt

from derivations.attention.grouped_query import g
from derivations.costs.memory import (
    ATTENTION,
    activations,
    attention_share,
    cache_against_weights,
    checkpoints,
    full_recomputation,
    key_value_cache,
    norm_statistics,
    partitioned_state,
    pre_norm_layer,
    saved_residual_bytes,
    selective_recomputation,
    training_state,
    without_dropout,
)
from derivations.language.counting.memory_counts import saved_residuals
from derivations.language.cross_check import cross_check
from derivations.language.cross_check.saved_residuals import run_saved
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import N, batch, d_ff, d_k, d_model, d_v, h, n
from tests.broken import broken_steps, is_refused, of_topic, with_step

p, D = Symbol("p", positive=True), Symbol("D", positive=True)
a, c = Symbol("a", positive=True), Symbol("c", positive=True)
per_row = 34 * n * d_model


@pytest.mark.parametrize("name", of_topic("memory"))
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


@pytest.mark.slow
@pytest.mark.parametrize("name", of_topic("memory"))
def test_every_result_is_seen_by_running_the_layers(name: str) -> None:
    assert run_saved  # its rule is registered
    checked = cross_check(RESULTS[name]())
    assert checked.outcome == "agrees", checked.reason


WRONG = [
    ("33 for 34", activations, 0, 1, batch * (33 * n * d_model + 5 * h * n**2)),
    ("weights kept once", activations, 0, 1, batch * (per_row + 3 * h * n**2)),
    ("weights of one head", activations, 0, 1, batch * (per_row + 5 * n**2)),
    ("masks without dropout", activations, 1, 1, batch * (per_row + 2 * h * n**2)),
    ("one example", activations, 1, 0, activations().claims[1].steps[0].expression / batch),
    ("half the share", attention_share, 0, 0, 5 * h * n / (68 * d_model + 10 * h * n)),
    ("a third", attention_share, 1, 0, Rational(1, 3)),
    ("masks of attention kept", selective_recomputation, 0, 1, batch * (per_row + h * n**2)),
    ("queries not kept", selective_recomputation, 0, 1, 32 * batch * n * d_model),
    ("the share that is left", selective_recomputation, 1, 0, 34 * d_model / (34 * d_model + 5 * h * n)),
    ("60 percent of GPT-3", selective_recomputation, 2, 0, Rational(3, 5)),
    ("60 percent of MT-NLG", selective_recomputation, 3, 0, Rational(3, 5)),
    ("nothing kept", full_recomputation, 0, 0, Integer(0)),
    ("masks kept", full_recomputation, 0, 0, 4 * batch * n * d_model),
    ("one layer more", full_recomputation, 1, 0, (N + 1) * saved_residual_bytes(without_dropout)),
    ("one input for all layers", full_recomputation, 2, 0, 2 * batch * n * d_model),
    ("a mean alone", norm_statistics, 0, 0, 2 * batch * n),
    ("of the whole layer", norm_statistics, 1, 0, 8 * n / (per_row + 5 * h * n**2)),
    ("three times the root", checkpoints, 0, 0, 3 * sqrt(N * c * a)),
    ("once the root", checkpoints, 1, 0, sqrt(N * c * a)),
    ("two moments of 2 bytes", training_state, 0, 0, 12 * training_state().rhs / 16),
    ("as many parameters as weights of products", training_state, 0, 1, 192 * N * d_model**2),
    ("16 with gradients of 4", training_state, 1, 0, training_state().claims[0].steps[0].expression),
    ("nothing divided", partitioned_state, 0, 0, 16 * p),
    ("a half", partitioned_state, 1, 0, 4 * p),
    ("31 GB", partitioned_state, 3, 0, Integer(31)),
    ("17 GB", partitioned_state, 4, 0, Integer(17)),
    ("2 GB", partitioned_state, 5, 0, Integer(2)),
    ("keys alone", key_value_cache, 0, 1, h * d_k),
    ("all heads in groups", key_value_cache, 1, 1, 2 * h * d_k),
    ("all groups", key_value_cache, 2, 1, 2 * g * d_k),
    ("upside down", key_value_cache, 3, 0, h / g),
    ("of the groups", key_value_cache, 4, 0, 1 / g),
    ("no norms", cache_against_weights, 0, 0, batch * n / (6 * d_model)),
    ("twice as large", cache_against_weights, 1, 0, Integer(2)),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("number", [0, 1])
def test_the_closed_forms_need_the_shared_width(number: int) -> None:
    bare = replace(activations(), assumptions=())
    assert is_refused(judge(bare).claims[number][1])


@pytest.mark.parametrize(("result", "number", "wrong"), [(partitioned_state, 0, 5 * p), (checkpoints, 0, N * c)])
def test_a_bound_with_another_certificate_is_refused(
    result: Callable[[], Derivation], number: int, wrong: Basic
) -> None:
    assert is_refused(with_step(result(), number, 0, certificate=(wrong,)))


def test_the_cache_of_short_sequences_is_not_larger() -> None:
    (dividing, bound) = cache_against_weights().claims
    right = replace(cache_against_weights(), claims=(dividing, replace(bound, given=())))
    assert is_refused(judge(right).claims[1][0])


# bytes that automatic differentiation keeps for one layer in bfloat16 with masks of one byte, each storage once and
# parameters left out, seen in PyTorch: positions, batch, width, heads, dropout, bytes, those of row statistics
MEASURED = [
    (32, 2, 64, 4, True, 180736, 512),
    (32, 2, 64, 4, False, 147968, 512),
    (64, 1, 128, 8, True, 442880, 512),
    (64, 1, 128, 8, False, 328192, 512),
]


@pytest.mark.parametrize(("positions", "examples", "width", "heads", "dropping", "measured", "rows"), MEASURED)
def test_a_layer_keeps_the_bytes_that_were_measured(
    positions: int, examples: int, width: int, heads: int, dropping: bool, measured: int, rows: int
) -> None:
    sizes = {n: positions, d_model: width, h: heads, d_k: width // heads, d_v: width // heads, d_ff: 4 * width}
    layer = saved_residuals(pre_norm_layer(dropping=dropping), batch=examples)
    assert layer.bytes().xreplace(sizes) == measured - rows
    assert layer.bytes(bytes_per_statistic=2).xreplace(sizes) == measured
    closed = activations().claims[0 if dropping else 1].rhs
    assert closed.xreplace({**sizes, batch: examples}) == measured - rows


def test_what_is_recomputed_keeps_what_table_2_says() -> None:
    sizes = {n: 7, d_model: 26, h: 13, d_k: 2, d_v: 2, d_ff: 104}
    layer = pre_norm_layer()
    selective = saved_residuals(layer, batch=3, recomputed=[ATTENTION])
    assert selective.bytes().xreplace(sizes) == 34 * 7 * 3 * 26
    full = saved_residuals(layer, batch=3, recomputed=[layer.name])
    assert full.bytes().xreplace(sizes) == 2 * 7 * 3 * 26
