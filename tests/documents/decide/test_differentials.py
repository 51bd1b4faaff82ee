"""Products of derivatives, of which one is turned round."""

import pytest

from derivations.documents.checking import check_text

CHAIN = r"$\frac{\partial L}{\partial x} = %s$"


def _verdict(text: str) -> tuple[str, str]:
    (claim,) = check_text(text, "markdown").claims
    return claim.finding.verdict, claim.finding.check


@pytest.mark.parametrize(
    "right",
    [
        r"\frac{\partial y}{\partial L} \frac{\partial y}{\partial x}",
        r"\frac{\partial y}{\partial L} W^\top",
        r"\sum_i \frac{\partial y_i}{\partial L} \frac{\partial y_i}{\partial x}",
    ],
)
def test_a_derivative_that_is_turned_round_is_wrong(right: str) -> None:
    assert _verdict(CHAIN % right) == ("wrong", "derivative")


@pytest.mark.parametrize(
    "right",
    [
        r"\frac{\partial L}{\partial y} \frac{\partial y}{\partial x}",
        r"\frac{\partial L}{\partial y} W^\top",
        r"\frac{1}{\frac{\partial x}{\partial L}}",
        r"\frac{\partial L}{\partial y} + \frac{\partial L}{\partial z}",
    ],
)
def test_the_chain_rule_and_what_is_no_product_is_let_be(right: str) -> None:
    assert _verdict(CHAIN % right)[0] != "wrong"
