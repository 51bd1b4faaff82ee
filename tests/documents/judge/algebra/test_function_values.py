r"""Functions of one number: activations, and functions of the document, at numbers, and their derivatives."""

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Claim

SIGMOID = r"The sigmoid is $\sigma(x) = \frac{1}{1 + e^{-x}}$."


def last(text: str) -> Claim:
    return check_text(text, "markdown").claims[-1]


def verdict_of(formula: str, before: str = SIGMOID) -> str:
    return last(f"{before}\n\n{formula}\n").finding.verdict


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (r"$\sigma(1) = 0.731$", r"$\sigma(1) = 0.713$"),
        (r"$\sigma(-2) \approx 0.119$", r"$\sigma(-2) \approx 0.881$"),
        (r"$\sigma'(0) = 0.25$", r"$\sigma'(0) = 0.5$"),
        (r"$2 \sigma(1) - 1 = 0.462$", r"$2 \sigma(1) - 1 = 0.642$"),
        (r"$\sigma'(x) = \sigma(x)(1 - \sigma(x))$", r"$\sigma'(x) = \sigma(x)(1 + \sigma(x))$"),
        (r"$\tanh'(x) = 1 - \tanh^2(x)$", r"$\tanh'(x) = 1 - \tanh(x)$"),
        (r"$\text{GELU}(1) = 0.841$", r"$\text{GELU}(1) = 0.814$"),
        (r"$\text{SiLU}(-1) = -0.269$", r"$\text{SiLU}(-1) = -0.731$"),
        (r"$\text{softplus}(0) = 0.693$", r"$\text{softplus}(0) = 0.639$"),
        (r"$\text{softplus}'(x) = \sigma(x)$", r"$\text{softplus}'(x) = \sigma(-x)$"),
        (r"$\text{SiLU}'(x) = \sigma(x) + x \sigma(x)(1 - \sigma(x))$", r"$\text{SiLU}'(x) = \sigma(x) + x \sigma(x)$"),
        (r"$\frac{d}{dx} x^3 = 3 x^2$", r"$\frac{d}{dx} x^3 = 2 x^2$"),
        (r"$\frac{d}{dx} \sqrt{x} = \frac{1}{2 \sqrt{x}}$", r"$\frac{d}{dx} \sqrt{x} = \frac{1}{\sqrt{x}}$"),
        (r"$\frac{d}{dx} \tanh(x) = 1 - \tanh^2(x)$", r"$\frac{d}{dx} \tanh(x) = 1 + \tanh^2(x)$"),
        (r"$\frac{d}{dx} \ln(1 + e^x) = \sigma(x)$", r"$\frac{d}{dx} \ln(1 + e^x) = 1 - \sigma(x)$"),
    ],
)
def test_functions_at_numbers_and_their_derivatives(right: str, wrong: str) -> None:
    assert verdict_of(right) == "holds"
    assert verdict_of(wrong) == "wrong"


def test_a_function_of_the_document_is_its_own() -> None:
    own = "We use $f(x) = x^2 + 3 x$ and $g(x) = e^{-x^2}$."
    assert verdict_of("$f(0.5) = 1.75$", own) == "holds"
    assert verdict_of("$f(0.5) = 1.57$", own) == "wrong"
    assert verdict_of("$f'(x) = 2 x + 3$", own) == "holds"
    assert verdict_of("$f'(x) = 2 x^2 + 3$", own) == "wrong"
    assert verdict_of("$g'(x) = -2 x e^{-x^2}$", own) == "holds"
    assert verdict_of("$g'(x) = -x e^{-x^2}$", own) == "wrong"


@pytest.mark.parametrize(
    ("formula", "before", "verdict"),
    [
        (r"$\sigma(1) = 0.731$", "Here", "conditional"),  # nothing says what sigma is
        (r"$\sigma(1) = 0.762$", "Here", "unknown"),
        (r"$\sigma'(x) = 1 - \sigma(x)^2$", "Here", "unknown"),
        (r"$\sigma(1) = 0.762$", r"$\sigma(x) = \tanh(x)$", "holds"),
        (r"$\text{GELU}(2) = 1.936$", "Here", "conditional"),  # by its sigmoid form
        ("$f(0.5) = 1.75$", "Here", "unknown"),
        ("$f(0.5) = 1.75$", "$f(x) = x^2$ or $f(x) = x^3$", "unknown"),
        (r"$f(n) = \sum_{n=1}^{3} n$", "$f(x) = x^2$", "unknown"),  # n is an index
        ("$f'(x) = 2 x + a$", "$f(x) = x^2 + a x$", "unknown"),
        (r"$\tanh(x) = 2 \sigma(2 x) - 1$", SIGMOID, "holds"),
        (r"$\sigma(-x) = 1 - \sigma(x)$", SIGMOID, "holds"),
        (r"$\sigma(x) = 2 x$", SIGMOID, "unknown"),  # an equation for x
        (r"$f'(x) = 0$", "$f(x) = x^2$", "unknown"),  # where it is smallest
    ],
)
def test_what_may_be_meant_otherwise(formula: str, before: str, verdict: str) -> None:
    assert verdict_of(formula, before) == verdict


