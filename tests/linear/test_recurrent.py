"""The recurrent layer: broken statements are refused, and a loop over positions agrees with the compiled step."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, tanh

from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.linear.recurrent import U, W, a, after, before, definition, jacobian, parameters, recurrent_step, x
from derivations.symbols import d, d_in, j, k, l
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, of_topic, with_step


@pytest.mark.parametrize("name", of_topic("recurrent"))
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "recurrent.definition" else "proved")


WRONG = [
    ("the bias dropped", definition, 0, 0, tanh((x @ W)[l] + (before @ U)[l])),
    ("the state before dropped", definition, 0, 0, tanh((x @ W)[l])),
    ("the product transposed", jacobian, 0, 0, (1 - tanh(a[l]) ** 2) * U[l, k]),
    ("the slope of the state before", jacobian, 0, 1, (1 - before[l] ** 2) * U[k, l]),
    ("no slope", jacobian, 1, 0, W[j, l]),
    ("the bias not counted", parameters, 0, 0, d_in * d + d**2),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


RANDOM = np.random.default_rng(37)
WEIGHTS = {"W": RANDOM.normal(size=(3, 5)), "U": RANDOM.normal(size=(5, 5)) / 3, "b": RANDOM.normal(size=5)}


def test_the_compiled_step_over_positions_is_a_plain_loop() -> None:
    positions, step = RANDOM.normal(size=(7, 2, 3)), compile_layer(recurrent_step())
    state = np.zeros((2, 5))
    plain = np.zeros((2, 5))
    for rows in positions:
        state = step(rows, state, **WEIGHTS)
        plain = np.array(
            [
                [
                    np.tanh(
                        sum(row[p] * WEIGHTS["W"][p, q] for p in range(3))
                        + sum(old[p] * WEIGHTS["U"][p, q] for p in range(5))
                        + WEIGHTS["b"][q]
                    )
                    for q in range(5)
                ]
                for row, old in zip(rows, plain, strict=True)
            ]
        )
        np.testing.assert_allclose(state, plain, rtol=1e-12)


def test_the_jacobian_is_a_central_difference() -> None:
    step, by = compile_layer(recurrent_step()), 1e-6
    row, state = RANDOM.normal(size=3), RANDOM.normal(size=5)
    reached = step(row, state, **WEIGHTS)
    for place in range(5):
        nudge = by * np.eye(5)[place]
        slope = (step(row, state + nudge, **WEIGHTS) - step(row, state - nudge, **WEIGHTS)) / (2 * by)
        np.testing.assert_allclose(slope, (1 - reached**2) * WEIGHTS["U"][place], rtol=1e-6, atol=1e-9)


def test_the_output_has_the_width_of_the_state() -> None:
    assert recurrent_step().output == after
