"""Stated derivatives agree with differences of the compiled functions, and wrong ones are told apart."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from sympy import Derivative, Heaviside, Integer, KroneckerDelta, Max, Ne, Symbol, exp, sqrt

import derivations
from derivations.activations import activation, gelu
from derivations.activations.softsign import softsign_derivative
from derivations.feed_forward import derivatives as feed_forward_derivatives
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import relu
from derivations.language.layers.layer import Equations
from derivations.language.results.derivation import claim, derivation, step
from derivations.normalisation import layer_norm_jacobian
from derivations.symbols import d_model, i, index, j, k, n, scalar, vocab
from derivations.transformer.embedding import embedding
from numeric.verification.agreement.jacobians import derivative_checks, derivative_claims, slopes

linear = import_module("derivations.linear.linear")  # the room has a function of this name
low_rank_adaptation = import_module("derivations.linear.low_rank_adaptation")  # so has its room
softmax = import_module("derivations.softmax.softmax")  # the room has a function of this name

STATED = [
    softmax.jacobian,
    softmax.jacobian_diagonal,
    linear.jacobian,
    layer_norm_jacobian.jacobian,
    feed_forward_derivatives.jacobian,
    activation.relu_derivative,
    gelu.gelu_derivative,
    gelu.normal_derivative,
]


@pytest.mark.parametrize("result", STATED, ids=lambda result: result().id)
def test_a_stated_derivative_is_the_slope_of_the_compiled_function(result):
    checks = list(derivative_checks([result()]))
    assert checks
    for check in checks:
        assert check.passed, check


def test_the_slope_of_every_activation_is_compared():
    results = [derivations.get(name) for name in derivations.names() if name.startswith("activation.")]
    checks = list(derivative_checks(results))
    assert len(checks) >= 8
    assert [check for check in checks if not check.passed] == []


def restated(result, rhs):
    """The same statement with another right-hand side."""
    (first, *rest) = result.claims
    return replace(result, claims=(claim(first.lhs, step("algebra", rhs)), *rest))


def test_a_wrong_sign_in_the_jacobian_of_softmax_is_refused():
    y = softmax.y
    stated = softmax.jacobian()
    (check,) = derivative_checks([restated(stated, y[i] * (KroneckerDelta(i, k) - y[k]))])
    assert check.passed, check
    (check,) = derivative_checks([restated(stated, y[i] * (KroneckerDelta(i, k) + y[k]))])
    assert not check.passed
    (check,) = derivative_checks([restated(stated, y[i] * KroneckerDelta(i, k))])
    assert not check.passed


@pytest.mark.parametrize("wrong", [lambda rhs: 2 * rhs, lambda rhs: -rhs, lambda rhs: rhs + Integer(1)])
@pytest.mark.parametrize("result", [softmax.jacobian, layer_norm_jacobian.jacobian, feed_forward_derivatives.jacobian])
def test_a_corrupted_jacobian_is_refused(result, wrong):
    check = next(derivative_checks([restated(result(), wrong(result().rhs))]))
    assert not check.passed, check


@pytest.mark.parametrize("result", [softmax.jacobian, layer_norm_jacobian.jacobian])
def test_the_complex_step_sees_twelve_digits(result):
    check = next(derivative_checks([restated(result(), result().rhs * (1 + 1e-12))]))
    assert not check.passed, check


def test_a_derivative_is_compared_where_the_assumptions_of_its_claim_hold():
    stated = low_rank_adaptation.starts_unchanged()
    (zero,) = [claim for claim in derivative_claims(stated) if claim.given]
    for claims, holds in [
        ((zero,), True),
        ((replace(zero, given=()),), False),  # B is drawn
        ((replace(zero, steps=(step("algebra", 1),)),), False),
    ]:
        (check,) = derivative_checks([replace(stated, claims=claims)])
        assert check.passed == holds, check


def test_a_derivative_under_an_assumption_that_no_entry_can_be_set_to_is_not_compared():
    (zero,) = [claim for claim in derivative_claims(low_rank_adaptation.starts_unchanged()) if claim.given]
    unequal = replace(zero.given[0], statement=Ne(zero.given[0].statement.lhs, 0))
    stated = replace(low_rank_adaptation.starts_unchanged(), claims=(replace(zero, given=(unequal,)),))
    assert list(derivative_checks([stated])) == []


def test_a_wrong_derivative_of_relu_is_refused():
    t = activation.t
    (check,) = derivative_checks([restated(activation.relu_derivative(), Integer(1))])
    assert not check.passed
    (check,) = derivative_checks([restated(activation.relu_derivative(), exp(t))])
    assert not check.passed


def test_a_wrong_derivative_of_a_curved_function_with_a_kink_is_refused():
    """Beside the kink of softsign both slopes differ by the curvature, which a smaller step makes smaller."""
    t = activation.t
    (right,) = derivative_checks([softsign_derivative()])
    (wrong,) = derivative_checks([restated(softsign_derivative(), 1 / (1 + t**2))])
    assert right.passed and not wrong.passed


def test_a_function_that_is_nowhere_smooth_enough_has_no_point():
    """|x| with a kink within every step: a sawtooth of that width has no point away from its kinks."""
    x = array("x", n)
    let = Equations()
    let("y")(relu(x))
    layer = softmax.softmax().func("kinks", (x,), (), let, next(iter(let)).variable)
    with pytest.raises(ArithmeticError, match="kinks: 20 random points all lie near a kink"):
        slopes(lambda at: np.abs(at), lambda: np.zeros(3), layer)


def test_points_near_a_kink_are_drawn_again():
    t = scalar("t")
    stated = derivation("", claim(Derivative(Max(0, t), t), step("derivative", Heaviside(t))))
    assert list(derivative_claims(stated))
    x = array("x", n)
    let = Equations()
    y = let("y")(relu(x))
    layer = softmax.softmax().func("relu", (x,), (), let, y)
    draws = iter([np.array([0.0, 1.0]), np.array([-1.0, 1.0])])
    jacobian, _ = slopes(lambda at: np.maximum(at, 0), lambda: next(draws), layer)
    assert jacobian.tolist() == [[0, 0], [0, 1]]


def test_only_first_derivatives_of_what_can_be_compiled_are_taken():
    t = Symbol("t", real=True)
    for lhs in (Derivative(exp(t), (t, 2)), exp(t), Derivative(exp(t) * Symbol("a"), t)):
        assert not list(derivative_claims(derivation("", claim(lhs, step("algebra", 1)))))
    assert list(derivative_claims(derivation("", claim(Derivative(exp(t), t), step("algebra", 1)))))


def test_tokens_are_drawn_from_the_vocabulary():
    """X_ij = sqrt(d_model) E_tj with t = tokens_i: the slope in E_pk is sqrt(d_model) where p = t and k = j."""
    layer = embedding()
    (tokens,), (E,), X, p = layer.inputs, layer.parameters, layer.output, index("p")
    lhs, chosen = Derivative(X[i, j], E[p, k]), KroneckerDelta(tokens[i], p) * KroneckerDelta(j, k)
    ranges = {i: n, j: d_model, p: vocab, k: d_model}
    for rhs, right in ((sqrt(d_model) * chosen, True), (chosen, False), (sqrt(d_model) * KroneckerDelta(j, k), False)):
        (check,) = derivative_checks([derivation("", claim(lhs, step("derivative", rhs)), about=layer, ranges=ranges)])
        assert check.passed is right, check
