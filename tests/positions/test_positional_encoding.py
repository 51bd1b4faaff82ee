"""The results about positional encoding are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Integer, cos, pi, sin

from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.positions.positional_encoding import (
    definition,
    distance,
    dot_product,
    dot_product_bound,
    first_pair,
    first_position,
    frequency,
    norm,
    p,
    pairs,
    positional_encoding,
    q,
    relative_shift,
    rotated,
    shift_is_linear,
    turn,
    wave,
    wavelengths,
)
from derivations.symbols import d_model, i, k, l, pos
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, of_topic, with_step

w = frequency(i)


@pytest.mark.parametrize("name", of_topic("positional_encoding"))
def test_every_result_is_proved(name: str) -> None:
    """Each result of the topic holds for all sizes."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name.endswith("definition") else "proved")


@broken_steps(
    [
        ("cosines first", definition, 0, 0, cos(pos * w)),
        ("the index 2i + 1 in the exponent", definition, 1, 0, cos(pos / Integer(10000) ** ((2 * i + 1) / d_model))),
        ("i instead of 2i in the exponent", definition, 0, 0, sin(pos / Integer(10000) ** (i / d_model))),
        ("1000 instead of 10000", definition, 0, 0, sin(pos / Integer(1000) ** (2 * i / d_model))),
        ("the angle of the difference", relative_shift, 0, 1, cos(k * w) * sin(pos * w) - sin(k * w) * cos(pos * w)),
        ("a rotation the other way", relative_shift, 1, 2, rotated(-k)[1]),
        ("a rotation by pos", relative_shift, 0, 2, rotated(pos)[0]),
        ("no rotation: a difference of squares", relative_shift, 2, 0, cos(2 * k * w)),
        ("the sum of the positions", dot_product, 0, 1, pairs(cos((p + q) * w))),
        ("sines of the offset", dot_product, 0, 1, pairs(sin((p - q) * w))),
        ("twice the dot product", dot_product, 0, 1, 2 * pairs(cos((p - q) * w))),
        ("the length d instead of d/2", norm, 0, 1, d_model),
        ("one pair too many", norm, 0, 1, d_model / 2 + 1),
        ("a distance without the factor 2", distance, 0, 0, pairs(2 - cos((p - q) * w))),
        ("the whole angle instead of the half", distance, 0, 1, pairs(4 * sin((p - q) * w) ** 2)),
        ("half of the bound", dot_product_bound, 0, 1, d_model / 4),
        ("the way back", shift_is_linear, 0, 0, turn(-k) @ shift_is_linear().claims[2].rhs),
        ("no way back", shift_is_linear, 2, 0, shift_is_linear().claims[0].rhs),
        ("the difference of two shifts", shift_is_linear, 3, 0, turn(k - l)),
        ("the other of the pair", wavelengths, 0, 0, wavelengths().claims[1].rhs),
        ("an arithmetic progression", wavelengths, 2, 0, wave[0] + 2 * pi * i),
        ("the last wavelength 20000 pi", wavelengths, 4, 0, 20000 * pi),
        ("the last exponent 1 - 1/d", wavelengths, 4, 0, 2 * pi * Integer(10000) ** (1 - 1 / d_model)),
        ("ones first", first_position, 0, 0, 1),
        ("zeros second", first_position, 1, 0, 0),
        ("cosines first", first_pair, 0, 0, cos(pos)),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def encoded(positions: int, width: int) -> np.ndarray:
    """The encoding by loops over its definition."""
    table = np.zeros((positions, width))
    for place, column in np.ndindex(positions, width):
        angle = place / 10000 ** (2 * (column // 2) / width)
        table[place, column] = np.cos(angle) if column % 2 else np.sin(angle)
    return table


def test_the_layer_is_the_table_of_its_definition() -> None:
    """Entries of the layer at prime sizes, even and odd columns in turn."""
    table, symbolic = encoded(5, 6), positional_encoding().at(n=5, d_model=6).result()
    for place, column in np.ndindex(5, 6):
        assert float(symbolic.entry(place, (column // 2, column % 2))) == pytest.approx(table[place, column], abs=1e-15)


@pytest.mark.parametrize("to_base", [False, True])
def test_sines_before_cosines_from_a_position_on(to_base: bool) -> None:
    """The exponents go from 0 to 1 - 2/d, or to 1; row 0 is that of the first position."""
    layer = positional_encoding(halves=True, to_base=to_base, first=3)
    angles = np.outer(np.arange(3, 8), 10000.0 ** (-np.arange(3) / (2 if to_base else 3)))
    table = compile_layer(layer)(5, 6)
    np.testing.assert_allclose(table, np.hstack([np.sin(angles), np.cos(angles)]), rtol=0, atol=1e-12)
    assert np.abs(compile_layer(positional_encoding(first=3))(5, 6) - table).max() > 0.1


def test_shift_dot_product_norm_and_distance_of_the_table() -> None:
    """The four statements about rows, on the table written by loops."""
    width, first, second = 14, 3, 11
    table = encoded(13, width)
    frequencies = 10000.0 ** (-2 * np.arange(width // 2) / width)
    angle = (second - first) * frequencies
    sines, cosines = table[:, 0::2], table[:, 1::2]
    turned = np.cos(angle) * sines[first] + np.sin(angle) * cosines[first]
    np.testing.assert_allclose(sines[second], turned, atol=1e-14)
    turned = -np.sin(angle) * sines[first] + np.cos(angle) * cosines[first]
    np.testing.assert_allclose(cosines[second], turned, atol=1e-14)
    np.testing.assert_allclose(table[first] @ table[second], np.cos(angle).sum(), atol=1e-13)
    np.testing.assert_allclose((table**2).sum(axis=1), width / 2, atol=1e-13)
    squared = ((table[first] - table[second]) ** 2).sum()
    np.testing.assert_allclose(squared, (4 * np.sin(angle / 2) ** 2).sum(), atol=1e-13)


def test_wavelengths_of_the_table() -> None:
    """After its wavelength every pair has come round; the first and the last are 2 pi and 2 pi 10000^(1 - 2/d)."""
    width, place = 14, 3.5
    frequencies = 10000.0 ** (-2 * np.arange(width // 2) / width)
    progression = wavelengths().claims[2].rhs.subs(d_model, width)
    waves = np.array([float(progression.subs(i, pair)) for pair in range(width // 2)])
    np.testing.assert_allclose(np.sin((place + waves) * frequencies), np.sin(place * frequencies), atol=1e-14)
    np.testing.assert_allclose(waves[[0, -1]], [2 * np.pi, 2 * np.pi * 10000 ** (1 - 2 / width)], rtol=1e-14)
    np.testing.assert_allclose(waves[1:] / waves[:-1], 10000 ** (2 / width), rtol=1e-14)
