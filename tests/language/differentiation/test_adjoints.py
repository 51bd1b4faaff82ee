"""Every rule of reverse mode is proved entry by entry; a broken rule is refused, and a node without one is named."""

from dataclasses import replace

import pytest
from sympy import Abs, Integer, Lambda, Max, Min, Piecewise, Rational, Symbol, exp, log, sign, sqrt, tanh

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import (
    Hadamard,
    Named,
    gelu,
    named,
    relu,
    row_softmax,
    uninterpreted_function,
)
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import ShapeError
from derivations.language.differentiation.adjoints import GradientError, adjoints, derivative_of
from derivations.language.differentiation.claims import local_claims
from derivations.language.differentiation.pullback import Pullback
from derivations.language.differentiation.reverse import gradient
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.printing.where import letters
from derivations.language.results.derivation import Claim, Derivation, step
from derivations.linear.linear import linear
from derivations.symbols import d, i, k, m, n, scalar
from tests.broken import is_refused

A, B, C = array("A", n, m), array("B", m, d), array("C", n, m)
x, t = scalar("x"), scalar("t", positive=True)


def _layer(value: Array, inputs: tuple[Array, ...]) -> Layer:
    let = Equations()
    output = let("Y")(value)
    return Layer("tried", inputs, (), let, output)


def with_rhs(one: Derivation, number: int, wrong: Array) -> Derivation:
    claims = list(one.claims)
    claims[number] = Claim(claims[number].lhs, (step("chain rule", wrong),), claims[number].given)
    return replace(one, claims=tuple(claims))


@pytest.mark.parametrize(
    ("value", "inputs", "wrong"),
    [
        (A @ B, (A, B), {0: lambda g: g @ B.T * 2, 1: lambda g: -(A.T @ g)}),
        (Hadamard(A, C), (A, C), {0: lambda g: Hadamard(g, A), 1: lambda g: Hadamard(g, C)}),
        (2 * A, (A,), {0: lambda g: g}),
        (A + C, (A, C), {0: lambda g: 2 * g, 1: lambda g: -g}),
        (relu(A), (A,), {0: lambda g: g}),
        (row_softmax(A), (A,), {0: lambda g: Hadamard(row_softmax(A), g)}),
    ],
    ids=["product", "entrywise product", "multiple", "sum", "relu", "softmax"],
)
def test_a_broken_rule_is_refused(value, inputs, wrong) -> None:
    layer = _layer(value, inputs)
    right = local_claims(layer)
    assert judge(right).level == "proved"
    g = gradient(layer).inputs[-1]
    for number, broken in wrong.items():
        evidence = judge(with_rhs(right, number, broken(g))).claims[number][0]
        assert is_refused(evidence), evidence


def test_a_transposed_product_is_refused() -> None:
    """With square matrices a wrong transpose fits in shape, and is refused all the same."""
    P, Q = array("P", n, n), array("Q", n, n)
    layer = _layer(P @ Q, (P, Q))
    right, g = local_claims(layer), gradient(layer).inputs[-1]
    for number, broken in ((0, g @ Q), (0, Q.T @ g), (1, P @ g), (1, g @ P.T)):
        assert is_refused(judge(with_rhs(right, number, broken)).claims[number][0])


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (relu, Iverson(x > 0)),
        (named("cube", x**3, x), 3 * x**2),
        (named("leaky", Max(x / 10, x), x), None),
        (named("soft", log(1 + exp(x)), x), exp(x) / (1 + exp(x))),
        (named("th", tanh(x), x), 1 - tanh(x) ** 2),
        (named("root", sqrt(x), x), 1 / (2 * sqrt(x))),
        (named("softsign", x / (1 + Abs(x)), x), None),
        (named("elu", Piecewise((x, x > 0), (exp(x) - 1, True)), x), Piecewise((1, x > 0), (exp(x), True))),
        (named("length", x * sign(x), x), sign(x)),
    ],
    ids=["relu", "cube", "leaky", "softplus", "tanh", "root", "softsign", "elu", "sign"],
)
def test_slopes_of_elementwise_functions(function, slope) -> None:
    found = derivative_of(function)
    (variable,) = found.formula.variables
    if slope is not None:
        assert found.formula.expr.xreplace({variable: x}) == slope
    for at in (Rational(-3, 7), Rational(5, 3)):
        if function.name == "root" and at < 0:
            continue
        h_ = Rational(1, 10**12)
        f = function.formula
        difference = (f(at + h_) - f(at - h_)) / (2 * h_)
        assert abs(found.formula(at).subs(Iverson(True), 1).doit().evalf(30) - difference.evalf(30)) < 1e-20


