"""`assert_equal`: proved, refuted with a counterexample, or unknown; it says what was assumed; it evaluates no text."""

import re
from fractions import Fraction

import pytest
from sympy import (
    Abs,
    Derivative,
    Dummy,
    Eq,
    Function,
    Ge,
    Indexed,
    IndexedBase,
    Integer,
    KroneckerDelta,
    Matrix,
    MatrixSymbol,
    Ne,
    Sum,
    Symbol,
    Wild,
    cosh,
    exp,
    gamma,
    log,
    sqrt,
    symbols,
    tanh,
)

from derivations import get
from derivations.language import Assumption, array
from derivations.softmax.softmax import softmax
from derivations.symbols import d_k, index, m, n, scalar
from derivations.testing import Equality, assert_equal
from derivations.testing.adoption import adopt

x, y, z, i, j, k, size = symbols("x y z i j k n")  # a user's: nothing is declared of them
X, Y = IndexedBase("x", shape=(size,)), IndexedBase("y")
f = Function("f")


def refused(*arguments, level, **options):
    with pytest.raises(AssertionError, match=f"^{level}: ") as caught:
        assert_equal(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- proved ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "assumed"),
    [
        (1 / (1 + exp(-x)), exp(x) / (1 + exp(x)), ("x is real",)),
        ((x + y) ** 2 - (x - y) ** 2, 4 * x * y, ("x is real", "y is real")),
        (Sum(x * X[j], (j, 0, size - 1)), x * Sum(X[k], (k, 0, size - 1)),
         ("j is an integer", "k is an integer", "n is an integer >= 1", "x is real",
          "the entries of x are real")),
        (Sum(Y[j], (j, 1, z)), Sum(Y[j + 1], (j, 0, z - 1)),
         ("j is an integer", "z is an integer >= 1", "the entries of y are real")),
        (X[i] + X[i], 2 * X[i], ("i is an integer", "n is an integer >= 1", "the entries of x are real", "0 <= i < n")),
        (Derivative(log(1 + exp(x)), x), 1 / (1 + exp(-x)), ("x is real",)),
        (f(x) + f(x) * y, (1 + y) * f(x), ("x is real", "y is real", "f is a real function")),
        (Symbol("x", positive=True) * x, x**2, ("x is positive",)),
        (Symbol("x", positive=True) / Symbol("x", real=True), 1, ("x is positive",)),
        (Symbol("d_k") * d_k, d_k**2, ("d_k is an integer >= 1",)),
        (scalar("a") + 1, 1 + scalar("a"), ()),
        (1, Integer(1), ()),
        (Fraction(1, 2) + scalar("a"), scalar("a") + Integer(1) / 2, ()),
    ],
)  # fmt: skip
def test_an_equality_is_proved_and_says_what_it_takes(left, right, assumed):
    found = assert_equal(left, right)
    assert isinstance(found, Equality)
    assert found.assumed == assumed
    assert str(found) == "proved for all values" + (f"; taken: {', '.join(assumed)}" if assumed else "")


def test_arrays_of_the_language_are_compared():
    Q, K = array("Q", n, d_k), array("K", m, d_k)
    assert_equal((Q @ K.T).T, K @ Q.T)
    assert "Q @ K.T = 2 * (Q @ K.T) does not hold: at d_k = " in refused(Q @ K.T, 2 * (Q @ K.T), level="refuted")


@pytest.mark.slow
def test_the_definitions_of_a_result_or_layer_may_be_used():
    y, x, i, k = IndexedBase("y"), IndexedBase("x"), index("i"), index("k")
    slope, right = Derivative(y[i], x[k]), y[i] * (KroneckerDelta(i, k) - y[k])
    for about in ("softmax.jacobian", get("softmax.jacobian"), "softmax", softmax()):
        assert_equal(slope, right, about=about, ranges={i: n, k: n})
        wrong = y[i] * (KroneckerDelta(i, k) + y[k])
        assert "does not hold" in refused(slope, wrong, about=about, ranges={i: n, k: n}, level="refuted")
    refused(slope, right, ranges={i: n, k: n}, level="refuted")  # without a definition y has nothing to do with x


