"""Differentials are names: `\\mathrm{d}V`, `dW_1`; derivatives and integrals take their letters out of them."""

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.syntax import Aggregate, Call, Derivative, Name, Number, Product, Quotient, Transpose

d, f, x, y, L, N, W, X = (Name(letter) for letter in "dfxyLNWX")


def differential(letter, *subscripts):
    return Name(letter, subscripts, accent="d")


def side(text, syntax="latex"):
    (statement,) = read(text, syntax)
    (only,) = statement.sides
    return only


def read(text, syntax="latex"):
    reading = read_formula(text, syntax)
    assert reading.stopped is None, reading.stopped
    return reading.statements


def one(text):
    return side(text, "plain")


@pytest.mark.parametrize("text", [r"\mathrm{d}V", r"\text{d}V", r"\operatorname{d} V", "dV"])
def test_d_right_before_a_capital_letter_is_its_differential(text):
    assert side(text) == differential("V")


def test_the_differential_takes_the_scripts_of_its_letter():
    assert side(r"\mathrm{d}W_{1}") == differential("W", one("1"))
    assert side("dW_1") == differential("W", one("1"))
    assert side("dK^T") == Transpose(differential("K"))
    assert side(r"X^T dY") == Product((Transpose(X), differential("Y")), ("",))
    assert side(r"\mathrm{d}\gamma") == differential("gamma")
    assert side(r"\mathrm{d}\mathbf{x}") == differential("x")


@pytest.mark.parametrize(("latex", "typed"), [("dV", "dV"), (r"\mathrm{d}W_1", "dW1"), ("dW_{out}", "dW_out")])
def test_plain_text_and_code_have_the_same_key(latex, typed):
    assert side(latex).key == side(typed, "plain").key == side(typed, "code").key


@pytest.mark.parametrize("text", ["d N", "4dN", r"d \cdot N", "d N + dN", r"\frac{d}{h} + dN"])
def test_a_width_d_stays_a_factor(text):
    assert not any(isinstance(node, Name) and node.accent for node in side(text).walk())


def test_a_defined_differential_is_one_beside_a_bare_d():
    (statement,) = read(r"dQ = dS K / \sqrt{d}")
    assert statement.sides[0] == differential("Q") and Name("d") in set(statement.walk())


def test_lower_case_letters_need_an_upright_d():
    assert side("dx") == Product((d, x), ("",))
    assert side(r"\mathrm{d}x") == differential("x")


@pytest.mark.parametrize(
    "text",
    [r"\frac{\mathrm{d}y}{\mathrm{d}x}", r"\mathrm{d}y / \mathrm{d}x", r"\frac{dy}{dx}", r"\frac{\mathrm{d}}{dx} y"],
)
def test_derivatives_are_read_as_before(text):
    assert side(text) == Derivative(y, (x,))


def test_derivatives_by_capital_letters_and_of_functions():
    assert side(r"\frac{dL}{dW}") == Derivative(L, (W,))
    assert side(r"\frac{\mathrm{d}f(x)}{\mathrm{d}x}") == Derivative(Call(f, (x,)), (x,))
    assert side(r"\frac{dN}{2}") == Quotient(differential("N"), one("2"))


@pytest.mark.parametrize("text", [r"\int_0^1 y \,\mathrm{d}x", r"\int_0^1 y \, dx"])
def test_integrals_are_read_as_before(text):
    node = side(text)
    assert isinstance(node, Aggregate) and node.index == (x,) and node.body == y and isinstance(node.lower, Number)
