"""The five documents against the verdicts judged by hand, where both are at hand."""

import pytest

from tests.documents.gold import CLAIMS, DOCUMENTS, KINDS, Compared, compared
from tests.documents.said import ALARMS, DECIDED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (DOCUMENTS.is_dir() and CLAIMS.is_file()),
        reason="the five documents and their claims lie in a folder `shared` beside the checkout, which is not there",
    ),
]


@pytest.fixture(scope="module")
def rows() -> list[Compared]:
    return [row for row in compared() if row.record["form"] == "formula" and row.record["kind"] in KINDS]


def test_no_right_claim_is_called_wrong(rows: list[Compared]) -> None:
    assert [row.record["id"] for row in rows if row.record["verdict"] == "correct" and row.verdict in ALARMS] == []


def test_what_says_nothing_is_never_proved() -> None:
    empty = [row for row in compared() if row.record["verdict"] == "not_checkable"]
    assert empty
    assert [row.record["id"] for row in empty if row.verdict == "proved"] == []


def test_the_wrong_formulas_are_never_called_right(rows: list[Compared]) -> None:
    """One is found by its digits; two want the meaning of words, and one is said in words alone."""
    wrong = {row.record["id"]: row.verdict for row in rows if row.record["verdict"] == "wrong"}
    assert [name for name, verdict in wrong.items() if verdict in DECIDED] == []
    assert sum(verdict in ALARMS for verdict in wrong.values()) >= 1


def test_most_formulas_of_which_a_claim_is_made_are_decided_or_seen_to_fit(rows: list[Compared]) -> None:
    """Words around formulas claim nothing here: records that speak of them have no claim."""
    spoken = [row for row in rows if row.claims]
    assert len(spoken) / len(rows) >= 0.65
    assert sum(row.agrees or row.verdict == "fits" for row in spoken) / len(spoken) >= 0.8
