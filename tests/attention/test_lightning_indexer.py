"""Sparse attention by an indexer: broken statements are refused, and enough keys are all keys."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Max, Sum

from derivations.attention.latent import k_I, latent_attention
from derivations.attention.lightning_indexer import (
    M,
    S,
    given,
    h_I,
    i,
    index_choice,
    index_order,
    index_scores,
    lightning_indexer,
    n,
    p,
    q,
    w,
)
from derivations.language.arrays.routing import TopKMask
from derivations.language.arrays.shapes import ShapeError
from derivations.language.cross_check import cross_check
from derivations.language.differentiation.reverse import gradient
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from numeric import compile_layer
from numeric.verification.agreement.cases import SIZES, case
from tests.broken import broken_steps, is_refused, with_step

RESULTS_OF_IT = sorted(name for name in RESULTS if name.startswith("multi_head.index_"))
HEADS = (i, 0, h_I - 1)


@pytest.mark.parametrize("name", RESULTS_OF_IT)
def test_every_result_is_proved_and_the_cross_check_agrees(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "multi_head.index_scores" else "proved")
    assert cross_check(RESULTS[name]()).outcome == "agrees"


WRONG = [
    ("no positive part", index_scores, 0, 0, Sum(w[p, i] * S[i, p, q], HEADS)),
    ("the positive part of the sum", index_scores, 0, 0, Max(0, Sum(w[p, i] * S[i, p, q], HEADS))),
    ("weights of the key", index_scores, 0, 0, Sum(w[q, i] * Max(0, S[i, p, q]), HEADS)),
    ("the smallest", index_order, 0, 0, TopKMask(-given, M, k_I)),
    ("one more", index_order, 0, 0, TopKMask(given, M, k_I + 1)),
    ("no key at all", index_choice, 0, 0, 0),
    ("fewer than there are", index_choice, 1, 1, n - 2),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


SPARSE = latent_attention(masked=True, sparse=True)


def drawn() -> dict[str, np.ndarray]:
    return dict(case("sparse_latent_attention", {**SIZES[0], "n": 7}, np.dtype(float)).arguments)


def test_enough_keys_are_all_keys() -> None:
    """With k_I >= n the layer is latent attention, and with fewer it is that under the mask of the chosen ones."""
    arguments = drawn()
    scores = arguments["I"]
    rest = {name: value for name, value in arguments.items() if name not in ("I", "k_I")}
    plain, sparse = compile_layer(latent_attention(masked=True)), compile_layer(SPARSE)
    for enough in (7, 11):
        np.testing.assert_array_equal(sparse(**{**arguments, "k_I": enough}), plain(**rest))
    seen = np.broadcast_to(rest["M"], scores.shape)
    order = np.argsort(np.where(seen, -scores, np.inf), axis=-1, kind="stable")[..., :2]
    chosen = np.zeros(seen.shape, bool)
    np.put_along_axis(chosen, order, True, axis=-1)
    np.testing.assert_array_equal(sparse(**{**arguments, "k_I": 2}), plain(**{**rest, "M": chosen & seen}))


def test_the_indexer_has_no_gradient_of_the_attention() -> None:
    backward = gradient(latent_attention(masked=True, sparse=True, indexer=lightning_indexer()))
    assert not any("indexer" in variable.name for variable in backward.outputs)
    assert "dI" not in {str(equation.target) for equation in backward.equations}


def test_an_indexer_reads_the_latent_of_queries_and_a_mask() -> None:
    with pytest.raises(ShapeError, match="chosen among those that a mask shows"):
        latent_attention(sparse=True)
    with pytest.raises(ShapeError, match="an indexer reads the latent of the queries, and there is none"):
        latent_attention(masked=True, latent_queries=False, sparse=True, indexer=lightning_indexer())