def test_a_number_that_is_wrong_is_mended() -> None:
    finding = last(rf"{SIGMOID} $\sigma(1) = 0.713$").finding
    assert finding.reason == "the value is 0.731059, not 0.713"
    assert finding.repair is not None
    assert finding.repair.text == "0.731"


def test_definitions_that_go_round_in_a_circle_end() -> None:
    assert verdict_of("$f(0.5) = 0.25$", "$f(x) = g(x) + 1$ and $g(x) = f(x) - 1$") == "unknown"
    assert verdict_of("$f(0.5) = 0.25$", "$f(x) = f(x) f(x)$") == "unknown"


@pytest.mark.parametrize(
    "formula",
    [
        r"$\frac{d}{dx} f(x) = x$",  # of a function that nobody knows
        r"$\frac{dy}{dx} = 2 x$",
        r"$\frac{d}{dx} \tanh(x) \approx 1 - x^2$",
    ],
)
def test_other_derivatives_are_left_alone(formula: str) -> None:
    assert verdict_of(formula) == "unknown"


def test_e_is_eulers_number_below_a_number_that_is_not_whole() -> None:
    """The letter may be a width of the document as well; of its square nobody knows."""
    width = r"The width is $e = 512$."
    assert verdict_of("$e^{2.5} = 12.18$", width) == "holds"
    assert verdict_of("$e^{2.5} = 12.81$", width) == "wrong"
    assert verdict_of("$e^2 = 7.389$", width) == "unknown"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (r"$\sigma(-x) = 1 - \sigma(x)$", r"$\sigma(-x) = 1 + \sigma(x)$"),
        (r"$\tanh x = 2\sigma(2x) - 1$", r"$\tanh x = 2\sigma(2x) + 1$"),
        (r"$\tanh x = 2\sigma(2x) - 1$", r"$\tanh x = 2\sigma(x) - 1$"),
        (r"$2\sigma(-x) = 1 - \tanh(x / 2)$", r"$2\sigma(-x) = 1 + \tanh(x / 2)$"),
        (r"$\text{SiLU}(x) - \text{SiLU}(-x) = x$", r"$\text{SiLU}(x) + \text{SiLU}(-x) = x$"),
    ],
)
def test_an_equation_of_functions_with_one_slip_is_wrong(right: str, wrong: str) -> None:
    assert verdict_of(right) == "holds"
    assert verdict_of(wrong) == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"Solve $\sigma(2x) = \sigma(x) + 1$.",  # a condition
        r"At 0 we have $\tanh(2x) = \tanh(x)$.",  # no slip makes an identity of it
        r"$\sigma(-x) = 1 + \tau(x)$",  # a function that nothing defines
        r"$\tanh(-x) = 2$",
        r"We have $\text{softplus}(x) = x + 1$.",  # at one point
        r"Here $\tanh(x) - \tanh(-x) = x$.",
        r"Here $f(x) + f(-x) = x$.",
    ],
)
def test_equations_of_functions_that_may_be_meant_are_left_alone(formula: str) -> None:
    assert verdict_of(formula) != "wrong"


def test_without_its_definition_sigma_may_be_any_function() -> None:
    assert verdict_of(r"$\sigma(-x) = 1 + \sigma(x)$", before="Let us go on.") == "unknown"


@pytest.mark.parametrize(
    ("definition", "right", "wrong"),
    [
        (r"$s = \frac{1}{1 + e^{-x}}$", r"$\frac{ds}{dx} = s(1 - s)$", r"$\frac{ds}{dx} = s(s - 1)$"),
        (r"$t = \tanh x$", r"$\frac{dt}{dx} = 1 - t^2$", r"$\frac{dt}{dx} = 1 - t$"),
        (r"$y = x^2$", r"$\frac{dy}{dx} = 2x$", r"$\frac{dy}{dx} = 3x$"),
    ],
)
def test_the_derivative_of_a_letter_is_that_of_what_defines_it(definition: str, right: str, wrong: str) -> None:
    assert verdict_of(right, before=definition) in ("holds", "proved")
    assert verdict_of(wrong, before=definition) == "wrong"


@pytest.mark.parametrize(
    ("definition", "formula"),
    [
        (r"$s = v t$", r"$\frac{ds}{dt} = 2 v$"),  # v may depend on t
        (r"$y = x^2$, $y = x^3$", r"$\frac{dy}{dx} = 3 x^2$"),
        (r"$L = L(x)$", r"$\frac{dL}{dx} = 3x$"),
        (r"$y = \tanh x$", r"At $x = 0$ we have $\frac{dy}{dx} = 1$."),
    ],
)
def test_letters_of_which_less_is_known_are_left_alone(definition: str, formula: str) -> None:
    assert verdict_of(formula, before=definition) == "unknown"
