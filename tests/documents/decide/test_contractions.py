"""Arrays that a document multiplies along the same axes, and once along others."""

import pytest

from derivations.documents.decide.contractions import check_contractions
from tests.documents.elaborated import said

SCORES = r"$$S = Q K^T$$ $$A = \text{softmax}(K Q^T / c)$$ $$B = Q K^T + M$$ "
LOW_RANK = r"$$y = x W + s (x A^T) B^T$$ $$M = W + s B A$$ $$R = W - s B A$$ "


def wrong(text):
    return [finding.reason.partition(": ")[2] for finding in said(check_contractions, text)]


@pytest.mark.parametrize(
    ("text", "slip"),
    [
        (SCORES + r"$$O = \text{softmax}(Q K) V$$", "K must be transposed"),
        (SCORES + r"$$O = f(\frac{K^T Q}{c}) V$$", "Q must be transposed, not K"),
        (LOW_RANK + r"$$z = s ((x B^T) A^T)$$", "B and A have changed places"),
        (LOW_RANK + r"$$N = W + t A B$$", "the factors stand in the wrong order"),
    ],
)
def test_other_axes_than_everywhere_are_wrong(text, slip):
    (found,) = wrong(text)
    assert slip in found


@pytest.mark.parametrize(
    "text",
    [
        SCORES + r"$$O = \text{softmax}(Q K^T) V$$",
        SCORES + r"$$S^T = K Q^T$$",
        SCORES + r"$$T = Q K$$ $$U = Q K V$$",  # twice is a way of its own
        SCORES + r"$$Q K = K Q$$",  # a law about both ways
        SCORES + r"$$Q K \neq S$$",
        SCORES + r"$$O = Q_1 K_1$$",  # other letters
        r"$$S = Q K^T$$ $$O = Q K V$$",  # one other formula tells nothing
        r"$$n = 2 M N K$$ $$m = M N$$ $$k = 3 N M$$",  # numbers: nothing is transposed
        SCORES + r"$$c = Q \times K$$",
    ],
)
def test_what_may_be_meant_is_let_be(text):
    assert wrong(text) == []
