"""A formula that its own sentence denies is no claim; one that merely stands near such words is."""

import pytest

from derivations.documents.checking import check_text

DENIED = [
    "It is not true that $2 + 2 = 5$.",
    "Writing $2 + 2 = 5$ here is a common mistake.",
    "這裡的 $2 + 2 = 5$ 是錯誤的。",
    "$2 + 2 = 5$ は誤りです。",
    "有的教程误写为 $2 + 2 = 5$。",
    "常有人寫錯成 $2 + 2 = 5$。",
    "誤って $2 + 2 = 5$ と書かれることがある。",
]
CLAIMED = [
    "Mistakes are common. Here $2 + 2 = 5$ holds.",
    "So $2 + 2 = 5$. The wrong sign is harmless.",
    "因此 $2 + 2 = 5$。",
    "忽略误差,$2 + 2 = 5$。",
    "誤差を無視すると $2 + 2 = 5$。",
]

DENIED_ALONE = [  # and what is said instead is a claim
    ("应为 $2 + 2 = 4$ 而不是 $2 + 2 = 5$。", 1),
    ("$2 + 2 = 5$ ではなく $2 + 2 = 4$ である。", 0),
    ("很多人以为 $2 + 2 = 5$，其实 $2 + 2 = 4$。", 0),
    ("原文作 $2 + 2 = 5$，應為 $2 + 2 = 4$。", 0),
    ("不要寫成 $2 + 2 = 5$，要寫 $2 + 2 = 4$。", 0),
    ("❌ $2 + 2 = 5$ ✓ $2 + 2 = 4$", 0),
    ("It is $2 + 2 = 4$, not $2 + 2 = 5$.", 1),
    ("Some write $2 + 2 = 5$; that should be $2 + 2 = 4$.", 0),
]
NOT_DENIED = [
    "两者分别为 $2 + 2 = 5$ 和 $2 + 2 = 4$。",
    "所以为 $2 + 2 = 5$，即 $2 + 2 = 4$。",
    "没错:$2 + 2 = 5$，$2 + 2 = 4$。",
    "$2 + 2 = 5$ である。なお $2 + 2 = 4$ ではない値もある。",
]


def verdicts(text: str) -> list[str]:
    return [claim.finding.verdict for claim in check_text(text, "markdown").claims]


@pytest.mark.parametrize("text", DENIED)
def test_what_a_sentence_denies_is_no_claim(text: str) -> None:
    assert verdicts(text) == ["unknown"]


@pytest.mark.parametrize("text", CLAIMED)
def test_what_it_does_not_deny_is_one(text: str) -> None:
    assert verdicts(text) == ["wrong"]


@pytest.mark.parametrize(("text", "denied"), DENIED_ALONE)
def test_words_next_to_a_formula_deny_it_alone(text: str, denied: int) -> None:
    found = verdicts(text)
    assert found.pop(denied) == "unknown"
    assert found == ["holds"]


@pytest.mark.parametrize("text", NOT_DENIED)
def test_words_that_look_like_a_denial_are_none(text: str) -> None:
    assert verdicts(text)[0] == "wrong"


SLIP = r"\frac{\partial y_i}{\partial x_j} = y_i (1 - y_j)"
GIVEN = r"Let $y = \text{softmax}(x)$ with $x \in \mathbb{R}^n$."


@pytest.mark.parametrize(
    ("before", "behind", "verdict"),
    [
        ("A common mistake is to write", "and so on.", "unknown"),
        ("Some write:", "which is wrong.", "unknown"),
        ("有人寫成", "，這是錯誤的。", "unknown"),
        ("There are mistakes of signs. We have", "The wrong sign is harmless.", "wrong"),
        ("We have", "for all entries.", "wrong"),
    ],
)
def test_a_sentence_runs_through_a_displayed_formula(before: str, behind: str, verdict: str) -> None:
    for text, form in (
        (f"{GIVEN}\n\n{before}\n\n$${SLIP}$$\n\n{behind}\n", "markdown"),
        (f"{GIVEN}\n\n{before}\n\\[{SLIP}\\]\n{behind}\n", "latex"),
    ):
        found = [claim for claim in check_text(text, form).claims if "partial" in claim.text]
        assert [claim.finding.verdict for claim in found] == [verdict]


def test_a_chain_without_end_is_not_judged_and_the_rest_is() -> None:
    assert verdicts(f"${' = '.join(['a'] * 150)}$ and $2 + 2 = 5$") == ["unknown", "wrong"]


@pytest.mark.parametrize(
    "text",
    [
        "Take $U = 0.9$. The product grows if $|U| > 1$ holds.",
        "取 $U = 0.9$。如果 $|U| > 1$，梯度会爆炸。",
    ],
)
def test_a_condition_is_not_said_to_hold(text: str) -> None:
    assert [claim.finding.verdict for claim in check_text(text, "markdown").claims if ">" in claim.text] == ["unknown"]


def test_an_inequality_that_is_said_to_hold_is_judged() -> None:
    (claim,) = [c for c in check_text("Take $U = 0.9$. So $|U| > 1$.", "markdown").claims if ">" in c.text]
    assert claim.finding.verdict == "wrong"
