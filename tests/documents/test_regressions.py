"""False statements that were once called right, or left unknown although the judge refutes them."""

import pytest

from derivations.documents.checking import check_text

LOW_RANK = "# Low-rank adaptation\n\n"
SQUARE = r"Let $A, B \in \mathbb{R}^{n \times n}$." + "\n\n"
NETWORK = r"""# Feed-forward network

$W_1 \in \mathbb{R}^{d_{ff} \times d_{model}}$, $W_2 \in \mathbb{R}^{d_{ff} \times d_{model}}$,
$x \in \mathbb{R}^{n \times d_{model}}$

"""


def verdict(text: str) -> str:
    return check_text(text, "markdown").claims[-1].finding.verdict


@pytest.mark.parametrize("text", [r"$\frac{x^2-4}{x-2} = x+2$", r"$\frac{n(n-1)}{n-1} = n$"])
def test_what_is_cancelled_is_not_0_by_a_condition(text: str) -> None:
    finding = check_text(text, "markdown").claims[-1].finding
    assert finding.verdict == "conditional"
    assert any("is not 0" in each for each in finding.assumptions)


def test_a_low_rank_update_in_the_other_order_is_not_certain() -> None:
    assert verdict(LOW_RANK + "$W' = W + s A B$") not in ("proved", "holds")
    shapes = r"$B \in \mathbb{R}^{d \times r}$, $A \in \mathbb{R}^{r \times k}$" + "\n\n"
    assert verdict(LOW_RANK + shapes + "$W' = W + s A B$") == "conditional"


def test_a_network_that_its_shapes_contradict_does_not_hold() -> None:
    formula = r"$\mathrm{FFN}(x) = \max(0, x W_1 + b_1) W_2 + b_2$"
    assert verdict(NETWORK + formula) not in ("proved", "holds")


@pytest.mark.parametrize("text", ["$(a+b)^2 = a^2+b^2$", SQUARE + "$AB = BA$"])
def test_what_the_judge_refutes_is_wrong(text: str) -> None:
    assert verdict(text) == "wrong"


def test_the_trace_of_a_product_is_no_product_of_traces() -> None:
    assert verdict(SQUARE + r"$\mathrm{tr}(AB) = \mathrm{tr}(A)\,\mathrm{tr}(B)$") not in ("proved", "holds")
    assert verdict(SQUARE + r"$\mathrm{tr}(AB) = \mathrm{tr}(BA)$") == "proved"


def test_a_product_that_is_mentioned_claims_nothing() -> None:
    shapes = r"$Q \in \mathbb{R}^{n \times d}$, $K \in \mathbb{R}^{m \times d}$" + "\n\n"
    assert verdict(shapes + "**$Q K$ conforms only if** the sizes agree") == "unknown"
    assert verdict(r"$1 - y_t = 1 - \mathrm{softmax}(z)_t$") != "wrong"
