"""Parts without a meaning of their own are letters, at the places that their indices tell."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.elaborate import NotElaborated
from derivations.documents.elaborate.letters import letters_of
from derivations.documents.elaborate.uninterpreted import refuse_mixed_expectations, with_letters
from derivations.documents.formulas import formula_text, read_formula
from derivations.documents.syntax import Name


def uninterpreted(text: str) -> list[Name]:
    chain = read_formula(text, "latex").statements[0]
    (right,) = with_letters(chain.sides[1:], letters_of(chain.sides))
    return [part for part in right.walk() if isinstance(part, Name) and part.font == "uninterpreted"]


def test_a_function_under_a_sum_is_an_entry() -> None:
    (letter,) = uninterpreted(r"L = -\sum_{t=1}^{T} \log p(x_t \mid x_{<t})")
    assert [formula_text(place) for place in letter.subscripts] == ["t"]


def test_what_is_written_alike_is_one_letter() -> None:
    one, other = uninterpreted(r"y = g(x) + g(x)")
    assert one == other


def test_what_is_written_otherwise_is_another_letter() -> None:
    one, other = uninterpreted(r"y = g(x) + g(z)")
    assert one.key != other.key


@pytest.mark.parametrize("text", [r"y = \tanh(x)", r"y = \mathrm{softmax}(x)", r"y = \max(0, x)", r"y = \log_2(x)"])
def test_a_known_function_stays(text: str) -> None:
    assert not uninterpreted(text)


def test_a_list_is_one_letter() -> None:
    (letter,) = uninterpreted(r"f_t = W [h_{t-1}, x_t]")
    assert [formula_text(place) for place in letter.subscripts] == ["t - 1", "t"]


@pytest.mark.parametrize(
    "text",
    [
        r"v = \mathbb{E}_{p}[x^2] - \mathbb{E}_{q}[x]^2",
        r"v = \mathbb{E}_{x \sim p}[x^2] - \mathbb{E}_{x \sim q}[x]^2",
        r"H = -\mathbb{E}_{x \sim q}[\log q(x)]",
        r"H = -\mathbb{E}_{q}[\log q(x)]",
        r"D = \mathbb{E}_{x \sim P}[\log \frac{P}{Q}]",
    ],
)
def test_expectations_over_distributions_that_matter_are_not_read(text: str) -> None:
    with pytest.raises(NotElaborated):
        refuse_mixed_expectations(read_formula(text, "latex").statements[0].sides)


@pytest.mark.parametrize(
    "text",
    [
        r"v = \mathbb{E}_{x}[x^2] - \mathbb{E}_{x}[x]^2",
        r"v = \mathbb{E}[x^2] - \mathbb{E}[x]^2",
        r"L = \mathbb{E}_{q(z \mid x)}[\log p(x \mid z)]",
        r"L = \mathbb{E}_{(x, y) \sim D}[r(x)] - \mathbb{E}_{(x, y) \sim D}[r(y)]",
    ],
)
def test_expectations_over_one_thing_are_read(text: str) -> None:
    refuse_mixed_expectations(read_formula(text, "latex").statements[0].sides)


def test_a_variance_of_two_distributions_does_not_hold() -> None:
    right, wrong = (
        verdicts(rf"The variance of x is $$\mathrm{{Var}}(x) = \mathbb{{E}}_p[x^2] - \mathbb{{E}}_{q}[x]^2$$")
        for q in "pq"
    )
    assert "holds" in right and "holds" not in wrong


def verdicts(text: str) -> list[str]:
    return [claim.finding.verdict for claim in check_text(text, "markdown").claims]
