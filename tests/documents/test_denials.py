"""A formula that its own sentence denies is no claim; one that merely stands near such words is."""

import pytest

from derivations.documents.checking import check_text

DENIED = [
    "It is not true that $2 + 2 = 5$.",
    "Writing $2 + 2 = 5$ here is a common mistake.",
    "這裡的 $2 + 2 = 5$ 是錯誤的。",
    "$2 + 2 = 5$ は誤りです。",
]
CLAIMED = [
    "Mistakes are common. Here $2 + 2 = 5$ holds.",
    "So $2 + 2 = 5$. The wrong sign is harmless.",
    "因此 $2 + 2 = 5$。",
]


def verdicts(text: str) -> list[str]:
    return [claim.finding.verdict for claim in check_text(text, "markdown").claims]


@pytest.mark.parametrize("text", DENIED)
def test_what_a_sentence_denies_is_no_claim(text: str) -> None:
    assert verdicts(text) == ["unknown"]


@pytest.mark.parametrize("text", CLAIMED)
def test_what_it_does_not_deny_is_one(text: str) -> None:
    assert verdicts(text) == ["wrong"]


def test_a_chain_without_end_is_not_judged_and_the_rest_is() -> None:
    assert verdicts(f"${' = '.join(['a'] * 150)}$ and $2 + 2 = 5$") == ["unknown", "wrong"]
