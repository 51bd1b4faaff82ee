"""The results about scale normalisation are proved; broken ones are not."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Abs, Basic, sqrt

from derivations.language.differentiation.reverse import gradient
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from derivations.normalisation.scale_norm import (
    X,
    a,
    cost,
    definition,
    g,
    kept,
    row,
    scale_invariance,
    scale_norm,
    sphere,
    squares,
)
from derivations.symbols import epsilon, i, k
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step


@pytest.mark.parametrize("result", [cost, scale_invariance, sphere])
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == "proved"


@broken_steps(
    [
        ("the length of the row that is kept", sphere, 0, 1, g.entry() ** 2 * row),
        ("a length of g", sphere, 0, 1, g.entry()),
        ("a short row that is divided by its length", sphere, 1, 0, g.entry() * X[i, k] / sqrt(row)),
        ("a factor that is kept", scale_invariance, 0, 0, a * g.entry() * X[i, k] / sqrt(kept[i])),
        (
            "epsilon that is multiplied",
            scale_invariance,
            0,
            1,
            g.entry() * X[i, k] / sqrt(squares[i] + (a * epsilon) ** 2),
        ),
        ("two parameters", cost, 0, 0, Abs(2)),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_the_definition_divides_by_the_greater_of_length_and_epsilon() -> None:
    assert judge(definition()).level in ("definition", "proved")


def test_a_row_of_zeros_has_a_gradient() -> None:
    """The root of 0 has no slope, and none is taken: the row is divided by epsilon."""
    dX, dg = compile_layer(gradient(scale_norm()))(np.zeros((2, 3)), np.ones((2, 3)), np.float64(2))
    assert np.allclose(dX, 2 / 1e-5) and dg == 0
