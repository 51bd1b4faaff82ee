"""The report as SARIF: what the standard asks of a log, a run, its rules and results."""

import json
from typing import Any

from derivations.documents.passages import Place, Problem
from derivations.documents.reports.rules import RULES
from derivations.documents.reports.sarif import sarif_report
from derivations.documents.verdicts import Finding, Repair
from tests.documents.reports.written import claim, judged, wrong


def run_of(*files: Any) -> dict[str, Any]:
    """The one run of a log."""
    log = json.loads(sarif_report(files))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    return run


def test_a_wrong_claim_is_a_result_with_its_rule_region_and_fix():
    run = run_of(judged(claim(wrong(Repair(8, 9, "5"))), file="a b.md"))
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "arithmetic"
    assert result["level"] == "error"
    assert "kind" not in result  # any other kind than "fail", which is meant here, would ask for the level "none"
    assert result["message"]["text"] == "2 + 3 is 5, not 7\nRight: 2 + 3 = 5"
    where = result["locations"][0]["physicalLocation"]
    assert where["artifactLocation"] == {"uri": "a%20b.md"}
    region = {"startLine": 1, "startColumn": 7, "endLine": 1, "endColumn": 16}
    assert where["region"] == {**region, "snippet": {"text": "2 + 3 = 7"}}
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "a%20b.md"}
    deleted = {"startLine": 1, "startColumn": 15, "endLine": 1, "endColumn": 16}
    assert change["replacements"] == [{"deletedRegion": deleted, "insertedContent": {"text": "5"}}]
    assert run["columnKind"] == "unicodeCodePoints"


def test_every_rule_says_what_it_is_and_what_to_do():
    rules = run_of()["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    assert all(rule["shortDescription"]["text"].endswith(".") and rule["help"]["text"].endswith(".") for rule in rules)


def test_a_check_without_words_and_one_below_another_have_their_rules():
    run = run_of(judged(claim(Finding("wrong", "new", "no")), claim(Finding("wrong", "shapes.sum", "no"))))
    assert [result["ruleId"] for result in run["results"]] == ["new", "shapes"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == ["new", "shapes"]


def test_what_holds_is_left_out_and_what_rests_on_an_assumption_is_a_note():
    conditional = Finding("conditional", "shapes", "fits", assumptions=("b is a row",))
    run = run_of(
        judged(claim(conditional), claim(Finding("holds", "shapes", "")), claim(Finding("unknown", "none", "")))
    )
    (result,) = run["results"]
    assert (result["level"], result["message"]["text"]) == ("note", "fits\nAssuming that b is a row")
    assert "fixes" not in result


def test_what_was_not_read_is_a_notification():
    (invocation,) = run_of(judged(problems=(Problem(Place(1, 1), "not JSON"),), file="/x/a.md"))["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "not JSON"
    assert notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///x/a.md"


def test_a_fix_in_a_notebook_is_text_of_its_json():
    cells = '{"cells": [\n{"source": ["first\\n",\n "\\u4e2d $2 + 3 = 7$"]}]}'
    finding = wrong(Repair(4, 5, r"\times"))
    run = run_of(judged(claim(finding, start=Place(2, 4, 1)), file="a.ipynb", text=cells))
    (replacement,) = run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"] == {"text": r"\\times"}
    assert replacement["deletedRegion"] == {"startLine": 3, "startColumn": 15, "endLine": 3, "endColumn": 16}
