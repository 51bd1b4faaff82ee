"""A row for each layer: broken statements are refused, and the tables of all layers are one table."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Sum

from derivations.language.arrays.functions import Hadamard, Lookup
from derivations.language.cross_check import cross_check
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import N, d_model, i, j, k, vocab
from derivations.transformer.per_layer_embedding import (
    W_U,
    G,
    L,
    T,
    d_E,
    l,
    per_layer_embedding,
    per_layer_gate,
    per_layer_parameters,
    per_layer_rows,
    tokens,
)
from numeric import compile_layer
from numeric.verification.agreement.cases import SIZES, case
from tests.broken import broken_steps, is_refused, with_step

RESULTS_OF_IT = sorted(name for name in RESULTS if name.startswith("embedding.per_layer_"))
WRONG = [
    ("the rows of the next layer", per_layer_rows, 0, 0, Lookup(T[N - 1 - k], tokens)[i, j]),
    ("no gate", per_layer_gate, 0, 0, (L @ W_U)[i, k]),
    ("a gate of the wrong column", per_layer_gate, 0, 0, Sum(G[i, d_E - 1 - l] * L[i, l] * W_U[l, k], (l, 0, d_E - 1))),
    ("the gate behind the map", per_layer_gate, 0, 0, Hadamard(G @ W_U, L @ W_U)[i, k]),
    ("two maps", per_layer_parameters, 0, 0, d_E * (vocab + 2 * d_model)),
]


@pytest.mark.parametrize("name", RESULTS_OF_IT)
def test_every_result_is_proved_and_the_cross_check_agrees(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert evidence.level == "proved"
    assert cross_check(RESULTS[name]()).outcome in ("agrees", "not applicable")


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def test_a_token_behind_a_closed_gate_changes_nothing() -> None:
    """GELU(0) = 0: with W_G = 0 nothing is added, whatever the tokens are; the rows of the layer open the gate."""
    compiled = compile_layer(per_layer_embedding())
    arguments = dict(case("per_layer_embedding", SIZES[0], np.dtype(float)).arguments)
    assert np.abs(compiled(**arguments)).max() > 0.1
    assert not compiled(**arguments | {"W_G": 0 * arguments["W_G"]}).any()
    assert not compiled(**arguments | {"Z": 0 * arguments["Z"]}).any()
