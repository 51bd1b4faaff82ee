"""The definition of the embedding holds; broken ones do not, and need the tokens to lie in the vocabulary."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, Indexed, Integer, KroneckerDelta, sqrt

from derivations.language.arrays.expression import array, token_array
from derivations.language.arrays.scalars import Variance
from derivations.language.arrays.selection import OneHot
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import d_model, i, j, k, n, vocab
from derivations.transformer.embedding import (
    H,
    definition,
    embedding,
    factorised,
    factorised_embedding,
    one_hot_product,
    one_hot_rows,
    permutation_equivariance,
    r,
    scale,
    tied_logits,
    weight_tying,
)
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, of_topic, with_step
from tests.numbers import value

E, tokens = array("E", vocab, d_model), token_array("tokens", n)
layer = factorised_embedding()


@pytest.mark.parametrize("name", of_topic("embedding"))
def test_every_result_is_proved(name: str) -> None:
    """Each result of the topic holds for all sizes and tokens."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "embedding.definition" else "proved")


def row(place: Basic, column: Basic) -> Indexed:
    """An entry of the table."""
    return Indexed(E.base, place, column)


WRONG = [
    ("the scale dropped", definition, 0, 0, row(tokens[i], k)),
    ("the scale squared", definition, 0, 0, d_model * row(tokens[i], k)),
    ("the scale inverted", definition, 0, 0, row(tokens[i], k) / sqrt(d_model)),
    ("the position in place of the token", definition, 0, 0, sqrt(d_model) * row(i, k)),
    ("the token of another position", definition, 0, 0, sqrt(d_model) * row(tokens[0], k)),
    ("another column", definition, 0, 0, sqrt(d_model) * row(tokens[i], 0)),
    ("a row of the table for a position", one_hot_product, 0, 1, row(i, k)),
    ("the scale dropped from the product", one_hot_product, 1, 0, (OneHot(tokens, vocab) @ E)[i, k]),
    ("all rows orthogonal", one_hot_rows, 0, 0, KroneckerDelta(i, j)),
    ("all rows equal", one_hot_rows, 0, 0, 1),
    ("the row where it was", permutation_equivariance, 0, 1, (OneHot(tokens, vocab) @ E)[i]),
    ("a scale of the standard deviation", scale, 0, 0, sqrt(d_model) * Variance(E[j, k])),
    ("entries of variance d_model", scale, 0, 1, d_model),
    ("rows of length sqrt(d_model)", scale, 1, 1, d_model),
    ("logits of variance d_model", tied_logits, 0, 2, d_model),
    ("logits scaled twice", tied_logits, 0, 2, 1 / d_model),
    ("logits of the transposed table", weight_tying, 0, 0, 2 * (H @ E.T)),
    ("one row of the table", weight_tying, 1, 0, d_model),
    ("an output without biases", weight_tying, 2, 0, vocab * d_model),
    ("the row of a position", factorised, 0, 0, (layer.parameters[0] @ layer.parameters[1])[i, k]),
    ("the rank of the full table", factorised, 1, 0, r - 1),
    ("the product of the widths", factorised, 2, 1, r * vocab * d_model),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("kept", [slice(0, 1), slice(1, 2), slice(0, 0)])
def test_tokens_must_lie_in_the_vocabulary(kept: slice) -> None:
    """With one of the two bounds on the tokens dropped, or both, the entry of the table is not known to exist."""
    right = definition()
    assert is_refused(judge(replace(right, assumptions=right.assumptions[kept])).claims[0][0])


def test_the_entry_is_that_of_a_table_in_numpy() -> None:
    table = np.random.default_rng(0).integers(-5, 5, (7, 4))
    numbers = np.array([3, 0, 6, 3, 5])
    for place in range(5):
        for column in range(4):
            entry = definition().rhs.subs({i: place, k: column})
            entry = entry.xreplace({tokens[place]: Integer(int(numbers[place]))})
            found = value(entry, {d_model: Integer(4)}, {"E": table})
            assert found == 2 * table[numbers[place], column]


def test_the_compiled_layers_are_the_loops() -> None:
    """Rows looked up one by one, at prime sizes: the embedding, and the one through a narrow table."""
    rng = np.random.default_rng(3)
    table, narrow, wide = rng.normal(size=(7, 5)), rng.normal(size=(7, 2)), rng.normal(size=(2, 5))
    numbers = np.array([3, 0, 6])
    full, thin = np.zeros((3, 5)), np.zeros((3, 5))
    for place, column in np.ndindex(3, 5):
        full[place, column] = np.sqrt(5) * table[numbers[place], column]
        thin[place, column] = sum(narrow[numbers[place], c] * wide[c, column] for c in range(2))
    np.testing.assert_allclose(compile_layer(embedding())(numbers, table), full, rtol=1e-12)
    np.testing.assert_allclose(compile_layer(layer)(numbers, narrow, wide), thin, rtol=1e-12)


def test_one_hot_rows_pick_rows_of_a_table_in_numpy() -> None:
    table, numbers = np.random.default_rng(1).normal(size=(7, 5)), np.array([3, 0, 6, 3])
    rows = np.eye(7)[numbers]
    np.testing.assert_array_equal(rows @ table, table[numbers])
    np.testing.assert_array_equal(rows @ rows.T, numbers[:, None] == numbers)


def test_a_table_of_unit_rows_gives_logits_of_variance_1() -> None:
    """Exact: the mean over all tables of signs / sqrt(2) of the squared logit of a fixed row with entries 1 and -1."""
    squares = [(a - b) ** 2 // 2 for a in (1, -1) for b in (1, -1)]
    assert sum(squares) // len(squares) == tied_logits().rhs == 1
