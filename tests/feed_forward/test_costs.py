"""What the feed-forward network costs is proved; broken counts are not, and arrays and loops agree with them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, Integer, Rational

from derivations.feed_forward.costs import (
    expansion_ratio,
    expansion_ratio_4,
    flops,
    parameters,
    parameters_512,
    ratio,
    shapes,
    shapes_512,
    shapes_12288,
)
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.expression import array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import batch, d_ff, d_model, n
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.feed_forward.costs")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    """Each result of the module holds for all sizes that it leaves open."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if ".shapes_" in name else "proved")


@broken_steps(
    [
        ("one bias left out", parameters, 0, 0, 2 * d_model * d_ff + d_ff),
        ("no biases among the 2,099,712", parameters_512, 0, 0, 2 * 512 * 2048),
        ("the document's 2 as FLOPs", flops, 0, 0, 2 * batch * n * d_model * d_ff),
        ("FLOPs as multiply-adds", flops, 1, 1, 4 * batch * n * d_model * d_ff),
        ("one product for the price of two", flops, 2, 0, 4 * batch * n * d_model * d_ff),
        ("products alone as all FLOPs", flops, 3, 0, 4 * batch * n * d_model * d_ff),
        ("half the expansion", expansion_ratio, 1, 0, 2 * ratio * d_model**2),
        ("a share of r/(r + 1)", expansion_ratio, 3, 1, ratio / (ratio + 1)),
        ("a share of three quarters", expansion_ratio_4, 1, 0, Rational(3, 4)),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("axis", [1, 2])
def test_a_wrong_shape_is_refused(axis: int) -> None:
    """H is claimed one position or one hidden unit short, at prime sizes."""
    right = shapes(2, 3, 5, 7)
    first = right.claims[0]
    sizes = [2, 3, 7]
    sizes[axis] -= 1
    short = replace(first, lhs=array("H", *sizes)[first.lhs.args[1]])
    assert judge(right).level == "definition"
    assert is_refused(judge(replace(right, claims=(short, *right.claims[1:]))).claims[0][0])


def test_an_example_beyond_the_batch_is_refused() -> None:
    """With three examples named, two are not enough."""
    right = shapes(2, 3, 5, 7)
    (example,) = right.ranges
    assert judge(replace(right, ranges={example: Integer(3)})).level == "unknown"


def test_the_shapes_are_those_of_the_documents() -> None:
    """[1, 10, 512] -> [1, 10, 2048] -> [1, 10, 512], and 1300 vectors of width 12288 -> 4 * 12288 -> 12288."""
    for result, before, within in (
        (shapes_512, (1, 10, 512), (1, 10, 2048)),
        (shapes_12288, (1, 1300, 12288), (1, 1300, 49152)),
    ):
        stated = [tuple(map(int, e.variable.shape)) for e in result().definitions]
        assert stated == [within, within, before]


def test_counts_are_those_of_arrays_and_loops() -> None:
    """Parameters by allocation, multiply-adds by running the loops, at prime sizes."""
    layer = feed_forward().at(n=3, d_model=5, d_ff=7)
    allocated = sum(np.zeros([int(s) for s in v.shape]).size for v in layer.parameters)
    sizes = {n: 3, d_model: 5, d_ff: 7, batch: 2}
    assert parameters().rhs.xreplace(sizes) == allocated
    executed = sum(1 for _ in np.ndindex(2, 3, 5, 7)) + sum(1 for _ in np.ndindex(2, 3, 7, 5))
    assert flops().claims[1].rhs.xreplace(sizes) == executed
    assert flops().claims[0].rhs.xreplace(sizes) == 2 * executed
