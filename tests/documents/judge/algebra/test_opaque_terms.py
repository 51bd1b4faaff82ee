r"""Chains whose terms algebra does not look into: what holds of them, what is a slip, and what nothing tells."""

from random import Random

import pytest
from sympy import Add, Expr, Integer, Symbol, expand, latex

from derivations.documents.checking import check_text
from tests.documents.said import DECIDED, in_a_word


def said(formula: str) -> str:
    return in_a_word(check_text(f"$${formula}$$", "markdown").claims[-1].finding)


@pytest.mark.parametrize(
    "formula",
    [
        r"P = \frac{e^{r(x)}}{e^{r(x)} + e^{r(y)}} = \frac{1}{1 + e^{-(r(x) - r(y))}}",
        r"L = -\log p(x \mid z) + \log p(z) = -(\log p(x \mid z) - \log p(z))",
        r"L = E_q[\log p(x, z) - 2 \log q(z)] = E_q[\log p(x, z)] - 2 E_q[\log q(z)]",
        r"L = \sum_{i=1}^n (f(x_i) - y_i)^2 = \sum_{j=1}^n (f(x_j)^2 - 2 f(x_j) y_j + y_j^2)",
        r"L = \sum_{i=1}^n (f(x^{(i)}) - y^{(i)})^2 = \sum_{i=1}^n (f(x^{(i)})^2 - 2 f(x^{(i)}) y^{(i)} + (y^{(i)})^2)",
        r"L = \sum_{(x, y) \in D} (f(x) - y)^2 = \sum_{(x, y) \in D} (f(x)^2 - 2 f(x) y + y^2)",
        r"a = \|u - v\|^2 - 2 c \langle u, v \rangle + b = b + \|u - v\|^2 - c \langle u, v \rangle 2",
        r"s = (w^\top x + b)^2 = (w^\top x)^2 + 2 b w^\top x + b^2",
        r"g = c \frac{\partial L}{\partial w} + c b = c (b + \frac{\partial L}{\partial w})",
        r"l = \log \prod_{i=1}^n p(x_i \mid t) = \sum_{i=1}^n \log p(x_i \mid t)",
        r"r = \log \frac{p(y \mid x)}{q(y \mid x)} - c = \log p(y \mid x) - \log q(y \mid x) - c",
    ],
)
def test_equal_terms_are_one_letter(formula: str) -> None:
    assert said(formula) in ("holds", "conditional")


@pytest.mark.parametrize(
    "formula",
    [
        r"P = \frac{e^{r(x)}}{e^{r(x)} + e^{r(y)}} = \frac{1}{1 + e^{r(x) - r(y)}}",
        r"L = -\log p(x \mid z) + \log p(z) = -(\log p(x \mid z) + \log p(z))",
        r"L = \sum_{i=1}^n (f(x_i) - y_i)^2 = \sum_{i=1}^n (f(x_i)^2 + 2 f(x_i) y_i + y_i^2)",
        r"L = \sum_{(x, y) \in D} (f(x) - y)^2 = \sum_{(x, y) \in D} (f(x)^2 - 2 f(x) y - y^2)",
        r"s = (w^\top x + b)^2 = (w^\top x)^2 - 2 b w^\top x + b^2",
        r"L = c \log \frac{p(y \mid x)}{q(y \mid x)} = c (\log p(y \mid x) + \log q(y \mid x))",
    ],
)
def test_a_slip_that_keeps_the_terms_is_wrong(formula: str) -> None:
    assert said(formula) == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"m = \max_i (a_i + b_i) = \max_i a_i + \max_i b_i",
        r"v = \operatorname{Var}(f(x) + g(y)) = \operatorname{Var}(f(x)) + \operatorname{Var}(g(y)) + c - c",
        r"e = E_q[f(x) g(x)] + c = E_q[f(x)] E_q[g(x)] + c",
        r"s = \sum_{x \in D} \sum_{y \in D} f(x) g(y) = \sum_{x \in D} \sum_{y \in D} f(x) g(x)",
        r"s = \sum_{x \in D} f(x) + c = \sum_{x \in E} f(x) + c",
        r"p = P(a \mid b) + c = P(b \mid a) + c",
        r"d = f(x + y) + c = f(x) + f(y) + c",
        r"q = f(x, y) - f(y, x) + c = c",
        r"g = \nabla_w (f(w) h(w)) + c = \nabla_w f(w) \nabla_w h(w) + c",
        r"f(x + T) = f(x)",
        r"d(x, y) = d(y, x)",
    ],
)
def test_nothing_is_said_where_the_terms_may_have_a_law_of_their_own(formula: str) -> None:
    assert said(formula) not in (*DECIDED, "wrong")


def test_what_a_term_is_taken_for_is_named() -> None:
    finding = check_text(r"$$a = f(x) + g(y) + c = c + g(y) + f(x)$$", "markdown").claims[-1].finding
    assert finding.verdict == "conditional"
    assert finding.assumptions == ("f(x) is a number", "g(y) is a number")


def test_a_corrected_side_has_its_terms_again() -> None:
    text = r"$$L = -\log p(x \mid z) + \log p(z) = -(\log p(x \mid z) + \log p(z))$$"
    assert check_text(text, "markdown").claims[-1].finding.right == r"-(\log p(x \mid z) - \log p(z))"


TERMS = (r"r(x)", r"r(y)", r"p(x \mid z)", r"\|u - v\|", r"\frac{\partial L}{\partial w}", r"E_q[s]", r"w^\top x", "c")


def _drawn(random: Random, letters: list[Symbol], depth: int) -> Expr:
    if depth == 0:
        return random.choice([*letters, Integer(random.randint(1, 4))])
    one, other = (_drawn(random, letters, depth - 1) for _ in range(2))
    return random.choice((one + other, one - other, one * other, one * other, one**2))


def _written(expression: Expr, terms: list[str]) -> str:
    text = latex(expression)
    for number, term in enumerate(terms):
        text = text.replace(f"Z_{{{number}}}", f" {term} ")
    return str(text)


@pytest.mark.parametrize("seed", range(30))
def test_expanded_products_are_right_and_a_changed_term_is_not(seed: int) -> None:
    """Drawn polynomials in terms: what is equal is never wrong, and what is not never holds."""
    random = Random(seed)
    letters = [Symbol(f"Z_{number}") for number in range(3)]
    terms = random.sample(TERMS, 3)
    product = _drawn(random, letters, 3)
    whole = expand(product)
    parts = list(Add.make_args(whole))
    changed = Add(-parts[0], *parts[1:])
    left = _written(product, terms)
    assert said(f"k = {left} = {_written(whole, terms)}") not in ("wrong", "differs")
    if changed != whole:
        assert said(f"k = {left} = {_written(changed, terms)}") not in DECIDED


def test_factors_of_a_logarithm_are_assumed_to_be_positive() -> None:
    finding = check_text(r"$$k = \log(r(x) s(x)) = \log r(x) + \log s(x)$$", "markdown").claims[-1].finding
    assert finding.verdict == "holds"  # where the right side is defined, both are
    finding = check_text(r"$$k = \log(r(x) s(x)) + c = c + \log(s(x) r(x))$$", "markdown").claims[-1].finding
    assert finding.assumptions == ("r(x) is positive", "s(x) is positive")
