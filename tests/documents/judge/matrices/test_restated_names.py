r"""A formula and the "where ..." behind it must define a letter alike."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Finding

SCORES = r"where $S = \frac{Q K^\top}{\sqrt{d_k}}$, $A = \operatorname{softmax}(S)$, $O = A V$."


def said(formula: str, behind: str) -> Finding:
    """Return what is said of a displayed formula with a paragraph behind it."""
    return check_text(f"$${formula}$$\n\n{behind}\n", "markdown").claims[0].finding


@pytest.mark.parametrize(
    ("formula", "behind"),
    [
        (r"O = \operatorname{softmax}(Q K^\top) V", SCORES),
        (r"O = \operatorname{softmax}(\frac{Q K^\top}{d_k}) V", SCORES),
        (r"Y = (X W + B) U", "where $H = X W - B$ and $Y = H U$."),
        (r"Y = X - f(X)", "with $A = f(X)$ and $Y = X + A$."),
    ],
)
def test_two_definitions_one_slip_apart_are_wrong(formula: str, behind: str) -> None:
    assert said(formula, behind).verdict == "wrong"


@pytest.mark.parametrize(
    ("formula", "behind"),
    [
        (r"O = \operatorname{softmax}(\frac{Q K^\top}{\sqrt{d_k}}) V", SCORES),
        (
            r"O = \operatorname{softmax}(Q K^\top) V",
            r"where $S = Q K^\top$, $A = \operatorname{softmax}(S)$, $O = A V$.",
        ),
        (r"O = \operatorname{softmax}(Q K^\top) V", "The output is O."),
        (r"O = \operatorname{softmax}(Q K^\top) V", "Later we scale: " + SCORES[6:]),  # another formula, no explanation
        (r"Y = (X W + B) U", "where $H = X W + B$ and $Y = H U$."),
        (r"Y = (X W + B) U", "where $Y = Z W_1 W_2 W_3$."),  # another thing
        (r"S = Q K^\top", r"With scaling, $S = Q K^\top / \sqrt{d}$."),
        (
            r"A = \operatorname{softmax}(Q K^\top)",
            r"With scaling, $S = Q K^\top / \sqrt{d}$ and $A = \operatorname{softmax}(S)$.",
        ),
    ],
)
def test_equal_and_unrelated_definitions_are_left_alone(formula: str, behind: str) -> None:
    assert said(formula, behind).verdict != "wrong"
