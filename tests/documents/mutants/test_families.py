"""Mutants of canonical formulas: what plain loops say is different must be called wrong, and is never proved."""

from __future__ import annotations

import math
from typing import Any

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.judge.canonical.canonical import check_canonical
from derivations.documents.passages import Block, Passage, Place
from derivations.documents.statements import Statement
from derivations.documents.verdicts import Finding
from tests.documents.judge.trees import FakeScope
from tests.documents.mutants.families import FAMILIES, Family, written
from tests.documents.variants import VARIANTS

SHARE = 0.95


ROWS = FakeScope(convention="rows")  # nothing is known but that positions are rows


def judged(text: str, scope: object) -> list[Finding]:
    reading = read_formula(text, "latex")
    assert reading.stopped is None, (text, reading.stopped)
    passage = Passage("latex", text, ((0, Place(1, 1)),))
    found = []
    for chain in reading.statements:
        statement = Statement(chain, passage, Block("paragraph", (passage,)))
        for link in statement.links:
            found += list(check_canonical(statement, link, scope))
    return found


def differs(first: Any, second: Any) -> bool:
    """Say whether the loops give other numbers, or none where shapes do not fit."""
    if first is None or second is None:
        return first is not second
    if isinstance(first, list) and isinstance(second, list):
        return len(first) != len(second) or any(map(differs, first, second))
    if isinstance(first, list) or isinstance(second, list):
        return True
    return not math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_right_formulas_are_recognised(family: Family) -> None:
    """In every set of letters, as the usual formula or that under a named assumption, with the result it is."""
    for table in family.letters:
        findings = judged(written(family.right, table), ROWS)
        assert findings, written(family.right, table)
        assert all(finding.verdict in ("holds", "conditional") and finding.result for finding in findings)


@pytest.mark.slow
def test_mutants_are_called_wrong_and_never_proved() -> None:
    """At least 200 mutants that differ; the share that is called wrong is printed."""
    verdicts: dict[str, list[str]] = {}
    for family in FAMILIES:
        for _, text, value in family.rows():
            if differs(value, family.value):
                findings = judged(text, ROWS)
                verdicts.setdefault(findings[0].verdict if findings else "unknown", []).append(text)
    count = sum(map(len, verdicts.values()))
    print({verdict: f"{len(texts)} of {count}" for verdict, texts in verdicts.items()})
    assert count >= 200
    assert not verdicts.get("proved") and not verdicts.get("holds"), verdicts
    assert len(verdicts["wrong"]) >= SHARE * count, verdicts


@pytest.mark.slow
def test_a_repair_is_right() -> None:
    """What is said to be right is itself recognised, and not as wrong."""
    for family in FAMILIES:
        for _, text, _ in family.rows()[:4]:
            for finding in judged(text, ROWS):
                if finding.verdict == "wrong" and finding.right is not None:
                    again = judged(finding.right, ROWS)
                    assert again and all(each.verdict in ("holds", "conditional") for each in again), finding.right


@pytest.mark.slow
def test_right_formulas_of_other_kinds_are_no_mistakes() -> None:
    """Unscaled, biased, linear, additive attention, other norms, other conventions: nothing of it is wrong."""
    assert len(VARIANTS) >= 60
    wrong = [(text, each.reason) for text in VARIANTS for each in judged(text, FakeScope()) if each.verdict == "wrong"]
    assert not wrong
