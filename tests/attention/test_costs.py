"""Costs compared: broken statements are refused, and loops that count their multiplications agree."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Basic, KroneckerDelta

from derivations.attention.attention import A, O, attention, c
from derivations.attention.costs import complexity, decoding_cost, p, path_length, products
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.linear.convolution import convolution_layer, width
from derivations.linear.recurrent import recurrent_step
from derivations.symbols import d, d_k, d_v, i, j, n
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name in RESULTS if RESULTS[name].__module__ == "derivations.attention.costs")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


WRONG = [
    ("linear attention", complexity, 0, 0, 4 * n * d),
    ("multiply-adds for FLOPs", complexity, 0, 0, 2 * n**2 * d),
    ("the recurrence without its inputs", complexity, 1, 0, 2 * n * d**2),
    ("a kernel of width 1", complexity, 2, 0, 2 * n * d**2),
    ("a step that reads itself alone", decoding_cost, 0, 0, 2 * (d_k + d_v)),
    ("a step too few", decoding_cost, 1, 0, n * (n - 1) * (d_k + d_v)),
    ("all of the square", decoding_cost, 1, 0, 2 * n**2 * (d_k + d_v)),
    ("a weight for every column", path_length, 0, 0, A[i, j]),
    ("no dependence", path_length, 0, 0, 0),
    ("a weight of at least 1", path_length, 1, 0, 1),
    ("the output's derivative in full", path_length, 0, 0, O[i, c] * KroneckerDelta(c, p)),
    ("a convolution that sees nothing", path_length, 2, 0, 0),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("number", [3, 4])
def test_attention_costs_least_only_when_there_are_few_positions(number: int) -> None:
    right = complexity()
    bare = replace(right, claims=(replace(right.claims[number], given=()),))
    assert is_refused(judge(bare).claims[0][0])


def multiply_adds_of_attention(positions: int, size: int) -> int:
    scores = sum(1 for _query in range(positions) for _key in range(positions) for _p in range(size))
    mixtures = sum(1 for _query in range(positions) for _column in range(size) for _key in range(positions))
    return scores + mixtures


def multiply_adds_of_recurrence(positions: int, size: int) -> int:
    return sum(1 for _t in range(positions) for _to in range(size) for _from in (*range(size), *range(size)))


def multiply_adds_of_convolution(windows: int, size: int, span: int) -> int:
    return sum(1 for _t in range(windows) for _s in range(span) for _from in range(size) for _to in range(size))


@pytest.mark.parametrize(("positions", "size", "span"), [(3, 5, 2), (7, 2, 3), (5, 11, 5)])
def test_the_counts_are_those_of_loops(positions: int, size: int, span: int) -> None:
    numbers = {n: positions, d: size, width: span}
    counted = {
        attention: multiply_adds_of_attention(positions, size),
        convolution_layer().xreplace({n: n + width - 1}): multiply_adds_of_convolution(positions, size, span),
    }
    for layer, multiply_adds in counted.items():
        assert products(layer).value().subs(numbers) == 2 * multiply_adds
    steps = positions * products(recurrent_step()).value().subs(numbers)
    assert steps == 2 * multiply_adds_of_recurrence(positions, size)
