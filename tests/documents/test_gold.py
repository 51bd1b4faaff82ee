"""The five documents against the verdicts judged by hand, where both are at hand."""

import pytest

from tests.documents.gold import CLAIMS, DEFINITIONS, DOCUMENTS, KINDS, Compared, compared, share
from tests.documents.said import ALARMS

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


def test_the_wrong_formulas_are_found(rows: list[Compared]) -> None:
    wrong = {row.record["id"]: row.verdict for row in rows if row.record["verdict"] == "wrong"}
    assert [name for name, verdict in wrong.items() if verdict in ("proved", "holds")] == []
    assert sum(verdict in ALARMS for verdict in wrong.values()) >= len(wrong) - 1  # 003-031 is said in words


def test_formulas_are_decided_alike_or_said_to_define(rows: list[Compared]) -> None:
    """What these documents say in sentences ("row i of Q", "four times as wide") is not judged: 44 of 187 claims."""
    agree, count = share(rows)
    assert agree / count >= 0.63
    agree, count = share(row for row in rows if row.claims)
    assert agree / count >= 0.83


def test_what_asserts_something_is_never_counted_as_a_definition(rows: list[Compared]) -> None:
    equalities = [row for row in rows if row.record["kind"] == "equality" and row.record["id"] not in DEFINITIONS]
    assert equalities
    assert [row.record["id"] for row in equalities if row.agrees and row.verdict == "unknown"] == []
