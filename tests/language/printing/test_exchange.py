"""Results as Python source and as JSON."""

import json
import math

import pytest
from sympy import Derivative, Eq, Integer, KroneckerDelta, Max, Rational, Symbol, erf, exp, oo, sqrt, srepr

from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import row_softmax
from derivations.language.layers.layer import Equation
from derivations.language.printing.exchange import NotClosedForm, python, statement_json
from derivations.language.results.derivation import Assumption, Derivation, claim, step
from tests.language.printing.printed import _total, a, d_ff, d_k, d_model, g, i, n, x, y


def stating(value, name="softmax.saturation", lhs=y[0]):
    return Derivation(name, 'Saturation "by a gap"', (claim(lhs, step("algebra", value)),))


def test_a_closed_form_is_a_function_of_its_symbols():
    source = python(stating(exp(-g) / (1 + exp(-g)) ** 2))
    assert source == (
        "from math import exp\n\n\n"
        "def softmax_saturation(g):\n"
        '    """Saturation \'by a gap\': y_1 = e^(-g) / (1 + e^(-g))^2."""\n'
        "    return exp(-g)/(1 + exp(-g))**2\n"
    )


@pytest.mark.parametrize(
    ("value", "arguments", "expected"),
    [
        (exp(-g) / (1 + exp(-g)) ** 2, {"g": 2.0}, math.exp(-2) / (1 + math.exp(-2)) ** 2),
        (1 / sqrt(d_k), {"d_k": 64}, 0.125),
        (a * (1 + erf(a / sqrt(2))) / 2, {"a": 1.0}, (1 + math.erf(1 / math.sqrt(2))) / 2),
        (2 * d_model * d_ff + d_ff + d_model, {"d_model": 3, "d_ff": 5}, 38),
        (Max(0, a) + Rational(1, 3), {"a": -2.0}, 1 / 3),
        (Integer(1), {}, 1),
        (Symbol("lambda", real=True) ** 2, {"lambda_": 3}, 9),
    ],
)
def test_the_function_computes_the_value(tmp_path, value, arguments, expected):
    scope: dict = {}
    source = python(stating(value))
    exec(compile(source, "<source>", "exec"), scope)  # noqa: S102 - the text was made here, not read
    assert scope["softmax_saturation"](**arguments) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "culprit"),
    [
        (y[i], "Indexed"),
        (_total(y[i]), "Sum"),
        (KroneckerDelta(i, 0) * a, "KroneckerDelta"),
        (Derivative(exp(a), a, evaluate=False), "Derivative"),
        (row_softmax(x), "RowSoftmax"),
        (Eq(a, 1), "Equality"),
        (oo, "Infinity"),
    ],
)
def test_what_is_no_closed_form_is_refused(value, culprit):
    with pytest.raises(NotClosedForm, match=culprit):
        python(stating(value))


JACOBIAN = Derivation(
    "softmax.jacobian",
    "Jacobian",
    (claim(Derivative(y[i], x[0]), step("quotient rule", y[i] * y[0]), given=(Assumption(Eq(n, 2)),)),),
    (Equation(y, row_softmax(x)),),
    {i: n},
    (Assumption(Eq(a, 1), {i: n}, "in words"),),
    "Bridle (1990)",
)


def test_json_holds_the_whole_statement():
    data = statement_json(JACOBIAN)
    head = ["id", "title", "topic", "evidence", "lhs", "relation", "rhs", "steps"]
    assert list(data) == [*head, "claims", "definitions", "ranges", "assumptions", "source"]
    assert [data[name] for name in head[4:]] == [data["claims"][0][name] for name in head[4:]]
    assert data["evidence"] == JACOBIAN.evidence.level
    assert data["topic"] == "softmax"
    assert data["claims"][0]["lhs"] == srepr(Derivative(y[i], x[0]))
    assert data["claims"][0]["rhs"] == srepr(y[i] * y[0])
    assert data["claims"][0]["steps"] == [{"rule": "quotient rule", "relation": "=", "expression": srepr(y[i] * y[0])}]
    assert data["claims"][0]["given"] == [{"statement": srepr(Eq(n, 2)), "ranges": {}, "text": ""}]
    assert data["assumptions"][0]["ranges"] == {"i": srepr(n)}
    assert "RowSoftmax(Variable(Str('x')" in data["definitions"][0]
    assert json.loads(json.dumps(data)) == data


def test_srepr_of_arrays_names_every_operand():
    text = srepr(row_softmax(x))
    assert text == ("RowSoftmax(Variable(Str('x'), Tuple(Symbol('n', integer=True, positive=True)), Str('real')))")
    assert isinstance(row_softmax(x), Array)
