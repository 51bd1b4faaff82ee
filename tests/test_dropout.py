"""The definition of dropout is decided; broken ones are not."""

from collections.abc import Callable
from dataclasses import replace

from sympy import Basic

from derivations.dropout import D, X, definition, i, k, rate
from derivations.language.derivation import Derivation
from derivations.language.functions import Hadamard
from derivations.language.proof import judge
from tests.broken import broken_steps, is_refused, with_step


def test_the_definition_is_a_definition() -> None:
    """The entries are those of the layer."""
    assert judge(definition()).level == "definition"


@broken_steps(
    [
        ("without the division", definition, 0, 0, Hadamard(X, D)),
        ("divided by the rate", definition, 0, 0, Hadamard(X, D) / rate),
        ("without the mask", definition, 1, 0, X[i, k] / (1 - rate)),
        ("what is dropped is kept", definition, 1, 0, (1 - D[i, k]) * X[i, k] / (1 - rate)),
        ("divided twice", definition, 1, 0, D[i, k] * X[i, k] / (1 - rate) ** 2),
        ("the transposed mask", definition, 1, 0, D[k, i] * X[i, k] / (1 - rate)),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_without_the_assumption_the_division_is_not_allowed() -> None:
    """With rate < 1 left out, 1 - rate may be 0."""
    evidence = judge(replace(definition(), assumptions=()))
    assert evidence.level == "unknown"
    assert "nonzero" in evidence.failures[0]
