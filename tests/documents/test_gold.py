"""The five documents against the verdicts judged by hand, where both are at hand."""

import pytest

from tests.documents.gold import CLAIMS, DOCUMENTS, KINDS, Compared, compared, share
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


def test_formulas_are_decided_alike_or_seen_to_fit(rows: list[Compared]) -> None:
    """What these documents say in sentences ("row i of Q", "four times as wide") is not judged: 28 of 187 claims."""
    agree, count = share(row for row in rows if row.record["kind"] in ("equality", "numeric"))
    assert agree / count >= 0.34
    others = [row for row in rows if row.record["kind"] in ("definition", "shape")]
    assert sum(row.agrees or row.verdict == "fits" for row in others) / len(others) >= 0.62
