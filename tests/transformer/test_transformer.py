"""The results about the whole Transformer are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, Eq, Indexed, Integer, Lambda, Le, Lt, Sum, cos, exp, sin, sqrt

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array, token_array
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equations, part
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import d_model, i, j, k, m, n, pos, vocab
from derivations.transformer.embedding import embedding
from derivations.transformer.transformer import (
    E,
    P,
    Z,
    causal,
    definition,
    input_rows,
    logits,
    output_probabilities,
    output_probabilities_sum_to_one,
    shapes,
    tied_output,
    transformer,
    v,
    w,
)
from tests.broken import broken_steps, is_refused, of_topic, with_step
from tests.numbers import value

DEFINITIONS = {"transformer.definition", "transformer.input_rows", "transformer.output_probabilities"}


@pytest.mark.parametrize("name", of_topic("transformer"))
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name in DEFINITIONS else "proved")


source = token_array("source", m)
total = Sum(exp(logits[i, w]), (w, 0, vocab - 1))
Z_new, square = array("Z_new", n, d_model), array("E", d_model, d_model)


angle = pos / Integer(10000) ** (2 * i / d_model)
embedded = [sqrt(d_model) * Indexed(E.base, source[pos], 2 * i + column) for column in (0, 1)]
WRONG = [
    (
        "a sum over the positions",
        definition,
        0,
        0,
        Tabulated(Lambda((i, v), Sum(Z[j, 0] * E[v, 0], (j, 0, n - 1))), n, vocab),
    ),
    ("another sign", definition, 1, 1, row_softmax(-(Z @ E.T))),
    ("softmax of the transpose", definition, 1, 1, row_softmax(E @ Z.T)),
    ("scores scaled as in attention", definition, 1, 1, row_softmax(Z @ E.T / sqrt(d_model))),
    ("a cosine for the sine", input_rows, 0, 0, embedded[0] + cos(angle)),
    ("the embedding not scaled", input_rows, 0, 0, embedded[0] / sqrt(d_model) + sin(angle)),
    ("another exponent", input_rows, 0, 0, embedded[0] + sin(pos / Integer(10000) ** (i / d_model))),
    ("the exponent 2i + 1", input_rows, 1, 0, embedded[1] + cos(pos / Integer(10000) ** ((2 * i + 1) / d_model))),
    ("the next position", input_rows, 0, 0, embedded[0] + sin(angle.xreplace({pos: pos + 1}))),
    ("the column before", input_rows, 1, 0, embedded[0] + cos(angle)),
    ("a column too few", tied_output, 0, 0, Sum(Z[i, k] * E[v, k], (k, 0, d_model - 2))),
    ("another token", tied_output, 0, 0, Sum(Z[i, k] * E[0, k], (k, 0, d_model - 1))),
    ("a factor sqrt(d_model)", tied_output, 0, 0, sqrt(d_model) * Sum(Z[i, k] * E[v, k], (k, 0, d_model - 1))),
    ("a missing denominator", output_probabilities, 0, 0, exp(logits[i, v])),
    (
        "normalised over the positions",
        output_probabilities,
        0,
        0,
        exp(logits[i, v]) / Sum(exp(logits[j, v]), (j, 0, n - 1)),
    ),
    ("a sum of n", output_probabilities_sum_to_one, 0, 2, n),
    ("another row of probabilities", causal, 0, 0, row_softmax(Z_new @ E.T)[0]),
    ("conformable for the wrong sizes", shapes, 0, 0, Eq(n, vocab)),
    ("scores of the wrong shape", shapes, 1, 0, E @ Z.T),
    (
        "probabilities of the wrong shape",
        shapes,
        2,
        0,
        Tabulated(Lambda((i, v), exp(logits[i, v]) / total), n, d_model),
    ),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def test_the_probabilities_do_not_sum_to_one_over_the_positions() -> None:
    right = output_probabilities_sum_to_one()
    one = replace(right.claims[0], lhs=Sum(P[i, v], (i, 0, n - 1)))
    assert is_refused(judge(replace(right, claims=(one,), ranges={v: vocab})).claims[0][0])


def test_row_k_itself_may_not_be_replaced() -> None:
    let, seen = Equations(), Iverson(Lt(i, k, evaluate=False))
    changed = seen * Z[i, j] + (1 - seen) * array("R", n, d_model)[i, j]
    let("Z_new")(Tabulated(Lambda((i, j), changed), n, d_model))
    assert causal().definitions[0].value.args[0].expr.has(Le)
    assert is_refused(judge(replace(causal(), definitions=tuple(let))).claims[0][0])


@pytest.mark.parametrize("dropped", [0, 1, 2])
def test_an_even_width_and_tokens_in_the_vocabulary_are_needed(dropped: int) -> None:
    right = input_rows()
    kept = tuple(a for number, a in enumerate(right.assumptions) if number != dropped)
    assert is_refused(judge(replace(right, assumptions=kept)).claims[0][0])


def test_one_table_serves_source_target_and_output() -> None:
    tables = [embedded.bound["E"] for embedded in transformer().parts.values() if embedded.layer.name == "embedding"]
    assert tables and all(table == E for table in tables)
    assert transformer().equation("logits").value == Z @ E.T
    assert part("embedding", embedding())(source, E=E).bound == {"E": E}


def test_the_probabilities_are_those_of_numpy() -> None:
    generator = np.random.default_rng(0)
    scores = generator.integers(-3, 4, (2, 5))
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    put = {vocab: Integer(5)}
    for row in range(2):
        for token in range(5):
            found = value(
                output_probabilities().rhs.xreplace({i: Integer(row), v: Integer(token)}), put, {"logits": scores}
            )
            assert float(found) == pytest.approx(expected[row, token], rel=1e-14)
