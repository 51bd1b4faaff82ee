"""The counts of parameters are proved; wrong ones are not, and weights listed by hand agree with them."""

from collections.abc import Callable
from dataclasses import replace
from math import prod

import pytest
from sympy import Basic, Rational

from derivations.costs.parameters import (
    base,
    decoder_layer,
    encoder_layer,
    feed_forward_share,
    final_norms,
    transformer,
)
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import N, d_ff, d_model, vocab
from tests.broken import broken_steps, is_refused, of_topic, with_step


@pytest.mark.parametrize("name", of_topic("parameters"))
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


WRONG = [
    ("three projections", encoder_layer, 0, 1, 3 * d_model**2 + 2 * d_model * d_ff + d_ff + 5 * d_model),
    ("no norms", encoder_layer, 0, 1, 4 * d_model**2 + 2 * d_model * d_ff + d_ff + d_model),
    ("no biases", encoder_layer, 0, 1, 4 * d_model**2 + 2 * d_model * d_ff + 4 * d_model),
    ("one attention", decoder_layer, 0, 1, 4 * d_model**2 + 2 * d_model * d_ff + d_ff + 7 * d_model),
    ("two norms", decoder_layer, 0, 1, 8 * d_model**2 + 2 * d_model * d_ff + d_ff + 5 * d_model),
    ("an embedding for each of source and target", transformer, 0, 1, transformer().rhs + vocab * d_model),
    ("one stack", transformer, 0, 1, N * (4 * d_model**2 + 2 * d_model * d_ff + d_ff + 5 * d_model) + vocab * d_model),
    ("one final norm", final_norms, 0, 0, final_norms().rhs - 2 * d_model),
    ("off by one", base, 0, 1, 44101633 + 512 * vocab),
    ("the table forgotten", base, 0, 1, 44101632),
    ("a vocabulary of 255", base, 1, 1, 44232704 - 512),
    ("half of the weights", feed_forward_share, 0, 0, Rational(1, 2)),
    ("two thirds with biases and norms", feed_forward_share, 1, 0, Rational(2, 3)),
    ("the share of an encoder layer", feed_forward_share, 2, 0, (8 * d_model + 5) / (12 * d_model + 9)),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize(("number", "bound"), [(1, Rational(5, 8)), (2, Rational(15, 32))])
def test_a_smaller_bound_of_the_share_is_refused(number: int, bound: Rational) -> None:
    right = feed_forward_share().claims[number].steps
    assert is_refused(with_step(feed_forward_share(), number, 1, bound, certificate=(bound - right[0].expression,)))


@pytest.mark.parametrize("result", [encoder_layer, decoder_layer, transformer, feed_forward_share])
def test_the_closed_forms_need_the_shared_width(result: Callable[[], Derivation]) -> None:
    evidence = judge(replace(result(), assumptions=()))
    assert any(is_refused(step) for steps in evidence.claims for step in steps)


def test_a_relation_turned_round_is_refused() -> None:
    assert is_refused(with_step(feed_forward_share(), 1, 1, relation=">"))


def weights(layers: int, heads: int, width: int, inner: int, tokens: int) -> list[tuple[int, ...]]:
    """The shapes of all weights of the Transformer, listed as they are stored."""
    each = width // heads
    attention = [(heads, width, each)] * 3 + [(heads * each, width)]
    network, norm = [(width, inner), (inner,), (inner, width), (width,)], [(width,), (width,)]
    encoder, decoder = attention + network + norm * 2, attention * 2 + network + norm * 3
    return [(tokens, width)] + (encoder + decoder) * layers


@pytest.mark.parametrize(("layers", "heads", "width", "inner", "tokens"), [(3, 2, 10, 7, 13), (1, 5, 15, 2, 11)])
def test_the_transformer_has_the_weights_listed_by_hand(
    layers: int, heads: int, width: int, inner: int, tokens: int
) -> None:
    by_hand = sum(map(prod, weights(layers, heads, width, inner, tokens)))
    assert transformer().rhs.xreplace({N: layers, d_model: width, d_ff: inner, vocab: tokens}) == by_hand


def test_the_base_model_has_the_weights_listed_by_hand() -> None:
    assert sum(map(prod, weights(6, 8, 512, 2048, 256))) == 44232704 == base().claims[1].rhs
    assert sum(map(prod, weights(6, 8, 512, 2048, 1009))) == base().claims[0].rhs.xreplace({vocab: 1009})
