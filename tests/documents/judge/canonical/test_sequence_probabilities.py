"""The chain rule of probabilities, over the tokens of a sequence."""

import pytest

from derivations.documents.checking import check_text


def verdict_of(formula: str) -> str:
    return check_text(f"Here ${formula}$", "markdown").claims[-1].finding.verdict


@pytest.mark.parametrize(
    "formula",
    [
        r"p(y \mid x) = \prod_t p(y_t \mid y_{<t}, x)",
        r"p_\theta(\mathbf{x}) = \prod_{t=1}^{T} p_\theta(x_t \mid x_{<t})",
        r"P(w_1, \dots, w_n) = \prod_{i=1}^{n} P(w_i \mid w_1, \dots, w_{i-1})",
        r"P(w_{1:n}) = \prod_{i=1}^{n} P(w_i | w_{1:i-1})",
        r"P(X) = \prod_{t} P(x_{t+1} | x_{\le t})",
        r"\log p(y \mid x) = \sum_t \log p(y_t \mid y_{<t}, x)",
        r"-\log p(y \mid x) = -\sum_{t=1}^{T} \log p(y_t \mid y_{<t}, x)",
        r"-\log p(y \mid x) = \sum_t -\log p(y_t \mid y_{<t}, x)",
    ],
)
def test_the_chain_rule_holds(formula: str) -> None:
    assert verdict_of(formula) == "holds"


@pytest.mark.parametrize(
    "formula",
    [
        r"p(y \mid x) = \sum_t p(y_t \mid y_{<t}, x)",
        r"\log p(y \mid x) = \prod_t \log p(y_t \mid y_{<t}, x)",
        r"\log p(y \mid x) = \prod_t p(y_t \mid y_{<t}, x)",
        r"p(y \mid x) = \sum_t \log p(y_t \mid y_{<t}, x)",
        r"\log p(y \mid x) = -\sum_t \log p(y_t \mid y_{<t}, x)",
        r"P(w_1, \dots, w_n) = \prod_{i=1}^{n} P(w_i \mid w_1, \dots, w_i)",
        r"p(x) = \prod_t p(x_t \mid x_{\le t})",
    ],
)
def test_a_slip_in_the_chain_rule_is_found(formula: str) -> None:
    assert verdict_of(formula) == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"p(x) = \sum_z p(x \mid z) p(z)",  # the marginal
        r"p(x) = \sum_t p(x_t \mid z_{<t})",  # of another sequence
        r"p(x) = \prod_t p(x_t)",  # tokens that are independent
        r"L = \sum_t \log p(y_t \mid y_{<t}, x)",  # a loss, its sign left open
        r"s(y) = \sum_t \log p(y_t \mid y_{<t}, x)",
        r"p(y) = \prod_t p(() \mid y_{<t})",
        r"p() = \prod_t p(y_t \mid y_{<t})",
        r"p(y) = \prod_t p(y_t \mid y_{t-1})",  # a chain of Markov
        r"\log p(y \mid x) \propto \prod_t \log p(y_t \mid y_{<t}, x)",
        r"p(x) = \prod_t p(x_{t+1} \mid x_{<t})",  # one token is left out
    ],
)
def test_other_sums_and_products_of_probabilities_are_left_alone(formula: str) -> None:
    assert verdict_of(formula) == "unknown"


def test_the_reason_names_what_is_done_with_tokens() -> None:
    finding = check_text(r"$p(y) = \sum_t p(y_t \mid y_{<t})$", "markdown").claims[0].finding
    assert finding.reason == "probabilities of tokens are multiplied, not added"
    assert finding.right is not None
    assert r"\prod" in finding.right
