"""Derivatives are taken by the core language, of what a document says that something is."""

import pytest

from derivations.documents.checking import check_text
from derivations.documents.decide.calculus import check_calculus
from tests.documents.elaborated import said


def verdicts(text):
    return [finding.verdict for finding in said(check_calculus, text)]


@pytest.mark.parametrize(
    ("left", "right", "mistaken"),
    [
        (r"\frac{d}{dx} x^3", "3 x^2", "2 x^2"),
        (r"\frac{d}{dx} \cos x", r"-\sin x", r"\sin x"),
        (r"\frac{d}{dx} e^{2 x}", "2 e^{2 x}", "e^{2 x}"),
        (r"\frac{d}{dx} (x^2 \sin x)", r"2 x \sin x + x^2 \cos x", r"2 x \cos x"),
        (r"\frac{d}{dx} \frac{1}{1 + e^{-x}}", r"\frac{e^{-x}}{(1 + e^{-x})^2}", r"\frac{e^{-x}}{1 + e^{-x}}"),
        (r"\frac{\partial}{\partial w} (w x - y)^2", "2 x (w x - y)", "2 w (w x - y)"),
        (r"\nabla_{\mathbf{x}} (\mathbf{x}^\top \mathbf{A} \mathbf{x})",
         r"(\mathbf{A} + \mathbf{A}^\top) \mathbf{x}", r"2 \mathbf{A} \mathbf{x}"),
        (r"\nabla_{\mathbf{w}} \|\mathbf{X} \mathbf{w} - \mathbf{y}\|^2",
         r"2 \mathbf{X}^\top (\mathbf{X} \mathbf{w} - \mathbf{y})",
         r"2 \mathbf{X} (\mathbf{X} \mathbf{w} - \mathbf{y})"),
        (r"\nabla_{\mathbf{W}} \frac{1}{2} \|\mathbf{X} \mathbf{W} - \mathbf{Y}\|_F^2",
         r"\mathbf{X}^\top (\mathbf{X} \mathbf{W} - \mathbf{Y})",
         r"\mathbf{X} (\mathbf{X} \mathbf{W} - \mathbf{Y})"),
        (r"\nabla_{\mathbf{X}} \mathrm{tr}(\mathbf{A} \mathbf{X})", r"\mathbf{A}^\top", r"\mathbf{A}"),
    ],
)  # fmt: skip
def test_the_derivative_is_proved_and_another_formula_is_wrong(left, right, mistaken):
    assert verdicts(f"$${left} = {right}$$") == ["proved"]
    assert verdicts(f"$${left} = {mistaken}$$") == ["wrong"]


SOFTMAX = r"$$s_i = \frac{e^{z_i}}{\sum_j e^{z_j}}$$" + "\n\n"
LOG_SUM = r"$$L(x) = \log \sum_j e^{x_j}$$" + "\n\n" + r"$$s_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$" + "\n\n"
SQUARE = "$$L = (y - t)^2$$\n\n$$y = w x$$\n\n"


@pytest.mark.parametrize(
    ("given", "right", "mistaken"),
    [
        (SOFTMAX, r"\frac{\partial s_i}{\partial z_i} = s_i (1 - s_i)",
         r"\frac{\partial s_i}{\partial z_i} = s_i (1 + s_i)"),
        (SQUARE, r"\frac{\partial L}{\partial y} = 2 (y - t)", r"\frac{\partial L}{\partial y} = 2 (y + t)"),
        (SQUARE, r"\frac{\partial L}{\partial w} = 2 (y - t) x", r"\frac{\partial L}{\partial w} = 2 (y - t) w"),
        ("Let $f(x) = x^2 + 1$.\n\n", "f'(x) = 2 x", "f'(x) = 3 x"),
        (LOG_SUM, r"\frac{\partial L}{\partial x_i} = s_i", r"\frac{\partial L}{\partial x_i} = -s_i"),
        ("Let $f(x, y) = x^2 y$.\n\n", r"\frac{\partial f}{\partial x} = 2 x y",
         r"\frac{\partial f}{\partial x} = 2 y"),
        ("The sigmoid.\n\n", r"\sigma'(x) = \sigma(x) (1 - \sigma(x))", r"\sigma'(x) = \sigma(x) (1 + \sigma(x))"),
    ],
)  # fmt: skip
def test_with_what_the_document_defines_it_holds_or_is_wrong(given, right, mistaken):
    assert verdicts(f"{given}$${right}$$") == ["holds"]
    (found,) = said(check_calculus, f"{given}$${mistaken}$$")
    assert found.verdict == "wrong"
    assert found.right is None or verdicts(f"{given}$${found.right}$$") == ["holds"]


