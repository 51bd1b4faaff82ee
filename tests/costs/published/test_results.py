"""The results on published formulas: proved, refused when broken, and right in numbers counted by hand."""

from dataclasses import replace
from typing import Any

import pytest

from derivations.costs.published.formulas import published
from derivations.costs.published.results import (
    decoder,
    gpt,
    published_chinchilla,
    published_kaplan,
    published_narayanan,
)
from derivations.language.counting.costs import Count
from derivations.language.cross_check import cross_check
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from derivations.symbols import N, d_ff, d_k, d_model, d_v, h, n, size, vocab
from tests.broken import broken_steps, is_refused, with_step

RESULTS = (published_narayanan, published_chinchilla, published_kaplan)
SIZES = {N: 3, h: 2, d_k: 5, d_v: 5, d_model: 7, d_ff: 11, vocab: 13, size("positions"): 17, n: 19}


@pytest.mark.parametrize("build", RESULTS)
def test_the_results_are_proved(build: Any) -> None:
    evidence = judge(build())
    assert (evidence.level, evidence.failures) == ("proved", ())


@pytest.mark.parametrize("build", RESULTS)
def test_the_cross_check_agrees(build: Any) -> None:
    assert cross_check(build()).outcome == "agrees"


@broken_steps(
    [
        ("parameters without the final norm", published_narayanan, 0, 1, published("narayanan.parameters").bound(gpt)),
        ("look-ups as products", published_chinchilla, 0, 1, published("chinchilla.forward").bound(gpt)),
        ("the context term once", published_kaplan, 0, 1, n * published("kaplan.forward").bound(gpt) + gpt.logits),
        ("training for forward", published_kaplan, 0, 0, gpt.training),
    ]
)
def test_a_broken_step_is_refused(result: Any, claim: int, step: int, wrong: Any) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def test_without_the_relations_the_formula_is_refused() -> None:
    """d_ff = 4 d_model and d_k = d_model / h are what makes it 12 l h^2."""
    right = published_narayanan()
    loose: Derivation = replace(right, assumptions=right.assumptions[:-1])
    assert judge(loose).level != "proved"


def test_counts_by_hand() -> None:
    layers, heads, each, _, width, hidden, tokens, rows, length = SIZES.values()
    products, entries, learned = 2 * length * width * tokens, 0, (tokens + rows + 2) * width
    for _ in range(layers):
        products += 2 * length * width * hidden * 2
        learned += 2 * width * hidden + hidden + width + 4 * width + width
        for _ in range(heads):
            products += 2 * length * width * each * 4 + 2 * length * length * each * 2
            entries += length * length
            learned += 4 * width * each + 3 * each
    for what, expected in (("parameters", learned), ("matmul FLOPs", products), ("softmax FLOPs", 5 * entries)):
        assert Count(what, decoder).value().xreplace(SIZES) == expected
