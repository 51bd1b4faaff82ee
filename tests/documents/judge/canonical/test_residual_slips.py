"""Slips in residual sums: what is subtracted or stands twice is wrong where a sub-layer makes one of the other."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Finding

DECODER = r"""
$$
\begin{aligned}
Y &= \operatorname{LayerNorm}(X + A) \\
C &= \operatorname{MultiHead}(Y, \mathrm{memory}, \mathrm{memory}) \\
Z &= \operatorname{LayerNorm}(%s)
\end{aligned}
$$
"""
MADE = "The sub-layer gives $U = {}$ and then $$H = {}$$"


def last(text: str) -> Finding:
    return check_text(text, "markdown").claims[-1].finding


@pytest.mark.parametrize("inner", ["Y - C", "C - Y", "C + C", "Y + Y", "Y - Y"])
def test_another_sum_of_the_two_letters_is_wrong(inner: str) -> None:
    """The sum that is right is shown."""
    finding = last(DECODER % inner)
    assert finding.verdict == "wrong"
    assert "C is what a sub-layer makes of Y" in finding.reason
    assert "Y + C" in (finding.right or "")


@pytest.mark.parametrize("inner", ["Y + C", "C + Y", "X + C", "Y + 2 C", r"Y + \text{FFN}(Y)", "Y - X", "X + X"])
def test_other_sums_may_be_meant(inner: str) -> None:
    """Nothing is said of letters of which no sub-layer makes one of the other."""
    assert last(DECODER % inner).verdict != "wrong"


@pytest.mark.parametrize(
    ("made", "sum_", "wrong"),
    [
        (r"\text{FFN}(V)", r"\text{LN}(V - U)", True),
        (r"\text{Dropout}(\text{Attention}(V, V, V))", r"\text{LN}(U + U)", True),
        (r"\text{FFN}(V)", r"\text{norm}(V - U)", False),  # a distance
        (r"\text{mean}(V)", r"\text{LN}(V - U)", False),
        (r"W V", r"\text{LN}(V - U)", False),
        (r"\text{FFN}(V)", r"\text{LN}(V - U) + V", False),  # attention by offsets
    ],
)
def test_the_letter_is_made_by_a_sub_layer_that_is_called_so(made: str, sum_: str, wrong: bool) -> None:
    """A mean may be subtracted, and a norm may be a length."""
    assert (last(MADE.format(made, sum_)).verdict == "wrong") is wrong


@pytest.mark.parametrize(
    ("formula", "wrong"),
    [
        (r"y = \text{LN}(x - \text{FFN}(x))", True),
        (r"y = \text{LayerNorm}(\text{Dropout}(\text{Attention}(x)) - x)", True),
        (r"y = \text{LN}(x - f(x))", False),
        (r"y = x - \text{FFN}(x)", False),
        (r"y = \text{LN}(x - \text{FFN}(z))", False),
        (r"y = \text{norm}(x - \text{FFN}(x))", False),
    ],
)
def test_a_sub_layer_that_is_called_inside_the_sum(formula: str, wrong: bool) -> None:
    """Its output is added to its input."""
    assert (last(f"$${formula}$$").verdict == "wrong") is wrong
