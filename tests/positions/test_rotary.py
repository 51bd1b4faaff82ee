"""The results about rotary position embedding are proved; broken ones are not; the layers are the loops."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, Integer, KroneckerDelta, cos, log, sin

from derivations.language.arrays.arrangements import column_block
from derivations.language.arrays.functions import Interleave
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from derivations.positions.positional_encoding import frequency, positional_encoding
from derivations.positions.rotary import (
    IDENTITY,
    Q_2,
    K,
    K_h,
    Q,
    Q_h,
    X,
    dot,
    neighbours,
    p,
    pairs,
    q,
    rotary_definition,
    rotary_embedding,
    rotary_group,
    rotary_interpolation,
    rotary_jacobian,
    rotary_linear,
    rotary_of_constant_rows,
    rotary_orthogonal,
    rotary_pairings,
    rotary_relative,
    s,
    turn,
    w,
    x_r,
    y_r,
)
from derivations.symbols import d_k, i, k, n, pos
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

CASES = (
    rotary_definition,
    rotary_relative,
    rotary_orthogonal,
    rotary_group,
    rotary_pairings,
    rotary_jacobian,
    rotary_linear,
    rotary_of_constant_rows,
    rotary_interpolation,
)


@pytest.mark.parametrize("result", CASES)
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    """Each result of the module holds for all sizes."""
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == ("definition" if result is rotary_definition else "proved")


relative = rotary_relative().claims[0].rhs
opposite = X[pos, 2 * i] * cos(pos * w) + X[pos, 2 * i + 1] * sin(pos * w)
swapped = Interleave(column_block(Q_2, 1), column_block(Q_2, 0))
encoding = positional_encoding(n, d_k).result()


@broken_steps(
    [
        (
            "a turn the other way",
            rotary_definition,
            0,
            0,
            X[pos, 2 * i] * cos(pos * w) + X[pos, 2 * i + 1] * sin(pos * w),
        ),
        ("halves paired as neighbours", rotary_definition, 2, 0, rotary_definition().claims[0].rhs),
        ("the angle of the next pair", rotary_definition, 0, 0, rotary_definition().claims[0].rhs.xreplace({i: i + 1})),
        ("the sum of the positions", rotary_relative, 0, 0, relative.xreplace({q: -q})),
        ("no difference at all", rotary_relative, 0, 0, dot(Q, pos, K, q)),
        ("only the key moved on", rotary_relative, 1, 0, dot(x_r, pos + s, y_r, q)),
        ("a reflection", rotary_orthogonal, 0, 0, -IDENTITY),
        ("dot products of other rows", rotary_orthogonal, 1, 0, dot(Q, pos, K, 0 * pos)),
        ("twice the length", rotary_orthogonal, 2, 0, 2 * dot(Q, pos, Q, pos)),
        ("turns that cancel", rotary_group, 0, 0, turn(k - pos)),
        ("the transpose is no way back", rotary_group, 1, 0, turn(pos)),
        ("the difference the other way", rotary_group, 2, 0, turn(pos - k)),
        ("no permutation before", rotary_pairings, 0, 0, neighbours(Q)),
        ("the halves in the other order", rotary_pairings, 0, 0, swapped),
        ("scores without the permutation", rotary_pairings, 1, 0, dot(neighbours(Q), pos, neighbours(K), q)),
        ("one sign for both sines", rotary_jacobian, 1, 0, -rotary_jacobian().claims[1].rhs),
        ("rows that interact", rotary_jacobian, 0, 0, cos(pos * w)),
        ("pairs that interact", rotary_jacobian, 0, 0, KroneckerDelta(pos, p) * cos(pos * w)),
        ("a factor lost", rotary_linear, 0, 0, neighbours(Q) + neighbours(K)),
        ("sines first", rotary_of_constant_rows, 0, 0, encoding[pos, 2 * i]),
        ("the frequency divided by s for all pairs", rotary_interpolation, 0, 1, log(Integer(2))),
        ("the last frequency kept", rotary_interpolation, 1, 0, rotary_interpolation().claims[1].rhs / 2),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_an_odd_width_is_refused() -> None:
    """Without an even d_k there are no pairs."""
    assert judge(replace(rotary_orthogonal(), assumptions=())).level != "proved"


def rotated(rows: np.ndarray, pairing: str) -> np.ndarray:
    """Every pair turned by its angle, by loops over positions and pairs."""
    *_, positions, width = rows.shape
    result = np.zeros_like(rows)
    for position, pair in np.ndindex(positions, width // 2):
        angle = position * 10000 ** (-2 * pair / width)
        one, other = (2 * pair, 2 * pair + 1) if pairing == "neighbours" else (pair, width // 2 + pair)
        first, second = rows[..., position, one], rows[..., position, other]
        result[..., position, one] = first * np.cos(angle) - second * np.sin(angle)
        result[..., position, other] = first * np.sin(angle) + second * np.cos(angle)
    return result


@pytest.mark.parametrize("pairing", ["neighbours", "halves"])
@pytest.mark.parametrize(("positions", "width"), [(5, 6), (7, 2), (1, 10)])
def test_the_compiled_layer_is_the_loop(pairing: str, positions: int, width: int) -> None:
    """Both pairings at several sizes, with batch axes in front."""
    rows = np.random.default_rng(2).normal(size=(2, 3, positions, width))
    layer = compile_layer(rotary_embedding(halves=pairing == "halves"))
    np.testing.assert_allclose(layer(rows), rotated(rows, pairing), atol=1e-13)
    assert layer(rows.astype(np.float32)).dtype == np.float32


def test_scores_depend_on_the_difference_and_lengths_stay() -> None:
    """One query and one key at all positions: the table of scores is constant along its diagonals."""
    random = np.random.default_rng(4)
    query, key = (rotated(np.tile(random.normal(size=10), (7, 1)), "neighbours") for _ in range(2))
    scores = query @ key.T
    np.testing.assert_allclose(scores[1:, 1:], scores[:-1, :-1], atol=1e-13)
    assert np.ptp(scores[0]) > 0.1
    np.testing.assert_allclose(np.linalg.norm(query, axis=1), np.linalg.norm(query[0]), rtol=1e-13)


def test_the_two_pairings_are_one_up_to_a_permutation() -> None:
    """Column b d/2 + i of the halves is column 2 i + b of the pairs."""
    rows = np.random.default_rng(5).normal(size=(5, 6))
    order = [half * 3 + pair for pair in range(3) for half in range(2)]
    np.testing.assert_allclose(rotated(rows, "halves")[:, order], rotated(rows[:, order], "neighbours"), atol=1e-14)
    assert np.abs(rotated(rows, "halves") - rotated(rows, "neighbours")).max() > 0.1


def test_interpolation_of_the_base() -> None:
    """The first frequency is kept and the last divided by the factor."""
    width, factor = 14, 3.0
    base = 10000 * factor ** (width / (width - 2))
    before, after = (number ** (-2 * np.arange(width // 2) / width) for number in (10000.0, base))
    np.testing.assert_allclose((before / after)[[0, -1]], [1, factor], rtol=1e-13)
    np.testing.assert_allclose(before / after, factor ** (2 * np.arange(width // 2) / (width - 2)), rtol=1e-13)
    assert pairs(frequency(i, d_k)).has(d_k)
    assert Q_h.shape == K_h.shape
