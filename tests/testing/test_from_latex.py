"""What latexify-py prints is read back and compared with results: proved, or refuted with numbers; what is refused."""

import math
from collections.abc import Callable

import pytest
from sympy import IndexedBase, Symbol, exp, pi, sqrt, symbols, tanh

from derivations import get
from derivations.documents.scalar_latex import LatexError
from derivations.language import Equations, array, claim, derivation, relu, step
from derivations.symbols import i, n
from derivations.testing import assert_equal, from_latex
from derivations.testing.printed import is_printed

latexify = pytest.importorskip("latexify", reason="latexify-py has no release for this Python")


def sigmoid_slope(t):
    return 1 / (1 + math.exp(-t)) * (1 - 1 / (1 + math.exp(-t)))


def wrong_sign(t):
    return 1 / (1 + math.exp(-t)) * (1 + 1 / (1 + math.exp(-t)))


def in_two_lines(t):
    s = 1 / (1 + math.exp(-t))
    return s * (1 - s)


def scaled(x, d_k, epsilon):
    return math.tanh(x[0]) / math.sqrt(d_k + epsilon)


def piecewise(t):
    return t if t > 0 else 0


# --- it agrees, and it says no --------------------------------------------------------------------------------------


@pytest.mark.parametrize("printed", [latexify.function, latexify.expression, latexify.get_latex])
def test_a_function_is_the_result(printed: Callable) -> None:
    shown = printed(sigmoid_slope)
    left = shown if is_printed(shown) else from_latex(shown)
    assert str(assert_equal(left, get("activation.sigmoid_derivative"))).startswith("proved for all values")


@pytest.mark.parametrize("printed", [latexify.function, latexify.expression])
def test_a_wrong_sign_has_a_counterexample(printed: Callable) -> None:
    with pytest.raises(AssertionError, match=r"refuted: .* at t = .* the left side is"):
        assert_equal(printed(wrong_sign), get("activation.sigmoid_derivative"))
    with pytest.raises(AssertionError, match=r"refuted: .* at t = .* the left side is"):
        assert_equal(get("activation.sigmoid_derivative"), printed(wrong_sign))


def test_two_functions_are_compared() -> None:
    assert_equal(latexify.expression(sigmoid_slope), latexify.expression(in_two_lines, reduce_assignments=True))


def test_a_result_stands_for_its_right_side_under_its_definitions() -> None:
    x, let = array("x", n), Equations()
    y = let("y")(2 * x)
    doubled = derivation("Doubled", claim(x[i] + x[i], step("definition", y[i])), about=let, ranges={i: n})
    assert_equal(2 * x[i], doubled)
    with pytest.raises(AssertionError, match="refuted"):
        assert_equal(3 * x[i], doubled)


def test_a_result_that_is_no_equality_is_refused() -> None:
    bound = derivation("Below", claim(0, step("bound", exp(Symbol("x", real=True)), "<=")))
    with pytest.raises(ValueError, match="'Below' states no equality, but <="):
        assert_equal(1, bound)


# --- what is read ---------------------------------------------------------------------------------------------------


def test_names_and_entries_are_those_of_the_function() -> None:
    d_k, epsilon = symbols("d_k epsilon")
    assert from_latex(latexify.function(scaled)) == tanh(IndexedBase("x")[0]) / sqrt(d_k + epsilon)


def test_a_constant_is_one_unless_it_is_an_argument() -> None:
    x = Symbol("x")
    assert from_latex(r"f(x) = \pi x") == pi * x == from_latex(r"\pi x")
    assert from_latex(r"f(x, \pi) = \pi x") == Symbol("pi") * x


@pytest.mark.parametrize(
    ("latex", "words"),
    [
        (r"f(x) = x + y", "no argument of the function"),
        (r"\mathrm{sigmoid} \mathopen{}\left( x \mathclose{}\right)", "this is no function of the subset"),
        (r"x+", "the end of the formula"),
        ("", "the end of the formula"),
    ],
)
def test_what_is_no_whole_formula_is_refused(latex: str, words: str) -> None:
    with pytest.raises(LatexError, match=words):
        from_latex(latex)


def test_several_lines_are_told_how_to_become_one() -> None:
    with pytest.raises(LatexError, match="reduce_assignments=True"):
        from_latex(latexify.function(in_two_lines))
    with pytest.raises(LatexError, match="does not have this"):
        assert_equal(latexify.function(piecewise), 0)


def test_text_and_other_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="from_latex reads what latexify prints"):
        assert_equal("x", Symbol("x"))
    for value in (relu, 5, sigmoid_slope):
        with pytest.raises(TypeError, match="from_latex takes LaTeX"):
            from_latex(value)
