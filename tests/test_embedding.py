"""The definition of the embedding holds; broken ones do not, and need the tokens to lie in the vocabulary."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, Indexed, Integer, sqrt

from derivations.embedding import definition
from derivations.language.derivation import RESULTS, Derivation
from derivations.language.expression import array, token_array
from derivations.language.proof import judge
from derivations.symbols import d_model, i, k, n, vocab
from tests.broken import broken_steps, is_refused, of_topic, with_step
from tests.numbers import value

E, tokens = array("E", vocab, d_model), token_array("tokens", n)


@pytest.mark.parametrize("name", of_topic("embedding"))
def test_every_result_is_a_definition(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "definition"


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