# --- assumptions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "assuming"),
    [
        ((x**2 - 1) / (x - 1), x + 1, Ne(x, 1)),
        (sqrt(x**2), x, x > 0),
        (sqrt(x**2), x, [Ge(x, 0)]),
        (log(x * y), log(x) + log(y), [x > 0, Symbol("q") < 1, y > 0]),
        (x + y, 2 * y, Eq(x, y)),
        (x, x, [True, Symbol("p", positive=True) > 0]),
    ],
)
def test_what_is_assumed_is_used_and_is_needed(left, right, assuming):
    assert_equal(left, right, assuming=assuming)
    if left != right:
        with pytest.raises(AssertionError):
            assert_equal(left, right)


def test_an_assumption_for_all_values_of_an_index():
    left, right = (X[i] ** 2 - 1) / (X[i] - 1), X[i] + 1
    assert "nonzero" in refused(left, right, level="unknown")
    found = assert_equal(left, right, assuming=[Assumption(Ne(X[k], 1), {k: size})])
    assert "0 <= k < n" not in found.assumed  # the assumption is for all k, which is no index of the equality
    refused(left, right, assuming=[Assumption(Ne(X[k], 2), {k: size})], level="unknown")


def test_what_a_result_assumes_is_said():
    A, i, j = IndexedBase("A"), index("i"), index("j")
    found = assert_equal(Sum(A[i, j], (j, 0, m - 1)), 1, about="attention.masked")
    assert "every query sees a key" in found.assumed and str(found).endswith("every query sees a key")


def test_an_assumption_for_all_indices_declares_no_symbol_positive():
    refused(sqrt(x**2), x, assuming=[Assumption(x > 0, {x: 3})], level="unknown")


def test_an_assumption_of_one_symbol_says_nothing_of_another():
    refused(sqrt(y**2), y, assuming=[x > 0], level="refuted")
    refused(sqrt(x**2), x, assuming=[x > -1], level="refuted")


def test_a_decimal_is_the_number_that_was_written():
    assert_equal(0.1 * x, x / 10)
    refused(0.1 * x, x / 11, level="refuted")


# --- refuted and unknown --------------------------------------------------------------------------------------------


def test_letters_that_stand_on_one_side_alone_are_named():
    u, v = symbols("u v", real=True)
    assert refused(u**2, v**2, level="refuted").endswith("; only the left side has u, only the right one v")
    assert "only the" not in refused(u**2, u * v, level="refuted")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((x + 1) ** 2, x**2 + 1),
        (exp(x + y), exp(x) + exp(y)),
        (Sum(X[j], (j, 0, size - 1)), Sum(X[j], (j, 0, size - 2))),
        (Derivative(exp(-x), x), exp(-x)),
        (Abs(x), x),
        (f(x), f(y)),
    ],
)
def test_a_wrong_equality_is_refuted_with_numbers(left, right):
    message = refused(left, right, level="refuted")
    assert re.search(
        r"does not hold: at .*x.* = .* the left side is .*, the right side .*; taken: .*x (is|are) real", message
    )


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ((x**2 - 1) / (x - 1), x + 1, "a side condition is not among the assumptions: x - 1 is nonzero"),
        (log(x), log(x), "x is positive"),
        (gamma(x + 1), x * gamma(x), "gamma is not in the language of the judge"),
    ],
)
def test_what_is_not_decided_is_no_success(left, right, reason):
    message = refused(left, right, level="unknown")
    assert reason in message
    assert "is neither proved nor refuted" in message and "assuming=..." in message


