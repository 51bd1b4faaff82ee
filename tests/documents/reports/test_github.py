"""Annotations of GitHub: one command a line, whatever stands in the document."""

from derivations.documents.passages import Place, Problem
from derivations.documents.reports.github import github_report
from derivations.documents.verdicts import Finding
from tests.documents.reports.written import claim, judged, wrong


def test_what_is_wrong_is_an_error_at_its_place():
    assert github_report([judged(claim(wrong()))]) == (
        "::error file=a.md,line=1,endLine=1,col=7,endColumn=16,title=wrong (arithmetic)"
        "::2 + 3 = 7%0A2 + 3 is 5, not 7%0Aright: 2 + 3 = 5"
    )


def test_what_rests_on_an_assumption_is_a_notice_and_the_rest_is_left_out():
    conditional = Finding("conditional", "shapes", "fits", result="linear.definition", assumptions=("b is a row",))
    lines = github_report(
        [judged(claim(conditional), claim(Finding("holds", "shapes", "")), claim(Finding("unknown", "none", "")))]
    )
    assert lines.startswith("::notice file=a.md,line=1")
    assert lines.endswith("::2 + 3 = 7%0Afits%0Aassuming that b is a row%0Asee: derivations show linear.definition")
    assert "\n" not in lines


def test_what_was_not_read_is_a_warning():
    report = github_report([judged(problems=(Problem(Place(1, 1), "not JSON"),))])
    assert report == "::warning file=a.md,line=1,endLine=1,col=1,endColumn=1,title=not read::not JSON"


def test_a_document_cannot_add_a_command():
    text = "x\r\n::error file=b::\n100%0A\x1b"
    (line,) = github_report([judged(claim(wrong(reason=text), text), file="a:b,c%.md", text=text)]).splitlines()
    assert line.startswith("::error file=a%3Ab%2Cc%25.md,line=")
    assert "100%250A" in line
    assert "\x1b" not in line


def test_columns_are_left_out_over_several_lines():
    text = "$$\na\n= b\n$$\n"
    several = claim(wrong(), "a\n= b", Place(2, 1))
    ended = type(several)(several.text, Place(2, 1), Place(3, 4), several.finding, several.findings, several.passage)
    assert "line=2,endLine=3,title=" in github_report([judged(ended, text=text)])


def test_lines_of_a_notebook_are_those_of_the_file():
    cells = '{"cells": [\n{"source": ["first\\n",\n "Here $2 + 3 = 7$"]}]}'
    assert "line=3,endLine=3,col=9," in github_report(
        [judged(claim(wrong(), start=Place(2, 7, 1)), file="a.ipynb", text=cells)]
    )
