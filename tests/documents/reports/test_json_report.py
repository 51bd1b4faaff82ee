"""The contract of `derivations check --json`."""

import json

from derivations.documents.checking import check_text
from derivations.documents.passages import Place, Problem
from derivations.documents.reports.json_report import json_report
from derivations.documents.verdicts import Finding
from tests.documents.reports.written import claim, judged, wrong

HOLDS = Finding("conditional", "shapes", "the shapes fit", result="linear.definition", assumptions=("b is a row",))


def test_a_file_with_two_claims():
    problem = Problem(Place(3, 1), "not UTF-8")
    report = judged(claim(wrong()), claim(HOLDS, "y = b", Place(2, 5, 4)), problems=(problem,)).report
    assert json.loads(json_report([report])) == {
        "files": [
            {
                "file": "a.md",
                "claims": [
                    {
                        **{"line": 1, "end_line": 1, "column": 7, "end_column": 16, "cell": None, "text": "2 + 3 = 7"},
                        **{"verdict": "wrong", "reason": "2 + 3 is 5, not 7", "right": "2 + 3 = 5", "result": None},
                        **{"assumptions": [], "check": "arithmetic", "intent": None},
                    },
                    {
                        **{"line": 2, "end_line": 2, "column": 5, "end_column": 10, "cell": 4, "text": "y = b"},
                        **{"verdict": "conditional", "reason": "the shapes fit", "right": None},
                        **{
                            "result": "linear.definition",
                            "assumptions": ["b is a row"],
                            "check": "shapes",
                            "intent": None,
                        },
                    },
                ],
                "problems": [{"line": 3, "column": 1, "cell": None, "message": "not UTF-8"}],
            }
        ],
        "summary": {"claims": 2, "proved": 0, "holds": 0, "conditional": 1, "wrong": 1, "unknown": 0, "asserted": 2},
    }


def test_what_asserts_nothing_is_told_apart():
    report = check_text("Let $Q = X W_Q$, $d = 8$ and $2 + 2 = 4$.", "markdown")
    answer = json.loads(json_report([report]))
    assert [claim["intent"] for claim in answer["files"][0]["claims"]] == ["defines", "gives", "asserts"]
    assert (answer["summary"]["claims"], answer["summary"]["asserted"]) == (3, 1)


def test_no_file_and_strange_letters():
    assert json.loads(json_report([])) == {
        "files": [],
        "summary": {"claims": 0, "proved": 0, "holds": 0, "conditional": 0, "wrong": 0, "unknown": 0, "asserted": 0},
    }
    text = json_report([judged(claim(wrong(), "\ud800\x1b中")).report])
    text.encode("utf-8")
    assert json.loads(text)["files"][0]["claims"][0]["text"] == "\ud800\x1b中"