def test_no_formula_is_called_right_that_is_not_proved():
    """The slip is in what is differentiated, or no single edit mends it."""
    for text in (r"\frac{d}{dx} x^3 = 7 x \cos x", r"2 x = \frac{d}{dx} x^3"):
        (found,) = said(check_calculus, f"$${text}$$")
        assert (found.verdict, found.right) == ("wrong", None)


def test_a_repair_puts_no_minus_before_a_square():
    """The square of -1 - e^(-x) is right as well; the repair is what a reader would write."""
    (found,) = said(check_calculus, r"$$\frac{d}{dx} \frac{1}{1 + e^{-x}} = \frac{e^{-x}}{(1 - e^{-x})^2}$$")
    assert found.verdict == "wrong"
    right = found.right.split("=", 1)[1]
    assert "1 + e^{-x}" in right
    assert "-1" not in right


def test_the_jacobian_of_softmax_has_a_delta():
    assert verdicts(SOFTMAX + r"$$\frac{\partial s_i}{\partial z_j} = s_i (\delta_{ij} - s_j)$$") == ["holds"]
    assert verdicts(SOFTMAX + r"$$\frac{\partial s_i}{\partial z_j} = s_i (\delta_{ij} + s_j)$$") == ["wrong"]


@pytest.mark.parametrize("right", [r"\mathbf{W}", r"\mathbf{W}^\top"])
def test_one_of_the_two_layouts_is_named(right):
    text = rf"$$\frac{{\partial \mathbf{{W}} \mathbf{{x}}}}{{\partial \mathbf{{x}}}} = {right}$$"
    (found,) = said(check_calculus, text)
    assert found.verdict == "conditional"
    assert found.assumptions == ("a gradient is a row" if "top" in right else "a gradient is a column",)


def test_where_a_side_is_defined_is_named():
    (found,) = said(check_calculus, r"$$\frac{d}{dx} \log x = \frac{1}{x}$$")
    assert (found.verdict, found.assumptions) == ("conditional", ("x is not 0", "x is positive"))


@pytest.mark.parametrize(
    "text",
    [
        r"$$\frac{d}{dx} y^2 = 2 y \frac{dy}{dx}$$",  # y depends on x
        r"$$\frac{dy}{dx} = 2 y$$",  # an equation for y
        r"$$\frac{d}{dx} f(x) = 2 f(x)$$",
        r"$$\frac{d}{dx} x^2 \sin x = 2 x \sin x + x^2 \cos x$$",  # all of the product is differentiated
        r"$$\sigma'(x) = 1 - \sigma(x)^2$$",  # sigma is tanh, or any function
        r"$f = x + 1$ $g = f(x)$ $$\frac{d g}{d x} = f(x)$$",  # f is a letter and a function
        r"If $\frac{d}{dx} x^3 = 2 x^2$",
        r"$$p_i = \frac{e^{z_i}}{\sum_j e^{z_j}}$$ $$L = -\sum_i y_i \log p_i$$ "
        r"$$\frac{\partial L}{\partial z_i} = p_i - y_i$$",  # the y_i add up to 1
    ],
)  # fmt: skip
def test_what_may_be_meant_otherwise_is_not_wrong(text):
    assert "wrong" not in verdicts(text)


def test_a_proof_is_what_the_reader_sees():
    (claim,) = check_text(r"$\frac{d}{dx} x^3 = 3 x^2$", "markdown").claims
    assert claim.finding.verdict == "proved"


@pytest.mark.parametrize("text", ["$W x = x W$", "$s = W x = x W$", "$A B = B A$"])
def test_letters_that_may_be_matrices_do_not_commute(text):
    assert {claim.finding.verdict for claim in check_text(text, "markdown").claims} <= {"unknown"}
