"""What a kind of finding may say: an alarm needs evidence of one of four kinds, and a remark decides nothing."""

import pytest

from derivations.documents.checking import check_text
from derivations.documents.policy import DIFFERS, EVIDENCE, FITS, in_policy
from derivations.documents.verdicts import Finding


def test_an_alarm_without_evidence_is_unknown() -> None:
    assert in_policy(Finding("wrong", "naming.fit", "it is named otherwise")).verdict == "unknown"


@pytest.mark.parametrize("check", sorted(EVIDENCE))
def test_an_alarm_with_evidence_is_one(check: str) -> None:
    assert in_policy(Finding("wrong", check, "it differs")).verdict == "wrong"


@pytest.mark.parametrize("check", sorted(DIFFERS))
def test_what_differs_from_the_usual_is_conditional(check: str) -> None:
    found = in_policy(Finding("wrong", check, "a reason", right="3.14"))
    assert (found.verdict, found.right, found.assumptions) == ("conditional", "3.14", (DIFFERS[check],))


def test_shapes_that_fit_are_a_remark() -> None:
    text = r"Let $Q \in \mathbb{R}^{n \times d}$ and $K \in \mathbb{R}^{m \times d}$. The scores are $S = Q K^\top$."
    for claim in check_text(text, "markdown").claims:
        assert (claim.finding.verdict, claim.finding.check in FITS) == ("unknown", True)


@pytest.mark.parametrize(
    "formula",
    [
        r"\operatorname{tr}(AB) = \operatorname{tr}(A) \operatorname{tr}(B)",
        r"h = W x + s A B x",
        r"\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{QK^T}{\sqrt{d_{model}}}\right)V",
    ],
)
def test_what_may_be_false_is_neither_proved_nor_held(formula: str) -> None:
    for claim in check_text(f"With $A, B$ of low rank, ${formula}$.", "markdown").claims:
        assert claim.finding.verdict not in ("proved", "holds")