def test_agreement_in_floating_point_is_no_proof():
    almost = x * Integer(10**20 + 1) / Integer(10**20)
    assert float(almost.subs(x, 3)) == 3.0
    refused(almost, x, level="refuted")


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        (("__import__('os')", x), {}, TypeError, "takes SymPy expressions, not text, which is never evaluated"),
        ((x, "x"), {}, TypeError, "not text"),
        ((x, "activation.sigmoid_derivative"), {}, TypeError, "a result of the catalogue is derivations.get(its id)"),
        ((x, None), {}, TypeError, "not NoneType"),
        ((x, [x]), {}, TypeError, "not list"),
        ((x > 0, x > 0), {}, TypeError, "not StrictGreaterThan"),
        ((x, softmax()), {}, TypeError, "not Layer"),
        ((MatrixSymbol("A", 2, 2), x), {}, TypeError, "write them with derivations.language.array"),
        ((Matrix([[1]]), x), {}, TypeError, "write them with derivations.language.array"),
        ((x, x), {"assuming": "x > 0"}, TypeError, "a SymPy relation such as x > 0, not str"),
        ((x, x), {"assuming": [x]}, TypeError, "a SymPy relation such as x > 0, not Symbol"),
        ((x, x), {"assuming": None}, TypeError, "a SymPy relation such as x > 0, not NoneType"),
        ((x, x), {"assuming": 3}, TypeError, "a SymPy relation such as x > 0, not int"),
        ((x, y), {"assuming": False}, ValueError, "an assumption never holds"),
        ((x, y), {"assuming": [Symbol("x", positive=True) < 0]}, ValueError, "an assumption never holds"),
        ((x, y), {"assuming": [x < 0, x > 0]}, ValueError, "an assumption never holds"),
        ((x, x), {"about": 3}, TypeError, "`about` is a result, a layer or the name of one, not int"),
        ((x, x), {"about": "softmax.jacobain"}, LookupError, "the nearest are softmax.jacobian"),
        ((Symbol("x", positive=True), Symbol("x", negative=True)), {}, ValueError, "two symbols are called x"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, options, error, words):
    with pytest.raises(error, match=re.escape(words)) as caught:
        assert_equal(*arguments, **options)
    assert "\n" not in str(caught.value)


# --- adoption -------------------------------------------------------------------------------------------------------


def test_symbols_that_declare_something_keep_it():
    positive = Symbol("x", positive=True)
    assert adopt([positive + 1]).expressions == (positive + 1,)
    assert adopt([Symbol("d", real=True)]).assumed == ()


def test_letters_are_indices_only_where_they_stand_for_places():
    assert adopt([k * x]).assumed == ("k is real", "x is real")
    assert adopt([KroneckerDelta(k, j)]).assumed == ("j is an integer", "k is an integer")
    adopted = adopt([Indexed(X, i)])
    assert adopted.ranges == {index("i"): n}


def test_what_is_known_of_a_scalar_says_nothing_of_an_array_of_its_name():
    positive = Symbol("x", positive=True)
    assert adopt([X[i] + positive]).assumed[2:] == ("the entries of x are real", "0 <= i < n")
    for left, options in ((sqrt(X[i] ** 2), {"assuming": x > 0}), (sqrt(X[i] ** 2) + positive - positive, {})):
        refused(left, X[i], level="refuted", **options)
    assert_equal(sqrt(X[i] ** 2) * positive / x, Abs(X[i]))


def test_two_dummies_of_one_name_are_not_made_one():
    for pair in ((Dummy("x"), Dummy("x")), (Dummy("x"), x), (Wild("x"), x)):
        with pytest.raises(ValueError, match="is told apart from its namesakes by no name"):
            assert_equal(*pair)


def test_functions_stay_functions_of_the_same_argument():
    (adopted,) = adopt([f(x, y) + tanh(x) + cosh(y)]).expressions
    assert adopted.has(tanh, cosh)
    assert adopted.atoms(type(f(x, y))) or "f(x, y)" in str(adopted)
