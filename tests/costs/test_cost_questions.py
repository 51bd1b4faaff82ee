"""Where attention overtakes, where most weights are, what heads change: proved; wrong versions are refused."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Basic, Integer, Rational

from derivations.costs.cost_questions import (
    MATMUL,
    attention_overtakes,
    c,
    decoder_only,
    heads_of_other_width,
    most_in_networks,
    p,
)
from derivations.language.counting.costs import Count
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from derivations.symbols import N, d_ff, d_model, h, n, vocab
from tests.broken import broken_steps, is_refused, with_step


@pytest.mark.parametrize("result", [attention_overtakes, heads_of_other_width, most_in_networks])
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == "proved"


def saved(factor: Basic) -> Basic:
    """The entries that many heads keep, with another factor of the scores."""
    return heads_of_other_width().claims[3].steps[0].expression + (factor - c + 1) * N * h * n**2


WRONG = [
    ("scores without weighted sums", attention_overtakes, 0, 0, n / (2 * d_ff)),
    ("attention overtakes earlier", attention_overtakes, 1, 0, 2),
    ("attention costs less at once", attention_overtakes, 2, 0, Rational(1, 2)),
    ("no output projection", attention_overtakes, 3, 0, (2 * n + 3 * d_model) / (2 * d_ff)),
    ("all of attention costs twice as much", attention_overtakes, 4, 0, 2),
    ("fewer heads, fewer parameters", heads_of_other_width, 0, 0, Count("parameters", decoder_only()) / c),
    ("fewer heads, fewer products", heads_of_other_width, 1, 0, Count(MATMUL, decoder_only())),
    ("as much softmax", heads_of_other_width, 2, 0, heads_of_other_width().claims[2].steps[0].expression / c),
    ("as many kept numbers", heads_of_other_width, 3, 0, saved(Integer(0))),
    ("two tables of tokens", most_in_networks, 0, 0, 8 * N * d_model / (12 * N * d_model + 2 * vocab)),
    ("two thirds of a small model", most_in_networks, 1, 0, Rational(1, 2)),
    ("two thirds of a large model", most_in_networks, 2, 0, Rational(2, 3)),
    ("one table of tokens too few", most_in_networks, 3, 0, 8 * N * d_model / (12 * N * d_model + p)),
    ("a third of a small model", most_in_networks, 3, 1, Rational(1, 3)),
    ("a third at the turning point", most_in_networks, 4, 0, Rational(1, 3)),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("result", [attention_overtakes, most_in_networks])
def test_the_shares_need_the_widths(result: Callable[[], Derivation]) -> None:
    evidence = judge(replace(result(), assumptions=()))
    assert any(is_refused(step) for steps in evidence.claims for step in steps)


@pytest.mark.parametrize(
    ("result", "claim"), [(attention_overtakes, 1), (attention_overtakes, 4), (most_in_networks, 2)]
)
def test_a_bound_needs_its_length_or_vocabulary(result: Callable[[], Derivation], claim: int) -> None:
    found = result()
    claims = tuple(replace(one, given=()) if k == claim else one for k, one in enumerate(found.claims))
    assert is_refused(judge(replace(found, claims=claims)).claims[claim][0])


def test_the_share_is_that_of_weights_listed_by_hand() -> None:
    layers, width, tokens = 3, 10, 7
    network, attention, table = layers * 2 * width * 4 * width, layers * 4 * width**2, tokens * width
    share = (
        most_in_networks().claims[0].rhs.xreplace({N: Integer(layers), d_model: Integer(width), vocab: Integer(tokens)})
    )
    assert share == Rational(network, network + attention + table)
