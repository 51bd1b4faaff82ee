"""What a kind of finding may say: what fits decides nothing, what differs from the usual is no alarm."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.policy import DIFFERS, FITS, UNNAMED, in_policy
from derivations.documents.verdicts import Finding, Repair
from tests.documents.said import in_a_word


def last(text: str) -> Finding:
    return check_text(text, "markdown").claims[-1].finding


@pytest.mark.parametrize("check", sorted(FITS))
def test_what_fits_is_unknown_with_its_remark(check: str) -> None:
    assert in_policy(Finding("holds", check, "the shapes fit")) == Finding("unknown", check, "the shapes fit")
    conditional = Finding("conditional", check, "the shapes fit", assumptions=("n = m",))
    assert in_policy(conditional).verdict == ("unknown" if check == "shapes.fit" else "conditional")


@pytest.mark.parametrize("check", sorted(DIFFERS))
def test_what_differs_is_conditional_and_keeps_what_would_be_right(check: str) -> None:
    said = in_policy(Finding("wrong", check, "a sign is wrong", right="x + y", repair=Repair(0, 1, "+")))
    assert (said.verdict, said.reason, said.right) == (
        "conditional",
        "differs from the usual: a sign is wrong",
        "x + y",
    )
    assert said.assumptions == (DIFFERS[check],)
    assert said.repair is None
    assert in_policy(said) == said


@pytest.mark.parametrize("check", ["arithmetic", "chain", "canonical", "counting", "consistency.index"])
def test_other_alarms_stay(check: str) -> None:
    wrong, right = Finding("wrong", check, "no"), Finding("holds", check, "yes")
    assert (in_policy(wrong), in_policy(right)) == (wrong, right)


@pytest.mark.parametrize(
    ("text", "check"),
    [
        (r"Let $X \in \mathbb{R}^{n \times d}$", "shapes.declared"),
        (r"Let $X \in \mathbb{R}^{n \times d}$, $W \in \mathbb{R}^{d \times m}$. $f(X) = X W$", "shapes.fit"),
    ],
)
def test_what_only_fits_is_not_said_to_hold(text: str, check: str) -> None:
    finding = last(text)
    assert (in_a_word(finding), finding.check) == ("fits", check)


@pytest.mark.parametrize(
    "text",
    [
        r"$\text{softmax}(x)_i = \frac{x_i}{\sum_j e^{x_j}}$",
        r"$y_i = \text{softmax}(x)_i = \frac{x_i}{\sum_j e^{x_j}}$",
        r"$\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{Q K}{\sqrt{d_k}}\right) V$",
        r"$\sigma(x) = \frac{1}{1 + e^x}$",
        r"$\mu = \frac{1}{d - 1} \sum_{i=1}^d x_i$",
        r"$PE_{(pos, 2i)} = \cos(pos / 10000^{2i / d})$",
        r"$d_k = d_v / h$",
        r"Let $y = \text{softmax}(x)$. Then $\frac{\partial y_i}{\partial x_j} = y_i (\delta_{ij} + y_j)$",
    ],
)
def test_a_slip_in_what_the_left_side_names_is_wrong(text: str) -> None:
    finding = last(text)
    assert (finding.verdict, finding.check) == ("wrong", "canonical")


@pytest.mark.parametrize(
    "text",
    [
        r"$\frac{\partial y_i}{\partial x_j} = y_i (\delta_{ij} + y_j)$",
        r"$\frac{\partial L}{\partial z_i} = p_j - y_i$",
    ],
)
def test_a_slip_in_what_the_left_side_does_not_name_differs(text: str) -> None:
    finding = last(text)
    assert (in_a_word(finding), finding.check) == ("differs", UNNAMED)


@pytest.mark.parametrize("letters", ["p, q", "p"])
def test_entropies_are_named_by_their_letter(letters: str) -> None:
    text = rf"$H({letters}) = %s\sum_x p(x) \log {letters[-1]}(x)$"
    assert last(text % "").verdict == "wrong"
    assert last(text % "-").verdict != "wrong"


def test_the_order_in_which_a_left_side_lists_its_arguments_is_free() -> None:
    right = r"softmax(\frac{Q K^T}{\sqrt{d_k}}) V"
    for left in ("Q, K, V", "K, Q, V", "V, K, Q"):
        assert last(rf"$Attention({left}) = {right}$").verdict == "holds"
    assert last(rf"$Attention(Q, K, V) = {right.replace('Q K', 'K Q')}$").verdict == "wrong"


def test_a_letter_before_a_number_in_brackets_may_be_a_function() -> None:
    assert last("$P(1) = P(2) = P(3)$").verdict == "unknown"
    assert "P is a number, and no function" in last("$P(1) + P(2) = P(3)$").assumptions
    assert last("So $2 a = 3 a$").verdict == "wrong"


@pytest.mark.parametrize(
    ("text", "check"),
    [
        (r"With $d_k = d_{model} / h$, $d_{model} = 512$ and $h = 8$ we have $d_k = 32$", "consistency.setting"),
        (r"So $2 / 3 \approx 0.66$", "arithmetic.truncated"),
    ],
)
def test_what_differs_in_a_document_is_conditional(text: str, check: str) -> None:
    claims = check_text(text, "markdown").claims
    assert ("differs", check) in [(in_a_word(claim.finding), claim.finding.check) for claim in claims]
    assert not any(claim.finding.verdict == "wrong" for claim in claims)