@pytest.mark.parametrize(
    ("formula", "wrong", "where"),
    [
        (x / (1 + Abs(x)), 1 / (1 + Abs(x)), "off the kink"),
        (Piecewise((x, x > 0), (exp(x) - 1, True)), Piecewise((1, x > 0), (exp(x) - 1, True)), "off the jump"),
        (x * sign(x), sign(-x), "off the jump"),
    ],
    ids=["softsign", "elu", "sign"],
)
def test_cases_and_absolute_values_are_differentiated_off_their_borders(formula, wrong, where) -> None:
    right = local_claims(_layer(named("f", formula, x)(A), (A,)))
    assert judge(right).level == "proved"
    assert {each.text for each in right.assumptions} | {a.text for c in right.claims for a in c.given} == {where}
    g = array("dY", *A.shape)
    assert is_refused(judge(with_rhs(right, 0, Hadamard(g, named("w", wrong, x)(A)))).claims[0][0])


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (named("logistic", 1 / (1 + exp(-x)), x), "Y (1 - Y)"),
        (named("tangent", tanh(x), x), "1 - Y^2"),
        (named("power", exp(x), x), "Y"),
        (named("twice", exp(2 * x), x), "2 Y"),
    ],
    ids=["sigmoid", "tanh", "exp", "exp(2 x)"],
)
def test_a_slope_of_the_value_alone_takes_the_value_and_is_proved(function: Named, slope: str) -> None:
    layer = _layer(function(A), (A,))
    given = gradient(layer)
    assert {v.name for v in letters(given.equations[-1].value)} == {"dY", "Y"}
    right = local_claims(layer)
    assert judge(right).level == "proved"
    g = gradient(layer).inputs[-1]
    evidence = judge(with_rhs(right, 0, Hadamard(g, function(A)) * 3)).claims[0][0]
    assert is_refused(evidence), evidence


@pytest.mark.parametrize(
    "function",
    [uninterpreted_function("f"), gelu, relu, named("sum", x + exp(x), x), named("product", x * exp(x), x)],
    ids=["unknown", "gelu", "relu", "x + e^x", "x e^x"],
)
def test_a_slope_that_needs_the_argument_keeps_it(function: Named) -> None:
    equation = gradient(_layer(function(A), (A,))).equations[-1]
    assert "A" in {v.name for v in letters(equation.value)}


def test_the_slope_of_relu_at_0_is_0() -> None:
    assert derivative_of(relu).formula(Integer(0)) in (0, Iverson(Integer(0) > 0))


def test_a_second_derivative_has_a_name_of_its_own() -> None:
    twice = derivative_of(derivative_of(gelu))
    assert twice.name == "gelu_prime_prime"
    assert derivative_of(derivative_of(relu)).formula.expr == 0


a, b, c = (Symbol(name, real=True) for name in "abc")


@pytest.mark.parametrize("choice", [Max, Min])
@pytest.mark.parametrize("values", [(2, 3, 5), (3, 2, 5), (5, 3, 2), (3, 3, 2), (2, 3, 3), (3, 2, 3), (3, 3, 3)])
def test_one_argument_of_a_maximum_has_all_of_the_slope(choice, values) -> None:
    """At a tie it is the first one by name: the slopes sum to 1, as those of a subgradient do."""
    function = named("chosen", choice(a, b, c), a, b, c)
    slopes = [
        int(derivative_of(function, k).formula(*map(Integer, values)).replace(Iverson, bracket)) for k in range(3)
    ]
    assert slopes == [int(k == values.index(choice(*values))) for k in range(3)]


def bracket(condition) -> Integer:
    """Return a bracket of numbers as a number."""
    return Integer(bool(condition))


def test_a_maximum_with_a_number_has_slope_0_at_a_tie() -> None:
    slope = derivative_of(named("clipped", Max(c, 3), c)).formula(Integer(3))
    assert slope.replace(Iverson, bracket) == 0


def test_a_node_without_a_rule_is_named() -> None:
    class Strange(Array):
        def _infer(self):
            return self.args[0].shape

        def _sympystr(self, printer) -> str:
            return "strange"

    with pytest.raises(GradientError, match="no rule differentiates a Strange"):
        list(adjoints(Strange(A), A, A))
    with pytest.raises(GradientError, match="no rule differentiates a Strange"):
        gradient(_layer(Strange(A), (A,)))


def test_a_table_that_reads_arrays_is_refused() -> None:
    """A formula of entries that reads an array has a gradient that no rule would see."""
    doubled = Tabulated(Lambda((i, k), 2 * A[i, k]), n, m)
    with pytest.raises(GradientError, match="reads arrays"):
        list(adjoints(doubled, A, A))
    with pytest.raises(ShapeError, match="reads entries of A"):
        _layer(doubled + A, (A,))


def test_a_row_at_a_fixed_place_is_refused() -> None:
    with pytest.raises(GradientError, match="members of a family"):
        gradient(_layer(A[0], (A,)))


def test_a_pullback_needs_the_shape_of_the_output_and_a_real_input() -> None:
    applied = part("lin", linear())(array("X", n, d))
    g = array("g", *applied.shape)
    assert Pullback(applied, g, "X").shape == (n, d)
    assert Pullback(applied, g, "b").shape == applied.shape[1:]
    with pytest.raises(ShapeError, match="is needed"):
        Pullback(applied, array("g", m, n), "X")
    with pytest.raises(ShapeError, match="no real input or parameter called Z"):
        Pullback(applied, g, "Z")
