"""The results about the Jacobian of softmax as a matrix are proved; broken ones are not; numbers agree."""

import math
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from sympy import Basic, Expr, KroneckerDelta, Matrix, Rational, exp

from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.language.results.statements import Span
from derivations.softmax.jacobian import (
    diagonal,
    hessian,
    jacobian_bounds,
    jacobian_null_space,
    jacobian_psd,
    masked_jacobian_null_space,
    ones,
    over_rows,
    v,
)
from derivations.softmax.softmax import total, x, y
from derivations.symbols import i, j, l, n
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.softmax.jacobian")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


WRONG = [
    ("no vector in the null space", jacobian_null_space, 0, 0, Span()),
    ("the weights themselves in the null space", jacobian_null_space, 0, 0, Span(v)),
    ("full rank", jacobian_null_space, 1, 0, n),
    ("a rank too small", jacobian_null_space, 1, 0, n - 2),
    ("masked: only constant vectors", masked_jacobian_null_space, 0, 0, Span(ones)),
    ("masked: all keys count", masked_jacobian_null_space, 1, 0, n - 1),
    ("a variance about 0", jacobian_psd, 0, 1, over_rows(y[i] * v[i] ** 2)),
    ("a variance with equal weights", jacobian_psd, 0, 1, over_rows((v[i] - total(y[j] * v[j])) ** 2) / n),
    ("a variance about the plain mean", jacobian_psd, 0, 1, over_rows(y[i] * (v[i] - total(v[j]) / n) ** 2)),
    ("a variance at least 1", jacobian_psd, 0, 2, 1),
    ("a slope of at most 1/5", jacobian_bounds, 0, 0, Rational(1, 5)),
    ("a norm of at most 1/3", jacobian_bounds, 1, 0, Rational(1, 3)),
    ("second derivatives without the last term", hessian, 0, 2, y[i] * (KroneckerDelta(i, j) - y[j]) ** 2),
    (
        "second derivatives with a wrong sign",
        hessian,
        0,
        1,
        (KroneckerDelta(i, j) - y[j]) * y[i] * (KroneckerDelta(i, l) - y[l])
        + y[i] * y[j] * (KroneckerDelta(j, l) - y[l]),
    ),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def test_the_masked_rank_needs_a_visible_key() -> None:
    """Without one, y = 0 and the rank is 0, not -1."""
    evidence = judge(replace(masked_jacobian_null_space(), assumptions=()))
    assert all(is_refused(step) for steps in evidence.claims for step in steps)


def test_a_certificate_of_another_matrix_is_refused() -> None:
    span = jacobian_null_space().claims[0].rhs
    assert is_refused(with_step(jacobian_null_space(), 0, 0, span, certificate=(diagonal(exp(x[i])), y)))
    assert is_refused(with_step(jacobian_null_space(), 0, 0, span, certificate=(diagonal(1 / y[i]), ones)))


# --- the same by numbers --------------------------------------------------------------------------------------------


def weights(size: int, seed: int) -> list[float]:
    powers = [math.exp(Random(seed).uniform(-2, 2) + 0.1 * place) for place in range(size)]
    return [power / sum(powers) for power in powers]


def slopes(at: list[float]) -> list[list[float]]:
    return [[a * ((p == q) - b) for q, b in enumerate(at)] for p, a in enumerate(at)]


@pytest.mark.parametrize("size", [2, 3, 5, 7])
def test_the_rank_by_elimination(size: int) -> None:
    exact = [Rational(Random(size + place).randint(1, 9)) for place in range(size)]
    at: list[Expr] = [value / sum(exact) for value in exact]
    J = Matrix(size, size, lambda p, q: at[p] * (int(p == q) - at[q]))
    assert J.rank() == size - 1
    assert J * Matrix([1] * size) == Matrix([0] * size)
    hidden = Matrix(size + 2, size + 2, lambda p, q: J[p, q] if max(p, q) < size else 0)
    assert hidden.rank() == size - 1


@pytest.mark.parametrize("size", [2, 3, 5, 11])
def test_the_norm_by_powers(size: int) -> None:
    """The largest eigenvalue, by 300 steps of the power method, stays below 1/2; two equal weights reach it."""
    for at in (weights(size, size), [0.5, 0.5] + [0.0] * (size - 2)):
        J, vector = slopes(at), [Random(place).uniform(-1, 1) for place in range(size)]
        length = 0.0
        for _ in range(300):
            vector = [sum(a * b for a, b in zip(row, vector, strict=True)) for row in J]
            length = math.hypot(*vector)
            vector = [entry / length for entry in vector]
        assert length <= 0.5 + 1e-12
    assert length == pytest.approx(0.5)


def test_the_second_derivatives_are_differences_of_the_first() -> None:
    size, width = 5, 1e-5
    inputs = [Random(5).uniform(-1, 1) for _ in range(size)]

    def softmax(values: list[float]) -> list[float]:
        powers = [math.exp(value) for value in values]
        return [power / sum(powers) for power in powers]

    at = softmax(inputs)
    for by in range(size):
        up, down = (slopes(softmax([v + s * width * (p == by) for p, v in enumerate(inputs)])) for s in (1, -1))
        for p in range(size):
            for q in range(size):
                formula = at[p] * (((p == q) - at[q]) * ((p == by) - at[by]) - at[q] * ((q == by) - at[by]))
                assert (up[p][q] - down[p][q]) / (2 * width) == pytest.approx(formula, abs=1e-8)
