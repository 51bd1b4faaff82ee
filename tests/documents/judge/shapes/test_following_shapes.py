r"""A shape that is stated follows from those that are declared, or it is only seen to fit."""

import pytest

from derivations.documents.checking import check_text

GIVEN = r"$X \in \mathbb{R}^{n \times d}$, $W \in \mathbb{R}^{d \times m}$ and $b \in \mathbb{R}^m$. "


def said(text: str, stated: str) -> tuple[str, str]:
    found = [claim.finding for claim in check_text(text, "markdown").claims if claim.text.startswith(stated)]
    (finding,) = found
    return finding.verdict, finding.check


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (r"Then $z = X W + b$ with $z \in \mathbb{R}^{n \times m}$", "z \\in"),
        (r"Then $z \in \mathbb{R}^{n \times m}$ with $z = X W + b$", "z \\in"),
        (r"Then $X W \in \mathbb{R}^{n \times m}$", "X W"),
        (r"Then $W^T X^T \in \mathbb{R}^{m \times n}$", "W^T"),
        (r"Then $z = X W$, $a = z^T$ and $a \in \mathbb{R}^{m \times n}$", "a \\in"),
    ],
)
def test_a_shape_that_the_declared_ones_give_holds(text, stated):
    assert said(GIVEN + text, stated) == ("holds", "shapes.follows")


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (r"Then $y = X V$ with $y \in \mathbb{R}^{n \times m}$", "y \\in"),  # of V nothing is declared
        (r"Then $y \in \mathbb{R}^{n \times m}$", "y \\in"),  # y is not defined
        (r"Then $y = u$ with $y \in \mathbb{R}^{n \times m}$ and $u = y$", "y \\in"),  # each by the other
        (r"Then $y = y W$ with $y \in \mathbb{R}^{n \times m}$", "y \\in"),  # by itself
        (r"Then $y = X A$, $A \in \mathbb{R}^{d \times m}$, $m = 2 k$, $y \in \mathbb{R}^{n \times 2k}$", "y \\in"),
        (r"Then $y = f(X)$ with $y \in \mathbb{R}^{n \times m}$", "y \\in"),  # f is any function
    ],
)
def test_what_is_not_given_by_the_declared_ones_is_only_seen_to_fit(text, stated):
    assert said(GIVEN + text, stated)[1] == "shapes.declared"


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (r"Then $z = X W + b$ with $z \in \mathbb{R}^{n \times d}$", "z \\in"),
        (r"Then $X W \in \mathbb{R}^{m \times n}$", "X W"),
        (r"Then $X W \in \mathbb{R}^{n \times d}$", "X W"),
    ],
)
def test_another_shape_than_they_give_does_not_follow(text, stated):
    verdict, check = said(GIVEN + text, stated)
    assert check != "shapes.follows" and (verdict == "wrong" or "z" in stated)
