"""The counts of FLOPs are proved; wrong ones are not, and products gone through one by one agree with them."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Basic, Rational

from derivations.costs.flops import base, decoder_layer, encoder_layer, quadratic_share, transformer
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import N, d_ff, d_model, m, n, vocab
from tests.broken import broken_steps, is_refused, of_topic, with_step


@pytest.mark.parametrize("name", of_topic("flops"))
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


WRONG = [
    ("multiply-adds for FLOPs", encoder_layer, 0, 2, 2 * n * d_model * (n + 2 * d_model + d_ff)),
    ("scores linear in n", encoder_layer, 0, 2, 4 * n * d_model * (1 + 2 * d_model + d_ff)),
    ("scores without weighted sums", encoder_layer, 0, 2, 2 * n * d_model * (n + 4 * d_model + 2 * d_ff)),
    ("no output projection", encoder_layer, 0, 1, 6 * n * d_model**2 + 4 * n**2 * d_model + 4 * n * d_model * d_ff),
    ("no cross-attention", decoder_layer, 0, 1, 4 * n * d_model * (n + 2 * d_model + d_ff)),
    ("queries from the memory", decoder_layer, 0, 1, decoder_layer().rhs + 4 * d_model**2 * (m - n)),
    ("no scores of tokens", transformer, 0, 1, transformer().rhs - 2 * n * d_model * vocab),
    ("scores of tokens at the source", transformer, 0, 1, transformer().rhs + 2 * (m - n) * d_model * vocab),
    ("half the share", quadratic_share, 0, 0, n / (2 * n + 4 * d_model + 2 * d_ff)),
    ("a third", quadratic_share, 1, 0, Rational(1, 3)),
    ("off by one", base, 0, 1, 887111681),
    ("half of it", base, 1, 1, 27447525376),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("result", [encoder_layer, decoder_layer, transformer, quadratic_share])
def test_the_closed_forms_need_the_shared_width(result: Callable[[], Derivation]) -> None:
    evidence = judge(replace(result(), assumptions=()))
    assert any(is_refused(step) for steps in evidence.claims for step in steps)


def products(layers: int, heads: int, width: int, inner: int, tokens: int, source: int, target: int) -> int:
    """The multiply-adds of all products (rows, inner size, columns) of one pass, listed one by one."""
    each = width // heads

    def attention(queries: int, keys: int) -> list[tuple[int, int, int]]:
        head = [(queries, width, each), (keys, width, each), (keys, width, each)]
        head += [(queries, each, keys), (queries, keys, each)]
        return head * heads + [(queries, heads * each, width)]

    def network(rows: int) -> list[tuple[int, int, int]]:
        return [(rows, width, inner), (rows, inner, width)]

    encoder = attention(source, source) + network(source)
    decoder = attention(target, target) + attention(target, source) + network(target)
    every = (encoder + decoder) * layers + [(target, width, tokens)]
    return sum(rows * middle * columns for rows, middle, columns in every)


@pytest.mark.parametrize("sizes", [(3, 2, 10, 7, 13, 5, 11), (1, 5, 15, 2, 11, 7, 3)])
def test_the_products_listed_by_hand_take_as_many_flops(sizes: tuple[int, ...]) -> None:
    layers, _, width, inner, tokens, source, target = sizes
    put = {N: layers, d_model: width, d_ff: inner, vocab: tokens, m: source, n: target}
    assert transformer().rhs.xreplace(put) == 2 * products(*sizes)


def test_the_base_model_takes_the_flops_of_the_products_listed_by_hand() -> None:
    for claim, positions in zip(base().claims, (10, 512), strict=True):
        assert claim.rhs == 2 * products(6, 8, 512, 2048, 256, positions, positions)
