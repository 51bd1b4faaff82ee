"""Comments that leave something out: which lines they cover, what they name, and that they must say why."""

import pytest

from derivations.documents.ignoring import read_ignored
from derivations.documents.originals import Original
from derivations.documents.passages import Place
from derivations.documents.verdicts import Finding, settled

SHAPES = Finding("wrong", "shapes", "no product")
NUMBER = Finding("wrong", "arithmetic", "2 + 3 is 5")
KNOWN = Finding("holds", "canonical", "it is softmax", result="softmax.jacobian")


def left_out(text: str, line: int, *findings: Finding, ids: tuple[str, ...] = (), cell: int | None = None) -> list[str]:
    """The reasons for which findings of a line are left out."""
    ignored, problems = read_ignored(Original(text, cell is not None), ids)
    assert not problems
    said = ignored.heed(findings or (SHAPES,), Place(line, 3, cell), Place(line, 7, cell))
    return [each.reason for each in said if each.verdict == "unknown"]


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- derivations: ignore shapes -- a column -->",
        "% derivations: ignore shapes -- a column",
        ".. derivations: ignore shapes -- a column",
        "# derivations: ignore shapes -- a column",
        "<!--derivations:ignore shapes -- a column-->",
        "> <!-- derivations: ignore arithmetic, shapes -- a column -->",
        "    # derivations: ignore -- a column",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_comment_that_stands_alone_covers_the_paragraph_that_follows(comment: str, end: str):
    text = end.join(["one", comment, "", "three", "four", "", "six"])
    assert [bool(left_out(text, line)) for line in range(1, 8)] == [False, True, True, True, True, False, False]
    assert left_out(text, 4) == ["ignored: a column"]


def test_a_comment_behind_something_covers_its_line():
    text = "one\n$W x$ <!-- derivations: ignore shapes -- a column -->\nthree\n"
    assert [bool(left_out(text, line)) for line in (1, 2, 3)] == [False, True, False]


def test_blank_lines_inside_what_stands_further_in_do_not_end_it():
    text = ".. derivations: ignore shapes -- a column\n\n.. math::\n\n   W x\n\nafter\n"
    assert [bool(left_out(text, line)) for line in (3, 5, 7)] == [True, True, False]


def test_only_what_is_named_is_left_out():
    text = "$x$ <!-- derivations: ignore arithmetic -- rounded -->\n"
    assert left_out(text, 1, SHAPES) == []
    assert left_out(text, 1, NUMBER) == ["ignored: rounded"]
    assert left_out("$x$ <!-- derivations: ignore softmax.jacobian -- ours -->\n", 1, KNOWN) == ["ignored: ours"]


def test_the_settings_leave_out_everywhere():
    assert left_out("one\n", 1, NUMBER, ids=("arithmetic",)) == ["ignored: the settings leave this check out"]
    assert left_out("one\n", 1, SHAPES, ids=("arithmetic",)) == []


def test_what_another_check_says_stays():
    ignored, _ = read_ignored(Original("# derivations: ignore shapes -- a column\n$x$\n"))
    said = ignored.heed([SHAPES, NUMBER], Place(2, 2), Place(2, 3))
    assert settled(said) == NUMBER
    assert settled(ignored.heed([SHAPES], Place(2, 2), Place(2, 3))).verdict == "unknown"
    assert settled(ignored.heed([SHAPES], Place(5, 2), Place(5, 3))) == SHAPES


def test_lines_count_in_the_cell():
    cells = '{"cells": [{"source": "$x$"}, {"source": ["<!-- derivations: ignore -- mine -->\\n", "$x$"]}]}'
    assert left_out(cells, 1, cell=1) == []
    assert left_out(cells, 2, cell=2) == ["ignored: mine"]


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("<!-- derivations: ignore shapes -->", "say why: <!-- derivations: ignore shapes -- the reason -->"),
        ("% derivations: ignore", "say why: % derivations: ignore shapes -- the reason"),
        ("# derivations: ignore a, b -- ", "say why: # derivations: ignore a, b -- the reason"),
        ("# derivations: ignore sh*pes -- why", "'sh*pes' is no id of a check or of a result"),
    ],
)
def test_a_comment_that_cannot_be_heeded_is_a_problem_and_leaves_nothing_out(comment: str, words: str):
    ignored, problems = read_ignored(Original(f"one\n{comment}\n$x$\n"))
    assert [problem.place for problem in problems] == [Place(2, 1)]
    assert words in problems[0].message
    assert ignored.heed([SHAPES], Place(3, 1), Place(3, 2)) == [SHAPES]


@pytest.mark.parametrize(
    "text", ["derivations: ignore", "`# derivations: ignore`", "# derivations: ignored here", "##"]
)
def test_what_only_looks_like_a_comment_is_none(text: str):
    assert read_ignored(Original(text)) == read_ignored(Original(""))


def test_a_comment_covers_no_more_than_some_lines():
    """Twenty thousand comments, one below the other, take no time that grows with their square."""
    text = "# derivations: ignore -- many\n" * 20_000
    ignored, _ = read_ignored(Original(text))
    assert len(ignored.comments) == 20_000
    assert max(comment.last_line - comment.place.line for comment in ignored.comments) == 200
